/* SPDX-License-Identifier: MIT
 *
 * A batch: lines that go through the tool together. There are enough of them for the set to fetch
 * memory ahead, and few enough that text, keys and verdicts stay in the cache from the split to
 * the output. */
#ifndef UNSEEN_CLI_BATCH_H
#define UNSEEN_CLI_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "lines/text.h"
#include "print/report.h"

enum {
    BATCH_LINES = 512,
    /* From the start of any line this many bytes can be read, even if the line is shorter. */
    BATCH_READABLE = 128
};

struct batch {
    size_t n; /* lines in input order, each followed by its delimiter */
    struct unseen_bytes lines[BATCH_LINES];
    /* The same lines as they are compared: without the CR of a CRLF line end. Only lines that end
     * in a newline can have that, not those of --null. */
    const struct unseen_bytes *texts; /* lines or trimmed */
    struct unseen_bytes trimmed[BATCH_LINES];
    struct unseen_key keys[BATCH_LINES];
    uint8_t forms[BATCH_LINES];  /* enum unseen_url_form */
    uint64_t times[BATCH_LINES]; /* in milliseconds, plus 1; 0: none. Only with --time */

    /* Only if the identity keeps texts: the part of each line that was canonicalised, and its
     * canonical form, which is followed by a delimiter like a line. (With a key of several parts
     * both are the identity.) */
    struct unseen_bytes items[BATCH_LINES];
    struct unseen_bytes canons[BATCH_LINES];
    uint32_t shares[BATCH_LINES]; /* from 0; only if the identity tells them */
    struct text text;             /* holds the items and canons that are not bytes of the input */

    /* The part of the input that this batch was made from. Some of its lines may have been left
     * out. */
    const char *begin;
    uint64_t line; /* number of its first line in the file, from 0 */
    const char *end;
    uint64_t nbytes;
    uint64_t nlines;   /* those that have an identity or lack the key */
    size_t file;       /* the index of the file, */
    const char *name;  /* and how messages call it */
    uint64_t offset;   /* in the file, about: its bytes up to there, compressed or not, were read */
    uint64_t nlong;    /* longer than --max-line */
    uint64_t nother;   /* of other shares */
    uint64_t nskipped; /* lines that were left out because they lack the key */
    uint64_t nmisses;  /* lines without the key, left out or not, */
    struct unseen_bytes missing; /* and the first of them; */
    const char *time_lacks;      /* what is wrong with its time; NULL: it lacks the key */
    bool is_array;               /* the first line of the file begins an array of records */
    bool comes_again;            /* in the second of two readings (reread.h) */
    bool failed;                 /* a file or line before the end of this batch could not be read */
};

/* Moves a line to an earlier place. */
static inline void batch_move_line(struct batch *b, size_t to, size_t from)
{
    b->lines[to] = b->lines[from];
    b->times[to] = b->times[from];
    if (b->texts == b->trimmed) {
        b->trimmed[to] = b->trimmed[from];
    }
}

/* Counts in the report what belongs to no single line of b. */
static inline void batch_count(const struct batch *b, struct report *report)
{
    report->nlong += b->nlong;
    report->nother += b->nother;
    report->nmisses += b->nmisses;
    report->nskipped += b->nskipped;
    report->nbytes += b->nbytes;
}

/* Counts the lines that are not URLs among n lines from first on. */
static inline uint64_t batch_count_failed(const struct batch *b, size_t first, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = first; i < first + n; i++) {
        sum += b->forms[i] == UNSEEN_URL_FAILED;
    }
    return sum;
}

#endif
