/* SPDX-License-Identifier: MIT
 *
 * Keys against whoever chooses the inputs: pairs of inputs built to collide, under secrets that the
 * builder does not know, and the bits of keys of structured inputs. Two faults are planted:
 * XXH3-128 with a random seed, which the pairs find, and NH without SipHash, which the statistics
 * find.
 *
 * UNSEEN_TEST_SCALE=1400 tries 10^9 pairs. */
#include "test.h"

#include <math.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bytes.h"
#include "hash/key.h"

enum {
    TEXT_MAX = 4096,
    PAIRS_PER_SECRET = 16
};

/* A way to make keys: ours, or a planted fault. */
struct subject {
    struct unseen__hasher hasher;
    uint64_t seed;
    enum {
        OURS,
        XXH3_SEEDED,
        NH_ALONE
    } which;
};

/* Another random secret. The words are drawn one by one: deriving them takes BLAKE2b 6 us. */
static void draw(struct subject *s, uint64_t *random)
{
    s->seed = test_random(random);
    if (s->which == XXH3_SEEDED) {
        return;
    }
    for (size_t i = 0; i < UNSEEN__NH_WORDS; i++) {
        s->hasher.nh[i] = test_random(random);
    }
    for (size_t i = 0; i < 4; i++) {
        s->hasher.sip[i] = test_random(random);
    }
}

static struct unseen_key key_of(const struct subject *s, const uint8_t *data, size_t len)
{
    uint64_t digest[UNSEEN__DIGEST_WORDS];
    switch (s->which) {
    case XXH3_SEEDED: {
        const XXH128_hash_t hash = XXH3_128bits_withSeed(data, len, s->seed);
        return (struct unseen_key){.lo = hash.low64, .hi = hash.high64};
    }
    case NH_ALONE:
        unseen__nh_block(&s->hasher, data, len < 1024 ? len : 1024, len < UNSEEN__NH_PAIR, digest);
        return (struct unseen_key){.lo = digest[0] ^ digest[2], .hi = digest[1] ^ digest[3]};
    case OURS:
        break;
    }
    return unseen__key(&s->hasher, data, len, 128);
}

/* ---- pairs ------------------------------------------------------------------------------------*/

struct pair {
    uint8_t a[TEXT_MAX];
    uint8_t b[TEXT_MAX];
    size_t a_len;
    size_t b_len;
};

static void fill(struct pair *p, size_t len, uint64_t *random, bool ascii)
{
    for (size_t i = 0; i < len; i++) {
        const uint64_t r = test_random(random) >> 40;
        p->a[i] = (uint8_t)(ascii ? 'a' + r % 26 : r);
    }
    memcpy(p->b, p->a, len);
    p->a_len = len;
    p->b_len = len;
}

/* XXH3 above 240 bytes: two words of one lane (8 bytes at 64 n + 8 j) whose halves differ by what
 * the sub-keys of many seeds differ by; the other halves are moved in opposite directions. */
static void make_cells(struct pair *p, uint64_t *random, size_t len, size_t n1, size_t n2, size_t j,
                       unsigned fixed, uint32_t difference)
{
    fill(p, len, random, true);
    uint8_t *const cells[2] = {p->a + 64 * n1 + 8 * j, p->a + 64 * n2 + 8 * j};
    const unsigned moved = 4 - fixed;
    const uint8_t step = (uint8_t)(1 << test_random(random) % 4);
    const size_t at = moved + test_random(random) % 4;
    const uint32_t half = load_le32(cells[0] + fixed);
    store_le32(cells[1] + fixed, half ^ difference);
    memset(cells[0] + moved, 'p', 4);
    memset(cells[1] + moved, 'o', 4);
    memcpy(p->b, p->a, len);
    p->b[cells[0] - p->a + (ptrdiff_t)at] ^= step;
    p->b[cells[1] - p->a + (ptrdiff_t)at] ^= step;
}

/* XXH3 of 17 to 240 bytes: the last two words change places, and the product of both stays. */
static void make_fold(struct pair *p, uint64_t *random)
{
    const uint64_t d = UINT64_C(0xfaff3bbb6dedeaae);
    const size_t len = test_random(random) % 2 ? 64 : 120;
    const uint64_t w = test_random(random);
    fill(p, len, random, false);
    store_le64(p->a + len - 16, w);
    store_le64(p->a + len - 8, ~w);
    store_le64(p->b + len - 16, ~w ^ d);
    store_le64(p->b + len - 8, w ^ d);
}

static void swap(uint8_t *bytes, size_t at, size_t other, size_t len)
{
    uint8_t kept[1024];
    memcpy(kept, bytes + at, len);
    memcpy(bytes + at, bytes + other, len);
    memcpy(bytes + other, kept, len);
}

static void add_to(uint8_t *word, uint64_t by)
{
    store_le64(word, load_le64(word) + by);
}

