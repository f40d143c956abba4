/* SPDX-License-Identifier: MIT
 *
 * What the files of the scheme "safebrowsing" share, and what surt.c and the kind "expressions"
 * use. Lists of sites read a URL as browsers do, and are asked further up than Safe Browsing
 * published: up to a site of eight labels instead of five. */
#ifndef UNSEEN_URL_SAFEBROWSING_H
#define UNSEEN_URL_SAFEBROWSING_H

#include "url/url.h"

enum {
    UNSEEN__EXPRESSION_LABELS = 8, /* of the longest suffix of a host */
    UNSEEN__EXPRESSIONS_MAX = 48   /* 8 hosts times 6 paths */
};

unseen__url_slow_fn unseen__url_safebrowsing_browsed; /* read as browsers do, then the same */
unseen__url_slow_fn unseen__url_safebrowsing_entry;   /* the same, and a port is digits */
unseen__url_fast_fn unseen__fast_browsed;             /* the fast path of both */

/* As unseen_url_expressions, for suffixes of a host of at most nlabels labels. slow is
 * unseen__url_safebrowsing_browsed or, for entries, unseen__url_safebrowsing_entry. */
enum unseen_status unseen__expressions_find(unseen__url_slow_fn *slow, unsigned nlabels,
                                            const struct unseen_url *url, struct unseen_bytes in,
                                            char *buf, size_t cap, struct unseen_bytes *expressions,
                                            size_t *n_out);

/* Do browsers and the published rules certainly read the same host, path and query? False for
 * other texts, and for some of those that they read alike. */
bool unseen__safebrowsing_reads_alike(const char *in, size_t len);

/* Writes the canonical form of the published rules to buf; returns its length, or 0 if the text is
 * not a URL. *port_out is the port, which the form does not have, in the last bytes of buf. */
size_t unseen__safebrowsing_form(struct unseen_bytes text, char *buf, size_t cap,
                                 struct unseen_bytes *port_out);

#endif
