/* SPDX-License-Identifier: MIT
 *
 * The golden files (tests/golden): one file of every format, kept in the repository.
 *
 * For each row of a table below the test
 * - opens a copy of the file, asks it for members and for others, and compares every answer, false
 *   positives included, with the recorded line in answers.txt;
 * - makes the file again from the same inputs and compares all bytes.
 *
 *     test_golden                 the test
 *     test_golden --make FOLDER   writes all golden files and answers.txt into FOLDER
 *
 * Label: kernels */
#include "folder_check.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "hash/checksum.h"
#include <unseen_bitmap.h>
#include <unseen_list.h>

enum {
    PATH_CAP = 400,
    TEXT_CAP = 100,
    NMEMBERS = 1000,
    NOTHERS = 20000,
    NASKED = NMEMBERS + NOTHERS,
    NMANY = 40000,
    BATCH = 1000,     /* divides both */
    NALLOWED = 10000, /* others; those that are seen are allowed */
    LENGTH = 15000,   /* of a window, in milliseconds; */
    TICK = 50,        /* so many members come in the same second */
    NCHURNS = 66,     /* each NMEMBERS changes: enough for an image */
    REMOVE_EACH = 5   /* where keys are removed: each fifth */
};

enum type {
    SET,
    STORE,
    LIST,
    BITMAP
};

enum {
    REMOVES = 1, /* each fifth member is removed again */
    NO_LOG = 2,
    IMAGE = 4,     /* so many changes that the store gets an image beside its log */
    CHANGES = 8,   /* a list is changed after it was built */
    WINDOW = 16,   /* a store with a window, some of whose false hits are allowed */
    SQUEEZED = 32, /* the golden file is squeezed */
    MANY = 64,     /* NMANY members: several pages, groups or links */
    SUMMED = 128   /* the golden file is only a checksum of what is made */
};

/* One golden file. All of them have the seed "golden" and the members 0 to NMEMBERS - 1. */
struct golden {
    const char *name;
    enum type type;
    const char *filter;
    const char *profile;
    unsigned key_bits;
    unsigned threads; /* a set for several threads is several filters */
    double fpr;
    uint64_t capacity;
    enum unseen_kind kind; /* of a list */
    unsigned flags;
};

#define URL UNSEEN_KIND_URL

