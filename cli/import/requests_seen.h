/* SPDX-License-Identifier: MIT
 *
 * Reads the fingerprints of Scrapy's requests.seen, line by line. The first byte tells two
 * shapes apart: lines of 40 hexadecimal digits (older versions), or fingerprints with their
 * length in front, in two bytes, the high byte first (newer versions; the high byte is 0). Both
 * give digits. */
#ifndef UNSEEN_CLI_REQUESTS_SEEN_H
#define UNSEEN_CLI_REQUESTS_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "lines/text.h"

enum {
    FINGERPRINT_DIGITS = 40,    /* SHA-1, Scrapy's own */
    FINGERPRINT_BYTES_MAX = 64, /* in the second shape: a project may use another hash */
};

enum requests_seen_shape {
    REQUESTS_SEEN_UNKNOWN,
    REQUESTS_SEEN_DIGITS,
    REQUESTS_SEEN_BYTES
};

/* Before each file all zero. */
struct requests_seen {
    enum requests_seen_shape shape;
    struct unseen_bytes line; /* digits: the line that was pushed; NULL: it was taken */
    struct text text;         /* bytes: text[at..] was not taken yet */
    size_t at;
    size_t width;    /* bytes: of the first fingerprint, and so of all */
    uint64_t offset; /* bytes: the offset of text[at] in the file */
    bool broken;     /* bytes: the start of the next fingerprint is not known */
    char digits[2 * FINGERPRINT_BYTES_MAX];
};

enum requests_seen_result {
    REQUESTS_SEEN_FINGERPRINT, /* *digits_out is a fingerprint, valid until the next call */
    REQUESTS_SEEN_NOTHING,     /* push the next line */
    REQUESTS_SEEN_WRONG        /* not a fingerprint; bytes: the rest of the file is left out */
};

/* Takes a line, which must not change until its fingerprints are taken; false without memory. */
bool requests_seen_push(struct requests_seen *r, struct unseen_bytes line);

enum requests_seen_result requests_seen_next(struct requests_seen *r,
                                             struct unseen_bytes *digits_out);

/* True if the file may end here. */
bool requests_seen_is_whole(const struct requests_seen *r);

void requests_seen_release(struct requests_seen *r);

#endif
