/* SPDX-License-Identifier: MIT
 *
 * Sorts byte by byte from the front (MSD radix sort): the pieces are distributed by their first
 * byte, then those with the same first byte by the second one, and so on; a few are sorted by
 * insertion. So each byte is looked at a few times, where a sort by comparisons looks at each piece
 * log n times: a URL can have 30,000 parameters of one letter. */
#include "url/pieces.h"

#include <string.h>

enum {
    NRANKS = 257,
    INSERTION_MAX = 12
};

/* The end of a piece is 0, which is below every byte. */
static unsigned rank_at(const struct unseen__pieces *pieces, uint32_t start, size_t distance)
{
    const char *const at = pieces->text + start + distance;
    return at == pieces->end || *at == '&' ? 0 : 1u + (unsigned char)*at;
}

bool unseen__piece_before(const struct unseen__pieces *pieces, uint32_t b, uint32_t a,
                          size_t distance)
{
    for (;; distance++) {
        const unsigned rank = rank_at(pieces, b, distance);
        const unsigned other = rank_at(pieces, a, distance);
        if (rank != other || rank == 0) {
            return rank < other;
        }
    }
}

static void insert(const struct unseen__pieces *pieces, uint32_t *starts, size_t n, size_t distance)
{
    for (size_t i = 1; i < n; i++) {
        const uint32_t start = starts[i];
        size_t k = i;
        for (; k > 0 && unseen__piece_before(pieces, start, starts[k - 1], distance); k--) {
            starts[k] = starts[k - 1];
        }
        starts[k] = start;
    }
}

/* Puts the pieces in the order of their bytes at the distance. ends_out[r] is the end of those of
 * rank r. */
static void distribute(const struct unseen__pieces *pieces, uint32_t *starts, uint32_t *spare,
                       size_t n, size_t distance, uint32_t ends_out[NRANKS])
{
    uint32_t sum = 0;
    memset(ends_out, 0, NRANKS * sizeof(*ends_out));
    for (size_t i = 0; i < n; i++) {
        ends_out[rank_at(pieces, starts[i], distance)]++;
    }
    for (size_t rank = 0; rank < NRANKS; rank++) {
        const uint32_t count = ends_out[rank];
        ends_out[rank] = sum;
        sum += count;
    }
    memcpy(spare, starts, n * sizeof(*starts));
    for (size_t i = 0; i < n; i++) {
        starts[ends_out[rank_at(pieces, spare[i], distance)]++] = spare[i];
    }
}

/* Do all pieces have the same byte at the distance? */
static bool are_equal(const struct unseen__pieces *pieces, const uint32_t *starts, size_t n,
                      size_t distance)
{
    size_t i = 1;
    while (i < n && rank_at(pieces, starts[i], distance) == rank_at(pieces, starts[0], distance)) {
        i++;
    }
    return i == n;
}

/* The largest group is not left to a call, so calls are nested log n deep. */
static void sort_from(const struct unseen__pieces *pieces, uint32_t *starts, uint32_t *spare,
                      size_t n, size_t distance)
{
    while (n > INSERTION_MAX) {
        if (are_equal(pieces, starts, n, distance)) {
            if (rank_at(pieces, starts[0], distance++) == 0) {
                return;
            }
            continue;
        }
        uint32_t ends[NRANKS];
        size_t largest = 0;
        size_t largest_n = 0;
        distribute(pieces, starts, spare, n, distance++, ends);
        for (size_t rank = 1; rank < NRANKS; rank++) {
            const size_t count = ends[rank] - ends[rank - 1];
            if (count > largest_n) {
                largest = rank;
                largest_n = count;
            }
        }
        for (size_t rank = 1; rank < NRANKS; rank++) {
            if (rank != largest && ends[rank] - ends[rank - 1] > 1) {
                sort_from(pieces, starts + ends[rank - 1], spare, ends[rank] - ends[rank - 1],
                          distance);
            }
        }
        starts += largest > 0 ? ends[largest - 1] : 0;
        n = largest_n;
    }
    insert(pieces, starts, n, distance);
}

void unseen__sort_pieces(const struct unseen__pieces *pieces, uint32_t *starts, uint32_t *spare,
                         size_t n)
{
    sort_from(pieces, starts, spare, n, 0);
}
