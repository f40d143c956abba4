/* SPDX-License-Identifier: MIT
 *
 * Every allocation of the store fails once, and all from each one on: of making it, opening it
 * (with an image, from the log, with a torn end, with a damaged header), adding, committing,
 * writing an image, merging (into a new store, and into one that exists), rewriting itself,
 * rewriting, verifying and repairing; and of a store with a limit of memory: opening it in parts,
 * asking it by pages, sweeping it as it is opened, by a commit and at close, and leaving memory.
 * The answer is NOMEM, or the library has done without; nothing leaks; and afterwards the store is
 * what was committed.
 *
 *     crash_alloc [PLANT]
 *
 * With UNSEEN_TEST_BRIEF each allocation fails in one of the two ways, by turns, and under a
 * sanitizer every second one.
 *
 * The library's calls of the C library's allocators come here first (ld --wrap). With the plant
 * `forget` the last record is cut off behind the library's back, which must be noticed. */
#include "crash.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pair.h"
#include "parts.h"

enum {
#ifdef TEST_AGAIN
    STEP = 4, /* the release build has had each allocation */
#else
    STEP = 2,
#endif
    NEXTRA = 600,              /* keys beside those of the pair */
    NDEAD = 66000,             /* keys of 8 bytes, added and removed: 1 MiB */
    NCOMMON = PAIR_NKEYS / 10, /* the keys of the last record */
    SITE_MAX = 5000,
    FAILURES_SHOWN = 20,
    ALL_RECORDS = (1 << PAIR_NRECORDS) - 1,
    DAMAGED_RECORD = 1
};

/* ---- Failing --------------------------------------------------------------------------------- */

static struct {
    unsigned long ncalls;
    unsigned long fail_at; /* 0: never */
    bool fail_after;
    long nlive;  /* blocks */
    long mapped; /* bytes */
} memory;

static bool fails(void)
{
    const unsigned long call = __atomic_add_fetch(&memory.ncalls, 1, __ATOMIC_RELAXED);
    return memory.fail_at &&
           (call == memory.fail_at || (memory.fail_after && call > memory.fail_at));
}

static void *counted(void *ptr)
{
    __atomic_add_fetch(&memory.nlive, ptr != NULL, __ATOMIC_RELAXED);
    return ptr;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *ptr, size_t size);
int __real_posix_memalign(void **ptr, size_t align, size_t size);
void __real_free(void *ptr);
void *__real_mmap(void *addr, size_t len, int protection, int flags, int fd, off_t at);
int __real_munmap(void *addr, size_t len);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *ptr, size_t size);
int __wrap_posix_memalign(void **ptr, size_t align, size_t size);
void __wrap_free(void *ptr);
void *__wrap_mmap(void *addr, size_t len, int protection, int flags, int fd, off_t at);
int __wrap_munmap(void *addr, size_t len);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *ptr, size_t size)
{
    if (fails()) {
        return NULL;
    }
    void *moved = __real_realloc(ptr, size);
    return ptr ? moved : counted(moved);
}

int __wrap_posix_memalign(void **ptr, size_t align, size_t size)
{
    const int rc = fails() ? 12 : __real_posix_memalign(ptr, align, size);
    if (rc == 0) {
        (void)counted(*ptr);
    }
    return rc;
}

void __wrap_free(void *ptr)
{
    __atomic_sub_fetch(&memory.nlive, ptr != NULL, __ATOMIC_RELAXED);
    __real_free(ptr);
}

void *__wrap_mmap(void *addr, size_t len, int protection, int flags, int fd, off_t at)
{
    void *ptr = fails() ? MAP_FAILED : __real_mmap(addr, len, protection, flags, fd, at);
    if (ptr != MAP_FAILED) {
        __atomic_add_fetch(&memory.mapped, (long)len, __ATOMIC_RELAXED);
    }
    return ptr;
}

int __wrap_munmap(void *addr, size_t len)
{
    __atomic_sub_fetch(&memory.mapped, (long)len, __ATOMIC_RELAXED);
    return __real_munmap(addr, len);
}

/* ---- Situations ------------------------------------------------------------------------------ */

static struct pair pair;
static char *dead_log; /* most of it is removed keys */
static size_t dead_log_len;
static uint32_t nhanded;         /* extra keys that were handed to a commit */
static uint32_t ncommitted;      /* and those of a commit that has succeeded */
static bool changed_early;       /* a draft wrote to the store itself */
static enum unseen_status acted; /* what `allow` or `merge` ended with */

