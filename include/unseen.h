/* SPDX-License-Identifier: MIT
 *
 * unseen.h - "have I seen this URL before?", in 4 to 6 bytes per URL.
 *
 * A set remembers short fingerprints. It answers NEW or SEEN, grows by itself, and never forgets a
 * key: it has no false negatives. It takes a new key for a seen one with a probability below a
 * stated promise, the false-positive rate.
 *
 *     struct unseen_set *set;
 *     struct unseen_bytes url = {"http://e.com/", 13};
 *     uint8_t verdict;
 *     if (unseen_set_create(&set, NULL, NULL) != UNSEEN_OK) ...
 *     if (unseen_set_add(set, &url, 1, &verdict, NULL) != UNSEEN_OK) ...
 *     if (verdict == UNSEEN_NEW) fetch(url);
 *     unseen_set_free(set);
 *
 * Link with -lunseen (pkg-config: unseen; CMake: find_package(unseen), target unseen::unseen). In
 * this order: sets, their unions and replicas, their files and export, URL identity, shards (which
 * of n machines has a URL?), stores (sets that outlive the process), plans (how large will a set
 * be?), lines, errors. unseen_list.h has static lists, unseen_bitmap.h sets of integers,
 * unseen_small.h sets of a few keys, unseen_foreign.h filters of other programs, which answer
 * questions as they are.
 *
 * Conventions of all headers
 *
 * - Errors. A function that can fail returns enum unseen_status. "Errors" in its comment lists
 *   every status besides UNSEEN_OK. Out-parameters are untouched on failure unless the comment says
 *   otherwise. A function with a parameter `error`, which may be NULL, fills *error when it fails.
 *   A function with another result cannot fail.
 * - Pointers. Input is borrowed for the length of the call and may contain any bytes, NUL
 *   included. A pointer may be NULL when its length or count is 0. No other pointer may be NULL
 *   unless the comment says so.
 * - Ownership. Whoever creates an object frees it. Every _free(NULL) and _close(NULL) does nothing.
 * - Options. A struct of options or answers begins with its own size: write {.size = sizeof(...)}.
 *   Any other field may be 0, which means its default. Options may be NULL: all defaults.
 * - Threads. "Threads: one" means one thread at a time for each object. "Threads: any" means any
 *   number of threads at once, while no thread calls a function that says "one" on the object.
 * - Where a comment says nothing about threads, they are "any"; where it says nothing about time,
 *   the time is constant.
 * - The library never prints, never exits, and keeps no global state. A call needs up to 128 KiB of
 *   stack.
 */
#ifndef UNSEEN_H
#define UNSEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(UNSEEN_BUILD) && defined(__GNUC__)
#define UNSEEN_API __attribute__((visibility("default")))
#else
#define UNSEEN_API
#endif

/* ---- Status ------------------------------------------------------------------------------------
 * X(name, value, sentence). Values never change; new ones fill the gaps. */

#define UNSEEN_STATUS_MAP(X)                                                                       \
    X(OK, 0, "success")                                                                            \
    /* the caller */                                                                               \
    X(ERR_ARGUMENT, 10, "an argument is out of its range")                                         \
    X(ERR_UNSUPPORTED, 11, "this build, processor or filter cannot do what was asked for")         \
    X(ERR_FPR, 12, "the filter promises no false-positive rate this low")                          \
    X(ERR_NAME, 13, "no such name")                                                                \
    X(ERR_READONLY, 14, "the store was opened to be read only")                                    \
    X(ERR_SIZE, 15, "the size field of a struct is not set, or says more than this version knows") \
    /* resources */                                                                                \
    X(ERR_NOMEM, 20, "out of memory")                                                              \
    X(ERR_SPACE, 21, "the caller's buffer is too small")                                           \
    X(ERR_BUSY, 22, "another process is writing to it")                                            \
    X(ERR_RANDOM, 23, "the system gives no random numbers")                                        \
    /* data from outside */                                                                        \
    X(ERR_CORRUPT, 30, "the data is damaged or is not what it claims to be")                       \
    X(ERR_VERSION, 31, "the data was written by another version")                                  \
    X(ERR_MISMATCH, 32, "the data belongs to a set made with other settings")                      \
    X(ERR_FOREIGN, 33, "the file was not written by unseen")                                       \
    /* files */                                                                                    \
    X(ERR_IO, 40, "a file could not be read or written")                                           \
    X(ERR_MISSING, 41, "there is no such file")                                                    \
    X(ERR_STOPPED, 42, "an earlier error has stopped it")                                          \
    X(ERR_IMAGE, 43, "everything is committed, but the image could not be written")

enum unseen_status {
#define UNSEEN_STATUS_ENUM(name, value, sentence) UNSEEN_##name = (value),
    UNSEEN_STATUS_MAP(UNSEEN_STATUS_ENUM)
#undef UNSEEN_STATUS_ENUM
};

/* A borrowed run of bytes. */
struct unseen_bytes {
    const char *data; /* may be NULL if len is 0 */
    size_t len;
};

/* Every operation on a set answers one question: was the key in the set before this call? */
enum unseen_verdict {
    UNSEEN_SEEN = 0,   /* yes; wrong with the false-positive rate of the set */
    UNSEEN_NEW = 1,    /* no; certain */
    UNSEEN_ALLOWED = 2 /* of a list only (unseen_list.h): not listed, because it was allowed */
};

struct unseen_error;
struct unseen_allocator;
struct unseen_url;

enum unseen_cpu { /* see unseen_cpu_parse */
    UNSEEN_CPU_AUTO = 0,
    UNSEEN_CPU_PORTABLE = 1,
    UNSEEN_CPU_AVX2 = 2,
    UNSEEN_CPU_AVX512 = 3
};

/* ---- Set ---------------------------------------------------------------------------------------
 * A set keeps fingerprints of keys only: its members cannot be listed. */

struct unseen_set;
#define UNSEEN_FPR_DEFAULT 5e-9
struct unseen_set_options {
    size_t size; /* sizeof(struct unseen_set_options) */

    /* The highest false-positive rate accepted, above 0 and below 1. 0 means UNSEEN_FPR_DEFAULT.
     * "compact" promises 1.5e-6, 5e-9 or 1e-12, the first that is low enough, for up to 10^10 keys,
     * in about 4.5, 5.6 or 7.4 bytes per key; the other filters promise fpr at `capacity` keys. */
    double fpr;

    /* The number of keys to make room for. A filter that grows does not need it. Any other filter
     * takes its size from capacity; with more keys its rate rises. */
    uint64_t capacity;

    const char *filter; /* the name of a filter (unseen_filter_name); NULL means "compact" */

    /* The secret of the keys is derived from these seed_len bytes, at least 1. NULL and 0 mean a
     * random secret from the operating system. Two sets have the same keys only with the same
     * seed. Whoever knows the seed can make URLs that hide others, or that take more memory. */
    const void *seed;
    size_t seed_len;

    /* The bits of a key: 64, 96 or 128; 0 means 128. Use fewer bits only if you also store the keys
     * yourself and want them short. A set of n keys then answers wrongly n / 2^bits more often.
     * Therefore "compact" does not take 64 bits for a rate below 5.5e-10. */
    unsigned key_bits;

    /* The URL identity, as in unseen_url_options: the set compares the canonical forms of items.
     * NULL means "crawl". "none": the set compares the bytes themselves. */
    const char *profile;

    /* The number of threads that will use the set at once. 0 and 1 mean one, without locks. With 2
     * or more, the set gets enough locks for that many threads. More threads may use it; they wait
     * for each other more often, unless each has keys with other top bits of hi. */
    unsigned threads;
    enum unseen_cpu cpu;
    const struct unseen_allocator *allocator; /* copied; its context must outlive the set */

    /* The shape of a filter, in place of a rate; "bloom" alone takes it. The filter has
     * bits_per_key * capacity bits, in whole cache lines of 512. A key sets `hashes` of them. 0
     * hashes: the number with the lowest rate. 0 bits per key: the number that fpr needs. */
    double bits_per_key;
    unsigned hashes;

    /* Each add counts, and each removal takes one add back: unseen_set_count_keys says how often.
     * Only "compact" takes this option; "counting" always counts. */
    bool counts;

    /* The set forgets by time: a key is seen for so many milliseconds after it was last new, at
     * most 100 years; a repeat does not prolong it. 0: the set does not forget. unseen_set_expire
     * tells the time. Keys have 64 bits then unless key_bits or fpr asks for more. Each live key
     * takes about 9 bytes more (13 with 96 bits, 17 with 128). "compact" and "counting" take this
     * option, without `counts`. */
    uint64_t window;
};

/* Creates an empty set.
 *
 * Ownership: the caller frees *set_out with unseen_set_free. options may be NULL.
 * Errors:
 *   - SIZE
 *   - ARGUMENT: fpr, key_bits, window, a seed without bytes, a capacity that the filter needs,
 *     bits_per_key beside fpr, or a shape that answers SEEN to every key; rules in the profile that
 *     are not for it
 *   - NAME: no such filter; no such profile or rule
 *   - VERSION: a version of a profile that this library does not have
 *   - FPR: lower than the filter, or keys of so few bits, can promise
 *   - UNSUPPORTED: cpu; a shape or a window for a filter that does not take one
 *   - RANDOM
 *   - NOMEM
 *   error->setting says which setting is wrong.
 * Threads: any.
 * Time: microseconds. With a capacity, "compact" writes all of its memory; the memory of the other
 *   filters comes as keys do. */
UNSEEN_API enum unseen_status unseen_set_create(struct unseen_set **set_out,
    const struct unseen_set_options *options, struct unseen_error *error);

/* Frees the set. No other thread may use it any more. set may be NULL.
 *
 * Threads: one.
 * Time: linear in the memory. */
UNSEEN_API void unseen_set_free(struct unseen_set *set);

