/* SPDX-License-Identifier: MIT
 *
 * Settings that several keys share, with what follows from them: the URL identity, and the secret
 * that makes keys of items. A million small values with equal settings have one recipe. */
#ifndef UNSEEN_MODULE_RECIPE_H
#define UNSEEN_MODULE_RECIPE_H

#include <unseen.h>

#include "value/settings.h"

struct server_string;

struct recipe {
    struct settings settings;
    unsigned key_bits;
    bool starts_small;
    const char *filter; /* of the set, behind the small set if there is one */
    bool counts;        /* each add, too */
    double rate;
    uint64_t layer_capacity;  /* of a small set with layers; 0: it has the beginnings of its keys */
    uint64_t capacity;        /* of a set that is sized; 0: it grows */
    uint64_t bytes;           /* of such a set, before it grows */
    uint16_t id;              /* the mark of its small sets; 0: there are too many recipes */
    struct unseen_url *url;   /* NULL: bytes are the identity */
    struct unseen_set *keyer; /* an empty set, which makes keys of items */

    /* of recipe.c */
    unsigned nusers;
    struct recipe *next;
};

/* Finds or makes the recipe of these settings; the caller gives it back with recipe_release.
 *
 * Errors:
 *   - FPR: lower than can be promised
 *   - NAME, VERSION or ARGUMENT: the profile
 *   - NOMEM
 * Threads: any. */
enum unseen_status recipe_acquire(struct recipe **recipe_out, const struct settings *settings);

/* One more user of a recipe. */
void recipe_share(struct recipe *recipe);

void recipe_release(struct recipe *recipe);

/* The recipe with this id. The id is not 0, and the caller has a value of the recipe. */
struct recipe *recipe_of_id(uint16_t id);

enum {
    ITEMS_BATCH = 256
};

/* Makes the keys of up to ITEMS_BATCH items. Errors: NOMEM, for a long URL. */
enum unseen_status recipe_keys(const struct recipe *recipe, struct server_string **items, size_t n,
                               struct unseen_key *keys);

#endif
