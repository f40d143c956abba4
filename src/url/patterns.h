/* SPDX-License-Identifier: MIT
 *
 * Patterns for the names of parameters. A pattern is a name, or the start of names (written with a
 * "*" at its end). Names are compared percent-decoded.
 *
 * A list of patterns is sorted, and no pattern of it covers another. So at most one pattern matches
 * a name, and a binary search finds it. The search begins in the range of the patterns with the
 * first byte of the name, which for most names is empty. */
#ifndef UNSEEN_URL_PATTERNS_H
#define UNSEEN_URL_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unseen__pattern {
    const char *text; /* decoded */
    size_t len;
    bool is_start; /* matches every name that starts with the text */
};

enum {
    UNSEEN__PATTERNS_MAX = UINT16_MAX
};

struct unseen__patterns {
    const struct unseen__pattern *at; /* in rising order of the bytes of their texts */
    bool folds;                       /* compares without case; all texts are lower case */
    bool matches_all;                 /* the only pattern is "*" */
    uint16_t start[257]; /* patterns with the first byte b are start[b] up to start[b + 1] */
};

/* Makes the list of the n patterns at `at`, n at most UNSEEN__PATTERNS_MAX, which stay where they
 * are. They are sorted, and none covers another. */
void unseen__patterns_init(struct unseen__patterns *list, const struct unseen__pattern *at,
                           size_t n, bool folds);

/* The pattern that matches the name, which is not decoded yet; NULL if there is none. */
const struct unseen__pattern *unseen__patterns_find(const struct unseen__patterns *list,
                                                    const char *name, size_t len);

#endif
