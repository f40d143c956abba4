/* SPDX-License-Identifier: MIT
 *
 * Helpers that the tests of the set share: numbered keys, checks of the inside of a compact filter
 * by the simplest means, and a set's export kept in memory. */
#ifndef UNSEEN_TESTS_SET_CHECK_H
#define UNSEEN_TESTS_SET_CHECK_H

#include "hash/chunk_file.h"
#include "test.h"

#include "hash/checksum.h"
#include "set/set.h"
#include "tags/compact.h"

/* Key number i: 128 random-looking bits, different for each i. */
static inline struct unseen_key test_key(uint64_t i)
{
    uint64_t low = i;
    uint64_t high = ~i;
    return (struct unseen_key){test_random(&low), test_random(&high)};
}

/* A rate for each width of tags. */
static const double test_fprs[COMPACT_WIDTHS] = {2e-6, UNSEEN_FPR_DEFAULT, 1e-12};

static inline struct compact *test_compact(const struct unseen_set *set, size_t shard)
{
    return (struct compact *)(void *)set->shards[shard].filter;
}

/* ---- the structure ---- */

/* The page and lines of a key, by the description in compact.h. */
struct test_place {
    const struct compact_group *group;
    const uint8_t *page;
    unsigned low;
    unsigned line[2];
    uint64_t rest; /* the path below the group's prefix */
};

static inline struct test_place test_place_of(const struct compact *c, struct unseen_key key)
{
    struct test_place place;
    unsigned home = (unsigned)(key.lo >> (6 + c->layout->low_bits)) % 8;
    place.low = (unsigned)(key.lo >> 6) % (1u << c->layout->low_bits);
    const unsigned r = place.low % (1u << c->layout->r_bits);
    place.group = compact_find(c, compact_path(c, key));
    unsigned page = compact_page_of(c->layout, place.group->npages, home, r);
    place.page = compact_page(c, place.group->page[page]);
    place.line[0] = key.lo % 64;
    place.line[1] = place.line[0] ^ compact_offset(r, c->layout->r_bits);
    place.rest = compact_path(c, key) << place.group->depth;
    return place;
}

static inline uint32_t test_v(const struct compact *c, const uint8_t *line, unsigned slot)
{
    uint32_t word = compact_word(line, slot);
    return c->layout->v_bits == 32 ? word : word & 0xffffff;
}

/* Returns how many tags a key matches. */
static inline unsigned test_matches(const struct compact *c, struct unseen_key key)
{
    struct test_place place = test_place_of(c, key);
    unsigned n = 0;
    for (unsigned side = 0; side < 2; side++) {
        const uint8_t *line = place.page + (size_t)place.line[side] * COMPACT_LINE;
        for (unsigned slot = 0; slot < c->layout->slots; slot++) {
            if (compact_low(c->layout->width, line, slot) != place.low) {
                continue;
            }
            uint32_t v = test_v(c, line, slot);
            if (v == 0) {
                continue;
            }
            /* All bits above the end mark. */
            unsigned shift = (unsigned)__builtin_ctz(v) + 1;
            uint64_t want = place.rest >> (64 - c->layout->v_bits);
            n += (uint64_t)v >> shift == want >> shift;
        }
    }
    return n;
}

static inline bool test_all_zero(const uint8_t *line)
{
    uint64_t words[COMPACT_LINE / 8];
    uint64_t all = 0;
    memcpy(words, line, sizeof(words));
    for (size_t i = 0; i < COMPACT_LINE / 8; i++) {
        all |= words[i];
    }
    return all == 0;
}

