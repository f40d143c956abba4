/* SPDX-License-Identifier: MIT
 *
 * One table holds every option of every command: how it is written, what it takes, who has it, how
 * the help explains it and where its value goes. getopt_long gets its arguments from the table, and
 * so does the help. */
#ifndef UNSEEN_CLI_ROWS_H
#define UNSEEN_CLI_ROWS_H

#include "commands/commands.h"

enum {
    OPTION_ROWS_MAX = 160
};

/* What the value is, and the type of the field that it goes to. */
enum option_type {
    OPTION_HELP, /* none: prints, and ends the program */
    OPTION_VERSION,
    OPTION_FLAG,   /* none: bool, becomes true */
    OPTION_NUL,    /* none: char, becomes '\0' */
    OPTION_TEXT,   /* const char * */
    OPTION_RATE,   /* double, above 0 and below 1 */
    OPTION_REAL,   /* double, above 0, at most 1e6 */
    OPTION_COUNT,  /* uint64_t, with suffixes of powers of 1000 */
    OPTION_BYTES,  /* uint64_t from min to max, with suffixes of powers of 1024 */
    OPTION_NUMBER, /* unsigned from min to max */
    OPTION_CHOICE, /* enum: the place in names, from min on; 1 without a value */
    OPTION_CALL    /* anything: calls set */
};

/* A row with a name is an option; one with a group only is a heading of the help. */
struct option_row {
    char letter;
    const char *name;
    unsigned commands; /* COMMAND_... bits of those that have it */
    const char *help;  /* lines separated by \n */
    const char *group;
    enum option_type type;
    const char *value;   /* NULL: takes none; "[=X]": may take one */
    const char *expects; /* "... is not <expects>" */
    const char *example; /* a value that is right */
    size_t offset;       /* of the field in struct options */
    uint64_t min;
    uint64_t max;
    const char *const *names;
    bool (*set)(struct options *o, char *value);
};

/* The i'th row; NULL past the last. */
const struct option_row *option_row_at(size_t i);

#endif
