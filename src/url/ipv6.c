/* SPDX-License-Identifier: MIT
 *
 * IPv6 hosts (WHATWG URL standard, sections 3.5 and 3.6; the text form is that of RFC 5952): eight
 * pieces of 16 bits, "::" once for a run of zeros, the last two pieces perhaps as a.b.c.d. */
#include "url/host.h"

#include "url/percent.h"

enum {
    PIECES = 8
};

/* Up to four hexadecimal digits; returns how many there were. */
static int parse_piece(const char *p, const char *end, uint16_t *piece)
{
    unsigned value = 0;
    int n = 0;
    for (; n < 4 && p + n < end; n++) {
        const int digit = unseen__hex_value(p[n]);
        if (digit < 0) {
            break;
        }
        value = value << 4 | (unsigned)digit;
    }
    *piece = (uint16_t)value;
    return n;
}

/* Moves the pieces after "::", which stands for one zero at least, to the end and fills the gap. */
static bool expand(uint16_t pieces[PIECES], int n, int compress)
{
    if (compress < 0 || n == PIECES) {
        return compress < 0 && n == PIECES;
    }
    const int nafter = n - compress;
    for (int i = 1; i <= nafter; i++) {
        pieces[PIECES - i] = pieces[n - i];
    }
    for (int i = compress; i < PIECES - nafter; i++) {
        pieces[i] = 0;
    }
    return true;
}

bool unseen__ipv6_parse(const char *in, size_t len, uint16_t pieces[8])
{
    const char *p = in;
    const char *const end = in + len;
    int n = 0;
    int compress = -1;
    if (p < end && *p == ':') {
        if (end - p < 2 || p[1] != ':') {
            return false;
        }
        p += 2;
        compress = 0;
    }
    while (p < end) {
        if (n == PIECES) {
            return false;
        }
        if (*p == ':') {
            if (compress >= 0) {
                return false;
            }
            p++;
            compress = n;
            continue;
        }
        uint16_t piece;
        const int ndigits = parse_piece(p, end, &piece);
        if (p + ndigits < end && p[ndigits] == '.') {
            uint32_t address;
            if (n > PIECES - 2 || !unseen__ipv4_parse_strict(p, (size_t)(end - p), &address)) {
                return false;
            }
            pieces[n++] = (uint16_t)(address >> 16);
            pieces[n++] = (uint16_t)address;
            break;
        }
        p += ndigits;
        if (p < end && (*p++ != ':' || p == end)) {
            return false;
        }
        if (ndigits == 0) {
            return false;
        }
        pieces[n++] = piece;
    }
    return expand(pieces, n, compress);
}

/* The first longest run of at least two zero pieces; PIECES if there is none. */
static int longest_zero_run(const uint16_t pieces[PIECES], int *len_out)
{
    int best = PIECES;
    *len_out = 1;
    for (int i = 0; i < PIECES; i++) {
        int len = 0;
        while (i + len < PIECES && pieces[i + len] == 0) {
            len++;
        }
        if (len > *len_out) {
            best = i;
            *len_out = len;
        }
    }
    return best;
}

static char *write_hex(uint16_t value, char *out)
{
    int shift = 12;
    while (shift > 0 && value >> shift == 0) {
        shift -= 4;
    }
    for (; shift >= 0; shift -= 4) {
        *out++ = "0123456789abcdef"[value >> shift & 15];
    }
    return out;
}

size_t unseen__ipv6_write(const uint16_t pieces[8], char *out)
{
    char *const start = out;
    int run_len;
    const int run = longest_zero_run(pieces, &run_len);
    for (int i = 0; i < PIECES;) {
        if (i == run) {
            *out++ = ':';
            if (i == 0) {
                *out++ = ':';
            }
            i += run_len;
            continue;
        }
        out = write_hex(pieces[i], out);
        i++;
        if (i < PIECES) {
            *out++ = ':';
        }
    }
    return (size_t)(out - start);
}
