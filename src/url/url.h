/* SPDX-License-Identifier: MIT
 *
 * The inside of URL identity: what a canonicaliser holds, and what a scheme implements.
 *
 * A profile is a scheme (a way to read and write a URL: none, whatwg, scrapy, safebrowsing) and the
 * rules that are on. For each URL, unseen_url_canon asks the scheme's fast path first, which either
 * gives the exact answer at once or declines. Then it asks the slow path, which is the
 * specification:
 *
 *     input -> fast path -> yes: answer
 *                        -> no:  slow path -> answer */
#ifndef UNSEEN_URL_URL_H
#define UNSEEN_URL_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "unseen.h"
#include "url/params.h"

/* The rules that can be switched, as bits. Names and sentences are in profiles.c. Nothing stored
 * holds these numbers. */
enum unseen__url_rule {
    UNSEEN__RULE_KEEP_FRAGMENT = 1u << 0,
    UNSEEN__RULE_KEEP_HASHBANG = 1u << 1,
    UNSEEN__RULE_DEFAULT_SCHEME = 1u << 2,
    UNSEEN__RULE_FOLD_SCHEME = 1u << 3,
    UNSEEN__RULE_DROP_USERINFO = 1u << 4,
    UNSEEN__RULE_STRIP_WWW = 1u << 5,
    UNSEEN__RULE_UPPER_ESCAPES = 1u << 6,
    UNSEEN__RULE_DECODE_UNRESERVED = 1u << 7,
    UNSEEN__RULE_COLLAPSE_SLASHES = 1u << 8,
    UNSEEN__RULE_STRIP_SESSIONS = 1u << 9,
    UNSEEN__RULE_STRIP_INDEX = 1u << 10,
    UNSEEN__RULE_STRIP_SLASH = 1u << 11,
    UNSEEN__RULE_STRIP_TRACKERS = 1u << 12,
    UNSEEN__RULE_SORT_QUERY = 1u << 13,
    UNSEEN__RULE_DROP_EMPTY_QUERY = 1u << 14,
    UNSEEN__RULE_DROP_BLANK_VALUES = 1u << 15, /* scrapy only: keep_blank_values=False */
    UNSEEN__RULE_SPLIT_SEMICOLONS = 1u << 16,  /* scrapy only: query_separator=";" */
    UNSEEN__RULE_KEEP_ROUTES = 1u << 17,
    UNSEEN__RULE_STRIP_DOT = 1u << 18,
    UNSEEN__RULE_DECODE_RESERVED = 1u << 19,
    UNSEEN__RULE_STRIP_QUERY = 1u << 20,
    UNSEEN__RULE_DROP_PARAMS = 1u << 21, /* by the names in drop_params */
    UNSEEN__RULE_ONLY_PARAMS = 1u << 22, /* by the names in only_params */
    UNSEEN__RULE_UNESCAPE_AMP = 1u << 23,
    UNSEEN__RULE_NAMES_ONLY = 1u << 24
};

/* The rules that the parser and the fast path follow. rules.c applies the others to the URL that
 * the parser has made. */
#define UNSEEN__RULES_OF_PARSER                                                                    \
    ((uint32_t)(UNSEEN__RULE_KEEP_FRAGMENT | UNSEEN__RULE_KEEP_HASHBANG |                          \
                UNSEEN__RULE_KEEP_ROUTES | UNSEEN__RULE_DEFAULT_SCHEME))
#define UNSEEN__RULES_BEYOND (~UNSEEN__RULES_OF_PARSER)

/* Answers for in[0..len) only if the slow path certainly gives the same form and bytes. Returns
 * false if it declines; *out is then untouched. May write to buf[0..cap). Reads nothing outside the
 * input. */
typedef bool unseen__url_fast_fn(const struct unseen_url *url, const char *in, size_t len,
                                 char *buf, size_t cap, struct unseen_canon *out);

/* Always answers. cap is at least unseen_url_bound(len, 0); nothing past that is written, so no
 * scheme needs to check again as long as its output and its scratch space fit in the bound. */
