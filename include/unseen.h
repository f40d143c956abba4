/* SPDX-License-Identifier: MIT
 *
 * unseen.h - "have I seen this URL before?", in 4 to 6 bytes per URL.
 *
 * A set remembers what was added to it as short fingerprints. It answers "new" or "seen", grows
 * by itself, never forgets a key (no false negatives), and takes a new key for a seen one with a
 * probability below a stated promise (the false-positive rate).
 *
 *     struct unseen_set *set;
 *     enum unseen_verdict verdict;
 *     if (unseen_set_create(&set, NULL) != UNSEEN_OK) ...
 *     if (unseen_set_add(set, url, strlen(url), &verdict) != UNSEEN_OK) ...
 *     if (verdict == UNSEEN_NEW) fetch(url);
 *     unseen_set_free(set);
 *
 * Link with -lunseen (pkg-config: unseen; CMake: find_package(unseen), target unseen::unseen).
 *
 * Conventions, once for the whole file
 * - A function that can fail returns enum unseen_status; answers leave through out-parameters,
 *   which are untouched on failure unless the function says otherwise.
 * - Input bytes are borrowed for the length of the call and may be anything, NUL included. A
 *   pointer may be NULL when its length or count is 0; no other may unless its comment says so.
 * - Whoever creates an object frees it; every _free(NULL) does nothing.
 * - A call needs up to 128 KiB of stack.
 * - The library never prints, never exits, reads no environment and keeps no global state.
 * - Threads: an object may be used by one thread at a time, or by many threads that only call
 *   functions taking it as const. A set created with options.threads > 1 may be used by that
 *   many threads at once in any way but _free, _export and _import.
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

/* ---- Version ----------------------------------------------------------------------------------
 * Semantic versioning. Before 1.0 a minor version may change the interface; from 1.0 on, within
 * one major version, functions are only added, option structs only grow at their end (each
 * carries its own size), and data written by one version is read by every later one. */

#define UNSEEN_VERSION_MAJOR 0
#define UNSEEN_VERSION_MINOR 1
#define UNSEEN_VERSION_PATCH 0

/* The version of the library at run time, "MAJOR.MINOR.PATCH". Static text. */
UNSEEN_API const char *unseen_version(void);

/* ---- Status ------------------------------------------------------------------------------------
 * X(name, value, sentence). Values are pinned and grouped with gaps; new ones fill the gaps. */

#define UNSEEN_STATUS_MAP(X)                                                                       \
    X(OK, 0, "success")                                                                            \
    /* the caller */                                                                               \
    X(ERR_ARGUMENT, 10, "an argument is out of its range")                                         \
    X(ERR_UNSUPPORTED, 11, "this build, processor or filter cannot do what was asked for")         \
    X(ERR_FPR, 12, "the filter promises no false-positive rate this low")                          \
    X(ERR_NAME, 13, "no such name")                                                                \
    /* resources */                                                                                \
    X(ERR_NOMEM, 20, "out of memory")                                                              \
    X(ERR_SPACE, 21, "the caller's buffer is too small")                                           \
    X(ERR_BUSY, 22, "another process is writing to it")                                            \
    X(ERR_RANDOM, 23, "the system gives no random numbers")                                        \
    /* data from outside */                                                                        \
    X(ERR_CORRUPT, 30, "the data is damaged or is not what it claims to be")                       \
    X(ERR_VERSION, 31, "the data was written by another version")                                  \
    X(ERR_MISMATCH, 32, "the data belongs to a set made with other settings")                      \
    X(ERR_FOREIGN, 33, "the file is not a store")                                                  \
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

/* The sentence of a status. Static text, never NULL; for an unknown value it says so. */
UNSEEN_API const char *unseen_status_string(enum unseen_status status);

/* Where a sentence of its own helps, a function takes a struct unseen_error *error and fills it when
 * it fails; error may be NULL, and is untouched on success. */
struct unseen_error {
    enum unseen_status status;
    uint64_t place; /* in the file, in bytes; UINT64_MAX: no place */
    char text[512]; /* a sentence without a full stop; names the file */
};

/* ---- Memory ------------------------------------------------------------------------------------
 * An object takes all its memory through the allocator it was created with. Both functions may
 * be called by any thread that uses the object. alloc returns memory aligned to align (a power
 * of two, at most 4096) or NULL; its contents need not be zero. free gets the size that was asked
 * for. NULL for the whole struct means the default: malloc for small blocks, private mappings
 * (transparent huge pages where the set is large) for big ones. */

struct unseen_allocator {
    void *(*alloc)(void *context, size_t size, size_t align);
    void (*free)(void *context, void *ptr, size_t size);
    void *context;
};

/* ---- Processor level ---------------------------------------------------------------------------
 * Every level computes the same bits; the portable one is the specification. AUTO takes the best
 * the processor has. Asking for a level the processor lacks fails with UNSEEN_ERR_UNSUPPORTED. */

enum unseen_cpu {
    UNSEEN_CPU_AUTO = 0,
    UNSEEN_CPU_PORTABLE = 1,
    UNSEEN_CPU_AVX2 = 2,
    UNSEEN_CPU_AVX512 = 3
};

/* Parses "auto", "portable", "avx2" or "avx512". UNSEEN_ERR_NAME for anything else. */
UNSEEN_API enum unseen_status unseen_cpu_parse(const char *name, enum unseen_cpu *cpu_out);

/* ---- Bytes, keys, verdicts ------------------------------------------------------------------- */

/* A borrowed run of bytes. */
struct unseen_bytes {
    const char *data;
    size_t len;
};

/* The 128-bit key of an identity: a hash of its bytes under a secret (docs/decisions/key.md). Whoever
 * does not know the secret cannot foresee a key, nor make two inputs with one key: two inputs chosen
 * without the secret have the same key with a probability of at most 2^-127, plus the advantage of
 * whoever can tell SipHash-1-3 or keyed BLAKE2b from a random function. In a set of 64- or 96-bit keys
 * lo, or its upper half, follows from the rest, and that probability is 2^-64 or 2^-96.
 *
 * The secret is 256 bits. It is random, or derived from a seed by a one-way function (BLAKE2b). A
 * seed that others can guess protects nothing. Everything that is exported or stored contains the
 * secret: whoever can read a store, a list or an export can make inputs that collide. */
struct unseen_key {
    uint64_t lo;
    uint64_t hi;
};

/* Every operation on a set answers the same question: was the key in the set before this call?
 * UNSEEN_NEW is certain. UNSEEN_SEEN is wrong with the set's false-positive rate. */
enum unseen_verdict {
    UNSEEN_SEEN = 0,
    UNSEEN_NEW = 1,
    UNSEEN_ALLOWED = 2 /* of a list only: not listed, because it was allowed */
};

/* ---- Lines -------------------------------------------------------------------------------------
 * Splits one run of bytes into lines, without copying. For input that comes in pieces: split what
 * is there, keep the consumed_out..len rest in front of the next piece, and take what remains at
 * the end of input as the last line. */

/* Finds up to max lines that end in delimiter in data[0..len) and stores them, without the
 * delimiter, in lines. Returns their number; *consumed_out is the offset just after the last
 * delimiter used. Entries of lines past that number may have been written to and mean nothing.
 * Never fails. Linear time. */
UNSEEN_API size_t unseen_lines_split(const void *data, size_t len, char delimiter,
                                     struct unseen_bytes *lines, size_t max, size_t *consumed_out);

/* The field'th field (from 1) of a line whose fields are separated by single delimiter bytes. A
 * line with fewer fields has an empty one, with a NULL pointer. */
UNSEEN_API struct unseen_bytes unseen_lines_field(struct unseen_bytes line, char delimiter,
                                                  size_t field);

/* ---- URL ---------------------------------------------------------------------------------------
 * URL identity: the same page is the same key. A canonicaliser turns each spelling of a URL into
 * one canonical text, under a profile: a named, frozen set of rules with a version.
 *
 *     struct unseen_url *url;
 *     char buf[4096];
 *     struct unseen_canon canon;
 *     if (unseen_url_create(&url, NULL) != UNSEEN_OK) ...
 *     if (unseen_url_canon(url, "HTTP://E.com:80/a/../b#c", 24, buf, sizeof(buf), &canon)) ...
 *     -> canon.form = UNSEEN_URL_REWRITTEN, canon.bytes = "http://e.com/b"
 *
 * docs/url-identity.md says which profile is for whom, what each merges on real lists, and what
 * it can wrongly merge. */

