/* SPDX-License-Identifier: MIT
 *
 * Hostile exports. Byte 0 chooses a genuine export (the low 3 bits: of the compact filter; the high
 * 3 bits: of another filter) and the number of threads. Each 6 bytes that follow are one change to
 * the export: a chunk, an offset, an action and a value. The target corrects the checksums, and on
 * demand the number of keys, so that damage gets past the checksum. The import must either refuse,
 * or give a set that works: the set is used, exported and imported again. A file of the chunks
 * gives the same set, or none. The rest of an input is also imported as a chunk, as it is. */
#include "set_check.h"

#include <sys/mman.h>

#include "pool.h"
#include "target.h"

enum {
    NBASES = 8,
    NFAMILIES = 6,
    FRAME = 24,
    PIECE_HEAD = 16,
    CHANGES_MAX = 100,
    HEADER_NKEYS = FRAME + 24
};

static const uint64_t seed_1 = 1;

/* The genuine exports, made once: two widths; empty, one group, several groups, and one with keys
 * that collide (deep groups, stash keys). */
static struct test_image make_base(unsigned number)
{
    static const uint64_t nkeys[4] = {0, 3000, 12000, 500};
    const bool wide = number & 1;
    struct unseen_set_options options = {.size = sizeof(options),
                                         .profile = "none",
                                         .fpr = wide ? UNSEEN_FPR_DEFAULT : 2e-6,
                                         .seed = &seed_1,
                                         .seed_len = sizeof(seed_1)};
    struct unseen_set *set;
    require(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
    for (uint64_t i = 0; i < nkeys[number / 2]; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict;
        if (number / 2 == 3) {
            key = (struct unseen_key){0x1234, (uint64_t)0x5B << 56 | i << 40};
        }
        require(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    }
    struct test_image image = test_export(set);
    unseen_set_free(set);
    return image;
}

/* Exports of the other filters, few and many pieces. */
static const char *const families[NFAMILIES] = {NULL,    "bloom",          "block",
                                                "exact", "scalable-count", "counting"};

static struct test_image make_family(unsigned family, unsigned number)
{
    const uint64_t nkeys = number & 1 ? 10000 : 300;
    struct unseen_set_options options = {.size = sizeof(options),
                                         .profile = "none",
                                         .fpr = number & 2 ? 1e-2 : 1e-4,
                                         .capacity = nkeys,
                                         .filter = families[family],
                                         .threads = number & 4 ? 2 : 1,
                                         .seed = &seed_1,
                                         .seed_len = sizeof(seed_1)};
    struct test_image image = {0};
    struct unseen_set *set;
    if (unseen_set_create(&set, &options, NULL) != UNSEEN_OK) {
        return image;
    }
    /* Of items that come often the filter keeps counts. */
    const uint64_t nitems = strcmp(options.filter, "scalable-count") == 0 ? nkeys / 10 : nkeys;
    for (uint64_t i = 0; i < nkeys; i++) {
        struct unseen_key key = test_key(i % nitems);
        uint8_t verdict;
        require(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    }
    image = test_export(set);
    unseen_set_free(set);
    return image;
}

/* A copy of an export, with room for two chunks more. */
struct lie {
    size_t n;
    size_t len[64];
    uint8_t *chunk[64];
};

static uint8_t *copy_of(const uint8_t *bytes, size_t len)
{
    uint8_t *copy = pool_get(len, POOL_ALIGN);
    require(copy != NULL);
    if (len) {
        memcpy(copy, bytes, len);
    }
    return copy;
}

static void lie_start(struct lie *lie, const struct test_image *base)
{
    lie->n = 0;
    for (size_t i = 0; i < base->n && i < 64; i++) {
        const uint8_t *chunk = test_chunk(base, i, &lie->len[i]);
        lie->chunk[lie->n++] = copy_of(chunk, lie->len[i]);
    }
}

static void chunk_free(struct lie *lie, size_t i)
{
    pool_put(lie->chunk[i], lie->len[i], POOL_ALIGN);
}

static void lie_free(struct lie *lie)
{
    for (size_t i = 0; i < lie->n; i++) {
        chunk_free(lie, i);
    }
}

static void exchange(struct lie *lie, size_t i, size_t k)
{
    uint8_t *chunk = lie->chunk[i];
    size_t len = lie->len[i];
    lie->chunk[i] = lie->chunk[k];
    lie->len[i] = lie->len[k];
    lie->chunk[k] = chunk;
    lie->len[k] = len;
}

/* The payload gets another length: cut, or with zeros behind. */
static void resize(struct lie *lie, size_t i, size_t payload_len)
{
    size_t len = FRAME + payload_len + 8;
    uint8_t *chunk = pool_get(len, POOL_ALIGN);
    require(chunk != NULL);
    memset(chunk, 0, len);
    memcpy(chunk, lie->chunk[i], len < lie->len[i] ? len : lie->len[i]);
    store_le32(chunk + 4, (uint32_t)payload_len);
    chunk_free(lie, i);
    lie->chunk[i] = chunk;
    lie->len[i] = len;
}

static void change(struct lie *lie, const uint8_t *code)
{
    if (lie->n == 0) {
        return;
    }
    size_t i = code[0] % lie->n;
    size_t at = load_le16(code + 1);
    uint16_t value = load_le16(code + 4);
    uint8_t *chunk = lie->chunk[i];
    size_t len = lie->len[i];
    if (len < FRAME + 16) {
        return;
    }
    size_t place = FRAME + at % (len - FRAME - 8);
    switch (code[3] % 8) {
    case 0:
        chunk[place] = (uint8_t)value;
        break;
    case 1:
        chunk[place] ^= (uint8_t)value;
        break;
    case 2: /* a word */
        place = FRAME + PIECE_HEAD + at / 4 * 4 % (len - FRAME - 8);
        if (place + 4 <= len - 8) {
            store_le32(chunk + place, (uint32_t)value << (code[3] >> 4) | (uint32_t)value << 24);
        }
        break;
    case 3: /* a line full of one value */
        place = FRAME + PIECE_HEAD + at / 64 * 64 % (len - FRAME - 8);
        for (size_t k = 0; k < 13 && place + 64 <= len - 8; k++) {
            store_le32(chunk + place + 4 * k, (uint32_t)value << (code[3] >> 3) | 1);
        }
        break;
    case 4:
        if (at % 4 == 0) {
            resize(lie, i, value % 61500);
        } else {
            chunk[FRAME + at % 24 % (len - FRAME - 8)] = (uint8_t)value;
        }
        break;
    case 5:
        exchange(lie, i, value % lie->n);
        break;
    case 6:
        if (lie->n < 64) {
            lie->chunk[lie->n] = copy_of(chunk, len);
            lie->len[lie->n++] = len;
        }
        break;
    default:
        exchange(lie, i, lie->n - 1);
        chunk_free(lie, --lie->n);
    }
}

static bool is_kind(const struct lie *lie, size_t i, const char *kind)
{
    return lie->len[i] >= FRAME + 16 && memcmp(lie->chunk[i], kind, 4) == 0;
}

/* Tags and keys in a piece, as its own length says. */
static uint64_t count_keys(const uint8_t *piece, size_t len, unsigned nslots)
{
    uint64_t n = 0;
    if (piece[0] == 2) {
        return load_le32(piece + 4);
    }
    /* Behind the pages is a word for each of them. */
    const size_t npages = len > PIECE_HEAD ? (len - PIECE_HEAD) / (COMPACT_PAGE + 8) : 0;
    for (size_t at = PIECE_HEAD; at < PIECE_HEAD + npages * COMPACT_PAGE; at += 64) {
        for (unsigned slot = 0; slot < nslots; slot++) {
            n += load_le32(piece + at + 4 * slot) != 0;
        }
    }
    return n;
}

/* Writes the true number of keys into header and end mark. */
static void repair_count(struct lie *lie)
{
    unsigned nslots = 16;
    uint64_t nkeys = 0;
    for (size_t i = 0; i < lie->n; i++) {
        if (is_kind(lie, i, "UNSH") && lie->len[i] > FRAME + 80) {
            const uint8_t width = lie->chunk[i][FRAME + 80];
            nslots = width == 2 ? 13 : width == 3 ? 10 : 16;
        }
    }
    for (size_t i = 0; i < lie->n; i++) {
        if (is_kind(lie, i, "UNSP")) {
            nkeys += count_keys(lie->chunk[i] + FRAME, lie->len[i] - FRAME - 8, nslots);
        }
    }
    for (size_t i = 0; i < lie->n; i++) {
        if (is_kind(lie, i, "UNSH") && lie->len[i] >= HEADER_NKEYS + 16) {
            store_le64(lie->chunk[i] + HEADER_NKEYS, nkeys);
        } else if (is_kind(lie, i, "UNSE")) {
            store_le64(lie->chunk[i] + FRAME, nkeys);
        }
    }
}

static struct unseen_set *import_lie(const struct lie *lie,
                                     const struct unseen_set_options *options)
{
    struct unseen_import *import;
    struct unseen_set *set = NULL;
    require(unseen_import_create(&import, options, NULL) == UNSEEN_OK);
    for (size_t i = 0; i < lie->n; i++) {
        test_repair(lie->chunk[i], lie->len[i]);
        if (unseen_import_chunk(import, lie->chunk[i], lie->len[i]) != UNSEEN_OK) {
            unseen_import_free(import);
            return NULL;
        }
    }
    enum unseen_status status = unseen_import_finish(import, &set);
    require((status == UNSEEN_OK) == (set != NULL));
    return set;
}

/* Loads a file of the chunks. `set` is what the import has made of them. */
static void load_lie(const struct lie *lie, const struct unseen_set_options *options,
                     const struct unseen_set *set, bool is_genuine)
{
    char path[40];
    struct unseen_set *loaded = NULL;
    const int fd = memfd_create("lie", MFD_CLOEXEC);
    require(fd >= 0);
    for (size_t i = 0; i < lie->n; i++) {
        require(write(fd, lie->chunk[i], lie->len[i]) == (ssize_t)lie->len[i]);
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    const enum unseen_status status = unseen_set_load(&loaded, path, options, NULL);
    require((status == UNSEEN_OK) == (loaded != NULL));
    require(loaded || !is_genuine);
    /* A set with another URL identity can be loaded, and not be imported without it. */
    if (loaded && (set || strcmp(unseen_set_profile(loaded), "none/1") == 0)) {
        require(set && unseen__set_nkeys(loaded) == unseen__set_nkeys(set));
    }
    unseen_set_free(loaded);
    require(close(fd) == 0);
}

static bool has_stash(const struct unseen_set *set)
{
    bool has = false;
    for (size_t i = 0; i < (size_t)1 << set->shard_bits; i++) {
        has = has || test_compact(set, i)->stash.nkeys;
    }
    return has;
}

/* A copy of a set has as many keys, and exports as many bytes; the same bytes if the caller says
 * so, otherwise perhaps in another order. A copy in more shards has more pieces of stash keys: a
 * lie may say that the groups are few. */
static void check_copy(const struct unseen_set *set, const struct unseen_set_options *options,
                       bool same_bytes)
{
    static uint8_t chunks[2][UNSEEN_CHUNK_MAX];
    uint64_t cursors[2] = {0, 0};
    size_t lens[2] = {1, 1};
    uint64_t totals[2] = {0, 0};
    struct unseen_set *copy;
    require(test_copy(set, options, &copy) == UNSEEN_OK);
    require(unseen__set_nkeys(copy) == unseen__set_nkeys(set));
    const bool same_shards = copy->shard_bits == set->shard_bits;
    while (lens[0] + lens[1] > 0) {
        for (int i = 0; i < 2; i++) {
            require(lens[i] == 0 || unseen_set_export(i ? copy : set, &cursors[i], chunks[i],
                                                      sizeof(chunks[i]), &lens[i]) == UNSEEN_OK);
            totals[i] += lens[i];
        }
        require(!same_shards || (lens[0] == 0) == (lens[1] == 0));
        require(!same_bytes || (lens[0] == lens[1] && memcmp(chunks[0], chunks[1], lens[0]) == 0));
    }
    require(!same_shards || totals[0] == totals[1]);
    unseen_set_free(copy);
}

/* Adds the keys of all bases and more keys, removes a part, exports, and imports the export. */
static void use(struct unseen_set *set, const struct unseen_set_options *options)
{
    struct unseen_key keys[64];
    uint8_t verdicts[64];
    require(test_set_sound(set));
    for (uint64_t at = 0; at < 512; at += 64) {
        for (uint64_t i = 0; i < 64; i++) {
            keys[i] = at < 256 ? test_key(at + i)
                               : (struct unseen_key){0x1234, (uint64_t)0x5B << 56 | (at + i) << 40};
        }
        require(unseen_set_add_keys(set, keys, 64, verdicts, NULL) == UNSEEN_OK);
        require(unseen_set_contains_keys(set, keys, 64, verdicts, NULL) == UNSEEN_OK);
        require(memchr(verdicts, UNSEEN_NEW, 64) == NULL);
        if (at % 256 == 64) {
            require(unseen_set_remove_keys(set, keys, 64, verdicts, NULL) == UNSEEN_OK);
        }
    }
    require(test_set_sound(set));
    /* Stash keys may come in another order. */
    check_copy(set, options, !has_stash(set));
}

/* The same for another filter. */
static void use_family(struct unseen_set *set, const struct unseen_set_options *options)
{
    struct unseen_key keys[64];
    uint8_t verdicts[64];
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    for (uint64_t at = 0; at < 512; at += 64) {
        for (uint64_t i = 0; i < 64; i++) {
            keys[i] = test_key(at + i);
        }
        enum unseen_status status = unseen_set_add_keys(set, keys, 64, verdicts, NULL);
        if (status == UNSEEN_ERR_NOMEM) {
            break;
        }
        require(status == UNSEEN_OK);
        require(unseen_set_contains_keys(set, keys, 64, verdicts, NULL) == UNSEEN_OK);
        require(memchr(verdicts, UNSEEN_NEW, 64) == NULL);
        status = unseen_set_remove_keys(set, keys, at % 256 == 64 ? 64 : 0, verdicts, NULL);
        require(status == UNSEEN_OK || status == UNSEEN_ERR_UNSUPPORTED);
    }
    require(unseen_set_stats(set, &stats) == UNSEEN_OK);
    check_copy(set, options, false);
}

/* A chunk may ask for any size. */
static void *limited_alloc(void *context, size_t size, size_t align)
{
    return size > (size_t)1 << 24 ? NULL : pool_alloc(context, size, align);
}

static void import_raw(const uint8_t *data, size_t size)
{
    struct unseen_import *import;
    require(unseen_import_create(&import, NULL, NULL) == UNSEEN_OK);
    (void)unseen_import_chunk(import, data, size);
    unseen_import_free(import);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct test_image bases[NFAMILIES][NBASES];
    if (size < 1) {
        return 0;
    }
    const unsigned family = (data[0] >> 5) % NFAMILIES;
    const unsigned number = data[0] % NBASES;
    struct test_image *base = &bases[family][number];
    if (!base->n) {
        *base = family ? make_family(family, number) : make_base(number);
    }
    if (!base->n) {
        return 0; /* this build lacks the filter, or it promises no such rate */
    }
    struct test_allocator counting = {0};
    const struct unseen_allocator allocator = {limited_alloc, pool_free, &counting};
    struct unseen_set_options options = {.size = sizeof(options),
                                         .profile = "none",
                                         .threads = data[0] & 8 ? 2 : 1,
                                         .allocator = &allocator};
    struct lie lie;
    lie_start(&lie, base);
    for (size_t at = 1, n = 0; at + 6 <= size && n < CHANGES_MAX; at += 6, n++) {
        change(&lie, data + at);
    }
    if (!family && data[0] & 16) {
        repair_count(&lie);
    }
    struct unseen_set *set = import_lie(&lie, &options);
    require(size >= 7 || set != NULL); /* unchanged */
    load_lie(&lie, &options, set, size < 7);
    if (set && strcmp(set->ops->name, "compact") == 0) {
        use(set, &options);
    } else if (set) {
        use_family(set, &options);
    }
    unseen_set_free(set);
    require(counting.nlive == 0);
    lie_free(&lie);
    import_raw(data, size);
    return 0;
}
