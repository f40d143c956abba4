/* SPDX-License-Identifier: MIT
 *
 * Identity bytes -> 128-bit key, under a secret (docs/format.md, "Keys"; docs/decisions/key.md has
 * the proof and the measurements). Two steps, hash then encrypt [Wegman81]:
 *
 *     bytes --NH--> 32 bytes for each KiB --SipHash-1-3-128 with the length--> key
 *
 * NH [Black99] of 64-bit words in two Toeplitz lanes is fast, and proven: two inputs of one length
 * that were chosen without the secret have the same 32 bytes with a probability of 2^-128. NH alone
 * hides nothing. SipHash [Aumasson12] hides it: whoever sees keys, or answers that depend on them,
 * learns nothing about the secret or about other keys without breaking SipHash.
 *
 * A batch makes eight keys at a time, so that SipHash runs in the lanes of a vector register. */
#ifndef UNSEEN_HASH_KEY_H
#define UNSEEN_HASH_KEY_H

#include "base/bytes.h"
#include "base/macros.h"
#include "hash/secret.h"

enum {
    UNSEEN__HASH_ID = 1, /* the way to make keys, in every header */
    UNSEEN__NH_BLOCK = 1024,
    UNSEEN__NH_PAIR = 16, /* bytes that one step of NH takes */
    UNSEEN__NH_WORDS = UNSEEN__NH_BLOCK / 8 + 2,
    UNSEEN__DIGEST_WORDS = 4,
    UNSEEN__KEY_LANES = 8
};

/* Eight inputs after NH: words[i][lane] is word i of the lane's SipHash message, and the last word
 * is the tail of that message. If an input is longer than a block, its key is made at once and
 * stands in `whole`. */
struct unseen__key_batch {
    uint64_t words[UNSEEN__DIGEST_WORDS + 1][UNSEEN__KEY_LANES];
    struct unseen_key whole[UNSEEN__KEY_LANES];
    unsigned is_whole; /* bit i: the key of lane i is in whole */
};

struct unseen__hasher;

/* Makes the keys of lanes 0 to n - 1, n from 1 to 8. */
typedef void unseen__key_kernel(const struct unseen__hasher *hasher,
                                const struct unseen__key_batch *batch, size_t n,
                                struct unseen_key *keys);

/* The secret as NH and SipHash need it. A hasher is constant: any number of threads may use it at
 * once. */
struct unseen__hasher {
    uint64_t nh[UNSEEN__NH_WORDS];
    uint64_t sip[4]; /* the state of SipHash-128 behind its key */
    unseen__key_kernel *kernel;
    struct unseen__secret secret;
};

/* level is a level that the processor has, not AUTO. */
void unseen__hasher_init(struct unseen__hasher *hasher, const struct unseen__secret *secret,
                         enum unseen_cpu level);

/* Overwrites the secret and everything that was derived from it. */
void unseen__hasher_release(struct unseen__hasher *hasher);

/* ---- NH ---------------------------------------------------------------------------------------*/

/* Two sums of 128 bits. */
struct unseen__nh_sums {
    uint64_t low[2];
    uint64_t high[2];
};

UNSEEN_INLINE void unseen__nh_add(struct unseen__nh_sums *sums, int lane, uint64_t a, uint64_t b)
{
    uint64_t low;
    const uint64_t high = mul_wide(a, b, &low);
    sums->low[lane] += low;
    sums->high[lane] += high + (sums->low[lane] < low);
}

/* Adds the words x and y to both sums, under the key words k[0..4). */
UNSEEN_INLINE void unseen__nh_step(struct unseen__nh_sums *sums, const uint64_t *k, uint64_t x,
                                   uint64_t y)
{
    unseen__nh_add(sums, 0, x + k[0], y + k[1]);
    unseen__nh_add(sums, 1, x + k[2], y + k[3]);
}

/* Adds an input of fewer than 16 bytes as two words. The words and the length together determine
 * all bytes. */
UNSEEN_INLINE void unseen__nh_short(struct unseen__nh_sums *sums, const uint64_t *k,
                                    const uint8_t *p, size_t len)
{
    uint64_t x = 0;
    uint64_t y = 0;
    if (len >= 8) {
        x = load_le64(p);
        y = load_le64(p + len - 8);
    } else if (len >= 4) {
        x = load_le32(p);
        y = load_le32(p + len - 4);
    } else if (len > 0) {
        x = p[0] | (uint64_t)p[len / 2] << 8 | (uint64_t)p[len - 1] << 16;
    }
    unseen__nh_step(sums, k, x, y);
}

/* Hashes one block: 1 to 1024 bytes at p, or the whole of an input shorter than 16 bytes. The last
 * step takes the last 16 bytes, which overlap the bytes before them, even into the block before. */