struct unseen_url;

struct unseen_url_options {
    size_t size; /* sizeof(struct unseen_url_options) */

    /* "none", "whatwg", "crawl", "scrapy", "safebrowsing", "aggressive", or an id as unseen_url_id
     * has it; NULL means "crawl". */
    const char *profile;

    /* nrules names of rules to switch on, or off with a leading "no-", on top of the profile's. */
    const char *const *rules;
    size_t nrules;

    enum unseen_cpu cpu;
    const struct unseen_allocator *allocator; /* copied; its context must outlive the object */
};

/* Creates a canonicaliser. It never changes: any number of threads may use it at once. options
 * may be NULL for the defaults. The caller frees *url_out. Errors: NAME (no such profile or
 * rule), ARGUMENT (a rule that the profile does not have), VERSION (an id with a version that
 * this library does not have), UNSUPPORTED (cpu), NOMEM. */
UNSEEN_API enum unseen_status unseen_url_create(struct unseen_url **url_out,
                                                const struct unseen_url_options *options);

UNSEEN_API void unseen_url_free(struct unseen_url *url);

/* The identity of the canonicaliser as text, such as "crawl/1" or "crawl/1+strip-trackers": the
 * profile, its version, and each rule that differs from the profile's. Keys made under different
 * texts do not belong in one set. Valid as long as the object. */
UNSEEN_API const char *unseen_url_id(const struct unseen_url *url);

/* The longest such text in bytes. Files have room for as much. */
#define UNSEEN_URL_ID_MAX 4095

/* A buffer of this size is enough for any input of len bytes. 0 if no size_t can hold it. */
UNSEEN_API size_t unseen_url_bound(size_t len);

enum unseen_url_form {
    UNSEEN_URL_UNCHANGED = 0, /* the input is its own canonical form */
    UNSEEN_URL_REWRITTEN = 1, /* the canonical form is another text */
    UNSEEN_URL_FAILED = 2     /* not a URL under this profile: the input bytes are the identity */
};

struct unseen_canon {
    enum unseen_url_form form;

    /* The identity; never missing. The input itself when UNCHANGED or FAILED. When REWRITTEN it
     * lies in the caller's buffer, or is a part of the input where that was enough. */
    struct unseen_bytes bytes;
};

/* The canonical form of data[0..len). Linear time, n log n where a query is sorted; allocates
 * nothing itself (for a host that is not ASCII, libidn2 does). buf may not overlap data. A buffer
 * that is smaller than unseen_url_bound(len) may do for a URL that needs little work;
 * UNSEEN_ERR_SPACE says that it did not, and that is the only error. */
UNSEEN_API enum unseen_status unseen_url_canon(const struct unseen_url *url, const void *data,
                                               size_t len, void *buf, size_t cap,
                                               struct unseen_canon *canon_out);

/* The same for a reference of len bytes and a base of base_len bytes (unseen_url_canon_base). */
UNSEEN_API size_t unseen_url_bound_base(size_t len, size_t base_len);

/* The same for a reference, such as "../b" or "//e.com/", found in the document at base. FAILED
 * when the base is no URL. The reference is resolved by the WHATWG standard, then canonicalised.
 * buf needs unseen_url_bound_base(len, base_len) bytes; SPACE otherwise. */
UNSEEN_API enum unseen_status unseen_url_canon_base(const struct unseen_url *url, const void *data,
                                                    size_t len, const void *base, size_t base_len,
                                                    void *buf, size_t cap,
                                                    struct unseen_canon *canon_out);

/* The most expressions a URL has: 5 hosts times 6 paths. */
#define UNSEEN_EXPRESSIONS_MAX 30

/* The host-suffix/path-prefix expressions of a URL, by which a list of sites, folders and pages
 * (Safe Browsing v4) is asked. The URL is canonicalised as by the profile "safebrowsing",
 * whatever the profile of url. *n_out is their number, most specific first, 0 for what is no
 * URL. They lie in buf, which needs unseen_url_bound(len) bytes; SPACE otherwise. */
UNSEEN_API enum unseen_status
unseen_url_expressions(const struct unseen_url *url, const void *data, size_t len, void *buf,
                       size_t cap, struct unseen_bytes expressions[UNSEEN_EXPRESSIONS_MAX],
                       size_t *n_out);

/* One thing that was done to a part of a URL: the rule, the part before and after. The texts are
 * valid during the call they are passed to. */
struct unseen_url_step {
    const char *rule;
    const char *sentence; /* what the rule does; static text */
    struct unseen_bytes before;
    struct unseen_bytes after;
};

/* As unseen_url_canon, and calls step for each rule that changed something, in order. A scheme that
 * is not WHATWG's is one step. buf needs unseen_url_bound(2 * len) bytes; SPACE otherwise. */
UNSEEN_API enum unseen_status
unseen_url_explain(const struct unseen_url *url, const void *data, size_t len, void *buf,
                   size_t cap, void (*step)(void *context, const struct unseen_url_step *step),
                   void *context, struct unseen_canon *canon_out);

/* A profile or a rule and what it does, in one sentence. */
struct unseen_url_entry {
    const char *name;
    const char *sentence;
};

/* The i'th profile or rule; NULL past the last. Static. */
UNSEEN_API const struct unseen_url_entry *unseen_url_profile_at(size_t i);
UNSEEN_API const struct unseen_url_entry *unseen_url_rule_at(size_t i);

/* ---- Kind --------------------------------------------------------------------------------------
 * What an entry of a list covers. A list holds canonical texts; whether something is listed is
 * asked by the texts of all entries that would cover it: Jo@Mail.evil.example is listed if the
 * address is, or mail.evil.example, evil.example or example. docs/lists.md has the notations that
 * each kind takes, and what it refuses. The functions allocate nothing themselves (for a host that
 * is not ASCII, libidn2 does) and may be called by any thread. */

enum unseen_kind {
    UNSEEN_KIND_URL = 0,         /* one URL, in canonical form; without a canonicaliser any bytes */
    UNSEEN_KIND_EXPRESSIONS = 1, /* a site, a folder or a page (unseen_url_expressions) */
    UNSEEN_KIND_MAIL = 2,        /* an e-mail address, or a domain with all below it */
    UNSEEN_KIND_IP = 3,          /* an address or a network, IPv4 or IPv6 */
    UNSEEN_KIND_PHONE = 4        /* a phone number */
};

/* The name of a kind: "url", "expressions", "mail", "ip", "phone". Static text; NULL past the
 * last. */
UNSEEN_API const char *unseen_kind_name(enum unseen_kind kind);

/* The kind of that name. UNSEEN_ERR_NAME for any other. */
UNSEEN_API enum unseen_status unseen_kind_of_name(const char *name, enum unseen_kind *kind_out);

/* The most texts that one question makes: 1, 30, 10, 129, 1. 0 for an unknown kind. */
#define UNSEEN_KIND_TEXTS_MAX 129
UNSEEN_API unsigned unseen_kind_texts_max(enum unseen_kind kind);

/* A buffer of this size is enough for any input of len bytes. 0 if no size_t can hold it, or for an
 * unknown kind. */
UNSEEN_API size_t unseen_kind_bound(enum unseen_kind kind, size_t len);

/* Whether an entry should go into a list. */
enum unseen_entry {
    UNSEEN_ENTRY_FINE = 0,
    UNSEEN_ENTRY_EMPTY = 1,    /* no bytes, or only blanks and line ends */
    UNSEEN_ENTRY_INVALID = 2,  /* nothing of this kind: no question would ever find it */
    UNSEEN_ENTRY_DANGEROUS = 3 /* most likely a mistake, and it covers far too much if it is one */
};

/* The canonical text of an entry, in *entry_out; it lies in buf, in data or in static memory. What
 * is EMPTY or INVALID has a text of no bytes; what is DANGEROUS has its text, for those who insist.
 * url may be NULL for all kinds but EXPRESSIONS, which takes any canonicaliser. data and buf do
 * not overlap. Errors: SPACE (a buffer of unseen_kind_bound(len) bytes is always enough), ARGUMENT
 * (unknown kind, or a url is missing). */
