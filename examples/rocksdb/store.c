/* SPDX-License-Identifier: MIT
 *
 * RocksDB behind a guard. RocksDB has filters of its own, one in each of its files, but takes none
 * of one's own since version 7. The guard is one filter for all files. */
#define _POSIX_C_SOURCE 200809L
#include "../guard/store.h"

#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    CACHE_BYTES = 4 << 20
};

struct store {
    rocksdb_t *db;
    rocksdb_options_t *options;
    rocksdb_readoptions_t *reading;
    rocksdb_writeoptions_t *writing;
    struct guard *guard; /* NULL: none */
    uint64_t asked;
    rocksdb_iterator_t *scan;
};

static bool good(const char *what, char *error)
{
    if (error) {
        fprintf(stderr, "rocksdb: %s: %s\n", what, error);
        free(error);
    }
    return !error;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* The filter of RocksDB that "bloom:10" or "ribbon:10" names, of full files, read once and kept. */
static bool set_filter(rocksdb_block_based_table_options_t *table, const char *text)
{
    const char *colon = strchr(text, ':');
    const double bits = colon ? atof(colon + 1) : 0;
    if (bits <= 0) {
        fprintf(stderr, "rocksdb: the filter is bloom:BITS or ribbon:BITS\n");
        return false;
    }
    rocksdb_block_based_options_set_filter_policy(
        table, strncmp(text, "ribbon", 6) == 0 ? rocksdb_filterpolicy_create_ribbon(bits)
                                               : rocksdb_filterpolicy_create_bloom_full(bits));
    return true;
}

static bool open_db(struct store *s, const char *folder, const struct store_setting *setting)
{
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_cache_t *cache = rocksdb_cache_create_lru(CACHE_BYTES);
    char *error = NULL;
    bool done = !setting->filter || set_filter(table, setting->filter);
    rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_block_based_options_set_format_version(table, 5);
    s->options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(s->options, 1);
    rocksdb_options_set_block_based_table_factory(s->options, table);
    rocksdb_options_set_compression(s->options, rocksdb_no_compression);
    rocksdb_options_enable_statistics(s->options);
    rocksdb_options_set_info_log_level(s->options, 4);
    s->reading = rocksdb_readoptions_create();
    s->writing = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(s->writing, !setting->fast);
    if (done) {
        s->db = rocksdb_open(s->options, folder, &error);
        done = good("open", error);
    }
    rocksdb_block_based_options_destroy(table);
    rocksdb_cache_destroy(cache);
    return done;
}

struct store *store_open(const char *folder, const struct store_setting *setting)
{
    struct store *s = calloc(1, sizeof(*s));
    char path[4096];
    if (!s) {
        return NULL;
    }
    snprintf(path, sizeof(path), "%s.guard", folder);
    bool done = open_db(s, folder, setting);
    if (done && setting->rate > 0) {
        s->guard = guard_open(path, setting->rate);
        done = s->guard && (guard_knows(s->guard) || store_rebuild(s));
    }
    if (!done) {
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
        rocksdb_close(s->db);
    }
    rocksdb_readoptions_destroy(s->reading);
    rocksdb_writeoptions_destroy(s->writing);
    rocksdb_options_destroy(s->options);
    guard_close(s->guard);
    free(s);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static bool write_all(struct store *s, const struct unseen_bytes *keys,
                      const struct unseen_bytes *values, size_t n)
{
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    char *error = NULL;
    for (size_t i = 0; i < n; i++) {
        rocksdb_writebatch_put(batch, keys[i].data, keys[i].len, values[i].data, values[i].len);
    }
    rocksdb_write(s->db, s->writing, batch, &error);
    rocksdb_writebatch_destroy(batch);
    return good("write", error);
}

/* The guard has the keys, durably, before the store does. */
bool store_put(struct store *s, const struct unseen_bytes *keys, const struct unseen_bytes *values,
               size_t n)
{
    if (!s->guard) {
        return write_all(s, keys, values, n);
    }
    guard_write_begin(s->guard);
    const bool done = guard_add(s->guard, keys, n) && write_all(s, keys, values, n);
    guard_write_end(s->guard);
    return done;
}

/* The guard forgets the key with its next list; until then it costs a question. */
bool store_delete(struct store *s, struct unseen_bytes key)
{
    char *error = NULL;
    rocksdb_delete(s->db, s->writing, key.data, key.len, &error);
    return good("delete", error);
}

/* ---- Reading --------------------------------------------------------------------------------- */

bool store_get(struct store *s, struct unseen_bytes key, bool *found_out,
               void (*take)(void *context, struct unseen_bytes value), void *context)
{
    char *error = NULL;
    *found_out = false;
    if (s->guard && !guard_may_have(s->guard, key.data, key.len)) {
        return true;
    }
    s->asked++;
    rocksdb_pinnableslice_t *value =
        rocksdb_get_pinned(s->db, s->reading, key.data, key.len, &error);
    if (!good("get", error)) {
        return false;
    }
    *found_out = value != NULL;
    if (value) {
        size_t len = 0;
        const char *data = rocksdb_pinnableslice_value(value, &len);
        take(context, (struct unseen_bytes){data, len});
        rocksdb_pinnableslice_destroy(value);
    }
    return true;
}

/* Gives each all keys of an iterator, which is destroyed. An iterator reads a snapshot. */
static bool scan(rocksdb_iterator_t *it, bool (*each)(void *context, const void *key, size_t len),
                 void *context)
{
    char *error = NULL;
    bool going = true;
    for (rocksdb_iter_seek_to_first(it); going && rocksdb_iter_valid(it); rocksdb_iter_next(it)) {
        size_t len = 0;
        const char *key = rocksdb_iter_key(it, &len);
        going = each(context, key, len);
    }
    rocksdb_iter_get_error(it, &error);
    rocksdb_iter_destroy(it);
    return good("scan", error) && going;
}

bool store_keys(struct store *s, bool (*each)(void *context, const void *key, size_t len),
                void *context)
{
    return scan(rocksdb_create_iterator(s->db, s->reading), each, context);
}

/* ---- Rebuilding ------------------------------------------------------------------------------ */

static bool begin_scan(void *context)
{
    struct store *s = context;
    s->scan = rocksdb_create_iterator(s->db, s->reading);
    return s->scan != NULL;
}

static bool each_key(void *context, bool (*take)(void *build, const void *key, size_t len),
                     void *build)
{
    struct store *s = context;
    return scan(s->scan, take, build);
}

/* Compacts first: the figures of RocksDB's own filters are those of one level then. */
bool store_rebuild(struct store *s)
{
    const struct guard_scan all = {begin_scan, each_key, s};
    rocksdb_compact_range(s->db, NULL, 0, NULL, 0);
    return !s->guard || guard_rebuild(s->guard, &all);
}

/* ---- Figures --------------------------------------------------------------------------------- */

/* The number behind `name` in a text of RocksDB; 0 if it is not there. */
static uint64_t number_after(const char *text, const char *name)
{
    const char *at = text ? strstr(text, name) : NULL;
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

bool store_stats(struct store *s, struct store_stats *stats_out)
{
    char *tickers = rocksdb_options_statistics_get_string(s->options);
    char *tables = rocksdb_property_value(s->db, "rocksdb.aggregated-table-properties");
    *stats_out = (struct store_stats){
        .asked = s->asked,
        .blocks_read = number_after(tickers, "rocksdb.block.cache.data.miss COUNT : "),
        .filter_bytes = number_after(tables, "filter block size="),
        .blocks_are = "data blocks read"};
    free(tickers);
    free(tables);
    return true;
}

struct guard *store_guard(struct store *s)
{
    return s->guard;
}
