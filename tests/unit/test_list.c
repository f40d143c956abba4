/* SPDX-License-Identifier: MIT
 *
 * Lists: every key that was added is listed, others are at the promised rate, the bytes are the
 * same for any order, number of threads and level, and no damage, want of memory or of disk goes
 * unnoticed or leaves anything behind.
 *
 * Label: threads, kernels */
#include "folder_check.h"
#include "list_keys.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "hash/checksum.h"
#include "list/builder.h"
#include "list/list_key.h"
#include <unseen_list.h>

enum {
    BATCH = 1000,
    PATH_CAP = 256
};

static char folder[PATH_CAP];
static char path[PATH_CAP + 16];
static char new_path[PATH_CAP + 24];
static const uint8_t seed[8] = {42}; /* bytes, so that it is the same on every processor */

struct plan {
    uint64_t n;
    uint64_t (*key)(uint64_t i);
    double fpr;
    enum unseen_kind kind;
    unsigned threads;
    uint64_t memory;
    uint64_t capacity;
    uint64_t stop_after; /* progress calls; 0: never */
    const struct unseen_allocator *allocator;
};

static uint64_t random_key(uint64_t i)
{
    return test_random(&i);
}

/* Numbers that are no hash values. */
static uint64_t small_key(uint64_t i)
{
    return i;
}

static uint64_t same_key(uint64_t i)
{
    (void)i;
    return 12345;
}

static uint64_t thrice_key(uint64_t i)
{
    return random_key(i / 3);
}

/* Half of them in one hundred-thousandth of all values. */
static uint64_t skewed_key(uint64_t i)
{
    return i % 2 ? random_key(i) : random_key(i) >> 17;
}

static uint64_t other_key(uint64_t i)
{
    return random_key(UINT64_C(0x1000000000000) + i);
}

struct stop {
    uint64_t ncalls;
    uint64_t stop_after;
};

static bool count_calls(void *context, uint64_t ndone, uint64_t n)
{
    struct stop *stop = context;
    stop->ncalls++;
    return ndone <= n && stop->ncalls != stop->stop_after;
}

static enum unseen_status build(const struct plan *plan, struct unseen_error *error)
{
    struct unseen_list_build *b = NULL;
    const struct unseen_list_build_options options = {
        .size = sizeof(options),
        .fpr = plan->fpr,
        .capacity = plan->capacity,
        .memory = plan->memory,
        .threads = plan->threads,
        .seed = seed,
        .seed_len = sizeof(seed),
        .kind = plan->kind,
        .profile = "none",
        .cpu = test_cpu,
        .allocator = plan->allocator,
    };
    struct stop stop = {0, plan->stop_after};
    enum unseen_status status = unseen_list_build_create(&b, path, &options, error);
    for (uint64_t at = 0; at < plan->n && status == UNSEEN_OK; at += BATCH) {
        uint64_t keys[BATCH];
        const uint64_t rest = plan->n - at;
        const size_t count = rest < BATCH ? (size_t)rest : BATCH;
        for (size_t i = 0; i < count; i++) {
            keys[i] = plan->key(at + i);
        }
        status = unseen_list_build_add_keys(b, keys, count, error);
    }
    if (status == UNSEEN_OK) {
        status = unseen_list_build_finish(b, count_calls, &stop, error);
    }
    unseen_list_build_free(b);
    return status;
}

static struct unseen_list *open_list(enum unseen_list_access access)
{
    struct unseen_list *list = NULL;
    struct unseen_error error = {.text = ""};
    const struct unseen_list_options options = {
        .size = sizeof(options), .access = access, .cpu = test_cpu};
    if (!CHECK(unseen_list_open(&list, path, &options, &error) == UNSEEN_OK)) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    return list;
}

static struct unseen_list_info info_of(const struct unseen_list *list)
{
    struct unseen_list_info info = {.size = sizeof(info)};
    CHECK(unseen_list_info(list, &info) == UNSEEN_OK);
    return info;
}

static uint64_t count_listed(const struct unseen_list *list, uint64_t (*key)(uint64_t), uint64_t n)
{
    uint64_t nlisted = 0;
    for (uint64_t at = 0; at < n; at += BATCH) {
        uint64_t keys[BATCH];
        uint8_t verdicts[BATCH];
        const size_t count = n - at < BATCH ? (size_t)(n - at) : BATCH;
        for (size_t i = 0; i < count; i++) {
            keys[i] = key(at + i);
        }
        list_contains_keys(list, keys, count, verdicts);
        for (size_t i = 0; i < count; i++) {
            nlisted += verdicts[i] == UNSEEN_SEEN;
        }
    }
    return nlisted;
}