UNSEEN_API enum unseen_status unseen_kind_entry(enum unseen_kind kind, const struct unseen_url *url,
                                                const void *data, size_t len, void *buf, size_t cap,
                                                struct unseen_bytes *entry_out,
                                                enum unseen_entry *fitness_out);

/* What is wrong with an entry that is not FINE: how a sentence that begins with the entry goes on,
 * such as "is no e-mail address and no domain". Static text, "" for FINE. */
UNSEEN_API const char *unseen_kind_complaint(enum unseen_kind kind, enum unseen_entry fitness);

/* The texts of the entries that would cover data[0..len), most specific first, all different;
 * *n_out is their number, 0 for what is nothing of this kind. An entry is among its own texts.
 * Where they lie, and errors: as for unseen_kind_entry. */
UNSEEN_API enum unseen_status unseen_kind_texts(enum unseen_kind kind, const struct unseen_url *url,
                                                const void *data, size_t len, void *buf, size_t cap,
                                                struct unseen_bytes texts[UNSEEN_KIND_TEXTS_MAX],
                                                size_t *n_out);

/* ---- Set ---------------------------------------------------------------------------------------
 * The set of everything seen so far. Only fingerprints of keys are stored: members cannot be
 * listed. */

struct unseen_set;

#define UNSEEN_FPR_DEFAULT 5e-9

struct unseen_set_options {
    size_t size; /* sizeof(struct unseen_set_options) */

    /* The highest false-positive rate accepted, up to just below 1. 0 means UNSEEN_FPR_DEFAULT.
     * compact promises 5e-9, or from 1.5e-6 up that, at any number of keys up to 10^10, in about
     * 5.6 or 4.5 bytes per key. exact keeps 64 bits of a key, 5.5e-10 at 10^10 keys, and for less
     * than that all 128. The others promise what is asked for, at capacity keys. */
    double fpr;

    /* The number of keys to make room for. A filter that grows (UNSEEN_CAN_GROW) grows past it by
     * itself: a known capacity only saves that work, and 0 starts small. Any other takes its size
     * from it, must have it, and goes on past it with a rising rate. */
    uint64_t capacity;

    /* The name of the filter (unseen_filter_name); NULL means "compact". Not kept. */
    const char *filter;

    /* The seed, seed_len bytes, at least 1; read by the call only. The secret of the keys is derived
     * from it. NULL and 0: a random secret from the operating system. Two sets give the same keys only if
     * made with the same seed. Whoever knows the seed can make URLs that hide others, and URLs that
     * take more memory than others: where input is hostile, leave it NULL or keep it secret. */
    const void *seed;
    size_t seed_len;

    /* How many bits of the hash make a key: 64, 96 or 128; 0 means 128. Fewer are for keys that are
     * also kept elsewhere (8 bytes each instead of 16), at the price of n / 2^bits wrong answers in
     * n questions. */
    unsigned key_bits;

    /* The URL identity: what is added is the canonical form. Borrowed, must outlive the set. NULL:
     * the bytes are the identity. */
    const struct unseen_url *url;

    /* How many threads will use the set at once; 0 and 1 mean one, and cost no locking. */
    unsigned threads;

    enum unseen_cpu cpu;
    const struct unseen_allocator *allocator; /* copied; its context must outlive the set */
};

/* Creates an empty set. options may be NULL for the defaults. The caller frees *set_out.
 * Errors: ARGUMENT (also a filter that needs a capacity and got none), FPR (lower than the filter
 * can promise, or than keys of so few bits allow), NAME (no such filter), UNSUPPORTED (cpu),
 * RANDOM, NOMEM. */
UNSEEN_API enum unseen_status unseen_set_create(struct unseen_set **set_out,
                                                const struct unseen_set_options *options);

UNSEEN_API void unseen_set_free(struct unseen_set *set);

/* Adds the identity data[0..len) if it is not there, and answers whether it was new: asking and
 * adding are one step, and of several threads adding the same key exactly one is told NEW. What is
 * there already changes nothing, but where adds are counted (unseen_set_multiplicity).
 * Errors: NOMEM (the set could not grow: nothing was added, the set stays usable). */
UNSEEN_API enum unseen_status unseen_set_add(struct unseen_set *set, const void *data, size_t len,
                                             enum unseen_verdict *verdict_out);

/* Asks without adding. Errors: NOMEM (for a URL of some 2,000 bytes and more, as wherever bytes
 * become a key under a URL identity). */
UNSEEN_API enum unseen_status unseen_set_contains(const struct unseen_set *set, const void *data,
                                                  size_t len, enum unseen_verdict *verdict_out);

/* Removes the identity; the answer says whether it was there (SEEN). Removing what was added is
 * exact. Removing what was never added, or whose add was answered SEEN, takes away another key
 * with the set's false-positive rate, and that key is then forgotten. Memory is not given back.
 * Where adds are counted ("counting", "scalable-count") each of them, also one answered SEEN, is
 * undone by one removal, and what was added UNSEEN_MULTIPLICITY_MAX times or more stays for ever. In
 * a chain a key that two links claim stays, too.
 * Errors: UNSUPPORTED (the filter lacks UNSEEN_CAN_REMOVE), NOMEM, as for contains; nothing was
 * removed. */
UNSEEN_API enum unseen_status unseen_set_remove(struct unseen_set *set, const void *data,
                                                size_t len, enum unseen_verdict *verdict_out);

/* How often the identity was added, as far as a counting set knows: this often or less, unless it
 * was removed without having been added; UNSEEN_MULTIPLICITY_MAX says that often or more. Adding to
 * a counting set counts each time, and removing undoes one of them. Errors: UNSUPPORTED (the filter
 * is not "counting"), NOMEM, as for contains. */
#define UNSEEN_MULTIPLICITY_MAX 15
UNSEEN_API enum unseen_status unseen_set_multiplicity(const struct unseen_set *set,
                                                      const void *data, size_t len,
                                                      unsigned *times_out);

/* Batches. The same answers as n single calls in the same order, several times as fast: memory is
 * fetched ahead. 128 to 1024 items a call are best. verdicts gets n bytes, each an
 * enum unseen_verdict. On NOMEM the first *ndone_out items have their answer and the others are
 * not in the set because of this call (in a shared set some may have been for a moment): try them
 * again. ndone_out may be NULL and is n on success. Asking and removing fail only as the single
 * calls do, and then leave no usable verdicts; some of the items may have been removed. */
UNSEEN_API enum unseen_status unseen_set_add_batch(struct unseen_set *set,
                                                   const struct unseen_bytes *items, size_t n,
                                                   uint8_t *verdicts, size_t *ndone_out);
UNSEEN_API enum unseen_status unseen_set_contains_batch(const struct unseen_set *set,
                                                        const struct unseen_bytes *items, size_t n,
                                                        uint8_t *verdicts);
UNSEEN_API enum unseen_status unseen_set_remove_batch(struct unseen_set *set,
                                                      const struct unseen_bytes *items, size_t n,
                                                      uint8_t *verdicts);

/* The same for the variable-size binary layout of Apache Arrow: item i is
 * data[offsets[i]..offsets[i + 1]), and offsets has n + 1 entries that never decrease. Errors: as
 * above, and ARGUMENT at the first item with an offset that is negative or decreases; the items
 * before it have been added or answered then. */
UNSEEN_API enum unseen_status unseen_set_add_arrow(struct unseen_set *set, const void *data,
                                                   const int64_t *offsets, size_t n,
                                                   uint8_t *verdicts, size_t *ndone_out);
UNSEEN_API enum unseen_status unseen_set_contains_arrow(const struct unseen_set *set,
                                                        const void *data, const int64_t *offsets,
                                                        size_t n, uint8_t *verdicts);

/* The same in two steps, so that one thread can hash ahead of another: bytes to keys, which any
 * thread may do at any time, then keys to verdicts. forms gets n bytes, each an
 * enum unseen_url_form (always UNCHANGED without a URL identity); it may be NULL. Errors: NOMEM
 * (for a URL of some 2,000 bytes and more); what keys and forms then hold means nothing. */