static struct unseen_bytes extra(uint32_t i, char buf[static 32])
{
    const int len = snprintf(buf, 32, "extra %u", (unsigned)i);
    return (struct unseen_bytes){.data = buf, .len = (size_t)len};
}

static enum unseen_status add_extras(struct unseen_store *store, uint32_t end)
{
    enum unseen_status status = pair_tell_time(store, PAIR_NRECORDS);
    char buf[32];
    for (uint32_t i = ncommitted; i < end && status == UNSEEN_OK; i++) {
        const struct unseen_bytes item = extra(i, buf);
        enum unseen_verdict verdict = UNSEEN_ALLOWED;
        status = test_store_add(store, item.data, item.len, &verdict);
    }
    if (status == UNSEEN_OK) {
        nhanded = end;
        status = unseen_store_commit(store, NULL);
        ncommitted = status == UNSEEN_OK ? end : ncommitted;
    }
    return status;
}

static enum unseen_status first_of(enum unseen_status a, enum unseen_status b)
{
    return a != UNSEEN_OK ? a : b;
}

static enum unseen_status write_to_it(enum unseen_store_mode mode)
{
    const struct unseen_store_options options = pair_options(mode);
    struct unseen_store *store = NULL;
    enum unseen_status status = unseen_store_open(&store, crash_path("s"), &options, NULL);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = add_extras(store, NEXTRA / 2);
    if (status == UNSEEN_OK) { /* an image holds nothing that is not committed */
        status = unseen__image_save(store, NULL);
    }
    if (status == UNSEEN_OK) {
        status = add_extras(store, NEXTRA);
    }
    return first_of(status, unseen_store_close(store, NULL));
}

static enum unseen_status make(void)
{
    return write_to_it(UNSEEN_STORE_CREATE);
}

static enum unseen_status go_on(void)
{
    return write_to_it(UNSEEN_STORE_WRITE);
}

static bool see_all(void *context, const struct unseen_key *keys, size_t n)
{
    (void)keys;
    *(size_t *)context += n;
    return true;
}

static enum unseen_status look(void)
{
    struct unseen_store *store = NULL;
    size_t n = 0;
    enum unseen_status status = unseen_store_open(&store, crash_path("s"), NULL, NULL);
    if (status == UNSEEN_OK) {
        status = unseen_store_keys(store, see_all, &n, NULL);
        status = first_of(status, unseen_store_close(store, NULL));
    }
    return status;
}

