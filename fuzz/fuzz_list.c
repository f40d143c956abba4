/* SPDX-License-Identifier: MIT
 *
 * Hostile files of lists. The input changes a few bytes of a small list, or its length; the target
 * corrects the checksums of header and sections. Then the file is opened and asked. Answers may be
 * wrong, but nothing outside of the file is read, all levels give the same answers, and verify
 * notices every change behind the header. The first byte chooses the list and the checksums to
 * correct; each 6 bytes that follow are a change. */
#include "target.h"
#include "test.h"

#include <fcntl.h>

#include "base/bytes.h"
#include "hash/checksum.h"
#include "list/list_format.h"
#include "list_keys.h"
#include "pool.h"
#include <unseen_list.h>

enum {
    NLISTS = 4,
    NKEYS = 300,
    CHANGES_MAX = 16,
    PROFILE_SUM_PLACE = 4080,
    SUM_PLACE = 4088,
    PROFILE_PLACE = 4096
};

static const struct {
    uint64_t nkeys;
    double fpr;
} lists[NLISTS] = {{100, 1e-4}, {3600, 1e-4}, {9000, 1e-2}, {3000, 1e-9}};

struct file {
    uint8_t *bytes;
    size_t len;
};

static char path[64];

static struct file read_file(void)
{
    struct file file = {malloc((size_t)1 << 20), 0};
    const int fd = open(path, O_RDONLY);
    require(file.bytes != NULL && fd >= 0);
    const ssize_t len = read(fd, file.bytes, (size_t)1 << 20);
    require(len > 0 && close(fd) == 0);
    file.len = (size_t)len;
    return file;
}

static struct file make_list(unsigned number)
{
    struct unseen_list_build *build = NULL;
    struct unseen_error error;
    const uint64_t seed = number;
    const struct unseen_list_build_options options = {.size = sizeof(options),
                                                      .fpr = lists[number].fpr,
                                                      .memory = 1 << 20,
                                                      .seed = &seed,
                                                      .seed_len = sizeof(seed),
                                                      .profile = "none"};
    require(unseen_list_build_create(&build, path, &options, &error) == UNSEEN_OK);
    for (uint64_t i = 0; i < lists[number].nkeys; i++) {
        uint64_t state = i;
        const uint64_t key = test_random(&state);
        require(unseen_list_build_add_keys(build, &key, 1, &error) == UNSEEN_OK);
    }
    require(unseen_list_build_finish(build, NULL, NULL, &error) == UNSEEN_OK);
    unseen_list_build_free(build);
    return read_file();
}

static void make_sums_right(uint8_t *bytes, size_t len)
{
    struct unseen__list_header header;
    struct unseen__list_offsets offsets;
    if (len < UNSEEN__LIST_HEADER_LEN) {
        return;
    }
    store_le64(bytes + PROFILE_SUM_PLACE,
               unseen__checksum(bytes + PROFILE_PLACE, UNSEEN__LIST_HEADER_LEN - PROFILE_PLACE));
    store_le64(bytes + SUM_PLACE, unseen__checksum(bytes, SUM_PLACE));
    if (unseen__list_header_decode(bytes, &header) == UNSEEN_OK &&
        unseen__list_offsets(&header, &offsets) && offsets.end == len) {
        store_le64(bytes + 120,
                   unseen__checksum(bytes + offsets.table, offsets.leftover - offsets.table));
        store_le64(bytes + 128,
                   unseen__checksum(bytes + offsets.leftover, offsets.groups - offsets.leftover));
        store_le64(bytes + SUM_PLACE, unseen__checksum(bytes, SUM_PLACE));
    }
}

static struct test_allocator counting;

static void ask(enum unseen_list_access access, uint8_t verdicts[NKEYS], bool *opens,
                bool *is_intact)
{
    struct unseen_list *list = NULL;
    struct unseen_error error = {.status = UNSEEN_OK};
    enum unseen_cpu level = UNSEEN_CPU_PORTABLE;
    uint64_t keys[NKEYS];
    const struct unseen_allocator allocator = {pool_alloc, pool_free, &counting};
    const struct unseen_list_options options = {
        .size = sizeof(options), .access = access, .allocator = &allocator};
    *opens = unseen_list_open(&list, path, &options, &error) == UNSEEN_OK;
    *is_intact = false;
    require(*opens == (error.status == UNSEEN_OK));
    if (!*opens) {
        return;
    }
    *is_intact = unseen_list_verify(list, &error) == UNSEEN_OK;
    for (uint64_t i = 0; i < NKEYS; i++) {
        uint64_t state = i;
        keys[i] = test_random(&state);
    }
    keys[0] = 0;
    keys[1] = UINT64_MAX;
    list_contains_keys(list, keys, NKEYS, verdicts);
    for (size_t i = 0; i < NKEYS; i++) {
        uint8_t verdict;
        list_contains_keys(list, keys + i, 1, &verdict);
        require(verdict == verdicts[i]);
    }
    unseen_list_close(list);
    for (unsigned k = UNSEEN_CPU_PORTABLE; k <= UNSEEN_CPU_AVX2; k++) {
        uint8_t others[NKEYS];
        struct unseen_list_options slow = options;
        slow.cpu = (enum unseen_cpu)k;
        if (unseen__cpu_select(slow.cpu, &level, NULL) != UNSEEN_OK) {
            continue;
        }
        require(unseen_list_open(&list, path, &slow, &error) == UNSEEN_OK);
        list_contains_keys(list, keys, NKEYS, others);
        require(memcmp(others, verdicts, NKEYS) == 0);
        unseen_list_close(list);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct file bases[NLISTS];
    if (size < 1) {
        return 0;
    }
    if (!path[0]) {
        snprintf(path, sizeof(path), "%s/unseen-fuzz-list-%ld",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
    }
    struct file *base = &bases[data[0] % NLISTS];
    if (!base->bytes) {
        *base = make_list(data[0] % NLISTS);
    }
    size_t len = base->len;
    uint8_t *bytes = malloc(len);
    require(bytes != NULL);
    memcpy(bytes, base->bytes, len);
    for (size_t at = 1, n = 0; at + 6 <= size && n < CHANGES_MAX; at += 6, n++) {
        size_t place = load_le32(data + at) >> 2;
        /* every second change is in a field of the header */
        place %= data[at] & 1 ? (data[at] & 2 ? 128u : 800u) : base->len;
        bytes[place] ^= data[at + 4];
        if (data[at + 5] == 0xff) {
            len = load_le32(data + at) % (base->len + 1);
        }
    }
    const bool is_changed = len != base->len || memcmp(bytes, base->bytes, len) != 0;
    if (data[0] & 16) {
        make_sums_right(bytes, len);
    }
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    require(fd >= 0 && write(fd, bytes, len) == (ssize_t)len && close(fd) == 0);
    uint8_t warm[NKEYS];
    uint8_t loaded[NKEYS];
    bool opens[2];
    bool is_intact[2];
    ask(UNSEEN_LIST_MAP_PREFETCH, warm, &opens[0], &is_intact[0]);
    ask(UNSEEN_LIST_READ, loaded, &opens[1], &is_intact[1]);
    require(opens[0] == opens[1] && is_intact[0] == is_intact[1]);
    require(!opens[0] || memcmp(warm, loaded, NKEYS) == 0);
    require(is_changed || is_intact[0]);
    require(!is_changed || !is_intact[0] || data[0] & 16);
    require(counting.nlive == 0);
    require(unlink(path) == 0);
    free(bytes);
    return 0;
}