/* ---- answers ---- */

/* Builds, asks for all keys and for others; the file's checksum. */
static struct unseen_list_info check_list(const struct plan *plan, uint64_t nothers)
{
    struct unseen_error error = {.text = ""};
    if (!CHECK(build(plan, &error) == UNSEEN_OK)) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    CHECK_EQ(test_folder_count(folder), 1);
    struct unseen_list *list = open_list(plan->n % 2 ? UNSEEN_LIST_READ : UNSEEN_LIST_MAP);
    const struct unseen_list_info info = info_of(list);
    CHECK_EQ(info.ngiven, plan->n);
    CHECK_EQ(count_listed(list, plan->key, plan->n), plan->n);
    CHECK(info.rate <= (plan->fpr > 0 ? plan->fpr : UNSEEN_LIST_FPR_DEFAULT));
    const uint64_t nlisted = count_listed(list, other_key, nothers);
    if (plan->n <= 512) {
        CHECK_EQ(nlisted, 0); /* all keys are listed as they are */
    } else if (nothers > 0) {
        const double expected = (double)nothers * info.rate;
        if (!CHECK(fabs((double)nlisted - expected) < 4 * sqrt(expected) + 2)) {
            fprintf(stderr, "n %llu fpr %g: %llu listed, expected %g\n",
                    (unsigned long long)plan->n, plan->fpr, (unsigned long long)nlisted, expected);
        }
    }
    CHECK(unseen_list_verify(list, &error) == UNSEEN_OK);
    CHECK(strcmp(info.profile, "none/1") == 0 && info.kind == UNSEEN_KIND_URL);
    unseen_list_close(list);
    return info;
}

static void test_sizes(void)
{
    /* 3557: a page and four tenths, which no solver can keep. 100,000: several layers. */
    const uint64_t sizes[] = {0, 1, 10, 512, 513, 1000, 2432, 2541, 3557, 5000, 30000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct plan plan = {.n = sizes[i], .key = random_key};
        const struct unseen_list_info info = check_list(&plan, 20000);
        CHECK_EQ(info.nkeys, sizes[i]);
    }
}

static void test_rates(void)
{
    const double rates[] = {0.25, 1e-2, 1e-3, 1e-4, 1e-6, 1e-9};
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        const uint64_t n = 100000 * test_scale();
        const struct plan plan = {.n = n, .key = random_key, .fpr = rates[i]};
        const struct unseen_list_info info = check_list(&plan, 200000 * test_scale());
        const double bits = (double)info.bytes * 8 / (double)info.nkeys;
        CHECK(bits < -log2(info.rate) * 1.02 + 8.0 * 20000 / (double)n);
        CHECK(info.nbumped < n / 15);
    }
}

/* The rate is that of a question: of a kind whose question is many texts, each has its share. */
static void test_kinds(void)
{
    struct unseen_error error;
    for (unsigned kind = UNSEEN_KIND_URL; kind <= UNSEEN_KIND_PHONE; kind++) {
        const unsigned ntexts = unseen_kind_texts_max((enum unseen_kind)kind);
        const struct plan plan = {
            .n = 20000, .key = random_key, .fpr = 1e-2, .kind = (enum unseen_kind)kind};
        CHECK(build(&plan, &error) == UNSEEN_OK);
        struct unseen_list *list = open_list(UNSEEN_LIST_READ);
        const struct unseen_list_info info = info_of(list);
        CHECK_EQ(info.kind, kind);
        CHECK(info.fpr == 1e-2 && info.rate <= 1e-2 && info.rate > 0.8e-2);
        const uint64_t nasked = 1000000;
        const double expected = (double)nasked * info.rate / ntexts;
        const double nlisted = (double)count_listed(list, other_key, nasked);
        CHECK(fabs(nlisted - expected) < 4 * sqrt(expected) + 2);
        unseen_list_close(list);
        const struct plan least = {
            .n = 10, .key = random_key, .fpr = 1e-9 * ntexts, .kind = (enum unseen_kind)kind};
        CHECK(build(&least, &error) == UNSEEN_OK);
        const struct plan too_low = {
            .n = 10, .key = random_key, .fpr = 0.99e-9 * ntexts, .kind = (enum unseen_kind)kind};
        CHECK(build(&too_low, &error) == UNSEEN_ERR_FPR);
        CHECK(strstr(error.text, unseen_kind_name((enum unseen_kind)kind)) != NULL);
    }
}

