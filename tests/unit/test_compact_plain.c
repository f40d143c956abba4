/* SPDX-License-Identifier: MIT
 *
 * The portable level is written twice: with SSE2 where the base instruction set has it, and in
 * plain C, which is what other processors run. Here the plain one is built beside the normal one
 * and both get the same lines and the same keys; so does the level under test. */
#define UNSEEN_PLAIN_C
#define KERNEL(name) name##_plain

#include "set_check.h"

#include "base/memory.h"

extern const struct compact_kernel unseen__compact_32_plain;
extern const struct compact_kernel unseen__compact_39_plain;
extern const struct compact_kernel unseen__compact_51_plain;

#include "tags/compact_portable.c"

static const struct compact_kernel *const plains[COMPACT_WIDTHS] = {
    &unseen__compact_32_plain, &unseen__compact_39_plain, &unseen__compact_51_plain};

static const struct compact_kernel *kernel_of(enum compact_width width, enum unseen_cpu cpu)
{
    static const struct compact_kernel *const portable[COMPACT_WIDTHS] = {
        &unseen__compact_32_portable, &unseen__compact_39_portable, &unseen__compact_51_portable};
#if UNSEEN_X86
    if (cpu >= UNSEEN_CPU_AVX2) {
        static const struct compact_kernel *const avx2[COMPACT_WIDTHS] = {
            &unseen__compact_32_avx2, &unseen__compact_39_avx2, &unseen__compact_51_avx2};
        return avx2[width];
    }
#endif
    (void)cpu;
    return portable[width];
}

/* ---- pages of any bytes ---- */

/* Random words, of which many are 0, short or equal in their top bits. */
static void random_page(uint8_t *page, uint64_t *random)
{
    for (size_t at = 0; at < COMPACT_PAGE; at += 4) {
        uint64_t x = test_random(random);
        uint32_t word = (uint32_t)(x >> 32);
        switch (x % 6) {
        case 0:
            word = 0;
            break;
        case 1:
            word = 1u << (x >> 8) % 32;
            break;
        case 2:
            word &= 0xff000000u;
            break;
        case 3:
            word = UINT32_MAX;
            break;
        default:
            break;
        }
        store_le32(page + at, word);
    }
}

/* The places are those of the chosen slots, in order. */
static void check_places(const uint16_t *slots, const uint16_t *places, size_t n)
{
    size_t i = 0;
    for (unsigned place = 0; place < COMPACT_LINES * 16; place++) {
        if (slots[place / 16] >> place % 16 & 1) {
            CHECK(i < n && places[i] == place);
            i++;
        }
    }
    CHECK_EQ(i, n);
}

static void check_page(enum compact_width width, const struct compact_kernel *kernel,
                       uint64_t *random)
{
    const struct compact_kernel *plain = plains[width];
    const unsigned nslots = width == COMPACT_32 ? 16 : width == COMPACT_39 ? 13 : 10;
    const uint32_t slots = (1u << nslots) - 1;
    static uint8_t page[COMPACT_PAGE];
    static uint8_t copy[COMPACT_PAGE];
    uint16_t got[COMPACT_LINES];
    uint16_t want[COMPACT_LINES];
    uint16_t copied[COMPACT_PLACES];
    random_page(page, random);
    for (unsigned line = 0; line < COMPACT_LINES; line++) {
        const uint8_t *bytes = page + (size_t)line * COMPACT_LINE;
        const uint32_t v = load_le32(bytes);
        const struct compact_lanes x = kernel->compare(bytes, v);
        const struct compact_lanes y = plain->compare(bytes, v);
        CHECK_EQ(x.empty & slots, y.empty & slots);
        CHECK_EQ(x.match & slots, y.match & slots);
    }
    for (unsigned i = 0; i < 8; i++) {
        unsigned n = width ? 128 : 256;
        unsigned first = (unsigned)test_random(random) % n;
        unsigned count = i == 0 ? 0 : i == 1 ? n : (unsigned)test_random(random) % n;
        uint16_t places[COMPACT_PLACES];
        const size_t nplaces = kernel->leaving(page, first, count, got, places);
        CHECK_EQ(plain->leaving(page, first, count, want, copied), nplaces);
        CHECK(memcmp(got, want, sizeof(got)) == 0);
        CHECK(memcmp(places, copied, nplaces * sizeof(*places)) == 0);
        check_places(got, places, nplaces);
        for (unsigned line = 0; line < COMPACT_LINES; line++) {
            const uint8_t *bytes = page + (size_t)line * COMPACT_LINE;
            for (unsigned slot = 0; slot < nslots; slot++) {
                bool in = compact_word(bytes, slot) != 0 &&
                          ((compact_low(width, bytes, slot) - first) & (n - 1)) < count;
                CHECK(in == (got[line] >> slot & 1));
            }
        }
        memcpy(copy, page, sizeof(copy));
        kernel->erase(page, got);
        plain->erase(copy, got);
        CHECK(memcmp(copy, page, sizeof(copy)) == 0);
    }
}

