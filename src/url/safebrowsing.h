/* SPDX-License-Identifier: MIT
 *
 * What the files of the scheme "safebrowsing" share, and surt.c uses. */
#ifndef UNSEEN_URL_SAFEBROWSING_H
#define UNSEEN_URL_SAFEBROWSING_H

#include <stdbool.h>
#include <stddef.h>

#include "unseen.h"

/* Do browsers and the published rules certainly read the same host, path and query? False for
 * other texts, and for some of those that they read alike. */
bool unseen__safebrowsing_reads_alike(const char *in, size_t len);

/* Writes the canonical form of the published rules to buf; returns its length, or 0 if the text is
 * not a URL. *port_out is the port, which the form does not have, in the last bytes of buf. */
size_t unseen__safebrowsing_form(struct unseen_bytes text, char *buf, size_t cap,
                                 struct unseen_bytes *port_out);

#endif
