/* SPDX-License-Identifier: MIT
 *
 * UNSEEN.CLAIM, ACK and RENEW: a URL that a worker has claimed and not finished comes to another
 * worker when its time has run out, so a worker that dies loses no page. */
#include "commands/handlers.h"

#include "commands/items.h"
#include "keys/effects.h"
#include "server/parse.h"

enum {
    TTL_MAX = 1000000000
};

static uint64_t nclaimed;
static uint64_t nbusy;
static uint64_t nrenewed;
static uint64_t nacknowledged;

void claims_add_info(struct server_info_ctx *info)
{
    (void)server.InfoAddFieldULongLong(info, "claims_given", nclaimed);
    (void)server.InfoAddFieldULongLong(info, "claims_busy", nbusy);
    (void)server.InfoAddFieldULongLong(info, "claims_renewed", nrenewed);
    (void)server.InfoAddFieldULongLong(info, "claims_acknowledged", nacknowledged);
}

/* Claims or renews one URL, and replies. Returns true if the lease was changed. */
typedef bool take_one(struct server_ctx *ctx, struct value **value, struct unseen_key key,
                      int64_t now, int64_t until);

static bool claim_one(struct server_ctx *ctx, struct value **value, struct unseen_key key,
                      int64_t now, int64_t until)
{
    struct budget budget = key_budget(*value);
    enum claim claim;
    if (value_claim(value, key, now, until, &claim, &budget) != UNSEEN_OK) {
        (void)reply_error(ctx, ERROR_NO_MEMORY);
        return false;
    }
    nclaimed += claim == CLAIM_YOURS;
    nbusy += claim == CLAIM_BUSY;
    (void)server.ReplyWithLongLong(ctx, claim);
    return claim == CLAIM_YOURS;
}

static bool renew_one(struct server_ctx *ctx, struct value **value, struct unseen_key key,
                      int64_t now, int64_t until)
{
    struct budget budget = key_budget(*value);
    const bool is_renewed = value_renew(value, key, now, until, &budget);
    nrenewed += is_renewed;
    (void)server.ReplyWithLongLong(ctx, is_renewed);
    return is_renewed;
}

static void take_all(struct effect *effect, struct value **value, struct server_string **argv,
                     size_t n, int64_t now, take_one *take)
{
    struct unseen_key keys[ITEMS_BATCH];
    for (size_t done = 0; done < n;) {
        const size_t count = n - done < ITEMS_BATCH ? n - done : ITEMS_BATCH;
        const bool has_keys = recipe_keys(effect->recipe, argv + done, count, keys) == UNSEEN_OK;
        for (size_t i = 0; i < count; i++) {
            if (!has_keys) {
                (void)reply_error(effect->ctx, ERROR_NO_MEMORY);
            } else if (take(effect->ctx, value, keys[i], now, effect->until)) {
                effect_key(effect, keys[i]);
            }
        }
        done += count;
    }
}

static int take(struct server_ctx *ctx, struct server_string **argv, int argc, take_one *take_url)
{
    struct effect effect;
    struct server_key *key;
    struct value *value;
    uint64_t ttl;
    if (argc < 4) {
        return server.WrongArity(ctx);
    }
    const size_t n = (size_t)argc - 3;
    if (!parse_range(argv[2], 1, TTL_MAX, &ttl)) {
        return reply_error(ctx, ERROR_TTL);
    }
    if (n > ITEMS_MAX) {
        return reply_error(ctx, ERROR_TOO_MANY);
    }
    const enum found found =
        key_open(ctx, argv[1], SERVER_READ | SERVER_WRITE, FAMILY_URLS, &key, &value);
    if (found != FOUND) {
        server.CloseKey(key);
        return reply_error(ctx, key_error(found));
    }
    const int64_t now = server.Milliseconds();
    effect_begin(&effect, ctx, argv[1], value_recipe(value), OPERATION_LEASE, "unseen.claim");
    effect.until = now + 1000 * (int64_t)ttl;
    (void)server.ReplyWithArray(ctx, (long)n);
    take_all(&effect, &value, argv + 3, n, now, take_url);
    key_moved(key, value);
    effect_end(&effect);
    server.CloseKey(key);
    return SERVER_OK;
}

int claims_claim(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return take(ctx, argv, argc, claim_one);
}

int claims_renew(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return take(ctx, argv, argc, renew_one);
}

/* Adding a URL ends its lease. */
int claims_ack(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct creation creation;
    if (argc < 3) {
        return server.WrongArity(ctx);
    }
    const struct items items = {argv + 2, (size_t)argc - 2, true, ANSWER_NUMBER};
    creation_defaults(&creation, FAMILY_URLS);
    creation.is_forbidden = true;
    nacknowledged += items.n;
    return items_add(ctx, argv[1], &creation, &items, true);
}