static uint64_t log_size(void)
{
    struct stat st;
    return stat(crash_path("s"), &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* Merges one store into another. A draft leaves the store as it is until it is published. */
static enum unseen_status merge_from(const char *name, const char *into,
                                     enum unseen_store_mode mode)
{
    const struct unseen_store_options options = pair_options(mode);
    struct unseen_store *store = NULL;
    struct unseen_store *from = NULL;
    uint64_t nnew;
    enum unseen_status status = unseen_store_open(&from, crash_path(name), NULL, NULL);
    if (status == UNSEEN_OK) {
        status = unseen_store_open(&store, crash_path(into), &options, NULL);
    }
    if (status == UNSEEN_OK) {
        status = unseen_store_merge(store, from, &nnew, NULL, NULL, NULL);
        if (mode == UNSEEN_STORE_DRAFT) {
            changed_early = log_size() != pair.log_len;
            nhanded = NEXTRA;
            status = status == UNSEEN_OK ? unseen_store_publish(store, NULL) : status;
            ncommitted = status == UNSEEN_OK ? NEXTRA : 0;
        }
        status = first_of(status, unseen_store_close(store, NULL));
    }
    return from ? first_of(status, unseen_store_close(from, NULL)) : status;
}

static enum unseen_status merge(void)
{
    acted = merge_from("s", "all", UNSEEN_STORE_CREATE);
    return acted;
}

/* The store keeps its records, or gets those of the other one as well. Both have the keys of the
 * last record. */
static enum unseen_status merge_into(void)
{
    return merge_from("_more", "s", UNSEEN_STORE_DRAFT);
}

/* The store rewrites itself before the commit. */
static enum unseen_status go_on_dead(void)
{
    const struct unseen_store_options options = pair_options(UNSEEN_STORE_WRITE);
    struct unseen_store *store = NULL;
    enum unseen_status status = unseen_store_open(&store, crash_path("s"), &options, NULL);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = add_extras(store, NEXTRA / 2);
    return first_of(status, unseen_store_close(store, NULL));
}

/* Allows keys that the store has, which changes nothing, and others. */
static enum unseen_status allow(void)
{
    const struct unseen_store_options options = pair_options(UNSEEN_STORE_WRITE);
    struct unseen_store *store = NULL;
    struct unseen_key keys[2 * NEXTRA];
    char buf[32];
    acted = unseen_store_open(&store, crash_path("s"), &options, NULL);
    if (acted != UNSEEN_OK) {
        return acted;
    }
    for (uint32_t i = 0; i < NEXTRA; i++) {
        const struct unseen_bytes item = extra(i, buf);
        keys[2 * i] = unseen_set_identity_key(unseen_store_set(store), item.data, item.len);
        keys[2 * i + 1] = pair.keys[PAIR_NKEYS - 1 - i];
    }
    acted = unseen__store_allow_all(store, keys, 2 * NEXTRA, NULL);
    return first_of(acted, unseen_store_close(store, NULL));
}

static enum unseen_status rewrite(void)
{
    const struct unseen_store_options options = {.size = sizeof(options), .fpr = 1e-6};
    return unseen_store_rewrite(crash_path("s"), &options, NULL);
}

static enum unseen_status verify(void)
{
    struct unseen_store_health health = {.size = sizeof(health)};
    return unseen_store_verify(crash_path("s"), &health, NULL, NULL, NULL);
}

static enum unseen_status repair(void)
{
    struct unseen_store_health health = {.size = sizeof(health)};
    return unseen_store_repair(crash_path("s"), &health, NULL, NULL, NULL);
}

/* ---- A limit of memory ---- */

static struct {
    char *log; /* of the store in parts */
    size_t log_len;
    char *image;
    size_t image_len;
    char *few; /* the log of the one in memory */
    size_t few_len;
    uint64_t nbefore;    /* keys of the store before the run, */
    uint64_t nanswered;  /* and with those that a call was given, */
    uint64_t ncommitted; /* and with those that were committed */
    bool is_new_again;   /* a key that the store had, or that was NEW before */
    bool is_nameless;    /* an error does not name the file */
    bool is_swept;       /* by a commit */
} parts;

static void check_error(enum unseen_status status, const struct unseen_error *error)
{
    parts.is_nameless |= status != UNSEEN_OK && !strstr(error->text, crash_path("s"));
}

/* Adds keys to `end`, or until a commit has swept. */
static enum unseen_status add_to_parts(struct unseen_store *store, uint64_t end)
{
    struct unseen_store_info info = {.size = sizeof(info)};
    struct unseen_error error = {.status = UNSEEN_OK};
    enum unseen_status status = unseen_store_info(store, &info);
    const uint64_t covers = info.image_covers;
    while (status == UNSEEN_OK && parts.nanswered < end && info.image_covers == covers) {
        size_t ndone = 0;
        status = parts_add(store, parts.nanswered, parts.nanswered + PARTS_BATCH, &ndone);
        parts.nanswered += ndone;
        if (status == UNSEEN_OK) {
            status = unseen_store_commit(store, &error);
            check_error(status, &error);
            parts.ncommitted = status == UNSEEN_OK ? parts.nanswered : parts.ncommitted;
            (void)unseen_store_info(store, &info);
        }
    }
    parts.is_swept = info.image_covers != covers;
    return status;
}

static enum unseen_status use_parts(uint64_t nmore)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    struct unseen_store *store = NULL;
    enum unseen_status status = parts_open(&store, crash_path("s"), UNSEEN_STORE_WRITE, &error);
    check_error(status, &error);
    if (status != UNSEEN_OK) {
        return status;
    }
    const struct unseen_set *set = unseen_store_set(store);
    parts.is_new_again |= !parts_has(set, 0, parts.nbefore, PARTS_STEP * 8, true);
    status = add_to_parts(store, parts.nbefore + nmore);
    parts.is_new_again |= !parts_has(set, 0, parts.nanswered, PARTS_STEP, true);
    const enum unseen_status closed = unseen_store_close(store, &error);
    check_error(closed, &error);
    /* An image that is not written costs no key. */
    return first_of(status, closed == UNSEEN_ERR_IMAGE ? UNSEEN_ERR_NOMEM : closed);
}

static enum unseen_status ask_parts(void)
{
    return use_parts(PARTS_BATCH);
}

static enum unseen_status commit_sweeps(void)
{
    return use_parts(SIZE_MAX / 2);
}

static enum unseen_status close_sweeps(void)
{
    return use_parts(5 * PARTS_BATCH);
}

static void prepare_parts(void)
{
    crash_write(crash_path("s"), parts.log, parts.log_len);
    crash_write(crash_path("s.image"), parts.image, parts.image_len);
    parts.nbefore = PARTS_NKEYS;
}

/* Too much log for a set of recent keys. */
static void prepare_long_log(void)
{
    crash_write(crash_path("s"), parts.log, parts.log_len);
    parts.nbefore = PARTS_NKEYS;
}

static void prepare_few(void)
{
    crash_write(crash_path("s"), parts.few, parts.few_len);
    parts.nbefore = PARTS_NFEW;
}

static void prepare_nothing(void)
{
}

static void prepare_image(void)
{
    crash_write(crash_path("s"), pair.log, pair.log_len);
    crash_write(crash_path("s.image"), pair.image, pair.image_len);
}

static void prepare_log(void)
{
    crash_write(crash_path("s"), pair.log, pair.log_len);
}

/* A log that is about to rewrite itself. */
static void prepare_dead(void)
{
    crash_write(crash_path("s"), dead_log, dead_log_len);
}

static void prepare_torn(void)
{
    static const char some[40] = "UNSR";
    prepare_log();
    crash_append(crash_path("s"), some, sizeof(some));
}

static void prepare_header(void)
{
    pair.log[99] ^= 1;
    prepare_image();
    pair.log[99] ^= 1;
}

static void prepare_damaged(void)
{
    const uint64_t offset = pair.offsets[DAMAGED_RECORD] + 80;
    pair.log[offset] ^= 1;
    prepare_log();
    pair.log[offset] ^= 1;
}

static const struct situation {
    const char *name;
    void (*prepare)(void);
    enum unseen_status (*act)(void);
    bool window; /* once more with a window */
} situations[] = {
    {"make", prepare_nothing, make, true},
    {"go on from an image", prepare_image, go_on, true},
    {"go on from the log", prepare_log, go_on, true},
    {"go on from a torn end", prepare_torn, go_on, true},
    {"go on with a damaged header", prepare_header, go_on, true},
    {"read", prepare_image, look, true},
    {"merge", prepare_log, merge, true},
    {"merge into a store", prepare_image, merge_into, true},
    {"allow", prepare_image, allow, true},
    {"go on and rewrite", prepare_dead, go_on_dead, true},
    {"rewrite", prepare_image, rewrite, true},
    {"verify", prepare_image, verify, true},
    {"repair", prepare_damaged, repair, true},
    {"ask and add in parts", prepare_parts, ask_parts, false},
    {"sweep as it is opened", prepare_long_log, ask_parts, false},
    {"sweep by a commit", prepare_parts, commit_sweeps, false},
    {"sweep at close", prepare_parts, close_sweeps, false},
    {"leave memory", prepare_few, commit_sweeps, false},
};

/* ---- Judging --------------------------------------------------------------------------------- */

static uint64_t ncases;
static uint64_t ndone_without;
static uint64_t nwrong;

static unsigned long number; /* of the allocation that fails */

static void wrong(const struct situation *s, const char *what)
{
    if (nwrong++ < FAILURES_SHOWN) {
        fprintf(stderr, "%s, allocation %lu%s fails: %s\n", s->name, number,
                memory.fail_after ? " and all later" : "", what);
    }
}

static uint32_t count_extras(const struct unseen_store *store)
{
    char buf[32];
    uint32_t n = 0;
    for (uint32_t i = 0; i < NEXTRA; i++) {
        const struct unseen_bytes item = extra(i, buf);
        enum unseen_verdict verdict = UNSEEN_ALLOWED;
        crash_require(test_set_contains(unseen_store_set(store), item.data, item.len, &verdict) ==
                          UNSEEN_OK,
                      "contains");
        n += verdict == UNSEEN_SEEN;
    }
    return n;
}

static bool all_or_nothing(const struct unseen_store *store)
{
    const uint32_t n = count_extras(store);
    return n == 0 || n == NEXTRA;
}

static bool extras_are_right(const struct unseen_store *store)
{
    char buf[32];
    for (uint32_t i = 0; i < NEXTRA; i++) {
        const struct unseen_bytes item = extra(i, buf);
        enum unseen_verdict verdict = UNSEEN_ALLOWED;
        crash_require(test_set_contains(unseen_store_set(store), item.data, item.len, &verdict) ==
                          UNSEEN_OK,
                      "contains");
        if ((i < ncommitted && verdict != UNSEEN_SEEN) || (i >= nhanded && verdict != UNSEEN_NEW)) {
            return false;
        }
    }
    return true;
}

static void forget_last_record(void)
{
    size_t len = 0;
    char *log = crash_read(crash_path("s"), &len);
    /* Behind the record there may be the one that ends the log, of 64 bytes. */
    crash_require(!log || truncate(crash_path("s"), (off_t)(len > 16384 ? len - 72 : len)) == 0,
                  "s");
    free(log);
}

/* The time that comes with the extra keys lets a record leave, as soon as one is durable. */
static bool answers_are_right(const struct unseen_store *store, unsigned records)
{
    pair_told = 0;
    const bool as_before = ncommitted == 0 && pair_answers(&pair, unseen_store_set(store), records);
    pair_told = PAIR_NRECORDS;
    return as_before || ((nhanded > 0 || pair_window == 0) &&
                         pair_answers(&pair, unseen_store_set(store), records));
}

static uint64_t count_keys(const struct unseen_store *store)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    crash_require(unseen_set_stats(unseen_store_set(store), &stats) == UNSEEN_OK, "stats");
    return stats.nkeys;
}

