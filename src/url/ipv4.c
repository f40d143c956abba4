/* SPDX-License-Identifier: MIT
 *
 * IPv4 hosts (WHATWG URL standard, sections 3.5 and 3.6): 1 to 4 parts, each decimal, octal (0...)
 * or hexadecimal (0x...). The last part fills all remaining bytes: "0x7f.1" is 127.0.0.1. */
#include "url/host.h"

#include <string.h>

#include "url/ascii.h"
#include "url/percent.h"

enum {
    PARTS_MAX = 4
};

static const uint64_t ipv4_limit = (uint64_t)1 << 32;

/* One part of an IPv4 address as the standard reads it: decimal, octal after 0, hexadecimal after
 * 0x; "0x" is 0. A value above 2^32 - 1 becomes 2^32. Returns false if the part is empty or not a
 * number. */
static bool read_number(const char *in, size_t len, uint64_t *value_out)
{
    int radix = 10;
    if (len == 0) {
        return false;
    }
    if (len >= 2 && in[0] == '0' && (in[1] | 0x20) == 'x') {
        radix = 16;
        in += 2;
        len -= 2;
    } else if (len >= 2 && in[0] == '0') {
        radix = 8;
        in++;
        len--;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < len; i++) {
        const int digit = unseen__hex_value(in[i]);
        if (digit < 0 || digit >= radix) {
            return false;
        }
        value = value * (unsigned)radix + (unsigned)digit;
        value = value < ipv4_limit ? value : ipv4_limit;
    }
    *value_out = value;
    return true;
}

/* The length without a final dot, which may end a domain once. */
static size_t without_final_dot(const char *in, size_t len)
{
    return len > 1 && in[len - 1] == '.' ? len - 1 : len;
}

bool unseen__ipv4_wanted(const char *in, size_t len)
{
    len = without_final_dot(in, len);
    size_t start = len;
    while (start > 0 && in[start - 1] != '.') {
        start--;
    }
    uint64_t value;
    return start < len && (is_ascii_digits(in + start, len - start) ||
                           read_number(in + start, len - start, &value));
}

bool unseen__ipv4_parse(const char *in, size_t len, uint32_t *address_out)
{
    const char *const end = in + without_final_dot(in, len);
    uint64_t parts[PARTS_MAX];
    size_t n = 0;
    for (bool more = true; more; n++) {
        const char *dot = memchr(in, '.', (size_t)(end - in));
        more = dot != NULL;
        const char *const part_end = dot ? dot : end;
        if (n == PARTS_MAX || !read_number(in, (size_t)(part_end - in), &parts[n])) {
            return false;
        }
        in = part_end + (dot != NULL);
    }
    const unsigned rest_nbits = 8 * (unsigned)(PARTS_MAX + 1 - n);
    uint64_t address = parts[n - 1];
    if (address >= (uint64_t)1 << rest_nbits) {
        return false;
    }
    for (size_t i = 0; i + 1 < n; i++) {
        if (parts[i] > 255) {
            return false;
        }
        address |= parts[i] << (8 * (PARTS_MAX - 1 - i));
    }
    *address_out = (uint32_t)address;
    return true;
}

bool unseen__ipv4_parse_strict(const char *in, size_t len, uint32_t *address_out)
{
    char text[15];
    return unseen__ipv4_parse(in, len, address_out) &&
           unseen__ipv4_write(*address_out, text) == len && memcmp(text, in, len) == 0;
}

size_t unseen__ipv4_write(uint32_t address, char *out)
{
    char *const start = out;
    for (int shift = 24; shift >= 0; shift -= 8) {
        const unsigned byte = address >> shift & 255;
        if (byte >= 100) {
            *out++ = (char)('0' + byte / 100);
        }
        if (byte >= 10) {
            *out++ = (char)('0' + byte / 10 % 10);
        }
        *out++ = (char)('0' + byte % 10);
        if (shift) {
            *out++ = '.';
        }
    }
    return (size_t)(out - start);
}
