/* SPDX-License-Identifier: MIT
 *
 * A set that several threads ask at once, each a part of its keys. The top bits of a key say
 * which part it belongs to, so equal keys are in one part. The keys of a part are asked in the
 * order of their lines: so of equal lines the first one is new, as if one thread had asked for
 * all. Keys are made under a secret: nobody can choose lines that crowd one part. */
#ifndef UNSEEN_CLI_SET_PARTS_H
#define UNSEEN_CLI_SET_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lines/batch.h"

enum {
    PARTS = 16
};

/* The keys of a batch in the order of their parts. */
struct batch_parts {
    uint16_t start[PARTS + 1];   /* of each part's keys */
    uint16_t lines[BATCH_LINES]; /* of each key, the index of its line */
    struct unseen_key keys[BATCH_LINES];
    uint8_t verdicts[BATCH_LINES];
};

struct parts {
    /* Set by the caller: threads add keys of different parts at once. NULL: the set is not asked in
     * parts. */
    struct unseen_set *set;

    /* state: memory ran out for the keys of these parts; nobody asks them any more */
    bool full[PARTS];
};

/* Sorts the keys of a batch into b->parts. */
void parts_sort(const struct batch *b);

/* Asks for the keys of one part in n batches, in their order. */
void parts_ask(struct parts *p, struct batch *const *batches, size_t n, size_t part);

/* Fills in the verdicts of the lines of a batch when all parts were asked. Returns the number of
 * lines in front of the first one without an answer, where memory ran out. */
size_t parts_answers(const struct batch *b, uint8_t *verdicts);

#endif
