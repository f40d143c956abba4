/* SPDX-License-Identifier: MIT
 *
 * unseen_small.h - small sets: millions of them, each a value in one block of bytes.
 *
 * A set of unseen.h takes 39 KB when it is empty. A small set takes 16 bytes with 1 key, and 62
 * bytes with 50 keys at a rate of 1 %. Use small sets for the read history of each user, or as
 * values in a server. A small set takes keys, never strings; any set of unseen.h makes keys.
 *
 *     struct unseen_set *keys_of;           -> one set for all small sets: it only makes the keys
 *     unseen_set_keys(keys_of, items, n, keys, NULL);
 *
 *     void *value;
 *     unseen_small_create(&value, 0.01, NULL);
 *     unseen_small_add(&value, keys, n, verdicts, NULL, NULL);
 *     -> save unseen_small_len(value) bytes, or copy them anywhere
 *     unseen_small_free(value, NULL);
 *
 * A value is its own bytes. It has no pointers, and the same bytes on every processor, so memcpy
 * moves it, copies it and saves it. Bytes from outside become a value by unseen_small_load only.
 *
 * At the end of the header: the static set, which is made of all its keys at once and stays so.
 *
 * The conventions are those of unseen.h. docs/format.md has the bytes, docs/decisions/small.md the
 * measurements. */
#ifndef UNSEEN_SMALL_H
#define UNSEEN_SMALL_H

#include "unseen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Small sets --------------------------------------------------------------------------------
 * Every function that takes an allocator must get the same one for the same value. NULL means the
 * default one. The allocator is asked for one block at a time, and never for an alignment above
 * UNSEEN_SMALL_ALIGN. A move of the value keeps every promise, as long as stats.memory bytes are
 * there at the new address. */

#define UNSEEN_SMALL_ALIGN 8

/* Creates an empty small set that answers SEEN wrongly with a rate of at most fpr, at any number of
 * keys, also after unseen_small_grow.
 *
 * From 1e-5 on, a small set keeps hashes in up to five layers. Their rates add up to fpr. It
 * takes about 8.5 to 14 bits for a key at 1e-2, 15.5 to 21 bits at 1e-4. Below 1e-5 it keeps 40 or
 * 47 bits of each key in about 33 to 43 bits.
 *
 * Ownership: the caller frees *value_out with unseen_small_free.
 * Errors:
 *   - ARGUMENT: fpr is not above 0 and below 1; 0 means UNSEEN_FPR_DEFAULT
 *   - FPR: below UNSEEN_FPR_DEFAULT
 *   - NOMEM
 * Threads: any.
 * Time: constant. */
UNSEEN_API enum unseen_status unseen_small_create(
    void **value_out, double fpr, const struct unseen_allocator *allocator);

/* How a small set is created, if more than its rate is known. All other fields may be 0. */
struct unseen_small_options {
    size_t size;       /* sizeof(struct unseen_small_options) */
    double fpr;        /* as unseen_small_create */
    uint64_t capacity; /* up to some 30,000: its first layer is for so many; layers from 5e-7 on */
    bool counts;       /* a multiset: each add counts, and keys can be removed; with layers only */
    const struct unseen_allocator *allocator;
};

/* As unseen_small_create, with more options.
 *
 * Ownership: the caller frees *value_out with unseen_small_free.
 * Errors:
 *   - as unseen_small_create
 *   - SIZE
 *   - UNSUPPORTED: counts, with a rate that has no layers
 * Threads: any.
 * Time: constant. */
UNSEEN_API enum unseen_status unseen_small_create_with(
    void **value_out, const struct unseen_small_options *options);

/* Frees a value. value may be NULL.
 *
 * Threads: one.
 * Time: constant, up to 0.1 us. */
UNSEEN_API void unseen_small_free(void *value, const struct unseen_allocator *allocator);

/* Adds n keys, or asks for n keys, as unseen_set_add_keys and unseen_set_contains_keys do. All keys
 * of a value come from sets with one seed and one URL identity. A key must have 128 bits, or 64 or
 * 96, as options.key_bits says; fewer than 128 add to the rate as they do in a set.
 *
 * Arguments:
 *   - *value may be another pointer afterwards, whatever the status is.
 *   - verdicts and ndone_out as for unseen_set_add.
 * Errors: of add; the first *ndone_out keys have been added and have their verdicts
 *   - SPACE: the value is full and the next key is new. A value has room for about 21,800 keys, and
 *     below 1e-5 for 7,000 keys. Go on with the set that unseen_small_grow makes.
 *   - NOMEM: the value is as it was
 * Threads: one; contains: any.
 * Time: for each key, the time of the codes of about 64 keys in each layer, up to 0.1 us a layer;
 *   an add also moves the bytes behind the key, up to 50 KB. */
