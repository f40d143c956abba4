/* SPDX-License-Identifier: MIT */
#include "effects.h"

#include <unseen_replica.h>

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

void effect_create(struct server_ctx *ctx, struct server_string *name, const struct value *value)
{
    uint8_t buf[SETTINGS_MAX];
    const size_t len = settings_encode(&value->plan->settings, buf);
    (void)server.Replicate(ctx, "UNSEEN.CREATE", "sb", name, (const char *)buf, len);
}

void effect_begin(struct effect *effect, struct server_ctx *ctx, struct server_string *name,
                  const struct value *value, enum operation operation, const char *event)
{
    effect->ctx = ctx;
    effect->name = name;
    effect->value = value;
    effect->event = event;
    effect->operation = operation;
    effect->has_changed = false;
    effect->nkeys = 0;
}

static void flush(struct effect *effect)
{
    uint8_t buf[EFFECT_MAX * KEY_MAX + CHECKSUM_LEN];
    const char operation = (char)effect->operation;
    if (effect->nkeys == 0) {
        return;
    }
    size_t len = unseen_set_pack_keys(effect->value->plan->keyer, effect->keys, effect->nkeys, buf);
    len = checksum_append(buf, len);
    if (effect->operation == OPERATION_LEASE) {
        (void)server.Replicate(effect->ctx, "UNSEEN.LEASE", "slb", effect->name,
                               (long long)effect->until, (const char *)buf, len);
    } else {
        (void)server.Replicate(effect->ctx, "UNSEEN.APPLY", "sbb", effect->name, &operation,
                               (size_t)1, (const char *)buf, len);
    }
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
    if (!settings_decode(&settings, (const uint8_t *)data, len)) {
        return reply_error(ctx, ERROR_EFFECT);
    }
    const enum found found =
        key_open(ctx, argv[1], SERVER_READ | SERVER_WRITE, settings.kind, &key, &value);
    enum unseen_status status = UNSEEN_OK;
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

static enum unseen_status apply(struct value *value, enum operation operation,
                                const struct unseen_key *keys, size_t n, struct effect *effect)
{
    uint8_t verdicts[EFFECT_MAX];
    enum unseen_status status = UNSEEN_OK;
    size_t ndone = 0;
    if (operation == OPERATION_ADD) {
        status = value_add(value, keys, n, verdicts, &ndone);
    } else {
        while (ndone < n && status == UNSEEN_OK) {
            status = value_remove(value, keys[ndone], &verdicts[ndone]);
            ndone += status == UNSEEN_OK;
        }
    }
    for (size_t i = 0; i < ndone; i++) {
        effect_key(effect, keys[i]);
    }
    return status;
}

/* The value of a key of any kind. */
static enum found open_any(struct server_ctx *ctx, struct server_string *name,
                           struct server_key **key, struct value **value)
{
    enum found found = MISSING;
    for (enum kind kind = KIND_BLOOM; kind <= KIND_URLS; kind++) {
        found = key_open(ctx, name, SERVER_READ | SERVER_WRITE, kind, key, value);
        if (found != OF_OTHER_TYPE) {
            return found;
        }
        server.CloseKey(*key);
    }
    *key = NULL;
    return found;
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
    const enum found found = open_any(ctx, argv[1], &key, &value);
    if (found != FOUND) {
        server.CloseKey(key);
        return reply_error(ctx, found == MISSING ? ERROR_NOT_FOUND : ERROR_WRONG_TYPE);
    }
    len = checksum_strip((const uint8_t *)data, len);
    enum unseen_status status = UNSEEN_ERR_CORRUPT;
    if (len != SIZE_MAX && operation_len == 1 &&
        (operation[0] == OPERATION_ADD || operation[0] == OPERATION_REMOVE)) {
        status = unseen_set_unpack_keys(value->plan->keyer, data, len, keys, EFFECT_MAX, &n);
    }
    if (status == UNSEEN_OK) {
        const uint64_t limit = value->memory.limit;
        effect_begin(&effect, ctx, argv[1], value, (enum operation)operation[0], "unseen.apply");
        value->memory.limit = 0;
        status = apply(value, effect.operation, keys, n, &effect);
        value->memory.limit = limit;
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
        status = unseen_set_unpack_keys(value->plan->keyer, data, len, keys, EFFECT_MAX, &n);
    }
    effect_begin(&effect, ctx, argv[1], value, OPERATION_LEASE, "unseen.claim");
    effect.until = status == UNSEEN_OK ? (int64_t)until : 0;
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        status = value_lease(value, keys[i], server.Milliseconds(), effect.until);
        if (status == UNSEEN_OK) {
            effect_key(&effect, keys[i]);
        }
    }
    effect_end(&effect);
    server.CloseKey(key);
    if (status != UNSEEN_OK) {
        return reply_error(ctx, status == UNSEEN_ERR_NOMEM ? ERROR_NO_MEMORY : ERROR_EFFECT);
    }
    return server.ReplyWithSimpleString(ctx, "OK");
}
