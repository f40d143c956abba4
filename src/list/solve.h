/* SPDX-License-Identifier: MIT
 *
 * The steps of solving a page that are worth a vector unit. Portable C is the specification; the
 * others give the same bits. */
#ifndef UNSEEN_LIST_SOLVE_H
#define UNSEEN_LIST_SOLVE_H

#include "list/page.h"

enum {
    UNSEEN__LIST_HEIGHT = 128,     /* most rows of a block: those carried to it and its own */
    UNSEEN__LIST_SYSTEM_MAX = 136, /* with the room for a kernel to write eight at a time */
    UNSEEN__LIST_NO_ROW = UINT16_MAX,
    UNSEEN__LIST_SLACK = 8
};

/* Rows of equations: the coefficients over a block and over the next, and the right side. Kernels
 * may change rows from n on, which mean nothing. */
struct unseen__list_system {
    size_t n;
    unsigned right_bits; /* of the right side; the others are 0 */
    uint64_t w0[UNSEEN__LIST_SYSTEM_MAX];
    uint64_t w1[UNSEEN__LIST_SYSTEM_MAX];
    uint32_t right[UNSEEN__LIST_SYSTEM_MAX];
    uint8_t used[UNSEEN__LIST_SYSTEM_MAX / 8]; /* bit i % 8 of i / 8: row i is a pivot */
    uint16_t pivots[UNSEEN__LIST_ROWS];        /* the row of each column, or NO_ROW */
};

/* Equations over one block: those that are carried to it; or, solved, unknown i of the block before
 * is right[i] + w[i] * (unknowns of this one), both 0 if it has no equation. In which order the
 * solved ones have their bits is the kernel's own affair. */
struct unseen__list_equations {
    size_t n;
    uint64_t w[UNSEEN__LIST_ROWS];
    uint32_t right[UNSEEN__LIST_ROWS];
};

/* The unknowns of a block: bit j of x[i], if the kernel needs it, is bit i of words[j]. */
struct unseen__list_unknowns {
    uint32_t x[UNSEEN__LIST_ROWS];
    uint64_t words[32];
};

static inline bool unseen__list_is_used(const struct unseen__list_system *s, size_t i)
{
    return s->used[i / 8] >> i % 8 & 1;
}

/* The keys of a page: coefficients, fingerprints and bump bytes. Kernels may read and write up to
 * UNSEEN__LIST_SLACK elements behind the last one, which mean nothing. */
struct unseen__list_keys {
    uint64_t *c0;
    uint64_t *c1;
    uint32_t *fingerprint;
    uint8_t *bump;
};

/* Which of the keys a system takes. */
struct unseen__list_pick {
    size_t first; /* those first..end */
    size_t end;
    unsigned threshold;   /* whose bump byte is not below this */
    uint32_t fingerprint; /* with these bits of their fingerprints */
    bool is_last;         /* there is no next block */
};

struct unseen__list_kernel {
    /* What unseen__list_row_of makes of n hashes, in a block with a successor and with fingerprints
     * of 31 bits. */
    void (*hash)(const uint64_t *hashes, size_t n, const struct unseen__list_keys *keys);

    /* Appends the equations of keys. */
    void (*collect)(struct unseen__list_system *system, const struct unseen__list_keys *keys,
                    const struct unseen__list_pick *pick);

    /* Gauss-Jordan elimination over the block. A pivot is the first row that will do, column by
     * column; what is then left of the other rows is carried to the next block (NULL: there is
     * none), in their order. False if equations contradict each other, or are too many. */
    bool (*eliminate)(struct unseen__list_system *system, struct unseen__list_equations *solved,
                      struct unseen__list_equations *carried);

    /* The unknowns, of ncolumns bits each, from those of the next block. */
    void (*substitute)(const struct unseen__list_equations *solved, unsigned ncolumns,
                       const struct unseen__list_unknowns *next,
                       struct unseen__list_unknowns *unknowns_out);
};

/* The portable steps, for the levels that have none of their own. */
void unseen__list_hash(const uint64_t *hashes, size_t n, const struct unseen__list_keys *keys);
void unseen__list_collect(struct unseen__list_system *system, const struct unseen__list_keys *keys,
                          const struct unseen__list_pick *pick);

/* Parts of these: what eliminate does once there are pivots, whose rows are the only ones with a bit
 * in their columns; and the unknowns as x. */
bool unseen__list_keep(const struct unseen__list_system *system,
                       struct unseen__list_equations *solved,
                       struct unseen__list_equations *carried);
void unseen__list_sum(const struct unseen__list_equations *solved,
                      const uint32_t next[UNSEEN__LIST_ROWS], uint32_t x[UNSEEN__LIST_ROWS]);

/* Another kernel for a solver: for tests, which need keys with equations of their choice. */
void unseen__list_solver_replace(struct unseen__list_solver *solver,
                                 const struct unseen__list_kernel *kernel);

/* The kernel of a level. That of AVX-512 needs some of its later parts, too; where these are missing,
 * AVX2's is taken. */
const struct unseen__list_kernel *unseen__list_kernel_for(enum unseen_cpu cpu);
bool unseen__list_has_avx512(void);
extern const struct unseen__list_kernel unseen__list_avx2;
extern const struct unseen__list_kernel unseen__list_avx512;

#endif
