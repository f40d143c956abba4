/* SPDX-License-Identifier: MIT
 *
 * Creates, saves, loads and merges arrays of lines, the memory of the Bloom filters
 * (line_array.h). */
#include "bits/line_array.h"

#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/memory.h"

enum {
    PIECE_ARRAY = 1,
    PIECE_HEAD = 16,
    PIECE_LINES = 512,
    FULL_PIECE = PIECE_LINES * UNSEEN__LINE
};

/* From this size on an array is whole huge pages. */
#define LARGE ((size_t)16 * UNSEEN__HUGE_PAGE)

static size_t round_up(size_t size)
{
    return size < LARGE ? size
                        : (size + UNSEEN__HUGE_PAGE - 1) / UNSEEN__HUGE_PAGE * UNSEEN__HUGE_PAGE;
}

static size_t loaded_size(const struct unseen__line_array *array)
{
    return (size_t)(array->nlines / 64 + 1) * sizeof(*array->loaded);
}

/* True if a size_t can count the bytes and a position (below 2^49) can name each line. */
static bool is_countable(uint64_t nlines)
{
    return nlines > 0 && nlines <= SIZE_MAX / 2 / UNSEEN__LINE && nlines < (uint64_t)1 << 40;
}

enum unseen_status unseen__line_array_init(struct unseen__line_array *array, uint64_t nlines,
                                           unsigned prefix_bits, uint64_t prefix, uint64_t load_max,
                                           bool clears_later,
                                           const struct unseen_allocator *allocator)
{
    const bool to_load = load_max > 0;
    if (!is_countable(nlines)) {
        return UNSEEN_ERR_NOMEM;
    }
    *array = (struct unseen__line_array){
        .nlines = nlines, .first_line = prefix * nlines, .end_line = nlines << prefix_bits};
    if (to_load && array->end_line > load_max / UNSEEN__LINE) {
        return UNSEEN_ERR_CORRUPT; /* the pieces have every line */
    }
    array->nbytes = round_up((size_t)nlines * UNSEEN__LINE);
    if (!unseen__memory_is_plausible(allocator, array->nbytes)) {
        return UNSEEN_ERR_NOMEM;
    }
    array->bytes = (to_load || clears_later ? unseen__alloc : unseen__alloc_zero)(
        allocator, array->nbytes, UNSEEN__LINE);
    if (!array->bytes) {
        return UNSEEN_ERR_NOMEM;
    }
    if (!to_load) {
        if (array->nbytes >= LARGE) {
            unseen__memory_large(allocator, array->bytes, array->nbytes);
        }
        return UNSEEN_OK;
    }
    array->loaded = unseen__alloc_zero(allocator, loaded_size(array), sizeof(uint64_t));
    if (!array->loaded) {
        unseen__line_array_release(array, allocator);
        return UNSEEN_ERR_NOMEM;
    }
    return UNSEEN_OK;
}

void unseen__line_array_release(struct unseen__line_array *array,
                                const struct unseen_allocator *allocator)
{
    if (array->loaded) {
        unseen__free(allocator, array->loaded, loaded_size(array));
    }
    unseen__free(allocator, array->bytes, array->nbytes);
    *array = (struct unseen__line_array){0};
}

size_t unseen__line_array_memory(const struct unseen__line_array *array)
{
    return array->nbytes + (array->loaded ? loaded_size(array) : 0);
}

/* ---- pieces ---- */

size_t unseen__line_array_save_piece(const struct unseen__line_array *array, uint64_t *position,
                                     uint8_t *buf)
{
    if (*position >= array->nlines) {
        return 0;
    }
    uint64_t n = array->nlines - *position;
    n = n < PIECE_LINES ? n : PIECE_LINES;
    memset(buf, 0, PIECE_HEAD);
    buf[0] = PIECE_ARRAY;
    store_le64(buf + 8, array->first_line + *position);
    memcpy(buf + PIECE_HEAD, array->bytes + (size_t)*position * UNSEEN__LINE,
           (size_t)n * UNSEEN__LINE);
    *position += n;
    return PIECE_HEAD + (size_t)n * UNSEEN__LINE;
}

