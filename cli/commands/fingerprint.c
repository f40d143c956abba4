/* SPDX-License-Identifier: MIT
 *
 * SHA-1 (FIPS 180-4, section 6.1), fed with the JSON object that Scrapy hashes:
 *
 *     {"body": "", "headers": {}, "method": "GET", "url": "http://e.com/"}
 *
 * The names are sorted and the text is ASCII, as json.dumps of Python writes it. SHA-1 is no
 * protection against forged URLs, neither here nor in Scrapy. */
#include "commands/fingerprint.h"

#include <stdint.h>
#include <string.h>

#include "characters.h"

enum {
    BLOCK = 64,
    LENGTH = 8 /* bytes at the end of the last block that hold the length in bits */
};

struct sha1 {
    uint32_t state[5];
    uint64_t n; /* bytes so far */
    unsigned char block[BLOCK];
};

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static uint32_t load_be32(const unsigned char *in)
{
    return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

static void take_block(struct sha1 *sha1)
{
    static const uint32_t constants[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t w[80];
    for (size_t i = 0; i < 16; i++) {
        w[i] = load_be32(sha1->block + 4 * i);
    }
    for (size_t i = 16; i < 80; i++) {
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    }
    uint32_t a = sha1->state[0];
    uint32_t b = sha1->state[1];
    uint32_t c = sha1->state[2];
    uint32_t d = sha1->state[3];
    uint32_t e = sha1->state[4];
    for (size_t i = 0; i < 80; i++) {
        const uint32_t choice = (b & c) | (~b & d);
        const uint32_t majority = (b & c) | (b & d) | (c & d);
        const uint32_t f = i < 20 ? choice : i >= 40 && i < 60 ? majority : b ^ c ^ d;
        const uint32_t next = rotate(a, 5) + f + e + constants[i / 20] + w[i];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    sha1->state[0] += a;
    sha1->state[1] += b;
    sha1->state[2] += c;
    sha1->state[3] += d;
    sha1->state[4] += e;
}

static void fingerprint_put(struct sha1 *sha1, const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        sha1->block[sha1->n++ % BLOCK] = (unsigned char)data[i];
        if (sha1->n % BLOCK == 0) {
            take_block(sha1);
        }
    }
}

static void fingerprint_put_string(struct sha1 *sha1, const char *string)
{
    fingerprint_put(sha1, string, strlen(string));
}

static void fingerprint_finish(struct sha1 *sha1, char digits_out[FINGERPRINT_DIGITS])
{
    const uint64_t nbits = sha1->n * 8;
    fingerprint_put(sha1, "\x80", 1);
    while (sha1->n % BLOCK != BLOCK - LENGTH) {
        fingerprint_put(sha1, "", 1);
    }
    for (unsigned shift = 64; shift > 0; shift -= 8) {
        const char byte = (char)(nbits >> (shift - 8) & 0xff);
        fingerprint_put(sha1, &byte, 1);
    }
    for (size_t i = 0; i < FINGERPRINT_DIGITS; i++) {
        digits_out[i] = hex_digit(sha1->state[i / 8] >> (28 - 4 * (i % 8)) & 15);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_escape(struct sha1 *sha1, uint32_t unit)
{
    const char escape[] = {'\\',
                           'u',
                           hex_digit(unit >> 12 & 15),
                           hex_digit(unit >> 8 & 15),
                           hex_digit(unit >> 4 & 15),
                           hex_digit(unit & 15)};
    fingerprint_put(sha1, escape, sizeof(escape));
}

/* Puts a character beyond ASCII as one escape, or as the two of its surrogates. */
static void put_point(struct sha1 *sha1, uint32_t point)
{
    if (point >= 0x10000) {
        put_escape(sha1, 0xd800 + ((point - 0x10000) >> 10));
        point = 0xdc00 + ((point - 0x10000) & 0x3ff);
    }
    put_escape(sha1, point);
}

/* Puts a text of UTF-8. A canonical form is that: other bytes are escaped in it. */
static void put_text(struct sha1 *sha1, struct unseen_bytes text)
{
    static const char letters[] = "\bb\ff\nn\rr\tt\"\"\\\\";
    for (size_t i = 0; i < text.len;) {
        const unsigned char c = (unsigned char)text.data[i++];
        const char *const letter = c ? strchr(letters, c) : NULL;
        if (c >= 0x80) {
            const unsigned more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
            uint32_t point = c & (0x3fu >> more);
            for (unsigned k = 0; k < more && i < text.len; k++) {
                point = point << 6 | ((unsigned char)text.data[i++] & 0x3f);
            }
            put_point(sha1, point);
        } else if (letter && (c < ' ' || c == '"' || c == '\\')) {
            const char escape[] = {'\\', letter[1]};
            fingerprint_put(sha1, escape, sizeof(escape));
        } else if (c < ' ' || c == 0x7f) {
            put_escape(sha1, c);
        } else {
            fingerprint_put(sha1, (const char *)&c, 1);
        }
    }
}

/* ---- The whole ------------------------------------------------------------------------------- */

static bool begins_with(struct unseen_bytes text, const char *start)
{
    const size_t len = strlen(start);
    return text.len >= len && memcmp(text.data, start, len) == 0;
}

/* Is there a "://" in the text, once tabs and line ends are gone? */
static bool has_slashes(struct unseen_bytes text)
{
    static const char slashes[] = "://";
    size_t n = 0; /* how much of it the text has at this place */
    for (size_t i = 0; i < text.len && slashes[n]; i++) {
        const char c = text.data[i];
        if (c != '\t' && c != '\r' && c != '\n') {
            n = c == slashes[n] ? n + 1 : c == ':';
        }
    }
    return !slashes[n];
}

/* Scrapy looks for "://" anywhere in the URL, before it drops the fragment and sorts the query. The
 * canonical form has it where the input has backslashes. */
static bool is_request(struct unseen_bytes input, struct unseen_bytes canonical)
{
    return has_slashes(input) || has_slashes(canonical) || begins_with(canonical, "about:") ||
           begins_with(canonical, "data:");
}

bool fingerprint_write(struct unseen_bytes input, struct unseen_bytes canonical,
                       char digits_out[FINGERPRINT_DIGITS])
{
    struct sha1 sha1 = {
        .state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0},
    };
    if (!is_request(input, canonical)) {
        return false;
    }
    fingerprint_put_string(&sha1,
                           "{\"body\": \"\", \"headers\": {}, \"method\": \"GET\", \"url\": \"");
    put_text(&sha1, canonical);
    fingerprint_put_string(&sha1, "\"}");
    fingerprint_finish(&sha1, digits_out);
    return true;
}
