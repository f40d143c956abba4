/* SPDX-License-Identifier: MIT
 *
 * The image of a store: an exported set in a file beside the log (docs/format.md, "Image"). What is
 * in the chunks is the caller's affair. */
#ifndef UNSEEN_STORE_IMAGE_H
#define UNSEEN_STORE_IMAGE_H

#include "store/format.h"

struct unseen__image {
    struct unseen_allocator allocator;
    int fd; /* -1: not open */
    char *path;
    uint64_t size;
    struct unseen__image_header header;
    uint64_t place; /* of the next chunk */
    uint8_t *buf;   /* the file from buf_place on */
    uint64_t buf_place;
    size_t len;
};

/* Opens the image of the log at log_path and reads its header. Errors: MISSING, CORRUPT, VERSION,
 * IO, NOMEM; there is nothing to release then. */
enum unseen_status unseen__image_open(struct unseen__image *image, const char *log_path,
                                      const struct unseen_allocator *allocator,
                                      struct unseen_error *error);

/* The next chunk, valid until the next call; *len_out = 0 at the end. Errors: CORRUPT, IO. */
enum unseen_status unseen__image_next(struct unseen__image *image, const uint8_t **chunk_out,
                                      size_t *len_out, struct unseen_error *error);

void unseen__image_release(struct unseen__image *image);

/* Writes an image of the chunks that next gives, until it gives one of length 0, and puts it in
 * place. header.body_len is filled in. Errors: those of next, IO, NOMEM; an older image is then
 * still there. */
enum unseen_status unseen__image_write(const char *log_path, struct unseen__image_header header,
                                       enum unseen_status (*next)(void *context, void *buf,
                                                                  size_t cap, size_t *len_out),
                                       void *context, const struct unseen_allocator *allocator,
                                       struct unseen_error *error);

#endif
