/* SPDX-License-Identifier: MIT
 *
 * What makes two lines the same: the one place where the identity of a line is computed. Today it
 * is the bytes of the line, of one field, or of a value inside JSON. */
#ifndef UNSEEN_CLI_IDENTITY_H
#define UNSEEN_CLI_IDENTITY_H

#include <unseen.h>

#include "options.h"

struct identity {
    const struct unseen_set *set; /* its hash makes the keys */
    size_t field;                 /* from 1; 0: no field */
    char separator;
    const char *json_path; /* NULL: no JSON */

    /* Shares are cut by a hash with a fixed seed, not by the set's own: processes on many machines
     * must agree on them without sharing a secret. */
    struct unseen_set *shard_set; /* NULL: every key is handled */
    uint64_t shard;
    uint64_t nshards;
};

/* Prepares the identity that the options ask for. Keys are those of set. */
enum unseen_status identity_init(struct identity *id, const struct options *o,
                                 const struct unseen_set *set);
void identity_release(struct identity *id);

/* Lines without the wanted field or value; whole lines are compared then. */
struct identity_misses {
    size_t n;
    struct unseen_bytes first; /* the first of them, if there are any */
};

/* Computes the keys of *n lines. Lines of other shares are taken out of lines and keys, and *n is
 * how many stay. Errors: NOMEM. */
enum unseen_status identity_keys(const struct identity *id, struct unseen_bytes *lines, size_t *n,
                                 struct unseen_key *keys, struct identity_misses *misses);

#endif
