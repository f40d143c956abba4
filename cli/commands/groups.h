/* SPDX-License-Identifier: MIT
 *
 * Named counters, kept in the order in which their names first came. The table of names is keyed by a
 * secret of its own, so that nobody can choose names that meet in it. */
#ifndef UNSEEN_CLI_GROUPS_H
#define UNSEEN_CLI_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "lines/text.h"

struct group {
    struct unseen_key key;  /* of its name, as the caller has it */
    struct unseen_key hash; /* of its name, in the table */
    uint64_t count;
    size_t name_at; /* in names */
    size_t name_len;
};

struct groups {
    struct unseen_set *hasher; /* empty: makes the hashes */
    struct group *groups;
    size_t n;
    size_t cap;
    uint32_t *slots; /* number of a group + 1; 0: free. At most half full */
    size_t nslots;   /* a power of two, or 0 */
    struct text names;
};

/* Errors: NOMEM, RANDOM. */
enum unseen_status groups_init(struct groups *g);

/* The number of the group of this name, which is made if it is new, with its key under `set`;
 * SIZE_MAX without memory. */
size_t groups_find(struct groups *g, const struct unseen_set *set, struct unseen_bytes name);

static inline struct unseen_bytes groups_name(const struct groups *g, size_t i)
{
    return (struct unseen_bytes){g->names.data + g->groups[i].name_at, g->groups[i].name_len};
}

void groups_release(struct groups *g);

#endif
