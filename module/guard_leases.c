/* SPDX-License-Identifier: MIT
 *
 * A dictionary from database and name of a key to its lease. Each lease has a timer, which gives
 * it to the client that has waited longest, or drops it.
 *
 * The server wakes a client later than it is told to. The client may be gone by then, or even
 * while it still waits. So a lease is given to a waiter before the server wakes it, and taken
 * back if the waiter was not answered. */
#include "guard_leases.h"

#include <string.h>

enum {
    NAME_AT = sizeof(uint32_t),
    SHORT_NAME = 256
};

static struct server_dict *leases;
static struct guard_lease *all;
static struct server_dict *waiters; /* by their blocked client */
static uint64_t nexpired;
static bool hears_changes;

/* ---- the dictionary ---- */

/* A key of the dictionary: the database and the name. */
struct place {
    uint8_t *bytes;
    size_t len;
    uint8_t shorts[NAME_AT + SHORT_NAME];
};

static bool place_init(struct place *place, int db, const struct server_string *name)
{
    const uint32_t number = (uint32_t)db;
    size_t len;
    const char *text = server.StringPtrLen(name, &len);
    place->len = NAME_AT + len;
    place->bytes = len <= SHORT_NAME ? place->shorts : server.TryAlloc(place->len);
    if (!place->bytes) {
        return false;
    }
    memcpy(place->bytes, &number, sizeof(number));
    memcpy(place->bytes + NAME_AT, text, len);
    return true;
}

static void place_release(struct place *place)
{
    if (place->bytes != place->shorts) {
        server.Free(place->bytes);
    }
}

static struct guard_lease *find(int db, const struct server_string *name)
{
    struct place place;
    if (server.DictSize(leases) == 0 || !place_init(&place, db, name)) {
        return NULL;
    }
    struct guard_lease *lease = server.DictGetC(leases, place.bytes, place.len, NULL);
    place_release(&place);
    return lease;
}

static bool insert(struct guard_lease *lease)
{
    struct place place;
    if (!place_init(&place, lease->db, lease->name)) {
        return false;
    }
    (void)server.DictSetC(leases, place.bytes, place.len, lease);
    place_release(&place);
    lease->behind = all;
    if (all) {
        all->before = lease;
    }
    all = lease;
    return true;
}

/* ---- waiters ---- */

static void leave_queue(struct guard_waiter *w)
{
    struct guard_lease *lease = w->lease;
    *(w->before ? &w->before->behind : &lease->first) = w->behind;
    *(w->behind ? &w->behind->before : &lease->last) = w->before;
    w->lease = NULL;
    (void)server.DictDelC(waiters, &w->client, sizeof(w->client), NULL);
}

static void join_queue(struct guard_lease *lease, struct guard_waiter *w)
{
    w->lease = lease;
    w->before = lease->last;
    *(lease->last ? &lease->last->behind : &lease->first) = w;
    lease->last = w;
    (void)server.DictSetC(waiters, &w->client, sizeof(w->client), w);
}

static void wake(struct guard_waiter *w, enum guard_outcome outcome)
{
    w->outcome = outcome;
    leave_queue(w);
    (void)server.UnblockClient(w->client, w);
}

/* ---- ends ---- */

static server_timer time_is_over;

static void stop_timer(struct server_ctx *ctx, struct guard_lease *lease)
{
    if (lease->has_timer) {
        lease->has_timer = false;
        (void)server.StopTimer(ctx, lease->timer, NULL);
    }
}

static void make_token(char *token)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[GUARD_TOKEN_LEN / 2];
    server.GetRandomBytes(bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++) {
        token[2 * i] = digits[bytes[i] >> 4];
        token[2 * i + 1] = digits[bytes[i] & 15];
    }
}

/* Begins a lease, or begins it anew for the next loader. */
static void begin(struct server_ctx *ctx, struct guard_lease *lease, int64_t ttl)
{
    stop_timer(ctx, lease);
    make_token(lease->token);
    lease->until = server.Milliseconds() + ttl;
    lease->timer = server.CreateTimer(ctx, ttl, time_is_over, lease);
    lease->has_timer = true;
}

static void drop(struct server_ctx *ctx, struct guard_lease *lease)
{
    struct place place;
    if (!place_init(&place, lease->db, lease->name)) {
        begin(ctx, lease, 1); /* no memory for a long name: once more a little later */
        return;
    }
    (void)server.DictDelC(leases, place.bytes, place.len, NULL);
    place_release(&place);
    stop_timer(ctx, lease);
    *(lease->before ? &lease->before->behind : &all) = lease->behind;
    if (lease->behind) {
        lease->behind->before = lease->before;
    }
    server.FreeString(NULL, lease->name);
    server.Free(lease);
}

void guard_lease_end(struct server_ctx *ctx, struct guard_lease *lease, enum guard_outcome outcome)
{
    struct guard_waiter *next = lease->first;
    if (outcome == GUARD_LEASED && next) {
        begin(ctx, lease, next->ttl);
        memcpy(next->token, lease->token, GUARD_TOKEN_LEN);
        wake(next, GUARD_LEASED);
        return;
    }
    while (lease->first) {
        wake(lease->first, outcome);
    }
    drop(ctx, lease);
}

