/* SPDX-License-Identifier: MIT
 *
 * Exports a frozen layer as chunks, and imports it (docs/format.md, "Frozen layer"). The cursor of
 * an export is 0 for the header, then 1 + the next byte of the row, then CURSOR_END. */
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "hash/chunk.h"
#include "hash/chunk_file.h"
#include "layer/layer.h"

enum {
    FORMAT_VERSION = 1,
    HEADER_LEN = 48,
    LINK_LEN = 16,
    PIECE_HEAD = 8
};

#define KIND_HEADER 0x48464e55u /* "UNFH" */
#define KIND_PIECE  0x50464e55u /* "UNFP" */
#define KIND_END    0x45464e55u /* "UNFE" */
#define CURSOR_END  UINT64_MAX

static const uint8_t magic[8] = {0x89, 'U', 'N', 'F', '\r', '\n', 0x1a, '\n'};

/* ---- Export ---------------------------------------------------------------------------------- */

/* An id that ties the chunks of one export together, as well as a few words can. */
static uint64_t layer_export_id(const struct unseen_layer *f)
{
    uint8_t parts[24];
    uint64_t nset = 0;
    for (size_t i = 0; i < f->nlinks; i++) {
        nset += f->links[i].nset;
    }
    store_le64(parts, f->nkeys);
    store_le64(parts + 8, f->nbytes);
    store_le64(parts + 16, nset);
    return unseen__checksum(parts, sizeof(parts));
}

static size_t layer_put_header(const struct unseen_layer *f, uint8_t *chunk)
{
    uint8_t *p = chunk + CHUNK_HEAD;
    memset(p, 0, HEADER_LEN + f->nlinks * LINK_LEN);
    chunk_put_version(p, magic, FORMAT_VERSION);
    store_le32(p + 16, f->scheme);
    store_le32(p + 20, f->text);
    store_le64(p + 24, f->nkeys);
    store_le32(p + 32, (uint32_t)f->nlinks);
    for (size_t i = 0; i < f->nlinks; i++) {
        store_le64(p + HEADER_LEN + i * LINK_LEN, f->links[i].nbits);
        store_le32(p + HEADER_LEN + i * LINK_LEN + 8, f->links[i].hashes);
    }
    return chunk_seal(chunk, KIND_HEADER, layer_export_id(f), HEADER_LEN + f->nlinks * LINK_LEN);
}

static size_t layer_put_piece(const struct unseen_layer *f, uint64_t at, uint8_t *chunk,
                              size_t *len_out)
{
    const uint64_t left = f->nbytes - at;
    const size_t len = left < LAYER_PIECE ? (size_t)left : LAYER_PIECE;
    store_le64(chunk + CHUNK_HEAD, at);
    memcpy(chunk + CHUNK_HEAD + PIECE_HEAD, f->pieces[at >> LAYER_PIECE_LOG], len);
    *len_out = len;
    return chunk_seal(chunk, KIND_PIECE, layer_export_id(f), PIECE_HEAD + len);
}

enum unseen_status unseen_layer_export(const struct unseen_layer *f, uint64_t *cursor, void *buf,
                                       size_t cap, size_t *len_out)
{
    uint8_t *chunk = buf;
    if (cap < UNSEEN_CHUNK_MAX) {
        return UNSEEN_ERR_SPACE;
    }
    if (!layer_is_complete(f)) {
        return UNSEEN_ERR_ARGUMENT;
    }
    if (*cursor == CURSOR_END) {
        *len_out = 0;
    } else if (*cursor == 0) {
        *len_out = layer_put_header(f, chunk);
        *cursor = 1;
    } else if (*cursor - 1 < f->nbytes && (*cursor - 1) % LAYER_PIECE == 0) {
        size_t len = 0;
        *len_out = layer_put_piece(f, *cursor - 1, chunk, &len);
        *cursor += len;
    } else if (*cursor - 1 == f->nbytes) {
        store_le64(chunk + CHUNK_HEAD, f->nbytes);
        *len_out = chunk_seal(chunk, KIND_END, layer_export_id(f), 8);
        *cursor = CURSOR_END;
    } else {
        return UNSEEN_ERR_ARGUMENT;
    }
    return UNSEEN_OK;
}

/* ---- Import ---------------------------------------------------------------------------------- */