/* add, contains and remove for n items. Each gives the answers that n calls with one item each
 * would give, in the same order, but several times as fast: memory is fetched ahead. Calls with 128
 * to 1024 items are best.
 *
 *   unseen_set_add       adds each item that is not in the set. Asking and adding are one step: of
 *                        several threads that add one key, exactly one is told NEW.
 *   unseen_set_contains  changes nothing.
 *   unseen_set_remove    removes each item. Removing an item that was added is exact. Removing an
 *                        item that was never added, or whose add was answered SEEN, takes away
 *                        another key with the false-positive rate, and that key is forgotten.
 *                        "compact" gives memory back as it empties. A filter that counts undoes
 *                        one add with each removal; in "counting" an item that was added
 *                        UNSEEN_COUNT_MAX times or more stays for ever.
 *
 * Arguments:
 *   - verdicts gets n bytes, each an enum unseen_verdict.
 *   - *ndone_out is the number of items that were done, n on success; ndone_out may be NULL.
 *   - On failure, the first *ndone_out items have their verdict; try the others again.
 * Errors:
 *   - NOMEM: the set could not grow, or there was no buffer for a URL of about 2,000 bytes or more;
 *     the set stays usable
 *   - RANDOM: the filter met keys that were made to collide, and the system gives no random
 *     numbers; the set stays usable
 *   - UNSUPPORTED: of remove: the filter lacks UNSEEN_CAN_REMOVE
 * Threads: as many as options.threads; contains: any.
 * Time: linear in the bytes. A growing set moves a few keys with each add: no long pauses. */
UNSEEN_API enum unseen_status unseen_set_add(struct unseen_set *set,
    const struct unseen_bytes *items, size_t n, uint8_t *verdicts, size_t *ndone_out);
UNSEEN_API enum unseen_status unseen_set_contains(const struct unseen_set *set,
    const struct unseen_bytes *items, size_t n, uint8_t *verdicts, size_t *ndone_out);
UNSEEN_API enum unseen_status unseen_set_remove(struct unseen_set *set,
    const struct unseen_bytes *items, size_t n, uint8_t *verdicts, size_t *ndone_out);

/* The 128-bit key of an identity: a hash of its bytes under a secret (docs/decisions/key.md).
 * Whoever does not know the secret cannot foresee a key. Two different inputs chosen without the
 * secret have equal keys with a probability of at most 2^-127, plus the advantage of whoever can
 * tell SipHash-1-3 or keyed BLAKE2b from a random function. In a set of 64- or 96-bit keys, lo or
 * its upper half follows from the rest, and that probability is 2^-64 or 2^-96.
 *
 * The secret has 256 bits. It is random, or derived from a seed by BLAKE2b. A seed that others can
 * guess protects nothing. Every export, store and list contains the secret: whoever can read one
 * can make inputs that collide in it. */
struct unseen_key {
    uint64_t lo;
    uint64_t hi;
};

/* Makes the keys of n items. With keys, one thread can hash ahead of another.
 *
 * Arguments:
 *   - keys gets n keys.
 *   - forms gets n bytes, each an enum unseen_url_form (UNCHANGED in a set without URL identity);
 *     forms may be NULL.
 * Errors:
 *   - NOMEM: a URL of about 2,000 bytes or more
 *   After an error the contents of keys and forms are undefined.
 * Threads: any, also beside threads that change the set.
 * Time: linear in the bytes. */
UNSEEN_API enum unseen_status unseen_set_keys(const struct unseen_set *set,
    const struct unseen_bytes *items, size_t n, struct unseen_key *keys, uint8_t *forms);

/* The key of an identity of len bytes that needs no canonical form: it is one already, or it is the
 * digest (MD5, SHA-1, a fingerprint) by which another program knows a URL. Never use a digest
 * itself as a key: whoever makes the input can foresee the digest.
 *
 * Time: linear. */
UNSEEN_API struct unseen_key unseen_set_identity_key(
    const struct unseen_set *set, const void *data, size_t len);

/* As unseen_set_add, _contains and _remove, for keys. The keys are of this set, or of a set with
 * the same seed, URL identity and key_bits. A program with two threads divides the work like this:
 *
 *     one thread                                  the other
 *     unseen_set_keys(set, items, n, keys, NULL);
 *     hand over keys and items               ->   unseen_set_add_keys(set, keys, n, ...);
 *
 * Arguments:
 *   - keys is not checked: a key from elsewhere is another key, and its answers are meaningless.
 *   - verdicts and ndone_out as for unseen_set_add.
 * Errors:
 *   - NOMEM: of add, the set could not grow
 *   - UNSUPPORTED: of remove, the filter lacks UNSEEN_CAN_REMOVE
 * Threads: as many as options.threads; contains: any.
 * Time: linear in n; about two cache misses for each key, which overlap in a batch. */
UNSEEN_API enum unseen_status unseen_set_add_keys(struct unseen_set *set,
    const struct unseen_key *keys, size_t n, uint8_t *verdicts, size_t *ndone_out);
UNSEEN_API enum unseen_status unseen_set_contains_keys(const struct unseen_set *set,
    const struct unseen_key *keys, size_t n, uint8_t *verdicts, size_t *ndone_out);
UNSEEN_API enum unseen_status unseen_set_remove_keys(struct unseen_set *set,
    const struct unseen_key *keys, size_t n, uint8_t *verdicts, size_t *ndone_out);

/* How often each of n keys was added and not removed again. "compact" with options.counts knows any
 * number. With the false-positive rate its answer is too large, and it is never too small.
 * "counting" knows numbers below UNSEEN_COUNT_MAX, which stands for that often or more, and a
 * removal without an add makes its counts of other keys too small.
 *
 * Errors:
 *   - UNSUPPORTED: the filter cannot tell
 * Threads: any.
 * Time: linear in n. */
#define UNSEEN_COUNT_MAX 15
UNSEEN_API enum unseen_status unseen_set_count_keys(
    const struct unseen_set *set, const struct unseen_key *keys, size_t n, uint64_t *counts);

/* Tells a set with a window what time it is, and removes keys that have left the window. The
 * library reads no clock. Call it before adding keys, with the time at which they come.
 *
 *     unseen_set_expire(set, now, 4096, NULL);
 *     unseen_set_add(set, items, n, verdicts, NULL);
 *
 * A key is forgotten not before its window ends, and by the first call that is max(1 s, window /
 * 1000) later. The latest time counts: an earlier one changes nothing. Keys that were added before
 * the first call count from it. After unseen_set_remove a key is new, as in every set.
 *
 * Arguments:
 *   - now is in milliseconds since any moment, above 0.
 *   - max is the number of keys that may be removed, so that a call takes no longer than an add.
 *     Keys that would otherwise leave too late are removed in any case. With SIZE_MAX, and one
 *     thread, the answers follow from the times of the keys alone.
 *   - *next_out, unless NULL, is a time. Until then no key leaves, and keys may share a call: tell
 *     the time of the last one, then add them all. 0 says that more keys were due than max.
 * Errors:
 *   - UNSUPPORTED: the set has no window
 * Threads: as many as options.threads.
 * Time: constant, with a lock for each filter of a shared set now and then; linear in the keys that
 *   leave, 14 to 100 ns for each. */
UNSEEN_API enum unseen_status unseen_set_expire(
    struct unseen_set *set, uint64_t now, size_t max, uint64_t *next_out);

/* When the next key of a set with a window leaves, which may be before its clock; UINT64_MAX: the
 * set has no keys, or no window. Threads: any. Time: constant. */
UNSEEN_API uint64_t unseen_set_due(const struct unseen_set *set);

/* Reads a window as people write it: 90s, 10m, 1.5h, 30d, 2w, 1y (365 days), or 90, which is in
 * seconds. *ms_out is in milliseconds.
 *
 * Errors:
 *   - ARGUMENT: another text; less than a second; more than 100 years of 365 days
 * Threads: any.
 * Time: constant. */
UNSEEN_API enum unseen_status unseen_window_parse(const char *text, uint64_t *ms_out);

/* Makes room for nkeys keys in all, including the keys that the set has. The set takes the memory
 * of a set that was made with this capacity, or keeps its own if that is more. Its answers and its
 * promise stay the same. Beyond nkeys the set grows as usual.
 *
 * A set whose filter grows does not need this call. But most of the time of an add is spent on
 * growing step by step, and a program that learns how many keys will come saves that time.
 *
 * Errors:
 *   - UNSUPPORTED: the filter is not "compact"
 *   - NOMEM: the set has its keys, and perhaps some of the room
 *   - RANDOM: as NOMEM
 * Threads: as unseen_set_add.
 * Time: linear in the memory; for each key in the set, 5 ns for each doubling. */
UNSEEN_API enum unseen_status unseen_set_reserve(struct unseen_set *set, uint64_t nkeys);

/* The state of a set. A program that watches a filter with a capacity compares nkeys with capacity,
 * or fpr_estimate with fpr_promise, and makes a larger set in time. */
struct unseen_set_stats {
    size_t size;         /* sizeof(struct unseen_set_stats), set by the caller */
    uint64_t nkeys;      /* keys in the set; of "compact" that counts, adds; after a merge of Bloom
                            * filters, nkeys_estimate */
    uint64_t nslots;     /* fingerprints, bits or counters that its memory has room for */
    uint64_t memory;     /* bytes taken through the allocator */
    double fpr_promise;  /* the false-positive rate promised up to capacity keys */
    double fpr_estimate; /* the rate expected now, from what is stored */
    const char *filter;  /* the name of the filter; static text */
    const char *cpu;     /* the processor level in use; static text */
    double fill;         /* the share of the slots in use, 0 to 1 (the load) */
    double nkeys_estimate; /* the number of keys that fill implies [Swamidass07]: an estimate for a
                            * Bloom filter, nkeys for every other */
    uint64_t capacity;     /* keys up to which fpr_promise holds; 0: any number */
    unsigned hashes;       /* bits or counters that a key sets; 0: the filter has no such thing */
    unsigned abilities;    /* UNSEEN_CAN_... */
    bool counts;           /* unseen_set_count_keys tells how often an item was added */
    uint64_t window;       /* in milliseconds; 0: none, and the next two are 0 */
    uint64_t oldest;       /* the time of the oldest key; 0: no key, or no time was told */
    uint64_t nleaving;     /* keys that leave within the next tenth of the window */
};

