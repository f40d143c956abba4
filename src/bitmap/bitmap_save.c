/* SPDX-License-Identifier: MIT
 *
 * Writes a bitmap to a file of chunks, and reads it (docs/format.md, "Bitmap"). The chunks depend
 * on the integers only, not on the order of the calls: a page is written as a list if that is
 * shorter, else as bits. The position of a piece is its first page. */
#include "bitmap/bitmap.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "hash/chunk.h"
#include "hash/chunk_file.h"

enum {
    FORMAT_VERSION = 1,
    HEADER_LEN = 32,
    PAGE_HEAD = 8,
    LIST_MAX = UNSEEN__PAGE / 2 /* with this many integers a list is as long as the bits */
};

#define KIND_HEADER 0x48424e55u /* "UNBH" */
#define KIND_PIECE  0x50424e55u /* "UNBP" */
#define KIND_END    0x45424e55u /* "UNBE" */

static const uint8_t magic[8] = {0x89, 'U', 'N', 'B', '\r', '\n', 0x1a, '\n'};

/* ---- writing ---- */

static uint64_t bitmap_export_id(const void *object)
{
    const struct unseen_bitmap *b = object;
    uint64_t first = 0;
    uint8_t parts[16];
    (void)unseen_bitmap_next(b, 0, &first, 1);
    store_le64(parts, b->count);
    store_le64(parts + 8, first);
    return unseen__checksum(parts, sizeof(parts));
}

static size_t bitmap_put_header(const void *object, uint8_t *payload)
{
    const struct unseen_bitmap *b = object;
    memset(payload, 0, HEADER_LEN);
    chunk_put_version(payload, magic, FORMAT_VERSION);
    store_le64(payload + 16, b->count);
    return HEADER_LEN;
}

static size_t page_len(unsigned count)
{
    return PAGE_HEAD + (count <= LIST_MAX ? 2 * (size_t)count : (size_t)UNSEEN__PAGE);
}

static void bitmap_put_list(uint64_t entry, uint8_t *p)
{
    if (bitmap_shape(entry) != BITMAP_DENSE) {
        const uint16_t *cell = bitmap_cell(entry);
        for (unsigned i = 1; i <= cell[0]; i++, p += 2) {
            store_le16(p, cell[i]);
        }
        return;
    }
    for (unsigned i = 0; i < BITMAP_WORDS; i++) {
        for (uint64_t w = bitmap_words(entry)[i]; w; w &= w - 1, p += 2) {
            store_le16(p, (uint16_t)(64 * i + (unsigned)__builtin_ctzll(w)));
        }
    }
}

static void put_page(uint8_t *p, uint64_t page, uint64_t entry, unsigned count)
{
    store_le32(p, (uint32_t)page);
    store_le16(p + 4, (uint16_t)count);
    store_le16(p + 6, 0);
    if (count <= LIST_MAX) {
        bitmap_put_list(entry, p + PAGE_HEAD);
        return;
    }
    for (unsigned i = 0; i < BITMAP_WORDS; i++) {
        store_le64(p + PAGE_HEAD + 8 * (size_t)i, bitmap_words(entry)[i]);
    }
}

/* Puts as many pages from *page on as fit. */
static size_t bitmap_put_pages(const void *object, uint64_t *page, uint8_t *payload)
{
    const struct unseen_bitmap *b = object;
    size_t len = 0;
    for (; (*page = unseen__bitmap_next_page(b, *page)) < BITMAP_PAGES_END; ++*page) {
        const uint64_t entry = *bitmap_entry(b, *page);
        const unsigned count = unseen__bitmap_page_count(b, entry);
        if (len + page_len(count) > CHUNK_PAYLOAD_MAX) {
            break;
        }
        put_page(payload + len, *page, entry, count);
        len += page_len(count);
    }
    return len;
}

static uint64_t bitmap_end(const void *object)
{
    (void)object;
    return BITMAP_PAGES_END;
}