static void time_is_over(struct server_ctx *ctx, void *data)
{
    struct guard_lease *lease = data;
    lease->has_timer = false; /* the server frees a timer behind its call */
    nexpired++;
    guard_lease_end(ctx, lease, GUARD_LEASED);
}

/* Another client has written the key: what the loader will bring may be older. */
static int key_changed(struct server_ctx *ctx, int type, const char *event,
                       struct server_string *name)
{
    struct guard_lease *lease = guard_lease_find(ctx, name);
    (void)type;
    (void)event;
    if (lease) {
        guard_lease_end(ctx, lease, GUARD_ASK_AGAIN);
    }
    return SERVER_OK;
}

/* After FLUSHDB the keys have no values, after SWAPDB they may have those of the other database. */
static void all_changed(struct server_ctx *ctx, struct server_event event, uint64_t subevent,
                        void *data)
{
    const bool is_flush = event.id == SERVER_EVENT_FLUSH;
    (void)data;
    if (is_flush && subevent != SERVER_FLUSH_END) {
        return;
    }
    for (struct guard_lease *lease = all; lease;) {
        struct guard_lease *behind = lease->behind;
        guard_lease_end(ctx, lease, is_flush ? GUARD_LEASED : GUARD_ASK_AGAIN);
        lease = behind;
    }
}

/* ---- interface ---- */

bool guard_leases_init(struct server_ctx *ctx)
{
    const struct server_event flush = {SERVER_EVENT_FLUSH, SERVER_EVENT_VERSION};
    const struct server_event swap = {SERVER_EVENT_SWAPDB, SERVER_EVENT_VERSION};
    leases = server.CreateDict(NULL);
    waiters = server.CreateDict(NULL);
    return leases && waiters &&
           server.SubscribeToServerEvent(ctx, flush, all_changed) == SERVER_OK &&
           server.SubscribeToServerEvent(ctx, swap, all_changed) == SERVER_OK;
}

struct guard_lease *guard_lease_find(struct server_ctx *ctx, const struct server_string *name)
{
    return find(server.GetSelectedDb(ctx), name);
}

/* Every command that changes a key pays for a subscription, so a server without leases has none.
 * It cannot be given back. */
static bool hear_changes(struct server_ctx *ctx)
{
    hears_changes = hears_changes || server.SubscribeToKeyspaceEvents(ctx, SERVER_NOTIFY_WRITES,
                                                                      key_changed) == SERVER_OK;
    return hears_changes;
}

struct guard_lease *guard_lease_take(struct server_ctx *ctx, struct server_string *name,
                                     int64_t ttl)
{
    struct guard_lease *lease = hear_changes(ctx) ? server.TryAlloc(sizeof(*lease)) : NULL;
    if (!lease) {
        return NULL;
    }
    *lease = (struct guard_lease){.db = server.GetSelectedDb(ctx),
                                  .name = server.CreateStringFromString(NULL, name)};
    if (!insert(lease)) {
        server.FreeString(NULL, lease->name);
        server.Free(lease);
        return NULL;
    }
    begin(ctx, lease, ttl);
    return lease;
}

/* The server calls this when a client that was woken has been answered, or is gone. */
static void free_waiter(struct server_ctx *ctx, void *data)
{
    struct guard_waiter *w = data;
    if (w->outcome == GUARD_LEASED && !w->is_answered) {
        struct guard_lease *lease = find(w->db, w->name);
        if (lease && memcmp(lease->token, w->token, GUARD_TOKEN_LEN) == 0) {
            guard_lease_end(ctx, lease, GUARD_LEASED);
        }
    }
    server.FreeString(NULL, w->name);
    server.Free(w);
}

/* Wakes a client before its lease ends. */
static void give_up_waiting(struct server_client *client)
{
    struct guard_waiter *w = server.DictGetC(waiters, &client, sizeof(client), NULL);
    if (w) {
        wake(w, GUARD_ASK_AGAIN);
    }
}

/* The server keeps what it has for a client that waits, some 35 KB, until it is woken, also if the
 * client is gone. */
static void is_gone(struct server_ctx *ctx, struct server_client *client)
{
    (void)ctx;
    give_up_waiting(client);
}

bool guard_lease_wait(struct server_ctx *ctx, struct guard_lease *lease, int64_t ttl, int64_t wait,
                      server_handler *reply, server_handler *give_up)
{
    struct guard_waiter *w = server.TryAlloc(sizeof(*w));
    if (!w) {
        return false;
    }
    *w = (struct guard_waiter){
        .ttl = ttl, .db = lease->db, .name = server.CreateStringFromString(NULL, lease->name)};
    w->client = server.BlockClient(ctx, reply, give_up, free_waiter, wait);
    server.SetDisconnectCallback(w->client, is_gone);
    join_queue(lease, w);
    return true;
}

void guard_waiter_gives_up(struct server_ctx *ctx)
{
    give_up_waiting(server.GetBlockedClientHandle(ctx));
}

uint64_t guard_leases_count(void)
{
    return server.DictSize(leases);
}

uint64_t guard_leases_expired(void)
{
    return nexpired;
}
