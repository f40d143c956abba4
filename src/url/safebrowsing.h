/* SPDX-License-Identifier: MIT
 *
 * What the two files of the scheme "safebrowsing" share. */
#ifndef UNSEEN_URL_SAFEBROWSING_H
#define UNSEEN_URL_SAFEBROWSING_H

#include <stdbool.h>
#include <stddef.h>

/* Do browsers and the published rules certainly read the same host, path and query? False for
 * other texts, and for some of those that they read alike. */
bool unseen__safebrowsing_reads_alike(const char *in, size_t len);

#endif
