/* SPDX-License-Identifier: MIT
 *
 * A secret is 32 bytes: drawn at random, or derived from a seed by a one-way function. Whoever made
 * keys under a secret needs it to make the same keys again, so it stands in every store, list and
 * export. All that is made of it is made by BLAKE2b [RFC 7693], each use under a personalisation
 * string of its own (docs/format.md, "Keys"). */
#ifndef UNSEEN_HASH_SECRET_H
#define UNSEEN_HASH_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unseen.h"

enum {
    UNSEEN__SECRET_LEN = 32
};

struct unseen__secret {
    uint8_t bytes[UNSEEN__SECRET_LEN];
};

/* The secret of the options `seed` and `seed_len`: derived from the seed, or random if seed is NULL.
 * Errors: ARGUMENT (a seed of no bytes, or bytes of no seed), RANDOM. */
enum unseen_status unseen__secret_make(const void *seed, size_t seed_len,
                                       struct unseen__secret *secret_out,
                                       struct unseen_error *error);

/* Fills out with len bytes that only the secret tells: of any len below 2^32, each a prefix of the
 * longer ones. */
void unseen__secret_expand(const struct unseen__secret *secret, uint8_t *out, size_t len);

/* A number that is equal for equal secrets. It tells nothing about the secret but whether a guess is
 * right. */
uint64_t unseen__secret_id(const struct unseen__secret *secret);

/* Overwrites it. */
void unseen__secret_forget(struct unseen__secret *secret);

bool unseen__secret_equals(const struct unseen__secret *a, const struct unseen__secret *b);

#endif
