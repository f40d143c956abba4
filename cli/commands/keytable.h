/* SPDX-License-Identifier: MIT
 *
 * Exact keys, each with a byte of the caller's. Open addressing; keys are hashed under a secret of the
 * table's own, as who knows the keys' secret can choose them. */
#ifndef UNSEEN_CLI_KEYTABLE_H
#define UNSEEN_CLI_KEYTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

struct keytable_entry {
    struct unseen_key key;
    bool used;
    uint8_t value;
};

/* All zero is an empty one. */
struct keytable {
    struct unseen_set *hasher; /* empty: makes the hashes; NULL without entries */
    struct keytable_entry *entries;
    size_t cap; /* a power of two, or 0 */
    size_t n;
};

/* The entry of the key, NULL if there is none. */
struct keytable_entry *keytable_find(const struct keytable *t, struct unseen_key key);

/* The same, made with value 0 if there is none; NULL without memory. Entries move. */
struct keytable_entry *keytable_put(struct keytable *t, struct unseen_key key);

/* Empties it, and keeps its memory. */
void keytable_clear(struct keytable *t);

void keytable_release(struct keytable *t);

#endif
