/* SPDX-License-Identifier: MIT */
#include "keys/windows.h"

#include <stdint.h>

#include "value/timed.h"
#include "value/value.h"

enum {
    IDLE = 100,  /* milliseconds between two looks at the clock, at most, */
    BUSY = 1,    /* from slice to slice, */
    PAUSED = 20, /* and while the server lets nothing be written */
    FEW = 16,    /* values: so many take a slice together */
    LOST = 1000  /* milliseconds after its time a timer is given up */
};

/* The timer, and when it is due by a clock that nobody sets. The timers of some servers wait for a
 * time of day: if that is set back, they wait for so long. */
static uintptr_t timer; /* 0: none; a timer that was given up has another number */
static int64_t timer_due;

void windows_tick(struct server_ctx *ctx, uint64_t upto)
{
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
    windows_tick(ctx, n > FEW ? due : now);
    return BUSY;
}

static void tick(struct server_ctx *ctx, void *data);

static void start_timer(struct server_ctx *ctx, long long wait)
{
    static uintptr_t ntimers;
    timer = ++ntimers;
    timer_due = server_steady() + wait;
    (void)server.CreateTimer(ctx, wait, tick, (void *)timer); /* NOLINT: a number */
}

static void tick(struct server_ctx *ctx, void *data)
{
    size_t n;
    if ((uintptr_t)data != timer) {
        return;
    }
    const long long wait = look(ctx);
    (void)timed_first(&n);
    timer = 0;
    if (n > 0) {
        start_timer(ctx, wait);
    }
}

/* A value may come by a load, which can start no timer. */
void windows_cron(struct server_ctx *ctx)
{
    size_t n;
    (void)timed_first(&n);
    if (n > 0 && (timer == 0 || server_steady() > timer_due + LOST)) {
        start_timer(ctx, BUSY);
    }
}
