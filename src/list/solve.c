/* SPDX-License-Identifier: MIT
 *
 * Solves a page: a bumped ribbon [Dillinger21] in which the band advances by whole blocks of 64
 * rows.
 *
 * Keys that begin in a block are equations over it and the next block. Gauss-Jordan elimination
 * over the block's 64 unknowns leaves equations over the next block only, which are carried there.
 * A page holds more keys than rows, so some keys are bumped: each block has the lowest of four
 * levels at which no more than CARRY_MAX equations are carried. If a block's equations contradict
 * each other, its level goes up; if that does not help, the level of the block before goes up. The
 * highest level leaves no equation that could contradict another, so the search ends.
 *
 * Unknowns without an equation are 0; the others follow from the last block back to the first. Only
 * the equations decide which unknowns have none, and with that every bit of the page. The order in
 * which the equations are worked on does not matter. */
#include "list/solve.h"

#include <string.h>

#include "base/bytes.h"
#include "base/cpu.h"
#include "base/macros.h"
#include "base/memory.h"
#include "list/layout.h"

enum {
    ROWS = UNSEEN__LIST_ROWS,
    BLOCKS = UNSEEN__LIST_BLOCKS_MAX,
    /* Carried equations may depend on each other, which shows only in the next block. With 58, one
     * page in twenty has to go back a block; with more, every second page has to. */
    CARRY_MAX = 58,
    LAST_MAX = 62, /* equations of the last block, which can carry none */
    STRIPE = 4,    /* columns eliminated at a time */
    SUMS = 1 << STRIPE,
    KEYS_MAX = 240 /* of one block: if there are more, all of them are bumped */
};

_Static_assert(ROWS + CARRY_MAX <= UNSEEN__LIST_HEIGHT, "a system has room for what a block takes");

/* A block while its page is being solved. */
struct block {
    uint32_t first; /* its keys are first..end - 1 */
    uint32_t end;
    uint8_t least_level; /* lower levels have failed */
    uint8_t level;
    struct unseen__list_equations carried; /* from the block before */
    struct unseen__list_equations solved;
};

struct unseen__list_solver {
    struct unseen__list_geometry geometry;
    const struct unseen__list_kernel *kernel;
    struct unseen_allocator allocator;
    struct unseen__list_solver_counts counts;
    size_t cap;
    struct unseen__list_keys keys;
    struct unseen__list_system system;
    struct block blocks[BLOCKS];
};

/* ---- the portable kernel ---- */

/* All sums of a stripe's pivot rows. The index is the bits, of those in mask, that a sum has over
 * the columns of the stripe. */
struct sums {
    unsigned mask;
    uint64_t w0[SUMS];
    uint64_t w1[SUMS];
    uint32_t right[SUMS];
};

static void add_row(struct unseen__list_system *s, size_t to, size_t from)
{
    s->w0[to] ^= s->w0[from];
    s->w1[to] ^= s->w1[from];
    s->right[to] ^= s->right[from];
}

/* Computes all sums of the pivot rows: the "four Russians" [Arlazarov70]. Every other row then
 * takes one addition instead of up to four. */
static void sum_up(const struct unseen__list_system *s, unsigned column, struct sums *sums)
{
    memset(sums, 0, sizeof(*sums));
    for (unsigned k = 0; k < STRIPE; k++) {
        const size_t row = s->pivots[column + k];
        const unsigned bit = 1u << k;
        if (row == UNSEEN__LIST_NO_ROW) {
            continue;
        }
        sums->mask |= bit;
        for (unsigned i = 0; i < bit; i++) {
            sums->w0[i | bit] = sums->w0[i] ^ s->w0[row];
            sums->w1[i | bit] = sums->w1[i] ^ s->w1[row];
            sums->right[i | bit] = sums->right[i] ^ s->right[row];
        }
    }
}

