/* SPDX-License-Identifier: MIT
 *
 * Read histories: which articles a user has read. Each user has a small set (unseen_small.h), which
 * is the value of the user in an LMDB database.
 *
 *     histories FOLDER read    < USER TAB ARTICLE lines: remembers them
 *     histories FOLDER unread  < USER TAB ARTICLE lines: prints those that the user has not read
 *     histories FOLDER forget  < USER lines: forgets all that these users have read
 *     histories FOLDER sizes
 *
 * A small set has room for some 21,800 articles. Then it becomes the user's old set, a new one is
 * begun, and the old one before it is forgotten. So a user, also one who is a program, takes 73 KB
 * at most. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <unseen_small.h>

#define RATE 0.001 /* of new articles that are not shown */

enum {
    SEED_LEN = 32,
    COMMIT_LINES = 10000
};

/* The key of a user in the database: a hash, so that names may have any length. */
struct name {
    struct unseen_key user;
    uint64_t old; /* 0: the set that grows; 1: the one before it */
};

struct histories {
    MDB_env *env;
    MDB_dbi dbi;
    MDB_txn *txn;
    struct unseen_set
        *keys_of; /* makes the keys of users and articles, under the secret of the folder */
};

static bool good(const char *what, int code)
{
    if (code != 0) {
        fprintf(stderr, "histories: %s: %s\n", what, mdb_strerror(code));
    }
    return code == 0;
}

static bool right(const char *what, enum unseen_status status)
{
    if (status != UNSEEN_OK) {
        fprintf(stderr, "histories: %s: %s\n", what, unseen_status_string(status));
    }
    return status == UNSEEN_OK;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* The secret of the folder. The first program that opens it makes the file, which gets its name
 * when it is whole. */
static bool read_secret(const char *folder, uint8_t secret[SEED_LEN])
{
    char path[4096];
    char draft[4200];
    snprintf(path, sizeof(path), "%s/secret", folder);
    snprintf(draft, sizeof(draft), "%s.%ld", path, (long)getpid());
    FILE *file = fopen(path, "rb");
    if (!file && errno == ENOENT) {
        FILE *random = fopen("/dev/urandom", "rb");
        const int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        const bool made = random && fd >= 0 && fread(secret, 1, SEED_LEN, random) == SEED_LEN &&
                          write(fd, secret, SEED_LEN) == SEED_LEN && fsync(fd) == 0 &&
                          (link(draft, path) == 0 || errno == EEXIST);
        if (random) {
            fclose(random);
        }
        if (fd >= 0) {
            close(fd);
            unlink(draft);
        }
        file = made ? fopen(path, "rb") : NULL;
    }
    const bool done = file && fread(secret, 1, SEED_LEN, file) == SEED_LEN;
    if (!done) {
        fprintf(stderr, "histories: %s: cannot read %d bytes: %s\n", path, SEED_LEN,
                strerror(errno));
    }
    if (file) {
        fclose(file);
    }
    return done;
}

static bool open_folder(struct histories *h, const char *folder)
{
    uint8_t secret[SEED_LEN];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        perror(folder);
        return false;
    }
    if (!read_secret(folder, secret)) {
        return false;
    }
    const struct unseen_set_options options = {
        .size = sizeof(options), .profile = "none", .seed = secret, .seed_len = SEED_LEN};
    MDB_txn *txn = NULL;
    if (!right("keys", unseen_set_create(&h->keys_of, &options, NULL)) ||
        !good("create", mdb_env_create(&h->env)) ||
        !good("size", mdb_env_set_mapsize(h->env, (size_t)1 << 36)) ||
        !good(folder, mdb_env_open(h->env, folder, 0, 0666)) ||
        !good("begin", mdb_txn_begin(h->env, NULL, 0, &txn))) {
        return false;
    }
    if (!good("open", mdb_dbi_open(txn, NULL, 0, &h->dbi))) {
        mdb_txn_abort(txn);
        return false;
    }
    return good("commit", mdb_txn_commit(txn));
}

/* ---- A user's sets --------------------------------------------------------------------------- */

static struct name name_of(const struct histories *h, const char *user, size_t len)
{
    return (struct name){.user = unseen_set_identity_key(h->keys_of, user, len)};
}

/* A copy of a set in the database, which the caller frees; NULL if there is none. False:
 * trouble. */
static bool load(struct histories *h, struct name name, void **set)
{
    MDB_val key = {.mv_size = sizeof(name), .mv_data = &name};
    MDB_val value;
    *set = NULL;
    const int code = mdb_get(h->txn, h->dbi, &key, &value);
    return code == MDB_NOTFOUND ||
           (good("get", code) &&
            right("load", unseen_small_load(set, value.mv_data, value.mv_size, NULL)));
}

static bool save(struct histories *h, struct name name, const void *set)
{
    MDB_val key = {.mv_size = sizeof(name), .mv_data = &name};
    MDB_val value = {.mv_size = unseen_small_len(set), .mv_data = (void *)(uintptr_t)set};
    return good("put", mdb_put(h->txn, h->dbi, &key, &value, 0));
}

static bool forget(struct histories *h, struct name name)
{
    for (name.old = 0; name.old < 2; name.old++) {
        MDB_val key = {.mv_size = sizeof(name), .mv_data = &name};
        const int code = mdb_del(h->txn, h->dbi, &key, NULL);
        if (code != MDB_NOTFOUND && !good("delete", code)) {
            return false;
        }
    }
    return true;
}

