/* SPDX-License-Identifier: MIT */
#include "commands/items.h"

#include <string.h>

#include "commands/create.h"
#include "keys/effects.h"
#include "server/config.h"

enum {
    CF_NO_SPACE = -1, /* the answer to an item of CF.INSERT that had no room */
    FEW_MORE = 16     /* a command lets so many more keys leave than it adds */
};

/* Commands that add do this before they know if the key is missing, so they do not clear
 * the 256 bytes of the profile. */
void creation_defaults(struct creation *creation, enum family family)
{
    const bool is_cuckoo = family == FAMILY_CUCKOO;
    struct settings *s = &creation->settings;
    creation->is_forbidden = false;
    creation->again = NULL;
    s->family = family;
    s->is_fixed = false;
    s->fpr = is_cuckoo ? 1.5e-6 : family == FAMILY_BLOOM ? config.fpr : UNSEEN_FPR_DEFAULT;
    s->tightening = config.tightening;
    s->capacity = is_cuckoo ? config.cuckoo_capacity : family == FAMILY_BLOOM ? config.capacity : 0;
    s->expansion = is_cuckoo ? config.cuckoo_expansion : config.expansion;
    s->bucket = config.cuckoo_bucket;
    s->iterations = config.cuckoo_iterations;
    s->limit = config.limit;
    s->window = 0;
    s->profile[0] = 0;
    memcpy(s->seed, config.seed, SEED_LEN);
}

bool parse_window(const struct server_string *argument, uint64_t *window_out)
{
    size_t len;
    const char *text = server.StringPtrLen(argument, &len);
    return strlen(text) == len && unseen_window_parse(text, window_out) == UNSEEN_OK;
}

int reply_not_created(struct server_ctx *ctx, enum unseen_status status)
{
    if (status == UNSEEN_ERR_NOMEM) {
        return reply_error(ctx, ERROR_NO_MEMORY_CREATE);
    }
    return reply_error(ctx, status == UNSEEN_ERR_FPR ? ERROR_RATE_LOW : ERROR_PROFILE);
}

void reply_map(struct server_ctx *ctx, long n)
{
    (void)(server.GetContextFlags(ctx) & SERVER_IS_RESP3 ? server.ReplyWithMap(ctx, n)
                                                         : server.ReplyWithArray(ctx, 2 * n));
}

/* ---- RESERVE ---- */

static int reply_reserved(struct server_ctx *ctx, struct server_string *name, enum family family)
{
    static const char *const events[] = {[FAMILY_BLOOM] = "bloom.reserve",
                                         [FAMILY_CUCKOO] = "cuckoo.reserve",
                                         [FAMILY_URLS] = "unseen.reserve"};
    (void)server.SignalModifiedKey(ctx, name);
    (void)server.NotifyKeyspaceEvent(ctx, SERVER_NOTIFY_GENERIC, events[family], name);
    return server.ReplyWithSimpleString(ctx, "OK");
}

/* BF.RESERVE goes on: the value has been made aside. */
static int reply_made(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    (void)argc;
    return reply_reserved(ctx, argv[1], FAMILY_BLOOM);
}

static int reply_late(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    (void)argv;
    (void)argc;
    return reply_error(ctx, ERROR_EXISTS);
}

int items_reserve(struct server_ctx *ctx, struct server_string *name,
                  const struct settings *settings)
{
    struct server_key *key;
    struct value *value;
    enum unseen_status status = UNSEEN_OK;
    const enum found found =
        key_open(ctx, name, SERVER_READ | SERVER_WRITE, settings->family, &key, &value);
    const enum creation_way way = found == MISSING && settings->family == FAMILY_BLOOM
                                      ? create_aside(ctx, name, settings, reply_made, reply_late)
                                      : CREATE_AT_ONCE;
    if (way != CREATE_AT_ONCE) {
        server.CloseKey(key);
        return way == CREATE_ASIDE ? SERVER_OK : reply_error(ctx, ERROR_HUGE);
    }
    if (found == MISSING) {
        status = key_create(ctx, key, name, settings, &value);
    }
    server.CloseKey(key);
    if (found != MISSING) {
        return reply_error(ctx, found == FOUND ? ERROR_EXISTS : ERROR_WRONG_TYPE);
    }
    return status == UNSEEN_OK ? reply_reserved(ctx, name, settings->family)
                               : reply_not_created(ctx, status);
}

/* ---- ADD ---- */