/* A key matches a word when the word has a 1 bit and all bits above its lowest agree. */
static void check_compare(uint64_t *random)
{
    uint8_t line[COMPACT_LINE];
    for (int round = 0; round < 2000; round++) {
        uint32_t v = (uint32_t)test_random(random);
        for (unsigned slot = 0; slot < 16; slot++) {
            uint64_t x = test_random(random);
            uint32_t mark = 1u << (x >> 8) % 32;
            uint32_t word = (v & ~(2 * mark - 1)) | mark;
            word ^= x % 3 == 0 ? 1u << (x >> 16) % 32 : 0;
            store_le32(line + 4 * slot, x % 7 == 0 ? 0 : word);
        }
        struct compact_lanes lanes = KERNEL(compare_line)(line, v);
        for (unsigned slot = 0; slot < 16; slot++) {
            uint32_t word = compact_word(line, slot);
            unsigned shift = word ? (unsigned)__builtin_ctz(word) + 1 : 0;
            bool match = word && (uint64_t)word >> shift == (uint64_t)v >> shift;
            CHECK(match == (lanes.match >> slot & 1));
            CHECK((word == 0) == (lanes.empty >> slot & 1));
        }
    }
    for (uint32_t bits = 0; bits < 1u << 16; bits++) {
        CHECK(KERNEL(count)(bits) == (unsigned)__builtin_popcount(bits));
    }
}

/* ---- whole sets ---- */

static struct compact *make(enum compact_width width, unsigned cut,
                            const struct compact_kernel *kernel)
{
    struct unseen__filter_params params = {
        .fpr = test_fprs[width],
        .cpu = UNSEEN_CPU_PORTABLE,
        .allocator = unseen__allocator(NULL),
    };
    struct unseen__filter *filter = NULL;
    if (unseen__compact_create_cut(&filter, &params, cut) != UNSEEN_OK) {
        exit(2);
    }
    struct compact *c = (struct compact *)(void *)filter;
    c->kernel = kernel;
    return c;
}

enum {
    NKEYS = 40000,
    BATCH = 200
};

static void add(struct compact *c, const struct unseen_key *keys, size_t n, uint8_t *verdicts,
                size_t step)
{
    for (size_t i = 0; i < n; i += step) {
        size_t ndone;
        CHECK(c->kernel->add(c, keys + i, step, verdicts + i, &ndone) == UNSEEN_OK);
        CHECK_EQ(ndone, step);
    }
}

static void contains(const struct compact *c, const struct unseen_key *keys, size_t n,
                     uint8_t *verdicts, size_t step)
{
    for (size_t i = 0; i < n; i += step) {
        c->kernel->contains(c, keys + i, step, verdicts + i);
    }
}

static void remove_keys(struct compact *c, const struct unseen_key *keys, size_t n,
                        uint8_t *verdicts, size_t step)
{
    for (size_t i = 0; i < n; i += step) {
        c->kernel->remove(c, keys + i, step, verdicts + i);
    }
}

/* The same answers and the same bytes after adds and removes. The normal level gets `step` keys at
 * a time. */
static void check_sets(enum compact_width width, unsigned cut, size_t step)
{
    struct compact *normal = make(width, cut, kernel_of(width, test_cpu));
    struct compact *plain = make(width, cut, plains[width]);
    struct unseen_key keys[BATCH];
    uint8_t a[BATCH];
    uint8_t b[BATCH];
    for (uint64_t at = 0; at < 3 * NKEYS; at += BATCH) {
        for (size_t i = 0; i < BATCH; i++) {
            keys[i] = test_key(at < 2 * NKEYS ? (at + i) * 5 % NKEYS : at + i);
        }
        if (at / BATCH % 4 == 3) {
            remove_keys(normal, keys, BATCH, a, step);
            remove_keys(plain, keys, BATCH, b, BATCH);
        } else {
            add(normal, keys, BATCH, a, step);
            add(plain, keys, BATCH, b, BATCH);
        }
        CHECK(memcmp(a, b, BATCH) == 0);
        contains(normal, keys, BATCH, a, step);
        contains(plain, keys, BATCH, b, BATCH);
        CHECK(memcmp(a, b, BATCH) == 0);
    }
    CHECK(test_compact_sound(normal) && test_compact_sound(plain));
    CHECK_EQ(normal->nkeys, plain->nkeys);
    static uint8_t x[UNSEEN_CHUNK_MAX];
    static uint8_t y[UNSEEN_CHUNK_MAX];
    uint64_t at_x = 0;
    uint64_t at_y = 0;
    size_t len;
    do {
        len = unseen__compact_save_piece(&normal->filter, &at_x, x);
        CHECK_EQ(len, unseen__compact_save_piece(&plain->filter, &at_y, y));
        CHECK(memcmp(x, y, len) == 0);
    } while (len);
    normal->filter.ops->free(&normal->filter);
    plain->filter.ops->free(&plain->filter);
}

int main(void)
{
    test_start();
    uint64_t random = 11;
    check_compare(&random);
    for (enum compact_width width = 0; width < COMPACT_WIDTHS; width++) {
        for (int i = 0; i < 20; i++) {
            check_page(width, kernel_of(width, test_cpu), &random);
            check_page(width, kernel_of(width, UNSEEN_CPU_PORTABLE), &random);
        }
        for (size_t step = 1; step <= BATCH; step += BATCH - 1) {
            check_sets(width, 0, step);
            check_sets(width, width ? 24 : 16, step);
        }
    }
    return test_end();
}