static const struct golden goldens[] = {
    /* name, type, filter, profile, key_bits, threads, fpr, capacity, kind, flags */
    {"set-compact", SET, "compact", "crawl/1", 128, 1, 0, 0, URL, REMOVES},
    {"set-compact-wide", SET, "compact", "none", 96, 1, 2e-6, 0, URL, 0},
    {"set-compact-threads", SET, "compact", "none", 64, 2, 2e-6, 0, URL, SQUEEZED},
    {"set-compact-low", SET, "exact", "none", 128, 1, 0, 0, URL, REMOVES},
    {"set-compact-low-threads", SET, "compact", "none", 96, 2, 1e-12, 0, URL, REMOVES},
    {"set-compact-counts", SET, "scalable-count", "none", 128, 1, 0, 0, URL, REMOVES},
    {"set-bloom", SET, "bloom", "scrapy/1", 128, 1, 0.01, 1000, URL, 0},
    {"set-bloom-threads", SET, "bloom", "none", 64, 2, 0.01, 1000, URL, 0},
    {"set-block", SET, "block", "none", 96, 1, 0.01, 1000, URL, 0},
    {"set-block-two-lines", SET, "block", "none", 128, 1, 1e-5, 1000, URL, 0},
    {"set-block-threads", SET, "block", "none", 64, 2, 0.01, 1000, URL, 0},
    {"set-counting", SET, "counting", "none", 64, 1, 0.01, 1000, URL, REMOVES},
    {"set-counting-two-lines", SET, "counting", "none", 128, 1, 1e-4, 1000, URL, REMOVES},
    {"set-counting-threads", SET, "counting", "none", 96, 2, 0.01, 1000, URL, REMOVES},
    {"set-compact-many", SET, "compact", "none", 128, 1, 0, 0, URL, MANY | SUMMED},
    {"set-compact-wide-many", SET, "compact", "none", 128, 2, 2e-6, 0, URL, MANY | SUMMED},
    {"set-compact-low-many", SET, "compact", "none", 128, 1, 1e-12, 0, URL, MANY | SUMMED},

    {"store-compact", STORE, "compact", "crawl/1", 64, 1, 0, 0, URL, REMOVES},
    {"store-compact-image", STORE, "compact", "none", 64, 1, 2e-6, 0, URL, REMOVES | IMAGE},
    {"store-compact-96", STORE, "compact", "none", 96, 1, 0, 0, URL, 0},
    {"store-compact-128", STORE, "compact", "whatwg/1", 128, 1, 0, 0, URL, REMOVES},
    {"store-compact-no-log", STORE, "compact", "none", 64, 1, 0, 0, URL, NO_LOG | REMOVES},
    {"store-compact-low", STORE, "exact", "none", 0, 1, 0, 0, URL, REMOVES},
    {"store-bloom", STORE, "bloom", "none", 96, 1, 0.01, 1000, URL, 0},
    {"store-block", STORE, "block", "none", 64, 1, 0.01, 1000, URL, 0},
    {"store-counting", STORE, "counting", "none", 128, 1, 0.01, 1000, URL, REMOVES},
    {"store-counting-window", STORE, "counting", "none", 64, 1, 0.01, 1000, URL, REMOVES | WINDOW},
    {"store-counting-no-log", STORE, "counting", "none", 96, 1, 0.01, 1000, URL, NO_LOG | REMOVES},

    {"list-bytes", LIST, NULL, "none", 0, 1, 0.01, 0, URL, 0},
    {"list-many", LIST, NULL, "none", 0, 2, 1e-4, 0, URL, MANY},
    {"list-fine", LIST, NULL, "none", 0, 1, 1e-7, 0, URL, MANY | SUMMED},
    {"list-finest", LIST, NULL, "none", 0, 1, 1e-9, 0, URL, 0},
    {"list-url", LIST, NULL, "crawl/1", 0, 2, 0.01, 0, URL, 0},
    {"list-expressions", LIST, NULL, "safebrowsing/1", 0, 1, 0.01, 0, UNSEEN_KIND_EXPRESSIONS, 0},
    {"list-mail", LIST, NULL, "none", 0, 1, 0.01, 0, UNSEEN_KIND_MAIL, 0},
    {"list-ip", LIST, NULL, "none", 0, 1, 0.01, 0, UNSEEN_KIND_IP, 0},
    {"list-phone", LIST, NULL, "none", 0, 1, 0.01, 0, UNSEEN_KIND_PHONE, 0},
    {"list-bytes-changed", LIST, NULL, "none", 0, 1, 0.01, 0, URL, CHANGES},
    {"list-url-changed", LIST, NULL, "crawl/1", 0, 1, 0.01, 0, URL, CHANGES},
    {"list-expressions-changed", LIST, NULL, "safebrowsing/1", 0, 1, 0.01, 0,
     UNSEEN_KIND_EXPRESSIONS, CHANGES},
    {"list-mail-changed", LIST, NULL, "none", 0, 1, 0.01, 0, UNSEEN_KIND_MAIL, CHANGES},
    {"list-ip-changed", LIST, NULL, "none", 0, 1, 0.01, 0, UNSEEN_KIND_IP, CHANGES},
    {"list-phone-changed", LIST, NULL, "none", 0, 1, 0.01, 0, UNSEEN_KIND_PHONE, CHANGES},

    {"bitmap", BITMAP, NULL, NULL, 0, 0, 0, 0, URL, 0},

};

enum {
    NGOLDENS = sizeof(goldens) / sizeof(goldens[0])
};

static const char SEED[] = "golden";

static char folder[PATH_CAP]; /* the golden files */
static char work[PATH_CAP];   /* what the test makes */
static struct unseen_error error;

/* ---- files ---- */

static const char *path_in(const char *where, const char *name)
{
    static char paths[8][PATH_CAP + TEXT_CAP];
    static unsigned next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, sizeof(paths[0]), "%s/%s", where, name);
    return path;
}

static const char *image_of(const char *name)
{
    static char image[TEXT_CAP];
    (void)snprintf(image, sizeof(image), "%s.image", name);
    return image;
}