/* Two inputs of one and the same bytes, of which the second is longer. */
static void make_lengths(struct pair *p, uint64_t *random, size_t period, size_t more)
{
    const size_t len = test_random(random) % 2100;
    fill(p, len + more, random, false);
    for (size_t i = 0; i < len + more; i++) {
        p->a[i] = period ? p->a[i % period] : 0;
    }
    memcpy(p->b, p->a, len + more);
    p->a_len = len;
}

enum {
    NFAMILIES = 18
};

static void make_pair(unsigned family, struct pair *p, uint64_t *random)
{
    const uint64_t r = test_random(random);
    const uint64_t power = UINT64_C(1) << r % 64;
    const size_t piece = (r >> 8) % 30;
    const size_t other = 31 + (r >> 16) % 30;
    switch (family) {
    case 0:
        make_cells(p, random, 1000, 0, 12, 0, 0, 0x0a0a0410);
        return;
    case 1:
        make_cells(p, random, 641, 0, 8, 5, 4, 0x04240c05);
        return;
    case 2:
        make_fold(p, random);
        return;
    case 3: /* a piece of 16 bytes and its complement */
        fill(p, 16 + r % 225, random, false);
        for (size_t i = 0; i < 16; i++) {
            p->b[i] ^= 0xff;
        }
        return;
    case 4: /* the two words of a piece change places */
        fill(p, 1000, random, r & 1);
        swap(p->b, 16 * piece, 16 * piece + 8, 8);
        return;
    case 5: /* two pieces */
        fill(p, 1000, random, r & 1);
        swap(p->b, 16 * piece, 16 * other, 16);
        return;
    case 6: /* a word that makes a product 0 under a likely key, and any other beside it */
        fill(p, 1000, random, false);
        store_le64(p->a + 16 * piece, r & 64 ? 0 : UINT64_MAX);
        memcpy(p->b, p->a, 1000);
        store_le64(p->b + 16 * piece + 8, r);
        return;
    case 7: /* one lane: what one word gains another loses */
        fill(p, 1000, random, false);
        add_to(p->b + 16 * piece, power);
        add_to(p->b + 16 * other, 0 - power);
        return;
    case 8: /* both words of a piece */
        fill(p, 1000, random, false);
        add_to(p->b + 16 * piece, power);
        add_to(p->b + 16 * piece + 8, 0 - power);
        return;
    case 9: /* whole blocks change places */
        fill(p, 3000, random, false);
        swap(p->b, 0, 1024, 1024);
        return;
    case 10: /* pieces on both sides of the border of two blocks */
        fill(p, 2048, random, false);
        swap(p->b, 1008, 1024, 16);
        return;
    case 11: /* a block twice or three times */
        fill(p, 3072, random, false);
        memcpy(p->a + 1024, p->a, 1024);
        memcpy(p->a + 2048, p->a, 1024);
        memcpy(p->b, p->a, 3072);
        p->a_len = 2048;
        return;
    case 12:
        make_lengths(p, random, 0, 1);
        return;
    case 13:
        make_lengths(p, random, 16, 16);
        return;
    case 14:
        make_lengths(p, random, 1, 1 + r % 40);
        return;
    case 15: /* short inputs, and the same with zeros behind them */
        fill(p, r % 16, random, false);
        p->b_len += 1 + (r >> 8) % 16;
        memset(p->b + p->a_len, 0, p->b_len - p->a_len);
        return;
    case 16: /* a byte of the tail that is read twice */
        fill(p, 17 + r % 15, random, false);
        p->b[(r >> 8) % p->b_len] ^= (uint8_t)(1 + (r >> 16) % 255);
        return;
    default: /* one bit */
        fill(p, 1 + r % 2500, random, false);
        p->b[(r >> 16) % p->b_len] ^= (uint8_t)(1 << (r >> 40) % 8);
    }
}

/* How many of n pairs of a family collide. near_out is how many agree in the top or low 16 bits. */
static uint64_t try_pairs(struct subject *s, unsigned family, uint64_t n, uint64_t *near_out)
{
    static struct pair p;
    uint64_t random = family + 1;
    uint64_t nequal = 0;
    *near_out = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (i % PAIRS_PER_SECRET == 0 || s->which == XXH3_SEEDED) {
            draw(s, &random);
        }
        make_pair(family, &p, &random);
        if (p.a_len == p.b_len && memcmp(p.a, p.b, p.a_len) == 0) {
            continue;
        }
        const struct unseen_key a = key_of(s, p.a, p.a_len);
        const struct unseen_key b = key_of(s, p.b, p.b_len);
        nequal += a.hi == b.hi && a.lo == b.lo;
        *near_out += (a.hi ^ b.hi) >> 48 == 0;
        *near_out += ((a.lo ^ b.lo) & 0xffff) == 0;
    }
    return nequal;
}

