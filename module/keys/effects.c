/* SPDX-License-Identifier: MIT */
#include "keys/effects.h"

#include <string.h>

#include <unseen.h>

#include "server/config.h"
#include "value/checksum.h"

enum {
    KEY_MAX = 16
};

/* "+" and "-": strings of the server, made once, as every command that changes a key sends one. */
static struct server_string *operations[2];

/* RM_Replicate costs a fifth of a BF.ADD even if nobody gets what it makes. RM_ReplicateVerbatim
 * costs nothing then, but no function says whether anybody listens. So the cron event looks, and a
 * replica that comes is an event. The result of a look may be out of date for 100 ms. Then the AOF
 * or a replica gets BF.ADD in place of UNSEEN.APPLY. BF.ADD is longer, has no checksum, and does
 * the same. */
static bool may_listen = true; /* an AOF, a replica, or one that may come back to the backlog */
static bool has_sent; /* since the last look: an idle server need not ask for the backlog */

void effects_cron(struct server_ctx *ctx)
{
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

void effects_note_replica(void)
{
    may_listen = true;
}

void effects_init(void)
{
    static const char names[2] = {OPERATION_ADD, OPERATION_REMOVE};
    for (size_t i = 0; i < 2; i++) {
        operations[i] = server.CreateString(NULL, &names[i], 1);
    }
}

void effect_create(struct server_ctx *ctx, struct server_string *name, const struct value *value)
{
    uint8_t buf[SETTINGS_MAX];
    const struct settings *s = &value_recipe(value)->settings;
    const size_t len = settings_encode(s, buf);
    if (memcmp(s->seed, config.seed, SEED_LEN) == 0) {
        (void)server.Replicate(ctx, "UNSEEN.CREATE", "sbc", name, (const char *)buf, len, "OWN");
    } else { /* BF.INSERT with SEED */
        (void)server.Replicate(ctx, "UNSEEN.CREATE", "sb", name, (const char *)buf, len);
    }
}

void effect_begin(struct effect *effect, struct server_ctx *ctx, struct server_string *name,
                  const struct recipe *recipe, enum operation operation, const char *event)
{
    effect->ctx = ctx;
    effect->name = name;
    effect->recipe = recipe;
    effect->event = event;
    effect->operation = operation;
    effect->now = 0;
    effect->has_changed = false;
    effect->is_command = false;
    effect->nkeys = 0;
}

void effect_is_command(struct effect *effect)
{
    effect->is_command = true;
}

void effect_expire(struct effect *effect, struct value *value, uint64_t now, uint64_t max)
{
    effect->now = now;
    effect->max = max;
    value_expire(value, now, (size_t)max);
}

static void send_keys(struct effect *effect)
{
    uint8_t buf[EFFECT_MAX * KEY_MAX + CHECKSUM_LEN];
    size_t len = unseen_set_pack_keys(effect->recipe->keyer, effect->keys, effect->nkeys, buf);
    len = checksum_append(buf, len);
    if (effect->operation == OPERATION_LEASE) {
        (void)server.Replicate(effect->ctx, "UNSEEN.LEASE", "slb", effect->name,
                               (long long)effect->until, (const char *)buf, len);
    } else if (effect->now > 0) {
        (void)server.Replicate(effect->ctx, "UNSEEN.APPLY", "ssbll", effect->name, operations[0],
                               (const char *)buf, len, (long long)effect->now,
                               (long long)effect->max);
        effect->now = 0;
    } else {
        (void)server.Replicate(effect->ctx, "UNSEEN.APPLY", "ssb", effect->name,
                               operations[effect->operation == OPERATION_REMOVE], (const char *)buf,
                               len);
    }
}

static void flush(struct effect *effect)
{
    if (effect->nkeys == 0 && effect->now == 0) {
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
