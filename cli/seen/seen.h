/* SPDX-License-Identifier: MIT
 *
 * What has been seen: a set that is forgotten at the end, or a store; of `unseen check` it may be a
 * list. Beside it what counts as seen without being remembered: the stores, lists and lines of -x. */
#ifndef UNSEEN_CLI_SEEN_H
#define UNSEEN_CLI_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "lines/batch.h"
#include "lines/identity.h"
#include "lines/input.h"
#include "lines/profile.h"
#include "seen/lists.h"
#include "seen/seen_options.h"

/* A list that is asked about lines. */
struct asked_list {
    struct opened_list list;
    bool takes_canons; /* the canonical forms of lines are those of the list, too */
};

struct seen {
    /* set by the caller, before anything else */
    const struct seen_options *o;
    const struct profile_options *profile;
    const struct key_options *key;
    const struct input_options *input; /* how the files of -x are read */

    bool asks_only;
    struct unseen_store *store;   /* NULL: none */
    const struct unseen_set *set; /* makes the keys; NULL: a list is asked */
    const struct unseen_url *url; /* NULL: the bytes are the identity */
    struct asked_list list;       /* in place of the set */

    /* Read-only sets. Each has a seed of its own, so their keys are made from canonical texts:
     * nothing is copied, and asking costs no more memory than the sets. */
    const struct unseen_set **excluded;
    size_t nexcluded;

    struct asked_list *lists; /* of -x */
    size_t nlists;

    /* what has to be freed */
    struct unseen_url *own_url;
    struct unseen_set *own_set;
    struct unseen_set *lines; /* of -x, where they cannot be in own_set */
    struct unseen_store **stores;
    size_t nstores;
};

/* Opens the set or the store that the options name. False if that failed, which has been reported.
 * seen_close is called in either case. */
bool seen_open(struct seen *m, enum unseen_cpu cpu);

/* Opens the stores and lists of -x and reads the files of lines; *nlines_out is the number of their
 * lines. False as above. */
bool seen_exclude(struct seen *m, enum unseen_cpu cpu, uint64_t *nlines_out);

/* Whether seen_ask needs the texts of lines, not only their keys. */
bool seen_needs_texts(const struct seen *m);

/* Answers n lines of b from first on, each SEEN or NEW, and remembers them unless it is a dry run.
 * On NOMEM the first *ndone_out are answered. MISMATCH: a list was cut short or written over meanwhile,
 * which has been reported, and nothing is answered. */
enum unseen_status seen_ask(struct seen *m, const struct batch *b, size_t first, size_t n,
                            uint8_t *verdicts, size_t *ndone_out);

/* The figures of the set or the list, and its profile. */
void seen_stats(const struct seen *m, struct unseen_set_stats *stats_out, const char **profile_out);

/* Reports that no more can be remembered. */
void seen_report_full(enum unseen_status status);

/* Closes the store; false if that failed, which has been reported: here, or before if broken. */
bool seen_close(struct seen *m, bool broken);

#endif