typedef void unseen__url_slow_fn(const struct unseen_url *url, const char *in, size_t len,
                                 char *buf, size_t cap, struct unseen_canon *out);

struct unseen_url {
    unseen__url_fast_fn *fast; /* NULL: always slow */
    unseen__url_fast_fn *scan; /* what `fast` begins with if there are rules behind it */
    unseen__url_slow_fn *slow;
    uint32_t rules;                     /* enum unseen__url_rule */
    struct unseen__params *drop_params; /* NULL: the rule is off */
    struct unseen__params *only_params;
    struct unseen__patterns trackers; /* of the rule strip-trackers */
    struct unseen__patterns sessions; /* of the rule strip-sessions */
    struct unseen_allocator allocator;
    char *id;
};

/* bound(len) = 8 len + 1024. A byte of input makes at most 3 of output. Sorting a query takes the
 * most room besides: a copy of its text, and 8 bytes for each piece. So two bytes of input, a
 * separator and a byte that is escaped, make 4 + 4 + 8 = 16 in all; a longer piece makes less for
 * each byte. The rest is for parts that do not grow with the input: a name, a scheme, an
 * address. */
enum {
    UNSEEN__URL_BOUND_FACTOR = 8,
    UNSEEN__URL_BOUND_EXTRA = 1024
};

static inline struct unseen_bytes bytes_between(const char *start, const char *end)
{
    return (struct unseen_bytes){start, (size_t)(end - start)};
}

static inline bool unseen__url_rule(const struct unseen_url *url, enum unseen__url_rule rule)
{
    return (url->rules & (uint32_t)rule) != 0;
}

/* Do the rules keep a fragment whose first character is c? */
static inline bool unseen__keeps_fragment(uint32_t rules, char c)
{
    return (rules & UNSEEN__RULE_KEEP_FRAGMENT) ||
           (c == '!' && (rules & (UNSEEN__RULE_KEEP_HASHBANG | UNSEEN__RULE_KEEP_ROUTES))) ||
           (c == '/' && (rules & UNSEEN__RULE_KEEP_ROUTES));
}

unseen__url_slow_fn unseen__url_none;
unseen__url_slow_fn unseen__url_whatwg; /* and crawl, aggressive: the same with other rules */
unseen__url_slow_fn unseen__url_scrapy;
unseen__url_slow_fn unseen__url_safebrowsing;

/* The fast path of a scheme for a processor level and a set of rules; NULL if there is none. */
unseen__url_fast_fn *unseen__url_whatwg_fast(enum unseen_cpu cpu, uint32_t rules);
unseen__url_fast_fn *unseen__url_scrapy_fast(enum unseen_cpu cpu, uint32_t rules);
unseen__url_fast_fn *unseen__url_safebrowsing_fast(enum unseen_cpu cpu, uint32_t rules);

/* The scan that proves that a URL is canonical to WHATWG. */
unseen__url_fast_fn *unseen__url_whatwg_scan(enum unseen_cpu cpu);

/* The slow half of unseen_url_canon. */
enum unseen_status unseen__url_canon_slowly(const struct unseen_url *url, const void *data,
                                            size_t len, void *buf, size_t cap,
                                            struct unseen_canon *canon_out);

/* As unseen_url_canon. Inlined where a set makes keys: the fast path answers most URLs. */
UNSEEN_INLINE enum unseen_status unseen__url_canon(const struct unseen_url *url, const void *data,
                                                   size_t len, void *buf, size_t cap,
                                                   struct unseen_canon *canon_out)
{
    if (UNSEEN_LIKELY(url->fast != NULL) && url->fast(url, data, len, buf, cap, canon_out)) {
        return UNSEEN_OK;
    }
    return unseen__url_canon_slowly(url, data, len, buf, cap, canon_out);
}

/* Stores text as the answer: UNCHANGED if it equals the input, else REWRITTEN. */
void unseen__url_answer(struct unseen_canon *out, const char *in, size_t len, const char *text,
                        size_t text_len);

/* Stores the answer FAILED. */
void unseen__url_fail(struct unseen_canon *out, const char *in, size_t len);

#endif
