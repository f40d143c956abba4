/* SPDX-License-Identifier: MIT
 *
 * Patterns for the names of parameters. A pattern is a name, or the start of names (written with a
 * "*" at its end). Names are compared percent-decoded.
 *
 * A list of patterns is sorted, and no pattern of it covers another, so a binary search finds the
 * one pattern that can match a name: it takes time logarithmic in the number of patterns. */
#ifndef UNSEEN_URL_PATTERNS_H
#define UNSEEN_URL_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unseen__pattern {
    const char *text;
    size_t len;
    bool is_start; /* matches every name that starts with the text */
};

struct unseen__patterns {
    const struct unseen__pattern *at; /* in rising order of the bytes of their texts */
    size_t n;
    uint64_t first; /* the bits UNSEEN__PATTERN_BIT of the first bytes of names that can match */
    bool folds;     /* compares without case; then all texts are lower case */
};

#define UNSEEN__PATTERN_BIT(c) (UINT64_C(1) << ((unsigned char)(c)&63))

/* Does a pattern match the name, which is not decoded yet? */
bool unseen__patterns_match(const struct unseen__patterns *patterns, const char *name, size_t len);

#endif
