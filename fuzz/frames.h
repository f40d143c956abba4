/* SPDX-License-Identifier: MIT
 *
 * Inputs that are the payloads of chunks. Each payload stands behind its kind (0 header, 1 piece, 2
 * end) and its length in 2 bytes. The target makes the frames itself, so that mutations get past
 * the checksum. */
#ifndef UNSEEN_FUZZ_FRAMES_H
#define UNSEEN_FUZZ_FRAMES_H

#include "target.h"
#include "test.h"

#include "base/bytes.h"
#include "hash/checksum.h"

enum {
    FRAME_HEAD = 24,
    FRAME_TAIL = 8
};

struct frames {
    const char (*kinds)[5]; /* the marks of the three kinds of chunks */
    const uint8_t *data;
    size_t size;
};

/* Makes the next chunk. Returns its length, 0 at the end. */
static inline size_t frames_next(struct frames *f, uint8_t chunk[UNSEEN_CHUNK_MAX])
{
    if (f->size < 3) {
        return 0;
    }
    const size_t most = UNSEEN_CHUNK_MAX - FRAME_HEAD - FRAME_TAIL;
    const char *kind = f->kinds[f->data[0] % 3];
    size_t len = load_le16(f->data + 1);
    len = len < f->size - 3 ? len : f->size - 3;
    len = len < most ? len : most;
    memcpy(chunk, kind, 4);
    store_le32(chunk + 4, (uint32_t)len);
    store_le64(chunk + 8, 7);
    store_le64(chunk + 16, 0);
    memcpy(chunk + FRAME_HEAD, f->data + 3, len);
    store_le64(chunk + FRAME_HEAD + len, unseen__checksum(chunk, FRAME_HEAD + len));
    f->data += 3 + len;
    f->size -= 3 + len;
    return FRAME_HEAD + len + FRAME_TAIL;
}

#endif