/* The new store has all keys if the merge has succeeded; by time it has all or none. */
static void judge_merged(const struct situation *s)
{
    struct unseen_store *store = NULL;
    if (unseen_store_open(&store, crash_path("all"), NULL, NULL) != UNSEEN_OK) {
        if (acted == UNSEEN_OK) {
            wrong(s, "the merged store cannot be opened");
        }
        return;
    }
    pair_told = 0;
    if ((acted == UNSEEN_OK || (pair_window > 0 && count_keys(store) > 0)) &&
        !pair_answers(&pair, unseen_store_set(store), ALL_RECORDS)) {
        wrong(s, "a part of a merge is there");
    }
    crash_require(unseen_store_close(store, NULL) == UNSEEN_OK, "close");
}

/* When the last record of the pair has left, the keys of the other store are there. */
static void judge_later(const struct situation *s, struct unseen_store *store)
{
    uint8_t verdicts[NCOMMON];
    uint32_t n = 0;
    crash_require(pair_tell_time(store, PAIR_NRECORDS - 1 + PAIR_LEAVES_AFTER) == UNSEEN_OK &&
                      unseen_set_contains_keys(unseen_store_set(store),
                                               pair.keys + PAIR_NKEYS - NCOMMON, NCOMMON, verdicts,
                                               NULL) == UNSEEN_OK,
                  "contains");
    for (size_t i = 0; i < NCOMMON; i++) {
        n += verdicts[i] == UNSEEN_SEEN;
    }
    if (n != NCOMMON || count_keys(store) != NCOMMON + NEXTRA) {
        wrong(s, "a key of both stores does not leave with the later time");
    }
}

