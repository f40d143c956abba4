/* SPDX-License-Identifier: MIT
 *
 * Some lines that go through the tool together: enough for the set to fetch memory ahead, few
 * enough that text, keys and verdicts stay in the cache from the split to the output. */
#ifndef UNSEEN_CLI_BATCH_H
#define UNSEEN_CLI_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "lines/text.h"

enum {
    BATCH_LINES = 512,
    /* This many bytes from the start of any line may be read, whatever its length. */
    BATCH_READABLE = 128
};

struct batch {
    size_t n; /* lines to answer, in input order, each with its delimiter behind it */
    struct unseen_bytes lines[BATCH_LINES];
    struct unseen_key keys[BATCH_LINES];
    uint8_t forms[BATCH_LINES]; /* enum unseen_url_form */

    /* Only where the identity keeps texts: what of each line was canonicalised, and its canonical
     * form, with a delimiter behind it like a line. */
    struct unseen_bytes items[BATCH_LINES];
    struct unseen_bytes canons[BATCH_LINES];
    struct text text; /* those of them that do not stand in the input as they are */

    /* The input this batch took up, with the lines that are not among the above. */
    const char *begin;
    uint64_t line; /* number of the first of them in its file, from 0 */
    const char *end;
    uint64_t nbytes;
    uint64_t nlong;   /* longer than --max-line */
    uint64_t nother;  /* of other shares */
    uint64_t nmisses; /* without the wanted key, taken whole */
    bool failed;      /* some file or line before the end of this batch could not be read */
};

/* How many of n lines from first on are not URLs. */
static inline uint64_t batch_count_failed(const struct batch *b, size_t first, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = first; i < first + n; i++) {
        sum += b->forms[i] == UNSEEN_URL_FAILED;
    }
    return sum;
}

#endif