/* Finds the pivots of a stripe, eliminates them from each other, and sums them up. */
static void find_pivots(struct unseen__list_system *s, unsigned column, struct sums *sums)
{
    unsigned nfound = 0;
    for (size_t i = 0; i < s->n && nfound < STRIPE; i++) {
        if (!unseen__list_has_row(s->left, i)) {
            continue;
        }
        for (unsigned k = column; k < column + STRIPE; k++) {
            if (s->pivots[k] != UNSEEN__LIST_NO_ROW && (s->w0[i] >> k & 1)) {
                add_row(s, i, s->pivots[k]);
            }
        }
        const unsigned bits = s->w0[i] >> column & (SUMS - 1);
        if (bits == 0) {
            continue;
        }
        const unsigned pivot = column + (unsigned)__builtin_ctz(bits);
        for (unsigned k = column; k < column + STRIPE; k++) {
            if (s->pivots[k] != UNSEEN__LIST_NO_ROW && (s->w0[s->pivots[k]] >> pivot & 1)) {
                add_row(s, s->pivots[k], i);
            }
        }
        s->pivots[pivot] = (uint8_t)i;
        if (i < 64) {
            s->left.low ^= UINT64_C(1) << i;
        } else {
            s->left.high ^= UINT64_C(1) << (i - 64);
        }
        nfound++;
    }
    sum_up(s, column, sums);
}

bool unseen__list_keep(const struct unseen__list_system *s, struct unseen__list_equations *solved,
                       struct unseen__list_equations *carried)
{
    const uint64_t left[2] = {s->left.low, s->left.high};
    size_t ncarried = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const size_t row = s->pivots[i];
        const bool is_free = row == UNSEEN__LIST_NO_ROW;
        solved->w[i] = is_free ? 0 : s->w1[row];
        solved->right[i] = is_free ? 0 : s->right[row];
    }
    for (size_t half = 0; half < 2; half++) {
        for (uint64_t rest = left[half]; rest != 0; rest &= rest - 1) {
            const size_t i = 64 * half + (size_t)__builtin_ctzll(rest);
            if (s->w1[i] == 0) {
                if (s->right[i] != 0) {
                    return false;
                }
                continue;
            }
            if (!carried || ncarried == ROWS) {
                return false;
            }
            carried->w[ncarried] = s->w1[i];
            carried->right[ncarried++] = s->right[i];
        }
    }
    if (carried) {
        carried->n = ncarried;
    }
    return true;
}

static bool eliminate_portable(struct unseen__list_system *s, struct unseen__list_equations *solved,
                               struct unseen__list_equations *carried)
{
    s->left = unseen__list_rows_below(s->n);
    memset(s->pivots, 0xff, sizeof(s->pivots)); /* NO_ROW */
    for (unsigned column = 0; column < ROWS; column += STRIPE) {
        struct sums sums;
        find_pivots(s, column, &sums);
        for (size_t i = 0; i < s->n; i++) {
            const size_t k = s->w0[i] >> column & sums.mask;
            s->w0[i] ^= sums.w0[k];
            s->w1[i] ^= sums.w1[k];
            s->right[i] ^= sums.right[k];
        }
        for (unsigned k = 0; k < STRIPE; k++) { /* the pivots themselves are 0 now */
            const size_t row = s->pivots[column + k];
            if (row != UNSEEN__LIST_NO_ROW) {
                s->w0[row] = sums.w0[1u << k];
                s->w1[row] = sums.w1[1u << k];
                s->right[row] = sums.right[1u << k];
            }
        }
    }
    return unseen__list_keep(s, solved, carried);
}

