/* SPDX-License-Identifier: MIT
 *
 * Leases of the cache guard: which keys are being loaded, by whom, until when, and which clients
 * wait for them. A lease ends when its loader is done, when its time is over, and when anybody
 * else changes its key. Leases are not saved and not replicated: after a failover, a key that
 * was being loaded is loaded once more. */
#ifndef UNSEEN_MODULE_GUARD_LEASES_H
#define UNSEEN_MODULE_GUARD_LEASES_H

#include <unseen.h>

#include "server/server.h"

enum {
    GUARD_TOKEN_LEN = 16
};

struct guard_waiter;

struct guard_lease {
    char token[GUARD_TOKEN_LEN]; /* hexadecimal digits */
    int64_t until;               /* of server_steady */

    /* of guard_leases.c */
    struct unseen_key key;
    bool has_timer;
    uint64_t timer;
    struct guard_waiter *first; /* waiters, in the order in which they came */
    struct guard_waiter *last;
};

/* What a client that waits is woken with. */
enum guard_outcome {
    GUARD_ASK_AGAIN, /* the key has changed */
    GUARD_ABSENT,    /* the loader found nothing */
    GUARD_LEASED     /* the client is the next loader */
};

/* A client that waits: the private data of its callbacks. */
struct guard_waiter {
    enum guard_outcome outcome;
    char token[GUARD_TOKEN_LEN]; /* LEASED */
    bool is_answered;            /* set by the callback that replies */

    /* of guard_leases.c */
    struct guard_lease *lease; /* NULL: woken */
    struct guard_waiter *before;
    struct guard_waiter *behind;
    struct server_client *client;
    struct unseen_key key;
    int64_t ttl;
};

/* Must be called once, before the first lease. Returns false if the server refuses. */
bool guard_leases_init(struct server_ctx *ctx);

/* The lease of a key in the context's database; NULL: there is none. */
struct guard_lease *guard_lease_find(struct server_ctx *ctx, const struct server_string *name);

/* Call it at each cron event. */
void guard_leases_cron(struct server_ctx *ctx);

/* Leases a key that is not leased, for ttl milliseconds. Returns NULL without memory. */
struct guard_lease *guard_lease_take(struct server_ctx *ctx, const struct server_string *name,
                                     int64_t ttl);

/* Ends a lease. Those who wait are woken with the outcome; LEASED wakes the first of them, who
 * gets a new lease for which the others wait. */
void guard_lease_end(struct server_ctx *ctx, struct guard_lease *lease, enum guard_outcome outcome);

/* Blocks the client until the lease ends, for `wait` milliseconds at most. A waiter who gets the
 * lease has it for ttl milliseconds. `reply` is called with the waiter, `give_up` when the time
 * is over. Returns false without memory. */
bool guard_lease_wait(struct server_ctx *ctx, struct guard_lease *lease, int64_t ttl, int64_t wait,
                      server_handler *reply, server_handler *give_up);

/* To be called by give_up. */
void guard_waiter_gives_up(struct server_ctx *ctx);

/* The number of leases. */
uint64_t guard_leases_count(void);

/* How many leases ran out. */
uint64_t guard_leases_expired(void);

#endif
