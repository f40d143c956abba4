/* SPDX-License-Identifier: MIT
 *
 * UNSEEN.CREATE, APPLY, TICK and LEASE: a replica or an AOF makes the change that the primary made
 * (keys/effects.h). */
#include "commands/handlers.h"

#include <string.h>

#include <unseen.h>

#include "keys/effects.h"
#include "keys/keys.h"
#include "keys/windows.h"
#include "server/config.h"
#include "server/errors.h"
#include "server/parse.h"
#include "value/checksum.h"

/* A file without a set has no secret, so that of a primary without one comes with its first set. */
static void take_secret(struct server_ctx *ctx, const struct settings *settings)
{
    if (server.GetContextFlags(ctx) & (SERVER_IS_REPLICATED | SERVER_IS_LOADING) &&
        !config.has_seed_file) {
        memcpy(config.seed, settings->seed, SEED_LEN);
    }
}

int apply_create(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct settings settings;
    struct server_key *key;
    struct value *value;
    size_t len;
    if (argc != 3 && argc != 4) {
        return server.WrongArity(ctx);
    }
    const bool is_own = argc == 4 && parse_is(argv[3], "OWN");
    const char *data = server.StringPtrLen(argv[2], &len);
    if (argc == 4 && !is_own) {
        return reply_error(ctx, ERROR_EFFECT);
    }
    enum unseen_status status = settings_decode(&settings, (const uint8_t *)data, len);
    if (status != UNSEEN_OK) {
        return reply_error(ctx, status == UNSEEN_ERR_VERSION ? ERROR_DATA_VERSION : ERROR_EFFECT);
    }
    const enum found found =
        key_open(ctx, argv[1], SERVER_READ | SERVER_WRITE, settings.family, &key, &value);
    if (found == MISSING && is_own) {
        take_secret(ctx, &settings); /* before the effect, which says whose secret it is */
    }
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

/* The primary says that these keys are new. The node that a slot moves to may not have heard that
 * they left: then an entry of before is still in its queue. */
static enum unseen_status add_again(struct value **value, const struct unseen_key *keys, size_t n,
                                    uint8_t *verdicts, struct budget *budget)
{
    enum unseen_status status = UNSEEN_OK;
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        size_t ndone;
        if (verdicts[i] == UNSEEN_SEEN) {
            status = value_remove(value, keys[i], &verdicts[i], budget);
            status = status == UNSEEN_OK
                         ? value_add(value, &keys[i], 1, &verdicts[i], &ndone, budget)
                         : status;
        }
    }
    return status;
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
        if (status == UNSEEN_OK && value_recipe(*value)->settings.window > 0) {
            status = add_again(value, keys, n, verdicts, &budget);
        }
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
int apply_changes(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct unseen_key keys[EFFECT_MAX];
    struct effect effect;
    struct server_key *key;
    struct value *value;
    size_t operation_len;
    size_t len;
    size_t n;
    uint64_t now = 0;
    uint64_t max = 0;
    if (argc != 4 && argc != 6) {
        return server.WrongArity(ctx);
    }
    const char *operation = server.StringPtrLen(argv[2], &operation_len);
    const char *data = server.StringPtrLen(argv[3], &len);
    const enum found found = key_open_any(ctx, argv[1], SERVER_READ | SERVER_WRITE, &key, &value);
    if (found != FOUND) {
        server.CloseKey(key);
        return reply_error(ctx, key_error(found));
    }
    len = checksum_strip((const uint8_t *)data, len);
    enum unseen_status status = UNSEEN_ERR_CORRUPT;
    const bool has_time = argc == 4 || (value_recipe(value)->settings.window > 0 &&
                                        parse_range(argv[4], 1, INT64_MAX, &now) &&
                                        parse_range(argv[5], 0, INT64_MAX, &max));
    if (len != SIZE_MAX && has_time && operation_len == 1 &&
        (operation[0] == OPERATION_ADD || (operation[0] == OPERATION_REMOVE && argc == 4))) {
        status =
            unseen_set_unpack_keys(value_recipe(value)->keyer, data, len, keys, EFFECT_MAX, &n);
    }
    if (status == UNSEEN_OK) {
        effect_begin(&effect, ctx, argv[1], value_recipe(value), (enum operation)operation[0],
                     "unseen.apply");
        if (now > 0) {
            effect_expire(&effect, value, now, max);
        }
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

int apply_tick(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    uint64_t upto;
    if (argc != 2) {
        return server.WrongArity(ctx);
    }
    if (!parse_range(argv[1], 1, INT64_MAX / 4, &upto)) {
        return reply_error(ctx, ERROR_EFFECT);
    }
    windows_tick(ctx, upto);
    return server.ReplyWithSimpleString(ctx, "OK");
}

int apply_leases(struct server_ctx *ctx, struct server_string **argv, int argc)
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
        key_open(ctx, argv[1], SERVER_READ | SERVER_WRITE, FAMILY_URLS, &key, &value);
    if (found != FOUND) {
        server.CloseKey(key);
        return reply_error(ctx, key_error(found));
    }
    len = checksum_strip((const uint8_t *)data, len);
    enum unseen_status status = UNSEEN_ERR_CORRUPT;
    if (len != SIZE_MAX && parse_range(argv[2], 1, INT64_MAX, &until)) {
        status =
            unseen_set_unpack_keys(value_recipe(value)->keyer, data, len, keys, EFFECT_MAX, &n);
    }
    struct budget budget = {0, 0, false};
    effect_begin(&effect, ctx, argv[1], value_recipe(value), OPERATION_LEASE, "unseen.claim");
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