/* All bytes of a file and a 0 behind them, which the caller frees; NULL if it cannot be read. */
static char *read_file(const char *path, size_t *len_out)
{
    struct stat st;
    const int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0) {
        return NULL;
    }
    const size_t len = (size_t)st.st_size;
    char *bytes = malloc(len + 1);
    if (!bytes || read(fd, bytes, len) != (ssize_t)len) {
        perror(path);
        exit(2);
    }
    (void)close(fd);
    bytes[len] = 0;
    *len_out = len;
    return bytes;
}

static void write_file(const char *path, const void *bytes, size_t len)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || close(fd) != 0) {
        perror(path);
        exit(2);
    }
}

/* False if there is no such file. */
static bool copy_file(const char *from, const char *to)
{
    size_t len = 0;
    char *bytes = read_file(from, &len);
    if (bytes) {
        write_file(to, bytes, len);
    }
    free(bytes);
    return bytes != NULL;
}

/* The golden file and the one that was made are the same bytes, or neither is there. */
static void check_same_file(const char *golden_name, const char *made_name)
{
    size_t len = 0;
    size_t made_len = 0;
    char *golden = read_file(path_in(folder, golden_name), &len);
    char *made = read_file(path_in(work, made_name), &made_len);
    if (!CHECK(!golden == !made)) {
        fprintf(stderr, "%s is only %s\n", golden_name, golden ? "golden" : "made now");
    } else if (golden && !CHECK(len == made_len && memcmp(golden, made, len) == 0)) {
        size_t at = 0;
        while (at < len && at < made_len && golden[at] == made[at]) {
            at++;
        }
        fprintf(stderr, "%s: made of the same inputs now, %zu bytes differ from %zu at byte %zu\n",
                golden_name, made_len, len, at);
    }
    free(golden);
    free(made);
}

/* Some files are mostly zeros. They are kept squeezed: the length of the file, then the offset and
 * the 8 bytes of each word that is not 0. */
static void squeeze(const char *from, const char *to)
{
    size_t len = 0;
    size_t n = 8;
    char *bytes = read_file(from, &len);
    uint8_t *words = bytes ? malloc(2 * len + 32) : NULL;
    if (!words) {
        perror(from);
        exit(2);
    }
    store_le64(words, len);
    for (size_t at = 0; at < len; at += 8) {
        uint8_t word[8] = {0};
        memcpy(word, bytes + at, len - at < 8 ? len - at : 8);
        if (load_le64(word) != 0) {
            store_le64(words + n, at);
            memcpy(words + n + 8, word, 8);
            n += 16;
        }
    }
    write_file(to, words, n);
    free(words);
    free(bytes);
}

/* False if there is no such file. */
static bool unsqueeze(const char *from, const char *to)
{
    size_t len = 0;
    char *words = read_file(from, &len);
    if (!words) {
        return false;
    }
    const int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (size_t n = 8; n + 16 <= len; n += 16) {
        CHECK(pwrite(fd, words + n + 8, 8, (off_t)load_le64(words + n)) == 8);
    }
    CHECK(ftruncate(fd, (off_t)load_le64(words)) == 0 && close(fd) == 0);
    free(words);
    return true;
}

static void check_ok(enum unseen_status status, const char *name)
{
    if (!CHECK(status == UNSEEN_OK)) {
        fprintf(stderr, "%s: %s (%s)\n", name, unseen_status_string(status), error.text);
        exit(1);
    }
}

/* The ids of stores come from here (this takes the place of the C library's), so that a store made
 * of the same inputs is the same bytes. */
static uint64_t entropy;

int getentropy(void *buf, size_t len)
{
    uint8_t *bytes = buf;
    for (size_t i = 0; i < len; i++) {
        bytes[i] = (uint8_t)test_random(&entropy);
    }
    return 0;
}

/* ---- inputs ---- */

static unsigned count_members(const struct golden *g)
{
    return g->flags & MANY ? NMANY : NMEMBERS;
}