UNSEEN_API enum unseen_status unseen_set_key(const struct unseen_set *set, const void *data,
                                             size_t len, struct unseen_key *key_out);
UNSEEN_API enum unseen_status unseen_set_keys(const struct unseen_set *set,
                                              const struct unseen_bytes *items, size_t n,
                                              struct unseen_key *keys, uint8_t *forms);

/* The key of bytes that are the identity already: a canonical form, or the digest (MD5, SHA-1, a
 * fingerprint) by which another program knows a URL. A digest must come through here, under the
 * secret, and must never be used as a key itself: who makes the input can foresee it. */
UNSEEN_API struct unseen_key unseen_set_identity_key(const struct unseen_set *set, const void *data,
                                                     size_t len);

/* Keys to verdicts, as the batches of items. The keys must be this set's, or of one with the same
 * seed and URL identity. contains never fails; remove only with UNSUPPORTED. */
UNSEEN_API enum unseen_status unseen_set_add_keys(struct unseen_set *set,
                                                  const struct unseen_key *keys, size_t n,
                                                  uint8_t *verdicts, size_t *ndone_out);
UNSEEN_API enum unseen_status unseen_set_contains_keys(const struct unseen_set *set,
                                                       const struct unseen_key *keys, size_t n,
                                                       uint8_t *verdicts);
UNSEEN_API enum unseen_status unseen_set_remove_keys(struct unseen_set *set,
                                                     const struct unseen_key *keys, size_t n,
                                                     uint8_t *verdicts);

struct unseen_set_stats {
    size_t size;           /* sizeof(struct unseen_set_stats), set by the caller */
    uint64_t nkeys;        /* keys in the set; after a merge or an intersection, nkeys_estimate */
    uint64_t nslots;       /* fingerprints, bits or counters its memory has room for */
    uint64_t memory;       /* bytes taken through the allocator */
    double fpr_promise;    /* the rate promised up to capacity keys */
    double fpr_estimate;   /* the rate expected now, from what is stored */
    const char *filter;    /* the filter's name; static text */
    const char *cpu;       /* the processor level in use; static text */
    double fill;           /* the share of the slots that is in use */
    double nkeys_estimate; /* the number of keys as the fill tells it [Swamidass07]: for a Bloom
                            * filter an estimate, else nkeys */
    uint64_t capacity;     /* keys up to which fpr_promise holds; 0: as many as there are */
    unsigned hashes;       /* bits or counters a key sets; 0 where there is no such thing */
    unsigned abilities;    /* UNSEEN_CAN_... */
};

/* What a filter can do. */
enum {
    UNSEEN_CAN_REMOVE = 1,    /* unseen_set_remove */
    UNSEEN_CAN_MERGE = 2,     /* unseen_set_merge */
    UNSEEN_CAN_INTERSECT = 4, /* unseen_set_intersect */
    UNSEEN_CAN_GROW = 8       /* needs no capacity and keeps its promise at every number of keys */
};

/* Fills *stats_out as far as its size field says. No scan: microseconds, and up to 100 of them for a
 * set of many threads. Errors: ARGUMENT (a size below that of size_t or above that of the struct). */
UNSEEN_API enum unseen_status unseen_set_stats(const struct unseen_set *set,
                                               struct unseen_set_stats *stats_out);

/* The id of the set's URL identity (unseen_url_id), "none/1" without one. Valid as long as
 * that identity. */
UNSEEN_API const char *unseen_set_profile(const struct unseen_set *set);

/* Makes set the union of both: what was added to either is in it. The other set must be another
 * object, made with the same filter, capacity, rate, seed, key_bits and URL identity; threads and
 * cpu may differ. No other thread may use either meanwhile. The rate is that of a set that was
 * given all these keys, so choose the capacity for the whole. Errors: UNSUPPORTED (the filter lacks
 * UNSEEN_CAN_MERGE), MISMATCH, NOMEM; the set is then as it was. */
UNSEEN_API enum unseen_status unseen_set_merge(struct unseen_set *set,
                                               const struct unseen_set *other);

/* The same for the intersection: what is in both stays, and a key in only one of them is taken for
 * a member with at most the higher of their two rates. */
UNSEEN_API enum unseen_status unseen_set_intersect(struct unseen_set *set,
                                                   const struct unseen_set *other);

/* ---- Plan --------------------------------------------------------------------------------------
 * The formulas of every filter, to choose one by before making it. */

/* The name of the i'th filter; NULL past the last. Static. */
UNSEEN_API const char *unseen_filter_name(size_t i);

struct unseen_plan {
    size_t size;        /* sizeof(struct unseen_plan); an older, shorter one will do */
    const char *filter; /* a filter's name; NULL means "compact" */

    /* 0 says unknown. Some of these are given, the others follow; what is given is not changed. */
    uint64_t capacity;   /* keys */
    double fpr;          /* the rate at capacity keys */
    double bits_per_key; /* bits / capacity; of memory */
    uint64_t bits;       /* of the whole filter */
    unsigned hashes;     /* bits or counters a key sets; 0 stays where there is no such thing */
    unsigned lines;      /* adjacent cache lines they are in; 0 stays where they are anywhere */

    /* What comes out besides: UNSEEN_CAN_... */
    unsigned abilities;
};

/* Fills in what is unknown. capacity and bits may both stay 0: then only the rate, the bits per key
 * and the hashes are found, as for a large number of keys. Rate alone, rate and hashes, bits
 * per key alone, and bits per key and hashes are enough; of capacity, bits and bits per key two say
 * the third. With the bits and not the rate, and hashes unknown, the hashes are those with the
 * lowest rate. With capacity, bits and rate unknown, or capacity alone, the rate is
 * UNSEEN_FPR_DEFAULT. The numbers are those that a set of this capacity and rate gets.
 *
 *     struct unseen_plan plan = {.size = sizeof(plan), .filter = "bloom"};
 *     plan.bits_per_key = 20;
 *     plan.hashes = 10;
 *     unseen_plan(&plan) -> plan.fpr = 8.89e-5
 *
 * Errors: ARGUMENT (a number out of its range, too many, or some that contradict each other), NAME,
 * FPR (lower than the filter can have), UNSUPPORTED (this filter cannot be asked this way: one with
 * a fixed rate does not follow from its bits, and one whose bits are anywhere has no lines). */
UNSEEN_API enum unseen_status unseen_plan(struct unseen_plan *plan);

/* The rate expected of a filter so planned (by unseen_plan, without an error) when it has nkeys
 * keys, which may be more than its capacity. 0 where the plan has no capacity, or has numbers that
 * unseen_plan would not give. */
UNSEEN_API double unseen_plan_rate(const struct unseen_plan *plan, double nkeys);

/* ---- Export and import -------------------------------------------------------------------------
 * A set as a row of chunks of at most UNSEEN_CHUNK_MAX bytes, each with its own checksum, so that
 * no reader ever needs one huge piece: a header, then the filter's pieces, then an end mark.
 * docs/format.md has the bytes. The chunks contain the secret. */

#define UNSEEN_CHUNK_MAX ((size_t)65536)

/* Writes the next chunk to buf. Start with *cursor = 0; *len_out = 0 says that there are no more.
 * The set must not change in between. Errors: SPACE (cap < UNSEEN_CHUNK_MAX), ARGUMENT (a cursor
 * from elsewhere). */
UNSEEN_API enum unseen_status unseen_set_export(const struct unseen_set *set, uint64_t *cursor,
                                                void *buf, size_t cap, size_t *len_out);

struct unseen_import;

/* Starts an import; of the options url, cpu, threads and allocator are used. MISMATCH is the
 * answer to the header when the set was made with another URL identity than url. The caller frees
 * *import_out, by _finish or _free. Errors: ARGUMENT, NOMEM. */
UNSEEN_API enum unseen_status unseen_import_create(struct unseen_import **import_out,
                                                   const struct unseen_set_options *options);

