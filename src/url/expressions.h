/* SPDX-License-Identifier: MIT
 *
 * The expressions that lists of sites are asked for. A URL is read as browsers do, and questions go
 * further up than Safe Browsing published: to a site of eight labels instead of five. */
#ifndef UNSEEN_URL_EXPRESSIONS_H
#define UNSEEN_URL_EXPRESSIONS_H

#include "url/url.h"

enum {
    UNSEEN__EXPRESSION_LABELS = 8, /* of the longest suffix of a host */
    UNSEEN__EXPRESSIONS_MAX = 48   /* 8 hosts times 6 paths */
};

/* As unseen_url_expressions, for suffixes of a host of at most nlabels labels. slow is
 * unseen__url_safebrowsing_browsed or, for entries, unseen__url_safebrowsing_entry. */
enum unseen_status unseen__expressions_find(unseen__url_slow_fn *slow, unsigned nlabels,
                                            const struct unseen_url *url, struct unseen_bytes in,
                                            char *buf, size_t cap, struct unseen_bytes *expressions,
                                            size_t *n_out);

#endif