static int reply_verdict(struct server_ctx *ctx, const struct items *items, bool yes)
{
    return items->answer == ANSWER_BOOL ? server.ReplyWithBool(ctx, yes)
                                        : server.ReplyWithLongLong(ctx, yes);
}

/* An add of items to a value, which may move. */
struct adding {
    struct value *value;
    struct effect *effect;
    struct budget budget;
    bool counts;      /* CF.*: each add of an item counts, */
    bool only_absent; /* or only the first one does */
    bool needs_time;  /* it has a window */
};

static int reply_no_room(struct server_ctx *ctx, const struct adding *adding,
                         enum unseen_status status)
{
    if (status == UNSEEN_ERR_SPACE) {
        return reply_error(ctx, ERROR_FULL);
    }
    if (adding->budget.refused) {
        return reply_error(ctx, ERROR_LIMIT);
    }
    return reply_error(ctx, adding->counts ? ERROR_CF_NO_MEMORY : ERROR_NO_MEMORY);
}

static enum unseen_status add_absent(struct adding *adding, const struct unseen_key *keys, size_t n,
                                     uint8_t *verdicts, size_t *ndone_out)
{
    enum unseen_status status = UNSEEN_OK;
    for (*ndone_out = 0; *ndone_out < n && status == UNSEEN_OK;) {
        status = value_add_absent(&adding->value, keys[*ndone_out], &verdicts[*ndone_out],
                                  &adding->budget);
        *ndone_out += status == UNSEEN_OK;
    }
    return status;
}

/* Adds a batch, and notes in the effect what was changed. */
static enum unseen_status add_batch(struct adding *adding, const struct unseen_key *keys, size_t n,
                                    uint8_t *verdicts, size_t *ndone_out)
{
    const bool all_count = adding->counts && !adding->only_absent;
    const enum unseen_status status =
        adding->counts && adding->only_absent
            ? add_absent(adding, keys, n, verdicts, ndone_out)
            : value_add(&adding->value, keys, n, verdicts, ndone_out, &adding->budget);
    for (size_t i = 0; i < *ndone_out; i++) {
        const bool is_changed = verdicts[i] == UNSEEN_NEW || all_count;
        verdicts[i] = is_changed;
        if (is_changed) {
            effect_key(adding->effect, keys[i]);
        }
    }
    return status;
}

/* As RedisBloom: the answers of BF.MADD stop with the error; CF.INSERT answers -1 to the rest. */
static void reply_to_rest(struct server_ctx *ctx, const struct adding *adding,
                          enum unseen_status status, size_t nrest, size_t *nreplies)
{
    if (!adding->counts) {
        (void)reply_no_room(ctx, adding, status);
        (*nreplies)++;
        return;
    }
    for (size_t i = 0; i < nrest; i++, (*nreplies)++) {
        (void)server.ReplyWithLongLong(ctx, CF_NO_SPACE);
    }
}

/* A key that is new has the time of its command, and replicas get the time with the key. Most keys
 * are seen, and tell no time. */
static void tell_time(struct adding *adding, const struct items *items,
                      const struct unseen_key *keys, size_t n, uint8_t *verdicts)
{
    value_contains(adding->value, keys, n, verdicts);
    if (memchr(verdicts, UNSEEN_NEW, n)) {
        effect_expire(adding->effect, adding->value, (uint64_t)server.Milliseconds(),
                      items->n + FEW_MORE);
        adding->needs_time = false;
    }
}

static void add_all(struct adding *adding, const struct items *items)
{
    struct server_ctx *ctx = adding->effect->ctx;
    struct unseen_key keys[ITEMS_BATCH];
    uint8_t verdicts[ITEMS_BATCH];
    enum unseen_status status = UNSEEN_OK;
    size_t done = 0;
    size_t nreplies = 0;
    while (done < items->n && status == UNSEEN_OK) {
        const size_t n = items->n - done < ITEMS_BATCH ? items->n - done : ITEMS_BATCH;
        size_t ndone = 0;
        status = recipe_keys(adding->effect->recipe, items->argv + done, n, keys);
        if (status == UNSEEN_OK && adding->needs_time) {
            tell_time(adding, items, keys, n, verdicts);
        }
        if (status == UNSEEN_OK) {
            status = add_batch(adding, keys, n, verdicts, &ndone);
        }
        for (size_t i = 0; i < ndone; i++, nreplies++) {
            (void)reply_verdict(ctx, items, verdicts[i]);
        }
        done += ndone;
    }
    if (status != UNSEEN_OK && items->is_array) {
        reply_to_rest(ctx, adding, status, items->n - done, &nreplies);
    } else if (status != UNSEEN_OK) {
        (void)reply_no_room(ctx, adding, status);
    }
    if (items->is_array) {
        server.ReplySetArrayLength(ctx, (long)nreplies);
    }
}

