/* SPDX-License-Identifier: MIT
 *
 * The steps of solving a page that are worth a vector unit. The portable C in solve.c is the
 * specification; the vector kernels give the same bits. */
#ifndef UNSEEN_LIST_SOLVE_H
#define UNSEEN_LIST_SOLVE_H

#include "list/page.h"

enum {
    UNSEEN__LIST_HEIGHT = 128,     /* most rows of a block: carried rows and its own */
    UNSEEN__LIST_SYSTEM_MAX = 136, /* with room for a kernel that writes eight at a time */
    UNSEEN__LIST_NO_ROW = UINT8_MAX,
    UNSEEN__LIST_SLACK = 8
};

/* One bit for each row. */
struct unseen__list_rows {
    uint64_t low;
    uint64_t high;
};

/* Rows of equations: w0 has the coefficients over a block, w1 those over the next block, and right
 * the right side. Rows from n on mean nothing, and kernels may change them. */
struct unseen__list_system {
    size_t n;
    size_t ncarried;     /* so many rows, from the first on, have a w1 of 0 */
    unsigned right_bits; /* width of the right side; higher bits are 0 */
    uint64_t w0[UNSEEN__LIST_SYSTEM_MAX];
    uint64_t w1[UNSEEN__LIST_SYSTEM_MAX];
    uint32_t right[UNSEEN__LIST_SYSTEM_MAX];
    struct unseen__list_rows left;     /* the rows that are no pivots */
    uint8_t pivots[UNSEEN__LIST_ROWS]; /* the row of each column, or NO_ROW */
};

/* Equations over one block. Either n equations that are carried to the block; or, as `solved`, the
 * solution for the block before: its unknown i is right[i] + w[i] * (unknowns of this block), where
 * both are 0 if it has no equation. Each kernel orders the bits of its solved equations as it
 * likes. */
struct unseen__list_equations {
    size_t n;
    uint64_t w[UNSEEN__LIST_ROWS];
    uint32_t right[UNSEEN__LIST_ROWS];
};

/* The unknowns of a block: bit i of words[j] is bit j of unknown i. A kernel that reads them in
 * another order has them in x, too. */
struct unseen__list_unknowns {
    uint32_t x[UNSEEN__LIST_ROWS];
    uint64_t words[32];
};

static inline struct unseen__list_rows unseen__list_rows_below(size_t n)
{
    struct unseen__list_rows rows = {UINT64_MAX, UINT64_MAX};
    if (n < 64) {
        rows = (struct unseen__list_rows){(UINT64_C(1) << n) - 1, 0};
    } else if (n < UNSEEN__LIST_HEIGHT) {
        rows.high = (UINT64_C(1) << (n - 64)) - 1;
    }
    return rows;
}

static inline bool unseen__list_has_row(struct unseen__list_rows rows, size_t r)
{
    return (r < 64 ? rows.low >> r : rows.high >> (r - 64)) & 1;
}

/* The keys of a page: coefficients, fingerprints and bump bytes. Kernels may read and write up to
 * UNSEEN__LIST_SLACK elements behind the last key; these mean nothing. */
struct unseen__list_keys {
    uint64_t *c0;
    uint64_t *c1;
    uint32_t *fingerprint;
    uint8_t *bump;
};

/* The keys that a system takes, and the bits of their fingerprints. */
struct unseen__list_pick {
    size_t first; /* keys first..end - 1 */
    size_t end;
    unsigned threshold;   /* whose bump byte is at least this */
    uint32_t fingerprint; /* a mask */
    bool is_last;         /* there is no next block */
};

struct unseen__list_kernel {
    /* Computes unseen__list_row_of for n hashes, as for a block with a successor and for
     * fingerprints of 31 bits. */
    void (*hash)(const uint64_t *hashes, size_t n, const struct unseen__list_keys *keys);

    /* Appends the equations of the picked keys. */
    void (*collect)(struct unseen__list_system *system, const struct unseen__list_keys *keys,
                    const struct unseen__list_pick *pick);

    /* Gauss-Jordan elimination over the block, column by column. The pivot of a column is the first
     * row that has a bit there. What remains of the other rows is carried to the next block, in
     * their order; carried is NULL for the last block. Returns false if equations contradict each
     * other, or if too many remain. */
    bool (*eliminate)(struct unseen__list_system *system, struct unseen__list_equations *solved,
                      struct unseen__list_equations *carried);

    /* Computes the unknowns, of ncolumns bits each, from the next block's. */
    void (*substitute)(const struct unseen__list_equations *solved, unsigned ncolumns,
                       const struct unseen__list_unknowns *next,
                       struct unseen__list_unknowns *unknowns_out);
};

/* The portable step, for kernels that have none of their own. */
void unseen__list_collect(struct unseen__list_system *system, const struct unseen__list_keys *keys,
                          const struct unseen__list_pick *pick);

/* Ends an elimination: stores the solved and the carried equations, when each pivot's row is the
 * only one with a bit in its column. */
bool unseen__list_keep(const struct unseen__list_system *system,
                       struct unseen__list_equations *solved,
                       struct unseen__list_equations *carried);

/* Gives a solver another kernel: for tests, which need keys with equations of their choice. */
void unseen__list_solver_replace(struct unseen__list_solver *solver,
                                 const struct unseen__list_kernel *kernel);

/* The kernel for a processor level. The kernel for AVX-512 needs some of its later parts, too; if
 * the processor lacks them, the kernel for AVX2 is used. */
const struct unseen__list_kernel *unseen__list_kernel_for(enum unseen_cpu cpu);
bool unseen__list_has_avx512(void);
extern const struct unseen__list_kernel unseen__list_avx2;
extern const struct unseen__list_kernel unseen__list_avx512;

#endif
