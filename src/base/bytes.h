/* SPDX-License-Identifier: MIT
 *
 * Little-endian loads and stores at any address (one instruction each on little-endian machines),
 * wide products, the number of 1 bits, and size arithmetic that cannot wrap. */
#ifndef UNSEEN_BASE_BYTES_H
#define UNSEEN_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define UNSEEN_LE16(v) __builtin_bswap16(v)
#define UNSEEN_LE32(v) __builtin_bswap32(v)
#define UNSEEN_LE64(v) __builtin_bswap64(v)
#else
#define UNSEEN_LE16(v) (v)
#define UNSEEN_LE32(v) (v)
#define UNSEEN_LE64(v) (v)
#endif

/* The next multiple of 8, to which records are padded. */
static inline size_t round_up_8(size_t len)
{
    return (len + 7) & ~(size_t)7;
}

static inline uint16_t load_le16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof(v));
    return UNSEEN_LE16(v);
}

static inline uint32_t load_le32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return UNSEEN_LE32(v);
}

static inline uint64_t load_le64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return UNSEEN_LE64(v);
}

static inline void store_le16(void *p, uint16_t v)
{
    v = UNSEEN_LE16(v);
    memcpy(p, &v, sizeof(v));
}

static inline void store_le32(void *p, uint32_t v)
{
    v = UNSEEN_LE32(v);
    memcpy(p, &v, sizeof(v));
}

static inline void store_le64(void *p, uint64_t v)
{
    v = UNSEEN_LE64(v);
    memcpy(p, &v, sizeof(v));
}

static inline double load_le_double(const void *p)
{
    uint64_t bits = load_le64(p);
    double v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

static inline void store_le_double(void *p, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof(bits));
    store_le64(p, bits);
}

/* The high word of a * b, for compilers without integers of 128 bits. */
static inline uint64_t mul_high_portable(uint64_t a, uint64_t b)
{
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
    uint64_t middle = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
    uint64_t other = (a & UINT32_MAX) * (b >> 32) + (middle & UINT32_MAX);
    return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
}

/* Returns the high word of a * b; *low_out is the low word. */
static inline uint64_t mul_wide(uint64_t a, uint64_t b, uint64_t *low_out)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 uint128;
    const uint128 product = (uint128)a * b;
    *low_out = (uint64_t)product;
    return (uint64_t)(product >> 64);
#else
    *low_out = a * b;
    return mul_high_portable(a, b);
#endif
}

/* The high word of a * b. A random a gives a random number below b, and a larger a gives no smaller
 * number. */
static inline uint64_t mul_high(uint64_t a, uint64_t b)
{
    uint64_t low;
    return mul_wide(a, b, &low);
}

/* The number of 1 bits: sums of 2, 4 and 8 bits side by side, then all at once [Warren13]. For
 * processors without an instruction for it. */
static inline uint64_t popcount_portable(uint64_t x)
{
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return x * UINT64_C(0x0101010101010101) >> 56;
}

/* The number of 1 bits in len bytes. */
static inline uint64_t popcount_bytes(const uint8_t *bytes, size_t len)
{
    uint64_t n = 0;
    size_t i = 0;
    for (; i + 8 <= len; i += 8) {
        n += popcount_portable(load_le64(bytes + i));
    }
    for (; i < len; i++) {
        n += popcount_portable(bytes[i]);
    }
    return n;
}

/* The place of the lowest 1 bit; x is not 0. */
static inline unsigned lowest_bit(uint64_t x)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(x);
#else
    return (unsigned)popcount_portable((x & (0 - x)) - 1);
#endif
}

/* *out = a * b. Returns false if the product does not fit into a size_t. */
static inline bool size_mul(size_t a, size_t b, size_t *out)
{
    if (b != 0 && a > SIZE_MAX / b) {
        return false;
    }
    *out = a * b;
    return true;
}

#endif
