/* SPDX-License-Identifier: MIT */
#include "keys/windows.h"

#include "value/timed.h"
#include "value/value.h"

enum {
    IDLE = 100,  /* milliseconds between two looks at the clock, at most, */
    BUSY = 1,    /* from slice to slice, */
    PAUSED = 20, /* and while the server lets nothing be written */
    FEW = 16     /* values: so many take a slice together */
};

static bool has_timer;
static uint64_t
    last; /* a later slice is for a later time, so each value knows whether it is in it */

void windows_tick(struct server_ctx *ctx, uint64_t upto)
{
    last = upto;
    value_tick_all(upto);
    (void)server.Replicate(ctx, "UNSEEN.TICK", "l", (long long)upto);
}

/* Returns the milliseconds to the next look. */
static long long look(struct server_ctx *ctx)
{
    const uint64_t now = (uint64_t)server.Milliseconds();
    size_t n;
    uint64_t due = timed_first(&n);
    if (!(server.GetContextFlags(ctx) & SERVER_IS_MASTER) || due > now) {
        return due > now && due - now < IDLE ? (long long)(due - now) : IDLE;
    }
    if (server.AvoidReplicaTraffic()) {
        return PAUSED;
    }
    due = n > FEW ? due : now;
    windows_tick(ctx, due > last ? due : last + 1);
    return BUSY;
}

static void tick(struct server_ctx *ctx, void *data)
{
    size_t n;
    const long long wait = look(ctx);
    (void)timed_first(&n);
    has_timer = n > 0;
    if (has_timer) {
        (void)server.CreateTimer(ctx, wait, tick, data);
    }
}

/* A value may come by a load, which can start no timer. */
void windows_cron(struct server_ctx *ctx)
{
    size_t n;
    (void)timed_first(&n);
    if (n > 0 && !has_timer) {
        has_timer = true;
        (void)server.CreateTimer(ctx, BUSY, tick, NULL);
    }
}
