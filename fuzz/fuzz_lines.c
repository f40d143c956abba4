/* SPDX-License-Identifier: MIT
 *
 * The line splitter. For any bytes, in any pieces: lines and delimiters together are the input
 * again, and no line has a delimiter in it. The first bytes choose the delimiter and the number
 * of lines that a call may return. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <unseen.h>

#include "target.h"

/* Texts are lines without one CR at the end; nothing is stored if no line has that. */
static void check_texts(const struct unseen_bytes *lines, size_t n, struct unseen_bytes *texts)
{
    const struct unseen_bytes not_stored = {"", SIZE_MAX};
    size_t ncr = 0;
    for (size_t i = 0; i < n; i++) {
        texts[i] = not_stored;
        ncr += lines[i].len > 0 && lines[i].data[lines[i].len - 1] == '\r';
    }
    require(unseen_lines_trim(lines, n, texts) == ncr);
    for (size_t i = 0; i < n; i++) {
        const struct unseen_bytes line = lines[i];
        const struct unseen_bytes text = texts[i];
        require(text.data == line.data && text.len <= line.len && line.len - text.len <= 1);
        require(text.len == line.len ? line.len == 0 || line.data[line.len - 1] != '\r'
                                     : line.data[text.len] == '\r');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum {
        MAX = 70
    };
    struct unseen_bytes lines[MAX];
    struct unseen_bytes texts[MAX];
    if (size < 2) {
        return 0;
    }
    const char delimiter = data[0] & 1 ? '\n' : (char)data[0];
    const size_t max = 1 + data[1] % MAX;
    const char *text = (const char *)data + 2;
    const size_t len = size - 2;
    size_t at = 0;
    for (;;) {
        size_t consumed = SIZE_MAX;
        size_t n = unseen_lines_split(text + at, len - at, delimiter, lines, max, &consumed);
        require(n <= max && consumed <= len - at);
        check_texts(lines, n, texts);
        size_t expected = at;
        for (size_t i = 0; i < n; i++) {
            require(lines[i].data == text + expected);
            require(lines[i].len == 0 || !memchr(lines[i].data, delimiter, lines[i].len));
            expected += lines[i].len + 1;
            require(text[expected - 1] == delimiter);
        }
        require(expected == at + consumed);
        at += consumed;
        if (n < max) {
            break;
        }
    }
    require(at == len || !memchr(text + at, delimiter, len - at));
    return 0;
}