/* Keys that are no hash values, or come more than once: so often that the first of several layers
 * takes fewer pages than its number of keys lets expect. */
static void test_hostile(void)
{
    const struct plan plans[] = {{.n = 20000, .key = small_key},
                                 {.n = 20000, .key = same_key},
                                 {.n = 30000, .key = skewed_key},
                                 {.n = 30001, .key = thrice_key},
                                 {.n = 200000, .key = thrice_key}};
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        const struct unseen_list_info info = check_list(&plans[i], 20000);
        const uint64_t distinct = plans[i].key == same_key     ? 1
                                  : plans[i].key == thrice_key ? (plans[i].n + 2) / 3
                                                               : plans[i].n;
        CHECK_EQ(info.nkeys, distinct);
    }
}

/* One at a time, in batches of any size, and from bytes: the same answers. */
static void test_single(void)
{
    struct unseen_error error;
    const char *const texts[] = {"http://a.example/", "", "b", "http://c.example/?q"};
    struct unseen_bytes items[3000];
    char names[3000][24];
    uint8_t verdicts[3000];
    struct unseen_list_build *b = NULL;
    const struct unseen_list_build_options options = {.size = sizeof(options),
                                                      .seed = seed,
                                                      .seed_len = sizeof(seed),
                                                      .kind = UNSEEN_KIND_PHONE,
                                                      .cpu = test_cpu};
    uint64_t all[3000];
    CHECK(unseen_list_build_create(&b, path, &options, &error) == UNSEEN_OK);
    for (size_t i = 0; i < 3000; i++) {
        snprintf(names[i], sizeof(names[i]), "%zu", i);
        items[i] = (struct unseen_bytes){names[i], strlen(names[i])};
    }
    for (size_t i = 0; i < 4; i++) {
        items[i] = (struct unseen_bytes){texts[i], strlen(texts[i])};
    }
    CHECK(unseen_list_build_add_texts(b, items, 2000, &error) == UNSEEN_OK);
    CHECK(unseen_list_build_finish(b, NULL, NULL, &error) == UNSEEN_OK);
    CHECK(unseen_list_build_finish(b, NULL, NULL, &error) == UNSEEN_ERR_ARGUMENT);
    struct unseen_list *list = open_list(UNSEEN_LIST_MAP_PREFETCH);
    for (size_t i = 0; i < 3000; i++) {
        all[i] = unseen__list_key(&b->hasher, items[i].data, items[i].len);
    }
    unseen_list_build_free(b);
    CHECK(info_of(list).kind == UNSEEN_KIND_PHONE);
    unseen_list_contains_texts(list, items, 3000, verdicts);
    for (size_t i = 0; i < 3000; i++) {
        const bool is_listed = test_list_contains(list, items[i].data, items[i].len);
        CHECK(is_listed == (verdicts[i] == UNSEEN_SEEN) && (is_listed || i >= 2000));
    }
    for (size_t n = 0; n < 40; n++) {
        uint8_t some[41];
        memset(some, 0x55, sizeof(some));
        list_contains_keys(list, all + 1990, n, some);
        CHECK(memcmp(some, verdicts + 1990, n) == 0 && some[n] == 0x55);
    }
    unseen_list_close(list);
}

/* Listed keys that stand far apart among others, in large batches: the same answers as one at a
 * time. */
static void test_sparse(void)
{
    static const double rates[] = {0.1, 1e-2, 1e-4, 1e-9};
    static uint64_t keys[4000];
    static uint8_t verdicts[4000];
    struct unseen_error error;
    for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++) {
        const struct plan plan = {.n = 20000, .key = random_key, .fpr = rates[r]};
        CHECK(build(&plan, &error) == UNSEEN_OK);
        struct unseen_list *list = open_list(UNSEEN_LIST_READ);
        for (size_t apart = 1; apart < 500; apart += apart / 3 + 1) {
            size_t nwrong = 0;
            for (size_t i = 0; i < 4000; i++) {
                keys[i] = i % apart ? other_key(i) : random_key(i);
            }
            list_contains_keys(list, keys, 4000, verdicts);
            for (size_t i = 0; i < 4000; i++) {
                uint8_t alone;
                list_contains_keys(list, &keys[i], 1, &alone);
                nwrong += verdicts[i] != alone || (i % apart == 0 && alone != UNSEEN_SEEN);
            }
            CHECK_EQ(nwrong, 0);
        }
        unseen_list_close(list);
    }
}

