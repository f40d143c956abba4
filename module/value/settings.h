/* SPDX-License-Identifier: MIT
 *
 * What a key was created with. Everything that a value will ever be follows from its settings and
 * from the changes since, so a replica that gets both has the same bytes. */
#ifndef UNSEEN_MODULE_SETTINGS_H
#define UNSEEN_MODULE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "server/config.h"

enum family {
    FAMILY_BLOOM = 1,  /* BF.*: add and ask */
    FAMILY_CUCKOO = 2, /* CF.*: repeats are counted, and items deleted */
    FAMILY_URLS = 3    /* UNSEEN.*: add, ask and remove, by URL identity */
};

enum {
    PROFILE_MAX = 255,
    SETTINGS_MAX = 512, /* bytes of encoded settings, at most */
};

struct settings {
    enum family family;
    bool is_fixed;       /* NONSCALING: full at capacity */
    uint32_t expansion;  /* answered by INFO; has no effect here */
    uint32_t bucket;     /* BUCKETSIZE, as expansion */
    uint32_t iterations; /* MAXITERATIONS, as expansion */
    double fpr;
    double tightening; /* as expansion */
    uint64_t capacity; /* 0: unknown */
    uint64_t limit;    /* MAXBYTES; 0: none */
    uint64_t window;   /* in milliseconds; 0: none */
    uint8_t seed[SEED_LEN];
    char profile[PROFILE_MAX + 1]; /* the URL identity; "": the bytes */
};

/* The settings as bytes with a checksum; equal settings have equal bytes. buf has SETTINGS_MAX
 * bytes. Returns the length. */
size_t settings_encode(const struct settings *settings, uint8_t *buf);

/* Reads encoded settings.
 *
 * Errors:
 *   - CORRUPT: damaged, or out of range
 *   - VERSION: written by another version of the module */
enum unseen_status settings_decode(struct settings *settings, const uint8_t *data, size_t len);

#endif
