/* SPDX-License-Identifier: MIT */
#include "identity.h"

#include "batch.h"
#include "jsonl.h"

enum unseen_status identity_init(struct identity *id, const struct options *o,
                                 const struct unseen_set *set)
{
    *id = (struct identity){
        .set = set,
        .field = o->field,
        .separator = o->separator,
        .json_path = o->json_path,
        .shard = o->shard,
        .nshards = o->nshards,
    };
    if (o->nshards <= 1) {
        return UNSEEN_OK;
    }
    const uint64_t fixed_seed = 0x736861726473u; /* "shards": no seed that anyone would choose */
    const struct unseen_set_options options = {.size = sizeof(options), .seed = &fixed_seed};
    return unseen_set_create(&id->shard_set, &options);
}

void identity_release(struct identity *id)
{
    unseen_set_free(id->shard_set);
    id->shard_set = NULL;
}

/* The share of a key: its top 32 bits scaled to 0..n-1 as in [Lemire19], for n below 2^32. */
static uint64_t share_of(struct unseen_key key, uint64_t n)
{
    return (key.hi >> 32) * n >> 32;
}

/* The keys of one identity. */
struct key_pair {
    const struct identity *id;
    enum unseen_status status;
    struct unseen_key key;
    struct unseen_key shard_key;
};

static void take_json_value(void *context, struct unseen_bytes value)
{
    struct key_pair *pair = context;
    const struct identity *id = pair->id;
    pair->status = unseen_set_key(id->set, value.data, value.len, &pair->key);
    if (pair->status == UNSEEN_OK && id->shard_set) {
        pair->status = unseen_set_key(id->shard_set, value.data, value.len, &pair->shard_key);
    }
}

static void note_miss(struct identity_misses *misses, struct unseen_bytes line)
{
    if (misses->n++ == 0) {
        misses->first = line;
    }
}

/* A JSON value lives only until the next line is parsed, so each line is hashed by itself. */
static enum unseen_status json_keys(const struct identity *id, const struct unseen_bytes *lines,
                                    size_t n, struct unseen_key *keys,
                                    struct unseen_key *shard_keys, struct identity_misses *misses)
{
    struct key_pair pair = {.id = id};
    for (size_t i = 0; i < n && pair.status == UNSEEN_OK; i++) {
        if (!jsonl_find(lines[i], id->json_path, take_json_value, &pair)) {
            note_miss(misses, lines[i]);
            take_json_value(&pair, lines[i]);
        }
        keys[i] = pair.key;
        shard_keys[i] = pair.shard_key;
    }
    return pair.status;
}

static enum unseen_status line_keys(const struct identity *id, const struct unseen_bytes *lines,
                                    size_t n, struct unseen_key *keys,
                                    struct unseen_key *shard_keys, struct identity_misses *misses)
{
    struct unseen_bytes fields[BATCH_LINES];
    const struct unseen_bytes *items = id->field ? fields : lines;
    for (size_t i = 0; id->field && i < n; i++) {
        fields[i] = unseen_lines_field(lines[i], id->separator, id->field);
        if (!fields[i].data) {
            note_miss(misses, lines[i]);
            fields[i] = lines[i];
        }
    }
    enum unseen_status status = unseen_set_keys(id->set, items, n, keys, NULL);
    if (status == UNSEEN_OK && id->shard_set) {
        status = unseen_set_keys(id->shard_set, items, n, shard_keys, NULL);
    }
    return status;
}

enum unseen_status identity_keys(const struct identity *id, struct unseen_bytes *lines, size_t *n,
                                 struct unseen_key *keys, struct identity_misses *misses)
{
    struct unseen_key shard_keys[BATCH_LINES];
    enum unseen_status status =
        (id->json_path ? json_keys : line_keys)(id, lines, *n, keys, shard_keys, misses);
    if (status != UNSEEN_OK || !id->shard_set) {
        return status;
    }
    size_t kept = 0;
    for (size_t i = 0; i < *n; i++) {
        lines[kept] = lines[i];
        keys[kept] = keys[i];
        kept += share_of(shard_keys[i], id->nshards) == id->shard;
    }
    *n = kept;
    return status;
}
