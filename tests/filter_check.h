/* SPDX-License-Identifier: MIT
 *
 * Checks that the tests of the Bloom filters share: everything that must hold for any filter of the
 * family, asked through the public interface. The filter's name is a parameter. */
#ifndef UNSEEN_TESTS_FILTER_CHECK_H
#define UNSEEN_TESTS_FILTER_CHECK_H

#include "set_check.h"

#include <math.h>

/* What sets with filter_options take. Chunks can be forged and ask for any size, so an allocation
 * of more than 64 MiB fails. */
extern struct test_allocator filter_counting;
extern const struct unseen_allocator filter_allocator;

enum {
    FILTER_BATCH = 256
};

/* The options of a set with this filter and a fixed seed, whose memory is counted. */
struct unseen_set_options filter_options(const char *filter, double fpr, uint64_t capacity,
                                         unsigned threads);

/* Creates a set. Ends the program if that fails. */
struct unseen_set *filter_make(const struct unseen_set_options *options);

/* Adds the keys first to end - 1. Returns how many were new. */
uint64_t filter_add(struct unseen_set *set, uint64_t first, uint64_t end);

/* Returns how many of these keys are in the set. */
uint64_t filter_seen(const struct unseen_set *set, uint64_t first, uint64_t end);
struct unseen_set_stats filter_stats(const struct unseen_set *set);

/* Frees the set, and checks that no memory is left. */
void filter_end(struct unseen_set *set);

/* The simplest Bloom filter: one flag a bit. */
struct filter_model {
    const struct unseen_set *set; /* the set beside it */
    uint8_t *flags;
    uint64_t nflags;
    unsigned k;
};

/* Adds a key, or only asks for it. Returns true if its flags were set. */
typedef bool filter_model_add(struct filter_model *model, struct unseen_key key, bool only_ask);

/* Random additions and questions get the same answers from a set and from the model, and in the end
 * their bits are the same. If keeps_order is false, the filters of a shared set may be wrong for
 * other keys than the model. */
void filter_check_model(const struct unseen_set_options *options, filter_model_add *add,
                        bool keeps_order);

/* At 10, 50, 100 and 200 % of n keys, the number of wrong answers agrees with the formula, within 3
 * standard deviations. Chance fills the blocks of one filter unevenly, so the test makes several
 * filters and takes the deviation of their counts. */
void filter_check_rate(const char *filter, double fpr, uint64_t n, unsigned nfilters,
                       uint64_t nquestions, unsigned key_bits);

/* Exports a set and imports the export into a set for another number of threads. Both sets then
 * behave alike. */
void filter_check_round(const char *filter, uint64_t capacity, uint64_t nkeys, unsigned from,
                        unsigned to, unsigned key_bits);

/* Imports chunks in any order, with one missing, and with one twice. */
void filter_check_order(const char *filter, uint64_t capacity, uint64_t nkeys);

/* Changes header fields, the start of pieces, and random bytes, with corrected checksums. The
 * import refuses, or gives a set that can be used. */
void filter_check_lies(const char *filter, uint64_t capacity, uint64_t nkeys, int nrounds);

/* Every allocation of creating, adding, exporting and importing fails once. The call returns an
 * error, no memory is left, and no key is lost. */
void filter_check_nomem(const char *filter, uint64_t capacity, uint64_t nkeys, unsigned threads);

/* Sets at the level under test and at the portable level answer alike and have the same bytes. */
void filter_check_levels(const char *filter, double fpr, uint64_t capacity, uint64_t nkeys);

/* Two halves, made for different numbers of threads, merge into the same set as the whole. */
void filter_check_merge(const char *filter, uint64_t capacity, unsigned threads,
                        unsigned other_threads);

/* Sets that do not belong together stay as they are. */
void filter_check_mismatch(const char *filter);

/* A set that cannot remove says so, and without a capacity it is created only if `capacity` is
 * 0. */
void filter_check_unsupported(const char *filter, uint64_t capacity);

#endif
