/* SPDX-License-Identifier: MIT */
#include "print/suggest.h"

#include <stdint.h>
#include <string.h>

enum {
    NAME_MAX_BYTES = 31,
    DISTANCE_MAX = 2 /* a name at a larger distance is another word */
};

/* The Levenshtein distance; SIZE_MAX if b is longer than NAME_MAX_BYTES. */
static size_t distance(const char *a, const char *b)
{
    size_t row[NAME_MAX_BYTES + 1];
    const size_t len = strlen(b);
    if (len > NAME_MAX_BYTES) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= len; j++) {
        row[j] = j;
    }
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 1; j <= len; j++) {
            size_t best = diagonal + (a[i] != b[j - 1]);
            diagonal = row[j];
            best = best < row[j] + 1 ? best : row[j] + 1;
            row[j] = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
        }
    }
    return row[len];
}

void suggest_try(struct suggestion *n, const char *name)
{
    const size_t d = distance(n->wanted, name);
    if (d <= DISTANCE_MAX && (!n->best || d < n->distance)) {
        n->best = name;
        n->distance = d;
    }
}