/* What a filter can do. */
enum {
    UNSEEN_CAN_REMOVE = 1, /* unseen_set_remove */
    UNSEEN_CAN_MERGE = 2,  /* unseen_set_merge */
    UNSEEN_CAN_GROW = 4    /* needs no capacity, and keeps its promise at every number of keys */
};

/* Fills in as much of *stats_out as stats_out->size says.
 *
 * Errors: SIZE.
 * Threads: as many as options.threads.
 * Time: microseconds; up to 100 of them in a set for many threads. */
UNSEEN_API enum unseen_status unseen_set_stats(
    const struct unseen_set *set, struct unseen_set_stats *stats_out);

/* The id of the URL identity (unseen_url_id); "none/1" for a set without one. Valid as long as the
 * URL identity. */
UNSEEN_API const char *unseen_set_profile(const struct unseen_set *set);

/* ---- Unions and replicas -----------------------------------------------------------------------
 * A replica is made by a copy, or by an export and an import. Given the same changes in the same
 * order as the original, a replica gives the same answers and has the same bytes. It needs only the
 * changes that had an effect: the keys that were NEW when added, and SEEN when removed. Packed keys
 * are 8 to 16 bytes each. A call of unseen_set_reserve is a change for replicas.
 *
 *     unseen_set_copy(&replica, set, NULL);
 *     -> add and remove in both
 *     if (unseen_set_digest(set) != unseen_set_digest(replica)) ... something went wrong */

/* Makes set the union of both sets. It then has the false-positive rate of a set that was given all
 * these keys, so choose the capacity for the whole. In the union of "compact" sets a later removal
 * takes away another key with the false-positive rate.
 *
 * Arguments:
 *   - other is another object with the same filter, capacity, fpr, seed, key_bits and URL
 *     identity. The capacities of two "compact" sets may differ.
 *   - threads and cpu may differ.
 *   - cursor, unless NULL, asks for one step, which takes one piece of the other set, so that a
 *     program has time for other work between the steps. *cursor is 0 before the first step; the
 *     calls count it on. UNSEEN_MERGE_DONE says that all keys are there. Both sets may change
 *     between the steps. Keys that the other set had at the first step and has at the last one are
 *     merged; keys that came or went meanwhile may be. Replicas that take the same steps, each in
 *     the same state, stay equal.
 * Errors:
 *   - UNSUPPORTED: the filter lacks UNSEEN_CAN_MERGE; a set has a window; or the keys of two
 *     "compact" sets crowd in one place, because somebody who knows the secret made them
 *   - MISMATCH: error->setting says which setting differs
 *   - ARGUMENT: set and other are one object; a cursor of another merge
 *   - NOMEM
 *   - RANDOM: as unseen_set_add
 *   Without a cursor, the set is then as it was. Only a "compact" set that could not grow has some
 *   keys of the other set: after NOMEM call merge again for the rest. For all or nothing, merge
 *   into unseen_set_copy.
 * Threads: one, for both sets.
 * Time: linear in the memory of both. A step: 1 ms or less for sets with the filter "compact" and
 *   one thread; otherwise the first step is the whole merge. */
#define UNSEEN_MERGE_DONE UINT64_MAX
UNSEEN_API enum unseen_status unseen_set_merge(struct unseen_set *set,
    const struct unseen_set *other, uint64_t *cursor, struct unseen_error *error);

/* Makes a copy of a set, with its secret, URL identity, processor level, allocator, and number of
 * threads.
 *
 * Ownership: the caller frees *copy_out with unseen_set_free.
 * Errors:
 *   - NOMEM
 *   - RANDOM: as unseen_set_add
 *   - UNSUPPORTED: the set has a window, and was made for several threads
 * Threads: one, for the set.
 * Time: linear in the memory; 5 to 11 ns for each key. */
UNSEEN_API enum unseen_status unseen_set_copy(
    struct unseen_set **copy_out, const struct unseen_set *set, struct unseen_error *error);

/* A hash of what a set has: its secret, and every bit that decides an answer now or later. Replicas
 * have equal digests. Two sets that were given the same keys in another order have equal digests
 * with the filters "bloom", "block" and "counting"; with the others they seldom have.
 * Compare sets that were made for the same number of threads.
 *
 * The digest is for finding faults, not for proving equality to somebody who may forge a set.
 *
 * The digest of the set of a store whose image cannot be read is 0. The digest of a set with a
 * window includes its clock and the times of its keys.
 *
 * Threads: one, for the set.
 * Time: linear in the memory. */
UNSEEN_API uint64_t unseen_set_digest(const struct unseen_set *set);

/* Writes n keys of this set to buf, each in key_bits / 8 bytes (struct unseen_set_options): the
 * fewest bytes that tell a replica of a change. Returns the number of bytes written, n * 16 at
 * most.
 *
 * Time: linear in n. */
UNSEEN_API size_t unseen_set_pack_keys(
    const struct unseen_set *set, const struct unseen_key *keys, size_t n, void *buf);

/* Reads keys that unseen_set_pack_keys wrote for this set or for a replica of it.
 *
 * Arguments:
 *   - data and len are whole keys; keys has room for max of them.
 *   - *n_out is the number of keys.
 * Errors:
 *   - CORRUPT: len is not a multiple of the size of a key
 *   - SPACE: more than max keys
 * Threads: any.
 * Time: linear in len. */
UNSEEN_API enum unseen_status unseen_set_unpack_keys(const struct unseen_set *set, const void *data,
    size_t len, struct unseen_key *keys, size_t max, size_t *n_out);

/* Sets larger than memory. A set of one thread with the filter "compact" falls into parts: all keys
 * whose hi begins with the same bits. The answers about a part depend on its own keys and their
 * order alone. So a program may sort keys by part, into files, add them part after part, and drop
 * each part behind its last key. The answers are those that the same keys in their first order
 * would have had.
 *
 * unseen_set_part_bits says how many bits tell the parts apart: 0 at first, and one more each time
 * the memory of the set has doubled. 0 is also the answer for a set that has no parts: one with
 * another filter, a window, or several threads.
 *
 * unseen_set_drop_part gives the memory of a part to those that come next. The set then only takes
 * keys of other parts, and is good for nothing else but unseen_set_stats, which goes on to count
 * all keys.
 *
 * Arguments:
 *   - bits is 1 to unseen_set_part_bits of a moment before the first part was dropped.
 *   - part is the first `bits` bits of hi, as a number.
 * Errors:
 *   - ARGUMENT: bits is 0 or above 48, or part has more bits
 *   - UNSUPPORTED: the set has no parts
 *   - NOMEM: the set is good for stats only
 * Threads: one.
 * Time: linear in the memory of the directory, and of the part. */
UNSEEN_API unsigned unseen_set_part_bits(const struct unseen_set *set);
UNSEEN_API enum unseen_status unseen_set_drop_part(
    struct unseen_set *set, unsigned bits, uint64_t part);

/* ---- Files of sets -----------------------------------------------------------------------------
 * A saved set is a set as it was at one moment. A store, which comes below, remembers each change.
 * The file contains the secret. docs/format.md has the bytes. */

/* Writes the set to the file at path, durably. A file of that name is replaced in one step; an
 * error or a crash leaves it as it was. The new file keeps the owner and the rights of a file that
 * it replaces; otherwise only its owner may read it. If path is a symbolic link, the file that it
 * leads to is replaced.
 *
 * Errors:
 *   - BUSY: another process is writing it
 *   - FOREIGN: PATH.unseen-new is a link, or another user's file
 *   - IO
 *   - NOMEM
 *   - CORRUPT: the set belongs to a store whose image is damaged
 *   - UNSUPPORTED: the set has a window, and was made for several threads
 * Threads: one.
 * Time: linear in the memory, and a sync. */
UNSEEN_API enum unseen_status unseen_set_save(
    const struct unseen_set *set, const char *path, struct unseen_error *error);

/* Reads a set that unseen_set_save wrote.
 *
 * Arguments:
 *   - options->cpu, threads and allocator are used, and profile as a check: the set must have been
 *     saved with this URL identity (NULL: any). Everything else comes from the file.
 * Ownership: the caller frees *set_out with unseen_set_free. options may be NULL.
 * Errors:
 *   - MISSING
 *   - FOREIGN: the file is not a saved set
 *   - MISMATCH: it was saved with another URL identity
 *   - CORRUPT
 *   - VERSION
 *   - IO
 *   - NOMEM
 *   - RANDOM: as unseen_set_add
 *   - SIZE, ARGUMENT or UNSUPPORTED, as unseen_import_create
 * Threads: any.
 * Time: linear in the file. */
UNSEEN_API enum unseen_status unseen_set_load(struct unseen_set **set_out, const char *path,
    const struct unseen_set_options *options, struct unseen_error *error);

/* ---- Export and import of a set ----------------------------------------------------------------
 * A set as a sequence of chunks of at most UNSEEN_CHUNK_MAX bytes, each with its own checksum, so
 * that no reader needs one huge piece: a header, the pieces of the filter, an end mark.
 * docs/format.md has the bytes. The chunks contain the secret.
 *
 * To write a set:
 *
 *     uint64_t cursor = 0;
 *     size_t len;
 *     while (unseen_set_export(set, &cursor, buf, sizeof(buf), &len) == UNSEEN_OK && len > 0) {
 *         write len, then len bytes of buf
 *     }
 *
 * To read it:
 *
 *     unseen_import_create(&import, &options, &error);
 *     for each chunk: unseen_import_chunk(import, buf, len);
 *     unseen_import_finish(import, &set);
 *
 * Chunks may come from anywhere: a damaged, forged or incomplete sequence is refused, and the
 * allocator of the import limits the memory it can take. The importing machine may have another
 * byte order, another processor level and another number of threads. */

#define UNSEEN_CHUNK_MAX ((size_t)65536)

/* Writes the next chunk into buf.
 *
 * Arguments:
 *   - *cursor is 0 before the first call; the calls count it on.
 *   - *len_out is the length of the chunk; 0 says that the export is complete.
 *   - The set must not change between the calls.
 * Errors:
 *   - SPACE: cap is below UNSEEN_CHUNK_MAX
 *   - ARGUMENT: a cursor of another export
 *   - UNSUPPORTED: the set has a window, and was made for several threads
 * Threads: one.
 * Time: linear in the chunk. */
