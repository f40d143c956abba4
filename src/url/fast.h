/* SPDX-License-Identifier: MIT
 *
 * What the kernels of the WHATWG fast path share; fast.c explains the path. scrapy_fast.c and
 * safebrowsing_fast.c use unseen__fast_scheme. */
#ifndef UNSEEN_URL_FAST_H
#define UNSEEN_URL_FAST_H

#include <string.h>

#include "url/url.h"

/* The length of "http://" or "https://" at the start of a longer text; 0 if neither is there. */
static inline size_t unseen__fast_scheme(const char *in, size_t len)
{
    if (len > 8 && memcmp(in, "https://", 8) == 0) {
        return 8;
    }
    return len > 7 && memcmp(in, "http://", 7) == 0 ? 7 : 0;
}

/* The end of the authority whose host ends at host_end. Returns 0 if the port is not canonical (it
 * has leading zeros, is too large, or is the scheme's own), or if neither a path nor a query nor a
 * fragment nor the end follows. */
size_t unseen__fast_authority_end(const char *in, size_t host_end, size_t len);

enum unseen__fast_verdict {
    UNSEEN__FAST_GO_ON,  /* harmless here */
    UNSEEN__FAST_CUT,    /* the fragment starts here, and nothing more has to be read */
    UNSEEN__FAST_DECLINE /* perhaps not canonical */
};

/* The search for the first ?, as far as it has come. */
struct unseen__fast_state {
    size_t query; /* its index; SIZE_MAX: not found yet */
    size_t searched;
};

/* Judges the suspect byte in[at + i] for each bit i of suspects, until one is not harmless. Calls
 * must come in rising order of at. For CUT, *cut_out gets the length of the canonical form. */
enum unseen__fast_verdict unseen__fast_judge_all(uint32_t rules, const char *in, size_t at,
                                                 uint64_t suspects, size_t len,
                                                 struct unseen__fast_state *state, size_t *cut_out);

/* Stores the answer in[0..cut) with a / put in at host_end. Returns false if buf is too small. */
bool unseen__fast_insert_slash(const char *in, size_t host_end, size_t cut, char *buf, size_t cap,
                               struct unseen_canon *out);

static inline bool unseen__fast_answer(const char *in, size_t len, size_t host_end, bool slash,
                                       size_t cut, char *buf, size_t cap, struct unseen_canon *out)
{
    if (slash) {
        return unseen__fast_insert_slash(in, host_end, cut, buf, cap, out);
    }
    out->form = cut == len ? UNSEEN_URL_UNCHANGED : UNSEEN_URL_REWRITTEN;
    out->bytes.data = in;
    out->bytes.len = cut;
    return true;
}

/* The kernels. */
unseen__url_fast_fn unseen__fast_portable;
unseen__url_fast_fn unseen__fast_avx2;
unseen__url_fast_fn unseen__fast_avx512;

#endif
