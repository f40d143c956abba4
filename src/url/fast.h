/* SPDX-License-Identifier: MIT
 *
 * The fast path of the WHATWG profiles: what its kernels share. fast.c explains it. */
#ifndef UNSEEN_URL_FAST_H
#define UNSEEN_URL_FAST_H

#include "url/url.h"

/* The length of "http://" or "https://" at the start; 0 for anything else. */
size_t unseen__fast_prefix(const char *in, size_t len);

/* Is the name in[start..end) certain to stand in a URL as it is? Its bytes are a-z 0-9 . - _
 * already. */
bool unseen__fast_host(const char *in, size_t start, size_t end);

/* The end of a port that is written as it must be, for in[at] == ':'; 0 for anything else. */
size_t unseen__fast_port(const char *in, size_t at, size_t len);

enum unseen__fast_verdict {
    UNSEEN__FAST_GO_ON,  /* harmless here */
    UNSEEN__FAST_CUT,    /* the fragment starts here, and nothing more has to be read */
    UNSEEN__FAST_DECLINE /* perhaps not canonical */
};

/* Judges the suspect byte in[at]. query is the place of the first ?, or SIZE_MAX. *cut_out gets
 * the length of the canonical form for CUT. */
enum unseen__fast_verdict unseen__fast_judge(uint32_t rules, const char *in, size_t at, size_t len,
                                             size_t query, size_t *cut_out);

/* Stores the answer: in[0..cut), with a / inserted at host_end if that is missing. */
bool unseen__fast_answer(const char *in, size_t len, size_t host_end, bool slash, size_t cut,
                         char *buf, size_t cap, struct unseen_canon *out);

/* The kernels. */
unseen__url_fast_fn unseen__fast_portable;
unseen__url_fast_fn unseen__fast_avx2;

#endif
