/* SPDX-License-Identifier: MIT
 *
 * The image of a store: an exported set in a file beside the log (docs/format.md, "Image"). This
 * file reads and writes chunks; src/store/image.c knows what a chunk means. */
#ifndef UNSEEN_LOG_IMAGE_FILE_H
#define UNSEEN_LOG_IMAGE_FILE_H

#include "hash/chunk_file.h"
#include "log/log.h"

#define UNSEEN__IMAGE_SUFFIX     ".image"                           /* behind the path of a store */
#define UNSEEN__NEW_IMAGE_SUFFIX UNSEEN__IMAGE_SUFFIX ".unseen-new" /* while it is written */

struct unseen__image {
    struct unseen_allocator allocator;
    int fd; /* -1: not open */
    char *path;
    uint64_t size;
    uint64_t end; /* of the chunks */
    struct unseen__image_header header;
    uint64_t log_time; /* of the last record of the log that is covered */
    uint64_t offset;   /* of the next chunk */
    uint8_t *buf;      /* bytes of the file, from buf_offset on */
    uint64_t buf_offset;
    size_t len;
};

/* Opens the image of a log and reads its header. Errors: MISSING, FOREIGN (the file of that name is
 * not an image), CORRUPT, VERSION, IO, NOMEM. After an error there is nothing to release. */
enum unseen_status unseen__image_open(struct unseen__image *image, const struct unseen__log *log,
                                      struct unseen_error *error);

/* The next chunk, valid until the next call; *len_out = 0 at the end. Errors: CORRUPT, IO. */
enum unseen_status unseen__image_next(struct unseen__image *image, const uint8_t **chunk_out,
                                      size_t *len_out, struct unseen_error *error);

/* Reads the tail, which is not empty, into tail_len bytes. Errors: CORRUPT, IO. */
enum unseen_status unseen__image_read_tail(const struct unseen__image *image, uint8_t *tail,
                                           struct unseen_error *error);

/* Reads len bytes of the file. Errors: CORRUPT if it ends before, IO. */
enum unseen_status unseen__image_read(const struct unseen__image *image, uint64_t offset,
                                      uint8_t *buf, size_t len);

/* Frees the buffer of chunks: no chunk is asked for any more. */
void unseen__image_end_chunks(struct unseen__image *image);

void unseen__image_release(struct unseen__image *image);

/* A new image. Its pages come first, so it can be begun when nothing is known of the rest. */
struct unseen__image_writer {
    struct unseen_allocator allocator;
    int fd; /* -1: not begun, or done */
    char *name;
    char *new_name; /* while it is written */
    uint8_t *buf;
    size_t len;
    uint64_t offset; /* in the file, where the buffer goes */
};

/* What an image is made of, beside its pages. */
struct unseen__image_parts {
    const void *object;
    unseen__chunk_next *next; /* gives the chunks of the object */
    const uint8_t *tail;      /* comes behind the chunks */
    size_t tail_len;
};

/* Begins an image of a log. Errors: FOREIGN, IO, NOMEM; then there is nothing to abandon. */
enum unseen_status unseen__image_start(struct unseen__image_writer *w,
                                       const struct unseen__log *log, struct unseen_error *error);

/* Appends all pages that `next` gives. Errors: those of `next`, IO. */
enum unseen_status unseen__image_put_pages(struct unseen__image_writer *w, unseen__chunk_next *next,
                                           const void *object, struct unseen_error *error);

/* Writes the rest, and renames the image over the old one; w is then done. header.body_len,
 * tail_len, tail_checksum and npages are filled in here. Errors: those of `next`, IO; the old image
 * is then still there. */
enum unseen_status unseen__image_finish(struct unseen__image_writer *w,
                                        struct unseen__image_header header,
                                        const struct unseen__image_parts *parts,
                                        struct unseen_error *error);

/* Removes what was written, unless w is done. */
void unseen__image_abandon(struct unseen__image_writer *w);

/* Removes the image. A file of that name that is not an image is renamed to PATH.image.damaged.
 * Errors: IO, NOMEM. */
enum unseen_status unseen__image_remove(const struct unseen__log *log, struct unseen_error *error);

#endif
