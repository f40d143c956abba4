/* SPDX-License-Identifier: MIT */
#include "effects.h"

#include <unseen.h>

#include "checksum.h"
#include "errors.h"
#include "keys.h"
#include "module.h"
#include "parse.h"

enum {
    KEY_MAX = 16,
    CHECKSUM_LEN = 4
};

/* ---- out ---- */

/* "+" and "-": strings of the server, made once, as every command that changes a key sends one. */
static struct server_string *operations[2];

/* RM_Replicate costs a fifth of a BF.ADD even if nobody gets what it makes. RM_ReplicateVerbatim
 * costs nothing then, but no function says whether anybody listens. So the cron event looks, and a
 * replica that comes is an event. The result of a look may be out of date for 100 ms. Then the AOF
 * or a replica gets BF.ADD in place of UNSEEN.APPLY. BF.ADD is longer, has no checksum, and does
 * the same. */
static bool may_listen = true; /* an AOF, a replica, or one that may come back to the backlog */
static bool has_sent; /* since the last look: an idle server need not ask for the backlog */

static void look_for_listeners(struct server_ctx *ctx, struct server_event event, uint64_t subevent,
                               void *data)
{
    (void)event;
    (void)subevent;
    (void)data;
    if (server.GetContextFlags(ctx) & SERVER_HAS_AOF) {
        may_listen = true;
    } else if (has_sent) {
        int error = SERVER_OK;
        struct server_info *info = server.GetServerInfo(ctx, "replication");
        may_listen = server.ServerInfoGetFieldUnsigned(info, "repl_backlog_active", &error) != 0 ||
                     error != SERVER_OK;
        server.FreeServerInfo(ctx, info);
    }
    has_sent = false;
}

static void note_replica(struct server_ctx *ctx, struct server_event event, uint64_t subevent,
                         void *data)
{
    (void)ctx;
    (void)event;
    (void)subevent;
    (void)data;
    may_listen = true;
}

bool effects_init(struct server_ctx *ctx)
{
    static const char names[2] = {OPERATION_ADD, OPERATION_REMOVE};
    const struct server_event cron = {SERVER_EVENT_CRON, SERVER_EVENT_VERSION};
    const struct server_event replica = {SERVER_EVENT_REPLICA, SERVER_EVENT_VERSION};
    for (size_t i = 0; i < 2; i++) {
        operations[i] = server.CreateString(NULL, &names[i], 1);
    }
    return server.SubscribeToServerEvent(ctx, cron, look_for_listeners) == SERVER_OK &&
           server.SubscribeToServerEvent(ctx, replica, note_replica) == SERVER_OK;
}

void effect_create(struct server_ctx *ctx, struct server_string *name, const struct value *value)
{
    uint8_t buf[SETTINGS_MAX];
    const size_t len = settings_encode(&value_plan(value)->settings, buf);
    (void)server.Replicate(ctx, "UNSEEN.CREATE", "sb", name, (const char *)buf, len);
}

void effect_begin(struct effect *effect, struct server_ctx *ctx, struct server_string *name,
                  const struct plan *plan, enum operation operation, const char *event)
{
    effect->ctx = ctx;
    effect->name = name;
    effect->plan = plan;
    effect->event = event;
    effect->operation = operation;
    effect->has_changed = false;
    effect->is_command = false;
    effect->nkeys = 0;
}

void effect_is_command(struct effect *effect)
{
    effect->is_command = true;
}

static void send_keys(struct effect *effect)
{
    uint8_t buf[EFFECT_MAX * KEY_MAX + CHECKSUM_LEN];
    size_t len = unseen_set_pack_keys(effect->plan->keyer, effect->keys, effect->nkeys, buf);
    len = checksum_append(buf, len);
    if (effect->operation == OPERATION_LEASE) {
        (void)server.Replicate(effect->ctx, "UNSEEN.LEASE", "slb", effect->name,
                               (long long)effect->until, (const char *)buf, len);
    } else {
        (void)server.Replicate(effect->ctx, "UNSEEN.APPLY", "ssb", effect->name,
                               operations[effect->operation == OPERATION_REMOVE], (const char *)buf,
                               len);
    }
}

static void flush(struct effect *effect)
{
    if (effect->nkeys == 0) {
        return;
    }
    if (effect->is_command && !may_listen) {
        (void)server.ReplicateVerbatim(effect->ctx);
    } else {
        send_keys(effect);
    }
    has_sent = true;
    effect->has_changed = true;
    effect->nkeys = 0;
}

void effect_key(struct effect *effect, struct unseen_key key)
{
    if (effect->nkeys == EFFECT_MAX) {
        flush(effect);
    }
    effect->keys[effect->nkeys++] = key;
}

void effect_end(struct effect *effect)
{
    flush(effect);
    if (effect->has_changed) {
        (void)server.SignalModifiedKey(effect->ctx, effect->name);
        (void)server.NotifyKeyspaceEvent(effect->ctx, SERVER_NOTIFY_GENERIC, effect->event,
                                         effect->name);
    }
}

/* ---- in ---- */

