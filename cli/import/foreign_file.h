/* SPDX-License-Identifier: MIT
 *
 * A Bloom filter's file of another program becomes a foreign filter, in pieces of any size:
 *
 *     guava  BloomFilter.writeTo: strategy, hashes (a byte each), number of longs (4 bytes), longs;
 *            all big-endian
 *     dcso   `bloom create`: version 1, capacity, rate, hashes, bits, keys (8 bytes each), words;
 *            all little-endian; then bytes that were attached (set-data)
 *     redisbloom
 *            the chunks of BF.SCANDUMP behind each other: keys (8 bytes), number of links, options,
 *            growth (4 bytes each); for each link bytes, bits, keys, rate, bits per key (8 bytes
 *            each), hashes (4), capacity (8), the exponent of bits if that is a power of 2 (1);
 *            then the bits of each link; all little-endian
 *
 * Memory is taken as bits come, whatever the head says. */
#ifndef UNSEEN_CLI_FOREIGN_FILE_H
#define UNSEEN_CLI_FOREIGN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen_foreign.h>

enum foreign_format {
    FOREIGN_GUAVA,
    FOREIGN_DCSO,
    FOREIGN_REDISBLOOM
};

/* At first all zero but for the first two. */
struct foreign_file {
    enum foreign_format format;
    enum unseen_foreign_text text;
    struct unseen_foreign *filter; /* NULL until the head is read. Freed by the caller */
    bool complete;                 /* all bits are there */
    uint64_t nattached;            /* dcso: bytes behind the bits */
    uint64_t nleft;                /* bytes that the bits still lack, once there is a filter */
    uint8_t part[56];              /* of the head, then of a long */
    size_t nparts;
    struct unseen_foreign_link links[UNSEEN_FOREIGN_LINKS_MAX]; /* redisbloom: read so far, */
    size_t nlinks;
    size_t nlinks_wanted; /* of so many; 0: not read yet */
    uint64_t nkeys;
};

enum foreign_result {
    FOREIGN_TAKEN,
    FOREIGN_WRONG, /* *why_out says why */
    FOREIGN_NOMEM
};

enum foreign_result foreign_file_push(struct foreign_file *l, const void *data, size_t len,
                                      const char **why_out);

/* The file ends here. WRONG if it ends too early. */
enum foreign_result foreign_file_end(const struct foreign_file *l, const char **why_out);

#endif
