/* SPDX-License-Identifier: MIT
 *
 * Encodes and decodes the header of a list file, field by field. */
#include "list/list_format.h"

#include <string.h>

#include "base/bytes.h"
#include "hash/checksum.h"
#include "hash/key.h"

enum {
    FORMAT_VERSION = 1,
    SECRET_OFFSET = 40,
    KIND_OFFSET = 144,
    LAYERS_OFFSET = 176,
    LAYER_LEN = 24,
    PROFILE_CHECKSUM_OFFSET = 4080,
    CHECKSUM_OFFSET = 4088,
    PROFILE_OFFSET = 4096 /* a page of its own behind the header's */
};

static const uint8_t magic[8] = {0x89, 'U', 'N', 'T', '\r', '\n', 0x1a, '\n'};

bool unseen__list_offsets(const struct unseen__list_header *h,
                          struct unseen__list_offsets *offsets_out)
{
    struct unseen__list_offsets p = {0};
    for (unsigned i = 0; i < h->nlayers; i++) {
        if (h->layers[i].npages > UINT32_MAX) {
            return false;
        }
        p.npages += h->layers[i].npages;
        p.nshards += UINT64_C(1) << h->layers[i].shard_bits;
    }
    if (p.npages > UINT32_MAX || h->nleftover > UINT64_MAX >> 8) {
        return false;
    }
    p.ngroups = (p.npages + UNSEEN__LIST_GROUP - 1) / UNSEEN__LIST_GROUP;
    p.table = UNSEEN__LIST_HEADER_LEN + p.npages * UNSEEN__LIST_PAGE;
    p.leftover = p.table + 4 * p.nshards + 4 * (p.nshards % 2);
    p.groups = p.leftover + 8 * h->nleftover;
    p.end = p.groups + 8 * p.ngroups;
    *offsets_out = p;
    return true;
}

void unseen__list_header_encode(const struct unseen__list_header *h,
                                uint8_t bytes[UNSEEN__LIST_HEADER_LEN])
{
    memset(bytes, 0, UNSEEN__LIST_HEADER_LEN);
    memcpy(bytes, magic, sizeof(magic));
    store_le32(bytes + 8, FORMAT_VERSION);
    store_le32(bytes + 12, UNSEEN__LIST_HEADER_LEN);
    store_le32(bytes + 28, UNSEEN__HASH_ID);
    store_le32(bytes + 32, h->key_bits);
    store_le32(bytes + 36, h->nlayers);
    memcpy(bytes + SECRET_OFFSET, h->secret.bytes, UNSEEN__SECRET_LEN);
    store_le32(bytes + 72, h->geometry.columns);
    store_le32(bytes + 76, h->geometry.blocks);
    store_le32(bytes + 80, h->geometry.extended);
    store_le_double(bytes + 88, h->fpr);
    store_le64(bytes + 96, h->ngiven);
    store_le64(bytes + 104, h->ndistinct);
    store_le64(bytes + 112, h->nleftover);
    store_le64(bytes + 120, h->table_checksum);
    store_le64(bytes + 128, h->leftover_checksum);
    store_le64(bytes + 136, h->group_checksum);
    memcpy(bytes + KIND_OFFSET, h->kind, UNSEEN__LIST_KIND_LEN);
    for (unsigned i = 0; i < h->nlayers; i++) {
        uint8_t *layer = bytes + LAYERS_OFFSET + LAYER_LEN * i;
        store_le32(layer, h->layers[i].shard_bits);
        store_le64(layer + 8, h->layers[i].npages);
        store_le64(layer + 16, h->layers[i].nkeys);
    }
    memcpy(bytes + PROFILE_OFFSET, h->profile, UNSEEN__LIST_PROFILE_LEN);
    store_le64(bytes + PROFILE_CHECKSUM_OFFSET,
               unseen__checksum(bytes + PROFILE_OFFSET, UNSEEN__LIST_PROFILE_LEN));
    store_le64(bytes + CHECKSUM_OFFSET, unseen__checksum(bytes, CHECKSUM_OFFSET));
}

static enum unseen_status check_bytes(const uint8_t *bytes)
{
    if (memcmp(bytes, magic, sizeof(magic)) != 0) {
        return UNSEEN_ERR_FOREIGN;
    }
    if (load_le64(bytes + CHECKSUM_OFFSET) != unseen__checksum(bytes, CHECKSUM_OFFSET)) {
        return UNSEEN_ERR_CORRUPT;
    }
    if (load_le32(bytes + 8) != FORMAT_VERSION || load_le32(bytes + 24) != 0 ||
        load_le32(bytes + 28) != UNSEEN__HASH_ID) {
        return UNSEEN_ERR_VERSION;
    }
    return load_le32(bytes + 12) == UNSEEN__LIST_HEADER_LEN &&
                   load_le64(bytes + PROFILE_CHECKSUM_OFFSET) ==
                       unseen__checksum(bytes + PROFILE_OFFSET, UNSEEN__LIST_PROFILE_LEN)
               ? UNSEEN_OK
               : UNSEEN_ERR_CORRUPT;
}

enum unseen_status unseen__list_header_decode(const uint8_t bytes[UNSEEN__LIST_HEADER_LEN],
                                              struct unseen__list_header *header_out)
{
    const enum unseen_status status = check_bytes(bytes);
    if (status != UNSEEN_OK) {
        return status;
    }
    struct unseen__list_header h = {
        .key_bits = load_le32(bytes + 32),
        .nlayers = load_le32(bytes + 36),
        .fpr = load_le_double(bytes + 88),
        .ngiven = load_le64(bytes + 96),
        .ndistinct = load_le64(bytes + 104),
        .nleftover = load_le64(bytes + 112),
        .table_checksum = load_le64(bytes + 120),
        .leftover_checksum = load_le64(bytes + 128),
        .group_checksum = load_le64(bytes + 136),
        .checksum = load_le64(bytes + CHECKSUM_OFFSET),
    };
    memcpy(h.secret.bytes, bytes + SECRET_OFFSET, UNSEEN__SECRET_LEN);
    memcpy(h.profile, bytes + PROFILE_OFFSET, UNSEEN__LIST_PROFILE_LEN);
    memcpy(h.kind, bytes + KIND_OFFSET, UNSEEN__LIST_KIND_LEN);
    if (!unseen__list_geometry_make(load_le32(bytes + 72), load_le32(bytes + 76),
                                    load_le32(bytes + 80), &h.geometry) ||
        h.key_bits < 32 || h.key_bits > 64 || h.nlayers > UNSEEN__LIST_LAYERS_MAX ||
        !(h.fpr > 0 && h.fpr < 1) || h.profile[UNSEEN__LIST_PROFILE_LEN - 1] != '\0' ||
        h.kind[UNSEEN__LIST_KIND_LEN - 1] != '\0') {
        return UNSEEN_ERR_CORRUPT;
    }
    for (unsigned i = 0; i < h.nlayers; i++) {
        const uint8_t *layer = bytes + LAYERS_OFFSET + LAYER_LEN * i;
        h.layers[i] = (struct unseen__list_layer_info){load_le32(layer), load_le64(layer + 8),
                                                       load_le64(layer + 16)};
        if (h.layers[i].shard_bits > UNSEEN__LIST_SHARD_BITS_MAX) {
            return UNSEEN_ERR_CORRUPT;
        }
    }
    *header_out = h;
    return UNSEEN_OK;
}
