/* SPDX-License-Identifier: MIT */
#include "print/print_utf8.h"

#include <stdbool.h>
#include <string.h>

static bool is_continuation(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* [RFC3629], 4: no overlong forms, no surrogates, nothing above U+10FFFF. */
size_t utf8_sequence(const unsigned char *s, const unsigned char *end)
{
    if (s[0] < 0x80) {
        return 1;
    }
    const size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || (size_t)(end - s) < n) {
        return 0;
    }
    for (size_t i = 1; i < n; i++) {
        if (!is_continuation(s[i])) {
            return 0;
        }
    }
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) {
        return 0;
    }
    return n;
}

size_t utf8_visible(const unsigned char *s, const unsigned char *end)
{
    const size_t n = utf8_sequence(s, end);
    const bool steers = s[0] < 0x20 || s[0] == 0x7f || (n == 2 && s[0] == 0xc2 && s[1] < 0xa0);
    return steers ? 0 : n;
}

void utf8_clean(char *text)
{
    const unsigned char *from = (const unsigned char *)text;
    const unsigned char *end = from + strlen(text);
    char *to = text;
    while (from < end) {
        const size_t visible = utf8_visible(from, end);
        const size_t n = visible ? visible : utf8_sequence(from, end);
        if (visible) {
            memmove(to, from, n);
        } else {
            *to = '?';
        }
        to += visible ? n : 1;
        from += n ? n : 1;
    }
    *to = '\0';
}
