/* SPDX-License-Identifier: MIT
 *
 * A run of bytes that need no escape is copied at once. Most strings are one such run. */
#include "print/json.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

#include "characters.h"
#include "print/print_utf8.h"

#define EVERY(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Sets the top bit of each byte that is 0. Above the lowest such byte, bits may be wrong. */
static uint64_t zeros(uint64_t word)
{
    return (word - EVERY(1)) & ~word & EVERY(0x80);
}

/* True if all 8 bytes are printable ASCII other than " and \. */
static bool is_plain_word(const unsigned char *s)
{
    uint64_t word;
    memcpy(&word, s, sizeof(word));
    const uint64_t control = (word - EVERY(0x20)) & EVERY(0x80);
    return !((word & EVERY(0x80)) | control | zeros(word ^ EVERY('"')) | zeros(word ^ EVERY('\\')));
}

static bool json_is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* The end of the run of bytes at s that need no escape. */
static const unsigned char *end_of_run(const unsigned char *s, const unsigned char *end)
{
    for (;;) {
        while (end - s >= 8 && is_plain_word(s)) {
            s += 8;
        }
        while (s < end && json_is_plain(*s)) {
            s++;
        }
        const size_t n = s < end && *s >= 0x80 ? utf8_sequence(s, end) : 0;
        if (n == 0) {
            return s;
        }
        s += n;
    }
}

static void write_escape(struct output *out, unsigned char c)
{
    static const char plain[] = "\"\\\b\f\n\r\t";
    static const char letters[] = "\"\\bfnrt";
    const char *short_form = c ? strchr(plain, c) : NULL;
    if (short_form) {
        output_write(out, (char[]){'\\', letters[short_form - plain]}, 2);
        return;
    }
    const char text[] = {
        '\\', 'u', c < 0x80 ? '0' : 'd', c < 0x80 ? '0' : 'c', hex_digit(c >> 4), hex_digit(c)};
    output_write(out, text, sizeof(text));
}

void json_write_string(struct output *out, struct unseen_bytes bytes)
{
    if (bytes.len == 0) {
        output_write(out, "\"\"", 2);
        return;
    }
    const unsigned char *s = (const unsigned char *)bytes.data;
    const unsigned char *end = s + bytes.len;
    output_write(out, "\"", 1);
    while (s < end) {
        const unsigned char *stop = end_of_run(s, end);
        output_write(out, (const char *)s, (size_t)(stop - s));
        if (stop < end) {
            write_escape(out, *stop++);
        }
        s = stop;
    }
    output_write(out, "\"", 1);
}

void json_put_count(struct output *out, bool is_json, uint64_t n, char delimiter)
{
    if (is_json) {
        output_print(out, "{\"count\":%" PRIu64 "}\n", n);
    } else {
        output_print(out, "%" PRIu64 "%c", n, delimiter);
    }
}
