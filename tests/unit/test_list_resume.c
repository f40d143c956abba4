/* SPDX-License-Identifier: MIT
 *
 * Building a list with interruptions: the file is the same, byte for byte, as without any; what was
 * added after the last checkpoint is as if it had never been; and what is damaged, missing or made
 * with other options is refused, or makes no difference, but never makes another list. The threads
 * of an interrupted build are those of cli/build_resume. */
#include "folder_check.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "hash/checksum.h"
#include <unseen_list.h>

enum {
    BATCH = 1000,
    PATH_CAP = 256
};

static char folder[PATH_CAP];    /* of the test, with the list */
static char work[PATH_CAP + 8];  /* in that: the folder of the build */
static char path[PATH_CAP + 16]; /* of the list */
static char keys_path[PATH_CAP + 16];
static char state_path[PATH_CAP + 16];
static const uint64_t seed = 42;

struct plan {
    uint64_t n;
    uint64_t memory;
    uint64_t capacity;
    unsigned threads;
    uint64_t every; /* keys between checkpoints */
    const struct unseen_allocator *allocator;
};

static struct unseen_list_build_options options_of(const struct plan *plan)
{
    return (struct unseen_list_build_options){
        .size = sizeof(struct unseen_list_build_options),
        .capacity = plan->capacity,
        .memory = plan->memory,
        .folder = work,
        .keep = true,
        .threads = plan->threads,
        .seed = &seed,
        .seed_len = sizeof(seed),
        .profile = "crawl/1",
        .cpu = test_cpu,
        .allocator = plan->allocator,
    };
}

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

static uint64_t (*key_of)(uint64_t number) = random_key;

/* Adds the keys of numbers from to end. */
static enum unseen_status add_keys(struct unseen_list_build *b, uint64_t from, uint64_t end,
                                   struct unseen_error *error)
{
    enum unseen_status status = UNSEEN_OK;
    while (from < end && status == UNSEEN_OK) {
        uint64_t keys[BATCH];
        size_t n = 0;
        while (n < BATCH && from < end) {
            keys[n++] = key_of(from++);
        }
        status = unseen_list_build_add_keys(b, keys, n, error);
    }
    return status;
}

/* The checksum of the list that a build without interruption makes, which does not keep
 * anything. */
static uint64_t file_sum(void)
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
    }
    return sum;
}

static uint64_t plain_sum(const struct plan *plan)
{
    struct unseen_error error;
    struct unseen_list_build *b = NULL;
    struct unseen_list_build_options options = options_of(plan);
    options.keep = false;
    options.folder = NULL;
    options.allocator = NULL;
    CHECK(unseen_list_build_create(&b, path, &options, &error) == UNSEEN_OK);
    CHECK(add_keys(b, 0, plan->n, &error) == UNSEEN_OK);
    CHECK(unseen_list_build_finish(b, NULL, NULL, &error) == UNSEEN_OK);
    unseen_list_build_free(b);
    const uint64_t sum = file_sum();
    CHECK(unlink(path) == 0);
    return sum;
}

/* Goes on with a build, or begins one, and says in *from_out with which key. */
static enum unseen_status start(const struct plan *plan, struct unseen_list_build **b_out,
                                uint64_t *from_out, struct unseen_error *error)
{
    struct unseen_bytes note = {"", 0};
    const struct unseen_list_build_options options = options_of(plan);
    enum unseen_status status = unseen_list_build_resume(b_out, path, &options, &note, error);
    if (status == UNSEEN_ERR_MISSING) {
        *from_out = 0;
        return unseen_list_build_create(b_out, path, &options, error);
    }
    if (status == UNSEEN_OK) {
        *from_out = note.len == 8 ? load_le64(note.data) : 0;
        CHECK(note.len == 8 || note.len == 0);
    }
    return status;
}

static enum unseen_status checkpoint(struct unseen_list_build *b, uint64_t at,
                                     struct unseen_error *error)
{
    uint8_t note[8];
    store_le64(note, at);
    return unseen_list_build_checkpoint(b, note, sizeof(note), error);
}

/* One process: goes on until it has added the key number stop, or the list is finished, and leaves
 * things as they are. */