/* The store has the keys of before and those that were committed, and no file is left. */
static void judge_parts(const struct situation *s)
{
    struct unseen_store *store = NULL;
    if (parts.is_new_again) {
        wrong(s, "a key that was there is new");
    }
    if (parts.is_nameless) {
        wrong(s, "an error without the name of the file");
    }
    if (crash_exists(crash_path("s.image.unseen-new"))) {
        wrong(s, "half of an image is left");
    }
    if (unseen_store_open(&store, crash_path("s"), NULL, NULL) != UNSEEN_OK) {
        wrong(s, "the store cannot be opened any more");
        return;
    }
    const struct unseen_set *set = unseen_store_set(store);
    if (!parts_has(set, 0, parts.nbefore, PARTS_STEP, false) ||
        !parts_has(set, parts.nbefore, parts.ncommitted, 1, false)) {
        wrong(s, "what was committed is lost");
    }
    if (parts_has(set, parts.nanswered, parts.nanswered + 1, 1, false)) {
        wrong(s, "a key that nobody added is there");
    }
    crash_require(unseen_store_close(store, NULL) == UNSEEN_OK, "close");
    if (verify() != UNSEEN_OK) {
        wrong(s, "verify finds damage");
    }
}

/* The store is what was committed. */
static void judge_store(const struct situation *s)
{
    struct unseen_store *store = NULL;
    if (parts.nbefore > 0) {
        judge_parts(s);
        return;
    }
    const bool damaged = s->act == repair;
    if (s->prepare == prepare_nothing && !crash_exists(crash_path("s"))) {
        if (ncommitted > 0) {
            wrong(s, "there is no store any more");
        }
        return;
    }
    if (damaged && repair() != UNSEEN_OK) {
        wrong(s, "repair fails when there is memory again");
    }
    if (unseen_store_open(&store, crash_path("s"), NULL, NULL) != UNSEEN_OK) {
        wrong(s, "the store cannot be opened any more");
        return;
    }
    const unsigned records = ALL_RECORDS & (damaged ? ~(1u << DAMAGED_RECORD) : ~0u);
    if (s->prepare != prepare_nothing && !answers_are_right(store, records)) {
        wrong(s, "a wrong answer");
    }
    if (changed_early) {
        wrong(s, "a draft changed the store before it was published");
        changed_early = false;
    }
    if (s->act == merge_into && !all_or_nothing(store)) {
        wrong(s, "a part of a merge is there");
    }
    if (s->act == merge) {
        judge_merged(s);
    }
    struct unseen_store_info info = {.size = sizeof(info)};
    crash_require(unseen_store_info(store, &info) == UNSEEN_OK, "info");
    if (s->act == allow && info.nallowed != PAIR_NALLOWED + (acted == UNSEEN_OK ? NEXTRA : 0)) {
        wrong(s, "what was allowed is lost, or what was not is there");
    }
    if (!extras_are_right(store)) {
        wrong(s, "what was committed is lost, or what was not is there");
    }
    if (s->act == merge_into && pair_window > 0 && ncommitted == NEXTRA) {
        judge_later(s, store);
    }
    crash_require(unseen_store_close(store, NULL) == UNSEEN_OK, "close");
    if (s->act != look && s->prepare != prepare_torn && s->prepare != prepare_header &&
        verify() != UNSEEN_OK) {
        wrong(s, "verify finds damage");
    }
}

