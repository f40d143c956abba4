/* SPDX-License-Identifier: MIT
 *
 * A lease is found by the hash of its key's database and name, under a secret: nobody can choose
 * two names with one hash. Each lease has a timer, which gives it to the client that has waited
 * longest, or drops it.
 *
 * The server wakes a client later than it is told to. The client may be gone by then, or even
 * while it still waits. So a lease is given to a waiter before the server wakes it, and taken
 * back if the waiter was not answered. */
#include "commands/guard_leases.h"

#include <sodium.h>
#include <string.h>

#include "leases/lease_table.h"
#include "server/memory.h"

enum {
    KEPT_SLOTS = 1024,
    SET_BACK = 100 /* milliseconds; less is the clock's own error */
};

struct lease_entry {
    struct unseen_key key;
    struct guard_lease *lease;
};

struct waiter_entry {
    struct unseen_key key; /* of the blocked client */
    struct guard_waiter *waiter;
};

static struct lease_table leases = {.entry_size = sizeof(struct lease_entry)};
static struct lease_table waiters = {.entry_size = sizeof(struct waiter_entry)};
static uint8_t secret[crypto_shorthash_siphashx24_KEYBYTES];
static uint64_t nexpired;
static bool hears_changes;

/* ---- tables ---- */

static struct unseen_key key_of(int db, const struct server_string *name)
{
    struct unseen_key key;
    size_t len;
    const char *text = server.StringPtrLen(name, &len);
    _Static_assert(sizeof(key) == crypto_shorthash_siphashx24_BYTES, "a hash is a key");
    (void)crypto_shorthash_siphashx24((unsigned char *)&key, (const unsigned char *)text, len,
                                      secret);
    key.hi ^= (uint64_t)db;
    return key;
}

static struct unseen_key client_key(const struct server_client *client)
{
    return (struct unseen_key){.lo = (uintptr_t)client};
}

static struct guard_lease *find(struct unseen_key key)
{
    const struct lease_entry *entry = lease_table_find(&leases, key);
    return entry ? entry->lease : NULL;
}

static bool reserve(struct lease_table *table)
{
    const struct unseen_allocator allocator = memory_own_allocator();
    return lease_table_reserve(table, &allocator, 1) == UNSEEN_OK;
}

/* A table that was large gives its memory back when it is empty. */
static void forget(struct lease_table *table, struct unseen_key key)
{
    const struct unseen_allocator allocator = memory_own_allocator();
    lease_table_remove(table, lease_table_find(table, key));
    if (table->n == 0 && table->nslots > KEPT_SLOTS) {
        lease_table_release(table, &allocator);
    }
}

/* ---- waiters ---- */

static void leave_queue(struct guard_waiter *w)
{
    struct guard_lease *lease = w->lease;
    *(w->before ? &w->before->behind : &lease->first) = w->behind;
    *(w->behind ? &w->behind->before : &lease->last) = w->before;
    w->lease = NULL;
    forget(&waiters, client_key(w->client));
}

static void join_queue(struct guard_lease *lease, struct guard_waiter *w)
{
    w->lease = lease;
    w->before = lease->last;
    *(lease->last ? &lease->last->behind : &lease->first) = w;
    lease->last = w;
    struct waiter_entry *entry = lease_table_add(&waiters, client_key(w->client)); /* has room */
    entry->waiter = w;
}

static void wake(struct guard_waiter *w, enum guard_outcome outcome)
{
    w->outcome = outcome;
    leave_queue(w);
    (void)server.UnblockClient(w->client, w);
}

/* ---- ends ---- */

/* The timers of some servers wait for a time of day. If that is set forward, a timer comes early;
 * if it is set back, the cron event makes new ones. */
static server_timer time_is_over;

static void stop_timer(struct server_ctx *ctx, struct guard_lease *lease)
{
    if (lease->has_timer) {
        lease->has_timer = false;
        (void)server.StopTimer(ctx, lease->timer, NULL);
    }
}

static void start_timer(struct server_ctx *ctx, struct guard_lease *lease)
{
    const int64_t rest = lease->until - server_steady();
    lease->timer = server.CreateTimer(ctx, rest > 0 ? rest : 0, time_is_over, lease);
    lease->has_timer = true;
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
    lease->until = server_steady() + ttl;
    start_timer(ctx, lease);
}

static void drop(struct server_ctx *ctx, struct guard_lease *lease)
{
    forget(&leases, lease->key);
    stop_timer(ctx, lease);
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
    if (server_steady() < lease->until) {
        start_timer(ctx, lease);
        return;
    }
    nexpired++;
    guard_lease_end(ctx, lease, GUARD_LEASED);
}