static const char *event_of(enum family family)
{
    return family == FAMILY_BLOOM    ? "bloom.add"
           : family == FAMILY_CUCKOO ? "cuckoo.add"
                                     : "unseen.add";
}

int items_add(struct server_ctx *ctx, struct server_string *name, const struct creation *creation,
              const struct items *items, bool only_absent)
{
    const enum family family = creation->settings.family;
    struct server_key *key;
    struct value *value;
    enum unseen_status status = UNSEEN_OK;
    if (items->n > ITEMS_MAX) {
        return reply_error(ctx, ERROR_TOO_MANY);
    }
    const enum found found = key_open(ctx, name, SERVER_READ | SERVER_WRITE, family, &key, &value);
    if (found == OF_OTHER_TYPE || (found == MISSING && creation->is_forbidden)) {
        server.CloseKey(key);
        return reply_error(ctx, key_error(found));
    }
    const enum creation_way way =
        found == MISSING && creation->again
            ? create_aside(ctx, name, &creation->settings, creation->again, creation->again)
            : CREATE_AT_ONCE;
    if (way != CREATE_AT_ONCE) {
        server.CloseKey(key);
        return way == CREATE_ASIDE ? SERVER_OK : reply_error(ctx, ERROR_HUGE);
    }
    if (found == MISSING) {
        status = key_create(ctx, key, name, &creation->settings, &value);
    }
    if (status != UNSEEN_OK) {
        server.CloseKey(key);
        return reply_not_created(ctx, status);
    }
    struct effect effect;
    struct adding adding = {value,
                            &effect,
                            key_budget(value),
                            family == FAMILY_CUCKOO,
                            only_absent,
                            value_recipe(value)->settings.window > 0};
    effect_begin(&effect, ctx, name, value_recipe(value), OPERATION_ADD, event_of(family));
    effect.has_changed = found == MISSING;
    if (found == FOUND && !items->is_array && family != FAMILY_URLS && adding.budget.limit == 0 &&
        !adding.needs_time) {
        effect_is_command(&effect);
    }
    if (items->is_array) {
        (void)server.ReplyWithArray(ctx, SERVER_POSTPONED_LEN);
    }
    add_all(&adding, items);
    key_moved(key, adding.value);
    effect_end(&effect);
    server.CloseKey(key);
    return SERVER_OK;
}

/* ---- EXISTS ---- */

static int ask_missing(struct server_ctx *ctx, const struct items *items)
{
    for (size_t i = 0; i < items->n; i++) {
        (void)reply_verdict(ctx, items, false);
    }
    return SERVER_OK;
}

int items_ask(struct server_ctx *ctx, struct server_string *name, enum family family,
              const struct items *items)
{
    struct unseen_key keys[ITEMS_BATCH];
    uint8_t verdicts[ITEMS_BATCH];
    struct value *value;
    if (items->n > ITEMS_MAX) {
        return reply_error(ctx, ERROR_TOO_MANY);
    }
    const enum found found = key_read(ctx, name, family, &value);
    const bool asks_any_type =
        family == FAMILY_CUCKOO || (family == FAMILY_BLOOM && is_redisbloom());
    if (found == OF_OTHER_TYPE && !asks_any_type) {
        return reply_error(ctx, ERROR_WRONG_TYPE);
    }
    if (items->is_array) {
        (void)server.ReplyWithArray(ctx, (long)items->n);
    }
    if (found != FOUND) {
        return ask_missing(ctx, items);
    }
    for (size_t done = 0; done < items->n;) {
        const size_t n = items->n - done < ITEMS_BATCH ? items->n - done : ITEMS_BATCH;
        const bool has_keys =
            recipe_keys(value_recipe(value), items->argv + done, n, keys) == UNSEEN_OK;
        if (has_keys) {
            value_contains(value, keys, n, verdicts);
        }
        for (size_t i = 0; i < n; i++) {
            (void)(has_keys ? reply_verdict(ctx, items, verdicts[i] == UNSEEN_SEEN)
                            : reply_error(ctx, ERROR_NO_MEMORY));
        }
        done += n;
    }
    return SERVER_OK;
}
