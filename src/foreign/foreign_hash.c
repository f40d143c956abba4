/* SPDX-License-Identifier: MIT
 *
 * The hash functions by which other programs choose the bits of an item in their Bloom filters.
 * They have no secret: whoever can choose items can make such a filter answer wrong, there and
 * here.
 *
 * MurmurHash3 x64 128 and MurmurHash64A are by Austin Appleby, in the public domain; FNV-1 is by
 * Fowler, Noll and Vo. */
#include <string.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "foreign/foreign.h"

/* ---- MurmurHash3, 128 bits ------------------------------------------------------------------- */

#define C1 UINT64_C(0x87c37b91114253d5)
#define C2 UINT64_C(0x4cf5ad432745937f)

static uint64_t rotate(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

static uint64_t scramble(uint64_t k, uint64_t first, unsigned n, uint64_t second)
{
    return rotate(k * first, n) * second;
}

static void murmur3_block(struct foreign_hash *h, const uint8_t *p)
{
    h->a ^= scramble(load_le64(p), C1, 31, C2);
    h->a = (rotate(h->a, 27) + h->b) * 5 + 0x52dce729;
    h->b ^= scramble(load_le64(p + 8), C2, 33, C1);
    h->b = (rotate(h->b, 31) + h->a) * 5 + 0x38495ab5;
}

static uint64_t murmur3_mix(uint64_t k)
{
    k = (k ^ k >> 33) * UINT64_C(0xff51afd7ed558ccd);
    k = (k ^ k >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return k ^ k >> 33;
}

/* The last rest < 16 bytes, and the length of all. */
static void murmur3_end(struct foreign_hash *h, const uint8_t *p, size_t rest, uint64_t len)
{
    uint8_t block[16] = {0};
    memcpy(block, p, rest);
    h->b ^= rest > 8 ? scramble(load_le64(block + 8), C2, 33, C1) : 0;
    h->a ^= rest > 0 ? scramble(load_le64(block), C1, 31, C2) : 0;
    h->a ^= len;
    h->b ^= len;
    h->a += h->b;
    h->b += h->a;
    h->a = murmur3_mix(h->a);
    h->b = murmur3_mix(h->b);
    h->a += h->b;
    h->b += h->a;
}

static void murmur3(struct foreign_hash *h, struct unseen_bytes item)
{
    static const uint8_t nothing[1];
    const uint8_t *p = item.len ? (const uint8_t *)item.data : nothing;
    size_t at = 0;
    *h = (struct foreign_hash){0, 0};
    for (; item.len - at >= 16; at += 16) {
        murmur3_block(h, p + at);
    }
    murmur3_end(h, p + at, item.len - at, item.len);
}

/* Murmur3 of a text in UTF-8 as UTF-16, a block at a time. */
static bool murmur3_utf16(struct foreign_hash *h, struct unseen_bytes item)
{
    uint8_t block[16 + 4];
    size_t filled = 0;
    uint64_t len = 0;
    *h = (struct foreign_hash){0, 0};
    for (size_t at = 0; at < item.len;) {
        uint32_t point;
        const size_t n = unseen__utf8_read(item.data + at, item.len - at, &point);
        if (n == 0) {
            return false;
        }
        at += n;
        if (point >= 0x10000) {
            store_le16(block + filled, (uint16_t)(0xd800 + ((point - 0x10000) >> 10)));
            filled += 2;
            point = 0xdc00 + (point & 0x3ff);
        }
        store_le16(block + filled, (uint16_t)point);
        filled += 2;
        if (filled >= 16) {
            murmur3_block(h, block);
            len += 16;
            filled -= 16;
            memmove(block, block + 16, filled);
        }
    }
    murmur3_end(h, block, filled, len + filled);
    return true;
}

/* ---- MurmurHash64A --------------------------------------------------------------------------- */

#define MULTIPLIER UINT64_C(0xc6a4a7935bd1e995)

static uint64_t murmur64a(struct unseen_bytes item, uint64_t seed)
{
    const uint8_t *p = (const uint8_t *)item.data;
    size_t left = item.len;
    uint64_t h = seed ^ item.len * MULTIPLIER;
    for (; left >= 8; p += 8, left -= 8) {
        uint64_t k = load_le64(p) * MULTIPLIER;
        k = (k ^ k >> 47) * MULTIPLIER;
        h = (h ^ k) * MULTIPLIER;
    }
    if (left > 0) {
        uint8_t block[8] = {0};
        memcpy(block, p, left);
        h = (h ^ load_le64(block)) * MULTIPLIER;
    }
    h = (h ^ h >> 47) * MULTIPLIER;
    return h ^ h >> 47;
}

/* ---- All ------------------------------------------------------------------------------------- */

static uint64_t fnv1(struct unseen_bytes item)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < item.len; i++) {
        h = h * UINT64_C(1099511628211) ^ (uint8_t)item.data[i];
    }
    return h;
}

bool unseen__foreign_hash(enum unseen_foreign_scheme scheme, enum unseen_foreign_text text,
                          struct unseen_bytes item, struct foreign_hash *hash)
{
    switch (scheme) {
    case UNSEEN_FOREIGN_GUAVA_32:
    case UNSEEN_FOREIGN_GUAVA_64:
        if (text == UNSEEN_FOREIGN_UTF16) {
            return murmur3_utf16(hash, item);
        }
        murmur3(hash, item);
        return true;
    case UNSEEN_FOREIGN_DCSO:
        *hash = (struct foreign_hash){fnv1(item), 0};
        return true;
    case UNSEEN_FOREIGN_MURMUR64A:
        hash->a = murmur64a(item, MULTIPLIER);
        hash->b = murmur64a(item, hash->a);
        return true;
    }
    return false;
}
