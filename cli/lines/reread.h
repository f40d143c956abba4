/* SPDX-License-Identifier: MIT
 *
 * The files of a run of which the end is read twice: what comes from the moment on at which the
 * caller wants that. A regular file is opened again; it must not have changed. Lines that come
 * from anything else are kept in a temporary file from that moment on, decoded. Only reader.c and
 * input.c call the functions for single files. */
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
    bool is_kept;    /* its bytes are in the temporary file, from offset on, */
    uint64_t bytes;  /* so many of them, */
    bool has_failed; /* and reading ended with an error */
    uint64_t offset; /* of a regular file: where standard input began */
    struct stat st;
};

struct reread {
    /* set by the caller */
    atomic_bool is_wanted; /* what comes from now on is to be read twice */
    bool is_again;         /* the second reading has begun */

    /* state */
    bool has_begun;      /* the next two are valid, and files that are not regular are kept */
    size_t first;        /* the index of the file with which the second reading begins, */
    uint64_t first_line; /* its lines from this one on, from 0, are read twice */
    struct reread_file *files;
    size_t nfiles;
    size_t cap;
    size_t next; /* in the second reading: files that were opened */
    struct temporary kept;
    uint64_t at; /* in the second reading: how far the bytes of the kept file were given */
    /* The next two may be read by another thread. */
    atomic_int code; /* of an error that has not been reported: the files cannot be read again */
    atomic_bool has_changed; /* a file has, which has been reported */
};

void reread_release(struct reread *r);

/* True in a second reading: what it meets has been reported. r may be NULL. */
static inline bool reread_is_again(const struct reread *r)
{
    return r && r->is_again;
}

/* ---- For one file ---------------------------------------------------------------------------- */

/* First reading: a file was opened, or could not be if fd is -1. */
void reread_note(struct reread *r, int fd);

/* Each reading: a file could not be tried. */
void reread_skip(struct reread *r);

/* First reading: what comes from line `line` of the file that was opened last is read twice. Of the
 * bytes of that line, data has been read. */
void reread_begin(struct reread *r, uint64_t line, const void *data, size_t len);

/* First reading: keeps decoded bytes of the file that was opened last, if it has begun and the file
 * cannot be read again. */
void reread_keep(struct reread *r, const void *data, size_t len);

/* First reading: the file that was opened last could not be read to its end. */
void reread_fail(struct reread *r);

/* Second reading: the next file. */
const struct reread_file *reread_next(struct reread *r);

/* Second reading: checks the file, which was opened anew (fd -1: could not be), and goes where its
 * lines begin. False if it has changed. */
bool reread_check(struct reread *r, const struct reread_file *file, int fd);

/* Second reading: as read(2), of bytes that were kept. */
ssize_t reread_take(struct reread *r, const struct reread_file *file, void *buf, size_t cap);

#endif
