/* SPDX-License-Identifier: MIT */
#include "checksum.h"

#include "bytes.h"

enum {
    CHECKSUM_LEN = 4
};

static uint32_t table[256];

void checksum_init(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t rest = i;
        for (int bit = 0; bit < 8; bit++) {
            rest = rest >> 1 ^ (rest & 1 ? 0x82f63b78u : 0);
        }
        table[i] = rest;
    }
}

uint32_t checksum_of(const void *data, size_t len)
{
    const uint8_t *p = data;
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < len; i++) {
        crc = crc >> 8 ^ table[(crc ^ p[i]) & 0xff];
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
