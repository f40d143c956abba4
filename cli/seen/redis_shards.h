/* SPDX-License-Identifier: MIT
 *
 * The keys under which a Redis or Valkey server keeps a set: one key, or one for each shard
 * (unseen_shard) of a set that is spread over a cluster. */
#ifndef UNSEEN_CLI_REDIS_SHARDS_H
#define UNSEEN_CLI_REDIS_SHARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "lines/text.h"

struct redis_key {
    char name[544];
    size_t node; /* of the link that has the key, as far as it is known */
    size_t end;  /* of its items, after redis_shards_sort */
};

struct redis_shards {
    struct redis_key *keys;
    size_t nkeys;
    struct unseen_url *url; /* NULL: not made yet, or the bytes are the identity */
    uint32_t *places;       /* of items: which key each belongs to */
    size_t nplaces;
    struct text text;
};

/* Names the keys. Returns false without memory, which has been reported; redis_shards_release
 * follows in either case. */
bool redis_shards_init(struct redis_shards *s, const char *name, unsigned nshards);

/* Sorts n items by their keys: those of key i are order[keys[i - 1].end .. keys[i].end), in the
 * order of the items. The profile of the set says which spellings are one URL. Returns false
 * without memory. */
bool redis_shards_sort(struct redis_shards *s, const char *profile,
                       const struct unseen_bytes *items, size_t n, uint32_t *order);

void redis_shards_release(struct redis_shards *s);

#endif