static enum unseen_status go_on(const struct plan *plan, uint64_t stop, struct unseen_error *error)
{
    struct unseen_list_build *b = NULL;
    uint64_t at = 0;
    enum unseen_status status = start(plan, &b, &at, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    while (at < plan->n && at < stop && status == UNSEEN_OK) {
        uint64_t end = at + plan->every;
        const bool interrupted = end > stop;
        end = end < plan->n ? end : plan->n;
        end = end < stop ? end : stop;
        status = add_keys(b, at, end, error);
        if (status == UNSEEN_OK && !interrupted) {
            status = checkpoint(b, end, error);
        }
        at = end;
    }
    if (status == UNSEEN_OK && at == plan->n) {
        status = unseen_list_build_finish(b, NULL, NULL, error);
    }
    unseen_list_build_free(b);
    return status;
}

/* ---- interruptions ---- */

static void test_interrupted(void)
{
    struct unseen_error error = {.text = ""};
    const struct plan plans[] = {
        {.n = 0, .every = 100},
        {.n = 1, .every = 1},
        {.n = 700, .every = 100},
        {.n = 30000, .every = 999},
        {.n = 30000, .every = 30000},
        {.n = 400000, .every = 30011, .memory = 1 << 20},
        {.n = 900000, .every = 130003, .memory = 1 << 24, .threads = 3},
        {.n = 300000, .every = 70000, .memory = 1 << 20, .capacity = 1000000000},
    };
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        const struct plan *plan = &plans[i];
        const uint64_t sum = plain_sum(plan);
        uint64_t random = i;
        uint64_t stop = 0;
        unsigned nruns = 0;
        while (access(path, F_OK) != 0 && CHECK(nruns++ < 1000)) {
            stop += test_random(&random) % (plan->n / 4 + 2);
            if (!CHECK(go_on(plan, stop, &error) == UNSEEN_OK)) {
                fprintf(stderr, "%s\n", error.text);
                exit(1);
            }
        }
        if (!CHECK_EQ(file_sum(), sum)) {
            fprintf(stderr, "plan %zu, after %u runs\n", i, nruns);
        }
        CHECK_EQ(test_folder_count(work), 0); /* nothing is left of it */
        CHECK_EQ(test_folder_count(folder), 2);
        CHECK(unlink(path) == 0);
    }
}

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

/* Keys that come again and again take no memory, interrupted or not, and are each in the list. */
static void test_repeats(void)
{
    struct unseen_error error;
    struct peak peak = {.most = 0};
    const struct unseen_allocator allocator = {peak_alloc, peak_free, &peak};
    const struct plan plan = {
        .n = 2000000, .memory = 1 << 20, .every = 90000, .allocator = &allocator};
    key_of = repeated_key;
    const uint64_t sum = plain_sum(&plan);
    CHECK(go_on(&plan, 900000, &error) == UNSEEN_OK);
    CHECK(go_on(&plan, 1500000, &error) == UNSEEN_OK);
    CHECK(go_on(&plan, UINT64_MAX, &error) == UNSEEN_OK);
    CHECK_EQ(file_sum(), sum);
    if (!CHECK(peak.most < (size_t)10 << 20)) {
        /* 44 MB if all were kept */ /* it was 21 MiB, 2/3 of the keys as a part */
        fprintf(stderr, "%zu bytes of memory\n", peak.most);
    }
    struct unseen_list *list = NULL;
    CHECK(unseen_list_open(&list, path, NULL, &error) == UNSEEN_OK);
    for (uint64_t i = 0; i < plan.n; i += BATCH) {
        uint64_t keys[BATCH];
        uint8_t verdicts[BATCH];
        for (uint64_t k = 0; k < BATCH; k++) {
            keys[k] = key_of(i + k);
        }
        unseen_list_contains_keys(list, keys, BATCH, verdicts);
        CHECK(memchr(verdicts, UNSEEN_NEW, BATCH) == NULL);
    }
    unseen_list_close(list);
    CHECK(unlink(path) == 0);
    key_of = random_key;
}