/* ---- bytes ---- */

static uint64_t file_sum(void)
{
    struct stat st;
    const int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && fstat(fd, &st) == 0);
    void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    CHECK(bytes != MAP_FAILED);
    const uint64_t sum = unseen__checksum(bytes, (size_t)st.st_size);
    munmap(bytes, (size_t)st.st_size);
    close(fd);
    return sum;
}

static uint64_t backward_key(uint64_t i)
{
    return random_key(199999 - i);
}

/* The number is what the portable level makes of these keys; each other makes the same. */
static void test_bytes(void)
{
    struct unseen_error error;
    const struct plan plan = {.n = 200000, .key = random_key};
    CHECK(build(&plan, &error) == UNSEEN_OK);
    const uint64_t sum = file_sum();
    CHECK_EQ(sum, UINT64_C(6391963867391772246));
    const struct plan backward = {
        .n = 200000, .key = backward_key, .memory = 1 << 20, .threads = 2};
    CHECK(build(&backward, &error) == UNSEEN_OK);
    CHECK_EQ(file_sum(), sum);
    const struct plan many = {.n = 200000, .key = random_key, .threads = 7, .fpr = 1e-7};
    CHECK(build(&many, &error) == UNSEEN_OK);
    CHECK_EQ(file_sum(), UINT64_C(9075456206577249068));
}

/* Several shards, threads, and a spill file that is read back. */
static void test_large(void)
{
    const uint64_t n = 4000000 * test_scale();
    const struct plan one = {
        .n = n, .key = random_key, .memory = 4 << 20, .threads = 1, .capacity = n};
    const struct plan two = {
        .n = n, .key = random_key, .memory = 1 << 30, .threads = 2, .capacity = n};
    const struct unseen_list_info info = check_list(&one, 1000000 * test_scale());
    const uint64_t sum = file_sum();
    CHECK((double)info.bytes * 8 / (double)info.nkeys < 13.56);
    CHECK(info.nlayers >= 3 && info.key_bits < 64);
    (void)check_list(&two, 0);
    CHECK_EQ(file_sum(), sum);
}

/* ---- failures ---- */

static void test_stopped(void)
{
    struct unseen_error error;
    const struct plan first = {.n = 5000, .key = random_key};
    CHECK(build(&first, &error) == UNSEEN_OK);
    const uint64_t sum = file_sum();
    const struct plan stopped = {.n = 3000000, .key = random_key, .stop_after = 1, .threads = 2};
    CHECK(build(&stopped, &error) == UNSEEN_ERR_STOPPED);
    CHECK_EQ(test_folder_count(folder), 1);
    CHECK_EQ(file_sum(), sum);
}

/* Another builder, and one that a crash has ended. */
static void test_busy(void)
{
    struct unseen_error error;
    const struct plan plan = {.n = 5000, .key = random_key};
    const int fd = open(new_path, O_RDWR | O_CREAT, 0666);
    CHECK(fd >= 0 && flock(fd, LOCK_EX) == 0 && write(fd, "rest", 4) == 4);
    CHECK(build(&plan, &error) == UNSEEN_ERR_BUSY);
    CHECK(access(new_path, F_OK) == 0);
    close(fd);
    (void)check_list(&plan, 0);
}

/* A reader keeps what it has opened. */
static void test_replaced(void)
{
    struct unseen_error error;
    const struct plan first = {.n = 5000, .key = random_key};
    const struct plan second = {.n = 5000, .key = other_key};
    CHECK(build(&first, &error) == UNSEEN_OK);
    struct unseen_list *list = open_list(UNSEEN_LIST_MAP_PREFETCH);
    CHECK(build(&second, &error) == UNSEEN_OK);
    CHECK_EQ(count_listed(list, random_key, 5000), 5000);
    unseen_list_close(list);
    list = open_list(UNSEEN_LIST_MAP_PREFETCH);
    CHECK_EQ(count_listed(list, other_key, 5000), 5000);
    CHECK(count_listed(list, random_key, 5000) < 20);
    unseen_list_close(list);
}

