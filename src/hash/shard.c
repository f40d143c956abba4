/* SPDX-License-Identifier: MIT
 *
 * Shards (docs/format.md, "Shares"): which of n machines an identity belongs to. A public seed
 * makes a key of the identity, and then a key of that key, which decides the shard. The first key
 * would not do: if the user gave a set the same seed, it would be the set's own key, and the keys
 * of a shard would fill only a part of the filter. */
#include "unseen.h"

#include "hash/key.h"

enum {
    NSLOTS = 16384 /* of a cluster */
};

/* unseen__hasher_init makes these words of the seed "unseen shards" (tests/unit/test_shard.c). One
 * key at a time needs no other kernel. */
static const struct unseen__hasher hasher = {
    .nh =
        {
            0xa4241331251cf2f7, 0xacc8b67d8d741853, 0x2a175836874aa31b, 0x8ce013c029182c32,
            0x1646414bededea8f, 0xf0b9672b656b327e, 0x6af56e47e5511abb, 0xe22ed9d154c9b8ef,
            0x0cd4d44e128ce6e1, 0x755070a8716b9c71, 0xc40d9c769bcb8e33, 0x7f4089801d4db9a7,
            0xab009dccc9a5458a, 0xdf683c68c14cda7e, 0xcbbf3ffd4d5eec50, 0xbc80b3158f9869a1,
            0x367338b713e93bff, 0x4576ae1459e0b9cf, 0xc9f036cd050dc9e0, 0xdba597cbdf6223c1,
            0xdcbf1a2835f59191, 0xaea744aad97f1da8, 0x6bb1b33f36d07054, 0x06f22f50699ee135,
            0x7b279c3d63b229d6, 0xce30417c1a131690, 0xdd2cff84bb9b5bf4, 0x2c404a3de01fbae5,
            0xecf979f95ebf2746, 0xc0beda850dbc745d, 0x919d999ad9e8e352, 0xad3fcecea1677005,
            0xfe61f17934543fdd, 0x6ed56ff7f4aae0ca, 0x49d570ac5c076d54, 0xc0b91213f924b936,
            0xaf2f45659295e528, 0x58ca6b12953cc696, 0x0648edf1f4402a55, 0xe3df44569a51744b,
            0x7e5ff97876e97827, 0x180504f260fe44a9, 0x6680c949c25f9747, 0x9c63475f7a0f2de7,
            0x8076f9960d3aa804, 0x21b40759bd5aa539, 0x2ee7e23545f38c9d, 0x63ce14847f636c39,
            0x19fe144b61f2920b, 0xd0199294e1c57046, 0x976739ce71440c5b, 0xa811db19ecc81ac7,
            0x6eb9eb5eb913473f, 0x3b2ab07a6e498923, 0xd14b0e014ab98791, 0x92bc6297b901f63a,
            0xff9315a2b275ffa1, 0x47014726f08c9e71, 0xbfac173ff754601c, 0x3dc4252a20e5b6ec,
            0x9b8101ebf3ce043e, 0xee2d9713b77d4fef, 0xb1848e53affbde53, 0x55597cfe51a20b76,
            0xa88e66177ae1f6b8, 0xd8993d55cc1ea477, 0x75445bc62e774863, 0x74b4dcc61c1f8039,
            0x891291e6cf5d16ab, 0x5834872657e499e8, 0xfe1fae56a820839e, 0x5c0de7ebf995688d,
            0x1ce05b751d049eea, 0x9a7414acd1fe9cc5, 0x9ad550f0c2ae80e5, 0x41ce7f36a7116802,
            0x723d9078b986c746, 0xe757a5c81497e089, 0x84c841a8ab50d7f2, 0xd3cf6ce41470362b,
            0x15a0944bfef3e68a, 0xb9c3eb0c2bf95f23, 0x71463536c47173cc, 0x83c1a3f1183a6ed4,
            0xc58bdb37a6ea98e0, 0x35c6ccfde93f7f6e, 0xcad1687bbb78ed6d, 0xa5803c8f35bfdefd,
            0x79041f484a47f717, 0xf367d73823d6585b, 0x1deadce3a1820925, 0x96d0fc711195fd30,
            0x156ffde126f120fc, 0xb293ecdd61baa521, 0xb449e0af772cb65e, 0x17bee5f116a1b812,
            0x087d69a313814e6b, 0x6afcc8e7cf1187c9, 0x8cec68c594b29b1e, 0xc97ee360deb22148,
            0x5b38ac861ffdfab4, 0xde027a66ab4d5cba, 0xbddb6b041ce9ac21, 0x679397306225ddbf,
            0xf81904937ccd41fa, 0x20ff3ab43f45d9f4, 0x882b41de53344f41, 0xbc4e5a8ec7666e85,
            0x1e89c08f52e9d20e, 0xdfe43362e5441a78, 0x3018515a6a8c8be9, 0x1cc06b1037d3b473,
            0x92a26df8a164a2bd, 0xf7159b654ba3b0c6, 0xe43ca12d5a1d488b, 0x803406c5ef9c85bc,
            0x9133769bca7a3bed, 0xdcd3129168369aa7, 0x82aba0c31b0df5da, 0x18d306df7b4a1c19,
            0x74c650f6801a5689, 0x94a4389c0be30b1a, 0x176723a2d8dbbf2f, 0x064a170a399f786c,
            0x05de43a5e6dde657, 0x054ac2a1e0f83706, 0xd04e302f4b2bb617, 0x5582208a10255d2c,
            0x9dd5c9c87fb49382, 0xd9fbbf0148602b2c,
        },
    .sip = {0xed0f2d567870fa79, 0x97ae07be4b092a1f, 0xf21927566666ed6d, 0x87a411bd5c1920ef},
    .kernel = unseen__key_kernel_portable,
};

/* The top 32 bits of the key are scaled to 0..n-1 as in [Lemire19]. */
uint32_t unseen_shard(const void *identity, size_t len, uint32_t n)
{
    const struct unseen_key key = unseen__key(&hasher, identity, len, 128);
    uint8_t bytes[16];
    store_le64(bytes, key.hi);
    store_le64(bytes + 8, key.lo);
    const struct unseen_key twice = unseen__key(&hasher, bytes, sizeof(bytes), 128);
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
