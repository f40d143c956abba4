/* SPDX-License-Identifier: MIT
 *
 * The query of scrapy_fast.c: divides it into pieces, key=value, sorts the pieces as Scrapy does,
 * and writes them. The header is a part of scrapy_fast.c, so that the compiler can inline all of
 * it. */
#ifndef UNSEEN_URL_SCRAPY_QUERY_H
#define UNSEEN_URL_SCRAPY_QUERY_H

#include "url/scrapy_rows.h"

enum {
    NPIECES = 128,
    CHUNK = 32 /* bytes copied at once: most pieces of a query are shorter */
};

/* A piece, key=value, at [start, end) of the query. */
struct piece {
    uint16_t start;
    uint16_t end;
    bool bare; /* without an equals sign */
};

struct query {
    const char *text;
    size_t len;            /* with the fragment */
    size_t end;            /* without the fragment */
    int64_t keys[NPIECES]; /* see sort_key */
    struct piece pieces[NPIECES];
    uint8_t order[NPIECES]; /* the pieces by rank, once sorted */
    size_t n;
    bool clean;  /* are all pieces written as they are, and none left out? */
    bool rising; /* does no piece have a greater sort key than the next? */
    bool ties;   /* is there a piece like the next as far as the sort key goes? */
};

/* The first 7 bytes of the decoded key, big-endian, above a byte of 0. A shorter key is filled up
 * with 0. */
UNSEEN_INLINE uint64_t key_prefix(const struct query *query, const struct bits *bits, size_t start,
                                  size_t end)
{
    enum {
        PREFIX = 7
    };
    const size_t n = end - start < PREFIX ? end - start : PREFIX;
    const char *const text = query->text;
    if (UNSEEN_LIKELY(!low_bits(bits_from(bits, ROW_CODED, start), n))) {
        /* The load ends with the text at the latest. It stays inside the input, because the URL
         * stands before the query. */
        const size_t over = start + 8 > query->len ? start + 8 - query->len : 0;
        return __builtin_bswap64(low_bits(load_le64(text + start - over) >> 8 * over, 8 * n));
    }
    uint64_t prefix = 0;
    for (int shift = 56; shift > 0 && start < end; shift -= 8) {
        const int value = unseen__percent_value(text + start, text + end);
        const char c = value >= 0 ? (char)value : text[start] == '+' ? ' ' : text[start];
        prefix |= (uint64_t)(unsigned char)c << shift;
        start += value >= 0 ? 3 : 1;
    }
    return prefix;
}

/* The length of the common prefix of a and b, at most n. */
static inline size_t common_len(const char *a, const char *b, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const uint64_t difference = load_le64(a + i) ^ load_le64(b + i);
        if (difference) {
            return i + (size_t)__builtin_ctzll(difference) / 8;
        }
    }
    while (i < n && a[i] == b[i]) {
        i++;
    }
    return i;
}

/* The byte with which a piece goes on where another piece differs from it. -1: the piece or its key
 * ends. -2: this takes a closer look. */
static inline int byte_at(const char *piece, size_t len, size_t i)
{
    if (i == len) {
        return -1;
    }
    if (piece[i] == '=') {
        return memchr(piece, '=', i) ? '=' : -1;
    }
    return piece[i] == '%' ? -2 : piece[i] == '+' ? ' ' : (unsigned char)piece[i];
}

/* Does a come after b? The first difference of the texts decides, unless it is near an escape, or
 * one piece ends where the other has an equals sign. */
static bool is_text_after(const char *text, const struct piece *a, const struct piece *b)
{
    const char *const text_a = text + a->start;
    const char *const text_b = text + b->start;
    const size_t len_a = (size_t)(a->end - a->start);
    const size_t len_b = (size_t)(b->end - b->start);
    const size_t i = common_len(text_a, text_b, len_a < len_b ? len_a : len_b);
    if (i == len_a && i == len_b) {
        return false;
    }
    const int byte_a = byte_at(text_a, len_a, i);
    const int byte_b = byte_at(text_b, len_b, i);
    const bool in_escape = (i >= 1 && text_a[i - 1] == '%') || (i >= 2 && text_a[i - 2] == '%');
    if (byte_a == byte_b || byte_a == -2 || byte_b == -2 || in_escape) {
        return unseen__scrapy_compare(text_a, text_a + len_a, text_b, text_b + len_b, '&') > 0;
    }
    return byte_a > byte_b;
}

