/* SPDX-License-Identifier: MIT
 *
 * The inside of a frozen layer, the Bloom filter of another program (unseen_layer.h). A layer may
 * be a chain of filters, its links. The bits of all links are one row of bytes in pieces of 32 KiB,
 * which are allocated as the bytes come. So a forged number of bits takes no memory, and a server
 * never holds one huge block. */
#ifndef UNSEEN_LAYER_LAYER_H
#define UNSEEN_LAYER_LAYER_H

#include <stdbool.h>

#include "unseen_layer.h"

enum {
    LAYER_PIECE_LOG = 15,
    LAYER_PIECE = 1 << LAYER_PIECE_LOG /* bytes */
};

struct layer_link {
    uint64_t nbits;
    uint64_t first; /* its first byte in the row */
    uint64_t end;
    uint64_t nset;
    unsigned hashes;
};

struct unseen_layer {
    struct unseen_allocator allocator;
    enum unseen_layer_scheme scheme;
    enum unseen_layer_text text;
    uint64_t nkeys;
    struct layer_link *links;
    size_t nlinks;
    size_t links_cap;
    uint64_t nbytes; /* of the whole row */
    uint64_t nhere;  /* bytes that have come */
    size_t current;  /* the link of the next byte */
    uint8_t **pieces;
    size_t npieces;
    size_t pieces_cap;
    uint64_t import_id;
    bool import_ended;
};

/* The two numbers from which a scheme makes the bits of an item. */
struct layer_hash {
    uint64_t a;
    uint64_t b;
};

/* False if the item cannot be in any layer of this kind. */
bool unseen__layer_hash(enum unseen_layer_scheme scheme, enum unseen_layer_text text,
                        struct unseen_bytes item, struct layer_hash *hash_out);

/* Writes the next chunk of a layer, as unseen__chunk_cut does. Errors: SPACE; ARGUMENT, also if the
 * layer is not complete. */
enum unseen_status unseen__layer_next_chunk(const void *layer, uint64_t *cursor, void *buf,
                                            size_t cap, size_t *len_out);

/* A layer that is read. */
struct layer_reading {
    struct unseen_layer *layer; /* NULL before the header */
    const struct unseen_allocator *allocator;
};

/* Takes one whole chunk into a struct layer_reading; chunks come in order. *complete_out says
 * whether the layer is whole. Errors: CORRUPT, VERSION, NOMEM; the layer can only be freed then. */
enum unseen_status unseen__layer_take_chunk(void *reading, const void *chunk, size_t len,
                                            bool *complete_out);

static inline bool layer_is_complete(const struct unseen_layer *f)
{
    return f->nhere == f->nbytes;
}

static inline bool layer_bit(const struct unseen_layer *f, const struct layer_link *link,
                             uint64_t bit)
{
    const uint64_t byte = link->first + bit / 8;
    return f->pieces[byte >> LAYER_PIECE_LOG][byte % LAYER_PIECE] >> bit % 8 & 1;
}

#endif