/* Takes one whole chunk: the header first, the others in any order. Everything in it is checked:
 * a damaged or hostile chunk gives CORRUPT, VERSION or MISMATCH. Other errors: NOMEM, and
 * ARGUMENT or UNSUPPORTED (cpu) at the header. After any of them the import can only be freed.
 * The header of a set that does not grow says how much memory the set takes, and the allocator is
 * asked for all of it at once. The pieces fill it; with the default allocator, what no piece has
 * filled takes no memory. An allocator that refuses is the limit for chunks that are not trusted. */
UNSEEN_API enum unseen_status unseen_import_chunk(struct unseen_import *import, const void *chunk,
                                                  size_t len);

/* Checks that nothing is missing and hands over the set, which the caller frees. The import is
 * freed in either case. Errors: CORRUPT, NOMEM. */
UNSEEN_API enum unseen_status unseen_import_finish(struct unseen_import *import,
                                                   struct unseen_set **set_out);

UNSEEN_API void unseen_import_free(struct unseen_import *import);

/* ---- Store -------------------------------------------------------------------------------------
 * A set that outlives the process: a file with the key of everything that was committed, the log.
 * Beside it lies PATH.image, a copy of the set that makes opening fast and may be deleted at any
 * time. docs/format.md has the bytes of both.
 *
 *     struct unseen_store_options options = {.size = sizeof(options), .mode = UNSEEN_STORE_CREATE};
 *     unseen_store_open(&store, "visited.unseen", &options, &error);
 *     unseen_store_add(store, url, url_len, &verdict);
 *     if (verdict == UNSEEN_NEW) -> hand the URL over: print it, queue it, fetch it
 *     unseen_store_commit(store, &error);
 *     unseen_store_close(store, &error);
 *
 * The rule that keeps every URL: hand over what was new first, commit then. What has been committed
 * is remembered after kill -9 and power cuts; what has not is forgotten and will be new again. So a
 * crash repeats the URLs of the last commit at most, and loses none.
 *
 * One process writes at a time, any number read. After a failed commit the store takes nothing
 * more (UNSEEN_ERR_STOPPED): close it, and open it again when the cause is gone. A store has a
 * thread of its own for commits; a child process made by fork must not use it. Not for network
 * file systems. */

struct unseen_store;

enum unseen_store_mode {
    UNSEEN_STORE_READ = 0,  /* the store exists and is not written to */
    UNSEEN_STORE_WRITE = 1, /* the store exists */
    UNSEEN_STORE_CREATE = 2 /* the store is made if it does not exist */
};

struct unseen_store_options {
    size_t size; /* sizeof(struct unseen_store_options) */
    enum unseen_store_mode mode;

    /* What the store is. These are written into it when it is made. For a store that exists, 0
     * and NULL mean what it has; anything else than that is a MISMATCH. */
    const char *profile; /* URL identity: a name or an id; NULL makes "crawl" */
    const char *filter;  /* NULL makes "compact" */
    double fpr;          /* 0 makes UNSEEN_FPR_DEFAULT */
    unsigned key_bits;   /* 64, 96 or 128 bits of each key are kept; 0 makes 64, or 128 where the
                           * filter needs them (exact, for a rate below 5.5e-10) */
    const void *seed;    /* as of a set */
    size_t seed_len;

    /* Make the store with all the settings of this one, its secret included. */
    const struct unseen_store *like;

    uint64_t
        capacity; /* number of keys to make room for; a setting only where the filter has one */

    /* Make a store without a log: only its image, written at close, is kept. Less disk, but a crash
     * forgets everything since the last close, and the image cannot be made anew when damaged. */
    bool no_log;

    enum unseen_cpu cpu;
    const struct unseen_allocator *allocator; /* copied; its context must outlive the store */

    /* Who may open the store, as in chmod: 0600 and any of 0066. 0 makes 0600, whatever the umask is:
     * the secret is in the file, and whoever reads it can make URLs that hide others. A setting, as those
     * above. The image beside the store, and all that a rewrite or a repair makes anew, get the owner,
     * the group and the rights of the store as it is then, as far as the process may give them. */
    unsigned file_mode;
};

/* Opens or makes the store at path. After a crash what was committed is recovered; a torn end of
 * the log is cut off (info.torn_bytes). The caller closes *store_out. options may be NULL: READ.
 * Time: reading the image (about 6 bytes a key), then what the log has more; without an image all
 * of the log. Errors: MISSING, FOREIGN, VERSION, MISMATCH, CORRUPT (damage that unseen_store_repair
 * can undo), BUSY, IO, NOMEM, and those of unseen_set_create and unseen_url_create. */
UNSEEN_API enum unseen_status unseen_store_open(struct unseen_store **store_out, const char *path,
                                                const struct unseen_store_options *options,
                                                struct unseen_error *error);

/* The set in memory, with everything added so far: for keys, questions and stats. Valid as long as
 * the store, changed by the functions below only. */
UNSEEN_API const struct unseen_set *unseen_store_set(const struct unseen_store *store);

/* The URL identity of the store; NULL if the bytes are the identity. */
UNSEEN_API const struct unseen_url *unseen_store_url(const struct unseen_store *store);

/* As unseen_set_add and so on. Each NEW of an add and each SEEN of a remove is a change that waits
 * to be committed. Errors: as for the set, ARGUMENT (opened to read), STOPPED. */
UNSEEN_API enum unseen_status unseen_store_add(struct unseen_store *store, const void *data,
                                               size_t len, enum unseen_verdict *verdict_out);
UNSEEN_API enum unseen_status unseen_store_remove(struct unseen_store *store, const void *data,
                                                  size_t len, enum unseen_verdict *verdict_out);
UNSEEN_API enum unseen_status unseen_store_add_keys(struct unseen_store *store,
                                                    const struct unseen_key *keys, size_t n,
                                                    uint8_t *verdicts, size_t *ndone_out);
UNSEEN_API enum unseen_status unseen_store_remove_keys(struct unseen_store *store,
                                                       const struct unseen_key *keys, size_t n,
                                                       uint8_t *verdicts, size_t *ndone_out);

/* Hands the first nchanges of the waiting changes to the thread that commits, UINT64_MAX for all,
 * and returns at once, or when fewer than some 30,000 wait for it. They are durable within
 * about 50 ms and two syncs of the disk. output_len: the length of the output, of which no line
 * belongs to a later change (unseen_store_output with a name; otherwise 0). Errors: of this or an
 * earlier commit: IO, NOMEM; ARGUMENT (with a named output: a length below the last one, or more
 * than 262,144 changes). */
UNSEEN_API enum unseen_status unseen_store_commit_begin(struct unseen_store *store,
                                                        uint64_t nchanges, uint64_t output_len,
                                                        struct unseen_error *error);

/* Returns when everything that was begun is durable. Errors: as above. */
UNSEEN_API enum unseen_status unseen_store_commit_wait(struct unseen_store *store,
                                                       struct unseen_error *error);

/* Commits all waiting changes and returns when they are durable. */
UNSEEN_API enum unseen_status unseen_store_commit(struct unseen_store *store,
                                                  struct unseen_error *error);

/* Exactly once. What is handed over by writing to a file goes to the disk before the keys do: each
 * commit first syncs fd. With a name, the store also remembers how long the file is and what it ends
 * in. So when the same name is given after a crash, fd is cut to the last commit, and what was cut
 * will be new again: the file has each line once. *len_out is the length from which to write on. name
 * is the absolute path of the file, which has been synced in its directory; NULL: sync only. What is
 * cut off is appended to NAME.cut, which only the owner may read; something else of that name is
 * FOREIGN (a link, or another user's file). A file that was changed by others so that the cut is not
 * certain is CORRUPT and left as it is. fd must be open for reading and writing and is borrowed until
 * close. Call it before the first add. Errors: ARGUMENT, IO, CORRUPT, FOREIGN. */
UNSEEN_API enum unseen_status unseen_store_output(struct unseen_store *store, int fd,
                                                  const char *name, uint64_t *len_out,
                                                  struct unseen_error *error);

/* Waits for the commits that were begun, writes the image if that will save time, and frees the
 * store in any case. Changes that were not handed to a commit are forgotten. */
UNSEEN_API enum unseen_status unseen_store_close(struct unseen_store *store,
                                                 struct unseen_error *error);