UNSEEN_API enum unseen_status unseen_small_add(void **value, const struct unseen_key *keys,
    size_t n, uint8_t *verdicts, size_t *ndone_out, const struct unseen_allocator *allocator);
UNSEEN_API void unseen_small_contains(
    const void *value, const struct unseen_key *keys, size_t n, uint8_t *verdicts);

/* Removes a key: *verdict is SEEN, or NEW if it was not there. A value that counts takes one add of
 * the key back. As in every set, a key that was never added may take another one with it, at the
 * rate of the value.
 *
 * Arguments: *value may be another pointer afterwards.
 * Errors:
 *   - UNSUPPORTED: a value with layers that does not count
 *   - NOMEM, SPACE (only of keys that no set made): the value is as it was
 * Threads: one.
 * Time: as add. */
UNSEEN_API enum unseen_status unseen_small_remove(void **value, struct unseen_key key,
    uint8_t *verdict, const struct unseen_allocator *allocator);

/* How often a key was added and not removed; in a value that does not count, 0 or 1. Never too
 * small, and too large at the rate of the value. */
UNSEEN_API uint64_t unseen_small_count(const void *value, struct unseen_key key);

/* The bytes of a value: what is saved, sent or compared. Equal keys in an equal order give equal
 * bytes.
 *
 * Time: constant, up to 0.1 us. */
UNSEEN_API size_t unseen_small_len(const void *value);

/* The most bytes that unseen_small_load accepts. */
#define UNSEEN_SMALL_LEN_MAX 64512

/* Makes a value of the bytes of another. Every byte may be hostile: whatever is accepted behaves as
 * a value, though its answers are those that its maker wants.
 *
 * Ownership: the caller frees *value_out with unseen_small_free. data is not kept.
 * Errors:
 *   - CORRUPT
 *   - VERSION: a later version made it
 *   - NOMEM
 * Threads: any.
 * Time: linear in len. */
UNSEEN_API enum unseen_status unseen_small_load(
    void **value_out, const void *data, size_t len, const struct unseen_allocator *allocator);

/* The state of a value. */
struct unseen_small_stats {
    size_t size;         /* sizeof(struct unseen_small_stats), set by the caller */
    uint64_t nkeys;      /* keys: adds that were answered NEW, or all adds of a value that counts */
    uint64_t len;        /* unseen_small_len */
    uint64_t memory;     /* bytes of its block, as the allocator was asked for it */
    double fpr_promise;  /* the rate at any number of keys, also after unseen_small_grow */
    double fpr_estimate; /* the rate expected now */
    unsigned nlayers;    /* layers that a question asks */
    uint64_t nremoved;   /* removals that found their key, of a value that counts */
    bool counts;         /* as the options said */
};

/* Fills in as much of *stats_out as stats_out->size says.
 *
 * Errors: SIZE.
 * Threads: any.
 * Time: 1 us or less. */
UNSEEN_API enum unseen_status unseen_small_stats(
    const void *value, struct unseen_small_stats *stats_out);

/* Makes the value carry a mark, 2 bytes more: a number for which the program has a use, such as the
 * place of the value's settings in a table. mark 0 takes it away. A mark belongs to the memory:
 * unseen_small_load refuses it, and unseen_small_save leaves it out.
 *
 * Arguments:
 *   - *value may be another pointer afterwards.
 * Errors:
 *   - SPACE: the value has nearly UNSEEN_SMALL_LEN_MAX bytes
 *   - NOMEM: the value is as it was
 * Threads: one.
 * Time: linear in the bytes. */
UNSEEN_API enum unseen_status unseen_small_set_mark(
    void **value, uint16_t mark, const struct unseen_allocator *allocator);

/* The mark of a value; 0 if it has no mark. */
UNSEEN_API uint16_t unseen_small_mark(const void *value);