/* The entry of member number i. No question is about members from NMEMBERS on. */
static size_t member(const struct golden *g, unsigned i, char *text)
{
    int len = 0;
    i = g->flags & MANY && i >= NMEMBERS ? i + NASKED : i;
    switch (g->kind) {
    case UNSEEN_KIND_EXPRESSIONS:
        len = snprintf(text, TEXT_CAP, i % 2 ? "e%u.example/" : "e%u.example/a/", i);
        break;
    case UNSEEN_KIND_MAIL:
        len = snprintf(text, TEXT_CAP, i % 2 ? "user%u@mail.example" : "m%u.example", i);
        break;
    case UNSEEN_KIND_IP:
        len = i % 2 ? snprintf(text, TEXT_CAP, "10.%u.%u.0/24", i / 256, i % 256)
                    : snprintf(text, TEXT_CAP, "2001:db8:%x::/48", i);
        break;
    case UNSEEN_KIND_PHONE:
        len = snprintf(text, TEXT_CAP, "+4930%07u", i);
        break;
    default:
        len = snprintf(text, TEXT_CAP, "http://e%u.example/page?id=%u", i % 100, i);
        break;
    }
    return (size_t)len;
}

/* Question number i: the first NMEMBERS are about members, and each fourth of the URLs is spelt in
 * another way. */
static size_t question(const struct golden *g, unsigned i, char *text)
{
    int len = 0;
    switch (g->kind) {
    case UNSEEN_KIND_EXPRESSIONS:
        len = snprintf(text, TEXT_CAP, "http://www.e%u.example/a/b.html?x=%u", i, i);
        break;
    case UNSEEN_KIND_MAIL:
        len = snprintf(text, TEXT_CAP, i % 2 ? "User%u@Mail.example" : "who@sub.m%u.example", i);
        break;
    case UNSEEN_KIND_IP:
        len = i % 2 ? snprintf(text, TEXT_CAP, "10.%u.%u.77", i / 256, i % 256)
                    : snprintf(text, TEXT_CAP, "2001:db8:%x::1", i);
        break;
    case UNSEEN_KIND_PHONE:
        len = snprintf(text, TEXT_CAP, "+49 (30) %07u", i);
        break;
    default:
        len = snprintf(text, TEXT_CAP,
                       i % 4 != 3 ? "http://e%u.example/page?id=%u"
                                  : "HTTP://E%u.Example:80/./page?id=%u#top",
                       i % 100, i);
        break;
    }
    return (size_t)len;
}

static struct unseen_url *make_url(const struct golden *g)
{
    struct unseen_url *url = NULL;
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = g->profile, .cpu = test_cpu};
    if (g->profile && strcmp(g->profile, "none") != 0) {
        check_ok(unseen_url_create(&url, &options, NULL), g->name);
    }
    return url;
}

/* ---- answers ---- */

static uint8_t verdicts[NASKED];

/* Asks all questions, a batch at a time, into verdicts. */
static void ask_all(const struct golden *g,
                    void (*ask)(const void *asked, const struct unseen_url *url,
                                const struct unseen_bytes *items, uint8_t *verdicts),
                    const void *asked, const struct unseen_url *url)
{
    static char texts[BATCH][TEXT_CAP];
    struct unseen_bytes items[BATCH];
    for (unsigned first = 0; first < NASKED; first += BATCH) {
        for (unsigned i = 0; i < BATCH; i++) {
            items[i] = (struct unseen_bytes){texts[i], question(g, first + i, texts[i])};
        }
        ask(asked, url, items, verdicts + first);
    }
}

/* A line of answers.txt: how many of the members and of the others are seen, which others (the
 * first ten), and a checksum (FNV-1a) of all answers. */
static size_t put_answers(const char *name, char *line, size_t cap)
{
    unsigned nseen[2] = {0, 0};
    unsigned nallowed = 0;
    uint64_t sum = 0xcbf29ce484222325u;
    char wrong[TEXT_CAP] = "";
    size_t wrong_len = 0;
    for (unsigned i = 0; i < NASKED; i++) {
        const bool is_other = i >= NMEMBERS;
        sum = (sum ^ verdicts[i]) * 0x100000001b3u;
        nallowed += verdicts[i] == UNSEEN_ALLOWED;
        nseen[is_other] += verdicts[i] == UNSEEN_SEEN;
        if (is_other && verdicts[i] == UNSEEN_SEEN && nseen[1] <= 10) {
            wrong_len += (size_t)snprintf(wrong + wrong_len, sizeof(wrong) - wrong_len, " %u", i);
        }
    }
    return (size_t)snprintf(line, cap,
                            "%s: %u of %u members seen, %u allowed, %u of %u others seen:%s; "
                            "checksum %016llx\n",
                            name, nseen[0], (unsigned)NMEMBERS, nallowed, nseen[1],
                            (unsigned)NOTHERS, wrong, (unsigned long long)sum);
}

