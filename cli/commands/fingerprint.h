/* SPDX-License-Identifier: MIT
 *
 * Scrapy's fingerprint of a request: SHA-1 of a JSON object with method, URL, body and headers, as
 * RequestFingerprinter of Scrapy 2.7 and newer makes it. Here for a GET without a body, under which
 * Scrapy's duplicate filter and its file requests.seen know nearly every page. */
#ifndef UNSEEN_CLI_FINGERPRINT_H
#define UNSEEN_CLI_FINGERPRINT_H

#include <stdbool.h>

#include <unseen.h>

enum {
    FINGERPRINT_DIGITS = 40
};

/* Writes the fingerprint of a URL, of which `canonical` is the form under the profile scrapy, in
 * hexadecimal. Returns false if Scrapy makes no request of it: it has no "://" and is neither
 * about: nor data:. */
bool fingerprint_write(struct unseen_bytes input, struct unseen_bytes canonical,
                       char digits_out[FINGERPRINT_DIGITS]);

#endif
