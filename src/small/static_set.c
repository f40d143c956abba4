/* SPDX-License-Identifier: MIT
 *
 * Static sets (unseen_small.h; docs/format.md, "Static sets"): the keys in one bucket or more,
 * which bucket.h explains. The top bits of a key's hi choose its bucket.
 *
 *     [ r + 32 * number of buckets ][ codes of the buckets ][ columns of all buckets ]
 *     [ r ][ 0xa0 ][ number of buckets, 2 bytes ][ codes ][ columns ]
 *
 * The second form has FEW_MAX buckets or more. The columns of a bucket begin at r times the sum of
 * the steps of the buckets before it, counted in 4 bits. */
#include <math.h>

#include "base/heapsort.h"
#include "small/bucket.h"
#include "unseen_small.h"

enum {
    PER_BUCKET = 80,  /* keys of a bucket, at most on average, if there is more than one */
    MORE_BUCKETS = 5, /* so often there are an eighth more if one has no room */
    FEW_MAX = 7,      /* buckets of the first form */
    HEAD_FEW = 1,
    HEAD_MANY = 4,
    COLUMNS_MASK = 0x1f
};

#define STATIC_RATE_MIN 1e-6

static bool is_possible(size_t n, double fpr)
{
    return n <= UNSEEN_STATIC_KEYS_MAX && fpr >= STATIC_RATE_MIN && fpr < 1;
}

static unsigned columns_for(double fpr)
{
    return (unsigned)ceil(-log2(fpr));
}

static size_t buckets_for(size_t n)
{
    return n <= BUCKET_KEYS_MAX ? 1 : (n + PER_BUCKET - 1) / PER_BUCKET;
}

static size_t more_buckets(size_t nbuckets)
{
    return nbuckets + nbuckets / 8 + 1;
}

size_t unseen_static_bound(size_t n, double fpr)
{
    if (!is_possible(n, fpr)) {
        return 0;
    }
    size_t nbuckets = buckets_for(n);
    for (unsigned i = 0; n > BUCKET_KEYS_MAX && i < MORE_BUCKETS; i++) {
        nbuckets = more_buckets(nbuckets);
    }
    const size_t nrows = n + nbuckets * BUCKET_STEP * (1 + BUCKET_MORE_STEPS);
    return HEAD_MANY + nbuckets + (columns_for(fpr) * nrows + 7) / 8;
}

/* ---- building ---- */

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = ((const struct unseen_key *)a)->hi;
    const uint64_t y = ((const struct unseen_key *)b)->hi;
    return (x > y) - (x < y);
}

/* Sorts the keys, and moves those with different hi to the front. Returns their number. */
static size_t sort_different(struct unseen_key *keys, size_t n)
{
    size_t ndifferent = 0;
    heap_sort(keys, n, sizeof(*keys), compare_keys);
    for (size_t i = 0; i < n; i++) {
        if (ndifferent == 0 || keys[i].hi != keys[ndifferent - 1].hi) {
            keys[ndifferent++] = keys[i];
        }
    }
    return ndifferent;
}

static size_t put_head(uint8_t *buf, size_t nbuckets, unsigned ncolumns)
{
    if (nbuckets <= FEW_MAX) {
        buf[0] = (uint8_t)(ncolumns + (nbuckets << 5));
        return HEAD_FEW;
    }
    buf[0] = (uint8_t)ncolumns;
    buf[1] = BUCKET_CODE;
    store_le16(buf + 2, (uint16_t)nbuckets);
    return HEAD_MANY;
}

/* Builds the set with so many buckets. ARGUMENT: the keys of a bucket have no room in it, or its
 * equations no solution. A buffer that is too small gets no byte beyond cap. */
