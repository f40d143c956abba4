/* SPDX-License-Identifier: MIT
 *
 * The inside of a small set, for those who ask it where it is (small.c has the bytes). */
#ifndef UNSEEN_SMALL_SMALL_H
#define UNSEEN_SMALL_SMALL_H

#include "small/parts.h"
#include "unseen_small.h"

enum {
    SMALL_LAYERS_MAX = 5,
    SMALL_ROOM = 21824,         /* keys of five full layers */
    SMALL_RUNS_MAX = 2048,      /* of a layer */
    SMALL_CODE_MAX = 252,       /* of the lowest rate with layers */
    SMALL_TIGHT_CODE = 204,     /* from this on the promise is below SMALL_LAYERED_RATE_MIN */
    SMALL_LINKS_CODE_MAX = 122, /* of the lowest rate with a chain behind the layers */
    SMALL_PREFIXES_MAX = 7000,  /* keys; the first group of a compact filter holds them */
    SMALL_LAYERED = 0,          /* forms */
    SMALL_NARROW = 1,
    SMALL_WIDE = 2,
    SMALL_SIZED = 3
};

#define SMALL_LAYERED_RATE_MIN 1e-5
#define SMALL_SIZED_RATE_MIN   5e-7   /* with a capacity */
#define SMALL_REST             1.5e-6 /* of the rate: for the compact set behind the layers */
#define SMALL_LINKS_MIN        9e-4   /* from this rate on, a chain is behind the layers, */
#define SMALL_LINKS_SHARE      0.1    /* with this part of the rate (set/chain.h) */

/* The part of a rate with layers that the compact set behind them has. */
static inline double small_rest_of(double promise)
{
    return promise < SMALL_LAYERED_RATE_MIN ? UNSEEN_FPR_DEFAULT : SMALL_REST;
}

/* A value as it is read, without a change meanwhile. */
struct small {
    unsigned form;
    unsigned code;  /* byte 1 of the value */
    unsigned sized; /* form SIZED: the byte that says so; else 0 */
    unsigned nlayers;
    bool counts;
    unsigned nrepeats;
    uint32_t nremoved;
    size_t len;
    const uint8_t *repeats;
    const uint8_t *end; /* of the block */
    struct parts layers[SMALL_LAYERS_MAX];
};

/* Reads a value, whose bytes are sound. */
void unseen__small_read(struct small *small, const void *value);

/* The key of repeat i, and how often it was added beyond its copies. */
struct unseen_key unseen__small_repeat(const struct small *small, unsigned i, uint32_t *count_out);

bool unseen__small_has(const struct small *small, struct unseen_key key);

/* The beginning of a key, with zeros behind it, of a number in a run of form NARROW or WIDE. */
struct unseen_key unseen__small_key(const struct small *small, size_t run, uint64_t number);

#endif