/* The prefix of seven bytes and the number of the piece, as a signed integer of the same order.
 * Different bytes decide: the 0 that fills a key up is below any byte, and equal to a 0 in a key.
 * The number makes each sort key unique. */
UNSEEN_INLINE int64_t sort_key(uint64_t prefix, size_t i)
{
    return (int64_t)((prefix ^ (uint64_t)1 << 63) | i);
}

UNSEEN_INLINE bool is_tie(int64_t a, int64_t b)
{
    return ((uint64_t)a ^ (uint64_t)b) >> 8 == 0;
}

/* Orders pieces of equal prefix, which stand side by side, by text. Returns true if any piece
 * moved. Most pieces do not move, and the first comparison says so; the index of a piece that moves
 * is found by halving, because comparing texts is dear. */
static bool sort_ties(struct query *query)
{
    const struct piece *const pieces = query->pieces;
    uint8_t *const order = query->order;
    bool moved = false;
    size_t run = 0; /* the first piece of equal prefix */
    for (size_t i = 1; i < query->n; i++) {
        const uint8_t moving = order[i];
        if (!is_tie(query->keys[order[i - 1]], query->keys[moving])) {
            run = i;
        }
        size_t low = run;
        size_t high = i;
        for (size_t at = i - 1; low < high; at = low + (high - low) / 2) {
            if (is_text_after(query->text, &pieces[order[at]], &pieces[moving])) {
                high = at;
            } else {
                low = at + 1;
            }
        }
        if (low < i) {
            memmove(order + low + 1, order + low, i - low);
            order[low] = moving;
            moved = true;
        }
    }
    return moved;
}

/* Finds the order of the sort keys by insertion sort: for the few pieces of a query nothing
 * portable is faster, and their number has a limit. */
static inline void rank_portable(struct query *query)
{
    int64_t sorted[NPIECES];
    for (size_t i = 0; i < query->n; i++) {
        const int64_t key = query->keys[i];
        size_t j = i;
        for (; j > 0 && sorted[j - 1] > key; j--) {
            sorted[j] = sorted[j - 1];
        }
        sorted[j] = key;
    }
    for (size_t i = 0; i < query->n; i++) {
        query->order[i] = (uint8_t)sorted[i];
    }
}

#if UNSEEN_X86
/* Counts for each piece the pieces before it, four at a time. Comparing all pairs without a branch
 * beats any sort that has to guess. */
UNSEEN_TARGET("avx2")
UNSEEN_INLINE void rank_avx2(struct query *query)
{
    enum {
        LANES = 4
    };
    for (size_t i = query->n; i % LANES; i++) {
        query->keys[i] = INT64_MAX;
    }
    for (size_t i = 0; i < query->n; i += LANES) {
        const __m256i keys = _mm256_loadu_si256((const __m256i *)(const void *)(query->keys + i));
        __m256i counts = _mm256_setzero_si256();
        for (size_t j = 0; j < query->n; j++) {
            const __m256i other = _mm256_set1_epi64x(query->keys[j]);
            counts = _mm256_sub_epi64(counts, _mm256_cmpgt_epi64(keys, other));
        }
        uint64_t ranks[LANES];
        _mm256_storeu_si256((__m256i *)(void *)ranks, counts);
        for (size_t lane = 0; lane < LANES; lane++) {
            /* A lane without a piece has rank n, for which there is room. */
            query->order[ranks[lane]] = (uint8_t)(i + lane);
        }
    }
}
#endif

typedef void rank_fn(struct query *query);

/* Finds the order of the pieces. Returns true if they are in order already. */
UNSEEN_INLINE bool sort_pieces(struct query *query, rank_fn *rank)
{
    if (query->rising && !query->ties) {
        return true;
    }
    if (!query->rising) {
        rank(query);
        sort_ties(query);
        return false;
    }
    for (size_t i = 0; i < query->n; i++) {
        query->order[i] = (uint8_t)i;
    }
    return !sort_ties(query);
}

/* Marks every = of a piece but the first: it is part of the value, and is written as an escape. */
static void mark_equals(struct bits *bits, size_t start, size_t end)
{
    for (; (start = next(bits, ROW_EQUALS, start)) < end; start++) {
        bits->rows[ROW_DIRTY][start / 8] |= (uint8_t)(1u << start % 8);
    }
}

