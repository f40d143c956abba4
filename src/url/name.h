/* SPDX-License-Identifier: MIT
 *
 * Host names for the schemes "scrapy" and "safebrowsing", which take nearly any bytes as a name,
 * and for the kind "mail". */
#ifndef UNSEEN_URL_NAME_H
#define UNSEEN_URL_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "url/ascii.h"
#include "url/host.h"
#include "url/percent.h"

/* name_to_ascii needs 3 * len bytes of room and these. */
enum {
    NAME_EXTRA = 512
};

/* Writes the ASCII form of a name that is not ASCII; in and out may be the same. Returns false if
 * IDNA refuses the name, makes nothing of it, or makes a byte that means something in a URL (the
 * full-width solidus becomes a slash). */
static inline bool name_to_ascii(const char *in, size_t len, char *out, size_t *len_out)
{
    if (!unseen__idna_to_ascii(in, len, out, 3 * len + NAME_EXTRA, len_out)) {
        return false;
    }
    for (size_t i = 0; i < *len_out; i++) {
        if (unseen__url_class[(unsigned char)out[i]] & UNSEEN__FORBIDDEN_DOMAIN) {
            return false;
        }
    }
    size_t ndots = 0;
    while (ndots < *len_out && out[ndots] == '.') {
        ndots++;
    }
    return ndots < *len_out;
}

#endif
