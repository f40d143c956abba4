/* SPDX-License-Identifier: MIT
 *
 * The fast path of the WHATWG profiles: what its kernels share. fast.c explains it. */
#ifndef UNSEEN_URL_FAST_H
#define UNSEEN_URL_FAST_H

#include <string.h>

#include "url/url.h"

/* The length of "http://" or "https://" at the start; 0 for anything else. */
static inline size_t unseen__fast_scheme(const char *in, size_t len)
{
    if (len > 8 && memcmp(in, "https://", 8) == 0) {
        return 8;
    }
    return len > 7 && memcmp(in, "http://", 7) == 0 ? 7 : 0;
}

/* The end of a port that is written as it must be, for in[at] == ':'; 0 for anything else, and for the
 * port that is not written at all. */
size_t unseen__fast_port(const char *in, size_t at, size_t len, uint32_t unwritten);

enum {
    UNSEEN__NO_PORT = 0
};

/* Finds the path behind a host that ends at in[at], and behind its port. *slash_out: there is none, and
 * a / has to be put in. false: not certain to be canonical. */
static inline bool unseen__fast_path(const char *in, size_t at, size_t len, uint32_t unwritten,
                                     size_t *path_out, bool *slash_out)
{
    if (at < len && in[at] == ':') {
        at = unseen__fast_port(in, at, len, unwritten);
        if (at == 0) {
            return false;
        }
    }
    *path_out = at;
    *slash_out = at == len || in[at] != '/';
    return !*slash_out || at == len || in[at] == '?' || in[at] == '#';
}

/* The port that the WHATWG profiles do not write; in starts with http:// or https://. */
static inline uint32_t unseen__fast_standard_port(const char *in)
{
    return in[4] == 's' ? 443 : 80;
}

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
