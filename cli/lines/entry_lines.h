/* SPDX-License-Identifier: MIT
 *
 * Which lines of a file hold entries of a list. Files of entries come as people and other programs
 * write them: with comments, with blank lines, or as hosts files. And sometimes a file is not a
 * file of entries at all, but the error page of a web server. */
#ifndef UNSEEN_CLI_ENTRY_LINES_H
#define UNSEEN_CLI_ENTRY_LINES_H

#include <stdbool.h>

#include <unseen_list.h>

#include "lines/entries.h"

/* How the lines of a list are read. */
struct entry_lines {
    const struct key_options *key;
    const char *comments; /* a line that begins with one of these bytes is a comment */
    bool hosts;           /* "0.0.0.0 NAME..." of a hosts file stands for its names */
};

/* The entries are of a kind, and `bytes` says that they are bytes of any meaning. */
struct entry_lines entry_lines_of(const struct entry_options *options,
                                  const struct key_options *key, enum unseen_kind kind, bool bytes);

enum entry_line {
    ENTRY_LINE_TAKEN,   /* take was called for each item of the line */
    ENTRY_LINE_SKIPPED, /* a comment, a blank line, or a line about the machine itself */
    ENTRY_LINE_NO_KEY,  /* the line has no such field or value */
    ENTRY_LINE_PAGE     /* a web page begins here */
};

/* Calls take with each item of the line that is to become an entry. An item is valid during the
 * call. */
enum entry_line entry_lines_read(const struct entry_lines *how, struct unseen_bytes line,
                                 void (*take)(void *context, struct unseen_bytes item),
                                 void *context);

#endif