static void test_memory(void)
{
    struct unseen_error error;
    unsigned long nfailed = 0;
    for (unsigned long fail_at = 1;; fail_at++) {
        struct test_allocator counting = {.fail_at = fail_at};
        const struct unseen_allocator allocator = {test_alloc, test_free, &counting};
        const struct plan plan = {
            .n = 3000, .key = random_key, .memory = 1 << 20, .allocator = &allocator};
        enum unseen_status status = build(&plan, &error);
        struct unseen_list *list = NULL;
        const struct unseen_list_options options = {
            .size = sizeof(options), .access = UNSEEN_LIST_READ, .allocator = &allocator};
        if (status == UNSEEN_OK) {
            status = unseen_list_open(&list, path, &options, &error);
        }
        if (status == UNSEEN_OK) {
            status = unseen_list_verify(list, &error);
        }
        unseen_list_close(list);
        CHECK_EQ(counting.nlive, 0);
        CHECK(access(new_path, F_OK) != 0);
        if (counting.nallocs < fail_at) {
            CHECK(status == UNSEEN_OK);
            break;
        }
        CHECK(status == UNSEEN_ERR_NOMEM);
        nfailed++;
    }
    CHECK(nfailed > 20);
}

/* No file may be longer than this: the spill file or the list does not fit. */
static void test_file_limit(void)
{
    struct unseen_error error;
    struct rlimit old;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    for (rlim_t limit = 1024; limit < 1 << 26; limit *= 9) {
        const struct plan plan = {.n = 1200000, .key = random_key, .memory = 1 << 20};
        const struct rlimit low = {limit, old.rlim_max};
        CHECK(setrlimit(RLIMIT_FSIZE, &low) == 0);
        const enum unseen_status status = build(&plan, &error);
        CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
        CHECK(status == (limit < 2000000 ? UNSEEN_ERR_IO : status));
        CHECK(status == (limit > 20000000 ? UNSEEN_OK : status));
        CHECK(status == UNSEEN_OK || strstr(error.text, folder) != NULL);
        CHECK(access(new_path, F_OK) != 0);
    }
}

/* The same on a full disk, and then space returns. */
static void test_full_disk(void)
{
    struct unseen_error error;
    const struct plan plan = {.n = 100000, .key = random_key, .memory = 1 << 20};
    for (unsigned kib = 4; kib <= 512; kib *= 2) {
        char size[32];
        snprintf(size, sizeof(size), "size=%uk", kib);
        if (mount("tmpfs", folder, "tmpfs", 0, size) != 0) {
            test_skip("right to mount a small disk");
            return;
        }
        const enum unseen_status status = build(&plan, &error);
        CHECK(status == (kib < 180 ? UNSEEN_ERR_IO : UNSEEN_OK));
        CHECK_EQ(test_folder_count(folder), status == UNSEEN_OK);
        CHECK(mount("tmpfs", folder, "tmpfs", MS_REMOUNT, "size=4m") == 0);
        (void)check_list(&plan, 0);
        CHECK(umount(folder) == 0);
    }
}

/* ---- damage ---- */

/* What opening and verifying say; whatever opens is asked. */
static enum unseen_status try_file(struct unseen_error *error)
{
    struct unseen_list *list = NULL;
    const struct unseen_list_options options = {.size = sizeof(options), .cpu = test_cpu};
    enum unseen_status status = unseen_list_open(&list, path, &options, error);
    if (status == UNSEEN_OK) {
        (void)count_listed(list, random_key, 100);
        status = unseen_list_verify(list, error);
    }
    unseen_list_close(list);
    return status;
}

/* Each byte of the file changed in turn, and each length. */
static void test_damage(void)
{
    struct unseen_error error;
    size_t len = 0;
    const struct plan plan = {.n = 3600, .key = random_key};
    CHECK(build(&plan, &error) == UNSEEN_OK);
    uint8_t *bytes = test_file_read(path, &len);
    const size_t step = test_scale() > 1 ? 1 : 7;
    for (size_t i = 0; i < len; i += i < 800 || i + 800 > len ? 1 : step) {
        bytes[i] ^= (uint8_t)(1u << i % 8);
        test_file_write(path, bytes, len);
        const enum unseen_status status = try_file(&error);
        CHECK(status == (i < 4 ? UNSEEN_ERR_FOREIGN : UNSEEN_ERR_CORRUPT));
        CHECK(status == error.status && strstr(error.text, path) != NULL);
        bytes[i] ^= (uint8_t)(1u << i % 8);
    }
    for (size_t cut = 0; cut < len; cut += cut < 20 || cut + 20 > len ? 1 : 97) {
        test_file_write(path, bytes, cut);
        const enum unseen_status status = try_file(&error);
        CHECK(status == (cut < 8 ? UNSEEN_ERR_FOREIGN : UNSEEN_ERR_CORRUPT));
    }
    /* a newer version, and a feature that a reader must know */
    for (size_t at = 8; at <= 24; at += 16) {
        bytes[at]++;
        store_le64(bytes + 4088, unseen__checksum(bytes, 4088));
        test_file_write(path, bytes, len);
        CHECK(try_file(&error) == UNSEEN_ERR_VERSION);
        bytes[at]--;
    }
    store_le64(bytes + 4088, unseen__checksum(bytes, 4088));
    test_file_write(path, bytes, len);
    CHECK(try_file(&error) == UNSEEN_OK);
    free(bytes);
    CHECK(unlink(path) == 0);
    CHECK(try_file(&error) == UNSEEN_ERR_MISSING);
}