static bool is_piece(const uint8_t *piece, size_t len)
{
    return len > PIECE_HEAD && (len - PIECE_HEAD) % UNSEEN__LINE == 0 &&
           len <= PIECE_HEAD + FULL_PIECE && load_le64(piece) == PIECE_ARRAY;
}

/* The lines of a piece are lines of the whole array. */
static bool is_inside(const struct unseen__line_array *array, const uint8_t *piece, size_t len)
{
    const uint64_t start = load_le64(piece + 8);
    return start < array->end_line && (len - PIECE_HEAD) / UNSEEN__LINE <= array->end_line - start;
}

size_t unseen__line_array_overlap(const struct unseen__line_array *array, const uint8_t *piece,
                                  size_t len, const uint8_t **bytes_out, size_t *offset_out)
{
    const uint64_t nlines = (len - PIECE_HEAD) / UNSEEN__LINE;
    const uint64_t start = load_le64(piece + 8);
    const uint64_t end = array->first_line + array->nlines;
    const uint64_t from = start > array->first_line ? start : array->first_line;
    if (start >= end || nlines <= from - start) {
        return 0;
    }
    const uint64_t left = nlines - (from - start);
    const uint64_t n = left < end - from ? left : end - from;
    *bytes_out = piece + PIECE_HEAD + (size_t)(from - start) * UNSEEN__LINE;
    *offset_out = (size_t)(from - array->first_line) * UNSEEN__LINE;
    return (size_t)n * UNSEEN__LINE;
}

bool unseen__line_array_owns_piece(const struct unseen__line_array *array, const uint8_t *piece,
                                   size_t len)
{
    const uint8_t *bytes = NULL;
    size_t offset = 0;
    return is_piece(piece, len) && is_inside(array, piece, len) &&
           unseen__line_array_overlap(array, piece, len, &bytes, &offset) > 0;
}

enum unseen_status unseen__line_array_load_piece(struct unseen__line_array *array,
                                                 const uint8_t *piece, size_t len,
                                                 const struct unseen_allocator *allocator)
{
    const uint8_t *bytes = NULL;
    size_t offset = 0;
    if (!array->loaded || !unseen__line_array_owns_piece(array, piece, len)) {
        return UNSEEN_ERR_CORRUPT;
    }
    const size_t n = unseen__line_array_overlap(array, piece, len, &bytes, &offset);
    for (size_t line = offset / UNSEEN__LINE; line < (offset + n) / UNSEEN__LINE; line++) {
        const uint64_t bit = (uint64_t)1 << line % 64;
        if (array->loaded[line / 64] & bit) {
            return UNSEEN_ERR_CORRUPT;
        }
        array->loaded[line / 64] |= bit;
    }
    /* A huge page for a piece of a few lines would waste memory. */
    const size_t huge = (offset + n - 1) / UNSEEN__HUGE_PAGE * UNSEEN__HUGE_PAGE;
    if (array->nbytes >= LARGE && huge >= offset && n >= FULL_PIECE / 2) {
        unseen__memory_large(allocator, array->bytes + huge, UNSEEN__HUGE_PAGE);
    }
    memcpy(array->bytes + offset, bytes, n); /* NOLINT: there is an overlap, so bytes is set */
    array->nloaded += n / UNSEEN__LINE;
    return UNSEEN_OK;
}

enum unseen_status unseen__line_array_load_finish(struct unseen__line_array *array,
                                                  const struct unseen_allocator *allocator)
{
    if (array->nloaded != array->nlines) {
        return UNSEEN_ERR_CORRUPT;
    }
    unseen__free(allocator, array->loaded, loaded_size(array));
    array->loaded = NULL;
    /* Bytes of the last huge page after the last line are never read. */
    return UNSEEN_OK;
}

/* ---- bits ---- */

uint64_t unseen__line_array_merge(struct unseen__line_array *array, const uint8_t *piece,
                                  size_t len)
{
    const uint8_t *other;
    size_t offset;
    uint64_t nbits = 0;
    const size_t n = unseen__line_array_overlap(array, piece, len, &other, &offset);
    for (size_t i = 0; i < n; i += 8) {
        const uint64_t both = load_le64(array->bytes + offset + i) | load_le64(other + i);
        nbits += popcount_portable(both);
        store_le64(array->bytes + offset + i, both);
    }
    return nbits;
}
