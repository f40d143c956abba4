/* SPDX-License-Identifier: MIT
 *
 * Takes eight bytes at a time. The checksum is linear: it is the sum of the shares of its bytes.
 * The share of a byte depends on the byte and on its distance to the end, so there is a table of
 * shares for each of the eight distances. */
#include "value/checksum.h"

#include "value/bytes.h"

enum {
    CHECKSUM_LEN = 4,
    STEP = 8
};

static uint32_t tables[STEP][256];

void checksum_init(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t rest = i;
        for (int bit = 0; bit < 8; bit++) {
            rest = rest >> 1 ^ (rest & 1 ? 0x82f63b78u : 0);
        }
        tables[0][i] = rest;
    }
    for (size_t distance = 1; distance < STEP; distance++) {
        for (size_t i = 0; i < 256; i++) {
            const uint32_t near = tables[distance - 1][i];
            tables[distance][i] = near >> 8 ^ tables[0][near & 0xff];
        }
    }
}

static uint32_t add_step(uint32_t crc, const uint8_t *p)
{
    const uint64_t bytes = get_le(p, STEP) ^ crc;
    uint32_t sum = 0;
    for (size_t i = 0; i < STEP; i++) {
        sum ^= tables[STEP - 1 - i][bytes >> 8 * i & 0xff];
    }
    return sum;
}

uint32_t checksum_of(const void *data, size_t len)
{
    const uint8_t *p = data;
    uint32_t crc = UINT32_MAX;
    for (; len >= STEP; p += STEP, len -= STEP) {
        crc = add_step(crc, p);
    }
    for (; len > 0; p++, len--) {
        crc = crc >> 8 ^ tables[0][(crc ^ *p) & 0xff];
    }
    return ~crc;
}

size_t checksum_append(uint8_t *buf, size_t len)
{
    put_le(buf + len, checksum_of(buf, len), CHECKSUM_LEN);
    return len + CHECKSUM_LEN;
}

size_t checksum_strip(const uint8_t *buf, size_t len)
{
    if (len < CHECKSUM_LEN) {
        return SIZE_MAX;
    }
    len -= CHECKSUM_LEN;
    return get_le(buf + len, CHECKSUM_LEN) == checksum_of(buf, len) ? len : SIZE_MAX;
}
