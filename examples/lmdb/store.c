/* SPDX-License-Identifier: MIT
 *
 * LMDB behind a guard. LMDB has no filter of its own: a question for an absent key walks down the
 * tree, and reads the pages on its way. */
#define _POSIX_C_SOURCE 200809L
#include "../guard/store.h"

#include <errno.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

struct store {
    MDB_env *env;
    MDB_dbi dbi;
    struct guard *guard; /* NULL: none */
    uint64_t asked;
    MDB_txn *scan; /* the snapshot of a rebuild */
    MDB_txn *read; /* of store_get, renewed for each question */
};

static bool good(const char *what, int code)
{
    if (code != 0) {
        fprintf(stderr, "lmdb: %s: %s\n", what, mdb_strerror(code));
    }
    return code == 0;
}

static MDB_val val_of(struct unseen_bytes bytes)
{
    return (MDB_val){.mv_size = bytes.len, .mv_data = (void *)(uintptr_t)bytes.data};
}

/* ---- Opening --------------------------------------------------------------------------------- */

static bool open_env(struct store *s, const char *folder, bool fast)
{
    MDB_txn *txn = NULL;
    if (!good("create", mdb_env_create(&s->env)) ||
        !good("size", mdb_env_set_mapsize(s->env, (size_t)1 << 36)) ||
        !good("open",
              mdb_env_open(s->env, folder, MDB_NORDAHEAD | (fast ? MDB_NOSYNC : 0), 0666)) ||
        !good("begin", mdb_txn_begin(s->env, NULL, 0, &txn))) {
        return false;
    }
    if (!good("open", mdb_dbi_open(txn, NULL, 0, &s->dbi))) {
        mdb_txn_abort(txn);
        return false;
    }
    return good("commit", mdb_txn_commit(txn));
}

struct store *store_open(const char *folder, const struct store_setting *setting)
{
    struct store *s = calloc(1, sizeof(*s));
    char path[4096];
    if (!s) {
        return NULL;
    }
    if (setting->filter) {
        fprintf(stderr, "lmdb: it has no filter of its own\n");
        free(s);
        return NULL;
    }
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        perror(folder);
        free(s);
        return NULL;
    }
    snprintf(path, sizeof(path), "%s/guard", folder);
    bool done = open_env(s, folder, setting->fast);
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
    if (s->read) {
        mdb_txn_abort(s->read);
    }
    if (s->env) {
        mdb_env_close(s->env);
    }
    guard_close(s->guard);
    free(s);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static bool put_all(struct store *s, const struct unseen_bytes *keys,
                    const struct unseen_bytes *values, size_t n)
{
    MDB_txn *txn = NULL;
    if (!good("begin", mdb_txn_begin(s->env, NULL, 0, &txn))) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        MDB_val key = val_of(keys[i]);
        MDB_val value = val_of(values[i]);
        if (!good("put", mdb_put(txn, s->dbi, &key, &value, 0))) {
            mdb_txn_abort(txn);
            return false;
        }
    }
    return good("commit", mdb_txn_commit(txn));
}

/* The guard has the keys, durably, before the store does. */
bool store_put(struct store *s, const struct unseen_bytes *keys, const struct unseen_bytes *values,
               size_t n)
{
    if (!s->guard) {
        return put_all(s, keys, values, n);
    }
    guard_write_begin(s->guard);
    const bool done = guard_add(s->guard, keys, n) && put_all(s, keys, values, n);
    guard_write_end(s->guard);
    return done;
}

/* The guard forgets the key with its next list; until then it costs a question. */
bool store_delete(struct store *s, struct unseen_bytes bytes)
{
    MDB_txn *txn = NULL;
    MDB_val key = val_of(bytes);
    if (!good("begin", mdb_txn_begin(s->env, NULL, 0, &txn))) {
        return false;
    }
    const int code = mdb_del(txn, s->dbi, &key, NULL);
    if (code != MDB_NOTFOUND && !good("delete", code)) {
        mdb_txn_abort(txn);
        return false;
    }
    return good("commit", mdb_txn_commit(txn));
}

/* ---- Reading --------------------------------------------------------------------------------- */

bool store_get(struct store *s, struct unseen_bytes bytes, bool *found_out,
               void (*take)(void *context, struct unseen_bytes value), void *context)
{
    MDB_val key = val_of(bytes);
    MDB_val value;
    *found_out = false;
    if (s->guard && !guard_may_have(s->guard, bytes.data, bytes.len)) {
        return true;
    }
    s->asked++;
    if (!good("read", s->read ? mdb_txn_renew(s->read)
                              : mdb_txn_begin(s->env, NULL, MDB_RDONLY, &s->read))) {
        return false;
    }
    const int code = mdb_get(s->read, s->dbi, &key, &value);
    *found_out = code == 0;
    if (code == 0) {
        take(context, (struct unseen_bytes){value.mv_data, value.mv_size});
    }
    mdb_txn_reset(s->read);
    return code == MDB_NOTFOUND || good("get", code);
}

static bool scan(const struct store *s, MDB_txn *txn,
                 bool (*each)(void *context, const void *key, size_t len), void *context)
{
    MDB_cursor *cursor = NULL;
    MDB_val key;
    MDB_val value;
    int code = mdb_cursor_open(txn, s->dbi, &cursor);
    if (!good("scan", code)) {
        return false;
    }
    bool going = true;
    while (going && (code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
        going = each(context, key.mv_data, key.mv_size);
    }
    mdb_cursor_close(cursor);
    return going && (code == MDB_NOTFOUND || good("scan", code));
}

bool store_keys(struct store *s, bool (*each)(void *context, const void *key, size_t len),
                void *context)
{
    MDB_txn *txn = NULL;
    if (!good("read", mdb_txn_begin(s->env, NULL, MDB_RDONLY, &txn))) {
        return false;
    }
    const bool done = scan(s, txn, each, context);
    mdb_txn_abort(txn);
    return done;
}

/* ---- Rebuilding ------------------------------------------------------------------------------ */

static bool begin_scan(void *context)
{
    struct store *s = context;
    return good("read", mdb_txn_begin(s->env, NULL, MDB_RDONLY, &s->scan));
}

static bool each_key(void *context, bool (*take)(void *build, const void *key, size_t len),
                     void *build)
{
    struct store *s = context;
    const bool done = scan(s, s->scan, take, build);
    mdb_txn_abort(s->scan);
    return done;
}

bool store_rebuild(struct store *s)
{
    const struct guard_scan all = {begin_scan, each_key, s};
    if (s->read) { /* a thread has one read transaction */
        mdb_txn_abort(s->read);
        s->read = NULL;
    }
    return !s->guard || guard_rebuild(s->guard, &all);
}

/* ---- Figures --------------------------------------------------------------------------------- */

bool store_stats(struct store *s, struct store_stats *stats_out)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) {
        return false;
    }
    *stats_out = (struct store_stats){.asked = s->asked,
                                      .blocks_read = (uint64_t)usage.ru_majflt,
                                      .blocks_are = "page faults that read the disk"};
    return true;
}

struct guard *store_guard(struct store *s)
{
    return s->guard;
}
