/* SPDX-License-Identifier: MIT */
#include "seen/redis_shards.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/message.h"

bool redis_shards_init(struct redis_shards *s, const char *name, unsigned nshards)
{
    uint32_t *tags = calloc(nshards, sizeof(*tags));
    *s = (struct redis_shards){.keys = calloc(nshards, sizeof(*s->keys)), .nkeys = nshards};
    bool done = tags && s->keys;
    if (done && nshards > 1) {
        done = unseen_shard_tags(nshards, tags) == UNSEEN_OK;
    }
    for (size_t i = 0; i < nshards && done; i++) {
        if (nshards == 1) {
            snprintf(s->keys[i].name, sizeof(s->keys[i].name), "%s", name);
        } else {
            snprintf(s->keys[i].name, sizeof(s->keys[i].name), "%s:{%" PRIu32 "}", name, tags[i]);
        }
    }
    free(tags);
    return done || message_no_memory();
}

void redis_shards_release(struct redis_shards *s)
{
    unseen_url_free(s->url);
    text_release(&s->text);
    free(s->places);
    free(s->keys);
    *s = (struct redis_shards){.keys = NULL};
}

static bool shards_make_url(struct redis_shards *s, const char *profile)
{
    const struct unseen_url_options options = {.size = sizeof(options), .profile = profile};
    return s->url || strcmp(profile, "none/1") == 0 ||
           unseen_url_create(&s->url, &options, NULL) == UNSEEN_OK;
}

/* False without memory. */
static bool find_shard(struct redis_shards *s, struct unseen_bytes item, uint32_t *shard_out)
{
    struct unseen_canon canon = {.bytes = item};
    const size_t bound = s->url ? unseen_url_bound(item.len, 0) : 0;
    text_clear(&s->text);
    if (s->url && (bound == 0 || !text_reserve(&s->text, bound) ||
                   unseen_url_canon(s->url, item.data, item.len, NULL, s->text.data, s->text.cap,
                                    &canon) != UNSEEN_OK)) {
        return false;
    }
    *shard_out = unseen_shard(canon.bytes.data, canon.bytes.len, (uint32_t)s->nkeys);
    return true;
}

static bool reserve_places(struct redis_shards *s, size_t n)
{
    if (n <= s->nplaces) {
        return true;
    }
    uint32_t *places = realloc(s->places, n * sizeof(*places));
    if (places) {
        s->places = places;
        s->nplaces = n;
    }
    return places != NULL;
}

bool redis_shards_sort(struct redis_shards *s, const char *profile,
                       const struct unseen_bytes *items, size_t n, uint32_t *order)
{
    for (size_t k = 0; k < s->nkeys; k++) {
        s->keys[k].end = s->nkeys == 1 ? n : 0;
    }
    for (size_t i = 0; i < n; i++) {
        order[i] = (uint32_t)i;
    }
    if (s->nkeys == 1) {
        return true;
    }
    if (!shards_make_url(s, profile) || !reserve_places(s, n)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!find_shard(s, items[i], &s->places[i])) {
            return false;
        }
        s->keys[s->places[i]].end++;
    }
    /* `end` goes from the number of a key's items to where they begin, and then to where they
     * end. */
    size_t begin = 0;
    for (size_t k = 0; k < s->nkeys; k++) {
        const size_t count = s->keys[k].end;
        s->keys[k].end = begin;
        begin += count;
    }
    for (size_t i = 0; i < n; i++) {
        order[s->keys[s->places[i]].end++] = (uint32_t)i;
    }
    return true;
}