/* The recorded answers must have exactly this line for the file. */
static void check_answers(const char *recorded, const char *name)
{
    char line[4 * TEXT_CAP];
    const size_t len = put_answers(name, line, sizeof(line));
    const char *at = recorded;
    while (at && strncmp(at, line, strlen(name) + 1) != 0) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    if (!CHECK(at != NULL && strncmp(at, line, len) == 0)) {
        fprintf(stderr, "now:    %srecorded: %.*s\n", line, at ? (int)strcspn(at, "\n") : 7,
                at ? at : "nothing");
    }
}

/* ---- sets ---- */

static void ask_set(const void *set, const struct unseen_url *url, const struct unseen_bytes *items,
                    uint8_t *to)
{
    (void)url;
    CHECK(unseen_set_contains(set, items, BATCH, to, NULL) == UNSEEN_OK);
}

static void make_set(const struct golden *g, const char *path)
{
    struct unseen_set *set = NULL;
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .fpr = g->fpr,
                                               .capacity = g->capacity,
                                               .filter = g->filter,
                                               .seed = SEED,
                                               .seed_len = strlen(SEED),
                                               .key_bits = g->key_bits,
                                               .profile = g->profile,
                                               .threads = g->threads,
                                               .cpu = test_cpu};
    char text[TEXT_CAP];
    enum unseen_verdict verdict;
    check_ok(unseen_set_create(&set, &options, NULL), g->name);
    for (unsigned i = 0; i < count_members(g); i++) {
        CHECK(test_set_add(set, text, member(g, i, text), &verdict) == UNSEEN_OK);
    }
    for (unsigned i = 0; g->flags & REMOVES && i < NMEMBERS; i += REMOVE_EACH) {
        CHECK(test_set_remove(set, text, member(g, i, text), &verdict) == UNSEEN_OK);
    }
    check_ok(unseen_set_save(set, path, &error), g->name);
    unseen_set_free(set);
}

static void open_set(const struct golden *g, const char *path)
{
    struct unseen_set *set = NULL;
    const struct unseen_set_options options = {
        .size = sizeof(options), .profile = g->profile, .cpu = test_cpu};
    check_ok(unseen_set_load(&set, path, &options, &error), g->name);
    ask_all(g, ask_set, set, NULL);
    unseen_set_free(set);
}

/* ---- stores ---- */

static struct unseen_store *open_mode(const struct golden *g, const char *path,
                                      enum unseen_store_mode mode)
{
    struct unseen_store *store = NULL;
    struct unseen_store_options options = {
        .size = sizeof(options), .mode = mode, .capacity = g->capacity, .cpu = test_cpu};
    if (mode == UNSEEN_STORE_CREATE) {
        options.profile = g->profile;
        options.filter = g->filter;
        options.fpr = g->fpr;
        options.key_bits = g->key_bits;
        options.seed = SEED;
        options.seed_len = strlen(SEED);
        options.no_log = g->flags & NO_LOG;
        options.window = g->flags & WINDOW ? LENGTH : 0;
    }
    check_ok(unseen_store_open(&store, path, &options, &error), g->name);
    return store;
}

/* The time at which member i comes, in a store with a window. */
static void tell_time(const struct golden *g, struct unseen_store *store, unsigned i)
{
    const uint64_t time = UINT64_C(1700000000000) + i / TICK * 1000;
    CHECK(!(g->flags & WINDOW) || unseen_store_expire(store, time, SIZE_MAX, NULL) == UNSEEN_OK);
}

static void allow_some(const struct golden *g, struct unseen_store *store)
{
    static struct unseen_key keys[NALLOWED];
    static uint8_t answers[NALLOWED];
    char text[TEXT_CAP];
    for (unsigned i = 0; i < NALLOWED; i++) {
        const struct unseen_bytes item = {text, question(g, NMEMBERS + i, text)};
        CHECK(unseen_set_keys(unseen_store_set(store), &item, 1, &keys[i], NULL) == UNSEEN_OK);
    }
    check_ok(unseen_store_allow(store, keys, NALLOWED, answers, &error), g->name);
    struct unseen_store_info info = {.size = sizeof(info)};
    CHECK(unseen_store_info(store, &info) == UNSEEN_OK && info.nallowed > 0);
}

