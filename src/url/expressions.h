/* SPDX-License-Identifier: MIT
 *
 * The expressions that lists of sites are asked for. The first version is what Safe Browsing
 * published. In the second one a URL is read as browsers do, and questions go further up. */
#ifndef UNSEEN_URL_EXPRESSIONS_H
#define UNSEEN_URL_EXPRESSIONS_H

#include "url/url.h"

struct unseen__expressions {
    unsigned nlabels; /* of the longest suffix of a host that is looked up */
    unseen__url_fast_fn *(*fast)(enum unseen_cpu cpu, uint32_t rules);
    unseen__url_slow_fn *slow;
};

extern const struct unseen__expressions unseen__expressions_1;
extern const struct unseen__expressions unseen__expressions_2;

/* The second one for entries: what looks like a port is one, or the text is not a URL. */
extern const struct unseen__expressions unseen__expressions_entry;

enum {
    UNSEEN__EXPRESSIONS_1_MAX = 30, /* 5 hosts times 6 paths */
    UNSEEN__EXPRESSIONS_2_MAX = 48  /* 8 hosts times 6 paths */
};

/* As unseen_url_expressions. */
enum unseen_status unseen__expressions_find(const struct unseen__expressions *form,
                                            const struct unseen_url *url, struct unseen_bytes in,
                                            char *buf, size_t cap, struct unseen_bytes *expressions,
                                            size_t *n_out);

#endif
