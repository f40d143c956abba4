/* SPDX-License-Identifier: MIT
 *
 * What a file holds, told by its first bytes and never by its name. */
#ifndef UNSEEN_CLI_MAGIC_H
#define UNSEEN_CLI_MAGIC_H

#include <stdbool.h>
#include <stddef.h>

enum {
    MAGIC_BYTES = 512 /* more bytes tell nothing more */
};

enum content {
    CONTENT_LINES,
    CONTENT_CODED,   /* a decoder makes lines of it */
    CONTENT_FOREIGN, /* another program makes lines of it */
    CONTENT_OPEN     /* more bytes are needed to tell */
};

struct magic {
    enum content content;
    const char *bytes; /* that the content begins with, */
    size_t len;
    const char *mask; /* where its bits are set; NULL: everywhere */
    /* A file that ends within these bytes, behind cut_len of them or more, is CODED data that was
     * cut. 0: the file may be text. */
    size_t cut_len;
    size_t mark; /* leading bytes that are a byte order mark, not content */
    const struct decoder_format *decoder; /* CODED */
    /* FOREIGN: what the content is called, and the command that prints it: BEFORE, the name of the
     * file, AFTER. */
    const char *name;
    const char *before; /* NULL: AFTER alone is the hint */
    const char *after;
    bool decodes; /* the command reads compressed files, too */
};

/* Tells what begins with p[0..len). The content can be OPEN only if `more` says that the caller
 * can wait for more bytes. Never NULL. */
const struct magic *magic_find(const void *p, size_t len, bool more);

#endif
