/* SPDX-License-Identifier: MIT
 *
 * The keys of a build that do not fit in memory: the list is the same; keys that come again and
 * again take no room; the file gives its room back while it is read; and neither damage, nor a full
 * disk, nor a lost key makes another list.
 *
 * Label: threads */
#include "folder_check.h"
#include "list_keys.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "hash/checksum.h"
#include <unseen_list.h>

enum {
    BATCH = 1000,
    PATH_CAP = 256
};

static char folder[PATH_CAP];    /* of the test, with the list */
static char work[PATH_CAP + 8];  /* in that: the folder of the keys */
static char path[PATH_CAP + 16]; /* of the list */

struct plan {
    uint64_t n;
    uint64_t (*key)(uint64_t number);
    uint64_t memory;
    uint64_t capacity;
    unsigned threads;
    const struct unseen_allocator *allocator;
};

static uint64_t random_key(uint64_t number)
{
    return test_random(&number);
}

/* All but one of 50 are one of three, which fall into two parts. */
static uint64_t repeated_key(uint64_t number)
{
    const uint64_t hot[] = {12345, 12346, UINT64_MAX / 5};
    return number % 50 ? hot[number % 3] : random_key(number);
}

static enum unseen_status begin(const struct plan *plan, struct unseen_list_build **b_out,
                                struct unseen_error *error)
{
    const uint64_t seed = 42;
    const struct unseen_list_build_options options = {
        .size = sizeof(options),
        .capacity = plan->capacity,
        .memory = plan->memory,
        .folder = work,
        .threads = plan->threads,
        .seed = &seed,
        .seed_len = sizeof(seed),
        .cpu = test_cpu,
        .allocator = plan->allocator,
    };
    return unseen_list_build_create(b_out, path, &options, error);
}

/* Adds the keys of numbers from to end. */
static enum unseen_status add_keys(struct unseen_list_build *b, const struct plan *plan,
                                   uint64_t from, uint64_t end, struct unseen_error *error)
{
    enum unseen_status status = UNSEEN_OK;
    while (from < end && status == UNSEEN_OK) {
        uint64_t keys[BATCH];
        size_t n = 0;
        while (n < BATCH && from < end) {
            keys[n++] = plan->key(from++);
        }
        status = unseen_list_build_add_keys(b, keys, n, error);
    }
    return status;
}

static enum unseen_status build(const struct plan *plan, struct unseen_error *error)
{
    struct unseen_list_build *b = NULL;
    enum unseen_status status = begin(plan, &b, error);
    if (status == UNSEEN_OK) {
        status = add_keys(b, plan, 0, plan->n, error);
    }
    if (status == UNSEEN_OK) {
        status = unseen_list_build_finish(b, NULL, NULL, error);
    }
    unseen_list_build_free(b);
    CHECK_EQ(test_folder_count(work), 0);
    return status;
}

/* The checksum of the list, which is removed. */
static uint64_t take_sum(void)
{
    uint64_t sum = 0;
    struct stat st;
    const int fd = open(path, O_RDONLY);
    if (CHECK(fd >= 0 && fstat(fd, &st) == 0)) {
        uint8_t *bytes = malloc((size_t)st.st_size);
        CHECK(bytes && read(fd, bytes, (size_t)st.st_size) == st.st_size);
        sum = unseen__checksum(bytes, (size_t)st.st_size);
        free(bytes);
        close(fd);
        CHECK(unlink(path) == 0);
    }
    return sum;
}

/* The checksum of the list that is built in memory. */
static uint64_t sum_in_memory(const struct plan *plan)
{
    struct unseen_error error;
    struct plan in_memory = *plan;
    in_memory.memory = 0;
    in_memory.allocator = NULL;
    CHECK(build(&in_memory, &error) == UNSEEN_OK);
    return take_sum();
}

static void test_bytes(void)
{
    struct unseen_error error;
    const struct plan plans[] = {
        {.n = 900000, .key = random_key, .memory = 1 << 20},
        {.n = 900000, .key = random_key, .memory = 1 << 24, .threads = 3},
        {.n = 900000, .key = random_key, .memory = 1 << 20, .capacity = 1000000000},
    };
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        CHECK(build(&plans[i], &error) == UNSEEN_OK);
        const uint64_t sum = take_sum();
        CHECK_EQ(sum, sum_in_memory(&plans[i]));
    }
}

/* ---- repeats ---- */

struct peak {
    struct test_allocator counting;
    size_t most;
};

