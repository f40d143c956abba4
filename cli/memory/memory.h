/* SPDX-License-Identifier: MIT
 *
 * What has been seen: a set that is forgotten at the end, or a store; and beside it what counts as
 * seen without being remembered, the lists and stores of -x. */
#ifndef UNSEEN_CLI_MEMORY_H
#define UNSEEN_CLI_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "lines/batch.h"
#include "options.h"

struct memory {
    const struct options *o;
    struct unseen_store *store;   /* NULL: none */
    const struct unseen_set *set; /* makes the keys */
    const struct unseen_url *url; /* NULL: the bytes are the identity */

    /* Read-only sets. Each has a seed of its own, so their keys are made from canonical texts:
     * nothing is copied, and asking costs no more memory than the sets. */
    const struct unseen_set **excluded;
    size_t nexcluded;

    /* what has to be freed */
    struct unseen_url *own_url;
    struct unseen_set *own_set;
    struct unseen_set *lists; /* lines of -x lists, where they cannot be in own_set */
    struct unseen_store **stores;
    size_t nstores;
};

/* Opens the set or the store that the options name. False if that failed, which has been reported.
 * memory_close is called in either case. */
bool memory_open(struct memory *m, const struct options *o, enum unseen_cpu cpu);

/* Opens the stores of -x and reads the lists; *nlines_out is the number of their lines. False as
 * above. */
bool memory_exclude(struct memory *m, enum unseen_cpu cpu, uint64_t *nlines_out);

/* Answers keys[0..n) of lines whose canonical forms are texts, which are used only if there are
 * read-only sets, and remembers them unless it is a dry run. *nadded_out is how many changes of the
 * store that made. On NOMEM the first *ndone_out are answered. */
enum unseen_status memory_ask(struct memory *m, const struct unseen_key *keys,
                              const struct unseen_bytes *texts, size_t n, uint8_t *verdicts,
                              size_t *ndone_out);

/* Reports that no more can be remembered. */
void memory_report_full(enum unseen_status status);

/* Closes the store; false if that failed, which has been reported: here, or before if broken. */
bool memory_close(struct memory *m, bool broken);

#endif