UNSEEN_INLINE void unseen__nh_block(const struct unseen__hasher *hasher, const uint8_t *p,
                                    size_t len, bool is_short, uint64_t digest_out[4])
{
    struct unseen__nh_sums sums = {{0, 0}, {0, 0}};
    const uint64_t *k = hasher->nh;
    if (UNSEEN_UNLIKELY(is_short)) {
        unseen__nh_short(&sums, k, p, len);
    } else {
        const uint8_t *last = p + len - UNSEEN__NH_PAIR;
        for (; p < last; p += UNSEEN__NH_PAIR, k += 2) {
            unseen__nh_step(&sums, k, load_le64(p), load_le64(p + 8));
        }
        unseen__nh_step(&sums, k, load_le64(last), load_le64(last + 8));
    }
    digest_out[0] = sums.low[0];
    digest_out[1] = sums.high[0];
    digest_out[2] = sums.low[1];
    digest_out[3] = sums.high[1];
}

/* ---- keys -------------------------------------------------------------------------------------*/

/* True if a key may have this many bits. */
static inline bool unseen__key_bits_are_valid(unsigned bits)
{
    return bits == 64 || bits == 96 || bits == 128;
}

/* Reduces a key to 64 bits (hi), 96 bits (hi and the low half of lo) or 128 bits (all). The other
 * bits of lo become a function of the bits that are kept. A filter needs two halves that look
 * independent, and some low bits of lo and the high bits of hi must together tell the whole key: so
 * for 64 bits lo has the low 17 bits of hi, masked by a hash of the other bits. */
static inline void unseen__key_narrow(unsigned bits, struct unseen_key *key)
{
    if (bits == 128) {
        return;
    }
    const bool is_short = bits == 64;
    uint64_t mixed = (key->hi >> (is_short ? 17 : 0)) * UINT64_C(0x9e3779b97f4a7c15);
    mixed ^= mixed >> 32;
    key->lo = is_short ? key->hi ^ mixed : (key->lo & UINT32_MAX) | (mixed << 32);
}

/* The bytes of a packed key. */
static inline size_t unseen__key_bytes(unsigned bits)
{
    return bits / 8;
}

/* A packed key is hi, then as much of lo as is kept, from its low end. */
void unseen__keys_pack(const struct unseen_key *keys, size_t n, unsigned bits, uint8_t *bytes);
void unseen__keys_unpack(const uint8_t *bytes, size_t n, unsigned bits, struct unseen_key *keys);

/* The key of one input, reduced to `bits` bits. Time: linear in len. */
struct unseen_key unseen__key(const struct unseen__hasher *hasher, const void *data, size_t len,
                              unsigned bits);

/* The last word of SipHash's message for an input of nblocks blocks: the input's length in 7 bytes,
 * and the message's own length modulo 256. */
static inline uint64_t unseen__key_tail(size_t len, size_t nblocks)
{
    const uint64_t message_len = 8 * UNSEEN__DIGEST_WORDS * (uint64_t)nblocks + 7;
    return (uint64_t)len | message_len << 56;
}

/* Reads an input into lane i of a batch. The caller sets is_whole to 0 before the first lane. */
UNSEEN_INLINE void unseen__key_batch_put(const struct unseen__hasher *hasher,
                                         struct unseen__key_batch *batch, size_t i,
                                         const void *data, size_t len)
{
    uint64_t digest[UNSEEN__DIGEST_WORDS] = {0, 0, 0, 0};
    if (UNSEEN_LIKELY(len <= UNSEEN__NH_BLOCK)) {
        unseen__nh_block(hasher, data, len, len < UNSEEN__NH_PAIR, digest);
    } else {
        batch->whole[i] = unseen__key(hasher, data, len, 128);
        batch->is_whole |= 1u << i;
    }
    for (int k = 0; k < UNSEEN__DIGEST_WORDS; k++) {
        batch->words[k][i] = digest[k];
    }
    batch->words[UNSEEN__DIGEST_WORDS][i] = unseen__key_tail(len, 1);
}

/* Makes the keys of lanes 0 to n - 1, n from 1 to 8, reduced to `bits` bits. */
UNSEEN_INLINE void unseen__key_batch_make(const struct unseen__hasher *hasher,
                                          const struct unseen__key_batch *batch, size_t n,
                                          unsigned bits, struct unseen_key *keys)
{
    hasher->kernel(hasher, batch, n, keys);
    for (size_t i = 0; UNSEEN_UNLIKELY(batch->is_whole) && i < n; i++) {
        if (batch->is_whole >> i & 1) {
            keys[i] = batch->whole[i];
        }
    }
    for (size_t i = 0; bits != 128 && i < n; i++) {
        unseen__key_narrow(bits, &keys[i]);
    }
}

/* ---- kernels ----------------------------------------------------------------------------------*/

unseen__key_kernel unseen__key_kernel_portable;
#if UNSEEN_X86
unseen__key_kernel unseen__key_kernel_avx2;
unseen__key_kernel unseen__key_kernel_avx512;
#endif

#endif