UNSEEN_API enum unseen_status unseen_set_export(
    const struct unseen_set *set, uint64_t *cursor, void *buf, size_t cap, size_t *len_out);

struct unseen_import;

/* Begins an import.
 *
 * Arguments:
 *   - options->cpu, threads and allocator are used, and profile as a check: the set must have this
 *     URL identity (NULL: any). The rest comes from the chunks.
 * Ownership: the caller ends the import with unseen_import_finish or unseen_import_free.
 * Errors:
 *   - SIZE
 *   - ARGUMENT
 *   - NOMEM
 * Threads: any.
 * Time: constant. */
UNSEEN_API enum unseen_status unseen_import_create(struct unseen_import **import_out,
    const struct unseen_set_options *options, struct unseen_error *error);

/* Takes one whole chunk: the header first, the others in any order. Everything in a chunk is
 * checked.
 *
 * The header of a filter that does not grow says how much memory the set takes, and the allocator
 * is asked for all of it at once. The pieces fill it: with the default allocator, memory that no
 * piece fills is not used. An allocator that refuses is the limit for chunks that are not trusted.
 *
 * Errors:
 *   - CORRUPT
 *   - VERSION
 *   - MISMATCH: the set has another URL identity than options->profile, or the chunk is of another
 *     export: of another set, or of the same set before or after a change
 *   - NOMEM
 *   - RANDOM: as unseen_set_add
 *   - ARGUMENT or UNSUPPORTED (cpu, at the header)
 *   After an error the import can only be freed.
 * Threads: one.
 * Time: linear in the chunk. */
UNSEEN_API enum unseen_status unseen_import_chunk(
    struct unseen_import *import, const void *chunk, size_t len);

/* Checks that no chunk is missing, hands over the set, and frees the import in either case.
 *
 * Ownership: the caller frees *set_out.
 * Errors:
 *   - CORRUPT
 *   - NOMEM
 * Threads: one.
 * Time: linear in the memory at worst. */
UNSEEN_API enum unseen_status unseen_import_finish(
    struct unseen_import *import, struct unseen_set **set_out);

/* Gives up an import. import may be NULL.
 *
 * Threads: one.
 * Time: as unseen_set_free. */
UNSEEN_API void unseen_import_free(struct unseen_import *import);

/* ---- URL identity ------------------------------------------------------------------------------
 * The same page is the same key. A canonicaliser turns each spelling of a URL into one canonical
 * text, under a profile: a named, frozen set of rules with a version.
 *
 *     struct unseen_url *url;
 *     char buf[4096];
 *     struct unseen_canon canon;
 *     if (unseen_url_create(&url, NULL, NULL) != UNSEEN_OK) ...
 *     if (unseen_url_canon(url, "HTTP://E.com:80/a/../b#c", 24, NULL, buf, 4096, &canon)) ...
 *     -> canon.form = UNSEEN_URL_REWRITTEN, canon.bytes = "http://e.com/b"
 *
 * Sets and stores do this by themselves. docs/url-identity.md says which profile is for whom,
 * what each merges on real lists, and what it can wrongly merge. The profiles:
 *
 *     none          plain bytes: no canonical form
 *     whatwg        the WHATWG URL standard, as browsers write a URL, with its fragment
 *     crawl         whatwg without the fragment: the same request (the default)
 *     scrapy        canonicalize_url of w3lib, as Scrapy's duplicate filter
 *     safebrowsing  the canonical form of Safe Browsing v4, for lists of bad sites
 *     aggressive    probably the same page: http = https, no www, trackers or sessions, sorted */

struct unseen_url_options {
    size_t size; /* sizeof(struct unseen_url_options) */

    /* "none", "whatwg", "crawl", "scrapy", "safebrowsing" or "aggressive"; "crawl/1" with the
     * version of the profile; or an id that unseen_url_id gave. NULL means "crawl". */
    const char *profile;

    /* The names of nrules rules to switch on, or off with a leading "no-". The rules drop-params
     * and only-params need the names of parameters behind them:
     * "drop-params(ref,utm_*,news.example:page)", where a * at the end stands for any rest, and a
     * host limits the name to that host and all below it. (Beside strip-www, the hosts of
     * only-params are written without the www. that it drops.) */
    const char *const *rules;
    size_t nrules;

    enum unseen_cpu cpu;
    const struct unseen_allocator *allocator; /* copied; its context must outlive the object */
};

/* Creates a canonicaliser. It never changes afterwards.
 *
 * Ownership: the caller frees *url_out with unseen_url_free. options may be NULL.
 * Errors:
 *   - SIZE
 *   - NAME: no such profile or rule
 *   - ARGUMENT: a rule that the profile does not have; a pattern that names no parameter; rules
 *     that contradict each other; an id of more than UNSEEN_URL_ID_MAX bytes
 *   - VERSION: a version of a profile or rule that this library does not have
 *   - UNSUPPORTED: cpu
 *   - NOMEM
 *   error->setting says which setting is wrong.
 * Threads: any.
 * Time: microseconds. */
UNSEEN_API enum unseen_status unseen_url_create(struct unseen_url **url_out,
    const struct unseen_url_options *options, struct unseen_error *error);

/* Frees the canonicaliser. url may be NULL.
 *
 * Threads: one. */
UNSEEN_API void unseen_url_free(struct unseen_url *url);

/* The identity of the canonicaliser as text, such as "crawl/1" or "crawl/1+strip-trackers": the
 * profile, its version, and each rule that differs from the profile. Profiles and rules are frozen:
 * each change of an answer is a new version. Keys made under different texts do not belong in one
 * set. Valid as long as the object. */
UNSEEN_API const char *unseen_url_id(const struct unseen_url *url);

/* The longest such text, in bytes. Files have room for it. */
#define UNSEEN_URL_ID_MAX 4095

/* The size of a buffer that is enough for any URL of len bytes, and for any reference of len bytes
 * against a base of base_len bytes (0: no base). 0 if a size_t cannot hold it. */
UNSEEN_API size_t unseen_url_bound(size_t len, size_t base_len);

enum unseen_url_form {
    UNSEEN_URL_UNCHANGED = 0, /* the input is its own canonical form */
    UNSEEN_URL_REWRITTEN = 1, /* the canonical form is another text */
    UNSEEN_URL_FAILED = 2     /* not a URL under this profile: the input bytes are the identity */
};

struct unseen_canon {
    enum unseen_url_form form;

    /* The identity; never missing. UNCHANGED and FAILED: the input itself. REWRITTEN: bytes in the
     * caller's buffer, or a part of the input. */
    struct unseen_bytes bytes;
};

/* Makes the canonical form of data[0..len). It allocates nothing (libidn2 does, for a host that is
 * not ASCII).
 *
 * Arguments:
 *   - base, unless NULL, is the URL of the document in which data was found: a reference, such as
 *     "../b" or "//e.com/", which is resolved by the WHATWG standard and then canonicalised. The
 *     form is FAILED if the base is not a URL.
 *   - buf has cap bytes and does not overlap data.
 *   - unseen_url_bound(len, base ? base->len : 0) bytes are always enough; fewer may be enough for
 *     a URL without a base that needs little work.
 * Errors: SPACE.
 * Threads: any.
 * Time: linear; n log n where scrapy sorts the query. */
UNSEEN_API enum unseen_status unseen_url_canon(const struct unseen_url *url, const void *data,
    size_t len, const struct unseen_bytes *base, void *buf, size_t cap,
    struct unseen_canon *canon_out);

/* The most expressions of a URL: 5 hosts times 6 paths. */
#define UNSEEN_EXPRESSIONS_MAX 30

/* Makes the host-suffix/path-prefix expressions of a URL, by which a list of sites, folders and
 * pages (Safe Browsing v4) is asked. The URL is read as browsers read it, by the WHATWG standard,
 * and then canonicalised as by the profile "safebrowsing", whatever the profile of url is. A text
 * that is not a URL by the standard is read by that profile alone. Lists of unseen_list.h ask for
 * more: suffixes of up to eight labels.
 *
 * Arguments:
 *   - *n_out is the number of expressions, most specific first; 0 if data is not a URL.
 *   - They lie in buf, which needs up to unseen_url_bound(len, 0) bytes.
 * Errors: SPACE.
 * Threads: any.
 * Time: linear in len times *n_out. */
UNSEEN_API enum unseen_status unseen_url_expressions(const struct unseen_url *url, const void *data,
    size_t len, void *buf, size_t cap, struct unseen_bytes expressions[UNSEEN_EXPRESSIONS_MAX],
    size_t *n_out);

/* Makes the SURT key of a URL, "com,example)/path?query", by which web archives sort their pages:
 * the key that stands in CDX files. The published rules are used, whatever a profile would do: no
 * scheme, no www, small letters, sorted parameters.
 *
 * Arguments:
 *   - keep_www keeps the www of a host, "com,example,www)/", for CDX files whose keys have it.
 *   - *surt_out is the key, in buf; its data is NULL if `data` is not a URL.
 *   - buf needs unseen_url_bound(2 * len, 0) bytes.
 * Errors: SPACE.
 * Threads: any.
 * Time: linear. */
UNSEEN_API enum unseen_status unseen_url_surt(const void *data, size_t len, bool keep_www,
    void *buf, size_t cap, struct unseen_bytes *surt_out);

/* One step of a canonicalisation: the rule, and the part of the URL before and after. The texts are
 * valid during the call of `step`. For "HTTP://E.com:80/" the steps are:
 *
 *     rule          before   after
 *     scheme-case   HTTP     http
 *     host-case     E.com    e.com
 *     port          :80      (nothing) */
struct unseen_url_step {
    const char *rule;
    const char *sentence; /* what the rule does; static text */
    struct unseen_bytes before;
    struct unseen_bytes after;
};

/* As unseen_url_canon; calls `step` once for each rule that changed something, in order. The steps
 * of scrapy and safebrowsing are the parts of the URL that changed. If the form is FAILED, the last
 * step says why: `before` is the part that is wrong, and `after` is empty.
 *
 * Arguments:
 *   - buf needs up to unseen_url_bound(2 * len, 0) bytes.
 * Errors: SPACE.
 * Threads: any.
 * Time: several times as long as unseen_url_canon. */
