/* SPDX-License-Identifier: MIT
 *
 * A secret is 32 bytes: drawn at random, or derived from a seed by a one-way function. A store or
 * list needs its secret to make the same keys again, so the secret stands in every store, list and
 * export. BLAKE2b [RFC 7693] derives everything else from the secret, each use under a
 * personalisation string of its own (docs/format.md, "Keys"). */
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

/* Makes the secret of the options `seed` and `seed_len`: derived from the seed, or random if seed
 * is NULL. Errors: ARGUMENT (a seed of no bytes, or a length without a seed), RANDOM. */
enum unseen_status unseen__secret_make(const void *seed, size_t seed_len,
                                       struct unseen__secret *secret_out,
                                       struct unseen_error *error);

/* Fills `out` with len bytes derived from the secret, len below 2^32. A shorter output is a prefix
 * of a longer one. */
void unseen__secret_expand(const struct unseen__secret *secret, uint8_t *out, size_t len);

/* The id of a secret: equal secrets have equal ids. The id reveals only whether a guess of the
 * secret is right. */
uint64_t unseen__secret_id(const struct unseen__secret *secret);

/* Overwrites the secret. */
void unseen__secret_forget(struct unseen__secret *secret);

bool unseen__secret_equals(const struct unseen__secret *a, const struct unseen__secret *b);

#endif
