/* SPDX-License-Identifier: MIT
 *
 * The options of a set or a store, and what messages about it need to know of the command. */
#ifndef UNSEEN_CLI_SEEN_OPTIONS_H
#define UNSEEN_CLI_SEEN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen/seed.h"

/* How a command uses a store. All zero: the store is its first argument, and lines follow. */
struct store_use {
    bool prints_new;        /* the store is the value of -s, and new lines are printed */
    bool asks_only;         /* nothing is remembered */
    bool makes_store;       /* one that does not exist */
    bool takes_list;        /* in place of a store */
    bool takes_no_lines;    /* no FILE follows the store */
    const char *list_hint;  /* the command that suits the list %s; NULL: unseen check */
    const char *lines_hint; /* the command that suits the file of lines %s; NULL: unseen add */
};

struct seen_options {
    const char *called; /* how a corrected command starts */
    const struct store_use *use;
    bool takes_list;  /* as use->takes_list, or because of --protocol */
    const char *path; /* of -s, or the first argument of a command on a store; NULL: none */
    const char **excludes;
    size_t nexcludes;
    bool dry_run;
    const char *profile; /* that the input needs; NULL: any */
    const char
        *profile_hint; /* the command for a store of another profile; NULL: -p of the store's */

    /* of a set or store that is made */
    uint64_t capacity;
    double fpr;
    const char *filter;
    struct seed seed;
    const char *seed_file; /* NULL: none */
    unsigned key_bits;     /* 0: not given */
    bool no_log;
    unsigned file_mode; /* 0: not given */
};

#endif
