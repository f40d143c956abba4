/* SPDX-License-Identifier: MIT
 *
 * The low 32 bits of XXH3-64. This checksum protects what the module itself writes: settings,
 * changes, leases, small sets, and the ends of values. The chunks of a set have checksums of their
 * own. */
#ifndef UNSEEN_MODULE_CHECKSUM_H
#define UNSEEN_MODULE_CHECKSUM_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "value/bytes.h"

enum {
    CHECKSUM_LEN = 4
};

static inline uint32_t checksum_of(const void *data, size_t len)
{
    return (uint32_t)XXH3_64bits(data, len);
}

/* Appends the checksum of buf[0..len), little-endian. Returns the new length. */
static inline size_t checksum_append(uint8_t *buf, size_t len)
{
    put_le(buf + len, checksum_of(buf, len), CHECKSUM_LEN);
    return len + CHECKSUM_LEN;
}

/* Returns the length without the checksum, or SIZE_MAX if it is wrong or missing. */
static inline size_t checksum_strip(const uint8_t *buf, size_t len)
{
    const size_t rest = len < CHECKSUM_LEN ? 0 : len - CHECKSUM_LEN;
    const bool is_right =
        len >= CHECKSUM_LEN && get_le(buf + rest, CHECKSUM_LEN) == checksum_of(buf, rest);
    return is_right ? rest : SIZE_MAX;
}

#endif