UNSEEN_API enum unseen_status unseen_url_explain(const struct unseen_url *url, const void *data,
    size_t len, void *buf, size_t cap,
    void (*step)(void *context, const struct unseen_url_step *step), void *context,
    struct unseen_canon *canon_out);

/* A profile or a rule, and what it does in one sentence. */
struct unseen_url_entry {
    const char *name;
    const char *sentence;
};

/* The i'th profile or rule; NULL past the last. Static. */
UNSEEN_API const struct unseen_url_entry *unseen_url_profile_at(size_t i);
UNSEEN_API const struct unseen_url_entry *unseen_url_rule_at(size_t i);

/* ---- Shards ------------------------------------------------------------------------------------
 * Which of n machines, files or keys of a cluster a URL belongs to. Every program of unseen gives
 * the same answer: this function, `unseen canon --shard`, the command UNSEEN.SHARD of the server
 * module, and unseen.shard in Python. Shards need no shared secret; but whoever makes the input can
 * fill one shard. The tool calls a shard a share. docs/format.md has the definition, "Shares".
 *
 *     uint32_t i = unseen_shard("http://e.com/", 13, 20);      -> 0 to 19
 *
 * All spellings of a URL have one shard if the bytes are the canonical form of unseen_url_canon. */

/* The shard of an identity: 0 to n - 1. n is 1 or more.
 *
 * Time: as long as two keys take. */
UNSEEN_API uint32_t unseen_shard(const void *identity, size_t len, uint32_t n);

#define UNSEEN_SHARD_TAGS_MAX 16384

/* A set over n keys of a Redis or Valkey cluster has the keys NAME:{TAG}, one for each shard. The
 * tags put the keys on equal parts of the cluster's hash slots. Fills in the tags of n shards: tag
 * i is the smallest number which, written in decimal, has a hash slot from i * 16384 / n on and
 * below (i + 1) * 16384 / n.
 *
 * Errors:
 *   - ARGUMENT: n is not from 1 to UNSEEN_SHARD_TAGS_MAX
 * Threads: any.
 * Time: n log n; 10 us for 16 shards, 4 ms for 16384. */
UNSEEN_API enum unseen_status unseen_shard_tags(uint32_t n, uint32_t *tags);

/* ---- Store -------------------------------------------------------------------------------------
 * A set that outlives the process: a file, the log, with every key that was committed. Beside the
 * log lies PATH.image, a copy of the set that makes opening fast; it may be deleted at any time.
 * docs/format.md has the bytes of both.
 *
 *     struct unseen_store_options options = {.size = sizeof(options), .mode = UNSEEN_STORE_CREATE};
 *     unseen_store_open(&store, "visited.unseen", &options, &error);
 *     unseen_store_add(store, urls, n, verdicts, NULL);
 *     -> hand over each URL that is NEW: print it, queue it, fetch it
 *     unseen_store_commit(store, &error);
 *     unseen_store_close(store, &error);
 *
 * The rule that keeps every URL: first hand over, then commit. The store remembers committed URLs
 * after kill -9 and power cuts. It forgets URLs that were not committed, and they will be new
 * again. So a crash repeats the URLs of the last commit at most, and loses none.
 *
 * One process writes at a time; any number of processes read. After a failed commit the store
 * takes no more changes (STOPPED): close it, and open it again when the cause is gone. A store has
 * a thread of its own for commits; a child process made by fork must not use it. Stores are not
 * for network file systems.
 *
 * A stream of URLs need not wait for each commit. The store's thread commits while the program
 * goes on; changes that come meanwhile wait for the next commit:
 *
 *     for each batch:
 *         unseen_store_add(store, urls, n, verdicts, NULL);
 *         hand over the NEW ones
 *         unseen_store_commit_begin(store, UINT64_MAX, 0, &error);
 *     unseen_store_commit_poll(store, true, NULL, &error);
 *
 * To have each line of an output file exactly once, also after a crash, name the file before the
 * first add, and say with each commit how long it is:
 *
 *     uint64_t len;
 *     unseen_store_output(store, fd, "/data/new-urls", &len, &error);
 *     for each batch:
 *         add; pwrite the lines that are NEW at len, and count len on
 *         unseen_store_commit_begin(store, UINT64_MAX, len, &error); */

struct unseen_store;

enum unseen_store_mode {
    UNSEEN_STORE_READ = 0,   /* the store exists, and is not written to */
    UNSEEN_STORE_WRITE = 1,  /* the store exists */
    UNSEEN_STORE_CREATE = 2, /* the store is made if it does not exist */
    UNSEEN_STORE_DRAFT = 3   /* as CREATE, but nothing is on the disk before unseen_store_publish */
};

struct unseen_store_options {
    size_t size; /* sizeof(struct unseen_store_options) */
    enum unseen_store_mode mode;

    /* The settings of the store, from here to `like`, are written into it when it is made. For a
     * store that exists, 0 and NULL mean the setting that it has; any other is a MISMATCH. */
    const char *profile; /* URL identity: a name or an id; NULL makes "crawl" */
    const char *filter;  /* NULL makes "compact". A store has each key once: it does not count */
    double fpr;          /* 0 makes UNSEEN_FPR_DEFAULT */
    unsigned key_bits;   /* 64, 96 or 128 bits of each key are kept. 0 makes 64, or 96 if "compact"
                          * needs them, for a rate below 5.5e-10 */
    const void *seed;    /* as in struct unseen_set_options */
    size_t seed_len;

    /* A store whose settings this one gets, its secret included. */
    const struct unseen_store *like;

    /* The number of keys to make room for; a setting only where the filter has a capacity. */
    uint64_t capacity;

    /* Make a store without a log: its image, written at close, is all there is: a file of the
     * filter's bits. It takes less disk, but a crash forgets everything since the last close, and
     * a damaged image cannot be made anew. If the filter cannot remove and some changes were never
     * handed to a commit, the close is UNSUPPORTED and forgets everything since the last one. */
    bool no_log;

    enum unseen_cpu cpu;
    const struct unseen_allocator *allocator; /* copied; its context must outlive the store */

    /* A descriptor above 0 that the store's thread writes 8 bytes to, as eventfd(2) takes them,
     * after each commit, and after a commit that failed. Borrowed until close; it must not block.
     * 0: none. A program with an event loop then calls unseen_store_commit_poll. Before it is
     * closed, the store rewrites itself only if three quarters of the log are dead, as that takes a
     * while. */
    int notify_fd;

    /* Who may open the store, as in chmod: 0600 and any of 0066. 0 makes 0600, whatever the umask
     * is: whoever reads the secret in the file can make URLs that hide others. This is a setting of
     * the store. The image, and files that a rewrite or a repair makes, get the owner, the group
     * and the rights that the store has then, as far as the process may give them. */
    unsigned file_mode;

    /* Settings of the store: the shape of the filter, as in struct unseen_set_options. */
    double bits_per_key;
    unsigned hashes;

    /* A setting of the store: it forgets by time. A key is seen for so many milliseconds after it
     * was last new, 1,000 to 100 years; a repeat does not prolong it. unseen_store_expire tells the
     * time, and must before the first add (ARGUMENT). "compact" and "counting" take a window; a
     * store without a log does not.
     * UNSEEN_NO_WINDOW: none. */
    uint64_t window;

    /* For unseen_store_rewrite: what time it is, as in unseen_store_expire; 0: not known. And
     * whether the clock of the store, which never goes back, is set to that time if it is ahead:
     * keys with a later time get this one, and the others keep theirs. */
    uint64_t now;
    bool resets_clock;

    /* A limit for the set, in bytes, from 1 MiB up; 0: none. A store whose set would take more than
     * half of it is opened in parts ("Stores larger than memory"). */
    uint64_t memory;

    /* READ: the store is opened for unseen_store_keys, unseen_store_info and unseen_store_merge
     * (as `from`), or to be the `like` of another one. It takes no memory for its set, and each
     * question is STOPPED. A store with a window has its set all the same. */
    bool keys_only;
};

#define UNSEEN_NO_WINDOW UINT64_MAX

/* Opens or makes the store at path. After a crash, everything committed is recovered, and a torn
 * end of the log is cut off (info.torn_bytes).
 *
 * Ownership: the caller closes *store_out with unseen_store_close. options may be NULL: READ.
 * Errors:
 *   - MISSING
 *   - FOREIGN
 *   - VERSION
 *   - MISMATCH: error->setting says which setting differs
 *   - CORRUPT: unseen_store_repair can help
 *   - BUSY
 *   - IO
 *   - as unseen_set_create and unseen_url_create
 * Threads: any; of several that make one store, one makes it and the others open it.
 * Time: linear in the rest of the log and, up to 8 MiB of image, in the image (about 6 bytes per
 *   key). Most of a larger image of "compact" is read when keys are first asked for. Without an
 *   image, linear in the whole log (8 bytes per key). */
UNSEEN_API enum unseen_status unseen_store_open(struct unseen_store **store_out, const char *path,
    const struct unseen_store_options *options, struct unseen_error *error);

/* The set in memory, with everything added so far, for keys, questions and statistics. Valid as
 * long as the store. Only the functions below change it.
 *
 * If a large image was damaged or cut short since it was written, functions on the set that meet
 * the damaged part return CORRUPT or IO, and give no verdict: unseen_store_repair can help. */
UNSEEN_API const struct unseen_set *unseen_store_set(const struct unseen_store *store);

/* Takes over what other processes have committed since the store was opened to READ, or refreshed.
 * A commit is taken over whole or not at all. If the log was written anew (rewritten, merged,
 * repaired), or a failed commit was cut off, the store is read anew. info.replayed says how many
 * changes were read. A store that is open to write has everything already: nothing happens.
 *
 * The set of unseen_store_set stays, and so do keys that were made by it.
 *
 * Errors: the answers are those before the call, or those before the damaged commit; a later call
 *   tries again.
 *   - MISMATCH: another store has taken the name; error->setting says in what it differs
 *   - MISSING: nothing has the name any more
 *   - NOMEM: a part of a commit may have been taken over
 *   - as unseen_store_open
 * Threads: one; meanwhile others may make keys, but not ask the set.
 * Time: microseconds, and linear in the changes. A log that was written anew is read as by
 *   unseen_store_open, and takes the memory of a second set meanwhile; so is, if it has changed at
 *   all, a store without a log. */
