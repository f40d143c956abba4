/* SPDX-License-Identifier: MIT
 *
 * Numbers as bytes, little-endian on every machine. */
#ifndef UNSEEN_MODULE_BYTES_H
#define UNSEEN_MODULE_BYTES_H

#include <stddef.h>
#include <stdint.h>

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

#endif