static enum unseen_status build(const struct unseen_key *keys, size_t n, size_t nbuckets,
                                unsigned ncolumns, uint8_t *buf, size_t cap, size_t *len_out)
{
    uint8_t head[HEAD_MANY];
    const size_t head_len = put_head(head, nbuckets, ncolumns);
    const size_t at = head_len + nbuckets;
    size_t nsteps = 0;
    size_t next = 0;
    size_t len = at;
    bool has_room = len <= cap;
    for (size_t i = 0; i < nbuckets; i++) {
        struct bucket bucket;
        size_t end = next;
        while (end < n && mul_high(keys[end].hi, nbuckets) == i) {
            end++;
        }
        if (end - next > BUCKET_KEYS_MAX ||
            !unseen__bucket_solve(&bucket, keys + next, (unsigned)(end - next), ncolumns)) {
            return UNSEEN_ERR_ARGUMENT;
        }
        const size_t from = nsteps * ncolumns;
        const size_t old_len = len;
        nsteps += bucket_steps(bucket.code);
        len = at + (nsteps * ncolumns + 1) / 2;
        has_room &= len <= cap;
        if (has_room) {
            buf[head_len + i] = bucket.code;
            memset(buf + old_len, 0, len - old_len);
            unseen__bucket_write(&bucket, ncolumns, buf + at, from);
        }
        next = end;
    }
    *len_out = len;
    if (!has_room) {
        return UNSEEN_ERR_SPACE;
    }
    memcpy(buf, head, head_len);
    return UNSEEN_OK;
}

enum unseen_status unseen_static_build(struct unseen_key *keys, size_t n, double fpr, void *buf,
                                       size_t cap, size_t *len_out)
{
    if (!is_possible(n, fpr)) {
        return UNSEEN_ERR_ARGUMENT;
    }
    const size_t ndifferent = sort_different(keys, n);
    const unsigned ncolumns = columns_for(fpr);
    size_t nbuckets = buckets_for(ndifferent);
    enum unseen_status status = build(keys, ndifferent, nbuckets, ncolumns, buf, cap, len_out);
    for (unsigned i = 0; status == UNSEEN_ERR_ARGUMENT && nbuckets > 1 && i < MORE_BUCKETS; i++) {
        nbuckets = more_buckets(nbuckets);
        status = build(keys, ndifferent, nbuckets, ncolumns, buf, cap, len_out);
    }
    return status;
}

/* ---- asking ---- */

/* The steps of the first n codes of `len`, eight at a time: the sum of eight fits into a byte. */
static inline size_t steps_before(const uint8_t *codes, size_t n, size_t len)
{
    const uint64_t steps = BUCKET_STEPS_MASK * UINT64_C(0x0101010101010101);
    const uint64_t ones = UINT64_C(0x0101010101010101);
    size_t sum = 0;
    for (; n >= 8; codes += 8, n -= 8, len -= 8) {
        sum += (size_t)((load_le64(codes) & steps) * ones >> 56);
    }
    if (UNSEEN_LIKELY(len >= 8)) {
        return sum +
               (size_t)((load_le64(codes) & steps & (((uint64_t)1 << 8 * n) - 1)) * ones >> 56);
    }
    while (n > 0) {
        sum += bucket_steps(codes[--n]);
    }
    return sum;
}

bool unseen_static_contains(const void *data, size_t len, struct unseen_key key)
{
    const uint8_t *bytes = data;
    if (len < 2 || bytes[1] < BUCKET_CODE) {
        return true;
    }
    const unsigned ncolumns = bytes[0] & COLUMNS_MASK;
    size_t nbuckets = bytes[0] >> 5;
    size_t head = HEAD_FEW;
    if (UNSEEN_UNLIKELY(nbuckets == 0)) {
        if (len < HEAD_MANY) {
            return true;
        }
        nbuckets = load_le16(bytes + 2);
        head = HEAD_MANY;
    }
    if (ncolumns == 0 || ncolumns > BUCKET_COLUMNS_MAX || nbuckets == 0 || nbuckets > len - head) {
        return true;
    }
    const size_t at = head + nbuckets;
    const size_t bucket = (size_t)mul_high(key.hi, nbuckets);
    const unsigned code = bytes[head + bucket];
    const size_t nibble = ncolumns * steps_before(bytes + head, bucket, len - head);
    const size_t nnibbles = (size_t)ncolumns * bucket_steps(code);
    if (code < BUCKET_CODE || (nibble + nnibbles + 1) / 2 > len - at) {
        return true;
    }
    return nnibbles > 0 && unseen__bucket_has(bytes, at, nibble, code, ncolumns, key.hi);
}
