/* SPDX-License-Identifier: MIT
 *
 * Settings that several keys share, with what follows from them: the URL identity, and the secret
 * that makes keys of items. A million small values with equal settings have one plan. */
#ifndef UNSEEN_MODULE_PLAN_H
#define UNSEEN_MODULE_PLAN_H

#include <unseen.h>

#include "settings.h"

struct plan {
    struct settings settings;
    unsigned key_bits;
    bool starts_small;
    const char *filter; /* of the set, behind the small set if there is one */
    double rate;
    uint64_t capacity;        /* of a set that is sized; 0: it grows */
    uint64_t bytes;           /* of such a set, before it grows */
    uint16_t id;              /* the mark of its small sets; 0: there are too many plans */
    struct unseen_url *url;   /* NULL: bytes are the identity */
    struct unseen_set *keyer; /* makes keys; has none */

    /* of plan.c */
    unsigned nusers;
    struct plan *next;
};

/* Finds or makes the plan of these settings; the caller gives it back with plan_release.
 *
 * Errors:
 *   - FPR: lower than can be promised
 *   - NAME, VERSION or ARGUMENT: the profile
 *   - NOMEM
 * Threads: any. */
enum unseen_status plan_acquire(struct plan **plan_out, const struct settings *settings);

/* One more user of a plan. */
void plan_share(struct plan *plan);

void plan_release(struct plan *plan);

/* The plan with this id, which is not 0 and of which the caller has a value. */
struct plan *plan_of_id(uint16_t id);

#endif