UNSEEN_API enum unseen_status unseen_store_refresh(
    struct unseen_store *store, struct unseen_error *error);

/* As unseen_set_add, _remove and so on. If they meet a part of the image that cannot be read, the
 * store stops, and the next commit says so. Each NEW of an add, and each SEEN of a remove, is a
 * change that waits to be committed. A store is a set, also with a filter that counts: to add a key
 * that is SEEN changes nothing, and one removal makes it NEW again.
 *
 * A removal is exact, unlike that of a set: a key that was never added, or whose add was answered
 * SEEN, is not in the log, so it is answered NEW, and no other key is taken away. A store without a
 * log removes as its set does.
 *
 * Errors:
 *   - as the functions of a set
 *   - READONLY
 *   - STOPPED; of a removal also if the log cannot be read
 *   - ARGUMENT: keys of another width
 * Threads: one.
 * Time: as for the set, and 9 to 17 bytes of memory for each change until it is durable. The first
 *   removal of an item that the set has reads the log, and from then on up to 2^20 keys are kept in
 *   memory, at 24 to 48 bytes each. A store of more keys is read by each call, once for 65,536
 *   items: so remove many in a call. */
UNSEEN_API enum unseen_status unseen_store_add(struct unseen_store *store,
    const struct unseen_bytes *items, size_t n, uint8_t *verdicts, size_t *ndone_out);
UNSEEN_API enum unseen_status unseen_store_remove(struct unseen_store *store,
    const struct unseen_bytes *items, size_t n, uint8_t *verdicts, size_t *ndone_out);
UNSEEN_API enum unseen_status unseen_store_add_keys(struct unseen_store *store,
    const struct unseen_key *keys, size_t n, uint8_t *verdicts, size_t *ndone_out);
UNSEEN_API enum unseen_status unseen_store_remove_keys(struct unseen_store *store,
    const struct unseen_key *keys, size_t n, uint8_t *verdicts, size_t *ndone_out);

/* As unseen_set_contains. Open to read or to write.
 *
 * Errors:
 *   - NOMEM: there was no buffer for a URL of about 2,000 bytes or more
 *   - STOPPED: a sweep failed ("Stores larger than memory")
 *   - CORRUPT or IO: a part of the image cannot be read, so nobody knows the answer;
 *     unseen_store_repair makes the image anew
 * Threads: one.
 * Time: as for the set. */
UNSEEN_API enum unseen_status unseen_store_contains(const struct unseen_store *store,
    const struct unseen_bytes *items, size_t n, uint8_t *verdicts, size_t *ndone_out);

/* Allows keys that the filter takes for seen by error: it answers SEEN, but they were never added.
 * From now on such a key is answered NEW, whatever the filter says, until it is added, and again
 * when it is removed later. Its add is a change as any other, and no removal of another key takes
 * it away. What is allowed is the exact key that the store keeps. It stays allowed when the store
 * is rewritten, and in a store that this one is merged into, unless that has added the key.
 *
 * The keys are allowed durably on return. After an error they are not allowed; after IO some may be
 * when the store is opened again.
 *
 * Arguments:
 *   - verdicts[i] is SEEN if the store has keys[i], which is then not allowed: unseen_store_remove
 *     makes it NEW. Otherwise it is NEW now; if it was NEW before, nothing has changed.
 * Errors:
 *   - UNSUPPORTED: no log
 *   - ARGUMENT: changes wait: commit them first; or keys of another width
 *   - CORRUPT: the log or the image is damaged
 *   - as unseen_store_commit
 * Threads: as unseen_store_add.
 * Time: the log is read once, unless all keys are NEW, and a sync. An allowed key takes 24 to 64
 *   bytes of memory, also in every reader. */
UNSEEN_API enum unseen_status unseen_store_allow(struct unseen_store *store,
    const struct unseen_key *keys, size_t n, uint8_t *verdicts, struct unseen_error *error);

/* Tells the store what time it is, and lets keys leave that have been there for the length of its
 * window. The library reads no clock. Call it before adding keys, with the time at which they come;
 * in a store without a window, too: the log keeps the times for a window that it may get later.
 *
 *     unseen_store_expire(store, now, 4096, NULL);
 *     unseen_store_add(store, urls, n, verdicts, NULL);
 *
 * A key leaves not before its window ends, and by the first call that is max(1 s, window / 1000)
 * later, whether its change is committed or not. The latest time counts: an earlier one changes
 * nothing. Nothing is written when keys leave. A store that is only read lets keys leave, too.
 *
 * Arguments:
 *   - now is in milliseconds since 1970. A store keeps times from 250 to the end of 2099: an
 *     earlier or later one counts as the nearest of these.
 *   - max is the number of keys that may leave, so that a call takes no longer than an add. Keys
 *     that would otherwise leave too late leave in any case.
 *   - *next_out, unless NULL, is a time. Calls with times before it change nothing, so keys may
 *     share one. 0: max was too low for all that are due.
 * Errors:
 *   - as unseen_store_add
 *   - CORRUPT or IO, of a store that is only read: unseen_store_refresh opens it anew
 * Threads: as unseen_store_add.
 * Time: constant, and linear in the keys that leave. */
UNSEEN_API enum unseen_status unseen_store_expire(
    struct unseen_store *store, uint64_t now, size_t max, uint64_t *next_out);

/* As unseen_set_reserve, for the set of a store. The room is not recorded: when the store is opened
 * again, its set is as large as its keys need.
 *
 * Errors:
 *   - as unseen_set_reserve
 *   - as unseen_store_add
 * Threads: as unseen_store_add.
 * Time: as unseen_set_reserve. */
UNSEEN_API enum unseen_status unseen_store_reserve(struct unseen_store *store, uint64_t nkeys);

/* Commits all waiting changes, and returns when they are durable. If more than half of the log, and
 * more than 1 MiB, is removed keys, the log is written anew first, as by unseen_store_rewrite; so
 * do unseen_store_commit_begin and unseen_store_close.
 *
 * Errors:
 *   - READONLY
 *   - of this or an earlier commit: IO, NOMEM
 * Threads: one.
 * Time: two syncs of the disk. */
UNSEEN_API enum unseen_status unseen_store_commit(
    struct unseen_store *store, struct unseen_error *error);

/* Hands the first nchanges of the waiting changes (UINT64_MAX: all) to the thread that commits. It
 * returns at once, or when fewer than about 30,000 changes wait for that thread. The changes are
 * durable within about 50 ms and two syncs of the disk.
 *
 * Arguments:
 *   - output_len is the length of the output up to which no line belongs to a later change
 *     (unseen_store_output with a name; otherwise 0).
 * Errors:
 *   - as unseen_store_commit
 *   - ARGUMENT: with a named output: a length below the last one, or more than 262,144 changes
 * Threads: one.
 * Time: linear in the changes. */
UNSEEN_API enum unseen_status unseen_store_commit_begin(
    struct unseen_store *store, uint64_t nchanges, uint64_t output_len, struct unseen_error *error);

/* Says how many of the changes handed over since the store was opened are durable, in the order in
 * which they were made. It lets the thread that commits begin at once.
 *
 * Arguments:
 *   - wait: return when all of them are durable.
 *   - ndurable_out may be NULL.
 * Errors: as unseen_store_commit; *ndurable_out is filled in all the same.
 * Threads: one.
 * Time: microseconds; with wait, up to two syncs of the disk. */
UNSEEN_API enum unseen_status unseen_store_commit_poll(
    struct unseen_store *store, bool wait, uint64_t *ndurable_out, struct unseen_error *error);

/* Commits all waiting changes. Of a DRAFT, all changes since it was opened become part of the store
 * in one step: after an error, a crash, or a close without this call the store is as it was before,
 * or does not exist. From here on the store is as any other. A draft is a copy of the log
 * (PATH.draft.unseen-new), which takes the disk of both meanwhile; readers see the store as it was,
 * and no other process can write to it. A draft keeps no output file. A store without a log is on
 * the disk when it is closed.
 *
 * Errors:
 *   - as unseen_store_commit
 *   - BUSY: another process has made the store meanwhile, or another one in its place
 * Threads: one.
 * Time: a commit, and two syncs. */
UNSEEN_API enum unseen_status unseen_store_publish(
    struct unseen_store *store, struct unseen_error *error);

/* Exactly once: names the file that lines are handed over to. Each commit then syncs fd before it
 * writes keys. With a name, the store also remembers how long the file is and how it ends. If the
 * same file is named after a crash, it is cut to the last commit; the URLs of the lines that were
 * cut will be new again. So the file has each line once.
 *
 * Once a line was committed, the store knows the file again after a rename, under another mount, or
 * as a copy of the same name beside a copy of the store. Its bytes before the cut are checked in
 * any case. Another file is never cut. If it takes the place of a file that an interrupted run
 * wrote and that is gone, the lines behind the last commit come again (output_interrupted above).
 *
 * Arguments:
 *   - fd is open for reading and writing, and borrowed until close.
 *   - name is the absolute path of the file, whose directory entry is synced; NULL: sync only.
 *   - *len_out is the length from which to write on.
 *   - Call it before the first add.
 *   - Bytes that are cut off are appended to NAME.cut, which only the owner may read.
 *   - A named file stays locked until fd is closed: it has one writer at a time.
 * Errors:
 *   - BUSY: another run, also one of another store, writes to the file
 *   - READONLY
 *   - ARGUMENT
 *   - IO
 *   - CORRUPT: others changed the file, so that the cut is uncertain; it is left as it is
 *   - MISMATCH: the file may be the one that an interrupted run wrote, renamed, or another one
 *   - STOPPED: another file, which an interrupted run wrote, is still there and has to be cut first
 *   - FOREIGN: NAME.cut is a link, or another user's file
 * Threads: one.
 * Time: a sync; after a crash, linear in the bytes that are cut off. */
UNSEEN_API enum unseen_status unseen_store_output(struct unseen_store *store, int fd,
    const char *name, uint64_t *len_out, struct unseen_error *error);