/* Counts the tags of a page into generations. Returns false if the page is invalid. */
static inline bool test_page_sound(const struct compact *c, const struct compact_group *group,
                                   unsigned page, uint64_t *generations)
{
    uint64_t full = 0;
    bool ok = true;
    for (unsigned l = 0; l < COMPACT_LINES; l++) {
        const uint8_t *line = compact_page(c, group->page[page]) + (size_t)l * COMPACT_LINE;
        unsigned ntags = 0;
        if (test_all_zero(line)) {
            continue; /* no tag; most lines of small sets */
        }
        for (unsigned slot = 0; slot < c->layout->slots; slot++) {
            uint32_t v = test_v(c, line, slot);
            if (compact_word(line, slot) == 0) {
                continue;
            }
            unsigned len = c->layout->v_bits - 1 - (v ? (unsigned)__builtin_ctz(v) : 0);
            const unsigned r =
                compact_low(c->layout->width, line, slot) % (1u << c->layout->r_bits);
            ok = ok && v != 0 && (v & (c->mark - 1)) == 0 &&
                 compact_home_of(c->layout, group->npages, page, r) < 8;
            generations[group->depth + len]++;
            ntags++;
        }
        full |= (uint64_t)(ntags == c->layout->slots) << l;
    }
    /* A bit may stay set after a removal; a full line always has its bit. */
    return ok && (full & ~*compact_full(c, group->page[page])) == 0;
}

/* The invariants of a compact filter: each page is in use once, or free; each tag is where its
 * remainder belongs; the full map, the counts and the generations agree with a recount. */
static inline bool test_compact_sound(const struct compact *c)
{
    uint64_t generations[COMPACT_GENERATIONS + 32] = {0};
    uint64_t ngroups = 0;
    uint64_t npages = 0;
    uint64_t ntags = 0;
    uint64_t path = 0;
    bool ok = true;
    uint8_t *used = calloc(c->next_page, 1);
    if (!used) {
        abort();
    }
    do {
        size_t copies;
        const struct compact_group *entries = unseen__compact_directory_find(c, path, &copies);
        struct compact_group group = *entries;
        for (size_t i = 1; i < copies; i++) {
            ok = ok && memcmp(&entries[i], &group, sizeof(group)) == 0;
        }
        for (unsigned p = 0; p < group.npages; p++) {
            ok = ok && group.page[p] < c->next_page && !used[group.page[p]]++ &&
                 test_page_sound(c, &group, p, generations);
        }
        ngroups++;
        npages += group.npages;
        path += group.depth ? (uint64_t)1 << (64 - group.depth) : 0;
    } while (path && ok);
    for (size_t i = 0; i < c->nfree; i++) {
        ok = ok && c->free_pages[i] < c->next_page && !used[c->free_pages[i]]++;
    }
    for (uint32_t i = 0; i < c->next_page; i++) {
        const size_t at = i % COMPACT_CHUNK_PAGES;
        ok = ok && used[i] == (at != 0 && at < compact_chunk_pages(c, i / COMPACT_CHUNK_PAGES));
    }
    free(used);
    for (unsigned i = 0; i < COMPACT_GENERATIONS; i++) {
        ntags += generations[i];
        ok = ok && generations[i] == c->generations[i];
    }
    for (size_t i = 0; i < c->stash.nkeys; i++) {
        ntags += c->stash.counts ? c->stash.counts[i] : 1;
    }
    return ok && ngroups == c->ngroups && npages == c->npages && c->nkeys == ntags;
}

static inline bool test_set_sound(const struct unseen_set *set)
{
    bool ok = true;
    for (size_t i = 0; i < (size_t)1 << set->shard_bits; i++) {
        ok = ok && test_compact_sound(test_compact(set, i));
    }
    return ok;
}

/* ---- exports ---- */

/* The chunks of an export, one after the other. */
struct test_image {
    uint8_t *bytes;
    size_t len;
    size_t *end; /* where chunk i ends */
    size_t n;
};

/* The chunks that `next` gives. */
static inline struct test_image test_export_by(unseen__chunk_next *next,
                                               const struct unseen_set *set)
{
    static uint8_t buf[UNSEEN_CHUNK_MAX];
    struct test_image image = {0};
    uint64_t cursor = 0;
    for (;;) {
        size_t len = 0;
        if (next(set, &cursor, buf, sizeof(buf), &len) != UNSEEN_OK) {
            abort();
        }
        if (len == 0) {
            return image;
        }
        image.bytes = realloc(image.bytes, image.len + len);
        image.end = realloc(image.end, (image.n + 1) * sizeof(*image.end));
        if (!image.bytes || !image.end) {
            abort();
        }
        memcpy(image.bytes + image.len, buf, len);
        image.len += len;
        image.end[image.n++] = image.len;
    }
}

