/* SPDX-License-Identifier: MIT
 *
 * The options that say which set or store a run uses, and what messages must know about the
 * command. */
#ifndef UNSEEN_CLI_SEEN_OPTIONS_H
#define UNSEEN_CLI_SEEN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen/seed.h"

/* How a command uses a store. All zero: the store is its first argument, and lines follow. */
struct store_use {
    bool prints_new;         /* the store is the value of -s, and the command prints new lines */
    bool asks_only;          /* nothing is remembered */
    bool makes_store;        /* makes a store that does not exist */
    bool removes;            /* takes lines out of the store */
    bool takes_list;         /* a list may take the place of the store */
    const char *list_option; /* of unseen update, which does the same to a list; NULL: none */
    const char *list_hint;   /* the hint for the list %s; NULL: unseen check */
};

enum {
    WAIT_DEFAULT = 5 /* seconds */
};

struct seen_options {
    const struct store_use *use;
    bool takes_list; /* use->takes_list, or set by --protocol */
    const char
        *path; /* the value of -s, or the first argument of a command on a store; NULL: none */
    const char **excludes;
    size_t nexcludes;
    bool dry_run;
    const char *profile;      /* the profile that the input needs; NULL: any */
    const char *profile_hint; /* the hint if the store has another profile; NULL: leave out -p */

    /* settings of a new set or store */
    uint64_t capacity;
    double fpr;
    const char *filter;
    double bits_per_key; /* 0: not given */
    unsigned hashes;     /* 0: not given */
    struct seed seed;
    const char *seed_file; /* NULL: none */
    unsigned key_bits;     /* 0: not given */
    uint64_t window;       /* in milliseconds; 0: none, UNSEEN_NO_WINDOW: take it away */
    bool resets_clock;     /* of a store, by a rewrite */
    bool has_line_times;   /* the time is in the lines (--time) */
    uint64_t memory;       /* of the set of a run, in bytes; 0: no limit */
    bool no_log;
    unsigned file_mode;     /* 0: not given */
    const char *like;       /* a store whose settings a new one gets; NULL: none */
    const char *token_file; /* NULL: none */
    char *password;         /* owned; taken out of the address of a Redis server; NULL: none */

    double wait;   /* seconds that a store in use is waited for */
    bool waits;    /* they were asked for: a server that is not there is waited for, too */
    int notify_fd; /* told of commits; 0: none. Set by serve, not by an option */
};

#endif
