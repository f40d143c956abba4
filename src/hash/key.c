/* SPDX-License-Identifier: MIT
 *
 * Makes keys in portable C, which is the specification of the kernels in key_x86.c. key.h explains
 * the steps. */
#include "hash/key.h"

#include <sodium.h>

enum {
    SIP_KEY_LEN = 16,
    FINAL_ROUNDS = 3
};

struct sip {
    uint64_t v[4];
};

static uint64_t rotate_left(uint64_t x, int n)
{
    return x << n | x >> (64 - n);
}

UNSEEN_INLINE void sip_round(struct sip *s)
{
    uint64_t *v = s->v;
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate_left(v[1], 13) ^ v[0];
    v[3] = rotate_left(v[3], 16) ^ v[2];
    v[0] = rotate_left(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate_left(v[1], 17) ^ v[2];
    v[3] = rotate_left(v[3], 21) ^ v[0];
    v[2] = rotate_left(v[2], 32);
}

UNSEEN_INLINE void sip_take(struct sip *s, uint64_t word)
{
    s->v[3] ^= word;
    sip_round(s);
    s->v[0] ^= word;
}

UNSEEN_INLINE uint64_t sip_final(struct sip *s)
{
    for (int i = 0; i < FINAL_ROUNDS; i++) {
        sip_round(s);
    }
    return s->v[0] ^ s->v[1] ^ s->v[2] ^ s->v[3];
}

/* A key of 64 bits has a lo that follows from hi. */
UNSEEN_INLINE struct unseen_key sip_key(struct sip *s, unsigned bits)
{
    struct unseen_key key = {0, 0};
    s->v[2] ^= 0xee;
    key.hi = sip_final(s);
    if (bits != 64) {
        s->v[1] ^= 0xdd;
        key.lo = sip_final(s);
    }
    unseen__key_narrow(bits, &key);
    return key;
}

static struct sip sip_start(const struct unseen__hasher *hasher)
{
    const uint64_t *v = hasher->sip;
    return (struct sip){{v[0], v[1], v[2], v[3]}};
}

/* ---- making a hasher --------------------------------------------------------------------------*/

static unseen__key_kernel *kernel_for(enum unseen_cpu level)
{
#if UNSEEN_X86
    if (level == UNSEEN_CPU_AVX512) {
        return unseen__key_kernel_avx512;
    }
    if (level == UNSEEN_CPU_AVX2) {
        return unseen__key_kernel_avx2;
    }
#endif
    (void)level;
    return unseen__key_kernel_portable;
}

void unseen__hasher_init(struct unseen__hasher *hasher, const struct unseen__secret *secret,
                         enum unseen_cpu level)
{
    uint8_t bytes[SIP_KEY_LEN + 8 * UNSEEN__NH_WORDS];
    unseen__secret_expand(secret, bytes, sizeof(bytes));
    const uint64_t k0 = load_le64(bytes);
    const uint64_t k1 = load_le64(bytes + 8);
    for (size_t i = 0; i < UNSEEN__NH_WORDS; i++) {
        hasher->nh[i] = load_le64(bytes + SIP_KEY_LEN + 8 * i);
    }
    hasher->sip[0] = k0 ^ UINT64_C(0x736f6d6570736575);
    hasher->sip[1] = k1 ^ UINT64_C(0x646f72616e646f6d) ^ 0xee; /* 0xee: an output of 128 bits */
    hasher->sip[2] = k0 ^ UINT64_C(0x6c7967656e657261);
    hasher->sip[3] = k1 ^ UINT64_C(0x7465646279746573);
    hasher->kernel = kernel_for(level);
    hasher->secret = *secret;
    sodium_memzero(bytes, sizeof(bytes));
}

void unseen__hasher_release(struct unseen__hasher *hasher)
{
    sodium_memzero(hasher, sizeof(*hasher));
}

/* ---- making keys ------------------------------------------------------------------------------*/

UNSEEN_INLINE void sip_take_digest(struct sip *s, const uint64_t digest[UNSEEN__DIGEST_WORDS])
{
    for (int k = 0; k < UNSEEN__DIGEST_WORDS; k++) {
        sip_take(s, digest[k]);
    }
}

/* unseen__key of an input longer than a block. */
static UNSEEN_NOINLINE struct unseen_key long_key(const struct unseen__hasher *hasher,
                                                  const uint8_t *p, size_t len, unsigned bits)
{
    uint64_t digest[UNSEEN__DIGEST_WORDS];
    struct sip s = sip_start(hasher);
    const size_t nblocks = (len + UNSEEN__NH_BLOCK - 1) / UNSEEN__NH_BLOCK;
    for (size_t i = 0; i < nblocks; i++) {
        const size_t rest = len - i * UNSEEN__NH_BLOCK;
        unseen__nh_block(hasher, p + i * UNSEEN__NH_BLOCK,
                         rest < UNSEEN__NH_BLOCK ? rest : UNSEEN__NH_BLOCK, false, digest);
        sip_take_digest(&s, digest);
    }
    sip_take(&s, unseen__key_tail(len, nblocks));
    return sip_key(&s, bits);
}

struct unseen_key unseen__key(const struct unseen__hasher *hasher, const void *data, size_t len,
                              unsigned bits)
{
    if (UNSEEN_UNLIKELY(len > UNSEEN__NH_BLOCK)) {
        return long_key(hasher, data, len, bits);
    }
    uint64_t digest[UNSEEN__DIGEST_WORDS];
    unseen__nh_block(hasher, data, len, len < UNSEEN__NH_PAIR, digest);
    struct sip s = sip_start(hasher);
    sip_take_digest(&s, digest);
    sip_take(&s, unseen__key_tail(len, 1));
    return sip_key(&s, bits);
}

void unseen__key_kernel_portable(const struct unseen__hasher *hasher,
                                 const struct unseen__key_batch *batch, size_t n,
                                 struct unseen_key *keys)
{
    for (size_t i = 0; i < n; i++) {
        struct sip s = sip_start(hasher);
        for (int k = 0; k <= UNSEEN__DIGEST_WORDS; k++) {
            sip_take(&s, batch->words[k][i]);
        }
        keys[i] = sip_key(&s, 128);
    }
}

void unseen__keys_pack(const struct unseen_key *keys, size_t n, unsigned bits, uint8_t *bytes)
{
    for (size_t i = 0; i < n; i++, bytes += unseen__key_bytes(bits)) {
        store_le64(bytes, keys[i].hi);
        if (bits == 96) {
            store_le32(bytes + 8, (uint32_t)keys[i].lo);
        } else if (bits == 128) {
            store_le64(bytes + 8, keys[i].lo);
        }
    }
}

void unseen__keys_unpack(const uint8_t *bytes, size_t n, unsigned bits, struct unseen_key *keys)
{
    for (size_t i = 0; i < n; i++, bytes += unseen__key_bytes(bits)) {
        keys[i].hi = load_le64(bytes);
        keys[i].lo = bits == 64 ? 0 : bits == 96 ? load_le32(bytes + 8) : load_le64(bytes + 8);
        unseen__key_narrow(bits, &keys[i]);
    }
}
