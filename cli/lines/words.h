/* SPDX-License-Identifier: MIT
 *
 * Parts of a line: words with blanks between them, the bytes in front of a mark. */
#ifndef UNSEEN_CLI_WORDS_H
#define UNSEEN_CLI_WORDS_H

#include <stdbool.h>
#include <string.h>

#include <unseen.h>

static inline bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline char byte_at(struct unseen_bytes in, size_t i)
{
    const char *const data = in.data;
    return data[i];
}

static inline struct unseen_bytes first_of(struct unseen_bytes in, size_t n)
{
    return (struct unseen_bytes){in.data, n};
}

static inline struct unseen_bytes without_first(struct unseen_bytes in, size_t n)
{
    const char *const data = in.data;
    return (struct unseen_bytes){data + n, in.len - n};
}

static inline bool begins_with(struct unseen_bytes in, char c)
{
    return in.len > 0 && byte_at(in, 0) == c;
}

static inline bool ends_with(struct unseen_bytes in, char c)
{
    return in.len > 0 && byte_at(in, in.len - 1) == c;
}

/* The number of bytes in front of the first one of `stops`. */
static inline size_t length_until(struct unseen_bytes in, const char *stops)
{
    size_t n = 0;
    while (n < in.len && (byte_at(in, n) == '\0' || !strchr(stops, byte_at(in, n)))) {
        n++;
    }
    return n;
}

static inline struct unseen_bytes skip_blanks(struct unseen_bytes in)
{
    size_t n = 0;
    while (n < in.len && is_blank(byte_at(in, n))) {
        n++;
    }
    return without_first(in, n);
}

static inline struct unseen_bytes without_last_blanks(struct unseen_bytes in)
{
    while (in.len > 0 && is_blank(byte_at(in, in.len - 1))) {
        in.len--;
    }
    return in;
}

/* Takes the first word off the line. Its length is 0 if there is none. */
static inline struct unseen_bytes next_word(struct unseen_bytes *line)
{
    const struct unseen_bytes from = skip_blanks(*line);
    size_t n = 0;
    while (n < from.len && !is_blank(byte_at(from, n))) {
        n++;
    }
    *line = without_first(from, n);
    return first_of(from, n);
}

#endif