/* The end of the key of a piece. *more_out: the value has an equals sign, too. */
UNSEEN_INLINE size_t find_key_end(const struct bits *bits, size_t start, size_t end, bool *more_out)
{
    const size_t n = end - start;
    if (UNSEEN_LIKELY(n <= STEP)) {
        const uint64_t equals = low_bits(bits_from(bits, ROW_EQUALS, start), n);
        *more_out = (equals & (equals - 1)) != 0;
        return start + (size_t)__builtin_ctzll(equals | (uint64_t)1 << n);
    }
    const size_t key_end = next(bits, ROW_EQUALS, start);
    *more_out = key_end < end && next(bits, ROW_EQUALS, key_end + 1) < end;
    return key_end < end ? key_end : end;
}

/* Reads the query. Returns false if it has too many pieces. */
UNSEEN_INLINE bool walk_query(bool drop_blank, struct bits *bits, struct query *query)
{
    int64_t last = INT64_MIN;
    query->n = 0;
    query->rising = true;
    query->ties = false;
    for (size_t start = 0;; start = query->end + 1) {
        const uint64_t ends = bits_from(bits, ROW_END, start);
        const size_t end = UNSEEN_LIKELY(ends) ? start + (size_t)__builtin_ctzll(ends)
                                               : next(bits, ROW_END, start);
        query->end = end;
        bool more_equals;
        const size_t key_end = find_key_end(bits, start, end, &more_equals);
        if (end == start || (drop_blank && key_end + 1 >= end)) {
            query->clean = false;
        } else if (query->n == NPIECES) {
            return false;
        } else {
            const bool bare = key_end == end;
            if (more_equals) {
                mark_equals(bits, key_end + 1, end);
            }
            query->clean = query->clean & !bare & !more_equals;
            const int64_t key = sort_key(key_prefix(query, bits, start, key_end), query->n);
            query->rising = query->rising & (last <= key);
            query->ties = query->ties | (query->n != 0 && is_tie(last, key));
            last = key;
            query->keys[query->n] = key;
            query->pieces[query->n++] = (struct piece){(uint16_t)start, (uint16_t)end, bare};
        }
        if (end == query->len || query->text[end] == '#') {
            return true;
        }
    }
}

/* A copy of the last bytes of the query, with room to load a chunk that starts at any of them. */
struct tail {
    char bytes[2 * CHUNK];
    size_t start;
};

/* Writes a piece, one run of clean bytes at a time. Returns NULL if it has a byte that is not part
 * of the URL. May overwrite a chunk behind the piece. */
UNSEEN_INLINE char *write_piece(const struct query *query, const struct bits *bits,
                                const struct tail *tail, const struct piece *piece, char *out)
{
    const char *const text = query->text;
    const size_t end = piece->end;
    for (size_t at = piece->start; at < end;) {
        memcpy(out, at < tail->start ? text + at : tail->bytes + (at - tail->start), CHUNK);
        const size_t n = end - at < CHUNK ? end - at : CHUNK;
        const uint64_t dirty = low_bits(bits_from(bits, ROW_DIRTY, at), n);
        const size_t run = (size_t)__builtin_ctzll(dirty | (uint64_t)1 << n);
        out += run;
        at += run;
        if (run < n) {
            if (text[at] == '\t' || text[at] == '\n' || text[at] == '\r') {
                return NULL;
            }
            const int value = unseen__percent_value(text + at, text + end);
            const unsigned char byte = value < 0 ? (unsigned char)text[at] : (unsigned char)value;
            out = scrapy_write_byte(byte, out);
            at += value < 0 ? 1 : 3;
        }
    }
    *out = '=';
    return out + piece->bare;
}

/* Writes ? and the pieces in their order, or as they stand. Returns NULL if write_piece does. */
UNSEEN_INLINE char *write_query(const struct query *query, const struct bits *bits, bool in_order,
                                char *out)
{
    struct tail tail;
    memset(tail.bytes, 0, sizeof(tail.bytes));
    if (query->len < CHUNK) {
        tail.start = 0;
        memcpy(tail.bytes, query->text, query->len);
    } else {
        tail.start = query->len - CHUNK;
        memcpy(tail.bytes, query->text + tail.start, CHUNK);
    }
    *out++ = '?';
    for (size_t i = 0; i < query->n; i++) {
        const struct piece *const piece = &query->pieces[in_order ? i : query->order[i]];
        out = write_piece(query, bits, &tail, piece, out);
        if (!out) {
            return NULL;
        }
        *out++ = '&';
    }
    return out - 1;
}

#endif