/* Waits for the commits that were begun, writes the image if that will save time, and frees the
 * store in any case. Changes that were not handed to a commit are forgotten.
 *
 * Errors:
 *   - as unseen_store_commit
 *   - IMAGE: the next opening takes longer
 *   - CORRUPT: all is committed, but damage was met; unseen_store_repair mends it
 *   - UNSUPPORTED: no log, and changes that the filter cannot take back
 * Threads: one.
 * Time: two syncs; with an image to write, linear in the memory of the set. */
UNSEEN_API enum unseen_status unseen_store_close(
    struct unseen_store *store, struct unseen_error *error);

/* Keeps a number in the log, for the program: such as the id of a file that belongs to the store.
 * The note goes where the log goes. It is durable on return, and stays when the store is written
 * anew, repaired or merged into. Waits for the commits that were begun.
 *
 * Errors:
 *   - UNSUPPORTED: no log, or a draft
 *   - as unseen_store_commit
 * Threads: as unseen_store_add.
 * Time: a sync. */
UNSEEN_API enum unseen_status unseen_store_note(
    struct unseen_store *store, uint64_t note, struct unseen_error *error);

/* The state of an open store; unseen_set_stats of its set has the rest. */
struct unseen_store_info {
    size_t size; /* sizeof(struct unseen_store_info), set by the caller */
    uint64_t log_bytes;
    uint64_t image_bytes;  /* 0: there is no image */
    uint64_t image_covers; /* bytes of the log that the image in use makes unnecessary */
    uint64_t replayed;     /* changes read from the log, at open or by the last refresh */
    uint64_t torn_bytes;   /* cut from the end of the log at open */
    bool image_damaged;    /* there was a damaged image: the log was used */
    bool header_damaged;   /* one of the two headers is damaged: the other was used */
    bool no_log;
    unsigned key_bits;
    double fpr;       /* the setting */
    uint64_t seed_id; /* equal in stores with equal secrets; tells nothing else about the secret */
    uint8_t id[16];   /* of this log */

    /* The output file that was named last (unseen_store_output), as the store found it: NULL if
     * none was. The string is valid until another file is named, or the store is closed. */
    const char *output;
    uint64_t output_len;     /* up to here its lines are committed */
    bool output_interrupted; /* not closed in order: lines that are not committed may follow */

    uint64_t dead_bytes; /* of log_bytes: removed keys and their removals, about */

    /* The settings; 0: they follow from fpr */
    double bits_per_key;
    unsigned hashes;

    /* The URL identity; NULL if the bytes are the identity. Valid as long as the store. */
    const struct unseen_url *url;

    bool is_new; /* this opening has made the store */

    uint64_t note; /* of unseen_store_note; 0: none */

    uint64_t nallowed; /* keys of unseen_store_allow that were not added since */

    uint64_t window; /* in milliseconds; 0: none, and the next two are 0 */
    uint64_t oldest; /* when the oldest key came; 0: no key, or no time was told */
    uint64_t clock;  /* the latest time that the store knows; 0: none */

    bool in_parts; /* options.memory was not enough for all of the set */
};

/* Fills in as much of *info_out as info_out->size says.
 *
 * Errors: SIZE.
 * Threads: one.
 * Time: linear in the keys that were allowed; with a window, a record of the log may be read. */
UNSEEN_API enum unseen_status unseen_store_info(
    struct unseen_store *store, struct unseen_store_info *info_out);

/* How many keys leave within the next tenth of the window, from the time that was told last.
 *
 * Errors:
 *   - UNSUPPORTED: no window, or the store is open to write
 *   - IO
 *   - CORRUPT
 *   - NOMEM
 * Threads: one.
 * Time: their records are read from the log. */
UNSEEN_API enum unseen_status unseen_store_leaving(
    struct unseen_store *store, uint64_t *nkeys_out, struct unseen_error *error);

/* Calls `each` with all keys that are committed and were not removed since, n at a time, in the
 * order in which they were added, until `each` returns false. A store with a window that is only
 * read is refreshed first (unseen_store_refresh).
 *
 * Errors:
 *   - UNSUPPORTED: no log
 *   - IO
 *   - CORRUPT
 *   - NOMEM
 * Threads: one.
 * Time: the log is read twice; each removal takes 24 bytes of memory meanwhile. */
UNSEEN_API enum unseen_status unseen_store_keys(struct unseen_store *store,
    bool (*each)(void *context, const struct unseen_key *keys, size_t n), void *context,
    struct unseen_error *error);

/* Adds every key of from to store, and commits. Both need the same seed and URL identity; from must
 * not have shorter keys.
 *
 * If store has a window, the keys are merged by time, and the log of store is written anew. Each
 * key of from leaves when its own time says; a key that both have leaves when the later one would.
 * The window and, of both clocks, the later one count: what has left the window by then, or has
 * left that of from, is not added. The keys of a store without a window come at the time of store.
 *
 * Arguments:
 *   - *nnew_out is the number of keys that were new.
 *   - progress, unless NULL, is called now and then with how many keys of from are done, and how
 *     many of these were new. If it returns false, the merge ends (STOPPED).
 * Errors, after which some keys may have been added:
 *   - MISMATCH: error->setting says which setting differs; no key was added
 *   - ARGUMENT: store has a window, and neither of them was ever told the time
 *   - READONLY
 *   - STOPPED
 *   - as unseen_store_keys and as commits
 * Threads: one, for both.
 * Time: as unseen_store_keys, and an add for each key. By time: both logs are read up to six times
 *   and one is written; each key that both have takes 24 to 64 bytes of memory meanwhile. */
UNSEEN_API enum unseen_status unseen_store_merge(struct unseen_store *store,
    struct unseen_store *from, uint64_t *nnew_out,
    bool (*progress)(void *context, uint64_t ndone, uint64_t nnew), void *context,
    struct unseen_error *error);

/* Stores larger than memory. A store with the filter "compact", a log and no window is opened in
 * parts if its set would take more than half of options.memory (info.in_parts). Then a question
 * reads one page of 4 KiB from the image, unless the kernel has it, and keys that are added stay in
 * memory beside it, up to a quarter of the limit. A commit then takes the time to write a new
 * image. Both sets are asked; the one in memory has a rate of 5.5e-10 at most, so the rate stays
 * that of the image. Keys cannot be removed or allowed.
 *
 * A sweep is the way to add many keys at once, to such a store and to any other one without a
 * window: the set is read part after part ("Sets larger than memory"), gets the new keys of each,
 * and goes to a new image.
 *
 *     options.memory = limit;
 *     unseen_store_open(&store, "visited.unseen", &options, &error);
 *     bits = unseen_set_part_bits(unseen_store_set(store));
 *     put the keys, by part, into files
 *     unseen_store_commit(store, &error); -> no change waits
 *     for each part, from 0 on:
 *         unseen_store_load_part
 *         unseen_store_add_to_part -> keep the verdicts
 *         unseen_store_save_part
 *     for each of the keys, in their first order, that was NEW:
 *         hand it over; unseen_store_note_keys; unseen_store_commit_begin now and then
 *     unseen_store_commit(store, &error);
 *     unseen_store_close(store, &error); -> the new image takes the place of the old one
 *
 * From the first part on, all functions that ask or change keys in another way are UNSUPPORTED, and
 * the set is good for keys and numbers.
 *
 * A crash leaves what was committed, and the old image. Keys that were not noted and committed are
 * new again; the new image is then not used.
 *
 * Arguments:
 *   - bits is unseen_set_part_bits of the set before the first part was loaded, or less, but not 0.
 *   - parts come in their order.
 * Errors:
 *   - ARGUMENT: other bits, or another part; a change waits; a part before was not saved
 *   - READONLY: the store was opened to be read
 *   - UNSUPPORTED: the store cannot be swept; of unseen_store_open with a store that does not fit,
 *     too, also if keys were removed or allowed since its last image, and of a reader if there are
 *     too many keys since
 *   - CORRUPT, IO, NOMEM: close the store; the set answers nothing any more (STOPPED)
 *   - STOPPED, NOMEM: of unseen_store_note_keys, as of unseen_store_add
 * Threads: one.
 * Time: linear in the keys, and in the bytes of the part. */
UNSEEN_API enum unseen_status unseen_store_load_part(
    struct unseen_store *store, unsigned bits, uint64_t part, struct unseen_error *error);
UNSEEN_API enum unseen_status unseen_store_add_to_part(
    struct unseen_store *store, const struct unseen_key *keys, size_t n, uint8_t *verdicts);
UNSEEN_API enum unseen_status unseen_store_save_part(
    struct unseen_store *store, unsigned bits, uint64_t part, struct unseen_error *error);
UNSEEN_API enum unseen_status unseen_store_note_keys(
    struct unseen_store *store, const struct unseen_key *keys, size_t n);

/* The findings of a look at all bytes of a store. */
struct unseen_store_health {
    size_t size;         /* sizeof(struct unseen_store_health), set by the caller */
    uint64_t nadded;     /* keys added in intact records */
    uint64_t nremoved;   /* keys removed in intact records */
    uint64_t nrecords;   /* intact records that say something */
    uint64_t ndamages;   /* damaged places in log and image */
    uint64_t lost_bytes; /* bytes of the log that are not in intact records */
    uint64_t torn_bytes; /* the unfinished end that a crash leaves: not a damage */
    bool is_rewritten;   /* by a repair: the damaged log is PATH.damaged now */
    uint64_t note;       /* as in struct unseen_store_info */

    /* Set by the caller: a limit for the set, in bytes; 0: none. A set that takes more than half of
     * it is compared part by part, and the log is read once for each half of the limit. */
    uint64_t memory;
};

/* Reads everything, checks every checksum, and checks that the image has what the log says. Changes
 * nothing and takes no lock.
 *
 * Arguments:
 *   - health_out may be NULL; `report`, unless NULL, is called for each damage.
 * Errors:
 *   - CORRUPT: there is damage
 *   - BUSY: the store was changed while it was read, three times
 *   - SIZE
 *   - MISSING
 *   - FOREIGN
 *   - VERSION
 *   - IO
 *   - NOMEM
 * Threads: any.
 * Time: linear in the files. */