/* Everything else that a caller may say with a note. */
static void test_notes(void)
{
    struct unseen_error error;
    struct unseen_bytes note;
    struct unseen_list_build *b = NULL;
    const struct plan plan = {.n = 5000};
    const struct unseen_list_build_options options = options_of(&plan);
    const size_t most = (size_t)1 << 24;
    char *bytes = malloc(most + 1);
    CHECK(bytes != NULL);
    for (size_t i = 0; i <= most; i++) {
        bytes[i] = (char)(i % 251);
    }
    const size_t lens[] = {0, 1, 1000, most};
    CHECK(unseen_list_build_create(&b, path, &options, &error) == UNSEEN_OK);
    for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
        CHECK(add_keys(b, i * 1000, i * 1000 + 1000, &error) == UNSEEN_OK);
        CHECK(unseen_list_build_checkpoint(b, bytes, lens[i], &error) == UNSEEN_OK);
        CHECK(add_keys(b, 100000, 200000, &error) == UNSEEN_OK); /* to be forgotten */
        unseen_list_build_free(b);
        CHECK(unseen_list_build_resume(&b, path, &options, &note, &error) == UNSEEN_OK);
        CHECK(note.len == lens[i] && (note.len == 0 || memcmp(note.data, bytes, note.len) == 0));
        CHECK(!unseen_list_build_complete(b));
    }
    CHECK(unseen_list_build_checkpoint(b, bytes, most + 1, &error) == UNSEEN_ERR_ARGUMENT);
    CHECK(add_keys(b, 4000, 5000, &error) == UNSEEN_OK);
    CHECK(unseen_list_build_finish(b, NULL, NULL, &error) == UNSEEN_OK);
    unseen_list_build_free(b);
    free(bytes);
    const uint64_t sum = file_sum();
    CHECK(unlink(path) == 0);
    CHECK_EQ(sum, plain_sum(&plan));
}

static bool stop_at_once(void *context, uint64_t ndone, uint64_t n)
{
    (void)context;
    return ndone > n;
}

/* Interrupted in its second half, a build has all it needs; and until it is freed, also when the
 * list is there. */
static void test_complete(void)
{
    struct unseen_error error;
    struct unseen_bytes note;
    struct unseen_list_build *b = NULL;
    const struct plan plan = {.n = 300000, .memory = 1 << 20};
    const uint64_t sum = plain_sum(&plan);
    const struct unseen_list_build_options options = options_of(&plan);
    CHECK(unseen_list_build_create(&b, path, &options, &error) == UNSEEN_OK);
    CHECK(add_keys(b, 0, 200000, &error) == UNSEEN_OK);
    CHECK(checkpoint(b, 200000, &error) == UNSEEN_OK);
    CHECK(add_keys(b, 200000, plan.n, &error) == UNSEEN_OK);
    CHECK(unseen_list_build_finish(b, stop_at_once, NULL, &error) == UNSEEN_ERR_STOPPED);
    unseen_list_build_free(b);
    for (unsigned i = 0; i < 3; i++) {
        CHECK(access(path, F_OK) != 0);
        CHECK(unseen_list_build_resume(&b, path, &options, &note, &error) == UNSEEN_OK);
        CHECK(note.len == 8 && load_le64(note.data) == 200000);
        CHECK(unseen_list_build_complete(b));
        CHECK(add_keys(b, 0, 1, &error) == UNSEEN_ERR_ARGUMENT);
        CHECK(checkpoint(b, 0, &error) == UNSEEN_ERR_ARGUMENT);
        CHECK(unseen_list_build_finish(b, i < 2 ? stop_at_once : NULL, NULL, &error) ==
              (i < 2 ? UNSEEN_ERR_STOPPED : UNSEEN_OK));
        if (i == 2) {
            CHECK_EQ(test_folder_count(work), 2);
        }
        unseen_list_build_free(b);
    }
    CHECK_EQ(file_sum(), sum);
    CHECK_EQ(test_folder_count(work), 0);
    CHECK(unlink(path) == 0);
}

/* ---- refusals ---- */

static enum unseen_status try_options(const struct unseen_list_build_options *options,
                                      struct unseen_error *error)
{
    struct unseen_bytes note;
    struct unseen_list_build *b = NULL;
    const enum unseen_status status = unseen_list_build_resume(&b, path, options, &note, error);
    if (status == UNSEEN_OK) {
        unseen_list_build_free(b);
    } else {
        CHECK(error->status == status && strstr(error->text, work) != NULL);
    }
    return status;
}