/* ---- Stores that are made once --------------------------------------------------------------- */

static void require_dead(struct unseen_store *store, bool removes)
{
    char buf[32];
    enum unseen_verdict verdict = UNSEEN_ALLOWED;
    for (uint32_t i = 0; i < NDEAD; i++) {
        const int len = snprintf(buf, sizeof(buf), "dead %u", (unsigned)i);
        const enum unseen_status status = removes
                                              ? test_store_remove(store, buf, (size_t)len, &verdict)
                                              : test_store_add(store, buf, (size_t)len, &verdict);
        crash_require(status == UNSEEN_OK, "dead keys");
    }
    crash_require(unseen_store_commit(store, NULL) == UNSEEN_OK, "commit");
}

/* The pair with many more keys that were added and removed, as a process leaves it that is killed
 * before it rewrites the store. */
static void make_dead(void)
{
    const struct unseen_store_options options = pair_options(UNSEEN_STORE_WRITE);
    struct unseen_store *store = NULL;
    crash_clear();
    prepare_log();
    crash_require(unseen_store_open(&store, crash_path("s"), &options, NULL) == UNSEEN_OK, "open");
    require_dead(store, false);
    require_dead(store, true);
    dead_log = crash_read(crash_path("s"), &dead_log_len);
    crash_require(dead_log && unseen_store_close(store, NULL) == UNSEEN_OK, "close");
}

