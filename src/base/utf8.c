/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

size_t unseen__utf8_read(const char *text, size_t len, uint32_t *point)
{
    const unsigned char *const in = (const unsigned char *)text;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (in[0] < 0x80) {
        *point = in[0];
        return 1;
    }
    const size_t n = in[0] >= 0xf0 ? 4 : in[0] >= 0xe0 ? 3 : 2;
    if (in[0] < 0xc2 || in[0] > 0xf4 || n > len) {
        return 0;
    }
    uint32_t value = in[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((in[i] & 0xc0) != 0x80) {
            return 0;
        }
        value = value << 6 | (in[i] & 0x3fu);
    }
    *point = value;
    return value < least[n] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000) ? 0 : n;
}
