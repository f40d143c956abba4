/* SPDX-License-Identifier: MIT
 *
 * The expressions that lists of sites are asked for. A URL is read as browsers do, and questions go
 * further up than Safe Browsing published: to a site of eight labels instead of five. */
#ifndef UNSEEN_URL_EXPRESSIONS_H
#define UNSEEN_URL_EXPRESSIONS_H

#include "url/url.h"

struct unseen__expressions {
    unsigned nlabels; /* of the longest suffix of a host that is looked up */
    unseen__url_slow_fn *slow;
};

/* For questions. */
extern const struct unseen__expressions unseen__expressions_asked;

/* For entries: what looks like a port is a port, or the text is not a URL. */
extern const struct unseen__expressions unseen__expressions_entry;

enum {
    UNSEEN__EXPRESSIONS_MAX = 48 /* 8 hosts times 6 paths */
};

/* As unseen_url_expressions. */
enum unseen_status unseen__expressions_find(const struct unseen__expressions *form,
                                            const struct unseen_url *url, struct unseen_bytes in,
                                            char *buf, size_t cap, struct unseen_bytes *expressions,
                                            size_t *n_out);

#endif
