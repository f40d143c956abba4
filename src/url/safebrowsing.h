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
    UNSEEN__EXPRESSIONS_MAX = 48,  /* 8 hosts times 6 paths */
    UNSEEN__READINGS_MAX = 16,     /* readings of one path: at most 14, and the form of entries */
    UNSEEN__READ_TEXTS_MAX = 648   /* 8 hosts times "/" and 5 paths of each reading */
};

/* The room for the expressions of all readings (unseen__expressions_read): the form of entries, and
 * what unseen__url_readings takes. */
enum {
    UNSEEN__READ_BOUND_FACTOR = 72,
    UNSEEN__READ_BOUND_EXTRA = 8 * 1024
};

unseen__url_slow_fn unseen__url_safebrowsing_browsed; /* read as browsers do, then the same */
unseen__url_slow_fn unseen__url_safebrowsing_entry;   /* the same, and a port is digits */
unseen__url_fast_fn unseen__fast_browsed;             /* the fast path of both */

/* The expressions of an entry, of which the first is the entry itself. */
enum unseen_status unseen__expressions_entry(const struct unseen_url *url, struct unseen_bytes in,
                                             char *buf, size_t cap,
                                             struct unseen_bytes *expressions, size_t *n_out);

/* The expressions of a question: those of all readings of its path (readings.c), the most specific
 * ones first. Bit r of readings_out[i] says that expression i is one of reading r. */
enum unseen_status unseen__expressions_read(const struct unseen_url *url, struct unseen_bytes in,
                                            char *buf, size_t cap, struct unseen_bytes *expressions,
                                            uint16_t *readings_out, size_t *n_out);

/* May programs disagree about which folder a path leads to? */
bool unseen__path_is_ambiguous(struct unseen_bytes path);

/* Adds to readings[0], "host/path?query" in the form of entries, the other readings of a question
 * that have another path; returns their number. They lie in room, which is as long as
 * UNSEEN__READ_BOUND_... less unseen_url_bound(in.len, 0). */
size_t unseen__url_readings(struct unseen_bytes in, size_t host_len, char *room,
                            struct unseen_bytes readings[UNSEEN__READINGS_MAX]);

/* Decodes the escapes of in[0..len) until none is left; returns the length of the result. out has
 * len bytes and may be in. */
size_t unseen__decode_fully(const char *in, size_t len, char *out);

/* Writes the bytes that may stand for themselves, and the others, and the byte `also`, as escapes;
 * returns the end. */
char *unseen__write_escaped(const char *in, size_t len, char also, char *out);

/* Do browsers and the published rules certainly read the same host, path and query? False for
 * other texts, and for some of those that they read alike. */
bool unseen__safebrowsing_reads_alike(const char *in, size_t len);

/* Writes the canonical form of the published rules to buf; returns its length, or 0 if the text is
 * not a URL. *port_out is the port, which the form does not have, in the last bytes of buf. */
size_t unseen__safebrowsing_form(struct unseen_bytes text, char *buf, size_t cap,
                                 struct unseen_bytes *port_out);

#endif