/* Adds or removes members first, first + step, ... and commits them. */
static void change_store(const struct golden *g, struct unseen_store *store, bool adds,
                         unsigned first, unsigned end, unsigned step)
{
    char text[TEXT_CAP];
    enum unseen_verdict verdict;
    for (unsigned i = first; i < end; i += step) {
        const size_t len = member(g, i, text);
        tell_time(g, store, i);
        CHECK((adds ? test_store_add(store, text, len, &verdict)
                    : test_store_remove(store, text, len, &verdict)) == UNSEEN_OK);
    }
    check_ok(unseen_store_commit(store, &error), g->name);
}

/* In two runs, each with commits of its own. */
static void make_store(const struct golden *g, const char *path)
{
    struct unseen_store *store = open_mode(g, path, UNSEEN_STORE_CREATE);
    change_store(g, store, true, 0, NMEMBERS / 2, 1);
    for (unsigned i = 0; g->flags & IMAGE && i < NCHURNS; i++) {
        change_store(g, store, false, 0, NMEMBERS / 2, 1);
        change_store(g, store, true, 0, NMEMBERS / 2, 1);
    }
    check_ok(unseen_store_close(store, &error), g->name);
    store = open_mode(g, path, UNSEEN_STORE_WRITE);
    change_store(g, store, true, NMEMBERS / 2, NMEMBERS, 1);
    if (g->flags & REMOVES) {
        change_store(g, store, false, 0, NMEMBERS, REMOVE_EACH);
    }
    if (g->flags & WINDOW) {
        allow_some(g, store);
    }
    check_ok(unseen_store_close(store, &error), g->name);
}

static void open_store(const struct golden *g, const char *path)
{
    struct unseen_store_health health = {.size = sizeof(health)};
    check_ok(unseen_store_verify(path, &health, NULL, NULL, &error), g->name);
    struct unseen_store *store = open_mode(g, path, UNSEEN_STORE_READ);
    tell_time(g, store, NMEMBERS);
    ask_all(g, ask_set, unseen_store_set(store), NULL);
    check_ok(unseen_store_close(store, &error), g->name);

    /* The store can be written to. */
    enum unseen_verdict verdict = UNSEEN_SEEN;
    store = open_mode(g, path, UNSEEN_STORE_WRITE);
    CHECK(test_store_add(store, "one more", 8, &verdict) == UNSEEN_OK);
    CHECK(verdict == UNSEEN_NEW);
    check_ok(unseen_store_close(store, &error), g->name);
}

/* ---- lists ---- */

static void ask_list(const void *list, const struct unseen_url *url,
                     const struct unseen_bytes *items, uint8_t *to)
{
    (void)url;
    CHECK(unseen_list_covers(list, items, BATCH, to) == UNSEEN_OK);
}

static size_t make_entry(const struct golden *g, const struct unseen_url *url, unsigned i,
                         char *text)
{
    char given[TEXT_CAP];
    char buf[80 * TEXT_CAP];
    struct unseen_bytes entry = {NULL, 0};
    enum unseen_entry fitness = UNSEEN_ENTRY_EMPTY;
    const size_t len = member(g, i, given);
    CHECK(unseen_kind_entry(g->kind, url, given, len, buf, sizeof(buf), &entry, &fitness) ==
          UNSEEN_OK);
    CHECK(fitness == UNSEEN_ENTRY_FINE && entry.len < TEXT_CAP);
    memcpy(text, entry.data, entry.len);
    return entry.len;
}

static void add_entries(const struct golden *g, const struct unseen_url *url,
                        struct unseen_list_build *build)
{
    char text[TEXT_CAP];
    for (unsigned i = 0; i < count_members(g); i++) {
        const struct unseen_bytes item = {text, make_entry(g, url, i, text)};
        check_ok(unseen_list_build_add_texts(build, &item, 1, &error), g->name);
    }
}

