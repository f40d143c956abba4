/* SPDX-License-Identifier: MIT */
#include "commands/create.h"

#include <pthread.h>
#include <stdatomic.h>

#include "keys/keys.h"
#include "server/errors.h"

enum {
    LARGE = 1 << 20,       /* bytes of a set that a thread makes */
    AT_ONCE_MAX = 8 << 20, /* of a set that is made where nobody can wait: 7 ms */
    PERIOD = 1,            /* milliseconds between two looks whether the set is made */
    ITEM_BYTES_MAX = 8     /* that a sized set takes for an item, and more */
};

struct creating {
    struct creating *next;
    struct server_client *client;
    struct server_string *name;
    struct recipe *recipe;
    struct value *value; /* NULL: not made */
    bool is_started;
    bool is_refused;     /* past maxmemory */
    bool is_gone;        /* the client */
    atomic_bool is_done; /* the thread has ended its work */
    server_handler *made;
    server_handler *late;
};

static struct creating *first; /* in the order in which their clients came */

static void *discard(void *data)
{
    struct creating *creating = data;
    value_free(creating->value);
    recipe_release(creating->recipe);
    server.Free(creating);
    return NULL;
}

static bool start_thread(struct creating *creating, void *(*work)(void *))
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    const bool is_started =
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
        pthread_create(&thread, &attributes, work, creating) == 0;
    (void)pthread_attr_destroy(&attributes);
    return is_started;
}

/* A client that has gone, or that came too late, leaves a value, which takes long to free. */
static void free_creating(struct server_ctx *ctx, void *data)
{
    struct creating *creating = data;
    struct creating **link = &first;
    (void)ctx;
    while (*link != creating) {
        link = &(*link)->next;
    }
    *link = creating->next;
    server.FreeString(NULL, creating->name);
    if (!creating->value || !start_thread(creating, discard)) {
        (void)discard(creating);
    }
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
    const enum family family = creating->recipe->settings.family;
    const enum found found =
        key_open(ctx, argv[1], SERVER_READ | SERVER_WRITE, family, &key, &value);
    const bool is_made = creating->value != NULL;
    if (found == MISSING && is_made) {
        key_fill(ctx, key, argv[1], creating->value);
        creating->value = NULL;
    }
    server.CloseKey(key);
    if (found == MISSING && !is_made) {
        return creating->is_refused ? reply_error(ctx, ERROR_OUT_OF_MEMORY)
                                    : reply_error(ctx, ERROR_NO_MEMORY_CREATE);
    }
    return found == MISSING ? creating->made(ctx, argv, argc) : creating->late(ctx, argv, argc);
}

static void *make(void *data)
{
    struct creating *creating = data;
    if (value_create(&creating->value, creating->recipe) != UNSEEN_OK) {
        creating->value = NULL;
    }
    atomic_store(&creating->is_done, true);
    return NULL;
}

static void start(struct creating *creating)
{
    creating->is_started = true;
    if (!start_thread(creating, make)) {
        (void)make(creating);
    }
}

/* The turn of a client that has waited has come. By now the key may be there, and the server, which
 * looked at its memory when the command came, may be past maxmemory. */
static void take_turn(struct server_ctx *ctx, struct creating *creating)
{
    struct value *value;
    const int flags = server.GetContextFlags(ctx);
    const bool is_missing = key_read_any(ctx, creating->name, &value) == MISSING;
    creating->is_refused = flags & SERVER_IS_FULL;
    if (is_missing && !creating->is_refused && !creating->is_gone && flags & SERVER_IS_MASTER) {
        start(creating);
    } else {
        creating->is_started = true;
        atomic_store(&creating->is_done, true);
    }
}

/* In the thread of the server. The key gets its value when a server whose writes are paused, as in
 * a failover or a shutdown, lets keys be changed again. */
static void tick(struct server_ctx *ctx, void *data)
{
    struct creating *creating = data;
    const bool is_primary = server.GetContextFlags(ctx) & SERVER_IS_MASTER;
    if (creating == first && !creating->is_started) {
        take_turn(ctx, creating);
    }
    if (atomic_load(&creating->is_done) && !(is_primary && server.AvoidReplicaTraffic())) {
        (void)server.UnblockClient(creating->client, creating);
    } else {
        (void)server.CreateTimer(ctx, PERIOD, tick, creating);
    }
}

/* Nothing is made for a client that has gone before its turn. */
static void has_gone(struct server_ctx *ctx, struct server_client *client)
{
    (void)ctx;
    for (struct creating *creating = first; creating; creating = creating->next) {
        creating->is_gone = creating->is_gone || creating->client == client;
    }
}

enum creation_way create_aside(struct server_ctx *ctx, struct server_string *name,
                               const struct settings *settings, server_handler *made,
                               server_handler *late)
{
    const bool waits = !(server.GetContextFlags(ctx) & SERVER_DENIES_BLOCKING);
    struct creating **end = &first;
    struct recipe *recipe;
    if (settings->capacity < LARGE / ITEM_BYTES_MAX ||
        recipe_acquire(&recipe, settings) != UNSEEN_OK) {
        return CREATE_AT_ONCE;
    }
    struct creating *creating =
        waits && recipe->bytes > LARGE ? server.TryAlloc(sizeof(*creating)) : NULL;
    if (!creating) {
        const bool is_huge = !waits && recipe->bytes > AT_ONCE_MAX;
        recipe_release(recipe);
        return is_huge ? CREATE_REFUSED : CREATE_AT_ONCE;
    }
    server.RetainString(NULL, name);
    *creating = (struct creating){.name = name, .recipe = recipe, .made = made, .late = late};
    creating->client = server.BlockClient(ctx, finish, NULL, free_creating, 0);
    server.SetDisconnectCallback(creating->client, has_gone);
    while (*end) {
        end = &(*end)->next;
    }
    *end = creating;
    if (creating == first) {
        start(creating);
    }
    (void)server.CreateTimer(ctx, PERIOD, tick, creating);
    return CREATE_ASIDE;
}