static inline struct test_image test_export(const struct unseen_set *set)
{
    return test_export_by(unseen__set_next_chunk, set);
}

static inline void test_image_free(struct test_image *image)
{
    free(image->bytes);
    free(image->end);
    *image = (struct test_image){0};
}

static inline uint8_t *test_chunk(const struct test_image *image, size_t i, size_t *len_out)
{
    size_t start = i ? image->end[i - 1] : 0;
    *len_out = image->end[i] - start;
    return image->bytes + start;
}

static inline bool test_same_image(const struct test_image *a, const struct test_image *b)
{
    return a->n == b->n && a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

static inline enum unseen_status test_import_chunk(struct unseen_import *import,
                                                   const struct test_image *image, size_t i)
{
    size_t len;
    const uint8_t *chunk = test_chunk(image, i, &len);
    return unseen_import_chunk(import, chunk, len);
}

/* Imports the chunks in order. */
static inline enum unseen_status test_import(const struct test_image *image,
                                             const struct unseen_set_options *options,
                                             struct unseen_set **set_out)
{
    struct unseen_import *import;
    enum unseen_status status = unseen_import_create(&import, options, NULL);
    if (status != UNSEEN_OK) {
        return status;
    }
    for (size_t i = 0; i < image->n; i++) {
        status = test_import_chunk(import, image, i);
        if (status != UNSEEN_OK) {
            unseen_import_free(import);
            return status;
        }
    }
    return unseen_import_finish(import, set_out);
}

/* The set that the chunks make, for so many threads; NULL if they are refused. */
static inline struct unseen_set *test_import_set(const struct test_image *image, unsigned threads)
{
    const struct unseen_set_options options = {
        .size = sizeof(options), .profile = "none", .cpu = test_cpu, .threads = threads};
    struct unseen_set *set = NULL;
    return test_import(image, &options, &set) == UNSEEN_OK ? set : NULL;
}

/* True if the exports of both sets are the same to the byte. */
static inline bool test_same_export(const struct unseen_set *a, const struct unseen_set *b)
{
    struct test_image x = test_export(a);
    struct test_image y = test_export(b);
    const bool same = test_same_image(&x, &y);
    test_image_free(&x);
    test_image_free(&y);
    return same;
}

/* An export is refused if a bit of its bytes is changed: tried at every step'th byte. */
static inline void test_flips_refused(const struct test_image *image, size_t step, uint8_t bit)
{
    for (size_t at = 0; at < image->len; at += step) {
        image->bytes[at] ^= bit;
        struct unseen_set *back = test_import_set(image, 1);
        CHECK(back == NULL);
        unseen_set_free(back);
        image->bytes[at] ^= bit;
    }
}

/* Imports each chunk of a set as soon as it is exported. *copy_out is NULL unless all goes well. */
static inline enum unseen_status test_copy(const struct unseen_set *set,
                                           const struct unseen_set_options *options,
                                           struct unseen_set **copy_out)
{
    static uint8_t chunk[UNSEEN_CHUNK_MAX];
    struct unseen_import *import = NULL;
    uint64_t cursor = 0;
    size_t len = 1;
    *copy_out = NULL;
    enum unseen_status status = unseen_import_create(&import, options, NULL);
    while (status == UNSEEN_OK && len > 0) {
        if (unseen_set_export(set, &cursor, chunk, sizeof(chunk), &len) != UNSEEN_OK) {
            abort();
        }
        status = len > 0 ? unseen_import_chunk(import, chunk, len)
                         : unseen_import_finish(import, copy_out);
    }
    if (status != UNSEEN_OK && len > 0) {
        unseen_import_free(import);
    }
    return status;
}

/* Corrects the checksum of a changed chunk. */
static inline void test_repair(uint8_t *chunk, size_t len)
{
    if (len >= 8) {
        store_le64(chunk + len - 8, unseen__checksum(chunk, len - 8));
    }
}

#endif