static struct unseen_list_build_options build_options(const struct golden *g,
                                                      const struct unseen_url *url)
{
    return (struct unseen_list_build_options){.size = sizeof(struct unseen_list_build_options),
                                              .fpr = g->fpr,
                                              .memory = 1 << 20,
                                              .threads = g->threads,
                                              .seed = SEED,
                                              .seed_len = strlen(SEED),
                                              .profile = url ? unseen_url_id(url) : "none",
                                              .kind = g->kind,
                                              .cpu = test_cpu};
}

static void build_list(const struct golden *g, const struct unseen_url *url, const char *path)
{
    struct unseen_list_build *build = NULL;
    const struct unseen_list_build_options options = build_options(g, url);
    check_ok(unseen_list_build_create(&build, path, &options, &error), g->name);
    add_entries(g, url, build);
    check_ok(unseen_list_build_finish(build, NULL, NULL, &error), g->name);
    unseen_list_build_free(build);
}

static void change_list(const struct golden *g, const struct unseen_url *url,
                        struct unseen_list_edit *edit, enum unseen_list_change change,
                        unsigned first, unsigned end)
{
    char text[TEXT_CAP];
    for (unsigned i = first; i < end; i++) {
        const struct unseen_bytes item = {text, make_entry(g, url, i, text)};
        check_ok(unseen_list_edit_change_texts(edit, change, &item, 1, NULL, &error), g->name);
    }
    check_ok(unseen_list_edit_commit(edit, &error), g->name);
}

static void make_list(const struct golden *g, const char *path)
{
    struct unseen_url *url = make_url(g);
    build_list(g, url, path);
    if (g->flags & CHANGES) {
        struct unseen_list_edit *edit = NULL;
        check_ok(unseen_list_edit_open(&edit, path, NULL, &error), g->name);
        change_list(g, url, edit, UNSEEN_LIST_ALLOW, 100, 120);
        change_list(g, url, edit, UNSEEN_LIST_REMOVE, 200, 240);
        change_list(g, url, edit, UNSEEN_LIST_ADD, NMEMBERS + 100, NMEMBERS + 160);
        change_list(g, url, edit, UNSEEN_LIST_DISALLOW, 110, 112);
        unseen_list_edit_close(edit);
    }
    unseen_url_free(url);
}

static void open_list(const struct golden *g, const char *path)
{
    struct unseen_url *url = make_url(g);
    struct unseen_list *list = NULL;
    const struct unseen_list_options options = {.size = sizeof(options), .cpu = test_cpu};
    check_ok(unseen_list_open(&list, path, &options, &error), g->name);
    check_ok(unseen_list_verify(list, &error), g->name);
    ask_all(g, ask_list, list, url);
    unseen_list_close(list);
    unseen_url_free(url);
}

/* ---- bitmaps ---- */

/* The integers: a few, many and a full run on pages of 2^15, near 0 and near the end. */
static void fill_bitmap(struct unseen_bitmap *bitmap)
{
    for (uint64_t i = 0; i < NMEMBERS; i++) {
        const uint64_t values[] = {i * 7, 100000 + i * 977, UNSEEN_BITMAP_END - 1 - i * i};
        CHECK(unseen_bitmap_set(bitmap, values, 3, NULL, NULL) == UNSEEN_OK);
    }
    CHECK(unseen_bitmap_set_range(bitmap, 1 << 30, (1 << 30) + 70000, true) == UNSEEN_OK);
}

static void make_bitmap(const struct golden *g, const char *path)
{
    struct unseen_bitmap *bitmap = NULL;
    const struct unseen_bitmap_options options = {.size = sizeof(options), .cpu = test_cpu};
    check_ok(unseen_bitmap_open(&bitmap, path, UNSEEN_BITMAP_EDIT, &options, NULL), g->name);
    fill_bitmap(bitmap);
    check_ok(unseen_bitmap_save(bitmap, NULL), g->name);
    unseen_bitmap_free(bitmap);
}

/* Question i is integer i * 7: all members are there, and some of the others. */
static void open_bitmap(const struct golden *g, const char *path)
{
    struct unseen_bitmap *bitmap = NULL;
    const struct unseen_bitmap_options options = {.size = sizeof(options), .cpu = test_cpu};
    check_ok(unseen_bitmap_open(&bitmap, path, UNSEEN_BITMAP_READ, &options, NULL), g->name);
    for (uint64_t i = 0; i < NASKED; i++) {
        const uint64_t value = i * 7;
        unseen_bitmap_get(bitmap, &value, 1, verdicts + i);
    }
    unseen_bitmap_free(bitmap);
}

