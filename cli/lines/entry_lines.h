/* SPDX-License-Identifier: MIT
 *
 * Which lines of a file hold entries of a list. Files of entries come as people and other programs
 * write them: with comments, with blank lines, or in a format of other programs. And sometimes a
 * file is not a file of entries at all, but the error page of a web server. */
#ifndef UNSEEN_CLI_ENTRY_LINES_H
#define UNSEEN_CLI_ENTRY_LINES_H

#include <stdbool.h>

#include <unseen_list.h>

#include "lines/entries.h"

/* How the lines of a list are read. */
struct entry_lines {
    const struct key_options *key;
    const char *comments; /* these bytes begin a comment */
    enum unseen_kind kind;
    bool formats;       /* lines may be of a format (entry_formats.h) */
    bool end_comments;  /* a comment may stand behind an entry, after a blank */
    bool wide_comments; /* but only with a blank on either side of its mark */
};

/* The entries are of a kind, and `bytes` says that they are bytes of any meaning. */
struct entry_lines entry_lines_of(const struct entry_options *options,
                                  const struct key_options *key, enum unseen_kind kind, bool bytes);

/* What gets the items of a line that are to become entries. An item is valid during the call. If
 * `allows`, the item is to be allowed, whatever the list has. */
struct entry_sink {
    void (*take)(void *context, struct unseen_bytes item, bool allows);
    void *context;
};

enum entry_line_type {
    ENTRY_LINE_TAKEN,   /* take was called for each item of the line */
    ENTRY_LINE_SKIPPED, /* a comment, a blank line, or a line that says nothing about entries */
    ENTRY_LINE_WRONG
};

struct entry_line {
    enum entry_line_type type;
    enum fault fault; /* of a wrong line */
};

struct entry_line entry_lines_read(const struct entry_lines *how, struct unseen_bytes line,
                                   const struct entry_sink *sink);

#endif
