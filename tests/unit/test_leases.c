/* SPDX-License-Identifier: MIT
 *
 * Leases beside a plain array of what became of each URL: random requests, time that passes, and
 * restarts after which the file of leases is all that is left, with a torn end, and in the middle
 * of a copy to a new file. Every URL that was leased and is not done must be handed out again.
 *
 * Label: threads */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "folder_check.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "longest_run.h"
#include "print/message.h"
#include "serve/leases.h"

enum {
    NURLS = 4000,
    TEXT = 400, /* so that copying the live ones takes several calls */
    NSTEPS = 120000,
    RESTART_EVERY = 3000,
    SETTLED_MAX = 512 << 10 /* bytes that a call may write */
};

static char dir[100];
static char path[150];
static char file[200];
static char new_file[210];
static struct unseen_set *set;
static struct leases leases;
static struct lease_head head; /* what the log of the store says */

static char said[500];

void message_say(enum message_level kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (kind == MESSAGE_ERROR) {
        (void)vsnprintf(said, sizeof(said), format, args);
    }
    va_end(args);
}

bool message_no_memory(void)
{
    return false;
}

/* ---- The model ------------------------------------------------------------------------------- */

static struct url {
    char text[TEXT];
    struct unseen_key key;
    enum lease_state state;
    bool done; /* it is in the store */
    uint64_t until;
    uint64_t change;
    char token[LEASE_TOKEN_BYTES];
} urls[NURLS];

static uint64_t now = 1;
static uint64_t nchanges;
static uint64_t ndurable;

static struct unseen_bytes bytes_of(const char *text)
{
    return (struct unseen_bytes){text, strlen(text)};
}

static void make_urls(void)
{
    for (int i = 0; i < NURLS; i++) {
        struct url *u = &urls[i];
        memset(u, 0, sizeof(*u));
        const int len = snprintf(u->text, TEXT, "http://example.com/%d/", i);
        memset(u->text + len, 'x', (size_t)(TEXT - 1 - len - i % 100));
        const struct unseen_bytes item = bytes_of(u->text);
        CHECK(unseen_set_keys(set, &item, 1, &u->key, NULL) == UNSEEN_OK);
    }
}

static void put_key(const struct url *u, bool added)
{
    uint8_t verdict = 0;
    CHECK((added ? unseen_set_add_keys : unseen_set_remove_keys)(set, &u->key, 1, &verdict, NULL) ==
          UNSEEN_OK);
    nchanges++;
}

static void let_expire(void)
{
    for (int i = 0; i < NURLS; i++) {
        if (urls[i].state == LEASE_OUT && urls[i].until <= now) {
            urls[i].state = LEASE_BACK;
        }
    }
}

static bool open_leases(void)
{
    const bool opened = leases_open(&leases, path, &head, set, 0);
    head.id = opened ? leases.file.head.id : head.id;
    return opened;
}