int effect_create_command(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct settings settings;
    struct server_key *key;
    struct value *value;
    size_t len;
    if (argc != 3) {
        return server.WrongArity(ctx);
    }
    const char *data = server.StringPtrLen(argv[2], &len);
    enum unseen_status status = settings_decode(&settings, (const uint8_t *)data, len);
    if (status != UNSEEN_OK) {
        return reply_error(ctx, status == UNSEEN_ERR_VERSION ? ERROR_DATA_VERSION : ERROR_EFFECT);
    }
    const enum found found =
        key_open(ctx, argv[1], SERVER_READ | SERVER_WRITE, settings.kind, &key, &value);
    if (found == MISSING) {
        status = key_create(ctx, key, argv[1], &settings, &value);
    }
    server.CloseKey(key);
    if (found != MISSING) {
        return reply_error(ctx, ERROR_EXISTS);
    }
    return status == UNSEEN_OK ? server.ReplyWithSimpleString(ctx, "OK")
                               : reply_error(ctx, ERROR_NOT_CREATED);
}

static enum unseen_status apply(struct value **value, enum operation operation,
                                const struct unseen_key *keys, size_t n, struct effect *effect)
{
    uint8_t verdicts[EFFECT_MAX];
    enum unseen_status status = UNSEEN_OK;
    struct budget budget = {0, 0, false};
    size_t ndone = 0;
    if (operation == OPERATION_ADD) {
        status = value_add(value, keys, n, verdicts, &ndone, &budget);
    } else {
        while (ndone < n && status == UNSEEN_OK) {
            status = value_remove(value, keys[ndone], &verdicts[ndone], &budget);
            ndone += status == UNSEEN_OK;
        }
    }
    for (size_t i = 0; i < ndone; i++) {
        effect_key(effect, keys[i]);
    }
    return status;
}

/* A replica must follow whatever its primary did: MAXBYTES does not hold here. */
int effect_apply_command(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct unseen_key keys[EFFECT_MAX];
    struct effect effect;
    struct server_key *key;
    struct value *value;
    size_t operation_len;
    size_t len;
    size_t n;
    if (argc != 4) {
        return server.WrongArity(ctx);
    }
    const char *operation = server.StringPtrLen(argv[2], &operation_len);
    const char *data = server.StringPtrLen(argv[3], &len);
    const enum found found = key_open_any(ctx, argv[1], SERVER_READ | SERVER_WRITE, &key, &value);
    if (found != FOUND) {
        server.CloseKey(key);
        return reply_error(ctx, found == MISSING ? ERROR_NOT_FOUND : ERROR_WRONG_TYPE);
    }
    len = checksum_strip((const uint8_t *)data, len);
    enum unseen_status status = UNSEEN_ERR_CORRUPT;
    if (len != SIZE_MAX && operation_len == 1 &&
        (operation[0] == OPERATION_ADD || operation[0] == OPERATION_REMOVE)) {
        status = unseen_set_unpack_keys(value_plan(value)->keyer, data, len, keys, EFFECT_MAX, &n);
    }
    if (status == UNSEEN_OK) {
        effect_begin(&effect, ctx, argv[1], value_plan(value), (enum operation)operation[0],
                     "unseen.apply");
        status = apply(&value, effect.operation, keys, n, &effect);
        key_moved(key, value);
        effect_end(&effect);
    }
    server.CloseKey(key);
    if (status != UNSEEN_OK) {
        return reply_error(ctx, status == UNSEEN_ERR_NOMEM ? ERROR_NO_MEMORY : ERROR_EFFECT);
    }
    return server.ReplyWithSimpleString(ctx, "OK");
}

int effect_lease_command(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct unseen_key keys[EFFECT_MAX];
    struct effect effect;
    struct server_key *key;
    struct value *value;
    uint64_t until;
    size_t len;
    size_t n = 0;
    if (argc != 4) {
        return server.WrongArity(ctx);
    }
    const char *data = server.StringPtrLen(argv[3], &len);
    const enum found found =
        key_open(ctx, argv[1], SERVER_READ | SERVER_WRITE, KIND_URLS, &key, &value);
    if (found != FOUND) {
        server.CloseKey(key);
        return reply_error(ctx, found == MISSING ? ERROR_NOT_FOUND : ERROR_WRONG_TYPE);
    }
    len = checksum_strip((const uint8_t *)data, len);
    enum unseen_status status = UNSEEN_ERR_CORRUPT;
    if (len != SIZE_MAX && parse_range(argv[2], 1, INT64_MAX, &until)) {
        status = unseen_set_unpack_keys(value_plan(value)->keyer, data, len, keys, EFFECT_MAX, &n);
    }
    struct budget budget = {0, 0, false};
    effect_begin(&effect, ctx, argv[1], value_plan(value), OPERATION_LEASE, "unseen.claim");
    effect.until = status == UNSEEN_OK ? (int64_t)until : 0;
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        status = value_lease(&value, keys[i], server.Milliseconds(), effect.until, &budget);
        if (status == UNSEEN_OK) {
            effect_key(&effect, keys[i]);
        }
    }
    key_moved(key, value);
    effect_end(&effect);
    server.CloseKey(key);
    if (status != UNSEEN_OK) {
        return reply_error(ctx, status == UNSEEN_ERR_NOMEM ? ERROR_NO_MEMORY : ERROR_EFFECT);
    }
    return server.ReplyWithSimpleString(ctx, "OK");
}
