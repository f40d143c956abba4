/* SPDX-License-Identifier: MIT
 *
 * The image of a store: an exported set in a file beside the log (docs/format.md, "Image"). What is
 * in the chunks is the caller's affair. */
#ifndef UNSEEN_LOG_IMAGE_FILE_H
#define UNSEEN_LOG_IMAGE_FILE_H

#include "log/log.h"

struct unseen__image {
    struct unseen_allocator allocator;
    int fd; /* -1: not open */
    char *path;
    uint64_t size;
    struct unseen__image_header header;
    uint64_t offset; /* of the next chunk */
    uint8_t *buf;    /* the file from buf_place on */
    uint64_t buf_offset;
    size_t len;
};

/* Opens the image of a log and reads its header. Errors: MISSING, FOREIGN (the file of that name is
 * something else), CORRUPT, VERSION, IO, NOMEM; there is nothing to release then. */
enum unseen_status unseen__image_open(struct unseen__image *image, const struct unseen__log *log,
                                      struct unseen_error *error);

/* The next chunk, valid until the next call; *len_out = 0 at the end. Errors: CORRUPT, IO. */
enum unseen_status unseen__image_next(struct unseen__image *image, const uint8_t **chunk_out,
                                      size_t *len_out, struct unseen_error *error);

void unseen__image_release(struct unseen__image *image);

/* Writes an image of the chunks that next gives, until it gives one of length 0, and puts it in
 * place. header.body_len is filled in. Errors: those of next, FOREIGN, IO, NOMEM; what was there
 * before is then still there. */
enum unseen_status unseen__image_write(const struct unseen__log *log,
                                       struct unseen__image_header header,
                                       enum unseen_status (*next)(void *context, void *buf,
                                                                  size_t cap, size_t *len_out),
                                       void *context, struct unseen_error *error);

/* Removes the image; what is none but has its name is moved to PATH.image.damaged. Errors: IO,
 * NOMEM. */
enum unseen_status unseen__image_remove(const struct unseen__log *log, struct unseen_error *error);

#endif
