/* SPDX-License-Identifier: MIT
 *
 * The frame of a chunk, and the cutting of an object into chunks. An export of a set, a bitmap or a
 * foreign filter is a row of chunks (docs/format.md, "Chunks"): a header, pieces, an end mark. A
 * chunk is a head with its kind, its length and the id of the export, then the payload, then a
 * checksum. */
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

/* How objects of one type are cut into chunks. Functions that put write a payload and return its
 * length. */
struct chunk_cutter {
    uint32_t header_kind;
    uint32_t piece_kind;
    uint32_t end_kind;

    /* An id that ties the chunks of one export together. */
    uint64_t (*id)(const void *object);

    size_t (*put_header)(const void *object, uint8_t *payload);

    /* Puts the piece at *position, from 0, and moves *position to the next piece. Returns 0 if
     * there are no more. */
    size_t (*put_piece)(const void *object, uint64_t *position, uint8_t *payload);

    /* Puts what comes behind the pieces, in the same way. Its positions are higher. NULL:
     * nothing. */
    size_t (*put_tail)(const void *object, uint64_t *position, uint8_t *payload);
    uint32_t tail_kind;

    uint64_t (*end)(const void *object);   /* the largest position that there may be */
    uint64_t (*total)(const void *object); /* what the end mark says */
};

/* Writes the next chunk of the object into buf, as unseen_set_export does and with its errors. The
 * cursor is 0 for the header, then 1 + the position of the next piece. */
enum unseen_status unseen__chunk_cut(const struct chunk_cutter *cutter, const void *object,
                                     uint64_t *cursor, void *buf, size_t cap, size_t *len_out);

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