UNSEEN_API enum unseen_status unseen_store_verify(const char *path,
    struct unseen_store_health *health_out,
    void (*report)(void *context, const struct unseen_error *damage), void *context,
    struct unseen_error *error);

/* Makes a damaged store usable: every intact record goes into a new log, which takes the place of
 * the damaged one; that stays as PATH.damaged. Keys in damaged records are forgotten. A store
 * without a log keeps its image.
 *
 * Arguments:
 *   - as unseen_store_verify.
 * Errors:
 *   - as unseen_store_open
 *   - CORRUPT: a store without a log whose image is damaged
 *   - FOREIGN: both headers are gone
 *   A crash leaves the old store or the new one.
 * Threads: one process; it takes the lock of a writer.
 * Time: as unseen_store_verify, and a copy of the log. */
UNSEEN_API enum unseen_status unseen_store_repair(const char *path,
    struct unseen_store_health *health_out,
    void (*report)(void *context, const struct unseen_error *damage), void *context,
    struct unseen_error *error);

/* Writes the store anew, without removed keys and in large records. The settings filter, fpr,
 * capacity, key_bits (fewer than before), bits_per_key and hashes of options become the store's, if
 * they are not 0 or NULL. With another filter, or with fpr, the store forgets its old shape.
 *
 * Errors:
 *   - as unseen_store_open
 *   - UNSUPPORTED: no log
 *   A crash leaves the old store or the new.
 * Threads: one process; it takes the lock of a writer.
 * Time: linear in the log, which is read twice and written once; for "counting", the memory of a
 * "compact" set of the keys meanwhile. */
UNSEEN_API enum unseen_status unseen_store_rewrite(
    const char *path, const struct unseen_store_options *options, struct unseen_error *error);

/* ---- Filters and plans -------------------------------------------------------------------------
 * A set keeps its keys in a filter. Filters differ in what they can do, and in memory. The bits
 * per key below are for a rate of 1e-4 at 10^8 keys (`unseen plan --capacity 1e8 --fpr 1e-4`):
 *
 *     name            bits  can                        for
 *     compact         36.2  remove, merge, grow        any number of URLs; the default
 *     bloom           19.2  merge                      exchange with other programs; comparisons
 *     block           20.6  merge                      speed, when the number of URLs is known
 *     counting       100.0  remove, merge, count       counting adds in a fixed size
 *
 * Four names of well-known structures are served by compact, which does the same: exact is compact
 * at a rate of 1e-12 (58.9 bits), scalable and scalable-bloom [Almeida07] are compact, and
 * scalable-count is compact that counts (struct unseen_set_options), which cannot be merged.
 *
 * The load is the share of the slots in use; "fill" in struct unseen_set_stats. compact keeps a
 * fingerprint for each key, 32, 39 or 51 bits and its place, in two cache lines, and grows by
 * splitting (docs/decisions/compact.md). A plan says which numbers of a filter follow from which,
 * without making the filter. */

/* The i'th name that options take for a filter; NULL past the last. Static text. */
UNSEEN_API const char *unseen_filter_name(size_t i);

/* The numbers of a filter; see unseen_plan. */
struct unseen_plan {
    size_t size;        /* sizeof(struct unseen_plan) */
    const char *filter; /* the name of a filter; NULL means "compact" */

    /* 0 means unknown. Set some of these; unseen_plan fills in the others. */
    uint64_t capacity;   /* keys */
    double fpr;          /* the false-positive rate at capacity keys */
    double bits_per_key; /* bits / capacity; of memory */
    uint64_t bits;       /* of the whole filter */
    unsigned hashes;     /* bits or counters that a key sets; 0: there is no such thing */
    unsigned lines;      /* adjacent cache lines that they are in; 0: they are anywhere */

    unsigned abilities;    /* filled in: UNSEEN_CAN_..., */
    const char *served_by; /* and the filter that serves the name */
};

/* Fills in what is unknown. Enough is: fpr; fpr and hashes; bits_per_key; bits_per_key and hashes.
 * Two of capacity, bits and bits_per_key give the third. If capacity and bits are both unknown,
 * the plan is for a large number of keys. If bits are known, and fpr and hashes are not, the
 * hashes are those with the lowest rate. With capacity alone, or capacity and bits_per_key
 * unknown, the rate is UNSEEN_FPR_DEFAULT. A set of this capacity and rate gets the same numbers.
 *
 *     struct unseen_plan plan = {.size = sizeof(plan), .filter = "bloom"};
 *     plan.bits_per_key = 20;
 *     plan.hashes = 10;
 *     unseen_plan(&plan) -> plan.fpr = 8.89e-5
 *
 * Errors:
 *   - SIZE
 *   - ARGUMENT: a number out of its range, too many numbers, or numbers that contradict each other
 *   - NAME
 *   - FPR: lower than the filter can have
 *   - UNSUPPORTED: a filter with a fixed rate does not follow from its bits; a filter whose bits
 *     are anywhere has no lines
 * Threads: any.
 * Time: microseconds to milliseconds. */
UNSEEN_API enum unseen_status unseen_plan(struct unseen_plan *plan);

/* The false-positive rate to expect of a filter with this plan (filled in by unseen_plan) when it
 * has nkeys keys, which may be more than its capacity. 0 if the plan has no capacity, or numbers
 * that unseen_plan would not give.
 *
 * Time: microseconds. */
UNSEEN_API double unseen_plan_rate(const struct unseen_plan *plan, double nkeys);

/* ---- Lines -------------------------------------------------------------------------------------
 * Input comes in blocks: split a block, keep the bytes from *consumed_out on in front of the next
 * block, and take the rest at the end of input as the last line. */

/* Finds up to max lines that end in delimiter in data[0..len), and stores them without delimiter
 * and without copying. Returns the number of lines. *consumed_out is the offset just behind the
 * last delimiter used. Entries of lines past the returned number are undefined.
 *
 * The result 0 means that no line ends in data. If data is a full block, the line is longer than
 * the block: go on with a larger block, or pass over the line.
 *
 * Time: linear in the bytes consumed. */
UNSEEN_API size_t unseen_lines_split(const void *data, size_t len, char delimiter,
    struct unseen_bytes *lines, size_t max, size_t *consumed_out);

/* Stores the text of each of n lines: the line without its last byte if that is a CR, as in files
 * from Windows. Compare texts, and print lines. The lines come from unseen_lines_split with the
 * delimiter '\n', and texts_out may be lines. Returns the number of lines with a CR; if it is 0,
 * the texts are the lines.
 *
 * Time: linear in n. */
UNSEEN_API size_t unseen_lines_trim(
    const struct unseen_bytes *lines, size_t n, struct unseen_bytes *texts_out);

/* ---- Errors, memory, processor level, version --------------------------------------------------
 *
 *     struct unseen_error error;
 *     if (unseen_store_open(&store, path, &options, &error) != UNSEEN_OK) {
 *         fprintf(stderr, "%s\n", error.text);
 *         -> visited.unseen has the profile crawl/1, not whatwg/1
 *         if (error.status == UNSEEN_ERR_MISMATCH && error.setting == UNSEEN_SETTING_PROFILE) ...
 *     }
 *
 * A program decides by status and setting; the sentence is for people and may change. */

/* The sentence of a status. Static text, never NULL; for an unknown value it says so. */
UNSEEN_API const char *unseen_status_string(enum unseen_status status);

/* The option that an error is about: a field of a struct of options. Values never change. */
enum unseen_setting {
    UNSEEN_SETTING_NONE = 0, /* the error is not about an option */
    UNSEEN_SETTING_SIZE,
    UNSEEN_SETTING_PROFILE,
    UNSEEN_SETTING_RULES,
    UNSEEN_SETTING_FILTER,
    UNSEEN_SETTING_FPR,
    UNSEEN_SETTING_CAPACITY,
    UNSEEN_SETTING_KEY_BITS,
    UNSEEN_SETTING_SEED,
    UNSEEN_SETTING_CPU,
    UNSEEN_SETTING_MODE,
    UNSEEN_SETTING_NO_LOG,
    UNSEEN_SETTING_FILE_MODE,
    UNSEEN_SETTING_KIND,
    UNSEEN_SETTING_BITS_PER_KEY,
    UNSEEN_SETTING_HASHES,
    UNSEEN_SETTING_WINDOW
};

/* Filled in by a function that fails. It needs no preparation and no release. */
struct unseen_error {
    enum unseen_status status;
    enum unseen_setting setting;
    uint64_t offset; /* in the file, in bytes; UINT64_MAX: no offset */
    int code;        /* the errno number of a system call that failed, such as ENOSPC; 0: none */
    char text[512];  /* a sentence without a full stop; names the file, or the setting */
};

/* An object takes all its memory through the allocator it was created with. Both functions may be
 * called by any thread that uses the object. alloc returns memory aligned to align (a power of
 * two, at most 4096), or NULL; the memory need not be zero. free gets the size that was asked for.
 * A NULL allocator means the default: malloc for small blocks, private mappings for big ones (with
 * transparent huge pages where the set is large). */
struct unseen_allocator {
    void *(*alloc)(void *context, size_t size, size_t align);
    void (*free)(void *context, void *ptr, size_t size);
    void *context;
};

/* Parses the name of a processor level: "auto", "portable", "avx2" or "avx512". Every level
 * computes the same bits; portable code is the specification. AUTO means the best level of this
 * processor. An object with a level that the processor lacks is not created (UNSUPPORTED).
 *
 * Errors: NAME.
 * Threads: any.
 * Time: constant. */
UNSEEN_API enum unseen_status unseen_cpu_parse(const char *name, enum unseen_cpu *cpu_out);

/* Semantic versioning. Before 1.0 a minor version may change the interface. From 1.0 on, within one
 * major version, functions are only added, structs only grow at their end, and every version reads
 * the data of all earlier ones. */
#define UNSEEN_VERSION_MAJOR 0
#define UNSEEN_VERSION_MINOR 1
#define UNSEEN_VERSION_PATCH 0

/* The version of the library at run time, "MAJOR.MINOR.PATCH". Static text. */
UNSEEN_API const char *unseen_version(void);

#ifdef __cplusplus
}
#endif

#endif
