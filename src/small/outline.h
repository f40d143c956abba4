/* SPDX-License-Identifier: MIT
 *
 * The outline of a small set with layers: a bitmap of the beginnings of the keys that it may have.
 * A set that has grown far beyond its small set asks the small set about every key, and nearly all
 * are absent there. The five layers take some 400 ns to say so, the outline 5 ns.
 *
 * A layer has hashes of its keys, and each of them is an interval of `hi`, so the outline follows
 * from the small set. It is not saved. */
#ifndef UNSEEN_SMALL_OUTLINE_H
#define UNSEEN_SMALL_OUTLINE_H

#include "small/small.h"

enum {
    OUTLINE_BITS =
        19, /* of hi; a full small set at 1e-2 sets a twentieth of the bitmap, at 1e-4 less */
    OUTLINE_LEN = 1 << (OUTLINE_BITS - 3)
};

/* Fills in the OUTLINE_LEN bytes of the outline of a small set of form LAYERED. */
void unseen__outline_make(uint8_t *outline, const struct small *small);

/* False: the small set does not have the key. */
static inline bool outline_may_have(const uint8_t *outline, struct unseen_key key)
{
    const uint64_t at = key.hi >> (64 - OUTLINE_BITS);
    return outline[at / 8] >> at % 8 & 1;
}

#endif
