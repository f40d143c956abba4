/* SPDX-License-Identifier: MIT
 *
 * The commands of the tool: what each is called, what its help says, and what runs it. */
#ifndef UNSEEN_CLI_COMMAND_H
#define UNSEEN_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include <unseen.h>

struct options;

enum {
    EXIT_DONE = 0,
    EXIT_NONE = 1,
    EXIT_TROUBLE = 2
};

/* Bits that say which commands have an option. */
enum {
    COMMAND_DEDUP = 1,
    COMMAND_CANON = 2,
    COMMAND_EXPLAIN = 4,
    COMMAND_READERS = COMMAND_DEDUP | COMMAND_CANON,
    COMMAND_ALL = COMMAND_READERS | COMMAND_EXPLAIN
};

struct command {
    const char *name;
    const char *called; /* how a corrected command starts */
    unsigned bit;
    const char *usage;
    const char *about;
    const char *examples;
    const char *ending;
    const char *try_this;
    int (*run)(const struct options *o, enum unseen_cpu cpu); /* the exit status */
};

/* The i'th command, the default one first; NULL past the last. */
const struct command *command_at(size_t i);

/* The command called name, or NULL. */
const struct command *command_find(const char *name);

#endif
