/* SPDX-License-Identifier: MIT
 *
 * One page of a list: page.c asks it for a key, and solve.c makes it from keys. */
#ifndef UNSEEN_LIST_PAGE_H
#define UNSEEN_LIST_PAGE_H

#include "list/geometry.h"

/* The answer of a page about a key. */
enum unseen__list_answer {
    UNSEEN__LIST_NO = 0,
    UNSEEN__LIST_YES = 1,
    UNSEEN__LIST_BUMPED = 2 /* not on this page: ask the next layer */
};

/* A key on its page: the block in which it begins; its coefficients, 64 bits over that block and 64
 * over the next; its fingerprint; and a byte that says how soon it is bumped. */
struct unseen__list_row {
    unsigned block;
    uint64_t c0;
    uint64_t c1;
    uint32_t fingerprint;
    uint8_t bump;
};

/* A block of level l bumps each key whose bump byte is below the l'th threshold. The last threshold
 * bumps all keys: so every page can be solved. */
static const uint16_t unseen__list_thresholds[4] = {0, 36, 128, 256};

/* splitmix64's finalizer [Steele14]. */
static inline uint64_t unseen__list_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* The block in which the keys of a row, 0..64 * blocks - 1, begin. The last block has no successor
 * and can take fewer keys. */
static inline unsigned unseen__list_block_of(unsigned row)
{
    return row < UNSEEN__LIST_FIRST_ROWS ? 0 : (row - UNSEEN__LIST_FIRST_ROWS) / UNSEEN__LIST_ROWS;
}

/* The page and row of a key within its shard. Both rise with the key. The 32 bits of a key behind
 * its shard's bits are a fraction; its product with the number of pages has the page before the
 * point and the row, as a fraction of a page, behind the point. */
struct unseen__list_place {
    uint32_t page;
    unsigned row;
};

static inline struct unseen__list_place
unseen__list_place_of(const struct unseen__list_geometry *geometry, uint64_t key,
                      unsigned shard_bits, uint32_t npages)
{
    const uint64_t product = (key << shard_bits >> 32) * npages;
    const uint64_t row = (product & UINT32_MAX) * (UNSEEN__LIST_ROWS * geometry->blocks) >> 32;
    return (struct unseen__list_place){(uint32_t)(product >> 32), (unsigned)row};
}

/* Stores for each block of a page the index at which its keys end; the last end is the page's. keys
 * are sorted, and are those of the shard from this page on. */
void unseen__list_part(const struct unseen__list_geometry *geometry, const uint64_t *keys, size_t n,
                       unsigned shard_bits, uint32_t npages, uint32_t page,
                       uint32_t ends_out[UNSEEN__LIST_BLOCKS_MAX]);

/* The key under which the next layer knows a key that this layer has bumped. */
static inline uint64_t unseen__list_next_key(uint64_t key)
{
    return unseen__list_mix(key ^ UINT64_C(0x6a09e667f3bcc908));
}

/* Everything about a key on its page that follows from its hash and its row. */
static inline struct unseen__list_row
unseen__list_row_of(const struct unseen__list_geometry *geometry, uint64_t hash, unsigned row)
{
    struct unseen__list_row r;
    r.block = unseen__list_block_of(row);
    r.c0 = unseen__list_mix(hash);
    const uint64_t more = unseen__list_mix(hash + UINT64_C(0x9e3779b97f4a7c15));
    r.c1 = r.block + 1 < geometry->blocks ? more : 0;
    const uint64_t last = (r.c0 ^ (more << 32 | more >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    r.fingerprint = (uint32_t)(last >> 8) & ((UINT32_C(2) << geometry->columns) - 1);
    r.bump = (uint8_t)(last >> 56);
    return r;
}

/* Does a key that begins in this block have a fingerprint longer by one bit? */
static inline bool unseen__list_is_extended(const struct unseen__list_geometry *geometry,
                                            unsigned block)
{
    return block + 1 < geometry->extended || geometry->extended == geometry->blocks;
}

/* Asks a page for a key. */
enum unseen__list_answer unseen__list_page_ask(const struct unseen__list_geometry *geometry,
                                               const uint8_t page[UNSEEN__LIST_PAGE],
                                               const struct unseen__list_row *row);

/* Returns true if the remaining columns match, too. Call it only if the columns of group 0 could
 * not rule the key out. */
bool unseen__list_page_ask_rest(const struct unseen__list_geometry *geometry,
                                const uint8_t page[UNSEEN__LIST_PAGE],
                                const struct unseen__list_row *row);

/* Makes a page that bumps every key. */
void unseen__list_page_bump_all(const struct unseen__list_geometry *geometry,
                                uint8_t page[UNSEEN__LIST_PAGE]);

/* ---- solving ---- */

struct unseen__list_solver;

/* Makes a solver for pages of at most cap keys. Errors: NOMEM. */
enum unseen_status unseen__list_solver_create(struct unseen__list_solver **solver_out,
                                              const struct unseen__list_geometry *geometry,
                                              size_t cap, enum unseen_cpu cpu,
                                              const struct unseen_allocator *allocator);
void unseen__list_solver_free(struct unseen__list_solver *solver);

/* Makes the page of the keys with these hashes: at most cap of them, and no two equal. ends[i] is
 * the index at which the keys of block i end. Stores the indexes of the *nbumped_out keys that the
 * page bumps in bumped, which has room for one more than there are keys. Never fails. */
void unseen__list_solve(struct unseen__list_solver *solver, const uint64_t *hashes,
                        const uint32_t *ends, uint8_t page[UNSEEN__LIST_PAGE], uint32_t *bumped,
                        size_t *nbumped_out);

/* Counters since the solver was made. */
struct unseen__list_solver_counts {
    uint64_t npages;
    uint64_t nretries;   /* a block was tried again at a higher level */
    uint64_t nreturns;   /* ... and that was an earlier block */
    uint64_t nlevels[4]; /* blocks by level */
};
struct unseen__list_solver_counts
unseen__list_solver_counts(const struct unseen__list_solver *solver);

#endif
