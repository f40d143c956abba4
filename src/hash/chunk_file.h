/* SPDX-License-Identifier: MIT
 *
 * Writes and reads files of chunks, in which sets, bitmaps and foreign filters are kept
 * (docs/format.md, "Files of chunks"). A writer locks PATH.unseen-new, writes it, and renames it to
 * PATH. For PATH that is a symbolic link, it does so with the file that the link leads to. */
#ifndef UNSEEN_HASH_CHUNK_FILE_H
#define UNSEEN_HASH_CHUNK_FILE_H

#include <stdbool.h>

#include "unseen.h"

/* Writes the next chunk of an object into buf, as unseen_set_export does. */
typedef enum unseen_status unseen__chunk_next(const void *object, uint64_t *cursor, void *buf,
                                              size_t cap, size_t *len_out);

/* Takes a chunk. */
typedef enum unseen_status unseen__chunk_take(void *object, const void *chunk, size_t len,
                                              bool *complete_out);

struct chunk_writer {
    struct unseen_allocator allocator;
    int fd;     /* -1: nothing is open */
    char *path; /* a copy, for messages */
    char *file; /* what path leads to */
    char *fresh;
};

/* Creates the new file and takes its lock. If there is a file at path, the new one will get its
 * owner and its rights, otherwise the rights `mode`. Errors: BUSY, FOREIGN, IO, NOMEM; nothing is
 * open then. */
enum unseen_status unseen__chunk_writer_open(struct chunk_writer *w, const char *path,
                                             unsigned mode,
                                             const struct unseen_allocator *allocator,
                                             struct unseen_error *error);

/* Writes the chunks of the object, syncs, and renames. Closes the writer in any case. Errors: those
 * of next, IO, NOMEM; the file at path is as it was then. */
enum unseen_status unseen__chunk_writer_finish(struct chunk_writer *w, unseen__chunk_next *next,
                                               const void *object, struct unseen_error *error);

/* Removes the new file. Does nothing if none is open. */
void unseen__chunk_writer_abandon(struct chunk_writer *w);

/* Gives take each chunk of the file at path. Errors: MISSING, FOREIGN (the file does not begin with
 * a chunk of this kind), CORRUPT, IO, NOMEM, and those of take. */
enum unseen_status unseen__chunk_file_read(const char *path, uint32_t kind,
                                           const struct unseen_allocator *allocator,
                                           unseen__chunk_take *take, void *object,
                                           struct unseen_error *error);

#endif