/* What state a store is in. */
struct unseen_store_info {
    size_t size; /* sizeof(struct unseen_store_info), set by the caller */
    uint64_t log_bytes;
    uint64_t image_bytes;  /* 0: there is no image */
    uint64_t image_covers; /* bytes of the log that the image in use makes unnecessary */
    uint64_t replayed;     /* changes read from the log at open */
    uint64_t torn_bytes;   /* cut from the end of the log at open */
    bool image_damaged;    /* there was an image, but a damaged one: the log was used */
    bool header_damaged;   /* one of the two headers was, and the other used */
    bool no_log;
    unsigned key_bits;
    double fpr;       /* as asked for */
    uint64_t seed_id; /* equal in stores with equal secrets; tells nothing else about the secret */
    uint8_t id[16];   /* of this log */
};

UNSEEN_API enum unseen_status unseen_store_info(struct unseen_store *store,
                                                struct unseen_store_info *info_out);

/* Calls each with all keys that are committed and not removed since, n at a time, in the order in
 * which they were added; it may return false to end that. Reads the log twice, and takes 24 bytes of
 * memory for each removal. Errors: IO, CORRUPT, NOMEM, UNSUPPORTED (no log). */
UNSEEN_API enum unseen_status
unseen_store_keys(struct unseen_store *store,
                  bool (*each)(void *context, const struct unseen_key *keys, size_t n),
                  void *context, struct unseen_error *error);

/* Adds everything in from to store and commits it. Both must have the same seed and URL identity,
 * and from no shorter keys. *nnew_out: how many were new. Errors: MISMATCH, and those of
 * unseen_store_keys and of commits. */
UNSEEN_API enum unseen_status unseen_store_merge(struct unseen_store *store,
                                                 struct unseen_store *from, uint64_t *nnew_out,
                                                 struct unseen_error *error);

/* What a look at all bytes of a store has found. */
struct unseen_store_health {
    size_t size;         /* sizeof(struct unseen_store_health), set by the caller */
    uint64_t nadded;     /* keys added and removed in intact records */
    uint64_t nremoved;   /* */
    uint64_t nrecords;   /* intact records */
    uint64_t ndamages;   /* damaged places in log and image */
    uint64_t lost_bytes; /* of the log, not in intact records */
    uint64_t torn_bytes; /* unfinished end, as a crash leaves it: no damage */
    bool is_rewritten;   /* by a repair: the damaged log is in PATH.damaged */
};

/* Reads everything, checks every checksum, and that the image holds what the log says. report is
 * called for each damage. Changes nothing, takes no lock. OK: no damage; CORRUPT: there is some.
 * Other errors: MISSING, FOREIGN, VERSION, IO, NOMEM. */
UNSEEN_API enum unseen_status
unseen_store_verify(const char *path, struct unseen_store_health *health_out,
                    void (*report)(void *context, const struct unseen_error *damage), void *context,
                    struct unseen_error *error);

/* Makes a damaged store usable again: every intact record of it goes into a new log, which takes
 * its place; the damaged one stays as PATH.damaged. What was in damaged records is forgotten and
 * will be new again. Errors: as open, and FOREIGN where both headers are gone. */
UNSEEN_API enum unseen_status
unseen_store_repair(const char *path, struct unseen_store_health *health_out,
                    void (*report)(void *context, const struct unseen_error *damage), void *context,
                    struct unseen_error *error);

/* Writes the store anew, without what was removed and in large records; filter, fpr, capacity and
 * (fewer) key_bits of options that are not 0 or NULL become the store's. Atomic: a crash leaves
 * the old or the new one. Errors: as open; UNSUPPORTED (no log). */
UNSEEN_API enum unseen_status unseen_store_rewrite(const char *path,
                                                   const struct unseen_store_options *options,
                                                   struct unseen_error *error);

/* ---- Bitmap ------------------------------------------------------------------------------------
 * An exact set of integers below 2^40: one bit each. It takes 4 KiB for each run of 2^15 integers
 * with more than 127 members, and 16 to 256 bytes for one with fewer; a table of where they are
 * takes 4 KiB for each run of 2^24. Memory freed by clearing is used again by this bitmap.
 *
 *     struct unseen_bitmap *bitmap;
 *     uint64_t ids[] = {7, 3, 7};
 *     uint8_t verdicts[3];
 *     if (unseen_bitmap_create(&bitmap, NULL) != UNSEEN_OK) ...
 *     if (unseen_bitmap_set(bitmap, ids, 3, verdicts, NULL) != UNSEEN_OK) ...
 *     -> verdicts are NEW, NEW, SEEN; unseen_bitmap_next(bitmap, 0, ids, 3) = 2: 3 and 7 */

struct unseen_bitmap;

/* One more than the largest integer. */
#define UNSEEN_BITMAP_END ((uint64_t)1 << 40)

struct unseen_bitmap_options {
    size_t size; /* sizeof(struct unseen_bitmap_options) */
    enum unseen_cpu cpu;
    const struct unseen_allocator *allocator; /* copied; its context must outlive the bitmap */
};

/* Creates an empty bitmap. options may be NULL for the defaults. The caller frees *bitmap_out.
 * Errors: ARGUMENT (size), UNSUPPORTED (cpu), NOMEM. */
UNSEEN_API enum unseen_status unseen_bitmap_create(struct unseen_bitmap **bitmap_out,
                                                   const struct unseen_bitmap_options *options);

UNSEEN_API void unseen_bitmap_free(struct unseen_bitmap *bitmap);

/* Adds, removes and asks for n integers in order; each verdict says whether that integer was there
 * before (SEEN) or not (NEW). verdicts gets n bytes or is NULL. Hundreds at a time are several
 * times as fast as single ones. Errors of set and clear: ARGUMENT (an integer of 2^40 or more),
 * and of set NOMEM: the first *ndone_out integers were done, the others were not. ndone_out may be
 * NULL and is n on success. To get, an integer of 2^40 or more is NEW. */
UNSEEN_API enum unseen_status unseen_bitmap_set(struct unseen_bitmap *bitmap,
                                                const uint64_t *values, size_t n, uint8_t *verdicts,
                                                size_t *ndone_out);
UNSEEN_API enum unseen_status unseen_bitmap_clear(struct unseen_bitmap *bitmap,
                                                  const uint64_t *values, size_t n,
                                                  uint8_t *verdicts, size_t *ndone_out);
UNSEEN_API void unseen_bitmap_get(const struct unseen_bitmap *bitmap, const uint64_t *values,
                                  size_t n, uint8_t *verdicts);

/* Adds or removes all integers in [first, end). Errors: ARGUMENT (first > end or end above 2^40),
 * NOMEM: some of them may have been added or removed, the others are as they were. */
UNSEEN_API enum unseen_status unseen_bitmap_set_range(struct unseen_bitmap *bitmap, uint64_t first,
                                                      uint64_t end);
UNSEEN_API enum unseen_status unseen_bitmap_clear_range(struct unseen_bitmap *bitmap,
                                                        uint64_t first, uint64_t end);

/* How many integers in [first, end) are there; whatever lies above 2^40 is not. At once for all of
 * them (0 and UNSEEN_BITMAP_END), else linear in the memory of the range. */
UNSEEN_API uint64_t unseen_bitmap_count(const struct unseen_bitmap *bitmap, uint64_t first,
                                        uint64_t end);

/* Stores the first max integers of [from, 2^40) that are there, in increasing order. Returns their
 * number; fewer than max are all there are. */
UNSEEN_API size_t unseen_bitmap_next(const struct unseen_bitmap *bitmap, uint64_t from,
                                     uint64_t *values, size_t max);

/* bitmap becomes what is in it and in other (and), in it or in other (or), in it and not in other
 * (andnot). other may be bitmap. Errors of or: NOMEM; some of other may have been added. */
UNSEEN_API void unseen_bitmap_and(struct unseen_bitmap *bitmap, const struct unseen_bitmap *other);
UNSEEN_API enum unseen_status unseen_bitmap_or(struct unseen_bitmap *bitmap,
                                               const struct unseen_bitmap *other);
UNSEEN_API void unseen_bitmap_andnot(struct unseen_bitmap *bitmap,
                                     const struct unseen_bitmap *other);

/* Bytes taken through the allocator. */
UNSEEN_API uint64_t unseen_bitmap_memory(const struct unseen_bitmap *bitmap);