/* Writes the bytes of a value without its mark, for unseen_small_load. buf has room for
 * unseen_small_len(value) bytes. Returns the number of bytes written.
 *
 * Time: linear in the bytes. */
UNSEEN_API size_t unseen_small_save(const void *value, void *buf);

/* Makes a set of unseen.h that goes on where a value that is full, or not, ends. It has all keys of
 * the value, and keeps its promise at any number of keys. Of a value with layers, it is a set with
 * the filter "chain", which cannot remove: the layers, frozen, and behind them, at 9e-4 and
 * above, a chain of block filters that doubles, with a tenth of the rate: 20 to 40 bits for a key
 * at 1e-2. Below 9e-4 a compact set is behind them. Below 1e-5, it is a set with the filter
 * "compact", which contains the keys themselves and does not need the value; or, if the options say
 * so, one that counts, in which each key was added once. All three are exported and imported as any
 * other set.
 *
 * A set with the filter "chain", a rate of 1e-5 or more and a capacity can also be made by
 * unseen_set_create: it is a block filter for so many keys (9.9 bits for a key at 1e-2, 20.6 at
 * 1e-4), and then a compact set behind it.
 *
 * Arguments:
 *   - options as for unseen_set_create, with the seed, URL identity and key_bits of the value's
 *     keys. The set has the rate of the value. With a capacity c, a chain doubles at c (2^k - 1)
 *     keys. The shape and the filter are ignored.
 *   - value stays as it is; the caller frees it.
 * Ownership: the caller frees *set_out with unseen_set_free.
 * Errors:
 *   - as unseen_set_create
 *   - ARGUMENT: no seed
 *   - UNSUPPORTED: threads, with a value for a rate below 1e-5; a forged value, in which so many
 *     keys are alike in their low bits that no set has room for them
 * Threads: any.
 * Time: linear in the bytes; 1 ms at most. */
UNSEEN_API enum unseen_status unseen_small_grow(struct unseen_set **set_out, const void *value,
    const struct unseen_set_options *options, struct unseen_error *error);

/* ---- Static sets -------------------------------------------------------------------------------
 * A static set is made of all its keys at once, in the caller's buffer, and asked in place: one for
 * each table file of a key-value store, for example. Its rate is 2^-r, the next one at or below
 * fpr. At 0.78 %, r = 7, 60 keys take 7.5 bits each and 1,000 keys 7.3 bits (a Bloom filter with
 * this rate: 10.1 bits).
 *
 *     size_t len;
 *     unseen_static_build(keys, n, 0.0084, buf, unseen_static_bound(n, 0.0084), &len);
 *     -> keep buf[0..len) anywhere
 *     if (!unseen_static_contains(buf, len, key)) ... the key is not there: certain
 */

/* The most keys of a static set. For more, a "block" set or a list (unseen_list.h) is faster. */
#define UNSEEN_STATIC_KEYS_MAX 65536

/* A size of the buffer that is enough for n keys at this rate; 0 if n or fpr is out of its
 * range. */
UNSEEN_API size_t unseen_static_bound(size_t n, double fpr);

/* Makes a static set of n keys, in any order, in the buffer. Equal keys count once. The expected
 * rate is the greatest 2^-r, r = 1, 2, ... 20, that is not above fpr.
 *
 * Arguments:
 *   - keys are sorted by this function: their order changes.
 *   - buf has cap bytes; *len_out is how many of them the set takes.
 * Errors:
 *   - ARGUMENT: n above UNSEEN_STATIC_KEYS_MAX; fpr below 1e-6 or not below 1; or keys that no
 *     set made: they must be hashes
 *   - SPACE: fewer than *len_out bytes in buf
 * Threads: any.
 * Time: n log n; about 150 ns a key. */
UNSEEN_API enum unseen_status unseen_static_build(
    struct unseen_key *keys, size_t n, double fpr, void *buf, size_t cap, size_t *len_out);

/* Whether a key is in the static set data[0..len): false is certain, true is wrong with the rate of
 * the set. The bytes may be hostile: no byte beyond len is read, and bytes that are not a frozen
 * set answer true, so that a key is looked for where it may be.
 *
 * Time: about 20 ns; above 1,000 keys n / 1,000 nanoseconds more. */
UNSEEN_API bool unseen_static_contains(const void *data, size_t len, struct unseen_key key);

#ifdef __cplusplus
}
#endif

#endif