void guard_leases_cron(struct server_ctx *ctx)
{
    static int64_t last; /* how far the time of day is ahead of the steady clock */
    const int64_t ahead = server.Milliseconds() - server_steady();
    const bool is_set_back = ahead < last - SET_BACK;
    last = ahead;
    for (size_t i = 0; is_set_back && i < leases.end; i++) {
        struct lease_entry *entry = lease_table_at(&leases, i);
        if (entry->lease) {
            stop_timer(ctx, entry->lease);
            start_timer(ctx, entry->lease);
        }
    }
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

/* After FLUSHDB no key has a value. After SWAPDB a key may have a value of the other database. */
static void all_changed(struct server_ctx *ctx, struct server_event event, uint64_t subevent,
                        void *data)
{
    const bool is_flush = event.id == SERVER_EVENT_FLUSH;
    (void)data;
    if (is_flush && subevent != SERVER_FLUSH_END) {
        return;
    }
    for (size_t i = 0; i < leases.end; i++) { /* the end of a lease leaves the others in place */
        const struct lease_entry *entry = lease_table_at(&leases, i);
        if (entry->lease) {
            guard_lease_end(ctx, entry->lease, is_flush ? GUARD_LEASED : GUARD_ASK_AGAIN);
        }
    }
}

/* ---- interface ---- */

bool guard_leases_init(struct server_ctx *ctx)
{
    const struct server_event flush = {SERVER_EVENT_FLUSH, SERVER_EVENT_VERSION};
    const struct server_event swap = {SERVER_EVENT_SWAPDB, SERVER_EVENT_VERSION};
    server.GetRandomBytes(secret, sizeof(secret));
    return server.SubscribeToServerEvent(ctx, flush, all_changed) == SERVER_OK &&
           server.SubscribeToServerEvent(ctx, swap, all_changed) == SERVER_OK;
}

struct guard_lease *guard_lease_find(struct server_ctx *ctx, const struct server_string *name)
{
    return leases.n > 0 ? find(key_of(server.GetSelectedDb(ctx), name)) : NULL;
}

/* Every command that changes a key pays for a subscription, so a server without leases has none.
 * It cannot be given back. */
static bool hear_changes(struct server_ctx *ctx)
{
    hears_changes = hears_changes || server.SubscribeToKeyspaceEvents(ctx, SERVER_NOTIFY_WRITES,
                                                                      key_changed) == SERVER_OK;
    return hears_changes;
}

struct guard_lease *guard_lease_take(struct server_ctx *ctx, const struct server_string *name,
                                     int64_t ttl)
{
    struct guard_lease *lease =
        hear_changes(ctx) && reserve(&leases) ? server.TryAlloc(sizeof(*lease)) : NULL;
    if (!lease) {
        return NULL;
    }
    *lease = (struct guard_lease){.key = key_of(server.GetSelectedDb(ctx), name)};
    struct lease_entry *entry = lease_table_add(&leases, lease->key);
    entry->lease = lease;
    begin(ctx, lease, ttl);
    return lease;
}

/* The server calls this when a client that was woken has been answered, or is gone. */
static void free_waiter(struct server_ctx *ctx, void *data)
{
    struct guard_waiter *w = data;
    if (w->outcome == GUARD_LEASED && !w->is_answered) {
        struct guard_lease *lease = find(w->key);
        if (lease && memcmp(lease->token, w->token, GUARD_TOKEN_LEN) == 0) {
            guard_lease_end(ctx, lease, GUARD_LEASED);
        }
    }
    server.Free(w);
}

/* Wakes a client before its lease ends. */
static void give_up_waiting(struct server_client *client)
{
    const struct waiter_entry *entry = lease_table_find(&waiters, client_key(client));
    if (entry) {
        wake(entry->waiter, GUARD_ASK_AGAIN);
    }
}

/* The server keeps about 35 KB for a client that waits, even when the client is gone, until it is
 * woken. */
static void is_gone(struct server_ctx *ctx, struct server_client *client)
{
    (void)ctx;
    give_up_waiting(client);
}

bool guard_lease_wait(struct server_ctx *ctx, struct guard_lease *lease, int64_t ttl, int64_t wait,
                      server_handler *reply, server_handler *give_up)
{
    struct guard_waiter *w = reserve(&waiters) ? server.TryAlloc(sizeof(*w)) : NULL;
    if (!w) {
        return false;
    }
    *w = (struct guard_waiter){.ttl = ttl, .key = lease->key};
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
    return leases.n;
}

uint64_t guard_leases_expired(void)
{
    return nexpired;
}