/* Opening checks what it reads, even if nobody verifies: no byte of the header, of the numbers of
 * pages and of the listed keys can change unnoticed. */
static void test_damage_at_open(void)
{
    static const uint64_t sizes[] = {7, 3557, 5000, 30000};
    struct unseen_error error;
    uint64_t nleft = 0;
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        struct unseen__list_header header;
        struct unseen__list_offsets offsets;
        size_t len = 0;
        const struct plan plan = {.n = sizes[s], .key = random_key};
        CHECK(build(&plan, &error) == UNSEEN_OK);
        uint8_t *bytes = test_file_read(path, &len);
        CHECK(unseen__list_header_decode(bytes, &header) == UNSEEN_OK);
        CHECK(unseen__list_offsets(&header, &offsets));
        CHECK(offsets.end == len);
        nleft += header.nleftover;
        for (uint64_t at = 8; at < offsets.groups; at++) {
            const struct unseen_list_options options = {.size = sizeof(options), .cpu = test_cpu};
            struct unseen_list *list = NULL;
            if (at == 800) {
                at = 4080; /* of the rest of the header, the checksum is enough */
            } else if (at == UNSEEN__LIST_HEADER_LEN) {
                at = offsets.table;
            }
            bytes[at] ^= (uint8_t)(1u << at % 8);
            test_file_write(path, bytes, len);
            const enum unseen_status status = unseen_list_open(&list, path, &options, &error);
            CHECK(status == UNSEEN_ERR_CORRUPT || (at < 32 && status == UNSEEN_ERR_VERSION));
            unseen_list_close(list);
            bytes[at] ^= (uint8_t)(1u << at % 8);
        }
        test_file_write(path, bytes, len);
        CHECK(try_file(&error) == UNSEEN_OK);
        free(bytes);
    }
    CHECK(nleft > 7);
}

static void test_options(void)
{
    struct unseen_error error;
    struct unseen_list_build *b = NULL;
    struct unseen_list_build_options options = {.size = sizeof(options), .fpr = 1e-10};
    CHECK(unseen_list_build_create(&b, path, &options, &error) == UNSEEN_ERR_FPR);
    options.fpr = 0.5;
    CHECK(unseen_list_build_create(&b, path, &options, &error) == UNSEEN_ERR_ARGUMENT);
    options.fpr = -1;
    CHECK(unseen_list_build_create(&b, path, &options, &error) == UNSEEN_ERR_ARGUMENT);
    options = (struct unseen_list_build_options){.size = sizeof(options), .threads = 1000};
    CHECK(unseen_list_build_create(&b, path, &options, &error) == UNSEEN_ERR_ARGUMENT);
    options = (struct unseen_list_build_options){.size = 3};
    CHECK(unseen_list_build_create(&b, path, &options, &error) == UNSEEN_ERR_SIZE);
    options =
        (struct unseen_list_build_options){.size = sizeof(options), .kind = (enum unseen_kind)7};
    CHECK(unseen_list_build_create(&b, path, &options, &error) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_list_build_create(&b, path, NULL, &error) == UNSEEN_OK);
    unseen_list_build_free(b); /* without having been finished */
    unseen_list_build_free(NULL);
    unseen_list_close(NULL);
}

int main(void)
{
    test_start();
    test_folder_make(folder, sizeof(folder), "list");
    snprintf(path, sizeof(path), "%s/a.list", folder);
    snprintf(new_path, sizeof(new_path), "%s.new", path);
    test_sizes();
    test_rates();
    test_kinds();
    test_hostile();
    test_single();
    test_sparse();
    test_bytes();
    test_large();
    test_stopped();
    test_busy();
    test_replaced();
    test_memory();
    test_file_limit();
    test_damage();
    test_damage_at_open();
    test_full_disk();
    test_options();
    (void)unlink(path);
    CHECK(rmdir(folder) == 0);
    return test_end();
}