/* Computes the unknowns as x. */
static void sum_unknowns(const struct unseen__list_equations *solved, const uint32_t next[ROWS],
                         uint32_t x[ROWS])
{
    uint32_t sums[ROWS / 4][16]; /* of four unknowns each */
    for (size_t k = 0; k < ROWS / 4; k++) {
        sums[k][0] = 0;
        for (size_t i = 1; i < 16; i++) {
            sums[k][i] = sums[k][i & (i - 1)] ^ next[4 * k + (size_t)__builtin_ctz((unsigned)i)];
        }
    }
    for (size_t i = 0; i < ROWS; i++) {
        uint32_t sum = solved->right[i];
        for (size_t k = 0; k < ROWS / 4; k++) {
            sum ^= sums[k][solved->w[i] >> 4 * k & 15];
        }
        x[i] = sum;
    }
}

static void substitute_portable(const struct unseen__list_equations *solved, unsigned ncolumns,
                                const struct unseen__list_unknowns *next,
                                struct unseen__list_unknowns *to)
{
    sum_unknowns(solved, next->x, to->x);
    for (unsigned j = 0; j < ncolumns; j++) {
        to->words[j] = 0;
        for (unsigned i = 0; i < ROWS; i++) {
            to->words[j] |= (uint64_t)(to->x[i] >> j & 1) << i;
        }
    }
}

static void hash_portable(const uint64_t *hashes, size_t n, const struct unseen__list_keys *keys)
{
    /* With this geometry, nothing is cut off. */
    const struct unseen__list_geometry geometry = {.columns = UNSEEN__LIST_COLUMNS_MAX,
                                                   .blocks = 2};
    for (size_t i = 0; i < n; i++) {
        const struct unseen__list_row row = unseen__list_row_of(&geometry, hashes[i], 0);
        keys->c0[i] = row.c0;
        keys->c1[i] = row.c1;
        keys->fingerprint[i] = row.fingerprint;
        keys->bump[i] = row.bump;
    }
}

void unseen__list_collect(struct unseen__list_system *s, const struct unseen__list_keys *keys,
                          const struct unseen__list_pick *pick)
{
    for (size_t i = pick->first; i < pick->end; i++) {
        s->w0[s->n] = keys->c0[i];
        s->w1[s->n] = pick->is_last ? 0 : keys->c1[i];
        s->right[s->n] = keys->fingerprint[i] & pick->fingerprint;
        s->n += keys->bump[i] >= pick->threshold;
    }
}

static const struct unseen__list_kernel portable = {hash_portable, unseen__list_collect,
                                                    eliminate_portable, substitute_portable};

const struct unseen__list_kernel *unseen__list_kernel_for(enum unseen_cpu cpu)
{
#if UNSEEN_X86
    if (cpu == UNSEEN_CPU_AVX512 && unseen__list_has_avx512()) {
        return &unseen__list_avx512;
    }
    if (cpu == UNSEEN_CPU_AVX512 || cpu == UNSEEN_CPU_AVX2) {
        return &unseen__list_avx2;
    }
#endif
    (void)cpu;
    return &portable;
}

/* ---- a block ---- */

/* Collects the equations of a block: the carried ones, and those of the keys that its level does
 * not bump. */
static void collect_block(struct unseen__list_solver *solver, unsigned index)
{
    const struct unseen__list_geometry *geometry = &solver->geometry;
    const struct block *b = &solver->blocks[index];
    struct unseen__list_system *s = &solver->system;
    const struct unseen__list_pick pick = {
        .first = b->first,
        .end = b->end,
        .threshold = unseen__list_thresholds[b->level],
        .fingerprint =
            (UINT32_C(1) << (geometry->columns + unseen__list_is_extended(geometry, index))) - 1,
        .is_last = index + 1 == geometry->blocks,
    };
    s->n = b->carried.n;
    s->ncarried = b->carried.n;
    memcpy(s->w0, b->carried.w, sizeof(b->carried.w));
    memcpy(s->right, b->carried.right, sizeof(b->carried.right));
    memset(s->w1, 0, sizeof(*s->w1) * ROWS);
    solver->kernel->collect(s, &solver->keys, &pick);
}

