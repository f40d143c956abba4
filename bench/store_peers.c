/* SPDX-License-Identifier: MIT
 *
 * What people use to remember URLs across runs, as a yardstick for a store: an embedded database.
 * Prints each line of standard input that is not in the database yet, and puts it there.
 *
 *     store_peers sqlite|sqlite-key|lmdb|lmdb-key|rocksdb|rocksdb-key FILE < LINES
 *
 * sqlite: INSERT OR IGNORE into a table of one column without row ids, write-ahead log. lmdb:
 * put-if-absent. rocksdb: a get through a filter of 10 bits a key, and a batch of puts. The
 * -key forms store the 64-bit XXH3 of the line in place of the line: what someone would do who
 * knows that it will be many. A transaction every 8,192 lines, durable when it ends, and lines
 * are written before that: the same promise as a store's. */
#include "bench.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#ifdef HAVE_SQLITE
#include <sqlite3.h>
#endif
#ifdef HAVE_LMDB
#include <lmdb.h>
#endif
#ifdef HAVE_ROCKSDB
#include <rocksdb/c.h>
#endif

enum {
    LINES_PER_TRANSACTION = 8192
};

/* One kind of database. put returns whether the bytes were not in it. */
struct peer {
    const char *name;
    bool is_keyed;
    void (*open)(const char *path);
    void (*begin)(void);
    bool (*put)(const void *data, size_t len);
    void (*commit)(void);
    void (*close)(void);
};

static inline _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "error: %s: %s\n", what, why);
    exit(2);
}

#ifdef HAVE_SQLITE
static sqlite3 *sqlite;
static sqlite3_stmt *insert;

static void check_sqlite(int code, int wanted)
{
    if (code != wanted) {
        fail("sqlite", sqlite3_errmsg(sqlite));
    }
}

static void run_sqlite(const char *statement)
{
    check_sqlite(sqlite3_exec(sqlite, statement, NULL, NULL, NULL), SQLITE_OK);
}

static void open_sqlite(const char *path)
{
    check_sqlite(sqlite3_open(path, &sqlite), SQLITE_OK);
    run_sqlite("PRAGMA journal_mode = WAL");
    run_sqlite("PRAGMA synchronous = FULL");
    run_sqlite("PRAGMA cache_size = -1000000"); /* KiB: enough for all of it */
    run_sqlite("CREATE TABLE IF NOT EXISTS seen (url BLOB PRIMARY KEY) WITHOUT ROWID");
    check_sqlite(
        sqlite3_prepare_v2(sqlite, "INSERT OR IGNORE INTO seen VALUES (?)", -1, &insert, NULL),
        SQLITE_OK);
}

static void begin_sqlite(void)
{
    run_sqlite("BEGIN");
}

static bool put_sqlite(const void *data, size_t len)
{
    check_sqlite(sqlite3_bind_blob(insert, 1, data, (int)len, SQLITE_STATIC), SQLITE_OK);
    check_sqlite(sqlite3_step(insert), SQLITE_DONE);
    bool is_new = sqlite3_changes(sqlite) == 1;
    check_sqlite(sqlite3_reset(insert), SQLITE_OK);
    return is_new;
}

static void commit_sqlite(void)
{
    run_sqlite("COMMIT");
}

static void close_sqlite(void)
{
    check_sqlite(sqlite3_finalize(insert), SQLITE_OK);
    check_sqlite(sqlite3_close(sqlite), SQLITE_OK);
}
#endif

#ifdef HAVE_LMDB
static MDB_env *lmdb;
static MDB_txn *transaction;
static MDB_dbi database;

static void check_lmdb(int code)
{
    if (code != 0) {
        fail("lmdb", mdb_strerror(code));
    }
}

static void open_lmdb(const char *path)
{
    check_lmdb(mdb_env_create(&lmdb));
    check_lmdb(mdb_env_set_mapsize(lmdb, (size_t)64 << 30));
    check_lmdb(mdb_env_open(lmdb, path, MDB_NOSUBDIR, 0666));
}

static void begin_lmdb(void)
{
    check_lmdb(mdb_txn_begin(lmdb, NULL, 0, &transaction));
    check_lmdb(mdb_dbi_open(transaction, NULL, 0, &database));
}

static bool put_lmdb(const void *data, size_t len)
{
    MDB_val key = {len, (void *)(uintptr_t)data}; /* it is not written to */
    MDB_val none = {0, NULL};
    int code = mdb_put(transaction, database, &key, &none, MDB_NOOVERWRITE);
    if (code != MDB_KEYEXIST) {
        check_lmdb(code);
    }
    return code == 0;
}

static void commit_lmdb(void)
{
    check_lmdb(mdb_txn_commit(transaction));
}

static void close_lmdb(void)
{
    mdb_env_close(lmdb);
}
#endif

