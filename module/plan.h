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
    unsigned nlayers;       /* layers that a value may have, 1 or 2 */
    const char *filters[2]; /* of each layer */
    double rates[2];
    uint64_t first_max;       /* keys in the first layer; 0: any number */
    uint64_t first_bytes;     /* memory of a first layer that does not grow; 0: it grows */
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

#endif
