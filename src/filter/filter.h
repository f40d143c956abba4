/* SPDX-License-Identifier: MIT
 *
 * What every filter can do. A filter is one struct that begins with a pointer to its operations;
 * it sees 128-bit keys, never strings, and takes its memory from the allocator it is given. One
 * thread at a time; the engine shares filters among threads. */
#ifndef UNSEEN_FILTER_FILTER_H
#define UNSEEN_FILTER_FILTER_H

#include <stdbool.h>

#include "unseen.h"

struct unseen__filter {
    const struct unseen__filter_ops *ops;
};

struct unseen__filter_params {
    double fpr;
    uint64_t capacity;
    /* The filter holds only keys whose top prefix_bits bits of hi are prefix: one of several that
     * together are one set. */
    unsigned prefix_bits;
    uint64_t prefix;
    enum unseen_cpu cpu; /* a level, not AUTO */
    struct unseen_allocator allocator;
};

struct unseen__filter_ops {
    const char *name;

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

    /* Adds this filter's numbers to *stats (rates are summed weighted by 2^-prefix_bits). */
    void (*stats)(const struct unseen__filter *filter, struct unseen_set_stats *stats);

    /* The parameters a reader must know, as bytes of the header chunk (UNSEEN__PARAMS_LEN). Byte 2
     * is the largest prefix_bits with which the pieces can be loaded. */
    void (*save_params)(const struct unseen__filter *filter, uint8_t *params);

    /* The next piece, without frame and checksum. Start with *position = 0; 0 bytes are the end.
     * A position is below 2^49. */
    size_t (*save_piece)(const struct unseen__filter *filter, uint64_t *position, uint8_t *buf);

    /* Into a fresh filter: parameters, pieces in any order, then a check of the whole. Every
     * byte may be hostile. A piece goes to every filter of the set that owns something in it. */
    enum unseen_status (*load_params)(struct unseen__filter *filter, const uint8_t *params);
    bool (*owns_piece)(const struct unseen__filter *filter, const uint8_t *piece, size_t len);
    enum unseen_status (*load_piece)(struct unseen__filter *filter, const uint8_t *piece,
                                     size_t len);
    enum unseen_status (*load_finish)(struct unseen__filter *filter);
};

/* The length of a filter's parameters, and the longest piece. */
#define UNSEEN__PARAMS_LEN ((size_t)32)
#define UNSEEN__PIECE_MAX  (UNSEEN_CHUNK_MAX - 64)

/* The filter of this name, or NULL. */
const struct unseen__filter_ops *unseen__filter_find(const char *name);

extern const struct unseen__filter_ops unseen__compact_ops;

#endif
