/* SPDX-License-Identifier: MIT
 *
 * The files of a run that are read twice. A regular file is opened again; it must not have changed.
 * What came from a pipe was kept in a temporary file. Only input.c calls the functions for single
 * files. */
#ifndef UNSEEN_CLI_REREAD_H
#define UNSEEN_CLI_REREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "temporary.h"

/* A file of the first reading; of the n'th one opened, the n'th. */
struct reread_file {
    bool is_open;    /* it could be opened */
    bool is_kept;    /* its bytes are in the temporary file, from offset on */
    uint64_t bytes;  /* so many of them */
    uint64_t offset; /* of a regular file: where standard input began */
    struct stat st;
};

struct reread {
    bool is_again; /* the second reading has begun: set by the caller */
    struct reread_file *files;
    size_t nfiles;
    size_t cap;
    size_t next; /* in the second reading: the file that is opened next */
    struct temporary kept;
    uint64_t at; /* in the second reading: how far the bytes of the kept file were given */
    /* The next two may be read by another thread. */
    atomic_int code; /* of an error that has not been reported: the files cannot be read again */
    atomic_bool has_changed; /* a file has, which has been reported */
};

void reread_release(struct reread *r);

/* ---- For one file ---------------------------------------------------------------------------- */

/* First reading: a file was opened, or could not be if fd is -1. */
void reread_note(struct reread *r, int fd);

/* First reading: keeps bytes of the file that was opened last if they come from a pipe. */
void reread_keep(struct reread *r, const void *data, size_t len);

/* Second reading: the next file. */
const struct reread_file *reread_next(struct reread *r);

/* Second reading: checks the file, which was opened anew (fd -1: could not be), and goes where its
 * lines begin. False if it has changed. */
bool reread_check(struct reread *r, const struct reread_file *file, int fd);

/* Second reading: as read(2), of bytes that were kept. */
ssize_t reread_take(struct reread *r, const struct reread_file *file, void *buf, size_t cap);

#endif