static void close_leases(void)
{
    const bool are_over = leases_are_over(&leases);
    head.id = are_over ? 0 : head.id;
    leases_close(&leases, are_over);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void lease(struct url *u)
{
    const char *why = "";
    if (u->done || u->state == LEASE_OUT) {
        return;
    }
    u->until = now + 100;
    CHECK(leases_grant(&leases, u->key, bytes_of(u->text), now, u->until, u->token, &why));
    u->state = LEASE_OUT;
}

static bool is_current(const struct url *u)
{
    struct unseen_key key = {0};
    const bool found = leases_find(&leases, bytes_of(u->token), now, &key);
    CHECK(found == (u->state == LEASE_OUT));
    CHECK(!found || memcmp(&key, &u->key, sizeof(key)) == 0);
    return found;
}

/* D of the worker, or an A of somebody else while nobody has the URL. */
static void finish(struct url *u)
{
    if ((u->state == LEASE_OUT && is_current(u)) || u->state == LEASE_BACK) {
        put_key(u, true);
        leases_end(&leases, u->key, nchanges);
        u->state = LEASE_ENDING;
        u->change = nchanges;
        u->done = true;
    }
}

/* The client that added the URL was never answered. */
static void take_back(struct url *u)
{
    if (u->done && u->state == LEASE_ENDING) {
        put_key(u, false);
        leases_undo_end(&leases, u->key);
        u->state = LEASE_BACK;
        u->done = false;
    }
}

static void take_out(struct url *u)
{
    if (u->done) {
        put_key(u, false);
        u->done = false;
    }
}

static struct url *url_of(struct unseen_bytes text)
{
    const long i = strtol(text.data + strlen("http://example.com/"), NULL, 10);
    CHECK(i >= 0 && i < NURLS && text.len == strlen(urls[i].text) &&
          memcmp(urls[i].text, text.data, text.len) == 0);
    return &urls[i];
}

static void hand_out(void)
{
    char token[LEASE_TOKEN_BYTES];
    struct unseen_bytes text;
    bool any = false;
    if (leases_take_back(&leases, now, now + 100, token, &text)) {
        struct url *u = url_of(text);
        CHECK(u->state == LEASE_BACK);
        u->state = LEASE_OUT;
        u->until = now + 100;
        memcpy(u->token, token, sizeof(token));
        return;
    }
    for (int i = 0; i < NURLS; i++) {
        any = any || urls[i].state == LEASE_BACK;
    }
    CHECK(!any);
}

/* What this process has written, as Linux counts it. */
static uint64_t written(void)
{
    char line[100];
    unsigned long long n = 0;
    FILE *f = fopen("/proc/self/io", "r");
    while (f && fgets(line, sizeof(line), f) && sscanf(line, "wchar: %llu", &n) != 1) {
    }
    if (f) {
        (void)fclose(f);
    }
    return n;
}

static void settle(uint64_t to)
{
    const uint64_t before = written();
    int error = 0;
    ndurable = to;
    leases_settle(&leases, ndurable);
    CHECK(written() - before < SETTLED_MAX);
    for (int i = 0; i < NURLS; i++) {
        if (urls[i].state == LEASE_ENDING && urls[i].change <= ndurable) {
            urls[i].state = LEASE_NONE;
        }
    }
    lease_file_sync(&leases.file);
    (void)lease_file_synced(&leases.file, &error);
    CHECK_EQ(error, 0);
}

/* ---- Restarts -------------------------------------------------------------------------------- */

static void append_junk(size_t n)
{
    char junk[64] = "torn"; /* a lease of an empty text, but for its CRC */
    junk[8] = 1;
    const int fd = open(file, O_WRONLY | O_APPEND);
    CHECK(fd >= 0 && write(fd, junk, n) == (ssize_t)n && close(fd) == 0);
}

static void restart(size_t njunk)
{
    bool any = false;
    size_t nback = 0;
    for (int i = 0; i < NURLS; i++) {
        any = any || urls[i].state != LEASE_NONE;
    }
    close_leases();
    CHECK((access(file, F_OK) == 0) == any && access(new_file, F_OK) != 0);
    if (any) {
        append_junk(njunk);
    }
    CHECK(open_leases());
    for (int i = 0; i < NURLS; i++) {
        struct url *u = &urls[i];
        if (u->state != LEASE_NONE) {
            u->state = u->done ? LEASE_ENDING : LEASE_BACK;
            u->change = 0; /* the store that was opened has it */
        }
    }
    settle(ndurable);
    for (int i = 0; i < NURLS; i++) {
        struct url *u = &urls[i];
        if (!CHECK_EQ(leases_state(&leases, u->key, now), u->state)) {
            fprintf(stderr, "URL %d\n", i);
            break;
        }
        nback += u->state == LEASE_BACK;
        CHECK(!is_current(u)); /* a token of before is late */
    }
    CHECK_EQ(leases.nlive, nback);
}

static ino_t inode(void)
{
    struct stat st = {.st_ino = 0};
    (void)stat(file, &st);
    return st.st_ino;
}

/* One random request about a URL, which the leases and the model answer alike. */
static void change(struct url *u, unsigned percent)
{
    const bool is_ours = u->state == LEASE_OUT && is_current(u);
    if (percent < 45) {
        lease(u);
    } else if (percent < 75) {
        finish(u);
    } else if (percent < 78) {
        take_back(u);
    } else if (percent < 84) {
        take_out(u);
    } else if (percent < 88) {
        hand_out();
    } else if (percent < 91 && is_ours) {
        leases_give_back(&leases, u->key);
        u->state = LEASE_BACK;
    } else if (percent < 94 && is_ours) {
        CHECK(leases_renew(&leases, u->key, now + 300));
        u->until = now + 300;
    } else if (percent < 97) {
        CHECK_EQ(leases_state(&leases, u->key, now), u->state);
    }
}

/* Nobody can forge a file of keys that collide. Half of the slots are free, so random homes leave
 * short runs. */
static void test_chosen_keys(void)
{
    static const char *const text = "http://example.com/first";
    const uint32_t n = 80000;
    char token[LEASE_TOKEN_BYTES];
    const char *why;
    const struct unseen_key first = {.hi = 1, .lo = 1};
    CHECK(open_leases() && leases_grant(&leases, first, bytes_of(text), now, now + 1, token, &why));
    for (uint32_t i = 1; i <= n; i++) {
        const struct unseen_key key = {.hi = i, .lo = 0};
        CHECK(lease_file_append(&leases.file, key, bytes_of("x"), false));
    }
    close_leases();
    CHECK(open_leases());
    CHECK_EQ(leases.nlive, n + 1);
    CHECK(longest_run(leases.table.slots, leases.table.nslots) < 1000);
    close_leases();
    CHECK(unlink(file) == 0);
    head.id = 0;
}

/* What nobody has done comes again, until all of it is done. */
static void finish_all(void)
{
    for (int i = 0; i < NURLS; i++) {
        now += 1000;
        let_expire();
        hand_out();
        finish(&urls[i]);
    }
    while (leases.back.first || leases.nlive > 0) {
        now += 1000;
        let_expire();
        hand_out();
        for (int i = 0; i < NURLS; i++) {
            finish(&urls[i]);
        }
    }
}

static void test_model(void)
{
    uint64_t random = 11;
    int ncopies = 0;
    int ncut = 0;
    ino_t last = 0;
    make_urls();
    CHECK(open_leases());
    for (int step = 0; step < NSTEPS; step++) {
        struct url *u = &urls[test_random(&random) % NURLS];
        const unsigned percent = (unsigned)(test_random(&random) % 100);
        change(u, percent);
        if (test_random(&random) % 100 == 0) {
            now++;
            let_expire();
        }
        if (step % 10 == 0) {
            settle(nchanges - (nchanges > 5 ? 5 : 0));
            ncopies += inode() != last;
            last = inode();
        }
        /* In the middle of a copy, too. */
        if (step % RESTART_EVERY == 0 || (lease_file_takes_copies(&leases.file) && ncut < 2)) {
            ncut += lease_file_takes_copies(&leases.file);
            restart(test_random(&random) % 64);
            last = inode();
        }
    }
    CHECK(ncopies >= 2);
    CHECK(ncut >= 1);
    finish_all();
    settle(nchanges);
    close_leases();
    CHECK(access(file, F_OK) != 0);
}

/* ---- The file -------------------------------------------------------------------------------- */

static void check_refused(const char *sentence)
{
    char wanted[500];
    snprintf(wanted, sizeof(wanted), sentence, file);
    CHECK(!open_leases());
    if (!CHECK(strcmp(said, wanted) == 0)) {
        fprintf(stderr, "%s\n", said);
    }
}

static void test_foreign(void)
{
    make_urls();
    CHECK(open_leases());
    lease(&urls[0]);
    close_leases();
    CHECK(chmod(file, 0620) == 0);
    check_refused("%s must be a file of its own that only this user may write");
    CHECK(chmod(file, 0600) == 0);
    head.id++;
    check_refused("%s has the leases of another store");
    head.id = 0; /* with a log that names none */
    check_refused("%s has the leases of another store");
    const int fd = open(file, O_RDWR);
    CHECK(fd >= 0 && pwrite(fd, "b", 1, 8) == 1 && pwrite(fd, "b", 1, LEASE_HEAD_BYTES) == 1);
    check_refused("%s is not a file of leases, or both of its heads are damaged");
    CHECK(close(fd) == 0 && unlink(file) == 0);
    CHECK(symlink("elsewhere", file) == 0);
    check_refused("cannot open %s: Too many levels of symbolic links");
    CHECK(unlink(file) == 0);
    CHECK(mkdir(file, 0700) == 0);
    check_refused("cannot open %s: Is a directory");
    CHECK(rmdir(file) == 0);
}

/* A new file that cannot be made: the old one goes on. */
static void test_no_copy(void)
{
    make_urls();
    CHECK(open_leases() && mkdir(new_file, 0700) == 0);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 300; i++) {
            take_out(&urls[i]);
            lease(&urls[i]);
            finish(&urls[i]);
            settle(nchanges);
        }
    }
    CHECK(leases.file.end > 1 << 20);
    take_out(&urls[0]);
    lease(&urls[0]);
    CHECK(rmdir(new_file) == 0);
    restart(0);
    close_leases();
    CHECK(unlink(file) == 0);
    head.id = 0;
}

int main(void)
{
    test_start();
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .profile = "none",
                                               .filter = "exact",
                                               .seed = "leases",
                                               .seed_len = 6,
                                               .cpu = test_cpu};
    test_folder_make(dir, sizeof(dir), "leases");
    if (!CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK)) {
        return test_end();
    }
    snprintf(path, sizeof(path), "%s/store", dir);
    snprintf(file, sizeof(file), "%s.leases", path);
    snprintf(new_file, sizeof(new_file), "%s.new", file);
    test_model();
    test_foreign();
    test_no_copy();
    test_chosen_keys();
    unseen_set_free(set);
    CHECK(rmdir(dir) == 0);
    return test_end();
}
