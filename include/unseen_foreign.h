/* SPDX-License-Identifier: MIT
 *
 * unseen_foreign.h - the Bloom filters of other programs, asked as they are.
 *
 * A Bloom filter does not know its members, so it cannot become a set of unseen. A foreign filter
 * keeps its bits and the way in which its program made hashes, and answers the same questions. It
 * takes no more keys.
 *
 *     const struct unseen_foreign_link link = {.nbits = 9585088, .hashes = 7};
 *     const struct unseen_foreign_options options = {.size = sizeof(options),
 *         .scheme = UNSEEN_FOREIGN_GUAVA_64, .links = &link, .nlinks = 1};
 *     struct unseen_foreign *filter;
 *     if (unseen_foreign_create(&filter, &options, NULL) != UNSEEN_OK) ...
 *     if (unseen_foreign_append(filter, bits, 9585088 / 8, NULL) != UNSEEN_OK) ...
 *     unseen_foreign_contains(filter, items, n, verdicts);
 *
 * A filter is asked with the bytes that were given to the other program. It knows no URL identity.
 *
 * The conventions are those of unseen.h. Functions that take the filter as const: any number of
 * threads at once. All others: one thread. */
#ifndef UNSEEN_FOREIGN_H
#define UNSEEN_FOREIGN_H

#include "unseen.h"

#ifdef __cplusplus
extern "C" {
#endif

struct unseen_foreign;

/* How a program makes the bits of an item. */
enum unseen_foreign_scheme {
    UNSEEN_FOREIGN_GUAVA_32 = 1, /* Guava's MURMUR128_MITZ_32 */
    UNSEEN_FOREIGN_GUAVA_64 = 2, /* Guava's MURMUR128_MITZ_64 */
    UNSEEN_FOREIGN_DCSO = 3,     /* github.com/DCSO/bloom */
    UNSEEN_FOREIGN_MURMUR64A = 4 /* MurmurHash64A twice, as BF.SCANDUMP's filters */
};

/* What the program hashed of a text. */
enum unseen_foreign_text {
    UNSEEN_FOREIGN_BYTES = 0, /* the bytes, and texts in UTF-8 */
    UNSEEN_FOREIGN_UTF16 = 1  /* little-endian UTF-16. Bytes that are not UTF-8 are never there */
};

/* A link: a foreign filter is a chain of one or more Bloom filters. */
struct unseen_foreign_link {
    uint64_t nbits;  /* 1 to 2^48 */
    unsigned hashes; /* 1 to 255 */
};

/* The largest number of links. */
#define UNSEEN_FOREIGN_LINKS_MAX ((size_t)1024)

struct unseen_foreign_options {
    size_t size; /* sizeof(struct unseen_foreign_options) */
    enum unseen_foreign_scheme scheme;
    enum unseen_foreign_text text;
    const struct unseen_foreign_link *links; /* an item is there if one link has it; copied */
    size_t nlinks;
    uint64_t nkeys;                           /* as the other program says; 0: not known */
    const struct unseen_allocator *allocator; /* copied; its context must outlive the filter */
};

struct unseen_foreign_info {
    size_t size; /* sizeof(struct unseen_foreign_info) */
    enum unseen_foreign_scheme scheme;
    enum unseen_foreign_text text;
    size_t nlinks;
    uint64_t nkeys;          /* as the other program said; 0: not known */
    uint64_t nkeys_estimate; /* from the share of bits that are set */
    uint64_t nbits;          /* of all links */
    uint64_t nset;           /* bits that are set */
    unsigned hashes;         /* of the first link */
    double fpr_estimate;     /* the rate of wrong answers, from the share of bits that are set */
    uint64_t memory;         /* bytes taken through the allocator */
};

/* Creates a filter without bits. It takes little memory: that for bits is taken as they come.
 *
 * Ownership: the caller frees *filter_out with unseen_foreign_free.
 * Errors:
 *   - SIZE
 *   - ARGUMENT: scheme, text, links
 *   - NOMEM
 * Threads: any.
 * Time: linear in the links. */
UNSEEN_API enum unseen_status unseen_foreign_create(struct unseen_foreign **filter_out,
    const struct unseen_foreign_options *options, struct unseen_error *error);

/* Frees the filter. filter may be NULL.
 *
 * Threads: one.
 * Time: linear in the memory. */
UNSEEN_API void unseen_foreign_free(struct unseen_foreign *filter);

/* Appends the next len bytes of the links' bits: first the bits of the first link, then of the
 * second. Bit p of a link is bit p % 8 of its byte p / 8. Each link has a multiple of 8 bytes, and
 * bits beyond nbits are 0.
 *
 * Arguments:
 *   - *complete_out is true when all bits are there. complete_out may be NULL.
 * Errors:
 *   - CORRUPT: more bytes than the links have, or a bit beyond nbits
 *   - NOMEM
 *   After an error the filter can only be freed.
 * Threads: one.
 * Time: linear in len. */
UNSEEN_API enum unseen_status unseen_foreign_append(
    struct unseen_foreign *filter, const void *bits, size_t len, bool *complete_out);

/* Says of each item whether the other program would have found it: SEEN or NEW. Items of a filter
 * that is not complete are NEW.
 *
 * Time: linear in the bytes of the items and in n times the hashes of all links. */
UNSEEN_API void unseen_foreign_contains(const struct unseen_foreign *filter,
    const struct unseen_bytes *items, size_t n, uint8_t *verdicts);

/* Fills in as much of *info_out as info_out->size says.
 *
 * Errors: SIZE.
 * Threads: any.
 * Time: linear in the links. */
UNSEEN_API enum unseen_status unseen_foreign_info(
    const struct unseen_foreign *filter, struct unseen_foreign_info *info_out);

/* Reads a filter that unseen_foreign_save wrote.
 *
 * Ownership: the caller frees *filter_out with unseen_foreign_free.
 * Errors:
 *   - MISSING
 *   - FOREIGN: the file is not a foreign filter
 *   - CORRUPT
 *   - VERSION
 *   - IO
 *   - NOMEM
 * Threads: any.
 * Time: linear in the file. */
UNSEEN_API enum unseen_status unseen_foreign_open(struct unseen_foreign **filter_out,
    const char *path, const struct unseen_allocator *allocator, struct unseen_error *error);

/* Writes the filter to the file at path, durably. A file of that name is replaced in one step; an
 * error or a crash leaves it as it was.
 *
 * Errors:
 *   - ARGUMENT: the filter is not complete
 *   - BUSY: another process is writing it
 *   - FOREIGN: a file of somebody else is in the way
 *   - IO
 *   - NOMEM
 * Threads: any.
 * Time: linear in the memory. */
UNSEEN_API enum unseen_status unseen_foreign_save(
    const struct unseen_foreign *filter, const char *path, struct unseen_error *error);

#ifdef __cplusplus
}
#endif

#endif
