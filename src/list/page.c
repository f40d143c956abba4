/* SPDX-License-Identifier: MIT
 *
 * Asks a page for one key, in portable C: the specification for the vector kernels of ask.c. */
#include "list/page.h"

#include <string.h>

#include "base/bytes.h"
#include "list/layout.h"

/* The least fraction of a key (struct unseen__list_place) that lies on a page in this row or a
 * later one. */
static uint64_t fraction_of(const struct unseen__list_geometry *s, uint32_t npages, uint32_t page,
                            unsigned row)
{
    const uint64_t nrows = UNSEEN__LIST_ROWS * (uint64_t)s->blocks;
    const uint64_t behind_point = (((uint64_t)row << 32) + nrows - 1) / nrows;
    return (((uint64_t)page << 32) + behind_point + npages - 1) / npages;
}

void unseen__list_part(const struct unseen__list_geometry *s, const uint64_t *keys, size_t n,
                       unsigned shard_bits, uint32_t npages, uint32_t page,
                       uint32_t ends_out[UNSEEN__LIST_BLOCKS_MAX])
{
    size_t at = 0;
    for (unsigned i = 0; i < s->blocks; i++) {
        /* where the next block begins, or the next page */
        const unsigned row = UNSEEN__LIST_ROWS * (i + 1);
        const uint64_t bound = i + 1 < s->blocks
                                   ? fraction_of(s, npages, page, row + UNSEEN__LIST_FIRST_ROWS)
                                   : fraction_of(s, npages, page, row);
        at = n - at > UNSEEN__LIST_ROWS ? at + UNSEEN__LIST_ROWS : n; /* a guess, corrected below */
        while (at < n && (keys[at] << shard_bits >> 32) < bound) {
            at++;
        }
        const size_t first = i == 0 ? 0 : ends_out[i - 1];
        while (at > first && (keys[at - 1] << shard_bits >> 32) >= bound) {
            at--;
        }
        ends_out[i] = (uint32_t)at;
    }
}

/* Does the column's parity under the coefficients equal bit j of the fingerprint? */
static bool agrees(const struct unseen__list_row *row, uint64_t w0, uint64_t w1, unsigned j)
{
    const uint64_t x = (row->c0 & w0) ^ (row->c1 & w1);
    return ((unsigned)__builtin_parityll(x) ^ (row->fingerprint >> j & 1)) == 0;
}

static uint64_t word(const uint8_t *page, unsigned offset)
{
    return load_le64(page + offset);
}

/* The word of the column that holds the levels, with its own two bits put back. */
static uint64_t level_word(const struct unseen__list_geometry *s, const uint8_t *page,
                           unsigned block)
{
    const uint64_t w = word(page, unseen__list_word_offset(s, block, s->group0 - 1));
    return (w & ~UNSEEN__LIST_LEVEL_MASK) | (uint64_t)unseen__list_displaced(s, page, block)
                                                << UNSEEN__LIST_LEVEL_SHIFT;
}

bool unseen__list_page_ask_rest(const struct unseen__list_geometry *s,
                                const uint8_t page[UNSEEN__LIST_PAGE],
                                const struct unseen__list_row *row)
{
    const unsigned next = unseen__list_next_block(s, row->block);
    const unsigned last0 = s->group0 - 1;
    if (!agrees(row, level_word(s, page, row->block), level_word(s, page, next), last0)) {
        return false;
    }
    for (unsigned j = s->group0; j < s->columns; j++) {
        if (!agrees(row, word(page, unseen__list_word_offset(s, row->block, j)),
                    word(page, unseen__list_word_offset(s, next, j)), j)) {
            return false;
        }
    }
    return !unseen__list_is_extended(s, row->block) ||
           agrees(row, word(page, unseen__list_word_offset(s, row->block, s->columns)),
                  word(page, unseen__list_word_offset(s, next, s->columns)), s->columns);
}

/* Folds two words into one. Each element shrinks to `half` bits: its two halves are added, so it
 * keeps its parity. The elements of a go to the lower halves, those of b to the upper ones. */
static uint64_t fold_words(uint64_t a, uint64_t b, unsigned half, uint64_t lower)
{
    return ((a ^ a >> half) & lower) | ((b ^ b << half) & ~lower);
}

/* Do the first n columns, up to 7, agree? All are compared at once, so one branch remains. It
 * nearly always goes the same way, and the processor begins the next question while this one waits
 * for memory. */
static bool agrees_with_all(const struct unseen__list_row *row, const uint8_t *w0,
                            const uint8_t *w1, unsigned n)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t x[8];
    for (unsigned j = 0; j < 8; j++) {
        const unsigned at = 8 * (j < n ? j : n); /* there is a column n, too */
        x[j] = (row->c0 & load_le64(w0 + at)) ^ (row->c1 & load_le64(w1 + at));
    }
    for (unsigned j = 0; j < 4; j++) {
        x[j] = fold_words(x[j], x[j + 4], 32, UINT32_MAX);
    }
    x[0] = fold_words(x[0], x[2], 16, UINT64_C(0x0000ffff0000ffff));
    x[1] = fold_words(x[1], x[3], 16, UINT64_C(0x0000ffff0000ffff));
    uint64_t parities =
        fold_words(x[0], x[1], 8, UINT64_C(0x00ff00ff00ff00ff)); /* byte j: column j */
    parities ^= parities >> 4;
    parities ^= parities >> 2;
    parities ^= parities >> 1;
    const uint64_t expected = (row->fingerprint & 0x7f) * UINT64_C(0x0002040810204081);
    return ((parities ^ expected) & ones & ((UINT64_C(1) << 8 * n) - 1)) == 0;
}

enum unseen__list_answer unseen__list_page_ask(const struct unseen__list_geometry *s,
                                               const uint8_t page[UNSEEN__LIST_PAGE],
                                               const struct unseen__list_row *row)
{
    const unsigned next = unseen__list_next_block(s, row->block);
    const uint8_t *w0 = page + unseen__list_word_offset(s, row->block, 0);
    const uint8_t *w1 = page + unseen__list_word_offset(s, next, 0);
    const unsigned level =
        (unsigned)(load_le64(w0 + 8 * (s->group0 - 1)) >> UNSEEN__LIST_LEVEL_SHIFT);
    if (row->bump < unseen__list_thresholds[level]) {
        return UNSEEN__LIST_BUMPED;
    }
    const bool agree = agrees_with_all(row, w0, w1, s->group0 - 1);
    return agree && unseen__list_page_ask_rest(s, page, row) ? UNSEEN__LIST_YES : UNSEEN__LIST_NO;
}

void unseen__list_page_bump_all(const struct unseen__list_geometry *s,
                                uint8_t page[UNSEEN__LIST_PAGE])
{
    memset(page, 0, UNSEEN__LIST_PAGE);
    for (unsigned i = 0; i < s->blocks; i++) {
        store_le64(page + unseen__list_word_offset(s, i, s->group0 - 1), UNSEEN__LIST_LEVEL_MASK);
    }
}
