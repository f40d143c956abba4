/* SPDX-License-Identifier: MIT
 *
 * Writes a foreign filter to a file of chunks, and reads it (docs/format.md, "Foreign filter"). */
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "foreign/foreign.h"
#include "hash/chunk.h"
#include "hash/chunk_file.h"

enum {
    FORMAT_VERSION = 1,
    HEADER_LEN = 48,
    LINK_LEN = 16,
    PIECE_HEAD = 8
};

#define KIND_HEADER 0x48464e55u /* "UNFH" */
#define KIND_PIECE  0x50464e55u /* "UNFP" */
#define KIND_END    0x45464e55u /* "UNFE" */

static const uint8_t magic[8] = {0x89, 'U', 'N', 'F', '\r', '\n', 0x1a, '\n'};

/* ---- Writing --------------------------------------------------------------------------------- */

static uint64_t foreign_export_id(const void *object)
{
    const struct unseen_foreign *f = object;
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

static size_t foreign_put_header(const void *object, uint8_t *p)
{
    const struct unseen_foreign *f = object;
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
    return HEADER_LEN + f->nlinks * LINK_LEN;
}

static size_t foreign_put_piece(const void *object, uint64_t *position, uint8_t *payload)
{
    const struct unseen_foreign *f = object;
    const uint64_t at = *position * FOREIGN_PIECE;
    if (at >= f->nbytes) {
        return 0;
    }
    const uint64_t left = f->nbytes - at;
    const size_t len = left < FOREIGN_PIECE ? (size_t)left : FOREIGN_PIECE;
    store_le64(payload, at);
    memcpy(payload + PIECE_HEAD, f->pieces[*position], len);
    ++*position;
    return PIECE_HEAD + len;
}

static uint64_t foreign_end(const void *object)
{
    const struct unseen_foreign *f = object;
    return f->npieces;
}

static uint64_t foreign_total(const void *object)
{
    const struct unseen_foreign *f = object;
    return f->nbytes;
}

enum unseen_status unseen__foreign_next_chunk(const void *filter, uint64_t *cursor, void *buf,
                                              size_t cap, size_t *len_out)
{
    static const struct chunk_cutter cutter = {.header_kind = KIND_HEADER,
                                               .piece_kind = KIND_PIECE,
                                               .end_kind = KIND_END,
                                               .id = foreign_export_id,
                                               .put_header = foreign_put_header,
                                               .put_piece = foreign_put_piece,
                                               .end = foreign_end,
                                               .total = foreign_total};
    return foreign_is_complete(filter)
               ? unseen__chunk_cut(&cutter, filter, cursor, buf, cap, len_out)
               : UNSEEN_ERR_ARGUMENT;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static enum unseen_status foreign_make(struct unseen_foreign **f,
                                       const struct unseen_allocator *allocator, const uint8_t *p,
                                       size_t nlinks)
{
    const struct unseen_allocator a = unseen__allocator(allocator);
    struct unseen_foreign_link *links =
        unseen__alloc(&a, nlinks * sizeof(*links), _Alignof(max_align_t));
    if (!links) {
        return UNSEEN_ERR_NOMEM;
    }
    for (size_t i = 0; i < nlinks; i++) {
        links[i] =
            (struct unseen_foreign_link){.nbits = load_le64(p + HEADER_LEN + i * LINK_LEN),
                                         .hashes = load_le32(p + HEADER_LEN + i * LINK_LEN + 8)};
    }
    const struct unseen_foreign_options options = {
        .size = sizeof(options),
        .scheme = (enum unseen_foreign_scheme)load_le32(p + 16),
        .text = (enum unseen_foreign_text)load_le32(p + 20),
        .links = links,
        .nlinks = nlinks,
        .nkeys = load_le64(p + 24),
        .allocator = allocator,
    };
    const enum unseen_status status = unseen_foreign_create(f, &options, NULL);
    unseen__free(&a, links, nlinks * sizeof(*links));
    return status == UNSEEN_ERR_ARGUMENT ? UNSEEN_ERR_CORRUPT : status;
}

static enum unseen_status foreign_take_header(struct unseen_foreign **f,
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
    if (nlinks == 0 || nlinks > UNSEEN_FOREIGN_LINKS_MAX || len != HEADER_LEN + nlinks * LINK_LEN) {
        return UNSEEN_ERR_CORRUPT;
    }
    const enum unseen_status status = foreign_make(f, allocator, p, nlinks);
    if (status == UNSEEN_OK) {
        (*f)->import_id = id;
    }
    return status;
}

static enum unseen_status foreign_take_piece(struct unseen_foreign *f, const uint8_t *p, size_t len)
{
    if (len <= PIECE_HEAD || len > PIECE_HEAD + FOREIGN_PIECE || load_le64(p) != f->nhere) {
        return UNSEEN_ERR_CORRUPT;
    }
    return unseen_foreign_append(f, p + PIECE_HEAD, len - PIECE_HEAD, NULL);
}

static enum unseen_status foreign_take_end(struct unseen_foreign *f, const uint8_t *p, size_t len)
{
    f->import_ended = len == 8 && load_le64(p) == f->nbytes && foreign_is_complete(f);
    return f->import_ended ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

enum unseen_status unseen__foreign_take_chunk(void *reading, const void *data, size_t len,
                                              bool *complete_out)
{
    struct foreign_reading *r = reading;
    struct chunk chunk;
    if (!chunk_open(&chunk, data, len)) {
        return UNSEEN_ERR_CORRUPT;
    }
    enum unseen_status status = UNSEEN_ERR_CORRUPT;
    if (chunk.kind == KIND_HEADER) {
        status = foreign_take_header(&r->filter, r->allocator, chunk.payload, chunk.len, chunk.id);
    } else if (r->filter && chunk.id == r->filter->import_id && !r->filter->import_ended) {
        if (chunk.kind == KIND_PIECE) {
            status = foreign_take_piece(r->filter, chunk.payload, chunk.len);
        } else if (chunk.kind == KIND_END) {
            status = foreign_take_end(r->filter, chunk.payload, chunk.len);
        }
    }
    if (status == UNSEEN_OK) {
        *complete_out = r->filter->import_ended;
    }
    return status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

enum unseen_status unseen_foreign_open(struct unseen_foreign **filter_out, const char *path,
                                       const struct unseen_allocator *allocator,
                                       struct unseen_error *error)
{
    struct foreign_reading r = {.allocator = allocator};
    const enum unseen_status status = unseen__chunk_file_read(
        path, KIND_HEADER, allocator, unseen__foreign_take_chunk, &r, error);
    if (status != UNSEEN_OK) {
        unseen_foreign_free(r.filter);
        return status;
    }
    *filter_out = r.filter;
    return UNSEEN_OK;
}

enum unseen_status unseen_foreign_save(const struct unseen_foreign *f, const char *path,
                                       struct unseen_error *error)
{
    struct chunk_writer w;
    const enum unseen_status status =
        unseen__chunk_writer_open(&w, path, 0666, &f->allocator, error);
    return status == UNSEEN_OK
               ? unseen__chunk_writer_finish(&w, unseen__foreign_next_chunk, f, error)
               : status;
}
