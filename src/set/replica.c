/* SPDX-License-Identifier: MIT
 *
 * For replicas: copies a set, computes its digest, and turns keys into bytes and
 * back. Copy and digest use the pieces of an export, so a filter needs no operation for them. */
#include "set/set.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "hash/checksum.h"
#include "set/window.h"

static enum unseen_status copy_chunks(struct unseen_import *import, const struct unseen_set *set,
                                      uint8_t *buf)
{
    uint64_t cursor = 0;
    for (;;) {
        size_t len;
        enum unseen_status status = unseen_set_export(set, &cursor, buf, UNSEEN_CHUNK_MAX, &len);
        if (status != UNSEEN_OK || len == 0) {
            return status;
        }
        status = unseen_import_chunk(import, buf, len);
        if (status != UNSEEN_OK) {
            return status;
        }
    }
}

enum unseen_status unseen_set_copy(struct unseen_set **copy_out, const struct unseen_set *set,
                                   struct unseen_error *error)
{
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .threads = set->threads,
                                               .cpu = set->cpu,
                                               .allocator = &set->allocator};
    struct unseen_import *import = NULL;
    enum unseen_status status = unseen__window_refuse(set, "copied", error);
    if (status != UNSEEN_OK) {
        return status;
    }
    uint8_t *buf = unseen__alloc(&set->allocator, UNSEEN_CHUNK_MAX, 64);
    status = buf ? unseen_import_create(&import, &options, NULL) : UNSEEN_ERR_NOMEM;
    if (status == UNSEEN_OK) {
        status = copy_chunks(import, set, buf);
        if (status == UNSEEN_OK) {
            status = unseen_import_finish(import, copy_out);
        } else {
            unseen_import_free(import);
        }
    }
    unseen__free(&set->allocator, buf, UNSEEN_CHUNK_MAX);
    return status == UNSEEN_OK ? UNSEEN_OK : unseen__error_plain(error, status);
}

uint64_t unseen_set_digest(const struct unseen_set *set)
{
    /* A sum, so that it does not depend on the order of pieces. */
    uint64_t sums[2] = {0, unseen__secret_id(&set->hasher.secret)};
    uint8_t buf[UNSEEN_CHUNK_MAX];
    if (unseen__set_fetch_all(set) != UNSEEN_OK) {
        return 0;
    }
    for (size_t i = 0; i < unseen__set_nshards(set); i++) {
        const struct unseen__filter *filter = set->shards[i].filter;
        uint64_t position = 0;
        for (size_t len; (len = set->ops->save_piece(filter, &position, buf)) != 0;) {
            sums[0] += unseen__checksum(buf, len);
        }
        position = 0;
        for (size_t len; set->window && (len = unseen__window_save(set, i, &position, buf)) != 0;) {
            sums[0] += unseen__checksum(buf, len);
        }
    }
    uint8_t bytes[sizeof(sums)];
    store_le64(bytes, sums[0]);
    store_le64(bytes + 8, sums[1]);
    return unseen__checksum(bytes, sizeof(bytes));
}

enum unseen_status unseen_set_count_keys(const struct unseen_set *set,
                                         const struct unseen_key *keys, size_t n, uint64_t *counts)
{
    if (!set->ops->multiplicity) {
        return UNSEEN_ERR_UNSUPPORTED;
    }
    for (size_t i = 0; i < n; i++) {
        counts[i] = unseen__set_count_key(set, keys[i]);
    }
    return UNSEEN_OK;
}

size_t unseen_set_pack_keys(const struct unseen_set *set, const struct unseen_key *keys, size_t n,
                            void *buf)
{
    unseen__keys_pack(keys, n, set->key_bits, buf);
    return n * unseen__key_bytes(set->key_bits);
}

enum unseen_status unseen_set_unpack_keys(const struct unseen_set *set, const void *data,
                                          size_t len, struct unseen_key *keys, size_t max,
                                          size_t *n_out)
{
    const size_t key_len = unseen__key_bytes(set->key_bits);
    if (len % key_len != 0) {
        return UNSEEN_ERR_CORRUPT;
    }
    if (len / key_len > max) {
        return UNSEEN_ERR_SPACE;
    }
    unseen__keys_unpack(data, len / key_len, set->key_bits, keys);
    *n_out = len / key_len;
    return UNSEEN_OK;
}