static void test_options(void)
{
    struct unseen_error error;
    struct unseen_list_build *b = NULL;
    struct unseen_list_build *second = NULL;
    const uint64_t other_seed = 43;
    const struct plan plan = {.n = 5000, .capacity = 5000};
    const struct unseen_list_build_options options = options_of(&plan);
    struct unseen_list_build_options other = options;
    struct stat st;
    CHECK(try_options(&options, &error) == UNSEEN_ERR_MISSING);
    CHECK(unseen_list_build_create(&b, path, &options, &error) == UNSEEN_OK);
    CHECK(unseen_list_build_create(&second, path, &options, &error) == UNSEEN_ERR_BUSY);
    CHECK(try_options(&options, &error) == UNSEEN_ERR_BUSY);
    CHECK(add_keys(b, 0, 1000, &error) == UNSEEN_OK);
    unseen_list_build_free(b);
    CHECK(try_options(&options, &error) == UNSEEN_ERR_MISSING); /* no checkpoint */

    CHECK(unseen_list_build_create(&b, path, &options, &error) == UNSEEN_OK);
    CHECK(add_keys(b, 0, 1000, &error) == UNSEEN_OK);
    CHECK(checkpoint(b, 1000, &error) == UNSEEN_OK);
    unseen_list_build_free(b);
    CHECK(stat(state_path, &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK(stat(keys_path, &st) == 0 && (st.st_mode & 0777) == 0600);
    other.fpr = 2e-4;
    CHECK(try_options(&other, &error) == UNSEEN_ERR_MISMATCH && strstr(error.text, "rate"));
    other = options;
    other.capacity = 5001;
    CHECK(try_options(&other, &error) == UNSEEN_ERR_MISMATCH && strstr(error.text, "capacity"));
    other = options;
    other.profile = "crawl/2";
    CHECK(try_options(&other, &error) == UNSEEN_ERR_MISMATCH && strstr(error.text, "profile"));
    other = options;
    other.kind = UNSEEN_KIND_PHONE;
    CHECK(try_options(&other, &error) == UNSEEN_ERR_MISMATCH && strstr(error.text, "kind"));
    other = options;
    other.seed = &other_seed;
    other.seed_len = sizeof(other_seed);
    CHECK(try_options(&other, &error) == UNSEEN_ERR_MISMATCH && strstr(error.text, "seed"));
    other = options;
    other.seed = NULL;
    other.seed_len = 0;
    other.memory = 1 << 22;
    other.threads = 2;
    CHECK(try_options(&other, &error) == UNSEEN_OK);
    CHECK(try_options(&options, &error) == UNSEEN_OK);

    /* begun anew: what there was is gone at once */
    CHECK(unseen_list_build_create(&b, path, &options, &error) == UNSEEN_OK);
    CHECK_EQ(test_folder_count(work), 1);
    unseen_list_build_free(b);
    CHECK(try_options(&options, &error) == UNSEEN_ERR_MISSING);
    CHECK(unlink(keys_path) == 0);

    other = options;
    other.folder = NULL;
    CHECK(unseen_list_build_create(&b, path, &other, &error) == UNSEEN_ERR_ARGUMENT);
    other.folder = "/nonexistent/folder";
    CHECK(unseen_list_build_create(&b, path, &other, &error) == UNSEEN_ERR_MISSING);
    other = options;
    other.keep = false;
    CHECK(unseen_list_build_create(&b, path, &other, &error) == UNSEEN_OK);
    CHECK(checkpoint(b, 0, &error) == UNSEEN_ERR_ARGUMENT);
    unseen_list_build_free(b);
}

/* ---- damage ---- */

struct saved {
    uint8_t *bytes;
    size_t len;
};

static struct saved read_whole(const char *name)
{
    struct stat st;
    struct saved file = {0};
    const int fd = open(name, O_RDONLY);
    if (!CHECK(fd >= 0 && fstat(fd, &st) == 0)) {
        exit(1);
    }
    file.len = (size_t)st.st_size;
    file.bytes = malloc(file.len + 1);
    CHECK(file.bytes && read(fd, file.bytes, file.len) == (ssize_t)file.len);
    close(fd);
    return file;
}

static void write_whole(const char *name, const uint8_t *bytes, size_t len)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
    close(fd);
}

/* Builds the rest from the two files as they are now. A list that comes out must be the right
 * one. */
static enum unseen_status try_rest(const struct plan *plan, uint64_t sum,
                                   struct unseen_error *error)
{
    struct unseen_bytes note;
    struct unseen_list_build *b = NULL;
    const struct unseen_list_build_options options = options_of(plan);
    enum unseen_status status = unseen_list_build_resume(&b, path, &options, &note, error);
    if (status == UNSEEN_OK) {
        status = add_keys(b, note.len == 8 ? load_le64(note.data) : 0, plan->n, error);
        if (status == UNSEEN_OK) {
            status = unseen_list_build_finish(b, NULL, NULL, error);
        }
        unseen_list_build_free(b);
    }
    if (status == UNSEEN_OK) {
        CHECK_EQ(file_sum(), sum);
        CHECK(unlink(path) == 0);
    } else {
        CHECK(access(path, F_OK) != 0);
        CHECK(error->status == status && strstr(error->text, work) != NULL);
    }
    return status;
}

static void test_damage(void)
{
    struct unseen_error error;
    const struct plan plan = {.n = 40000, .every = 20000, .memory = 1 << 20};
    const uint64_t sum = plain_sum(&plan);
    const struct unseen_list_build_options options = options_of(&plan);
    CHECK(go_on(&plan, 30000, &error) == UNSEEN_OK);
    const struct saved keys = read_whole(keys_path);
    const struct saved state = read_whole(state_path);
    uint64_t random = 7;
    unsigned nrefused = 0;
    unsigned nharmless = 0;

    /* each byte of the state's beginning and some of the rest, and lengths */
    for (size_t i = 0; i < state.len; i += i < 800 ? 1 : 1 + test_random(&random) % 97) {
        state.bytes[i] ^= (uint8_t)(1u << i % 8);
        write_whole(state_path, state.bytes, state.len);
        CHECK(try_options(&options, &error) == UNSEEN_ERR_CORRUPT);
        state.bytes[i] ^= (uint8_t)(1u << i % 8);
    }
    for (size_t len = 0; len < state.len; len += 1 + test_random(&random) % 97) {
        write_whole(state_path, state.bytes, len);
        CHECK(try_rest(&plan, sum, &error) == UNSEEN_ERR_CORRUPT);
    }
    /* the keys: what lies between chunks is no key */
    for (unsigned i = 0; i < 150 * test_scale(); i++) {
        const size_t chunk = test_random(&random) % (keys.len / 4096) * 4096;
        const size_t at = chunk + test_random(&random) % 256;
        keys.bytes[at] ^= (uint8_t)(1u << i % 8);
        write_whole(state_path, state.bytes, state.len);
        write_whole(keys_path, keys.bytes, keys.len);
        const enum unseen_status status = try_rest(&plan, sum, &error);
        CHECK(status == UNSEEN_OK || status == UNSEEN_ERR_CORRUPT);
        nrefused += status == UNSEEN_ERR_CORRUPT;
        nharmless += status == UNSEEN_OK;
        keys.bytes[at] ^= (uint8_t)(1u << i % 8);
    }
    CHECK(nrefused > 20 && nharmless > 20);
    printf("keys: %u damages refused, %u harmless\n", nrefused, nharmless);
    for (unsigned i = 0; i < 20; i++) {
        write_whole(state_path, state.bytes, state.len);
        write_whole(keys_path, keys.bytes, test_random(&random) % (keys.len / 2));
        CHECK(try_rest(&plan, sum, &error) == UNSEEN_ERR_CORRUPT);
    }
    write_whole(state_path, state.bytes, state.len);
    write_whole(keys_path, keys.bytes, keys.len);
    CHECK(try_rest(&plan, sum, &error) == UNSEEN_OK);
    free(keys.bytes);
    free(state.bytes);
}

/* States whose checksum is right and whose numbers are not: refused, or a list of some kind, but
 * nothing is written or read out of bounds. */
static void test_forged(void)
{
    struct unseen_error error;
    struct unseen_bytes note;
    const struct plan plan = {.n = 40000, .every = 20000, .memory = 1 << 20};
    const struct unseen_list_build_options options = options_of(&plan);
    CHECK(go_on(&plan, 30000, &error) == UNSEEN_OK);
    const struct saved keys = read_whole(keys_path);
    const struct saved state = read_whole(state_path);
    uint8_t *forged = malloc(state.len);
    uint64_t random = 8;
    unsigned nopened = 0;
    CHECK(forged != NULL);
    for (unsigned i = 0; i < 600 * test_scale(); i++) {
        const uint64_t values[] = {0, 1, 0xffffffff, 1u << 31, test_random(&random), 4096, 64};
        memcpy(forged, state.bytes, state.len);
        const size_t head = i % 2 ? 96 : state.len - 8; /* fields, or anywhere */
        const size_t at = 8 + test_random(&random) % (head - 8) / 4 * 4;
        store_le32(forged + at, (uint32_t)values[test_random(&random) % 7]);
        store_le64(forged + state.len - 8, unseen__checksum(forged, state.len - 8));
        write_whole(state_path, forged, state.len);
        write_whole(keys_path, keys.bytes, keys.len);
        struct unseen_list_build *b = NULL;
        if (unseen_list_build_resume(&b, path, &options, &note, &error) == UNSEEN_OK) {
            nopened++;
            (void)unseen_list_build_finish(b, NULL, NULL, &error);
            unseen_list_build_free(b);
            (void)unlink(path);
        }
    }
    CHECK(nopened > 0);
    /* Each number just beyond its range. */
    static const struct {
        size_t at;
        uint32_t value;
    } beyond[] = {{48, 65}, {52, 21}, {52, 64}, {56, 4095}, {56, (1 << 20) + 1}, {60, 0}};
    for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
        struct unseen_list_build *b = NULL;
        memcpy(forged, state.bytes, state.len);
        store_le32(forged + beyond[i].at, beyond[i].value);
        store_le64(forged + state.len - 8, unseen__checksum(forged, state.len - 8));
        write_whole(state_path, forged, state.len);
        write_whole(keys_path, keys.bytes, keys.len);
        /* ntexts is an option, too: any other number is a MISMATCH. */
        CHECK(unseen_list_build_resume(&b, path, &options, &note, &error) == UNSEEN_ERR_CORRUPT);
    }
    free(forged);
    free(keys.bytes);
    free(state.bytes);
    (void)unlink(state_path);
    (void)unlink(keys_path);
}