/* ---- all ---- */

static const struct {
    void (*make)(const struct golden *g, const char *path);
    void (*open)(const struct golden *g, const char *path);
} jobs[] = {
    [SET] = {make_set, open_set},
    [STORE] = {make_store, open_store},
    [LIST] = {make_list, open_list},
    [BITMAP] = {make_bitmap, open_bitmap},
};

static void forget(const char *name)
{
    (void)unlink(path_in(work, name));
    (void)unlink(path_in(work, image_of(name)));
}

/* In place of the file at path: its length and checksum. */
static void sum_up(const char *path)
{
    char text[TEXT_CAP];
    size_t len = 0;
    char *bytes = read_file(path, &len);
    const int n = snprintf(text, sizeof(text), "%zu bytes, XXH3-64 %016llx\n", len,
                           (unsigned long long)unseen__checksum(bytes, len));
    free(bytes);
    write_file(path, text, (size_t)n);
}

/* A file in work as it is kept in the golden folder. */
static void shrink(const struct golden *g)
{
    const char *path = path_in(work, g->name);
    if (g->flags & SQUEEZED) {
        squeeze(path, path);
    } else if (g->flags & SUMMED) {
        sum_up(path);
    }
}

/* The golden file as it was made. */
static bool restore(const struct golden *g, const char *copy)
{
    const char *golden = path_in(folder, g->name);
    if (g->flags & SUMMED) {
        jobs[g->type].make(g, copy);
        return true;
    }
    return g->flags & SQUEEZED ? unsqueeze(golden, copy) : copy_file(golden, copy);
}

/* Opened on a copy. */
static void check_opens(const struct golden *g, const char *recorded)
{
    const char *copy = path_in(work, g->name);
    if (CHECK(restore(g, copy))) {
        (void)copy_file(path_in(folder, image_of(g->name)), path_in(work, image_of(g->name)));
        jobs[g->type].open(g, copy);
        check_answers(recorded, g->name);
    }
    forget(g->name);
}

static void check_made(const struct golden *g)
{
    entropy = 0;
    jobs[g->type].make(g, path_in(work, g->name));
    shrink(g);
    check_same_file(g->name, g->name);
    check_same_file(image_of(g->name), image_of(g->name));
    forget(g->name);
}

/* Writes everything into work, which is the folder that was asked for. */
static void make_all(void)
{
    char *answers = calloc(NGOLDENS, 4 * TEXT_CAP);
    size_t len = 0;
    for (size_t i = 0; answers && i < NGOLDENS; i++) {
        const struct golden *g = &goldens[i];
        char copy[PATH_CAP + TEXT_CAP];
        entropy = 0;
        forget(g->name);
        jobs[g->type].make(g, path_in(work, g->name));
        (void)snprintf(copy, sizeof(copy), "%s", path_in(work, "copy"));
        CHECK(copy_file(path_in(work, g->name), copy));
        (void)copy_file(path_in(work, image_of(g->name)), path_in(work, "copy.image"));
        jobs[g->type].open(g, copy);
        forget("copy");
        shrink(g);
        len += put_answers(g->name, answers + len, NGOLDENS * 4 * TEXT_CAP - len);
    }
    write_file(path_in(work, "answers.txt"), answers, len);
    free(answers);
}

static void check_all(void)
{
    size_t len = 0;
    char *recorded = read_file(path_in(folder, "answers.txt"), &len);
    if (!CHECK(recorded != NULL)) {
        return;
    }
    for (size_t i = 0; i < NGOLDENS; i++) {
        check_opens(&goldens[i], recorded);
        check_made(&goldens[i]);
    }
    free(recorded);
    CHECK(rmdir(work) == 0);
}

int main(int argc, char **argv)
{
    test_start();
    if (argc == 3 && strcmp(argv[1], "--make") == 0) {
        (void)snprintf(work, sizeof(work), "%s", argv[2]);
        make_all();
        return test_end();
    }
    CHECK(test_path(folder, sizeof(folder), "golden"));
    test_folder_make(work, sizeof(work), "golden");
    check_all();
    return test_end();
}
