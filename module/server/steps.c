/* SPDX-License-Identifier: MIT */
#include "server/steps.h"

enum {
    PERIOD = 1, /* milliseconds from step to step, */
    PAUSED = 20 /* and while the server lets nothing be written */
};

void steps_init(struct steps *steps, const struct steps_work *work)
{
    *steps = (struct steps){.work = work, .error = ERROR_NONE};
}

static int reply(struct server_ctx *ctx, const struct steps *steps)
{
    return steps->error == ERROR_NONE ? server.ReplyWithSimpleString(ctx, "OK")
                                      : reply_error(ctx, steps->error);
}

static int reply_to_client(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    (void)argv;
    (void)argc;
    return reply(ctx, server.GetBlockedClientPrivateData(ctx));
}

static void free_steps(struct server_ctx *ctx, void *data)
{
    struct steps *steps = data;
    (void)ctx;
    steps->work->free(steps);
}

static void tick(struct server_ctx *ctx, void *data)
{
    struct steps *steps = data;
    if (!(server.GetContextFlags(ctx) & SERVER_IS_MASTER)) {
        steps->error = ERROR_REPLICA;
    } else if (server.AvoidReplicaTraffic()) {
        (void)server.CreateTimer(ctx, PAUSED, tick, steps);
        return;
    } else if (steps->work->take(ctx, steps)) {
        (void)server.CreateTimer(ctx, PERIOD, tick, steps);
        return;
    }
    steps->work->end(ctx, steps);
    (void)server.UnblockClient(steps->client, steps);
}

int steps_run(struct server_ctx *ctx, struct steps *steps, bool is_short)
{
    if (!is_short && !(server.GetContextFlags(ctx) & SERVER_DENIES_BLOCKING)) {
        steps->client = server.BlockClient(ctx, reply_to_client, NULL, free_steps, 0);
        (void)server.CreateTimer(ctx, PERIOD, tick, steps);
        return SERVER_OK;
    }
    while (steps->work->take(ctx, steps)) {
    }
    steps->work->end(ctx, steps);
    (void)reply(ctx, steps);
    steps->work->free(steps);
    return SERVER_OK;
}