static void *peak_alloc(void *context, size_t size, size_t align)
{
    struct peak *peak = context;
    void *ptr = test_alloc(&peak->counting, size, align);
    peak->most = peak->counting.bytes > peak->most ? peak->counting.bytes : peak->most;
    return ptr;
}

static void peak_free(void *context, void *ptr, size_t size)
{
    struct peak *peak = context;
    test_free(&peak->counting, ptr, size);
}

/* Keys that come again and again take no memory, and are each in the list. */
static void test_repeats(void)
{
    struct unseen_error error;
    struct peak peak = {.most = 0};
    const struct unseen_allocator allocator = {peak_alloc, peak_free, &peak};
    const struct plan plan = {
        .n = 2000000, .key = repeated_key, .memory = 1 << 20, .allocator = &allocator};
    CHECK(build(&plan, &error) == UNSEEN_OK);
    if (!CHECK(peak.most < (size_t)10 << 20)) {
        /* 44 MB if all were kept; it was 21 MiB, 2/3 of the keys as a part */
        fprintf(stderr, "%zu bytes of memory\n", peak.most);
    }
    struct unseen_list *list = NULL;
    CHECK(unseen_list_open(&list, path, NULL, &error) == UNSEEN_OK);
    for (uint64_t i = 0; i < plan.n; i += BATCH) {
        uint64_t keys[BATCH];
        uint8_t verdicts[BATCH];
        for (uint64_t k = 0; k < BATCH; k++) {
            keys[k] = plan.key(i + k);
        }
        list_contains_keys(list, keys, BATCH, verdicts);
        CHECK(memchr(verdicts, UNSEEN_NEW, BATCH) == NULL);
    }
    unseen_list_close(list);
    const uint64_t sum = take_sum();
    CHECK_EQ(sum, sum_in_memory(&plan));
}

/* ---- the file ---- */

/* A descriptor of the file with the keys; -1: not found. */
static int find_spill(void)
{
    for (int fd = 3; fd < 100; fd++) {
        char link[64];
        char name[PATH_CAP * 2] = "";
        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        if (readlink(link, name, sizeof(name) - 1) > 0 && strstr(name, ".spill")) {
            return fd;
        }
    }
    return -1;
}

