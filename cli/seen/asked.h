/* SPDX-License-Identifier: MIT
 *
 * What can be asked whether it has a line: a set that lives as long as the run, a store, a list, a
 * foreign filter, a set that a server keeps; and beyond.h has two more, for a set of the run that
 * is larger than memory. */
#ifndef UNSEEN_CLI_ASKED_H
#define UNSEEN_CLI_ASKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen_foreign.h>

#include "lines/batch.h"
#include "seen/lists.h"
#include "seen/server.h"

/* Lines that are asked for, at most BATCH_LINES of them, and the answers. Who is asked reads one
 * form of the lines, which may be the only one that there is. */
struct query {
    const struct unseen_key *keys; /* under the secret of the set that remembers */
    const struct unseen_bytes *items;
    const struct unseen_bytes *canons;
    size_t n;
    uint8_t *verdicts; /* SEEN or NEW */
    size_t ndone;      /* so many lines have a verdict */
};

struct asked;

/* What all can do. */
struct asked_ops {
    /* Answers a query whose ndone is 0. Returns as seen_ask. */
    enum unseen_status (*ask)(struct asked *a, struct query *q);
    /* Fills in the figures that are known, which are all zero, and returns the profile. */
    const char *(*stats)(const struct asked *a, struct unseen_set_stats *stats);
};

struct beyond;

struct asked {
    const struct asked_ops *ops;
    const char *path; /* NULL: a set of the run */
    bool adds;        /* remembers the lines that it is asked for */
    /* A set or a store: it makes its keys itself, of canonical forms, as the keys of a query are
     * those of another set. */
    bool makes_keys;
    const struct unseen_set *set; /* a set, or the set of a store; NULL for the others */

    /* the one that it is; the others are NULL */
    struct unseen_set *own;
    struct unseen_store *store;
    struct opened_list list;
    struct unseen_foreign *foreign;
    struct server *server;
    struct beyond *beyond; /* beside a set that becomes larger than memory (beyond.h) */
};

extern const struct asked_ops asked_set;
extern const struct asked_ops asked_store;
extern const struct asked_ops asked_list;
extern const struct asked_ops asked_foreign;
extern const struct asked_ops asked_server;

/* Opens a list or a filter. False if that failed, which has been reported. */
bool asked_open_list(struct asked *a, const char *path, enum unseen_cpu cpu);
bool asked_open_foreign(struct asked *a, const char *path);

/* Closes what is open, if anything is. */
void asked_close(struct asked *a);

#endif
