/* SPDX-License-Identifier: MIT
 *
 * The fast path of the scheme "scrapy": answers for ordinary URLs, and declines the others.
 *
 * Kernels (scrapy_rows.h) turn the URL into rows of bits, one bit for each byte. One row has the
 * bytes that are not plain in a path. If there is a query, further rows have the bytes that divide
 * it, and the bytes that would be written otherwise. Then each part of the URL is walked from one
 * set bit to the next, so that plain bytes cost nothing:
 *
 *     https://www.example.com/a/b;c?q=1&b=%2F#f
 *                            ^                    host
 *                                ^ ^              path
 *                                    ^ ^ ^   ^    equals signs and ends of pieces
 *
 * If the pieces of the query are in order and minimally escaped, the URL is proved canonical; else
 * scrapy_query.h writes the pieces in order behind a copy of the front. */
#include "url/scrapy.h"

#include <string.h>

#include "url/fast.h"
#include "url/scrapy_query.h"

/* ---- Port and path --------------------------------------------------------------------------- */

/* The end of the port whose colon is at in[at]; 0 if the port would be written otherwise. */
static size_t port_end(const char *in, size_t at, size_t len)
{
    unsigned value = 0;
    const size_t start = at + 1;
    for (at = start; at < len && at < start + 5 && SCRAPY_DIGIT(in[at]); at++) {
        value = value * 10 + (unsigned)(in[at] - '0');
    }
    return at == start || in[start] == '0' || value > 65535 ? 0 : at;
}

/* Is there nothing to escape or to drop in the params of path [start, end)? */
static bool params_are_plain(const char *in, size_t start, size_t end)
{
    size_t semicolon = end;
    for (size_t i = end; i > start && in[i - 1] != '/'; i--) {
        if (in[i - 1] == ';') {
            semicolon = i - 1;
        }
    }
    for (size_t i = semicolon; i < end; i++) {
        if (!scrapy_is(in[i], SCRAPY__PARAMS)) {
            return false;
        }
    }
    return semicolon + 1 != end;
}

/* Is the dot at in[i] the start of the segment "." or ".."? */
static inline bool starts_dot_segment(const char *in, size_t len, size_t i)
{
    if (in[i - 1] != '/') {
        return false;
    }
    i += i + 1 < len && in[i + 1] == '.';
    return i + 1 == len || in[i + 1] == '/' || in[i + 1] == ';' || ENDS_PATH(in[i + 1]);
}

/* Walks the path from its first slash to the byte that ends it. Returns false if the path is not
 * canonical, or may not be. */
UNSEEN_INLINE bool walk_path(const char *in, size_t len, const struct bits *bits, size_t start,
                             size_t *end_out)
{
    bool semicolon = false;
    for (size_t i = next(bits, ROW_PATH, start);; i = next(bits, ROW_PATH, i + 1)) {
        if (i == len || in[i] == '?' || in[i] == '#') {
            *end_out = i;
            return !semicolon || params_are_plain(in, start, i);
        }
        if (in[i] == '.') {
            if (starts_dot_segment(in, len, i)) {
                return false;
            }
        } else if (in[i] == ';') {
            semicolon = true;
        } else if (in[i] == '%') {
            const int value = upper_escape(in, len, i);
            if (value < 0 || !scrapy_path_keeps_escape(value)) {
                return false;
            }
        } else {
            return false;
        }
    }
}

/* Walks port and path, which follow the host, to their end. Returns 0 if they are not canonical, or
 * may not be. *slash_out: only the slash of an empty path is missing. */
