/* SPDX-License-Identifier: MIT
 *
 * The patterns of the rules drop-params and only-params: names of parameters, for every host or for
 * a host and what is below it. A list of patterns is written
 *
 *     utm_*,ref,news.example:page
 *
 * In a name, a byte that means something here is written as an escape: %2C for a comma, %2A for a
 * star. A host is written as in a URL. */
#ifndef UNSEEN_URL_PARAMS_H
#define UNSEEN_URL_PARAMS_H

#include "unseen.h"
#include "url/patterns.h"

/* A host with patterns of its own. */
struct unseen__param_site {
    const char *host;
    size_t len;
    const struct unseen__param_site *above; /* the next host above this one, or NULL */
    struct unseen__patterns patterns;
};

struct unseen__params {
    struct unseen__patterns everywhere;
    bool has_everywhere;
    struct unseen__param_site *sites; /* in rising order of length, then of bytes */
    size_t nsites;
    size_t nbytes; /* of this object */
};

/* Reads a list of patterns. On success text_out gets the list in its one spelling: sorted, without
 * patterns that others cover, at most UNSEEN_URL_ID_MAX bytes and a NUL. rule is the name of the
 * rule, for errors. ARGUMENT: a pattern is wrong, or the text is too long. */
enum unseen_status unseen__params_create(struct unseen__params **params_out, const char *rule,
                                         const char *list, const struct unseen_allocator *allocator,
                                         char text_out[UNSEEN_URL_ID_MAX + 1],
                                         struct unseen_error *error);

void unseen__params_free(struct unseen__params *params, const struct unseen_allocator *allocator);

/* The lowest of the sites that the host is or is below; NULL if there is none. A dot at the end of
 * the host does not count. */
const struct unseen__param_site *unseen__params_site(const struct unseen__params *params,
                                                     const char *host, size_t len);

/* Does a pattern for every host, or for site, or for a site above it match the name? */
bool unseen__params_match(const struct unseen__params *params,
                          const struct unseen__param_site *site, const char *name, size_t len);

/* The first pattern of `kept` that `dropped` drops everywhere where `kept` would keep it, written
 * to text_out; false if there is none. */
bool unseen__params_contradict(const struct unseen__params *dropped,
                               const struct unseen__params *kept,
                               char text_out[UNSEEN_URL_ID_MAX + 1]);

#endif
