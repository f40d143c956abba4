/* SPDX-License-Identifier: MIT
 *
 * The fingerprints in a requests.seen of Scrapy, line by line. Two shapes, told apart by the first
 * byte: a line of 40 hexadecimal digits each (older versions), or each with its length in front, in two
 * bytes, the high one first (newer ones; their high byte is 0). Both give digits. */
#ifndef UNSEEN_CLI_REQUESTS_SEEN_H
#define UNSEEN_CLI_REQUESTS_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "lines/text.h"

enum {
    FINGERPRINT_DIGITS = 40,    /* SHA-1, Scrapy's own */
    FINGERPRINT_BYTES_MAX = 64, /* in the second shape; other programs may plug in another hash */
};

enum requests_seen_shape {
    REQUESTS_SEEN_UNKNOWN,
    REQUESTS_SEEN_DIGITS,
    REQUESTS_SEEN_BYTES
};

/* All zero at the start of each file. */
struct requests_seen {
    enum requests_seen_shape shape;
    struct unseen_bytes line; /* digits: the line that was pushed; NULL: taken */
    struct text text;         /* bytes: text[at..] is not taken yet */
    size_t at;
    size_t width;   /* bytes: of each fingerprint, as of the first */
    uint64_t place; /* bytes: of text[at] in the file */
    bool broken;    /* bytes: where the next one begins is not known any more */
    char digits[2 * FINGERPRINT_BYTES_MAX];
};

enum requests_seen_result {
    REQUESTS_SEEN_FINGERPRINT, /* *digits_out is one, valid until the next call */
    REQUESTS_SEEN_NOTHING,     /* push the next line */
    REQUESTS_SEEN_WRONG        /* this is none; of bytes, all that follows is left out */
};

/* Takes a line, which must stay as it is until its fingerprints are taken; false without memory. */
bool requests_seen_push(struct requests_seen *r, struct unseen_bytes line);

enum requests_seen_result requests_seen_next(struct requests_seen *r,
                                             struct unseen_bytes *digits_out);

/* Whether the file may end here. */
bool requests_seen_is_whole(const struct requests_seen *r);

void requests_seen_release(struct requests_seen *r);

#endif
