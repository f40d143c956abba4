/* SPDX-License-Identifier: MIT
 *
 * The store as a server sees it: runs of URLs become marks, and changes become commits. Whatever the
 * protocol, the rule is the same: a change may be committed when its answer was written. A list only
 * answers questions. */
#ifndef UNSEEN_CLI_SERVED_H
#define UNSEEN_CLI_SERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "commands/commands.h"
#include "serve/listed.h"

enum {
    SERVED_RUN = 256 /* the most URLs in a call */
};

struct served {
    const struct options *o; /* name the store */
    struct unseen_store *store;
    struct listed *listed; /* NULL, or a list in place of the store */
    bool no_log;           /* nothing is durable before the store is closed */

    bool broken;       /* a commit has failed: nothing more is taken */
    char trouble[512]; /* what the last 'E' was for, and for good once broken */
};

/* Each gives the n URLs their marks and returns how many changes it has made. A mark is '1' (new;
 * in the store; removed), '0' (seen; not in it; was not in it) or 'E' (see trouble). */
size_t served_add(struct served *d, const struct unseen_bytes *urls, size_t n, char *marks);
size_t served_ask(struct served *d, const struct unseen_bytes *urls, size_t n, char *marks);
size_t served_remove(struct served *d, const struct unseen_bytes *urls, size_t n, char *marks);

/* Takes up what is new in a list or in its place. To be called between questions. */
void served_refresh(struct served *d);

/* Hands the first nchanges changes that wait to the thread that commits. */
void served_commit_begin(struct served *d, uint64_t nchanges);

/* Waits until what was handed over is durable; false if it is not: see trouble. A failed commit has
 * been reported, too. */
bool served_commit_wait(struct served *d);

#endif
