/* SPDX-License-Identifier: MIT
 *
 * What every filter can do. A filter is one struct that begins with a pointer to its operations;
 * it sees 128-bit keys, never strings, and takes its memory from the allocator it is given. One
 * thread at a time; the engine shares filters among threads. A new filter is a file with a table
 * of operations and a line in filters.c. */
#ifndef UNSEEN_FILTER_FILTER_H
#define UNSEEN_FILTER_FILTER_H

#include <stdbool.h>

#include "unseen.h"

struct unseen__tally_part;

struct unseen__filter {
    const struct unseen__filter_ops *ops;
};

/* A set is 2^prefix_bits filters. */
struct unseen__filter_params {
    double fpr;
    uint64_t capacity; /* of the whole set */
    /* The filter gets only keys whose top prefix_bits bits of hi are prefix. */
    unsigned prefix_bits;
    uint64_t prefix;
    /* The set's filter of prefix 0, for filters that share one array; NULL while it is made. It is
     * freed first. */
    struct unseen__filter *first;
    /* NULL, or the parameters of an export (save_params): make an empty filter for its pieces to be
     * loaded into. fpr and capacity say nothing then; what cannot be gives CORRUPT. Memory that
     * these bytes alone ask for must not be written to before pieces come. */
    const uint8_t *saved;
    uint64_t saved_nkeys; /* how many keys that export says it has, of the whole set */
    uint64_t saved_max;   /* the most bytes that its pieces can have together */
    enum unseen_cpu cpu;  /* a level, not AUTO */
    struct unseen_allocator allocator;
};

enum unseen__combination {
    UNSEEN__UNION,
    UNSEEN__INTERSECTION
};

/* Operations that not every filter has are NULL where it has not. */
struct unseen__filter_ops {
    const char *name;
    unsigned abilities; /* UNSEEN_CAN_*; each must agree with the operations below */

    /* The fewest bits of the hash that make keys for this rate; NULL: any will do. */
    unsigned (*key_bits)(double fpr);

    /* How many filters a set of these parameters may be, as a power of two, at most wanted. With
     * params->saved: how many are needed for its pieces. NULL: as many as wanted. */
    enum unseen_status (*shard_bits)(const struct unseen__filter_params *params, unsigned wanted,
                                     unsigned *shard_bits_out);

    enum unseen_status (*create)(struct unseen__filter **filter_out,
                                 const struct unseen__filter_params *params);
    void (*free)(struct unseen__filter *filter);

    /* As unseen_set_add_keys and so on; contains and remove cannot fail. */
    enum unseen_status (*add)(struct unseen__filter *filter, const struct unseen_key *keys,
                              size_t n, uint8_t *verdicts, size_t *ndone_out);
    void (*contains)(const struct unseen__filter *filter, const struct unseen_key *keys, size_t n,
                     uint8_t *verdicts);
    void (*remove)(struct unseen__filter *filter, const struct unseen_key *keys, size_t n,
                   uint8_t *verdicts);

    /* How often a key was added, as unseen_set_count; NULL for a filter that cannot say. */
    unsigned (*multiplicity)(const struct unseen__filter *filter, struct unseen_key key);

    /* Makes sure that n more keys can be added without failing, on top of what is reserved; every
     * key given to add afterwards uses one of them up. For a filter whose add can fail and which
     * cannot remove: a batch over several filters could not be taken back. n < 0 gives back. */
    enum unseen_status (*reserve)(struct unseen__filter *filter, ptrdiff_t n);

    /* The keys of *stats alone, without a formula: an export asks at each chunk. */
    uint64_t (*nkeys)(const struct unseen__filter *filter);

    /* Adds this filter's numbers to *stats: rates weighted by 2^-prefix_bits; in fill the slots in
     * use, which the engine divides by nslots. capacity, hashes and fpr_promise are the set's, the
     * same from each filter. */
    void (*stats)(const struct unseen__filter *filter, struct unseen_set_stats *stats);

    /* Where nkeys_estimate and fpr_estimate take a formula: leaves them out of stats, and adds what
     * they follow from to the first of these parts (tally.h). */
    void (*tally)(const struct unseen__filter *filter, struct unseen__tally_part *parts);

    /* The parameters a reader must know, in UNSEEN__PARAMS_LEN bytes of the header. Called for each
     * filter of a set in turn on the same bytes, which are 0 before the first. */
    void (*save_params)(const struct unseen__filter *filter, uint8_t *params);

    /* The next piece, without frame and checksum. Start with *position = 0; 0 bytes are the end.
     * A position is below 2^49. */
    size_t (*save_piece)(const struct unseen__filter *filter, uint64_t *position, uint8_t *buf);

    /* Into a filter made from saved parameters: pieces in any order, then a check of the whole.
     * Every byte may be hostile. A piece goes to every filter of the set that owns some of it. */
    bool (*owns_piece)(const struct unseen__filter *filter, const uint8_t *piece, size_t len);
    enum unseen_status (*load_piece)(struct unseen__filter *filter, const uint8_t *piece,
                                     size_t len);
    enum unseen_status (*load_finish)(struct unseen__filter *filter);

    /* Union and intersection, without a failure: whether two filters, each the first of its set,
     * have the same shape; then each piece of the other set to every filter that owns some of it;
     * then combine_finish, which counts. */
    bool (*is_same_shape)(const struct unseen__filter *filter, const struct unseen__filter *other);
    void (*combine_piece)(struct unseen__filter *filter, enum unseen__combination combination,
                          const uint8_t *piece, size_t len);
    void (*combine_finish)(struct unseen__filter *filter, enum unseen__combination combination);

    /* What unseen_plan asks for: fills in the unknown numbers of a plan from the known ones; and
     * the rate with nkeys keys in a filter so planned. */
    enum unseen_status (*plan)(struct unseen_plan *plan);
    double (*plan_rate)(const struct unseen_plan *plan, double nkeys);
};

/* The length of a filter's parameters, and the longest piece. A filter that can be a link of a
 * scalable one leaves UNSEEN__LINK_HEAD bytes for that. */
#define UNSEEN__PARAMS_LEN ((size_t)32)
#define UNSEEN__PIECE_MAX  (UNSEEN_CHUNK_MAX - 64)
#define UNSEEN__LINK_HEAD  ((size_t)64)

/* The filter of this name, or NULL; the i'th filter, or NULL past the last. */
const struct unseen__filter_ops *unseen__filter_find(const char *name);
const struct unseen__filter_ops *unseen__filter_at(size_t i);

extern const struct unseen__filter_ops unseen__compact_ops;
extern const struct unseen__filter_ops unseen__bloom_ops;
extern const struct unseen__filter_ops unseen__counting_ops;
extern const struct unseen__filter_ops unseen__exact_ops;
extern const struct unseen__filter_ops unseen__block_ops;
extern const struct unseen__filter_ops unseen__scalable_ops;
extern const struct unseen__filter_ops unseen__scalable_bloom_ops;
extern const struct unseen__filter_ops unseen__scalable_counting_ops;

#endif