static size_t count_kept(const struct unseen__list_solver *solver, const struct block *b,
                         unsigned level)
{
    const unsigned threshold = unseen__list_thresholds[level];
    const uint8_t *bump = solver->keys.bump;
    size_t n = 0;
    if (threshold == 0) {
        return b->end - b->first;
    }
    for (size_t i = b->first; i < b->end; i++) {
        n += bump[i] >= threshold;
    }
    return n;
}

/* The lowest level, from least_level on, at which the block has at most `most` equations; else
 * 3. */
static unsigned choose_level(const struct unseen__list_solver *solver, const struct block *b,
                             size_t most)
{
    unsigned level = b->least_level;
    while (level < 3 && b->carried.n + count_kept(solver, b, level) > most) {
        level++;
    }
    return level;
}

static bool solve_block(struct unseen__list_solver *solver, unsigned index)
{
    struct block *b = &solver->blocks[index];
    const bool is_last = index + 1 == solver->geometry.blocks;
    b->level = (uint8_t)choose_level(solver, b, is_last ? LAST_MAX : ROWS + CARRY_MAX);
    collect_block(solver, index);
    return solver->kernel->eliminate(&solver->system, &b->solved, is_last ? NULL : &b[1].carried);
}

/* Raises the level of the block, or of the nearest block before it that can be raised. Returns the
 * block to go on with. There always is one: block 0 at the highest level has no equations at
 * all. */
static unsigned raise_level(struct unseen__list_solver *solver, unsigned index)
{
    solver->counts.nretries++;
    unsigned at = index;
    while (solver->blocks[at].level == 3) {
        at--;
    }
    for (unsigned i = at + 1; i <= index; i++) {
        solver->blocks[i].least_level = 0;
    }
    solver->counts.nreturns += at < index;
    solver->blocks[at].least_level = (uint8_t)(solver->blocks[at].level + 1);
    return at;
}

/* ---- a page ---- */

static void part_keys(struct unseen__list_solver *solver, const uint32_t *ends)
{
    uint32_t at = 0;
    for (unsigned i = 0; i < solver->geometry.blocks; i++) {
        struct block *b = &solver->blocks[i];
        b->first = at;
        b->end = ends[i];
        /* Even a bad hash does not explain so many keys. */
        b->least_level = b->end - b->first > KEYS_MAX ? 3 : 0;
        b->carried.n = 0;
        at = b->end;
    }
}

/* Writes a block's words. Its level displaces two bits of one word, which go to a byte behind. */
static void write_block(const struct unseen__list_solver *solver, uint8_t *page, unsigned index,
                        const uint64_t *words)
{
    const struct unseen__list_geometry *geometry = &solver->geometry;
    const unsigned n = geometry->columns + (index < geometry->extended);
    const unsigned leveled = geometry->group0 - 1;
    const unsigned displaced = (unsigned)(words[leveled] >> UNSEEN__LIST_LEVEL_SHIFT);
    const uint64_t level = solver->blocks[index].level;
    page[geometry->displaced[index / 4]] |= (uint8_t)(displaced << 2 * (index % 4));
    for (unsigned j = 0; j < n; j++) {
        store_le64(page + unseen__list_word_offset(geometry, index, j), words[j]);
    }
    store_le64(page + unseen__list_word_offset(geometry, index, leveled),
               (words[leveled] & ~UNSEEN__LIST_LEVEL_MASK) | level << UNSEEN__LIST_LEVEL_SHIFT);
}

static void write_page(struct unseen__list_solver *solver, uint8_t *page)
{
    struct unseen__list_unknowns unknowns[2];
    struct unseen__list_unknowns *next = &unknowns[0];
    struct unseen__list_unknowns *now = &unknowns[1];
    memset(next, 0, sizeof(*next));
    memset(page, 0, UNSEEN__LIST_PAGE);
    for (unsigned i = solver->geometry.blocks; i-- > 0;) {
        solver->kernel->substitute(&solver->blocks[i].solved, solver->geometry.columns + 1, next,
                                   now);
        write_block(solver, page, i, now->words);
        struct unseen__list_unknowns *last = next;
        next = now;
        now = last;
    }
}

