/* SPDX-License-Identifier: MIT
 *
 * Numbers as bytes, little-endian on every machine. */
#ifndef UNSEEN_MODULE_BYTES_H
#define UNSEEN_MODULE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    VARINT_MAX = 10 /* bytes of a number */
};

static inline void put_le(uint8_t *p, uint64_t number, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i++) {
        p[i] = (uint8_t)(number >> 8 * i);
    }
}

static inline uint64_t get_le(const uint8_t *p, size_t nbytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < nbytes; i++) {
        number |= (uint64_t)p[i] << 8 * i;
    }
    return number;
}

/* A number by seven bits, the lowest first; all bytes but the last have the highest bit. Returns
 * the number of bytes. */
static inline size_t put_varint(uint8_t *p, uint64_t number)
{
    size_t len = 0;
    while (number >= 0x80) {
        p[len++] = (uint8_t)(number | 0x80);
        number >>= 7;
    }
    p[len++] = (uint8_t)number;
    return len;
}

/* Reads the number at p[*at], and counts *at on. Returns false if the number does not end before
 * p[len], or if put_varint would write it with other bytes. */
static inline bool get_varint(const uint8_t *p, size_t len, size_t *at, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; *at < len && shift < 7 * VARINT_MAX; shift += 7) {
        const uint8_t byte = p[(*at)++];
        *number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            return (byte > 0 || shift == 0) && (shift < 63 || byte == 1);
        }
    }
    return false;
}

#endif