/* The store that is merged into the other. */
static void make_more(void)
{
    const struct unseen_store_options options = pair_options(UNSEEN_STORE_CREATE);
    struct unseen_store *store = NULL;
    uint8_t verdicts[NCOMMON];
    nhanded = ncommitted = 0;
    (void)unlink(crash_path("_more"));
    crash_require(unseen_store_open(&store, crash_path("_more"), &options, NULL) == UNSEEN_OK,
                  "open");
    crash_require(pair_tell_time(store, PAIR_NRECORDS) == UNSEEN_OK, "expire");
    crash_require(unseen_store_add_keys(store, pair.keys + PAIR_NKEYS - NCOMMON, NCOMMON, verdicts,
                                        NULL) == UNSEEN_OK,
                  "add");
    crash_require(add_extras(store, NEXTRA) == UNSEEN_OK, "add");
    crash_require(unseen_store_close(store, NULL) == UNSEEN_OK, "close");
}

static void make_parts(void)
{
    crash_clear();
    parts_make(crash_path("s"), PARTS_NKEYS);
    parts.log = crash_read(crash_path("s"), &parts.log_len);
    parts.image = crash_read(crash_path("s.image"), &parts.image_len);
    crash_require(parts.log && parts.image, "an image");
    crash_clear();
    parts_make(crash_path("s"), PARTS_NFEW);
    parts.few = crash_read(crash_path("s"), &parts.few_len);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

/* False if there are fewer allocations than that. */
static bool run_case(const struct situation *s, unsigned long fail_at, bool fail_after,
                     const char *plant)
{
    crash_clear();
    parts.nbefore = 0;
    s->prepare();
    parts.nanswered = parts.nbefore;
    parts.ncommitted = parts.nbefore;
    parts.is_new_again = false;
    parts.is_nameless = false;
    nhanded = 0;
    ncommitted = 0;
    const long nlive = memory.nlive;
    const long mapped = memory.mapped;
    memory.ncalls = 0;
    memory.fail_after = fail_after;
    memory.fail_at = fail_at;
    number = fail_at;
    const enum unseen_status status = s->act();
    const bool reached = memory.ncalls >= fail_at;
    if (!reached) {
        crash_require(status == UNSEEN_OK, "a run in which nothing fails");
        crash_require(s->act != commit_sweeps || parts.is_swept, "a sweep by a commit");
        memory.fail_at = 0;
        return false;
    }
    if (memory.nlive != nlive || memory.mapped != mapped) {
        wrong(s, "memory is not given back");
    }
    if (status != UNSEEN_OK && status != UNSEEN_ERR_NOMEM) {
        wrong(s, unseen_status_string(status));
    }
    ncases++;
    ndone_without += status == UNSEEN_OK;
    memory.fail_at = 0;
    if (plant) {
        forget_last_record();
    }
    judge_store(s);
    return true;
}

/* From one case to the next: those with parts take long. */
static unsigned long stride(const struct situation *s)
{
    const bool is_long =
        s->prepare == prepare_parts || s->prepare == prepare_long_log || s->prepare == prepare_few;
    return !crash_brief() ? 1 : is_long ? 16 : STEP;
}

static void run_situations(const char *plant)
{
    const char *only = getenv("UNSEEN_CRASH_ONLY");
    for (size_t i = 0; i < sizeof(situations) / sizeof(situations[0]); i++) {
        const struct situation *s = &situations[i];
        const bool is_left_out =
            (pair_window > 0 && !s->window) || (only && strcmp(only, s->name) != 0);
        const unsigned long step = stride(s);
        for (int after = 0; after < 2 && !is_left_out; after++) {
            const unsigned long first = 1 + (after ? step / 2 : 0);
            unsigned long n = first;
            while (run_case(s, n, after, plant)) {
                crash_require((n += step) < SITE_MAX, "an end of the allocations");
            }
            crash_require(n > first, "allocations");
        }
    }
}

int main(int argc, char **argv)
{
    const char *plant = argc > 1 ? argv[1] : NULL;
    make_parts();
    pair_make(&pair, crash_path("s"), 3);
    make_dead();
    make_more();
    run_situations(plant);
    pair_free(&pair);
    pair_window = PAIR_WINDOW;
    pair_make(&pair, crash_path("s"), 3);
    free(dead_log);
    make_dead();
    make_more();
    run_situations(plant);
    pair_free(&pair);
    free(dead_log);
    free(parts.log);
    free(parts.image);
    free(parts.few);
    printf("%llu failing allocations; the library did without %llu of them; %llu failed\n",
           (unsigned long long)ncases, (unsigned long long)ndone_without,
           (unsigned long long)nwrong);
    return crash_status(plant, nwrong);
}