/* What was put on the disk comes back changed. */
static void test_damaged(void)
{
    struct unseen_error error;
    struct unseen_list_build *b = NULL;
    const struct plan plan = {.n = 3000000, .key = random_key, .memory = 1 << 20};
    CHECK(begin(&plan, &b, &error) == UNSEEN_OK);
    CHECK(add_keys(b, &plan, 0, plan.n, &error) == UNSEEN_OK);
    const int fd = find_spill();
    if (fd < 0) {
        test_skip("/proc/self/fd");
    } else {
        uint8_t byte = 0;
        CHECK(pread(fd, &byte, 1, 12345) == 1);
        byte ^= 1;
        CHECK(pwrite(fd, &byte, 1, 12345) == 1);
        CHECK(unseen_list_build_finish(b, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
        CHECK(strstr(error.text, work) != NULL && access(path, F_OK) != 0);
    }
    unseen_list_build_free(b);
}

struct disk_use {
    int spill;
    uint64_t before; /* bytes on the disk before the file was read */
    uint64_t most;   /* together with the list, since then */
    uint64_t last;   /* of the file alone, when the last unit was read */
};

static uint64_t bytes_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

static bool look_at_disk(void *context, uint64_t ndone, uint64_t n)
{
    struct disk_use *use = context;
    struct stat list;
    char name[PATH_CAP + 24];
    snprintf(name, sizeof(name), "%s.new", path);
    CHECK(stat(name, &list) == 0 && ndone <= n);
    use->last = bytes_of(use->spill);
    const uint64_t both = use->last + (uint64_t)list.st_blocks * 512;
    use->most = both > use->most ? both : use->most;
    return true;
}

/* The list takes the room that the keys give back. */
static void test_room(void)
{
    struct unseen_error error;
    struct unseen_list_build *b = NULL;
    const struct plan plan = {.n = 9000000, .key = random_key, .memory = 1 << 20};
    CHECK(begin(&plan, &b, &error) == UNSEEN_OK);
    CHECK(add_keys(b, &plan, 0, plan.n, &error) == UNSEEN_OK);
    struct disk_use use = {.spill = find_spill()};
    if (use.spill < 0) {
        test_skip("/proc/self/fd");
        unseen_list_build_free(b);
        return;
    }
    use.before = bytes_of(use.spill);
    CHECK(use.before > plan.n * 6);
    CHECK(unseen_list_build_finish(b, look_at_disk, &use, &error) == UNSEEN_OK);
    if (!CHECK(use.last < use.before / 10) || !CHECK(use.most < use.before + use.before / 50)) {
        fprintf(stderr, "%llu bytes of keys, %llu at the end, at most %llu with the list\n",
                (unsigned long long)use.before, (unsigned long long)use.last,
                (unsigned long long)use.most);
    }
    unseen_list_build_free(b);
    CHECK(unlink(path) == 0);
}

/* ---- want of memory and disk ---- */

/* Each allocation fails once, some of them while keys are in the file. */
static void test_memory(void)
{
    struct unseen_error error;
    const unsigned step = test_brief() ? 3 : 1;
    unsigned nfailed = 0;
    enum unseen_status status = UNSEEN_ERR_NOMEM;
    for (unsigned long fail_at = 1; status == UNSEEN_ERR_NOMEM; fail_at += step) {
        struct test_allocator counting = {.fail_at = fail_at};
        const struct unseen_allocator allocator = {test_alloc, test_free, &counting};
        const struct plan plan = {
            .n = 900000, .key = random_key, .memory = 1 << 20, .allocator = &allocator};
        status = build(&plan, &error);
        CHECK_EQ(counting.nlive, 0);
        CHECK(status == UNSEEN_OK ? counting.nallocs < fail_at : access(path, F_OK) != 0);
        nfailed += status == UNSEEN_ERR_NOMEM;
    }
    CHECK(status == UNSEEN_OK && unlink(path) == 0);
    CHECK(nfailed > 20 / step);
}

/* A build that has lost a key makes no list, even if the disk takes more by then. */
static void test_stopped(void)
{
    struct unseen_error error;
    struct unseen_list_build *b = NULL;
    struct rlimit old;
    const struct plan plan = {.n = 2000000, .key = random_key, .memory = 1 << 20};
    (void)signal(SIGXFSZ, SIG_IGN);
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    const struct rlimit low = {5 << 20, old.rlim_max};
    CHECK(begin(&plan, &b, &error) == UNSEEN_OK);
    CHECK(add_keys(b, &plan, 0, 100000, &error) == UNSEEN_OK);
    CHECK(setrlimit(RLIMIT_FSIZE, &low) == 0);
    CHECK(add_keys(b, &plan, 100000, plan.n, &error) == UNSEEN_ERR_IO);
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    CHECK(add_keys(b, &plan, 0, 1, &error) == UNSEEN_ERR_STOPPED);
    CHECK(unseen_list_build_finish(b, NULL, NULL, &error) == UNSEEN_ERR_STOPPED);
    unseen_list_build_free(b);
    CHECK(access(path, F_OK) != 0);
    CHECK_EQ(test_folder_count(work), 0);
}

/* On a full disk the error says how much is needed, if that can be known. */
static void test_full_disk(void)
{
    struct unseen_error error = {.text = ""};
    for (unsigned known = 0; known < 2; known++) {
        const struct plan plan = {
            .n = 900000, .key = random_key, .memory = 1 << 20, .capacity = known ? 900000 : 0};
        for (unsigned kib = 64; kib <= 8192; kib *= 2) {
            char size[32];
            snprintf(size, sizeof(size), "size=%uk", kib);
            if (mount("tmpfs", work, "tmpfs", 0, size) != 0) {
                test_skip("right to mount a small disk");
                return;
            }
            const enum unseen_status status = build(&plan, &error);
            CHECK(status == (kib < 2048 ? UNSEEN_ERR_IO : status));
            CHECK(status == (kib > 6000 ? UNSEEN_OK : status));
            if (status != UNSEEN_OK) {
                CHECK(strstr(error.text, work) != NULL);
                CHECK(!known || strstr(error.text, "MiB are needed") != NULL);
                CHECK(access(path, F_OK) != 0);
                CHECK(mount("tmpfs", work, "tmpfs", MS_REMOUNT, "size=16m") == 0);
                CHECK(build(&plan, &error) == UNSEEN_OK);
            }
            CHECK(unlink(path) == 0);
            CHECK(umount(work) == 0);
        }
    }
}

int main(void)
{
    test_start();
    test_folder_make(folder, sizeof(folder), "spill");
    snprintf(work, sizeof(work), "%s/work", folder);
    snprintf(path, sizeof(path), "%s/a.list", folder);
    CHECK(mkdir(work, 0700) == 0);
    test_bytes();
    test_repeats();
    test_damaged();
    if (!test_brief()) {
        test_room();
    }
    test_memory();
    test_stopped();
    test_full_disk();
    CHECK(rmdir(work) == 0);
    CHECK(rmdir(folder) == 0);
    return test_end();
}