UNSEEN_INLINE size_t walk_front(const char *in, size_t len, const struct bits *bits,
                                size_t host_len, bool *slash_out)
{
    size_t end = host_len;
    if (end == 0 || (end < len && in[end] == ':' && !(end = port_end(in, end, len)))) {
        return 0;
    }
    *slash_out = end == len || ENDS_PATH(in[end]);
    if (!*slash_out && (in[end] != '/' || !walk_path(in, len, bits, end, &end))) {
        return 0;
    }
    return end;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static inline bool answer(struct unseen_canon *out, enum unseen_url_form form, const char *text,
                          size_t len)
{
    *out = (struct unseen_canon){form, {text, len}};
    return true;
}

/* Answers with the input up to end, which is canonical. */
static inline bool answer_front(struct unseen_canon *out, const char *in, size_t len, size_t end)
{
    return answer(out, end == len ? UNSEEN_URL_UNCHANGED : UNSEEN_URL_REWRITTEN, in, end);
}

/* Copies the URL up to its query or its end, and puts in a slash if that is missing. */
static inline char *write_front(const char *in, size_t end, bool slash, char *out)
{
    memcpy(out, in, end);
    out[end] = '/';
    return out + end + slash;
}

typedef size_t front_fn(const char *in, size_t len, size_t start, struct bits *bits);
typedef bool query_fn(const char *in, size_t len, size_t start, struct bits *bits);

/* Answers for a URL whose query starts at in[start], behind the question mark. slash: a / is put in
 * before the question mark. */
UNSEEN_INLINE bool fast_query(const struct unseen_url *url, const char *in, size_t full_len,
                              size_t len, size_t start, bool slash, struct bits *bits, char *buf,
                              size_t cap, struct unseen_canon *out, query_fn *kernel, rank_fn *rank)
{
    struct query query;
    query.text = in + start;
    query.len = len - start;
    query.clean = kernel(in, len, start, bits);
    if (!walk_query(unseen__url_rule(url, UNSEEN__RULE_DROP_BLANK_VALUES), bits, &query)) {
        return false;
    }
    if (query.end < query.len && unseen__url_rule(url, UNSEEN__RULE_KEEP_FRAGMENT)) {
        return false;
    }
    const bool in_order = sort_pieces(&query, rank);
    if (!slash && (query.n == 0 || (in_order && query.clean))) {
        return answer_front(out, in, full_len, query.n == 0 ? start - 1 : start + query.end);
    }
    if (cap < unseen_url_bound(len, 0)) {
        return false;
    }
    char *end = write_front(in, start - 1, slash, buf);
    if (query.n != 0) {
        end = write_query(&query, bits, in_order, end);
    }
    return end && answer(out, UNSEEN_URL_REWRITTEN, buf, (size_t)(end - buf));
}

UNSEEN_INLINE bool fast(const struct unseen_url *url, const char *in, size_t full_len, char *buf,
                        size_t cap, struct unseen_canon *out, front_fn *front_kernel,
                        query_fn *query_kernel, rank_fn *rank)
{
    const size_t host = unseen__fast_scheme(in, full_len);
    if (host == 0 || full_len > LEN_MAX) {
        return false;
    }
    size_t len = full_len;
    while ((unsigned char)in[len - 1] <= ' ') {
        len--;
    }
    struct bits bits;
    bool slash;
    const size_t host_len = front_kernel(in, len, host, &bits);
    const size_t end = host + walk_front(in + host, len - host, &bits, host_len, &slash);
    if (end == host) {
        return false;
    }
    if (end < len && in[end] == '?') {
        return fast_query(url, in, full_len, len, end + 1, slash, &bits, buf, cap, out,
                          query_kernel, rank);
    }
    if (end < len && unseen__url_rule(url, UNSEEN__RULE_KEEP_FRAGMENT)) {
        return false;
    }
    if (slash && cap > end) {
        write_front(in, end, true, buf);
        return answer(out, UNSEEN_URL_REWRITTEN, buf, end + 1);
    }
    return !slash && answer_front(out, in, full_len, end);
}

static bool fast_portable(const struct unseen_url *url, const char *in, size_t len, char *buf,
                          size_t cap, struct unseen_canon *out)
{
    return fast(url, in, len, buf, cap, out, front_portable, query_portable, rank_portable);
}

#if UNSEEN_X86
UNSEEN_TARGET("avx2,bmi,bmi2,popcnt")
static bool fast_avx2(const struct unseen_url *url, const char *in, size_t len, char *buf,
                      size_t cap, struct unseen_canon *out)
{
    return fast(url, in, len, buf, cap, out, front_avx2, query_avx2, rank_avx2);
}
#endif

unseen__url_fast_fn *unseen__url_scrapy_fast(enum unseen_cpu cpu, uint32_t rules)
{
    (void)cpu; /* unused if there is no other level */
    if (rules & UNSEEN__RULE_SPLIT_SEMICOLONS) {
        return NULL;
    }
#if UNSEEN_X86
    if (cpu == UNSEEN_CPU_AVX2 || cpu == UNSEEN_CPU_AVX512) {
        return fast_avx2;
    }
#endif
    return fast_portable;
}
