/* SPDX-License-Identifier: MIT */
#include "hash/chunk.h"

#define CURSOR_END UINT64_MAX

enum unseen_status unseen__chunk_cut(const struct chunk_cutter *cutter, const void *object,
                                     uint64_t *cursor, void *buf, size_t cap, size_t *len_out)
{
    uint8_t *chunk = buf;
    uint8_t *payload = chunk + CHUNK_HEAD;
    uint64_t position = *cursor - 1;
    uint32_t kind = cutter->header_kind;
    size_t len;
    if (cap < UNSEEN_CHUNK_MAX) {
        return UNSEEN_ERR_SPACE;
    }
    if (*cursor == CURSOR_END) {
        *len_out = 0;
        return UNSEEN_OK;
    }
    if (*cursor == 0) {
        len = cutter->put_header(object, payload);
        *cursor = 1;
    } else if (position > cutter->end(object)) {
        return UNSEEN_ERR_ARGUMENT;
    } else if ((len = cutter->put_piece(object, &position, payload)) > 0) {
        kind = cutter->piece_kind;
        *cursor = position + 1;
    } else if (cutter->put_tail && (len = cutter->put_tail(object, &position, payload)) > 0) {
        kind = cutter->tail_kind;
        *cursor = position + 1;
    } else {
        kind = cutter->end_kind;
        store_le64(payload, cutter->total(object));
        len = 8;
        *cursor = CURSOR_END;
    }
    *len_out = chunk_seal(chunk, kind, cutter->id(object), len);
    return UNSEEN_OK;
}
