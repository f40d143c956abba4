/* SPDX-License-Identifier: MIT
 *
 * One table holds every option of every command: how it is written, what it takes, who has it, how
 * the help explains it and what it does. getopt_long gets its arguments from the table, and so
 * does the help. */
#ifndef UNSEEN_CLI_OPTION_ROWS_H
#define UNSEEN_CLI_OPTION_ROWS_H

#include <stdbool.h>
#include <stddef.h>

struct options;

enum {
    OPTION_ROWS_MAX = 128
};

struct option_row {
    const char *group; /* a heading in front of this row and those behind it */
    char letter;
    const char *name;
    const char *value;                           /* NULL: takes none; "[=X]": may take one */
    const char *expects;                         /* "... is not <expects>" */
    const char *example;                         /* a value that is right */
    unsigned commands;                           /* COMMAND_... bits of those that have it */
    const char *help;                            /* lines separated by \n */
    bool (*set)(struct options *o, char *value); /* NULL: help and version */
};

/* The i'th row; NULL past the last. */
const struct option_row *option_row_at(size_t i);

#endif
