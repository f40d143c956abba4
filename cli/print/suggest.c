/* SPDX-License-Identifier: MIT */
#include "print/suggest.h"

#include <stdint.h>
#include <string.h>

enum {
    NAME_MAX_BYTES = 31,
    DISTANCE_MAX = 2,    /* a name at a larger distance is another word */
    LETTERS_PER_TYPO = 3 /* so is a short name at a distance of 2: --foo is not --fpr */
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The number of letters to insert, delete or replace, and of neighbours to swap, to make one text
 * of the other ("optimal string alignment"). SIZE_MAX if b is longer than NAME_MAX_BYTES. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][NAME_MAX_BYTES + 1];
    size_t *above = rows[0];
    size_t *row = rows[1];
    size_t *below = rows[2];
    const size_t len = strlen(b);
    if (len > NAME_MAX_BYTES) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= len; j++) {
        row[j] = j;
    }
    for (size_t i = 0; a[i]; i++) {
        below[0] = i + 1;
        for (size_t j = 1; j <= len; j++) {
            size_t best = row[j - 1] + (a[i] != b[j - 1]);
            best = least(best, row[j] + 1);
            best = least(best, below[j - 1] + 1);
            if (i > 0 && j > 1 && a[i] == b[j - 2] && a[i - 1] == b[j - 1]) {
                best = least(best, above[j - 2] + 1);
            }
            below[j] = best;
        }
        size_t *unused = above;
        above = row;
        row = below;
        below = unused;
    }
    return row[len];
}

void suggest_try(struct suggestion *n, const char *name)
{
    const size_t len = strlen(n->wanted);
    const size_t d = distance(n->wanted, name);
    const size_t most = least(DISTANCE_MAX, len < LETTERS_PER_TYPO ? 1 : len / LETTERS_PER_TYPO);
    if (d <= most && (!n->best || d < n->distance)) {
        n->best = name;
        n->distance = d;
    }
}