static enum unseen_status layer_make(struct unseen_layer **f,
                                     const struct unseen_allocator *allocator, const uint8_t *p,
                                     size_t nlinks)
{
    const struct unseen_allocator a = unseen__allocator(allocator);
    struct unseen_layer_link *links =
        unseen__alloc(&a, nlinks * sizeof(*links), _Alignof(max_align_t));
    if (!links) {
        return UNSEEN_ERR_NOMEM;
    }
    for (size_t i = 0; i < nlinks; i++) {
        links[i] =
            (struct unseen_layer_link){.nbits = load_le64(p + HEADER_LEN + i * LINK_LEN),
                                       .hashes = load_le32(p + HEADER_LEN + i * LINK_LEN + 8)};
    }
    const struct unseen_layer_options options = {
        .size = sizeof(options),
        .scheme = (enum unseen_layer_scheme)load_le32(p + 16),
        .text = (enum unseen_layer_text)load_le32(p + 20),
        .links = links,
        .nlinks = nlinks,
        .nkeys = load_le64(p + 24),
        .allocator = allocator,
    };
    const enum unseen_status status = unseen_layer_create(f, &options, NULL);
    unseen__free(&a, links, nlinks * sizeof(*links));
    return status == UNSEEN_ERR_ARGUMENT ? UNSEEN_ERR_CORRUPT : status;
}

static enum unseen_status layer_take_header(struct unseen_layer **f,
                                            const struct unseen_allocator *allocator,
                                            const uint8_t *p, size_t len, uint64_t id)
{
    if (*f || len < HEADER_LEN || memcmp(p, magic, sizeof(magic)) != 0) {
        return UNSEEN_ERR_CORRUPT;
    }
    if (load_le32(p + 8) != FORMAT_VERSION || load_le32(p + 12) != 0) {
        return UNSEEN_ERR_VERSION;
    }
    const size_t nlinks = load_le32(p + 32);
    if (nlinks == 0 || nlinks > UNSEEN_LAYER_LINKS_MAX || len != HEADER_LEN + nlinks * LINK_LEN) {
        return UNSEEN_ERR_CORRUPT;
    }
    const enum unseen_status status = layer_make(f, allocator, p, nlinks);
    if (status == UNSEEN_OK) {
        (*f)->import_id = id;
    }
    return status;
}

static enum unseen_status layer_take_piece(struct unseen_layer *f, const uint8_t *p, size_t len)
{
    if (len <= PIECE_HEAD || len > PIECE_HEAD + LAYER_PIECE || load_le64(p) != f->nhere) {
        return UNSEEN_ERR_CORRUPT;
    }
    return unseen_layer_append(f, p + PIECE_HEAD, len - PIECE_HEAD, NULL);
}

static enum unseen_status layer_take_end(struct unseen_layer *f, const uint8_t *p, size_t len)
{
    f->import_ended = len == 8 && load_le64(p) == f->nbytes && layer_is_complete(f);
    return f->import_ended ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

enum unseen_status unseen_layer_import_chunk(struct unseen_layer **f,
                                             const struct unseen_allocator *allocator,
                                             const void *data, size_t len, bool *complete_out)
{
    struct chunk chunk;
    if (!chunk_open(&chunk, data, len)) {
        return UNSEEN_ERR_CORRUPT;
    }
    enum unseen_status status = UNSEEN_ERR_CORRUPT;
    if (chunk.kind == KIND_HEADER) {
        status = layer_take_header(f, allocator, chunk.payload, chunk.len, chunk.id);
    } else if (*f && chunk.id == (*f)->import_id && !(*f)->import_ended) {
        if (chunk.kind == KIND_PIECE) {
            status = layer_take_piece(*f, chunk.payload, chunk.len);
        } else if (chunk.kind == KIND_END) {
            status = layer_take_end(*f, chunk.payload, chunk.len);
        }
    }
    if (status == UNSEEN_OK) {
        *complete_out = (*f)->import_ended;
    }
    return status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

struct opening {
    struct unseen_layer *layer;
    const struct unseen_allocator *allocator;
};

static enum unseen_status layer_take_chunk(void *object, const void *chunk, size_t len,
                                           bool *complete_out)
{
    struct opening *o = object;
    return unseen_layer_import_chunk(&o->layer, o->allocator, chunk, len, complete_out);
}

static enum unseen_status layer_next_chunk(const void *object, uint64_t *cursor, void *buf,
                                           size_t cap, size_t *len_out)
{
    return unseen_layer_export(object, cursor, buf, cap, len_out);
}

enum unseen_status unseen_layer_open(struct unseen_layer **layer_out, const char *path,
                                     const struct unseen_allocator *allocator,
                                     struct unseen_error *error)
{
    struct opening o = {.allocator = allocator};
    const enum unseen_status status =
        unseen__chunk_file_read(path, KIND_HEADER, allocator, layer_take_chunk, &o, error);
    if (status != UNSEEN_OK) {
        unseen_layer_free(o.layer);
        return status;
    }
    *layer_out = o.layer;
    return UNSEEN_OK;
}

enum unseen_status unseen_layer_save(const struct unseen_layer *f, const char *path,
                                     struct unseen_error *error)
{
    struct chunk_writer w;
    const enum unseen_status status = unseen__chunk_writer_open(&w, path, &f->allocator, error);
    return status == UNSEEN_OK ? unseen__chunk_writer_finish(&w, layer_next_chunk, f, error)
                               : status;
}
