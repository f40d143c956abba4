/* SPDX-License-Identifier: MIT */
#include "create.h"

#include <pthread.h>
#include <stdatomic.h>

#include "errors.h"
#include "items.h"
#include "keys.h"
#include "module.h"

enum {
    LARGE = 1 << 20,   /* bytes of a set that a thread makes */
    PERIOD = 1,        /* milliseconds between two looks whether the set is made */
    ITEM_BYTES_MAX = 8 /* that a sized set takes for an item, and more */
};

struct creating {
    struct server_client *client;
    struct plan *plan;
    struct value *value; /* NULL: not made */
    atomic_bool is_done; /* the thread has ended its work */
    server_handler *made;
    server_handler *late;
};

static void free_creating(struct server_ctx *ctx, void *data)
{
    struct creating *creating = data;
    (void)ctx;
    value_free(creating->value); /* of a client that has gone, or that came too late */
    plan_release(creating->plan);
    server.Free(creating);
}

/* Since the last tick the server may have become a replica, or its writes may be paused. On a
 * cluster the slot of the key may have moved. */
static int finish(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct creating *creating = server.GetBlockedClientPrivateData(ctx);
    struct server_key *key;
    struct value *value;
    if (!(server.GetContextFlags(ctx) & SERVER_IS_MASTER)) {
        return reply_error(ctx, ERROR_REPLICA);
    }
    if (server.AvoidReplicaTraffic()) {
        return reply_error(ctx, ERROR_NOT_CREATED);
    }
    if (!key_is_ours(ctx, argv[1])) {
        return reply_error(ctx, ERROR_MOVED);
    }
    if (!creating->value) {
        return reply_not_created(ctx, UNSEEN_ERR_NOMEM);
    }
    const enum kind kind = creating->plan->settings.kind;
    const enum found found = key_open(ctx, argv[1], SERVER_READ | SERVER_WRITE, kind, &key, &value);
    if (found == MISSING) {
        key_fill(ctx, key, argv[1], creating->value);
        creating->value = NULL;
    }
    server.CloseKey(key);
    return found == MISSING ? creating->made(ctx, argv, argc) : creating->late(ctx, argv, argc);
}

static void *make(void *data)
{
    struct creating *creating = data;
    if (value_create(&creating->value, creating->plan) != UNSEEN_OK) {
        creating->value = NULL;
    }
    atomic_store(&creating->is_done, true);
    return NULL;
}

/* In the thread of the server. The key gets its value when a server whose writes are paused, as in
 * a failover or a shutdown, lets keys be changed again. */
static void tick(struct server_ctx *ctx, void *data)
{
    struct creating *creating = data;
    const bool is_primary = server.GetContextFlags(ctx) & SERVER_IS_MASTER;
    if (atomic_load(&creating->is_done) && !(is_primary && server.AvoidReplicaTraffic())) {
        (void)server.UnblockClient(creating->client, creating);
    } else {
        (void)server.CreateTimer(ctx, PERIOD, tick, creating);
    }
}

static bool start_thread(struct creating *creating)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    const bool is_started =
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
        pthread_create(&thread, &attributes, make, creating) == 0;
    (void)pthread_attr_destroy(&attributes);
    return is_started;
}

bool create_aside(struct server_ctx *ctx, const struct settings *settings, server_handler *made,
                  server_handler *late)
{
    struct plan *plan;
    if (settings->capacity < LARGE / ITEM_BYTES_MAX ||
        (server.GetContextFlags(ctx) & SERVER_DENIES_BLOCKING) ||
        plan_acquire(&plan, settings) != UNSEEN_OK) {
        return false;
    }
    struct creating *creating = plan->bytes > LARGE ? server.TryAlloc(sizeof(*creating)) : NULL;
    if (!creating) {
        plan_release(plan);
        return false;
    }
    *creating = (struct creating){.plan = plan, .made = made, .late = late};
    creating->client = server.BlockClient(ctx, finish, NULL, free_creating, 0);
    if (!start_thread(creating)) {
        (void)make(creating);
    }
    (void)server.CreateTimer(ctx, PERIOD, tick, creating);
    return true;
}