/* Export and import in chunks, as for a set. Equal bitmaps give equal bytes. Errors of export:
 * SPACE (cap < UNSEEN_CHUNK_MAX), ARGUMENT (a cursor from elsewhere). */
UNSEEN_API enum unseen_status unseen_bitmap_export(const struct unseen_bitmap *bitmap,
                                                   uint64_t *cursor, void *buf, size_t cap,
                                                   size_t *len_out);

/* Takes one whole chunk into a bitmap that was empty before the first: the header first, the
 * others in any order. *complete_out says that nothing is missing any more; only then does the
 * bitmap hold what was exported. Errors: CORRUPT, VERSION, NOMEM, ARGUMENT (the bitmap was not
 * empty). After any of them it can only be freed. */
UNSEEN_API enum unseen_status unseen_bitmap_import_chunk(struct unseen_bitmap *bitmap,
                                                         const void *chunk, size_t len,
                                                         bool *complete_out);

/* ---- List --------------------------------------------------------------------------------------
 * A list that is built once and asked often, such as a blacklist: a file of about 13.5 bits for each
 * key at a rate of 1e-4, in which a question touches one page of 4 KiB. It has no false negatives. What
 * it was built of does not change; a few changes can be put on top ("Changes" below). docs/format.md has the
 * bytes.
 *
 *     unseen_list_build_create(&build, "bad.list", NULL, &error);
 *     unseen_list_build_add(build, items, n, &error);            any number of times, in any order
 *     unseen_list_build_finish(build, NULL, NULL, &error);
 *     unseen_list_build_free(build);
 *
 *     unseen_list_open(&list, "bad.list", NULL, &error);
 *     if (unseen_list_contains(list, url, url_len)) ...
 *     unseen_list_close(list);
 *
 * The bytes added and asked for are the identity: who wants URLs in canonical form puts them through
 * unseen_url_canon, both times, and the name of the profile into the file. */

struct unseen_list_build;

#define UNSEEN_LIST_FPR_DEFAULT 1e-4

struct unseen_list_build_options {
    size_t size; /* sizeof(struct unseen_list_build_options) */

    /* The highest share of questions about what is not listed that may be answered wrongly: 1e-9 to
     * 0.25. 0 means UNSEEN_LIST_FPR_DEFAULT. A kind whose question is up to n texts gives each an
     * n-th of that, which must be 1e-9 at least, too. */
    double fpr;

    /* About how many keys will be added, 0 if that is not known. From 10^9 on it saves disk and
     * memory. With n keys, more than capacity, the rate rises by n / 2^(info.key_bits). */
    uint64_t capacity;

    /* About how much memory to use, in bytes; 0 means 1 GiB, and 64 MiB is the least that does for
     * 10^9 keys. Keys that do not fit go to a file in folder (NULL: where the list is made), up to
     * 8 bytes each, which has no name and vanishes with the process. */
    uint64_t memory;
    const char *folder;

    /* The build can be resumed (below): the keys are kept in the files "keys" and "state" in folder,
     * which must be given, exist and be used by this build alone. Nobody else should be able to write
     * there. A file of one of these names that is not ours, or is a link, is FOREIGN. */
    bool keep;

    unsigned threads; /* used by _finish; 0 means 1, at most 256 */

    /* As of a set. The secret stands in the file: whoever can read the list can make entries and
     * questions that are taken for listed ones. */
    const void *seed;
    size_t seed_len;

    /* What is kept in the file for those who ask (unseen_list_info): the URL identity
     * (unseen_url_id) of up to UNSEEN_URL_ID_MAX bytes, NULL means "none/1"; and what the entries are. */
    const char *profile;
    enum unseen_kind kind;

    enum unseen_cpu cpu;
    const struct unseen_allocator *allocator; /* copied; its context must outlive the build */
};

/* Begins a list. Nothing is written to path before _finish. options may be NULL. With options.keep
 * what an earlier build kept in the folder is removed. The caller frees *build_out. Errors: ARGUMENT,
 * FPR (too low), UNSUPPORTED (cpu), RANDOM, NOMEM; with options.keep also IO,
 * MISSING (the folder), FOREIGN and BUSY (another process builds there). */
UNSEEN_API enum unseen_status
unseen_list_build_create(struct unseen_list_build **build_out, const char *path,
                         const struct unseen_list_build_options *options,
                         struct unseen_error *error);

/* Frees the build, finished or not. With options.keep the files in the folder stay if it was not
 * finished, and are removed if it was: whoever has more to do before the list is in use can be
 * interrupted until here, and then has it built once more. */
UNSEEN_API void unseen_list_build_free(struct unseen_list_build *build);

/* Keeps the files in the folder of a finished build, too: what was to be done with the list has
 * failed, and another process shall resume the build and finish it once more. */
UNSEEN_API void unseen_list_build_keep(struct unseen_list_build *build);

/* With options.keep: all that was added so far, and the caller's note of up to 16 MiB, is on the disk
 * when this returns. The note says where the caller is in its inputs. Costs a sync of what was
 * written since the last one: every 20 seconds or so is a good measure. Errors: IO, NOMEM (the build
 * can then only be freed, and be resumed from the checkpoint before), STOPPED (as for _add), ARGUMENT
 * (without keep, too long a note, or the build is complete). */
UNSEEN_API enum unseen_status unseen_list_build_checkpoint(struct unseen_list_build *build,
                                                           const void *note, size_t note_len,
                                                           struct unseen_error *error);

/* Goes on with what another process left in options->folder (keep is taken for set): the build is as
 * at its last checkpoint, and note_out is that note, valid until the next. What was added after
 * it must be added again. Options must be the same but for memory, threads, cpu and allocator; a NULL
 * seed means the one that was used. Errors: MISSING (there is nothing to resume), MISMATCH (other
 * options), BUSY, CORRUPT (the files are damaged: they must be given up, and the build begun anew),
 * FOREIGN, VERSION, IO, NOMEM, and as for _create. */
UNSEEN_API enum unseen_status
unseen_list_build_resume(struct unseen_list_build **build_out, const char *path,
                         const struct unseen_list_build_options *options,
                         struct unseen_bytes *note_out, struct unseen_error *error);

/* Whether a resumed build had been given to _finish: all was added, and only _finish is left. */
UNSEEN_API bool unseen_list_build_complete(const struct unseen_list_build *build);

/* The 64-bit key of an identity. Any thread may make keys at any time. */
UNSEEN_API uint64_t unseen_list_build_key(const struct unseen_list_build *build, const void *data,
                                          size_t len);

/* Adds identities, or their keys; what comes twice counts once. Errors: IO and NOMEM, after which
 * the build can only be freed; STOPPED (an earlier call had failed), ARGUMENT (the build is
 * complete). */
UNSEEN_API enum unseen_status unseen_list_build_add(struct unseen_list_build *build,
                                                    const struct unseen_bytes *items, size_t n,
                                                    struct unseen_error *error);
UNSEEN_API enum unseen_status unseen_list_build_add_keys(struct unseen_list_build *build,
                                                         const uint64_t *keys, size_t n,
                                                         struct unseen_error *error);

/* Builds the file: at PATH.new, synced, and renamed to path, so that whoever asks has the old list or
 * the new one, whole. Only the owner may read PATH.new; the list gets mode 0644, less what the umask
 * takes. The same different keys, options and seed give the same bytes, for any order and number of
 * threads; keys that come twice may change how many parts the list has. progress, unless NULL, is called now and then, by one thread at a time, with how many of n keys are done;
 * false from it ends the building (STOPPED). Once only. With options.keep it begins with a checkpoint,
 * from which it can be resumed. Errors: IO, NOMEM, CORRUPT (keys that were put on the disk came back
 * changed), BUSY (another process builds the same path), FOREIGN (PATH.new is a link, or another user's
 * file), ARGUMENT (called twice, or more than 10^13 keys), STOPPED (as for _add). */
UNSEEN_API enum unseen_status unseen_list_build_finish(struct unseen_list_build *build,
                                                       bool (*progress)(void *context,
                                                                        uint64_t ndone, uint64_t n),
                                                       void *context, struct unseen_error *error);

struct unseen_list;