/* What a build that keeps nothing has put on the disk comes back changed. */
static void test_damaged_spill(void)
{
    struct unseen_error error;
    struct unseen_list_build *b = NULL;
    const struct plan plan = {.n = 3000000, .memory = 1 << 20};
    struct unseen_list_build_options options = options_of(&plan);
    options.keep = false;
    CHECK(unseen_list_build_create(&b, path, &options, &error) == UNSEEN_OK);
    CHECK(add_keys(b, 0, plan.n, &error) == UNSEEN_OK);
    unsigned nfound = 0;
    for (int fd = 3; fd < 100; fd++) {
        char link[64];
        char name[PATH_CAP * 2] = "";
        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        if (readlink(link, name, sizeof(name) - 1) > 0 && strstr(name, ".spill")) {
            uint8_t byte = 0;
            CHECK(pread(fd, &byte, 1, 12345) == 1);
            byte ^= 1;
            CHECK(pwrite(fd, &byte, 1, 12345) == 1);
            nfound++;
        }
    }
    if (nfound == 0) {
        test_skip("/proc/self/fd");
    } else {
        CHECK(unseen_list_build_finish(b, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
        CHECK(strstr(error.text, work) != NULL && access(path, F_OK) != 0);
    }
    unseen_list_build_free(b);
}

/* ---- resources ---- */

/* Each allocation of each run fails once, and then there is memory again. */
static void test_memory(void)
{
    struct unseen_error error;
    const struct plan plain = {.n = 30000, .every = 7000, .memory = 1 << 20};
    const uint64_t sum = plain_sum(&plain);
    unsigned nfailed = 0;
    for (unsigned long fail_at = 1;; fail_at++) {
        struct test_allocator counting = {.fail_at = fail_at};
        const struct unseen_allocator allocator = {test_alloc, test_free, &counting};
        struct plan plan = plain;
        plan.allocator = &allocator;
        enum unseen_status status = go_on(&plan, 15000, &error);
        if (status == UNSEEN_OK) {
            status = go_on(&plan, UINT64_MAX, &error);
        }
        CHECK_EQ(counting.nlive, 0);
        const bool all = counting.nallocs < fail_at;
        if (!all) {
            CHECK(status == UNSEEN_ERR_NOMEM);
            nfailed++;
            CHECK(go_on(&plain, UINT64_MAX, &error) == UNSEEN_OK);
        }
        CHECK_EQ(file_sum(), sum);
        CHECK(unlink(path) == 0);
        CHECK_EQ(test_folder_count(work), 0);
        if (all) {
            CHECK(status == UNSEEN_OK);
            break;
        }
    }
    CHECK(nfailed > 40);
}

/* A build that has lost a key makes no list, even if the disk takes more by then. */
static void test_stopped(void)
{
    struct unseen_error error;
    struct unseen_bytes note;
    struct rlimit old;
    const struct plan plan = {.n = 2000000, .memory = 1 << 20};
    const uint64_t sum = plain_sum(&plan);
    (void)signal(SIGXFSZ, SIG_IGN);
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    const struct rlimit low = {5 << 20, old.rlim_max};
    for (unsigned keep = 0; keep < 2; keep++) {
        struct unseen_list_build *b = NULL;
        struct unseen_list_build_options options = options_of(&plan);
        options.keep = keep;
        CHECK(unseen_list_build_create(&b, path, &options, &error) == UNSEEN_OK);
        CHECK(add_keys(b, 0, 100000, &error) == UNSEEN_OK);
        CHECK(checkpoint(b, 100000, &error) == (keep ? UNSEEN_OK : UNSEEN_ERR_ARGUMENT));
        CHECK(setrlimit(RLIMIT_FSIZE, &low) == 0);
        CHECK(add_keys(b, 100000, plan.n, &error) == UNSEEN_ERR_IO);
        CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
        CHECK(add_keys(b, 0, 1, &error) == UNSEEN_ERR_STOPPED);
        CHECK(!keep || checkpoint(b, 100000, &error) == UNSEEN_ERR_STOPPED);
        CHECK(unseen_list_build_finish(b, NULL, NULL, &error) == UNSEEN_ERR_STOPPED);
        unseen_list_build_free(b);
        CHECK(access(path, F_OK) != 0);
        if (keep) {
            CHECK(unseen_list_build_resume(&b, path, &options, &note, &error) == UNSEEN_OK);
            CHECK(add_keys(b, load_le64(note.data), plan.n, &error) == UNSEEN_OK);
            CHECK(unseen_list_build_finish(b, NULL, NULL, &error) == UNSEEN_OK);
            unseen_list_build_free(b);
            CHECK_EQ(file_sum(), sum);
            CHECK(unlink(path) == 0);
        }
    }
}

/* On a full disk: the error says how much is needed, if that can be known; and with more space the
 * build goes on from where it was. */
static void test_full_disk(void)
{
    struct unseen_error error = {.text = ""};
    for (unsigned known = 0; known < 2; known++) {
        const struct plan plan = {
            .n = 300000, .every = 20000, .memory = 1 << 20, .capacity = known ? 300000 : 0};
        const uint64_t sum = plain_sum(&plan);
        for (unsigned kib = 64; kib <= 8192; kib *= 2) {
            char size[32];
            snprintf(size, sizeof(size), "size=%uk", kib);
            if (mount("tmpfs", work, "tmpfs", 0, size) != 0) {
                test_skip("right to mount a small disk");
                return;
            }
            const enum unseen_status status = go_on(&plan, UINT64_MAX, &error);
            CHECK(status == (kib < 2048 ? UNSEEN_ERR_IO : status));
            CHECK(status == (kib > 6000 ? UNSEEN_OK : status));
            if (status != UNSEEN_OK) {
                CHECK(strstr(error.text, work) != NULL);
                CHECK(!known || strstr(error.text, "MiB are needed") != NULL ||
                      strstr(error.text, "state") != NULL);
                CHECK(mount("tmpfs", work, "tmpfs", MS_REMOUNT, "size=16m") == 0);
                CHECK(go_on(&plan, UINT64_MAX, &error) == UNSEEN_OK);
            }
            CHECK_EQ(file_sum(), sum);
            CHECK(unlink(path) == 0);
            CHECK_EQ(test_folder_count(work), 0);
            CHECK(umount(work) == 0);
        }
    }
}

int main(void)
{
    test_start();
    test_folder_make(folder, sizeof(folder), "resume");
    snprintf(work, sizeof(work), "%s/work", folder);
    snprintf(path, sizeof(path), "%s/a.list", folder);
    snprintf(keys_path, sizeof(keys_path), "%s/keys", work);
    snprintf(state_path, sizeof(state_path), "%s/state", work);
    CHECK(mkdir(work, 0700) == 0);
    test_options();
    test_interrupted();
    test_repeats();
    test_notes();
    test_complete();
    test_damage();
    test_forged();
    test_damaged_spill();
    test_memory();
    test_stopped();
    test_full_disk();
    CHECK(rmdir(work) == 0);
    CHECK(rmdir(folder) == 0);
    return test_end();
}
