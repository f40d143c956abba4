/* SPDX-License-Identifier: MIT
 *
 * The frame of a chunk. An export of a set, a bitmap or a frozen layer is a row of chunks
 * (docs/format.md, "Chunks"). A chunk is a head with its kind, its length and the id of the export,
 * then the payload, then a checksum. */
#ifndef UNSEEN_HASH_CHUNK_H
#define UNSEEN_HASH_CHUNK_H

#include <stdbool.h>

#include "base/bytes.h"
#include "hash/checksum.h"
#include "unseen.h"

enum {
    CHUNK_HEAD = 24,
    CHUNK_TAIL = 8
};

#define CHUNK_PAYLOAD_MAX (UNSEEN_CHUNK_MAX - CHUNK_HEAD - CHUNK_TAIL)

/* Puts the frame around a payload that stands behind the head already. Returns the length of the
 * chunk. */
static inline size_t chunk_seal(uint8_t *chunk, uint32_t kind, uint64_t id, size_t payload_len)
{
    const size_t body = CHUNK_HEAD + payload_len;
    store_le32(chunk, kind);
    store_le32(chunk + 4, (uint32_t)payload_len);
    store_le64(chunk + 8, id);
    store_le64(chunk + 16, 0);
    store_le64(chunk + body, unseen__checksum(chunk, body));
    return body + CHUNK_TAIL;
}

static inline uint32_t chunk_kind(const uint8_t *chunk)
{
    return load_le32(chunk);
}

/* A chunk that was read. */
struct chunk {
    uint32_t kind;
    uint64_t id;
    const uint8_t *payload;
    size_t len; /* of the payload */
};

/* Takes the frame off. Returns false if the len bytes at data are not one whole chunk. */
static inline bool chunk_open(struct chunk *chunk, const void *data, size_t len)
{
    const uint8_t *p = (const uint8_t *)data;
    if (len < CHUNK_HEAD + CHUNK_TAIL || len > UNSEEN_CHUNK_MAX ||
        load_le32(p + 4) != len - CHUNK_HEAD - CHUNK_TAIL || load_le64(p + 16) != 0 ||
        load_le64(p + len - CHUNK_TAIL) != unseen__checksum(p, len - CHUNK_TAIL)) {
        return false;
    }
    *chunk = (struct chunk){.kind = chunk_kind(p),
                            .id = load_le64(p + 8),
                            .payload = p + CHUNK_HEAD,
                            .len = len - CHUNK_HEAD - CHUNK_TAIL};
    return true;
}

/* Writes what the payload of each header chunk begins with. */
static inline void chunk_put_version(uint8_t *payload, const uint8_t magic[8], uint32_t version)
{
    memcpy(payload, magic, 8);
    store_le32(payload + 8, version);
    store_le32(payload + 12, 0); /* incompatible features */
}

#endif
