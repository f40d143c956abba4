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

/* Of hi. A full small set at 1e-2 sets a sixth of the short bitmap, and a twentieth of the long. */
enum {
    OUTLINE_SHORT = 17,
    OUTLINE_LONG = 19
};

static inline size_t outline_len(unsigned bits)
{
    return (size_t)1 << (bits - 3);
}

/* Fills in the outline_len(bits) bytes of the outline of a small set of form LAYERED. */
void unseen__outline_make(uint8_t *outline, unsigned bits, const struct small *small);

/* False: the small set does not have the key. */
static inline bool outline_may_have(const uint8_t *outline, unsigned bits, struct unseen_key key)
{
    const uint64_t at = key.hi >> (64 - bits);
    return outline[at / 8] >> at % 8 & 1;
}

#endif
