/* SPDX-License-Identifier: MIT
 *
 * Punycode (RFC 3492, section 6): the ASCII characters of a label come first, then the others in
 * the order of their code points, each as the distance from the one before it, counted in steps
 * through all code points and all places. A distance is a number of variable length in base 36,
 * and the bias adapts the lengths to the distances so far. The letters are the RFC's. */
#include "url/punycode.h"

#include <string.h>

enum {
    BASE = 36,
    TMIN = 1,
    TMAX = 26,
    SKEW = 38,
    DAMP = 700,
    INITIAL_BIAS = 72,
    INITIAL_N = 128
};

static const uint32_t code_point_max = 0x10ffff;

static uint32_t adapt(uint32_t delta, uint32_t npoints, bool first)
{
    uint32_t k = 0;
    delta /= first ? DAMP : 2;
    for (delta += delta / npoints; delta > (BASE - TMIN) * TMAX / 2; k += BASE) {
        delta /= BASE - TMIN;
    }
    return k + (BASE - TMIN + 1) * delta / (delta + SKEW);
}

/* The threshold of the digit at place k. */
static uint32_t threshold(uint32_t k, uint32_t bias)
{
    if (k <= bias + TMIN) {
        return TMIN;
    }
    return k >= bias + TMAX ? TMAX : k - bias;
}

static char write_digit(uint32_t digit)
{
    return (char)(digit < 26 ? 'a' + digit : '0' + digit - 26);
}

/* BASE if c is not a digit. */
static uint32_t read_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return (uint32_t)(c - '0') + 26;
    }
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'z' ? (uint32_t)(lower - 'a') : BASE;
}

struct output {
    char *text;
    size_t len;
    size_t cap;
};

static bool put_char(struct output *out, char c)
{
    if (out->len == out->cap) {
        return false;
    }
    out->text[out->len++] = c;
    return true;
}

static bool put_delta(struct output *out, uint32_t delta, uint32_t bias)
{
    for (uint32_t k = BASE;; k += BASE) {
        const uint32_t t = threshold(k, bias);
        if (delta < t) {
            return put_char(out, write_digit(delta));
        }
        if (!put_char(out, write_digit(t + (delta - t) % (BASE - t)))) {
            return false;
        }
        delta = (delta - t) / (BASE - t);
    }
}

/* Puts the code points in the order in which they are written. */
static void sort_wide(struct unseen__wide *wide, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const struct unseen__wide moved = wide[i];
        size_t at = i;
        while (at > 0 && wide[at - 1].point > moved.point) {
            wide[at] = wide[at - 1];
            at--;
        }
        wide[at] = moved;
    }
}

bool unseen__punycode_encode(struct unseen__wide *wide, size_t nwide, size_t npoints, char *text,
                             size_t cap, size_t *out_len)
{
    struct output out = {text, 0, cap};
    const size_t nbasic = npoints - nwide;
    uint32_t bias = INITIAL_BIAS;
    uint32_t n = INITIAL_N;
    size_t next = 0; /* the place behind the code point before */
    sort_wide(wide, nwide);
    for (size_t i = 0; i < nwide; i++) {
        size_t place = wide[i].at; /* among those that are written by now */
        for (size_t k = i + 1; k < nwide; k++) {
            place -= wide[k].at < wide[i].at;
        }
        const size_t h = nbasic + i;
        const uint64_t delta = (uint64_t)(wide[i].point - n) * (h + 1) + place - next;
        if (delta > UINT32_MAX || !put_delta(&out, (uint32_t)delta, bias)) {
            return false;
        }
        bias = adapt((uint32_t)delta, (uint32_t)h + 1, i == 0);
        n = wide[i].point;
        next = place + 1;
    }
    *out_len = out.len;
    return true;
}

/* Reads one distance and adds it to *i. */
static bool read_delta(const char **in, const char *end, uint32_t bias, uint64_t *i)
{
    uint64_t w = 1;
    for (uint32_t k = BASE;; k += BASE) {
        const uint32_t digit = *in < end ? read_digit(*(*in)++) : BASE;
        if (digit == BASE) {
            return false;
        }
        *i += digit * w;
        if (*i > UINT32_MAX) {
            return false;
        }
        const uint32_t t = threshold(k, bias);
        if (digit < t) {
            return true;
        }
        w *= BASE - t;
        if (w > UINT32_MAX) {
            return false;
        }
    }
}

bool unseen__punycode_decode(const char *in, size_t len, uint32_t *out, size_t cap, size_t *out_len)
{
    const char *const end = in + len;
    const char *delimiter = end;
    while (delimiter > in && delimiter[-1] != '-') {
        delimiter--;
    }
    const size_t nbasic = delimiter > in ? (size_t)(delimiter - in) - 1 : 0;
    if (nbasic > cap) {
        return false;
    }
    size_t nout = 0;
    for (; nout < nbasic; nout++) {
        out[nout] = (unsigned char)in[nout];
    }
    uint32_t bias = INITIAL_BIAS;
    uint64_t n = INITIAL_N;
    uint64_t i = 0;
    for (in = delimiter; in < end; i++) {
        const uint64_t old_i = i;
        if (nout == cap || !read_delta(&in, end, bias, &i)) {
            return false;
        }
        const uint32_t npoints = (uint32_t)nout + 1;
        bias = adapt((uint32_t)(i - old_i), npoints, old_i == 0);
        n += i / npoints;
        i %= npoints;
        if (n > code_point_max) {
            return false;
        }
        memmove(out + i + 1, out + i, (nout - (size_t)i) * sizeof(*out));
        out[i] = (uint32_t)n;
        nout++;
    }
    *out_len = nout;
    return true;
}