static size_t list_bumped(struct unseen__list_solver *solver, uint32_t *bumped)
{
    size_t n = 0;
    for (unsigned i = 0; i < solver->geometry.blocks; i++) {
        const struct block *b = &solver->blocks[i];
        const unsigned threshold = unseen__list_thresholds[b->level];
        solver->counts.nlevels[b->level]++;
        for (uint32_t k = b->first; threshold > 0 && k < b->end; k++) {
            bumped[n] = k;
            n += solver->keys.bump[k] < threshold;
        }
    }
    return n;
}

void unseen__list_solve(struct unseen__list_solver *solver, const uint64_t *hashes,
                        const uint32_t *ends, uint8_t page[UNSEEN__LIST_PAGE], uint32_t *bumped,
                        size_t *nbumped_out)
{
    part_keys(solver, ends);
    solver->kernel->hash(hashes, ends[solver->geometry.blocks - 1], &solver->keys);
    for (unsigned i = 0; i < solver->geometry.blocks;) {
        i = solve_block(solver, i) ? i + 1 : raise_level(solver, i);
    }
    write_page(solver, page);
    solver->counts.npages++;
    *nbumped_out = list_bumped(solver, bumped);
}

/* ---- lifetime ---- */

static void free_keys(const struct unseen__list_solver *solver)
{
    const struct unseen__list_keys *k = &solver->keys;
    unseen__free(&solver->allocator, k->c0, solver->cap * sizeof(*k->c0));
    unseen__free(&solver->allocator, k->c1, solver->cap * sizeof(*k->c1));
    unseen__free(&solver->allocator, k->fingerprint, solver->cap * sizeof(*k->fingerprint));
    unseen__free(&solver->allocator, k->bump, solver->cap * sizeof(*k->bump));
}

enum unseen_status unseen__list_solver_create(struct unseen__list_solver **solver_out,
                                              const struct unseen__list_geometry *geometry,
                                              size_t cap, enum unseen_cpu cpu,
                                              const struct unseen_allocator *allocator)
{
    struct unseen__list_solver *solver =
        unseen__alloc_zero(allocator, sizeof(*solver), _Alignof(max_align_t));
    if (!solver) {
        return UNSEEN_ERR_NOMEM;
    }
    struct unseen__list_keys *k = &solver->keys;
    solver->geometry = *geometry;
    solver->allocator = *allocator;
    solver->kernel = unseen__list_kernel_for(cpu);
    solver->system.right_bits = geometry->columns + 1;
    solver->cap = cap + UNSEEN__LIST_SLACK;
    k->c0 = unseen__alloc(allocator, solver->cap * sizeof(*k->c0), 64);
    k->c1 = unseen__alloc(allocator, solver->cap * sizeof(*k->c1), 64);
    k->fingerprint = unseen__alloc(allocator, solver->cap * sizeof(*k->fingerprint), 64);
    k->bump = unseen__alloc(allocator, solver->cap * sizeof(*k->bump), 64);
    if (!k->c0 || !k->c1 || !k->fingerprint || !k->bump) {
        unseen__list_solver_free(solver);
        return UNSEEN_ERR_NOMEM;
    }
    *solver_out = solver;
    return UNSEEN_OK;
}

void unseen__list_solver_replace(struct unseen__list_solver *solver,
                                 const struct unseen__list_kernel *kernel)
{
    solver->kernel = kernel;
}

void unseen__list_solver_free(struct unseen__list_solver *solver)
{
    if (solver) {
        const struct unseen_allocator allocator = solver->allocator;
        free_keys(solver);
        unseen__free(&allocator, solver, sizeof(*solver));
    }
}

struct unseen__list_solver_counts
unseen__list_solver_counts(const struct unseen__list_solver *solver)
{
    return solver->counts;
}