static void check_pairs(void)
{
    const uint64_t n = 40000 * test_scale();
    struct subject *s = calloc(1, sizeof(*s));
    uint64_t near;
    for (unsigned family = 0; family < NFAMILIES; family++) {
        CHECK_EQ(try_pairs(s, family, n, &near), 0);
        const double want = 2 * (double)n / 65536;
        CHECK((double)near < want + 6 * sqrt(want) + 6);
    }
    s->which = XXH3_SEEDED;
    CHECK(try_pairs(s, 0, 40000, &near) > 0);
    CHECK(try_pairs(s, 1, 40000, &near) > 0);
    CHECK(try_pairs(s, 2, 1 << 22, &near) > 0);
    free(s);
}

/* ---- bits -------------------------------------------------------------------------------------*/

/* Whether so many of n events of probability 1/2 are likely, with 12,000 such questions asked. */
static bool is_half(uint64_t count, uint64_t n)
{
    return fabs((double)count - (double)n / 2) < 6.5 * sqrt((double)n) / 2;
}

struct bits {
    uint64_t ones[128];
    uint64_t bytes[16][256];
    uint64_t n;
};

static void count_bits(struct bits *bits, struct unseen_key key)
{
    uint8_t bytes[16];
    store_le64(bytes, key.lo);
    store_le64(bytes + 8, key.hi);
    for (unsigned i = 0; i < 128; i++) {
        bits->ones[i] += bytes[i / 8] >> i % 8 & 1;
    }
    for (unsigned i = 0; i < 16; i++) {
        bits->bytes[i][bytes[i]]++;
    }
    bits->n++;
}

/* Each bit is set half the time, and each byte has each value equally often. */
static bool are_even(const struct bits *bits)
{
    bool good = true;
    for (unsigned i = 0; i < 128; i++) {
        good = good && is_half(bits->ones[i], bits->n);
    }
    for (unsigned i = 0; i < 16; i++) {
        const double want = (double)bits->n / 256;
        double chi = 0;
        for (unsigned v = 0; v < 256; v++) {
            const double off = (double)bits->bytes[i][v] - want;
            chi += off * off / want;
        }
        good = good && fabs(chi - 255) < 6 * sqrt(2 * 255.0);
    }
    return good;
}

/* Keys of a row of numbers behind a prefix, and how each differs from the one before. */
static bool try_counters(const struct subject *s, size_t prefix_len, bool is_text)
{
    static uint8_t text[TEXT_MAX];
    static struct bits keys;
    static struct bits steps;
    struct unseen_key last = {0, 0};
    memset(text, 'x', prefix_len);
    memset(&keys, 0, sizeof(keys));
    memset(&steps, 0, sizeof(steps));
    for (uint32_t i = 0; i < 1 << 16; i++) {
        size_t len = prefix_len + 4;
        if (is_text) {
            len = prefix_len + (size_t)sprintf((char *)text + prefix_len, "/%u", i);
        } else {
            store_le32(text + prefix_len, i);
        }
        const struct unseen_key key = key_of(s, text, len);
        count_bits(&keys, key);
        if (i > 0) {
            count_bits(&steps, (struct unseen_key){key.lo ^ last.lo, key.hi ^ last.hi});
        }
        last = key;
    }
    return are_even(&keys) && are_even(&steps);
}

/* How the key changes with one bit of the input. */
static bool try_one_bit(const struct subject *s, size_t len)
{
    static struct pair p;
    static struct bits changes;
    uint64_t random = len;
    memset(&changes, 0, sizeof(changes));
    for (uint64_t i = 0; i < 1 << 15; i++) {
        fill(&p, len, &random, i & 1);
        p.b[test_random(&random) % len] ^= (uint8_t)(1 << i % 8);
        const struct unseen_key a = key_of(s, p.a, len);
        const struct unseen_key b = key_of(s, p.b, len);
        count_bits(&changes, (struct unseen_key){a.lo ^ b.lo, a.hi ^ b.hi});
    }
    return are_even(&changes);
}

static bool try_bits(const struct subject *s)
{
    static const size_t prefixes[] = {0, 7, 20, 60, 500, 1020, 3000};
    static const size_t lens[] = {7, 8, 15, 16, 17, 31, 64, 100, 1024, 1025, 2100};
    bool good = true;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        good = good && try_counters(s, prefixes[i], false) && try_counters(s, prefixes[i], true);
    }
    for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
        good = good && try_one_bit(s, lens[i]);
    }
    return good;
}

static void check_bits(void)
{
    struct subject *s = calloc(1, sizeof(*s));
    uint64_t random = 5;
    draw(s, &random);
    CHECK(try_bits(s));
    s->which = NH_ALONE;
    CHECK(!try_bits(s));
    free(s);
}

int main(void)
{
    test_start();
    check_pairs();
    check_bits();
    return test_end();
}
