/* SPDX-License-Identifier: MIT
 *
 * Shards (docs/format.md, "Shares"): which of n machines an identity
 * belongs to. A public seed makes a key of the identity, and then a key of that key, which decides
 * the shard. The first key would not do: if the user gave a set the same seed, it would be the
 * set's own key, and the keys of a shard would fill only a part of the filter. */
#include "unseen.h"

#include "base/memory.h"
#include "hash/key.h"

enum {
    NSLOTS = 16384 /* of a cluster */
};

struct unseen_shards {
    struct unseen_allocator allocator;
    struct unseen__hasher hasher;
};

enum unseen_status unseen_shards_create(struct unseen_shards **shards_out,
                                        const struct unseen_allocator *allocator)
{
    static const char seed[] = "unseen shards";
    const struct unseen_allocator own = unseen__allocator(allocator);
    struct unseen__secret secret;
    const enum unseen_status status =
        unseen__secret_make(seed, sizeof(seed) - 1, &secret, NULL); /* derived: cannot fail */
    if (status != UNSEEN_OK) {
        return status;
    }
    struct unseen_shards *shards = unseen__alloc(&own, sizeof(*shards), _Alignof(max_align_t));
    if (!shards) {
        return UNSEEN_ERR_NOMEM;
    }
    shards->allocator = own;
    unseen__hasher_init(&shards->hasher, &secret, UNSEEN_CPU_PORTABLE); /* one key at a time */
    *shards_out = shards;
    return UNSEEN_OK;
}

void unseen_shards_free(struct unseen_shards *shards)
{
    if (shards) {
        const struct unseen_allocator allocator = shards->allocator;
        unseen__free(&allocator, shards, sizeof(*shards));
    }
}

/* The top 32 bits of the key are scaled to 0..n-1 as in [Lemire19]. */
uint32_t unseen_shards_find(const struct unseen_shards *shards, const void *identity, size_t len,
                            uint32_t n)
{
    const struct unseen_key key = unseen__key(&shards->hasher, identity, len, 128);
    uint8_t bytes[16];
    store_le64(bytes, key.hi);
    store_le64(bytes + 8, key.lo);
    const struct unseen_key twice = unseen__key(&shards->hasher, bytes, sizeof(bytes), 128);
    return (uint32_t)((twice.hi >> 32) * n >> 32);
}

/* ---- tags ---- */

/* The hash slot of a tag: CRC-16/XMODEM of its decimal digits. */
static uint32_t slot_of(uint32_t tag)
{
    char digits[10];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + tag % 10);
        tag /= 10;
    } while (tag > 0);
    uint32_t crc = 0;
    while (n > 0) {
        crc ^= (uint32_t)digits[--n] << 8;
        for (int i = 0; i < 8; i++) {
            crc = (crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
        }
    }
    return crc % NSLOTS;
}

/* Every tag has one slot, and every slot is that of some tag below 10^6
 * (tests/unit/test_shard.c). */
enum unseen_status unseen_shard_tags(uint32_t n, uint32_t *tags)
{
    if (n < 1 || n > UNSEEN_SHARD_TAGS_MAX) {
        return UNSEEN_ERR_ARGUMENT;
    }
    for (uint32_t i = 0; i < n; i++) {
        tags[i] = UINT32_MAX;
    }
    for (uint32_t tag = 0, nfound = 0; nfound < n; tag++) {
        const uint32_t i = slot_of(tag) * n / NSLOTS;
        if (tags[i] == UINT32_MAX) {
            tags[i] = tag;
            nfound++;
        }
    }
    return UNSEEN_OK;
}
