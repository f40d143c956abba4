/* SPDX-License-Identifier: MIT
 *
 * Export and import: the same set comes back, whatever the order of chunks and the number of
 * threads; what is missing, doubled, cut or changed is refused; and a chunk that lies but has the
 * right checksum can at worst make a wrong set, never a crash (run with a sanitizer). */
#include "set_check.h"

#include <time.h>

#include "hash/checksum.h"
#include "tags/compact_moves.h"

static const uint64_t seed_1 = 1;
static struct test_allocator counting;
static const struct unseen_allocator allocator = {test_alloc, test_free, &counting};

static struct unseen_set_options options_of(double fpr, unsigned threads)
{
    return (struct unseen_set_options){.size = sizeof(struct unseen_set_options),
                                       .profile = "none",
                                       .fpr = fpr,
                                       .seed = &seed_1,
                                       .seed_len = sizeof(seed_1),
                                       .threads = threads,
                                       .cpu = test_cpu,
                                       .allocator = &allocator};
}

/* Keys 0 to nkeys, of which every fifth is removed again. */
static struct unseen_set *make(double fpr, unsigned threads, uint64_t nkeys)
{
    struct unseen_set_options options = options_of(fpr, threads);
    struct unseen_set *set = NULL;
    if (unseen_set_create(&set, &options, NULL) != UNSEEN_OK) {
        fprintf(stderr, "no set\n");
        exit(2);
    }
    for (uint64_t i = 0; i < nkeys; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict;
        CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    }
    for (uint64_t i = 0; i < nkeys; i += 5) {
        struct unseen_key key = test_key(i);
        uint8_t verdict;
        CHECK(unseen_set_remove_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    }
    return set;
}

static void check_members(const struct unseen_set *set, uint64_t nkeys)
{
    uint64_t nwrong = 0;
    for (uint64_t i = 0; i < nkeys; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict;
        CHECK(unseen_set_contains_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
        nwrong += verdict != (i % 5 ? UNSEEN_SEEN : UNSEEN_NEW);
    }
    CHECK_EQ(nwrong, 0);
    CHECK(test_set_sound(set));
}

/* ---- round trip ---- */

static void check_round(double fpr, unsigned from, unsigned to, uint64_t nkeys)
{
    struct unseen_set *set = make(fpr, from, nkeys);
    struct test_image image = test_export(set);
    struct unseen_set_options options = options_of(0.5, to);
    options.seed = NULL; /* it comes with the header */
    struct unseen_set *copy = NULL;
    if (CHECK(test_import(&image, &options, &copy) == UNSEEN_OK)) {
        check_members(copy, nkeys);
        struct test_image again = test_export(copy);
        /* With the same number of filters, the same chunks; else the same but for the header. */
        CHECK(copy->shard_bits != set->shard_bits || test_same_image(&image, &again));
        CHECK_EQ(again.len, image.len);
        CHECK_EQ(again.n, image.n);
        test_image_free(&again);
        /* It goes on as the original does. */
        for (uint64_t i = nkeys; i < nkeys + 20000; i++) {
            struct unseen_key key = test_key(i);
            uint8_t a;
            uint8_t b;
            CHECK(unseen_set_add_keys(set, &key, 1, &a, NULL) == UNSEEN_OK);
            CHECK(unseen_set_add_keys(copy, &key, 1, &b, NULL) == UNSEEN_OK);
            CHECK_EQ(a, b);
        }
        CHECK(test_set_sound(copy));
        struct unseen_set_stats x = {.size = sizeof(x)};
        struct unseen_set_stats y = {.size = sizeof(y)};
        CHECK(unseen_set_stats(set, &x) == UNSEEN_OK && unseen_set_stats(copy, &y) == UNSEEN_OK);
        CHECK_EQ(x.nkeys, y.nkeys);
        CHECK(x.fpr_promise == y.fpr_promise);
        CHECK(x.fpr_estimate <= y.fpr_estimate * 1.001 && y.fpr_estimate <= x.fpr_estimate * 1.001);
        struct unseen_key k1 = unseen_set_identity_key(set, "a", 1);
        struct unseen_key k2 = unseen_set_identity_key(copy, "a", 1);
        CHECK(k1.lo == k2.lo && k1.hi == k2.hi);
    }
    unseen_set_free(copy);
    unseen_set_free(set);
    test_image_free(&image);
    CHECK_EQ(counting.nlive, 0);
}

/* The export of the set makes a sound set for so many threads. Frees the set. */
static void check_comes_back(struct unseen_set *set, unsigned threads)
{
    struct test_image image = test_export(set);
    struct unseen_set *copy = NULL;
    struct unseen_set_options options = options_of(0, threads);
    CHECK(test_import(&image, &options, &copy) == UNSEEN_OK);
    CHECK(copy && test_set_sound(copy));
    unseen_set_free(copy);
    unseen_set_free(set);
    test_image_free(&image);
    CHECK_EQ(counting.nlive, 0);
}

/* A set of several filters of which the first is deeper than the others. */
static void check_uneven(double fpr)
{
    struct unseen_set *set = make(fpr, 2, 0);
    uint64_t nadded = 0;
    for (uint64_t i = 0; nadded < 60000; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict;
        if (key.hi >> (64 - set->shard_bits) == 0 || i % 64 == 0) {
            CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
            nadded++;
        }
    }
    CHECK(compact_find(test_compact(set, 0), 0)->depth >= 2);
    CHECK(compact_find(test_compact(set, 1), 0)->depth == 0);
    check_comes_back(set, 32);
}

/* Tags that are void and were copied: a set made of them comes back, too. */
static void check_void(void)
{
    struct unseen_set *set = make(2e-6, 1, 0);
    struct unseen__filter_params params = {
        .fpr = 2e-6, .cpu = test_cpu, .allocator = set->allocator};
    set->ops->free(set->shards[0].filter);
    CHECK(unseen__compact_create_cut(&set->shards[0].filter, &params, 20) == UNSEEN_OK);
    for (uint64_t i = 0; i < 100000; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict;
        CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    }
    check_comes_back(set, 2);
}

/* ---- the bytes, read as docs/format.md says, with none of the filter's code ---- */

static bool tag_agrees(const uint8_t *line, unsigned slot, enum compact_width width, unsigned low,
                       uint64_t path)
{
    uint32_t word = load_le32(line + 4 * slot);
    uint32_t v = width ? word : word & 0xffffff;
    unsigned v_bits = width ? 32 : 24;
    unsigned tag_low = word >> 24;
    if (width) {
        const unsigned len = width == COMPACT_39 ? 7 : 19;
        tag_low = 0;
        for (unsigned bit = 0; bit < len; bit++) {
            const unsigned at =
                width == COMPACT_39 ? 52 * 8 + len * slot + bit : 40 * 8 + 2 + len * slot + bit;
            tag_low |= (unsigned)(line[at / 8] >> at % 8 & 1) << bit;
        }
    }
    if (v == 0 || tag_low != low) {
        return false;
    }
    unsigned mark = 0;
    while (!(v >> mark & 1)) {
        mark++;
    }
    for (unsigned bit = v_bits - 1; bit > mark; bit--) {
        if ((v >> bit & 1) != (path >> (63 - (v_bits - 1 - bit)) & 1)) {
            return false;
        }
    }
    return true;
}

static bool group_has(const uint8_t *piece, enum compact_width width, struct unseen_key key)
{
    unsigned depth = piece[1];
    unsigned npages = piece[2];
    unsigned r_bits = width ? 7 : 8;
    unsigned low_bits = width == COMPACT_51 ? 19 : r_bits;
    unsigned low = (unsigned)(key.lo >> 6) % (1u << low_bits);
    unsigned r = low % (1u << r_bits);
    unsigned home = (unsigned)(key.lo >> (6 + low_bits)) % 8;
    uint32_t moves = width ? compact_moves_128[npages - 8][r] : compact_moves_256[npages - 8][r];
    const uint8_t *page = piece + 16 + (size_t)4096 * (moves >> (4 * home) & 15);
    unsigned a = key.lo % 64;
    unsigned b = a ^ (1 + (63 * r >> r_bits));
    for (unsigned slot = 0; slot < (width == COMPACT_32   ? 16
                                    : width == COMPACT_39 ? 13u
                                                          : 10u);
         slot++) {
        if (tag_agrees(page + (size_t)64 * a, slot, width, low, key.hi << depth) ||
            tag_agrees(page + (size_t)64 * b, slot, width, low, key.hi << depth)) {
            return true;
        }
    }
    return false;
}

static bool image_has(const struct test_image *image, struct unseen_key key)
{
    size_t len;
    const enum compact_width width = test_chunk(image, 0, &len)[24 + 80] - 1u;
    for (size_t i = 1; i + 1 < image->n; i++) {
        const uint8_t *piece = test_chunk(image, i, &len) + 24;
        unsigned depth = piece[1];
        if (piece[0] == 1 && (depth == 0 || (key.hi ^ load_le64(piece + 8)) >> (64 - depth) == 0)) {
            return group_has(piece, width, key);
        }
    }
    return false;
}

static void check_format(double fpr, unsigned threads)
{
    struct unseen_set *set = make(fpr, threads, 50000);
    struct test_image image = test_export(set);
    uint64_t nwrong = 0;
    for (uint64_t i = 0; i < 50000; i++) {
        nwrong += image_has(&image, test_key(i)) != (i % 5 != 0);
        nwrong += image_has(&image, test_key(i + 1000000));
    }
    CHECK_EQ(nwrong, 0);
    for (size_t i = 0; i < image.n; i++) {
        size_t len;
        const uint8_t *chunk = test_chunk(&image, i, &len);
        CHECK(memcmp(chunk, i == 0 ? "UNSH" : i + 1 < image.n ? "UNSP" : "UNSE", 4) == 0);
        CHECK_EQ(load_le32(chunk + 4), len - 32);
        CHECK_EQ(load_le64(chunk + len - 8), XXH3_64bits(chunk, len - 8));
    }
    test_image_free(&image);
    unseen_set_free(set);
}

/* ---- order, gaps, repeats ---- */

static enum unseen_status import_order(const struct test_image *image, const size_t *order,
                                       size_t n)
{
    struct unseen_set_options options = options_of(0, 1);
    struct unseen_import *import = NULL;
    struct unseen_set *copy = NULL;
    enum unseen_status status = unseen_import_create(&import, &options, NULL);
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        status = test_import_chunk(import, image, order[i]);
    }
    if (status == UNSEEN_OK) {
        status = unseen_import_finish(import, &copy);
    } else {
        /* Once refused, it stays refused. */
        CHECK(test_import_chunk(import, image, 0) == UNSEEN_ERR_CORRUPT);
        if (n % 2) {
            CHECK(unseen_import_finish(import, &copy) == UNSEEN_ERR_CORRUPT);
        } else {
            unseen_import_free(import);
        }
    }
    CHECK((status == UNSEEN_OK) == (copy != NULL));
    if (copy) {
        struct test_image again = test_export(copy);
        CHECK(test_same_image(image, &again));
        test_image_free(&again);
    }
    unseen_set_free(copy);
    CHECK_EQ(counting.nlive, 0);
    return status;
}

/* In an empty set, only the prefixes say that a group is missing or there twice. */
static void check_order(double fpr, bool is_empty)
{
    enum {
        MAX = 64
    };
    struct unseen_set *set = make(fpr, 1, is_empty ? 0 : 40000);
    CHECK(unseen_set_reserve(set, 40000) == UNSEEN_OK);
    struct test_image image = test_export(set);
    size_t order[MAX];
    unseen_set_free(set);
    size_t n = image.n;
    CHECK(n > 5 && n < MAX - 1);
    uint64_t random = 5;
    for (size_t round = 0; round < 20; round++) {
        for (size_t i = 0; i < n; i++) {
            order[i] = i;
        }
        for (size_t i = n - 1; i > 1; i--) {
            size_t k = 1 + test_random(&random) % i;
            size_t swap = order[i];
            order[i] = order[k];
            order[k] = swap;
        }
        CHECK(import_order(&image, order, n) == UNSEEN_OK);
        /* One missing, then one twice. */
        size_t lost = order[round % n];
        size_t last = order[n - 1];
        order[round % n] = last;
        CHECK(import_order(&image, order, n - 1) == UNSEEN_ERR_CORRUPT);
        order[round % n] = lost;
        order[n] = order[round % n];
        CHECK(import_order(&image, order, n + 1) == UNSEEN_ERR_CORRUPT);
    }
    order[0] = 1;
    order[1] = 0;
    CHECK(import_order(&image, order, n) == UNSEEN_ERR_CORRUPT);
    CHECK(import_order(&image, order, 0) == UNSEEN_ERR_CORRUPT);
    test_image_free(&image);
}

/* The first piece of y must not go into an import of x. */
static void check_mix(const struct test_image *x, const struct test_image *y)
{
    struct unseen_set_options options = options_of(0, 1);
    struct unseen_import *import = NULL;
    CHECK(unseen_import_create(&import, &options, NULL) == UNSEEN_OK);
    CHECK(test_import_chunk(import, x, 0) == UNSEEN_OK);
    CHECK(test_import_chunk(import, y, 1) == UNSEEN_ERR_MISMATCH);
    unseen_import_free(import);
}

static void change_one(struct unseen_set *set, bool adds, uint64_t number)
{
    const struct unseen_key key = test_key(number);
    uint8_t verdict = 9;
    if (adds) {
        CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    } else {
        CHECK(unseen_set_remove_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    }
    CHECK_EQ(verdict, adds ? UNSEEN_NEW : UNSEEN_SEEN);
}

/* Chunks of two exports do not mix: not of sets with one seed and equally many keys, and not of one
 * set before and after changes, even if it has the same keys again. Two exports of a set that did
 * not change are one. */
static void check_mixed(void)
{
    struct unseen_set *set = make(0, 1, 1000);
    struct unseen_set *other = make(0, 1, 1002);
    struct test_image first = test_export(set);
    struct test_image again = test_export(set);
    struct test_image larger = test_export(other);
    CHECK(test_same_image(&first, &again));
    check_mix(&first, &larger);
    check_mix(&larger, &first);
    unseen_set_free(other);

    other = make(0, 1, 999);
    change_one(other, true, 5000);
    struct test_image as_many = test_export(other);
    check_mix(&first, &as_many);

    change_one(set, false, 1);
    change_one(set, true, 1);
    struct test_image same_keys = test_export(set);
    check_mix(&first, &same_keys);

    /* The generation comes with an import. */
    struct unseen_set *copy = NULL;
    const struct unseen_set_options options = options_of(0, 1);
    CHECK(test_import(&same_keys, &options, &copy) == UNSEEN_OK);
    change_one(set, true, 6000);
    change_one(copy, true, 6000);
    struct test_image x = test_export(set);
    struct test_image y = test_export(copy);
    CHECK(test_same_image(&x, &y));

    struct test_image *images[] = {&first, &again, &larger, &as_many, &same_keys, &x, &y};
    for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
        test_image_free(images[i]);
    }
    unseen_set_free(copy);
    unseen_set_free(set);
    unseen_set_free(other);
    CHECK_EQ(counting.nlive, 0);
}

/* ---- damage ---- */

/* Imports chunks 0 to i, the last one from these bytes. */
static enum unseen_status import_changed(const struct test_image *image, size_t i,
                                         const uint8_t *chunk, size_t len)
{
    struct unseen_set_options options = options_of(0, 1);
    struct unseen_import *import = NULL;
    enum unseen_status status = unseen_import_create(&import, &options, NULL);
    for (size_t k = 0; k < i && status == UNSEEN_OK; k++) {
        status = test_import_chunk(import, image, k);
    }
    CHECK(status == UNSEEN_OK);
    status = unseen_import_chunk(import, chunk, len);
    unseen_import_free(import);
    return status;
}

/* Every bit of a small export, and every length of its chunks: refused. */
static void check_damage(void)
{
    struct unseen_set *set = make(2e-6, 1, 100);
    struct test_image image = test_export(set);
    uint64_t naccepted = 0;
    unseen_set_free(set);
    for (size_t i = 0; i < image.n; i++) {
        size_t len;
        const uint8_t *chunk = test_chunk(&image, i, &len);
        uint8_t *copy = malloc(len);
        struct unseen_set_options options = options_of(0, 1);
        if (!copy) {
            exit(2);
        }
        memcpy(copy, chunk, len);
        /* A refused import is over: one for the header, and then one for each changed bit. */
        for (size_t bit = 0; bit < 8 * len; bit++) {
            struct unseen_import *import = NULL;
            CHECK(unseen_import_create(&import, &options, NULL) == UNSEEN_OK);
            if (i > 0) {
                /* The frame is checked before anything else: no header needed for a piece. */
                CHECK(bit % 4096 != 0 || test_import_chunk(import, &image, 0) == UNSEEN_OK);
            }
            copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
            naccepted += unseen_import_chunk(import, copy, len) == UNSEEN_OK;
            copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
            unseen_import_free(import);
        }
        for (size_t cut = 0; cut < len; cut += cut < 700 || cut + 100 > len ? 1 : 97) {
            const uint8_t *part = cut % 16 ? copy : (const uint8_t *)test_guarded(copy, cut);
            naccepted += import_changed(&image, i, part, cut) == UNSEEN_OK;
        }
        CHECK(import_changed(&image, i, copy, len) == UNSEEN_OK);
        free(copy);
    }
    CHECK_EQ(naccepted, 0);
    test_image_free(&image);
    CHECK_EQ(counting.nlive, 0);
}

/* ---- lies with the right checksum ---- */

/* Uses a set made of lies as a set would be used. */
static void use(struct unseen_set *set, uint64_t random)
{
    struct unseen_key keys[64];
    uint8_t verdicts[64];
    for (int round = 0; round < 60; round++) {
        for (size_t i = 0; i < 64; i++) {
            keys[i] = test_key(test_random(&random) % 6000);
        }
        CHECK(unseen_set_add_keys(set, keys, 64, verdicts, NULL) == UNSEEN_OK);
        CHECK(unseen_set_contains_keys(set, keys, 64, verdicts, NULL) == UNSEEN_OK);
        CHECK(memchr(verdicts, UNSEEN_NEW, 64) == NULL);
        if (round % 3 == 0) {
            CHECK(unseen_set_remove_keys(set, keys, 64, verdicts, NULL) == UNSEEN_OK);
        }
    }
    CHECK(test_set_sound(set));
    struct test_image image = test_export(set);
    test_image_free(&image);
}

/* Changes bytes of the payload, of a few places more often than of others. */
static void mutate(uint8_t *chunk, size_t len, uint64_t *random)
{
    uint8_t *payload = chunk + 24;
    size_t payload_len = len - 32;
    for (unsigned n = 1 + (unsigned)test_random(random) % 3; n; n--) {
        uint64_t x = test_random(random);
        size_t range = x % 4 == 0 ? payload_len : x % 4 == 1 ? 24 : 16;
        size_t at = (size_t)(x >> 32) % (range < payload_len ? range : payload_len);
        if (x % 8 == 1 && payload_len > 32) {
            at = payload_len - 1 - (size_t)(x >> 32) % 32;
        }
        uint8_t values[4] = {(uint8_t)(x >> 8), 0, 0xff, (uint8_t)(1u << (x >> 8) % 8)};
        payload[at] = x >> 16 & 1 ? values[(x >> 20) % 4] : payload[at] ^ values[(x >> 20) % 4];
    }
}

static void check_lies(double fpr, unsigned threads, int nrounds)
{
    struct unseen_set *set = make(fpr, 1, 9000);
    struct test_image image = test_export(set);
    uint64_t random = 17;
    unsigned long naccepted = 0;
    unsigned long nrefused = 0;
    unseen_set_free(set);
    for (int round = 0; round < nrounds; round++) {
        struct test_image lie = {.len = image.len, .end = image.end, .n = image.n};
        lie.bytes = malloc(image.len);
        if (!lie.bytes) {
            exit(2);
        }
        memcpy(lie.bytes, image.bytes, image.len);
        size_t len;
        uint8_t *chunk = test_chunk(&lie, (size_t)round % lie.n, &len);
        mutate(chunk, len, &random);
        test_repair(chunk, len);
        struct unseen_set_options options = options_of(0, threads);
        struct unseen_set *copy = NULL;
        enum unseen_status status = test_import(&lie, &options, &copy);
        CHECK((status == UNSEEN_OK) == (copy != NULL));
        naccepted += copy != NULL;
        nrefused += copy == NULL;
        if (copy) {
            use(copy, random);
        }
        unseen_set_free(copy);
        free(lie.bytes);
        CHECK_EQ(counting.nlive, 0);
    }
    CHECK(naccepted > 0 && nrefused > 0);
    printf("lies: %lu accepted, %lu refused\n", naccepted, nrefused);
    test_image_free(&image);
}

/* A page with every slot full of tags that may stand there: adding to it must make room. */
static void check_full_pages(double fpr)
{
    struct unseen_set *set = make(fpr, 1, 0);
    const struct compact *c = test_compact(set, 0);
    const enum compact_width width = c->layout->width;
    const unsigned slots = c->layout->slots;
    struct test_image image = test_export(set);
    size_t len;
    uint8_t *chunk = test_chunk(&image, 1, &len);
    uint64_t random = 21;
    for (unsigned p = 0; p < 8; p++) {
        for (unsigned l = 0; l < COMPACT_LINES; l++) {
            uint8_t *line = chunk + 24 + 16 + (size_t)p * COMPACT_PAGE + (size_t)l * COMPACT_LINE;
            for (unsigned slot = 0; slot < slots; slot++) {
                uint32_t word = (uint32_t)test_random(&random) | 1;
                compact_put(width, line, slot, word, word >> (32 - c->layout->low_bits));
            }
        }
    }
    test_repair(chunk, len);
    /* The map of full lines, behind the pages, must name them all, or a tag would be moved
     * there. */
    CHECK(import_changed(&image, 1, chunk, len) == UNSEEN_ERR_CORRUPT);
    memset(chunk + 24 + 16 + (size_t)8 * COMPACT_PAGE, 0xff, (size_t)8 * 8);
    test_repair(chunk, len);
    /* The number of keys stands in the header and in the end mark, and the id is theirs. */
    uint64_t nkeys = (uint64_t)8 * COMPACT_LINES * slots;
    chunk = test_chunk(&image, 0, &len);
    store_le64(chunk + 24 + 24, nkeys);
    test_repair(chunk, len);
    chunk = test_chunk(&image, 2, &len);
    store_le64(chunk + 24, nkeys);
    test_repair(chunk, len);
    struct unseen_set_options options = options_of(0, 1);
    struct unseen_set *copy = NULL;
    CHECK(test_import(&image, &options, &copy) == UNSEEN_OK);
    if (copy) {
        CHECK(test_set_sound(copy));
        use(copy, 1);
    }
    unseen_set_free(copy);
    unseen_set_free(set);
    test_image_free(&image);
    CHECK_EQ(counting.nlive, 0);
}

/* An empty set with a byte of its group changed: the answer to its piece. */
static enum unseen_status import_group_with(size_t at, uint8_t value)
{
    struct unseen_set *set = make(0, 1, 0);
    struct test_image image = test_export(set);
    size_t len;
    uint8_t *chunk = test_chunk(&image, 1, &len);
    chunk[24 + at] = value;
    test_repair(chunk, len);
    enum unseen_status status = import_changed(&image, 1, chunk, len);
    test_image_free(&image);
    unseen_set_free(set);
    return status;
}

static void check_impossible_groups(void)
{
    CHECK(import_group_with(0, 1) == UNSEEN_OK);
    CHECK(import_group_with(1, 200) == UNSEEN_ERR_CORRUPT); /* depth */
    CHECK(import_group_with(2, 9) == UNSEEN_ERR_CORRUPT);   /* pages: not as many as there are */
    CHECK(import_group_with(3, 1) == UNSEEN_ERR_CORRUPT);   /* reserved */
    CHECK(import_group_with(5, 4) == UNSEEN_OK);            /* stuck for 1,024 keys */
    CHECK(import_group_with(5, 5) == UNSEEN_ERR_CORRUPT);
    CHECK(import_group_with(6, 1) == UNSEEN_ERR_CORRUPT); /* reserved */
    CHECK(import_group_with(7, 1) == UNSEEN_ERR_CORRUPT);
    CHECK(import_group_with(8, 1) == UNSEEN_ERR_CORRUPT);       /* a prefix below depth 0 */
    CHECK(import_group_with(16 + 8 * 4096, 0xff) == UNSEEN_OK); /* full lines that have room */
}

/* An empty set with one tag put in: the answer to its piece. With a cut, bits of v below it may not
 * be used. */
static enum unseen_status import_tag(double fpr, uint32_t word, unsigned r, uint8_t unused,
                                     uint8_t cut)
{
    struct unseen_set *set = make(fpr, 1, 0);
    const enum compact_width width = test_compact(set, 0)->layout->width;
    struct test_image image = test_export(set);
    size_t len;
    uint8_t *chunk = test_chunk(&image, 0, &len);
    chunk[24 + 81] = cut;
    test_repair(chunk, len);
    chunk = test_chunk(&image, 1, &len);
    uint8_t *line = chunk + 24 + 16 + (size_t)5 * COMPACT_LINE;
    compact_put(width, line, 9, word, r);
    line[width == COMPACT_51 ? 40 : COMPACT_LINE - 1] |= unused;
    test_repair(chunk, len);
    enum unseen_status status = import_changed(&image, 1, chunk, len);
    test_image_free(&image);
    unseen_set_free(set);
    return status;
}

/* What no tag can be (docs/format.md, "Group"). */
static void check_impossible_tags(void)
{
    const double small = 2e-6;
    const double middle = UNSEEN_FPR_DEFAULT;
    const double low = 1e-12;
    CHECK(import_tag(small, 0x07000000, 7, 0, 0) == UNSEEN_ERR_CORRUPT); /* no end mark */
    CHECK(import_tag(small, 0x07000001, 7, 0, 0) == UNSEEN_OK);
    CHECK(import_tag(small, 0x07800000, 7, 0, 0) == UNSEEN_OK);
    CHECK(import_tag(middle, 0x80000000, 7, 0, 0) == UNSEEN_OK);
    CHECK(import_tag(middle, 0, 0, 0x08, 0) == UNSEEN_ERR_CORRUPT); /* the unused bits */
    CHECK(import_tag(middle, 0, 0, 0x80, 0) == UNSEEN_ERR_CORRUPT);
    CHECK(import_tag(small, 0x07000001, 7, 0, 1) == UNSEEN_ERR_CORRUPT); /* below the cut */
    CHECK(import_tag(small, 0x07000002, 7, 0, 1) == UNSEEN_OK);
    CHECK(import_tag(middle, 5, 7, 0, 1) == UNSEEN_ERR_CORRUPT);
    CHECK(import_tag(middle, 6, 7, 0, 1) == UNSEEN_OK);
    CHECK(import_tag(low, 0x80000000, 0x7ff87, 0, 0) == UNSEEN_OK);
    CHECK(import_tag(low, 0, 0x7ff87, 0, 0) == UNSEEN_OK); /* an empty slot */
    CHECK(import_tag(low, 0, 0, 1, 0) == UNSEEN_ERR_CORRUPT);
    CHECK(import_tag(low, 0, 0, 2, 0) == UNSEEN_ERR_CORRUPT);
    CHECK(import_tag(low, 0, 0, 4, 0) == UNSEEN_OK);
    CHECK(import_tag(low, 5, 7, 0, 1) == UNSEEN_ERR_CORRUPT);
    CHECK_EQ(counting.nlive, 0);
}

/* ---- what belongs to other settings, other versions ---- */

static enum unseen_status header_with(const struct test_image *image, size_t at, uint8_t value,
                                      const struct unseen_set_options *options)
{
    size_t len;
    const uint8_t *chunk = test_chunk(image, 0, &len);
    uint8_t copy[1024];
    struct unseen_import *import = NULL;
    memcpy(copy, chunk, len);
    copy[at] = value;
    test_repair(copy, len);
    CHECK(unseen_import_create(&import, options, NULL) == UNSEEN_OK);
    enum unseen_status status = unseen_import_chunk(import, copy, len);
    unseen_import_free(import);
    return status;
}

/* The places are those of docs/format.md: 24 bytes of frame, then the header's. */
static void check_header(void)
{
    struct unseen_set_options plain = options_of(0, 1);
    struct unseen_set_options with_url = options_of(0, 1);
    with_url.profile = "crawl";
    with_url.seed = "s";
    with_url.seed_len = 1;
    struct unseen_set *set = make(0, 1, 10);
    struct test_image image = test_export(set);
    CHECK(header_with(&image, 24, 0x89, &plain) == UNSEEN_OK);
    CHECK(header_with(&image, 24, 0x88, &plain) == UNSEEN_ERR_CORRUPT);
    CHECK(header_with(&image, 16, 1, &plain) == UNSEEN_ERR_CORRUPT); /* reserved */
    CHECK(header_with(&image, 24 + 8, 2, &plain) == UNSEEN_ERR_VERSION);
    CHECK(header_with(&image, 24 + 8, 0, &plain) == UNSEEN_ERR_VERSION);
    CHECK(header_with(&image, 24 + 12, 1, &plain) == UNSEEN_ERR_VERSION);
    CHECK(header_with(&image, 24 + 16, 2, &plain) == UNSEEN_ERR_VERSION);
    CHECK(header_with(&image, 24 + 64, 'C', &plain) == UNSEEN_ERR_VERSION); /* "Compact" */
    CHECK(header_with(&image, 24 + 79, 'x', &plain) == UNSEEN_ERR_CORRUPT);
    CHECK(header_with(&image, 24 + 128, 'N', &plain) == UNSEEN_ERR_MISMATCH);
    CHECK(header_with(&image, 24 + 112, 7, &plain) == UNSEEN_ERR_CORRUPT);
    CHECK(header_with(&image, 24 + 80, 4, &plain) == UNSEEN_ERR_CORRUPT);
    CHECK(header_with(&image, 24 + 81, 31, &plain) == UNSEEN_ERR_CORRUPT);
    CHECK(header_with(&image, 24 + 82, 200, &plain) == UNSEEN_ERR_CORRUPT);
    struct unseen_set *copy = NULL;
    CHECK(test_import(&image, &with_url, &copy) == UNSEEN_ERR_MISMATCH);
    test_image_free(&image);
    unseen_set_free(set);

    CHECK(unseen_set_create(&set, &with_url, NULL) == UNSEEN_OK);
    image = test_export(set);
    CHECK(test_import(&image, &plain, &copy) == UNSEEN_ERR_MISMATCH);
    CHECK(copy == NULL);
    CHECK(test_import(&image, &with_url, &copy) == UNSEEN_OK);
    CHECK(copy && strcmp(unseen_set_profile(copy), "crawl/1") == 0);
    unseen_set_free(copy);
    unseen_set_free(set);
    test_image_free(&image);
    CHECK_EQ(counting.nlive, 0);
}

/* The header of an empty set that says it has one key, this piece with a list of keys, and the
 * rest. */
static enum unseen_status import_list(const struct test_image *empty, const uint8_t *payload,
                                      size_t payload_len, struct unseen_set **set_out)
{
    struct unseen_set_options plain = options_of(0, 1);
    struct unseen_import *import = NULL;
    CHECK(unseen_import_create(&import, &plain, NULL) == UNSEEN_OK);
    enum unseen_status status = UNSEEN_OK;
    for (size_t i = 0; i < empty->n && status == UNSEEN_OK; i++) {
        uint8_t copy[UNSEEN_CHUNK_MAX];
        size_t len;
        memcpy(copy, test_chunk(empty, i, &len), empty->end[i] - (i ? empty->end[i - 1] : 0));
        if (i == 0) {
            store_le64(copy + 24 + 24, 1);
        } else if (i + 1 == empty->n) {
            store_le64(copy + 24, 1);
        }
        test_repair(copy, len);
        status = unseen_import_chunk(import, copy, len);
        if (i == 1 && status == UNSEEN_OK) {
            len = 24 + payload_len + 8;
            store_le32(copy + 4, (uint32_t)payload_len);
            memcpy(copy + 24, payload, payload_len);
            test_repair(copy, len);
            status = unseen_import_chunk(import, copy, len);
        }
    }
    if (status != UNSEEN_OK) {
        unseen_import_free(import);
        return status;
    }
    return unseen_import_finish(import, set_out);
}

/* A piece with whole keys: each reserved byte, the number and the length. */
static void check_list_piece(void)
{
    struct unseen_set *set = make(0, 1, 0);
    struct test_image empty = test_export(set);
    uint8_t payload[32] = {[0] = 2, [4] = 1};
    const struct unseen_key key = test_key(5);
    unseen_set_free(set);
    store_le64(payload + 16, key.lo);
    store_le64(payload + 24, key.hi);
    set = NULL;
    CHECK(import_list(&empty, payload, sizeof(payload), &set) == UNSEEN_OK);
    uint8_t verdict = UNSEEN_NEW;
    CHECK(set && unseen_set_contains_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    CHECK_EQ(verdict, UNSEEN_SEEN);
    unseen_set_free(set);
    for (size_t at = 0; at < 16; at++) {
        set = NULL;
        payload[at] ^= 4;
        CHECK(import_list(&empty, payload, sizeof(payload), &set) == UNSEEN_ERR_CORRUPT);
        payload[at] ^= 4;
        unseen_set_free(set);
    }
    for (size_t len = 16; len < sizeof(payload); len += 8) {
        CHECK(import_list(&empty, payload, len, &set) == UNSEEN_ERR_CORRUPT);
    }
    test_image_free(&empty);
    CHECK_EQ(counting.nlive, 0);
}

/* The parameters of the filters that are arrays of blocks, in a header with a right checksum. */
static void check_block_params(void)
{
    static const char *const filters[] = {"block", "counting"};
    for (size_t i = 0; i < 2; i++) {
        struct unseen_set_options options = options_of(1e-3, 1);
        struct unseen_set *set = NULL;
        options.filter = filters[i];
        options.capacity = 30000;
        CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
        struct test_image image = test_export(set);
        size_t len;
        const uint8_t *chunk = test_chunk(&image, 0, &len);
        const size_t params = 24 + 80; /* the frame, then the header up to the parameters */
        const size_t at_nblocks = params + 8;
        const uint64_t nblocks = load_le64(chunk + at_nblocks);
        unsigned part = 1; /* the number of blocks is a multiple of it */
        while (part < 256 && nblocks >> 7 >= part) {
            part *= 2;
        }
        CHECK(part > 1 && part < 128 && nblocks % part == 0);
        struct unseen_set_options plain = options_of(0, 1);
        const uint8_t low = chunk[at_nblocks];
        CHECK(header_with(&image, at_nblocks, low, &plain) == UNSEEN_OK);
        for (unsigned by = 1; by <= part; by++) {
            const uint8_t other = (uint8_t)(low < 128 ? low + by : low - by);
            CHECK(header_with(&image, at_nblocks, other, &plain) ==
                  (by == part ? UNSEEN_OK : UNSEEN_ERR_CORRUPT));
        }
        CHECK(header_with(&image, params, 0, &plain) == UNSEEN_ERR_CORRUPT);
        CHECK(header_with(&image, params, 2, &plain) == UNSEEN_ERR_CORRUPT);
        CHECK(header_with(&image, params + 1, 0, &plain) == UNSEEN_ERR_CORRUPT);
        CHECK(header_with(&image, params + 1, 1, &plain) == UNSEEN_OK);
        CHECK(header_with(&image, params + 1, 16, &plain) == UNSEEN_OK);
        CHECK(header_with(&image, params + 1, 17, &plain) == UNSEEN_ERR_CORRUPT);
        CHECK(header_with(&image, params + 2, 0, &plain) == UNSEEN_ERR_CORRUPT);
        CHECK(header_with(&image, params + 2, 3, &plain) == UNSEEN_ERR_CORRUPT);
        for (size_t at = params + 3; at < params + 8; at++) {
            CHECK(header_with(&image, at, 1, &plain) == UNSEEN_ERR_CORRUPT);
        }
        CHECK(header_with(&image, at_nblocks + 6, 4, &plain) == UNSEEN_ERR_CORRUPT);
        CHECK(header_with(&image, params + 31, 0x40, &plain) ==
              UNSEEN_ERR_CORRUPT); /* a rate above 1 */
        CHECK(header_with(&image, params + 31, 0xbf, &plain) == UNSEEN_ERR_CORRUPT); /* below 0 */
        test_image_free(&image);
        unseen_set_free(set);
    }
    CHECK_EQ(counting.nlive, 0);
}

/* The same for the textbook filter, which is a whole number of lines of 512 bits. */
static void check_bloom_params(void)
{
    struct unseen_set_options options = options_of(1e-3, 1);
    const struct unseen_set_options plain = options_of(0, 1);
    struct unseen_set *set = NULL;
    options.filter = "bloom";
    options.capacity = 30000;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
    struct test_image image = test_export(set);
    size_t len;
    const uint8_t *chunk = test_chunk(&image, 0, &len);
    const size_t params = 24 + 80; /* the frame, then the header up to the parameters */
    const size_t at_nbits = params + 8;
    CHECK(load_le64(chunk + at_nbits) % 512 == 0);
    CHECK(header_with(&image, at_nbits, 0, &plain) == UNSEEN_OK);
    for (unsigned nbits = 1; nbits < 256; nbits++) {
        CHECK(header_with(&image, at_nbits, (uint8_t)nbits, &plain) == UNSEEN_ERR_CORRUPT);
    }
    const uint8_t next = chunk[at_nbits + 1];
    CHECK(header_with(&image, at_nbits + 1, next ^ 1, &plain) == UNSEEN_ERR_CORRUPT);
    CHECK(header_with(&image, at_nbits + 1, next ^ 2, &plain) == UNSEEN_OK);
    for (size_t at = params + 2; at < params + 8; at++) {
        CHECK(header_with(&image, at, 1, &plain) == UNSEEN_ERR_CORRUPT);
    }
    CHECK(header_with(&image, params, 2, &plain) == UNSEEN_ERR_CORRUPT);
    CHECK(header_with(&image, params + 1, 0, &plain) == UNSEEN_ERR_CORRUPT);
    CHECK(header_with(&image, params + 31, 0x40, &plain) == UNSEEN_ERR_CORRUPT); /* above 1 */
    CHECK(header_with(&image, params + 31, 0xbf, &plain) == UNSEEN_ERR_CORRUPT); /* below 0 */
    test_image_free(&image);
    unseen_set_free(set);
    CHECK_EQ(counting.nlive, 0);
}

/* ---- the calls ---- */

static void check_calls(void)
{
    static uint8_t buf[UNSEEN_CHUNK_MAX];
    struct unseen_set *set = make(0, 1, 10);
    struct unseen_set_options options = options_of(0, 1);
    uint64_t cursor = 0;
    size_t len = 77;
    CHECK(unseen_set_export(set, &cursor, buf, UNSEEN_CHUNK_MAX - 1, &len) == UNSEEN_ERR_SPACE);
    CHECK(cursor == 0 && len == 77);
    cursor = ((uint64_t)1 << 50) + 1;
    CHECK(unseen_set_export(set, &cursor, buf, sizeof(buf), &len) == UNSEEN_ERR_ARGUMENT);
    /* A cursor from elsewhere: an answer, whatever it is, without a crash. */
    uint64_t random = 2;
    for (int i = 0; i < 2000; i++) {
        cursor = test_random(&random) >> test_random(&random) % 64;
        enum unseen_status status = unseen_set_export(set, &cursor, buf, sizeof(buf), &len);
        CHECK(status == UNSEEN_OK || status == UNSEEN_ERR_ARGUMENT);
        CHECK(len <= sizeof(buf));
    }
    struct unseen_import *import = NULL;
    options.size = 1;
    CHECK(unseen_import_create(&import, &options, NULL) == UNSEEN_ERR_SIZE);
    unseen_import_free(NULL);
    CHECK(unseen_import_create(&import, NULL, NULL) == UNSEEN_OK);
    CHECK(unseen_import_chunk(import, NULL, 0) == UNSEEN_ERR_CORRUPT);
    unseen_import_free(import);
    unseen_set_free(set);
}

/* The fastest of three exports, in processor time. */
static double export_seconds(unsigned threads)
{
    static uint8_t buf[UNSEEN_CHUNK_MAX];
    struct unseen_set_options options = options_of(1e-4, threads);
    options.filter = "block";
    options.capacity = 2000000;
    struct unseen_set *set = NULL;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
    double least = 1e9;
    for (int round = 0; round < 3; round++) {
        const clock_t start = clock();
        uint64_t cursor = 0;
        size_t len = 1;
        while (set && len && unseen_set_export(set, &cursor, buf, sizeof(buf), &len) == UNSEEN_OK) {
        }
        const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        least = seconds < least ? seconds : least;
    }
    unseen_set_free(set);
    return least;
}

/* A chunk does not cost the numbers of all filters of the set: that made 256 filters 200 times as
 * slow as one. */
static void check_cost(void)
{
    const double one = export_seconds(1);
    const double many = export_seconds(32);
    CHECK(many < 30 * one + 0.01);
}

/* The allocator is copied when the import is created: the struct may be gone afterwards. */
static void check_allocator_copied(void)
{
    struct unseen_set *set = make(0, 1, 1000);
    struct test_image image = test_export(set);
    struct unseen_allocator temporary = allocator;
    struct unseen_set_options options = options_of(0, 1);
    struct unseen_import *import = NULL;
    struct unseen_set *copy = NULL;
    options.allocator = &temporary;
    CHECK(unseen_import_create(&import, &options, NULL) == UNSEEN_OK);
    temporary.context = NULL;
    temporary.alloc = NULL;
    for (size_t i = 0; i < image.n; i++) {
        CHECK(test_import_chunk(import, &image, i) == UNSEEN_OK);
    }
    CHECK(unseen_import_finish(import, &copy) == UNSEEN_OK);
    unseen_set_free(copy);
    unseen_set_free(set);
    test_image_free(&image);
    CHECK_EQ(counting.nlive, 0);
}

static void check_nomem(unsigned threads)
{
    struct unseen_set *set = make(2e-6, 1, 100000);
    struct test_image image = test_export(set);
    struct unseen_set_options options = options_of(0, threads);
    struct unseen_set *copy = NULL;
    unsigned long nfailed = 0;
    unseen_set_free(set);
    while (!copy) {
        counting.nallocs = 0;
        counting.fail_at = ++nfailed;
        enum unseen_status status = test_import(&image, &options, &copy);
        counting.fail_at = 0;
        CHECK(status == (copy ? UNSEEN_OK : UNSEEN_ERR_NOMEM));
        CHECK(copy || counting.nlive == 0);
        if (!CHECK(nfailed < 100000)) {
            break;
        }
    }
    CHECK(nfailed > 10);
    check_members(copy, 100000);
    unseen_set_free(copy);
    test_image_free(&image);
    CHECK_EQ(counting.nlive, 0);
}

int main(void)
{
    test_start();
    check_header();
    check_list_piece();
    check_block_params();
    check_bloom_params();
    check_impossible_tags();
    check_impossible_groups();
    check_calls();
    check_allocator_copied();
    check_cost();
    check_mixed();
    check_void();
    check_damage();
    for (enum compact_width width = 0; width < COMPACT_WIDTHS; width++) {
        const double fpr = test_fprs[width];
        check_round(fpr, 1, 1, 0);
        check_round(fpr, 1, 1, 100000);
        check_round(fpr, 1, 2, 100000);
        check_round(fpr, 2, 1, 100000);
        check_round(fpr, 2, 2, 100000);
        check_round(fpr, 8, 32, 100000);
        check_uneven(fpr);
        check_format(fpr, 1);
        check_format(fpr, 2);
        check_order(fpr, false);
        check_order(fpr, true);
        check_full_pages(fpr);
        check_lies(fpr, 1, 300);
        check_lies(fpr, 2, 300);
    }
    check_nomem(1);
    check_nomem(2);
    return test_end();
}
