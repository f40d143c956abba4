/* SPDX-License-Identifier: MIT
 *
 * The fast path of the WHATWG profiles: what its kernels share. fast.c explains it. */
#ifndef UNSEEN_URL_FAST_H
#define UNSEEN_URL_FAST_H

#include "url/url.h"

/* The end of a port that is written as it must be, for in[at] == ':'; 0 for anything else. */
size_t unseen__fast_port(const char *in, size_t at, size_t len);

enum unseen__fast_verdict {
    UNSEEN__FAST_GO_ON,  /* harmless here */
    UNSEEN__FAST_CUT,    /* the fragment starts here, and nothing more has to be read */
    UNSEEN__FAST_DECLINE /* perhaps not canonical */
};

/* Where the first ? is, as far as the bytes have been searched for it. */
struct unseen__fast_state {
    size_t query; /* SIZE_MAX: not found yet */
    size_t searched;
};

/* Judges the suspect byte in[at]; calls come in rising order of at. *cut_out gets the length of
 * the canonical form for CUT. */
enum unseen__fast_verdict unseen__fast_judge(uint32_t rules, const char *in, size_t at, size_t len,
                                             struct unseen__fast_state *state, size_t *cut_out);

/* The same for each bit i of suspects, which stands for in[at + i]. */
enum unseen__fast_verdict unseen__fast_judge_all(uint32_t rules, const char *in, size_t at,
                                                 uint64_t suspects, size_t len,
                                                 struct unseen__fast_state *state, size_t *cut_out);

/* Stores the answer in[0..cut) with a / put in at host_end; false if buf is too small. */
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
