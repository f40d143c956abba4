/* SPDX-License-Identifier: MIT */
#include "server/secret.h"

#include <stdio.h>
#include <string.h>

enum {
    DIGITS = 2 * SEED_LEN,
    LINE_END_MAX = 2
};

static int value_of(char digit)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *found = digit ? strchr(digits, digit) : NULL;
    return found ? (int)((found - digits) % 16) : -1;
}

static bool decode(const char *text, uint8_t *seed)
{
    for (size_t i = 0; i < SEED_LEN; i++) {
        const int high = value_of(text[2 * i]);
        const int low = value_of(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        seed[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static bool is_line_end(const char *text, size_t len)
{
    return len == 0 || (len == 1 && text[0] == '\n') || (len == 2 && memcmp(text, "\r\n", 2) == 0);
}

bool secret_read(const char *path, uint8_t seed[SEED_LEN])
{
    char text[DIGITS + LINE_END_MAX + 1]; /* one byte more, so that a longer file is seen */
    uint8_t bytes[SEED_LEN];
    FILE *file = fopen(path, "rb");
    if (!file) {
        return false;
    }
    const size_t len = fread(text, 1, sizeof(text), file);
    const bool is_read = !ferror(file);
    if (fclose(file) != 0 || !is_read || len < DIGITS ||
        !is_line_end(text + DIGITS, len - DIGITS) || !decode(text, bytes)) {
        return false;
    }
    memcpy(seed, bytes, SEED_LEN);
    return true;
}