static uint64_t bitmap_total(const void *object)
{
    const struct unseen_bitmap *b = object;
    return b->count;
}

enum unseen_status unseen__bitmap_next_chunk(const void *bitmap, uint64_t *cursor, void *buf,
                                             size_t cap, size_t *len_out)
{
    static const struct chunk_cutter cutter = {.header_kind = KIND_HEADER,
                                               .piece_kind = KIND_PIECE,
                                               .end_kind = KIND_END,
                                               .id = bitmap_export_id,
                                               .put_header = bitmap_put_header,
                                               .put_piece = bitmap_put_pages,
                                               .end = bitmap_end,
                                               .total = bitmap_total};
    return unseen__chunk_cut(&cutter, bitmap, cursor, buf, cap, len_out);
}

/* ---- reading ---- */

static enum unseen_status bitmap_take_header(struct unseen_bitmap *b, const uint8_t *p, size_t len,
                                             uint64_t id)
{
    if (b->import.has_header || len != HEADER_LEN || memcmp(p, magic, sizeof(magic)) != 0) {
        return UNSEEN_ERR_CORRUPT;
    }
    if (load_le32(p + 8) != FORMAT_VERSION || load_le32(p + 12) != 0) {
        return UNSEEN_ERR_VERSION;
    }
    if (b->count != 0) {
        return UNSEEN_ERR_ARGUMENT;
    }
    b->import = (struct bitmap_import){.has_header = true, .id = id, .count = load_le64(p + 16)};
    return b->import.count <= UNSEEN_BITMAP_END ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

static enum unseen_status take_list(struct unseen_bitmap *b, uint64_t *entry, const uint8_t *p,
                                    unsigned count)
{
    uint16_t lows[LIST_MAX];
    for (unsigned i = 0; i < count; i++) {
        lows[i] = load_le16(p + 2 * (size_t)i);
        if (lows[i] >= BITMAP_ENTRIES_PER_PAGE || (i > 0 && lows[i] <= lows[i - 1])) {
            return UNSEEN_ERR_CORRUPT;
        }
    }
    if (count < BITMAP_CELL_MAX) {
        return unseen__bitmap_put_cell(b, entry, lows, count);
    }
    const enum unseen_status status = unseen__bitmap_densify(b, entry);
    for (unsigned i = 0; i < count && status == UNSEEN_OK; i++) {
        bitmap_words(*entry)[lows[i] / 64] |= (uint64_t)1 << lows[i] % 64;
    }
    return status;
}

static enum unseen_status take_bits(struct unseen_bitmap *b, uint64_t *entry, const uint8_t *p,
                                    unsigned count)
{
    const enum unseen_status status = unseen__bitmap_densify(b, entry);
    if (status != UNSEEN_OK) {
        return status;
    }
    for (unsigned i = 0; i < BITMAP_WORDS; i++) {
        bitmap_words(*entry)[i] = load_le64(p + 8 * (size_t)i);
    }
    return unseen__bitmap_page_count(b, *entry) == count ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

/* Reads one page at p; *len_out is its length. */
static enum unseen_status take_page(struct unseen_bitmap *b, const uint8_t *p, size_t len,
                                    size_t *len_out)
{
    if (len < PAGE_HEAD) {
        return UNSEEN_ERR_CORRUPT;
    }
    const uint64_t page = load_le32(p);
    const unsigned count = load_le16(p + 4);
    if (page >= BITMAP_PAGES_END || count == 0 || count > BITMAP_ENTRIES_PER_PAGE ||
        load_le16(p + 6) != 0 || page_len(count) > len) {
        return UNSEEN_ERR_CORRUPT;
    }
    uint64_t *entry = unseen__bitmap_entry_make(b, page);
    if (!entry) {
        return UNSEEN_ERR_NOMEM;
    }
    if (*entry) {
        return UNSEEN_ERR_CORRUPT;
    }
    *len_out = page_len(count);
    const enum unseen_status status = count <= LIST_MAX ? take_list(b, entry, p + PAGE_HEAD, count)
                                                        : take_bits(b, entry, p + PAGE_HEAD, count);
    if (status == UNSEEN_OK) {
        b->count += count;
    }
    return status;
}

static enum unseen_status bitmap_take_piece(struct unseen_bitmap *b, const uint8_t *p, size_t len)
{
    enum unseen_status status = len ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
    while (len > 0 && status == UNSEEN_OK) {
        size_t used = 0;
        status = take_page(b, p, len, &used);
        p += used;
        len -= used;
    }
    return status;
}

static enum unseen_status bitmap_take_end(struct unseen_bitmap *b, const uint8_t *p, size_t len)
{
    if (b->import.has_end || len != 8 || load_le64(p) != b->import.count) {
        return UNSEEN_ERR_CORRUPT;
    }
    b->import.has_end = true;
    return UNSEEN_OK;
}

enum unseen_status unseen__bitmap_take_chunk(void *bitmap, const void *data, size_t len,
                                             bool *complete_out)
{
    struct unseen_bitmap *b = bitmap;
    struct chunk chunk;
    if (!chunk_open(&chunk, data, len) ||
        (chunk.kind != KIND_HEADER && (!b->import.has_header || chunk.id != b->import.id))) {
        return UNSEEN_ERR_CORRUPT;
    }
    enum unseen_status status = UNSEEN_ERR_CORRUPT;
    if (chunk.kind == KIND_HEADER) {
        status = bitmap_take_header(b, chunk.payload, chunk.len, chunk.id);
    } else if (chunk.kind == KIND_PIECE) {
        status = bitmap_take_piece(b, chunk.payload, chunk.len);
    } else if (chunk.kind == KIND_END) {
        status = bitmap_take_end(b, chunk.payload, chunk.len);
    }
    if (status == UNSEEN_OK && b->count > b->import.count) {
        status = UNSEEN_ERR_CORRUPT;
    }
    if (status == UNSEEN_OK) {
        *complete_out = b->import.has_end && b->count == b->import.count;
    }
    return status;
}

/* ---- files ---- */

/* The lock comes before the reading, so that no edit is lost. */
static enum unseen_status bitmap_open_file(struct unseen_bitmap *b, const char *path,
                                           enum unseen_bitmap_mode mode, struct unseen_error *error)
{
    const struct unseen_allocator *allocator = &b->pool.pages.allocator;
    if (mode == UNSEEN_BITMAP_EDIT) {
        const enum unseen_status status =
            unseen__chunk_writer_open(&b->writer, path, 0666, allocator, error);
        if (status != UNSEEN_OK) {
            return status;
        }
        b->is_edited = true;
    }
    const enum unseen_status status =
        unseen__chunk_file_read(path, KIND_HEADER, allocator, unseen__bitmap_take_chunk, b, error);
    return status == UNSEEN_ERR_MISSING && b->is_edited ? UNSEEN_OK : status;
}

enum unseen_status unseen_bitmap_open(struct unseen_bitmap **bitmap_out, const char *path,
                                      enum unseen_bitmap_mode mode,
                                      const struct unseen_bitmap_options *options,
                                      struct unseen_error *error)
{
    struct unseen_bitmap *b;
    enum unseen_status status = unseen_bitmap_create(&b, options, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = bitmap_open_file(b, path, mode, error);
    if (status != UNSEEN_OK) {
        unseen_bitmap_free(b);
        return status;
    }
    *bitmap_out = b;
    return UNSEEN_OK;
}

enum unseen_status unseen_bitmap_save(struct unseen_bitmap *b, struct unseen_error *error)
{
    if (!b->is_edited) {
        return unseen__error_plain(error, UNSEEN_ERR_ARGUMENT);
    }
    b->is_edited = false;
    return unseen__chunk_writer_finish(&b->writer, unseen__bitmap_next_chunk, b, error);
}