/* How a list is read. The first two map the file: it must not be cut short or written to while it is
 * open but by an edit ("Changes" below), and may be replaced by rename, which this list then does not
 * see. */
enum unseen_list_access {
    UNSEEN_LIST_WARM = 0, /* mapped, and read ahead by the system as memory allows */
    UNSEEN_LIST_COLD = 1, /* mapped, and only what questions touch is read */
    UNSEEN_LIST_LOAD = 2  /* read into memory of its own: the fastest to ask */
};

struct unseen_list_options {
    size_t size; /* sizeof(struct unseen_list_options) */
    enum unseen_list_access access;
    enum unseen_cpu cpu;
    const struct unseen_allocator *allocator; /* copied; its context must outlive the list */
};

/* Opens a list. options may be NULL. Checks everything but the pages, so that a damaged file gives
 * wrong answers at worst (see unseen_list_verify). Errors: MISSING, FOREIGN (not a list), VERSION,
 * CORRUPT, IO, NOMEM, ARGUMENT, UNSUPPORTED (cpu). */
UNSEEN_API enum unseen_status unseen_list_open(struct unseen_list **list_out, const char *path,
                                               const struct unseen_list_options *options,
                                               struct unseen_error *error);
UNSEEN_API void unseen_list_close(struct unseen_list *list);

/* The key of an identity in this list. */
UNSEEN_API uint64_t unseen_list_key(const struct unseen_list *list, const void *data, size_t len);

/* Whether the identity is listed: certain if not, else wrong at the list's rate. What was allowed or
 * removed is not, what was added is. */
UNSEEN_API bool unseen_list_contains(const struct unseen_list *list, const void *data, size_t len);

/* The same for n identities or keys: verdicts gets n bytes, UNSEEN_SEEN for what is listed,
 * UNSEEN_ALLOWED for what is allowed and UNSEEN_NEW for everything else. Several times as fast, best
 * with 1024 or more at a time. Of identities the text is compared with those of changes; keys are all
 * that the second can compare. */
UNSEEN_API void unseen_list_contains_batch(const struct unseen_list *list,
                                           const struct unseen_bytes *items, size_t n,
                                           uint8_t *verdicts);
UNSEEN_API void unseen_list_contains_keys(const struct unseen_list *list, const uint64_t *keys,
                                          size_t n, uint8_t *verdicts);

/* Whether the list covers items[0..n), each a question as it comes: by the texts that the list's kind
 * makes of it (unseen_kind_texts, with url). A verdict is UNSEEN_ALLOWED if one of them is allowed,
 * or else UNSEEN_SEEN if one is listed, or else UNSEEN_NEW, as for what is nothing of the kind. Any
 * number of threads may ask. Errors: NOMEM, ARGUMENT (url is missing); there are no verdicts then. */
UNSEEN_API enum unseen_status unseen_list_covers_batch(const struct unseen_list *list,
                                                       const struct unseen_url *url,
                                                       const struct unseen_bytes *items, size_t n,
                                                       uint8_t *verdicts);

struct unseen_list_info {
    size_t size;     /* sizeof(struct unseen_list_info), set by the caller */
    double fpr;      /* as asked for */
    double rate;     /* that a question has at most */
    uint64_t ngiven; /* keys added */
    uint64_t nkeys;  /* different ones */
    uint64_t bytes;  /* of the file */
    uint64_t npages;
    unsigned nlayers;
    uint64_t nbumped;    /* keys that are not on a page of the first layer */
    uint64_t nleft;      /* keys that are on no page, but listed */
    unsigned key_bits;   /* that are kept */
    uint64_t seed_id;    /* as of a store */
    const char *profile; /* valid as long as the list */
    enum unseen_kind kind;
    uint64_t nallowed; /* by changes, as are the next two */
    uint64_t nadded;
    uint64_t nremoved;
    uint64_t changes_bytes; /* of bytes, those of the changes */
    uint64_t torn_bytes;    /* and those of a commit that was interrupted, at the end: ignored */
};

UNSEEN_API enum unseen_status unseen_list_info(const struct unseen_list *list,
                                               struct unseen_list_info *info_out);

/* Reads all of the file and compares its checksums. Errors: CORRUPT (error says where), IO, NOMEM. */
UNSEEN_API enum unseen_status unseen_list_verify(const struct unseen_list *list,
                                                 struct unseen_error *error);

/* ---- Changes of a list -------------------------------------------------------------------------
 * A list can be changed without being built anew: changes are appended to its file, exactly, as
 * texts, and are read into memory by whoever opens it (some 110 bytes and the text for each). An
 * allowed text is not listed, whatever else is said of it; apart from that, an added one is listed
 * and a removed one is not. A text is what stands in the list: the identity, in canonical form
 * (unseen_kind_entry). When changes become many, build the list anew.
 *
 *     unseen_list_edit_open(&edit, "bad.list", NULL, &error);
 *     unseen_list_edit_change(edit, UNSEEN_LIST_ALLOW, items, n, NULL, &error);
 *     unseen_list_edit_commit(edit, &error);
 *     unseen_list_edit_close(edit); */

enum unseen_list_change {
    UNSEEN_LIST_ALLOW = 1,
    UNSEEN_LIST_DISALLOW = 2, /* undoes ALLOW */
    UNSEEN_LIST_ADD = 3,      /* undoes REMOVE, and the other way round */
    UNSEEN_LIST_REMOVE = 4
};

struct unseen_list_edit;

/* Begins to change the list at path, of which options are as for unseen_list_open; only the
 * allocator matters. There is one writer at a time, and any number of readers. Errors: as of
 * unseen_list_open, whose checks it makes, and BUSY (another process is changing it). */
UNSEEN_API enum unseen_status unseen_list_edit_open(struct unseen_list_edit **edit_out,
                                                    const char *path,
                                                    const struct unseen_list_options *options,
                                                    struct unseen_error *error);

/* Makes the change for n texts; the last one made of a text holds. Nobody sees it before the commit.
 * changed, unless NULL, gets n bytes: 1 if that is not what the changes said of the text before, 0
 * if it is, and so nothing is written for it. (What the list was built of does not count: whether a
 * text was listed is a question to the list.) Errors: ARGUMENT (no such change, or a text of 4 GiB),
 * NOMEM, STOPPED (a commit has failed); none of them was made then. */
UNSEEN_API enum unseen_status unseen_list_edit_change(struct unseen_list_edit *edit,
                                                      enum unseen_list_change change,
                                                      const struct unseen_bytes *items, size_t n,
                                                      uint8_t *changed, struct unseen_error *error);

/* Writes all changes made since the last commit, and returns when they are on the disk: all of them
 * or, on failure or after a crash, none. Errors: IO, MISMATCH (another file has been renamed over the
 * list since the edit was opened: that one was not changed); the edit can then only be closed
 * (STOPPED). */
UNSEEN_API enum unseen_status unseen_list_edit_commit(struct unseen_list_edit *edit,
                                                      struct unseen_error *error);

/* Ends it; edit may be NULL. Changes that were not committed never happened. */
UNSEEN_API void unseen_list_edit_close(struct unseen_list_edit *edit);

/* Calls each with everything that changes say of the list, as it was opened or last refreshed: ALLOW,
 * ADD or REMOVE and the text, in the order in which the texts first came, until it returns false. A
 * text that is allowed and added or removed comes twice. */
UNSEEN_API void unseen_list_changes(const struct unseen_list *list,
                                    bool (*each)(void *context, enum unseen_list_change change,
                                                 struct unseen_bytes text),
                                    void *context);

/* Takes up what has been appended to the open file since; *changed_out, unless NULL, says whether
 * there was anything. Costs a look at the header and the length of the file if there was not. Not
 * beside questions on other threads. A list that was replaced (by rename) is another file: open that.
 * Errors: CORRUPT, VERSION, IO, NOMEM; the list then answers as before, or with the first of the new
 * commits. MISMATCH: what is no list any more, or another one, was written over it; its answers are
 * worth nothing then, and where it is mapped and was cut short, asking it ends the process. */
UNSEEN_API enum unseen_status unseen_list_refresh(struct unseen_list *list, bool *changed_out,
                                                  struct unseen_error *error);

#ifdef __cplusplus
}
#endif

#endif
