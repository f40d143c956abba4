/* SPDX-License-Identifier: MIT
 *
 * The commands of the tool: what each is called, what its help says, and what runs it. */
#ifndef UNSEEN_CLI_COMMANDS_H
#define UNSEEN_CLI_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include <unseen.h>

#include "commands/options.h"

enum {
    EXIT_DONE = 0,
    EXIT_NONE = 1,
    EXIT_TROUBLE = 2
};

/* Bits that say which commands have an option. */
enum {
    COMMAND_DEDUP = 1,
    COMMAND_CANON = 1 << 1,
    COMMAND_EXPLAIN = 1 << 2,
    COMMAND_CHECK = 1 << 3,
    COMMAND_ADD = 1 << 4,
    COMMAND_REMOVE = 1 << 5,
    COMMAND_MERGE = 1 << 6,
    COMMAND_INFO = 1 << 7,
    COMMAND_VERIFY = 1 << 8,
    COMMAND_REPAIR = 1 << 9,
    COMMAND_COMPACT = 1 << 10,
    COMMAND_IMPORT = 1 << 11,
    COMMAND_RECHECK = 1 << 12,
    COMMAND_SERVE = 1 << 13,
    COMMAND_PLAN = 1 << 14,
    COMMAND_SORT = 1 << 15,
    COMMAND_COUNT = 1 << 16,
    COMMAND_BUILD = 1 << 17,
    COMMAND_ALLOW = 1 << 18,
    COMMAND_UPDATE = 1 << 19,
    /* ask or change the store that is their first argument */
    COMMAND_ASKERS = COMMAND_CHECK | COMMAND_RECHECK,
    COMMAND_CHANGERS = COMMAND_ADD | COMMAND_REMOVE | COMMAND_IMPORT,
    /* the same with a list */
    COMMAND_ON_LIST = COMMAND_BUILD | COMMAND_ALLOW | COMMAND_UPDATE,
    COMMAND_ON_STORE = COMMAND_ASKERS | COMMAND_CHANGERS | COMMAND_SERVE | COMMAND_ON_LIST,
    /* may make a store */
    COMMAND_MAKERS = COMMAND_DEDUP | COMMAND_ADD | COMMAND_IMPORT | COMMAND_SERVE,
    /* take lines with URLs in them, and print some */
    COMMAND_LINES = COMMAND_DEDUP | COMMAND_CANON | COMMAND_ASKERS | COMMAND_ADD | COMMAND_REMOVE |
                    COMMAND_COUNT,
    COMMAND_PRINTERS = COMMAND_DEDUP | COMMAND_CANON | COMMAND_ASKERS,
    COMMAND_REPORTERS = COMMAND_DEDUP | COMMAND_CHECK | COMMAND_CHANGERS,
    /* are told what makes URLs the same; the others take it from the store */
    COMMAND_IDENTITY =
        COMMAND_MAKERS | COMMAND_CANON | COMMAND_EXPLAIN | COMMAND_COUNT | COMMAND_BUILD,
    /* read standard input where no file is named */
    COMMAND_READERS = COMMAND_LINES | COMMAND_IMPORT | COMMAND_SORT | COMMAND_BUILD | COMMAND_ALLOW,
    COMMAND_ALL = (1 << 30) - 1
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

/* Each runs a command, or two that differ little, and returns the exit status. */
int dedup_run(const struct options *o, enum unseen_cpu cpu);
int canon_run(const struct options *o, enum unseen_cpu cpu);
int explain_run(const struct options *o, enum unseen_cpu cpu);
int check_run(const struct options *o, enum unseen_cpu cpu);
int change_run(const struct options *o, enum unseen_cpu cpu);
int merge_run(const struct options *o, enum unseen_cpu cpu);
int info_run(const struct options *o, enum unseen_cpu cpu);
int verify_run(const struct options *o, enum unseen_cpu cpu);
int repair_run(const struct options *o, enum unseen_cpu cpu);
int compact_run(const struct options *o, enum unseen_cpu cpu);
int import_run(const struct options *o, enum unseen_cpu cpu);
int recheck_run(const struct options *o, enum unseen_cpu cpu);
int allow_run(const struct options *o, enum unseen_cpu cpu);
int update_run(const struct options *o, enum unseen_cpu cpu);
int sort_run(const struct options *o, enum unseen_cpu cpu);
int serve_run(const struct options *o, enum unseen_cpu cpu);
int count_run(const struct options *o, enum unseen_cpu cpu);
int build_run(const struct options *o, enum unseen_cpu cpu);
int plan_run(const struct options *o, enum unseen_cpu cpu);

/* The i'th command, the default one first; NULL past the last. */
const struct command *command_at(size_t i);

/* The command called name, or NULL. */
const struct command *command_find(const char *name);

#endif