#ifdef HAVE_ROCKSDB
enum {
    ROCKSDB_CACHE = 64 << 20 /* bytes of blocks, beside what the kernel keeps */
};

static rocksdb_t *rocksdb;
static rocksdb_readoptions_t *reads;
static rocksdb_writeoptions_t *writes;
static rocksdb_writebatch_wi_t *batch;

static void check_rocksdb(const char *error)
{
    if (error) {
        fail("rocksdb", error);
    }
}

static void open_rocksdb(const char *path)
{
    char *error = NULL;
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_block_based_table_options_t *tables = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_filter_policy(tables, rocksdb_filterpolicy_create_bloom(10));
    rocksdb_block_based_options_set_block_cache(tables, rocksdb_cache_create_lru(ROCKSDB_CACHE));
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(tables, 1);
    rocksdb_options_set_block_based_table_factory(options, tables);
    rocksdb_options_set_create_if_missing(options, 1);
    rocksdb_options_increase_parallelism(options, 2);
    rocksdb_options_set_max_open_files(options, 256);
    rocksdb = rocksdb_open(options, path, &error);
    check_rocksdb(error);
    reads = rocksdb_readoptions_create();
    writes = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(writes, 1);
    batch = rocksdb_writebatch_wi_create(0, 1);
}

static void begin_rocksdb(void)
{
    rocksdb_writebatch_wi_clear(batch);
}

static bool put_rocksdb(const void *data, size_t len)
{
    char *error = NULL;
    size_t found_len;
    char *found = rocksdb_writebatch_wi_get_from_batch_and_db(batch, rocksdb, reads, data, len,
                                                              &found_len, &error);
    check_rocksdb(error);
    if (!found) {
        rocksdb_writebatch_wi_put(batch, data, len, "", 0);
    }
    rocksdb_free(found);
    return !found;
}

static void commit_rocksdb(void)
{
    char *error = NULL;
    rocksdb_write_writebatch_wi(rocksdb, writes, batch, &error);
    check_rocksdb(error);
}

static void close_rocksdb(void)
{
    rocksdb_close(rocksdb);
}
#endif

static const struct peer peers[] = {
#ifdef HAVE_SQLITE
    {"sqlite", false, open_sqlite, begin_sqlite, put_sqlite, commit_sqlite, close_sqlite},
    {"sqlite-key", true, open_sqlite, begin_sqlite, put_sqlite, commit_sqlite, close_sqlite},
#endif
#ifdef HAVE_LMDB
    {"lmdb", false, open_lmdb, begin_lmdb, put_lmdb, commit_lmdb, close_lmdb},
    {"lmdb-key", true, open_lmdb, begin_lmdb, put_lmdb, commit_lmdb, close_lmdb},
#endif
#ifdef HAVE_ROCKSDB
    {"rocksdb", false, open_rocksdb, begin_rocksdb, put_rocksdb, commit_rocksdb, close_rocksdb},
    {"rocksdb-key", true, open_rocksdb, begin_rocksdb, put_rocksdb, commit_rocksdb, close_rocksdb},
#endif
    {NULL, false, NULL, NULL, NULL, NULL, NULL},
};

static void flush_output(void)
{
    if (fflush(stdout) != 0) {
        bench_die("output");
    }
}

static void run(const struct peer *peer)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    uint64_t nlines = 0;
    peer->begin();
    while ((len = getline(&line, &cap, stdin)) > 0) {
        size_t url_len = line[len - 1] == '\n' ? (size_t)len - 1 : (size_t)len;
        uint64_t key = peer->is_keyed ? XXH3_64bits(line, url_len) : 0;
        bool is_new = peer->is_keyed ? peer->put(&key, sizeof(key)) : peer->put(line, url_len);
        if (is_new && fwrite(line, 1, (size_t)len, stdout) != (size_t)len) {
            bench_die("output");
        }
        if (++nlines % LINES_PER_TRANSACTION == 0) {
            flush_output();
            peer->commit();
            peer->begin();
        }
    }
    if (ferror(stdin)) {
        bench_die("input");
    }
    flush_output();
    peer->commit();
    free(line);
}

int main(int argc, char **argv)
{
    for (const struct peer *peer = peers; argc == 3 && peer->name; peer++) {
        if (strcmp(peer->name, argv[1]) == 0) {
            peer->open(argv[2]);
            run(peer);
            peer->close();
            return 0;
        }
    }
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (const struct peer *peer = peers; peer->name; peer++) {
            puts(peer->name);
        }
        return 0;
    }
    fputs("usage: store_peers sqlite|sqlite-key|lmdb|lmdb-key|rocksdb|rocksdb-key FILE < LINES\n"
          "       store_peers --list   (those that were there when this was built)\n",
          stderr);
    return 2;
}
