/* SPDX-License-Identifier: MIT
 *
 * LevelDB with a filter policy, for ../guard/main.c. It needs no guard: LevelDB itself keeps the
 * filters beside the keys. `--filter unseen:RATE` is that of policy.c, `--filter bloom:BITS`
 * LevelDB's own, `--filter empty` one that lets everything pass, to compare with. */
#define _POSIX_C_SOURCE 200809L
#include "../guard/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "policy.h"

enum {
    CACHE_BYTES =
        1 << 30, /* so that a block is read once, and the bytes in the cache count blocks */
    BLOCK_BYTES = 4096
};

struct store {
    leveldb_t *db;
    leveldb_options_t *options;
    leveldb_readoptions_t *reading;
    leveldb_writeoptions_t *writing;
    leveldb_cache_t *cache;
    leveldb_filterpolicy_t *policy;
    uint64_t asked;
};

static bool good(const char *what, char *error)
{
    if (error) {
        fprintf(stderr, "leveldb: %s: %s\n", what, error);
        leveldb_free(error);
    }
    return !error;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static char *empty_filter(void *state, const char *const *data, const size_t *lens, int n,
                          size_t *len_out)
{
    (void)state;
    (void)data;
    (void)lens;
    (void)n;
    *len_out = 0;
    return malloc(1);
}

static uint8_t pass(void *state, const char *key, size_t len, const char *filter, size_t filter_len)
{
    (void)state;
    (void)key;
    (void)len;
    (void)filter;
    (void)filter_len;
    return 1;
}

static const char *empty_name(void *state)
{
    (void)state;
    return "empty";
}

static void nothing(void *state)
{
    (void)state;
}

static leveldb_filterpolicy_t *policy_of(const char *folder, const char *text)
{
    char path[4096];
    if (strncmp(text, "bloom:", 6) == 0) {
        return leveldb_filterpolicy_create_bloom(atoi(text + 6));
    }
    if (strcmp(text, "empty") == 0) {
        return leveldb_filterpolicy_create(NULL, nothing, empty_filter, pass, empty_name);
    }
    if (strncmp(text, "unseen:", 7) != 0) {
        fprintf(stderr, "leveldb: the filter is unseen:RATE, bloom:BITS or empty\n");
        return NULL;
    }
    snprintf(path, sizeof(path), "%s/unseen.seed", folder);
    return policy_create(path, atof(text + 7));
}

static bool open_db(struct store *s, const char *folder, const struct store_setting *setting)
{
    char *error = NULL;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        perror(folder);
        return false;
    }
    s->policy = policy_of(folder, setting->filter ? setting->filter : "unseen:0.0084");
    if (!s->policy) {
        return false;
    }
    s->cache = leveldb_cache_create_lru(CACHE_BYTES);
    leveldb_options_set_create_if_missing(s->options, 1);
    leveldb_options_set_compression(s->options, leveldb_snappy_compression);
    leveldb_options_set_block_size(s->options, BLOCK_BYTES);
    leveldb_options_set_cache(s->options, s->cache);
    leveldb_options_set_filter_policy(s->options, s->policy);
    leveldb_writeoptions_set_sync(s->writing, !setting->fast);
    s->db = leveldb_open(s->options, folder, &error);
    return good("open", error);
}

struct store *store_open(const char *folder, const struct store_setting *setting)
{
    struct store *s = calloc(1, sizeof(*s));
    if (!s) {
        return NULL;
    }
    s->options = leveldb_options_create();
    s->reading = leveldb_readoptions_create();
    s->writing = leveldb_writeoptions_create();
    if (!open_db(s, folder, setting)) {
        store_close(s);
        return NULL;
    }
    return s;
}

void store_close(struct store *s)
{
    if (!s) {
        return;
    }
    if (s->db) {
        leveldb_close(s->db);
    }
    if (s->cache) {
        leveldb_cache_destroy(s->cache);
    }
    if (s->policy) {
        leveldb_filterpolicy_destroy(s->policy);
    }
    leveldb_readoptions_destroy(s->reading);
    leveldb_writeoptions_destroy(s->writing);
    leveldb_options_destroy(s->options);
    free(s);
}

/* ---- Writing and reading --------------------------------------------------------------------- */

bool store_put(struct store *s, const struct unseen_bytes *keys, const struct unseen_bytes *values,
               size_t n)
{
    leveldb_writebatch_t *batch = leveldb_writebatch_create();
    char *error = NULL;
    for (size_t i = 0; i < n; i++) {
        leveldb_writebatch_put(batch, keys[i].data, keys[i].len, values[i].data, values[i].len);
    }
    leveldb_write(s->db, s->writing, batch, &error);
    leveldb_writebatch_destroy(batch);
    return good("write", error);
}

bool store_delete(struct store *s, struct unseen_bytes key)
{
    char *error = NULL;
    leveldb_delete(s->db, s->writing, key.data, key.len, &error);
    return good("delete", error);
}

bool store_get(struct store *s, struct unseen_bytes key, bool *found_out,
               void (*take)(void *context, struct unseen_bytes value), void *context)
{
    char *error = NULL;
    size_t len = 0;
    s->asked++;
    char *value = leveldb_get(s->db, s->reading, key.data, key.len, &len, &error);
    *found_out = value != NULL;
    if (value) {
        take(context, (struct unseen_bytes){value, len});
        leveldb_free(value);
    }
    return good("get", error);
}

bool store_keys(struct store *s, bool (*each)(void *context, const void *key, size_t len),
                void *context)
{
    leveldb_iterator_t *it = leveldb_create_iterator(s->db, s->reading);
    char *error = NULL;
    bool going = true;
    for (leveldb_iter_seek_to_first(it); going && leveldb_iter_valid(it); leveldb_iter_next(it)) {
        size_t len = 0;
        const char *key = leveldb_iter_key(it, &len);
        going = each(context, key, len);
    }
    leveldb_iter_get_error(it, &error);
    leveldb_iter_destroy(it);
    return good("scan", error) && going;
}

/* There is no guard; the files are compacted to one level. */
bool store_rebuild(struct store *s)
{
    leveldb_compact_range(s->db, NULL, 0, NULL, 0);
    return true;
}

/* The blocks in the cache, which drops none. */
bool store_stats(struct store *s, struct store_stats *stats_out)
{
    char *text = leveldb_property_value(s->db, "leveldb.approximate-memory-usage");
    *stats_out =
        (struct store_stats){.asked = s->asked,
                             .blocks_read = text ? strtoull(text, NULL, 10) / BLOCK_BYTES : 0,
                             .blocks_are = "blocks read into the cache"};
    leveldb_free(text);
    return true;
}

struct guard *store_guard(struct store *s)
{
    (void)s;
    return NULL;
}
