/* SPDX-License-Identifier: MIT
 *
 * Chooses the geometry of pages for a rate, and computes the offsets and the rate of a geometry. */
#include "list/geometry.h"

#include <math.h>

/* Keys for each row of a page. Some are bumped, and the others leave fewer rows unused. */
static const double OVERLOAD = 1.045;

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The bytes that the columns behind group 0 take in the blocks before this one. */
static unsigned rest_before(const struct unseen__list_geometry *s, unsigned block)
{
    return 8 * (block * (s->columns - s->group0) + least(block, s->extended));
}

bool unseen__list_geometry_make(unsigned columns, unsigned blocks, unsigned extended,
                                struct unseen__list_geometry *geometry_out)
{
    if (columns < 2 || columns > UNSEEN__LIST_COLUMNS_MAX || blocks < 2 ||
        blocks > UNSEEN__LIST_BLOCKS_MAX || extended > blocks ||
        8 * (columns * blocks + extended) + (blocks + 3) / 4 > UNSEEN__LIST_PAGE) {
        return false;
    }
    struct unseen__list_geometry s = {.columns = columns, .blocks = blocks, .extended = extended};
    s.group0 = least(columns, 8);
    const unsigned start = 8 * s.group0 * blocks;
    for (unsigned i = 0; i < blocks; i++) {
        s.rest[i] = (uint16_t)(start + rest_before(&s, i) + (i + 2) / 4);
        s.displaced[i / 4] =
            (uint16_t)(start + rest_before(&s, least(i / 4 * 4 + 2, blocks)) + i / 4);
    }
    *geometry_out = s;
    return true;
}

/* The share of keys with a longer fingerprint: they begin in an extended block, and the next block
 * is extended, too. */
static double extended_share(const struct unseen__list_geometry *s)
{
    if (s->extended == s->blocks) {
        return 1;
    }
    return s->extended < 2
               ? 0
               : (64.0 * (s->extended - 1) + UNSEEN__LIST_FIRST_ROWS) / (64.0 * s->blocks);
}

double unseen__list_geometry_rate(const struct unseen__list_geometry *geometry)
{
    return ldexp(1 - extended_share(geometry) / 2, -(int)geometry->columns);
}

enum unseen_status unseen__list_geometry_for(double fpr, struct unseen__list_geometry *geometry_out)
{
    struct unseen__list_geometry best = {.blocks = 0};
    struct unseen__list_geometry s;
    for (unsigned columns = 2; columns <= UNSEEN__LIST_COLUMNS_MAX; columns++) {
        for (unsigned blocks = UNSEEN__LIST_BLOCKS_MAX; blocks >= 2; blocks--) {
            const unsigned used = 8 * columns * blocks + (blocks + 3) / 4;
            const unsigned extended =
                used <= UNSEEN__LIST_PAGE ? least((UNSEEN__LIST_PAGE - used) / 8, blocks) : 0;
            if (!unseen__list_geometry_make(columns, blocks, extended, &s) ||
                unseen__list_geometry_rate(&s) > fpr) {
                continue;
            }
            /* More blocks hold more keys. Of geometries with as many blocks, the lower rate costs
             * nothing. */
            if (s.blocks > best.blocks ||
                (s.blocks == best.blocks &&
                 unseen__list_geometry_rate(&s) < unseen__list_geometry_rate(&best))) {
                best = s;
            }
        }
    }
    if (best.blocks == 0) {
        return UNSEEN_ERR_FPR;
    }
    *geometry_out = best;
    return UNSEEN_OK;
}

uint32_t unseen__list_npages(const struct unseen__list_geometry *geometry, uint64_t nkeys)
{
    const double most = UNSEEN__LIST_ROWS * geometry->blocks * OVERLOAD;
    const double npages = floor((double)nkeys / most + 0.5);
    return npages < 1 ? 1 : npages < UINT32_MAX ? (uint32_t)npages : UINT32_MAX;
}
