/* SPDX-License-Identifier: MIT
 *
 * Percent-encoding and decoding, and the encode sets of the WHATWG URL standard as one table of
 * bits. */
#ifndef UNSEEN_URL_PERCENT_H
#define UNSEEN_URL_PERCENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits of unseen__url_class[byte]. The first six: the byte is escaped in that part of a URL. */
enum {
    UNSEEN__SET_C0 = 1u << 0, /* C0 controls and everything above 0x7E */
    UNSEEN__SET_FRAGMENT = 1u << 1,
    UNSEEN__SET_QUERY = 1u << 2,
    UNSEEN__SET_SPECIAL_QUERY = 1u << 3,
    UNSEEN__SET_PATH = 1u << 4,
    UNSEEN__SET_USERINFO = 1u << 5,
    UNSEEN__FORBIDDEN_HOST = 1u << 6,
    UNSEEN__FORBIDDEN_DOMAIN = 1u << 7
};

extern const uint8_t unseen__url_class[256];

/* The value of a hexadecimal digit, or -1. */
static inline int unseen__hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The byte that the three characters at in spell, such as %2F, or -1. */
static inline int unseen__percent_value(const char *in, const char *end)
{
    if (end - in < 3 || in[0] != '%') {
        return -1;
    }
    const int high = unseen__hex_value(in[1]);
    const int low = unseen__hex_value(in[2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* Writes %XX in upper case; returns the end. */
static inline char *unseen__percent_write(char *out, unsigned char byte)
{
    static const char digits[] = "0123456789ABCDEF";
    out[0] = '%';
    out[1] = digits[byte >> 4];
    out[2] = digits[byte & 15];
    return out + 3;
}

/* Copies in[0..len) to out, escaping the bytes of the sets in mask; returns the end. out has room
 * for 3 len bytes and does not overlap in. */
char *unseen__percent_encode(const char *in, size_t len, unsigned mask, char *out);

/* Decodes every escape; returns the end. out may be in. */
char *unseen__percent_decode(const char *in, size_t len, char *out);

#endif
