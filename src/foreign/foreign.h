/* SPDX-License-Identifier: MIT
 *
 * The inside of a foreign filter, the Bloom filter of another program (unseen_foreign.h). It may be
 * a chain of Bloom filters, its links. The bits of all links are one row of bytes in pieces of
 * 32 KiB, which are allocated as the bytes come. So a forged number of bits takes no memory, and a
 * server never holds one huge block. */
#ifndef UNSEEN_FOREIGN_FOREIGN_H
#define UNSEEN_FOREIGN_FOREIGN_H

#include <stdbool.h>

#include "unseen_foreign.h"

enum {
    FOREIGN_PIECE_LOG = 15,
    FOREIGN_PIECE = 1 << FOREIGN_PIECE_LOG /* bytes */
};

struct foreign_link {
    uint64_t nbits;
    uint64_t first; /* its first byte in the row */
    uint64_t end;
    uint64_t nset;
    unsigned hashes;
};

struct unseen_foreign {
    struct unseen_allocator allocator;
    enum unseen_foreign_scheme scheme;
    enum unseen_foreign_text text;
    uint64_t nkeys;
    struct foreign_link *links;
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
struct foreign_hash {
    uint64_t a;
    uint64_t b;
};

/* False if the item cannot be in any filter of this kind. */
bool unseen__foreign_hash(enum unseen_foreign_scheme scheme, enum unseen_foreign_text text,
                          struct unseen_bytes item, struct foreign_hash *hash_out);

/* Writes the next chunk of a filter, as unseen__chunk_cut does. Errors: SPACE; ARGUMENT, also if
 * the filter is not complete. */
enum unseen_status unseen__foreign_next_chunk(const void *filter, uint64_t *cursor, void *buf,
                                              size_t cap, size_t *len_out);

/* A filter that is read. */
struct foreign_reading {
    struct unseen_foreign *filter; /* NULL before the header */
    const struct unseen_allocator *allocator;
};

/* Takes one whole chunk into a struct foreign_reading; chunks come in order. *complete_out says
 * whether the filter is whole. Errors: CORRUPT, VERSION, NOMEM; the filter can only be freed
 * then. */
enum unseen_status unseen__foreign_take_chunk(void *reading, const void *chunk, size_t len,
                                              bool *complete_out);

static inline bool foreign_is_complete(const struct unseen_foreign *f)
{
    return f->nhere == f->nbytes;
}

static inline bool foreign_bit(const struct unseen_foreign *f, const struct foreign_link *link,
                               uint64_t bit)
{
    const uint64_t byte = link->first + bit / 8;
    return f->pieces[byte >> FOREIGN_PIECE_LOG][byte % FOREIGN_PIECE] >> bit % 8 & 1;
}

#endif