/* Whether the user has read the article. */
static bool has(struct histories *h, struct name name, struct unseen_key article, bool *found)
{
    *found = false;
    for (name.old = 0; name.old < 2 && !*found; name.old++) {
        void *set;
        uint8_t verdict = UNSEEN_NEW;
        if (!load(h, name, &set)) {
            return false;
        }
        if (set) {
            unseen_small_contains(set, &article, 1, &verdict);
            unseen_small_free(set, NULL);
        }
        *found = verdict == UNSEEN_SEEN;
    }
    return true;
}

/* Adds the article to the user's set. A full set becomes the old one. */
static bool add(struct histories *h, struct name name, struct unseen_key article)
{
    void *set;
    uint8_t verdict;
    if (!load(h, name, &set) ||
        (!set && !right("create", unseen_small_create(&set, RATE / 2, NULL)))) {
        return false;
    }
    enum unseen_status status = unseen_small_add(&set, &article, 1, &verdict, NULL, NULL);
    bool done = true;
    if (status == UNSEEN_ERR_SPACE) {
        done = save(h, (struct name){name.user, 1}, set);
        unseen_small_free(set, NULL);
        set = NULL;
        status = unseen_small_create(&set, RATE / 2, NULL);
        if (status == UNSEEN_OK) {
            status = unseen_small_add(&set, &article, 1, &verdict, NULL, NULL);
        }
    }
    done = done && right("add", status) && save(h, name, set);
    unseen_small_free(set, NULL);
    return done;
}

/* ---- Commands -------------------------------------------------------------------------------- */

/* USER TAB ARTICLE, or USER alone. */
struct line {
    char *text;
    size_t len; /* with the newline */
    struct name name;
    bool has_article;
    struct unseen_key article;
};

static void line_read(const struct histories *h, struct line *line)
{
    char *tab = memchr(line->text, '\t', line->len);
    const size_t end = line->len - (line->text[line->len - 1] == '\n');
    const size_t nuser = tab ? (size_t)(tab - line->text) : end;
    line->name = name_of(h, line->text, nuser);
    line->has_article = tab != NULL;
    if (tab) {
        line->article = unseen_set_identity_key(h->keys_of, tab + 1, end - nuser - 1);
    }
}

static bool run_read(struct histories *h, struct line *line)
{
    return add(h, line->name, line->article);
}

static bool run_unread(struct histories *h, struct line *line)
{
    bool found;
    return has(h, line->name, line->article, &found) &&
           (found || fwrite(line->text, 1, line->len, stdout) == line->len);
}

static bool run_forget(struct histories *h, struct line *line)
{
    return forget(h, line->name);
}

static const struct command {
    const char *name;
    bool (*run)(struct histories *h, struct line *line);
    bool needs_article;
    unsigned flags;
} commands[] = {
    {"read", run_read, true, 0},
    {"unread", run_unread, true, MDB_RDONLY},
    {"forget", run_forget, false, 0},
};

/* Some lines are one transaction: after a crash, all of them are remembered or none. */
static bool run_lines(struct histories *h, const struct command *command)
{
    struct line line = {.text = NULL};
    size_t cap = 0;
    ssize_t len;
    bool done = good("begin", mdb_txn_begin(h->env, NULL, command->flags, &h->txn));
    for (size_t i = 1; done && (len = getline(&line.text, &cap, stdin)) > 0; i++) {
        line.len = (size_t)len;
        line_read(h, &line);
        if (line.has_article != command->needs_article) {
            fprintf(stderr, "histories: line %zu: not USER%s\n", i,
                    command->needs_article ? " TAB ARTICLE" : " alone");
            done = false;
        }
        done = done && command->run(h, &line);
        if (done && i % COMMIT_LINES == 0) {
            done = good("commit", mdb_txn_commit(h->txn));
            h->txn = NULL;
            done = done && good("begin", mdb_txn_begin(h->env, NULL, command->flags, &h->txn));
        }
    }
    free(line.text);
    if (!done || ferror(stdin)) {
        mdb_txn_abort(h->txn);
        return false;
    }
    return good("commit", mdb_txn_commit(h->txn));
}

static bool run_sizes(struct histories *h)
{
    MDB_cursor *cursor;
    MDB_val key;
    MDB_val value;
    MDB_stat stat;
    uint64_t nsets = 0;
    uint64_t nbytes = 0;
    int code;
    if (!good("begin", mdb_txn_begin(h->env, NULL, MDB_RDONLY, &h->txn)) ||
        !good("cursor", mdb_cursor_open(h->txn, h->dbi, &cursor))) {
        return false;
    }
    while ((code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
        nsets++;
        nbytes += value.mv_size;
    }
    const bool done = code == MDB_NOTFOUND && good("stat", mdb_stat(h->txn, h->dbi, &stat));
    if (done) {
        printf("%llu sets, %llu bytes, in the database %llu\n", (unsigned long long)nsets,
               (unsigned long long)nbytes,
               (unsigned long long)stat.ms_psize *
                   (stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages));
    }
    mdb_cursor_close(cursor);
    mdb_txn_abort(h->txn);
    return done;
}

int main(int argc, char **argv)
{
    struct histories h = {.env = NULL};
    const struct command *command = NULL;
    for (size_t i = 0; argc == 3 && i < sizeof(commands) / sizeof(commands[0]); i++) {
        command = strcmp(argv[2], commands[i].name) == 0 ? &commands[i] : command;
    }
    if (!command && !(argc == 3 && strcmp(argv[2], "sizes") == 0)) {
        fprintf(stderr, "usage: histories FOLDER read|unread|forget|sizes\n");
        return 2;
    }
    const bool done =
        open_folder(&h, argv[1]) && (command ? run_lines(&h, command) : run_sizes(&h));
    if (h.env) {
        mdb_env_close(h.env);
    }
    unseen_set_free(h.keys_of);
    return done && fflush(stdout) == 0 ? 0 : 2;
}
