/* SPDX-License-Identifier: MIT
 *
 * The commands UNSEEN.*: sets of URLs, by URL identity. */
#include "commands/handlers.h"

#include <string.h>

#include "commands/items.h"
#include "keys/effects.h"
#include "server/parse.h"

static const char default_profile[] = "crawl";

/* The settings have the id of the profile, with its version: "crawl/1". Returns false if there
 * is no such profile. */
static bool set_profile(struct settings *settings, const char *name)
{
    const struct unseen_url_options options = {.size = sizeof(options), .profile = name};
    struct unseen_url *url;
    if (unseen_url_create(&url, &options, NULL) != UNSEEN_OK) {
        return false;
    }
    const size_t len = strlen(unseen_url_id(url));
    if (len <= PROFILE_MAX) {
        memcpy(settings->profile, unseen_url_id(url), len + 1);
    }
    unseen_url_free(url);
    return len <= PROFILE_MAX;
}

static bool refuse(struct server_ctx *ctx, enum error error)
{
    (void)reply_error(ctx, error);
    return false;
}

/* Takes an option and its value. Returns false after it has replied with an error. */
static bool take_option(struct server_ctx *ctx, struct server_string *const *argv,
                        struct settings *settings)
{
    if (parse_is(argv[0], "PROFILE")) {
        size_t len;
        const char *name = server.StringPtrLen(argv[1], &len);
        return (strlen(name) == len && set_profile(settings, name)) || refuse(ctx, ERROR_PROFILE);
    }
    if (parse_is(argv[0], "FPR")) {
        if (!parse_double(argv[1], &settings->fpr)) {
            return refuse(ctx, ERROR_RATE);
        }
        return (settings->fpr > 0 && settings->fpr < 1) || refuse(ctx, ERROR_RATE_RANGE);
    }
    if (parse_is(argv[0], "MAXBYTES")) {
        return parse_range(argv[1], 1, INT64_MAX, &settings->limit) || refuse(ctx, ERROR_MAXBYTES);
    }
    if (parse_is(argv[0], "WINDOW")) {
        return parse_window(argv[1], &settings->window) || refuse(ctx, ERROR_WINDOW);
    }
    return refuse(ctx, ERROR_SYNTAX);
}

int urls_reserve(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct creation creation;
    if (argc < 2 || argc % 2 != 0) {
        return server.WrongArity(ctx);
    }
    creation_defaults(&creation, FAMILY_URLS);
    for (int i = 2; i < argc; i += 2) {
        if (!take_option(ctx, argv + i, &creation.settings)) {
            return SERVER_OK;
        }
    }
    if (!creation.settings.profile[0] && !set_profile(&creation.settings, default_profile)) {
        return reply_error(ctx, ERROR_NO_MEMORY_CREATE);
    }
    return items_reserve(ctx, argv[1], &creation.settings);
}

int urls_add(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    static char profile[PROFILE_MAX + 1]; /* of missing keys; found once */
    struct creation creation;
    if (argc < 3) {
        return server.WrongArity(ctx);
    }
    creation_defaults(&creation, FAMILY_URLS);
    if (!profile[0]) {
        if (!set_profile(&creation.settings, default_profile)) {
            return reply_error(ctx, ERROR_NO_MEMORY_CREATE);
        }
        memcpy(profile, creation.settings.profile, sizeof(profile));
    }
    memcpy(creation.settings.profile, profile, sizeof(profile));
    const struct items items = {argv + 2, (size_t)argc - 2, true, ANSWER_NUMBER};
    return items_add(ctx, argv[1], &creation, &items, true);
}

int urls_exists(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    const struct items items = {argv + 2, (size_t)argc - 2, true, ANSWER_NUMBER};
    return argc >= 3 ? items_ask(ctx, argv[1], FAMILY_URLS, &items) : server.WrongArity(ctx);
}

/* ---- UNSEEN.REMOVE ---- */

static void remove_all(struct effect *effect, struct value **value, struct server_string **argv,
                       size_t n)
{
    struct unseen_key keys[ITEMS_BATCH];
    struct budget budget = key_budget(*value);
    for (size_t done = 0; done < n;) {
        const size_t count = n - done < ITEMS_BATCH ? n - done : ITEMS_BATCH;
        const enum unseen_status status = recipe_keys(effect->recipe, argv + done, count, keys);
        for (size_t i = 0; i < count; i++) {
            uint8_t verdict = UNSEEN_NEW;
            if (status != UNSEEN_OK ||
                value_remove(value, keys[i], &verdict, &budget) != UNSEEN_OK) {
                (void)reply_error(effect->ctx, ERROR_NO_MEMORY);
                continue;
            }
            if (verdict == UNSEEN_SEEN) {
                effect_key(effect, keys[i]);
            }
            (void)server.ReplyWithLongLong(effect->ctx, verdict == UNSEEN_SEEN);
        }
        done += count;
    }
}

int urls_remove(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct effect effect;
    struct server_key *key;
    struct value *value;
    if (argc < 3) {
        return server.WrongArity(ctx);
    }
    const size_t n = (size_t)argc - 2;
    if (n > ITEMS_MAX) {
        return reply_error(ctx, ERROR_TOO_MANY);
    }
    const enum found found =
        key_open(ctx, argv[1], SERVER_READ | SERVER_WRITE, FAMILY_URLS, &key, &value);
    if (found == OF_OTHER_TYPE) {
        server.CloseKey(key);
        return reply_error(ctx, ERROR_WRONG_TYPE);
    }
    (void)server.ReplyWithArray(ctx, (long)n);
    if (found == MISSING) {
        for (size_t i = 0; i < n; i++) {
            (void)server.ReplyWithLongLong(ctx, 0);
        }
    } else {
        effect_begin(&effect, ctx, argv[1], value_recipe(value), OPERATION_REMOVE, "unseen.remove");
        remove_all(&effect, &value, argv + 2, n);
        key_moved(key, value);
        effect_end(&effect);
    }
    server.CloseKey(key);
    return SERVER_OK;
}

/* ---- UNSEEN.INFO ---- */

int urls_info(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    enum {
        NFIELDS = 7,
        NFIELDS_WINDOW = 2
    };
    struct value *value;
    if (argc != 2) {
        return server.WrongArity(ctx);
    }
    const enum found found = key_read(ctx, argv[1], FAMILY_URLS, &value);
    if (found != FOUND) {
        return reply_error(ctx, key_error(found));
    }
    const struct settings *s = &value_recipe(value)->settings;
    const struct unseen_set_stats stats = value_stats(value);
    reply_map(ctx, NFIELDS + (s->window ? NFIELDS_WINDOW : 0));
    (void)server.ReplyWithSimpleString(ctx, "urls");
    (void)server.ReplyWithLongLong(ctx, (long long)stats.nkeys);
    (void)server.ReplyWithSimpleString(ctx, "bytes");
    (void)server.ReplyWithLongLong(ctx, (long long)value_memory(value));
    (void)server.ReplyWithSimpleString(ctx, "maxbytes");
    (void)server.ReplyWithLongLong(ctx, (long long)s->limit);
    (void)server.ReplyWithSimpleString(ctx, "profile");
    (void)server.ReplyWithStringBuffer(ctx, s->profile, strlen(s->profile));
    (void)server.ReplyWithSimpleString(ctx, "filter");
    (void)server.ReplyWithStringBuffer(ctx, stats.filter, strlen(stats.filter));
    (void)server.ReplyWithSimpleString(ctx, "fpr promised");
    (void)server.ReplyWithDouble(ctx, stats.fpr_promise);
    (void)server.ReplyWithSimpleString(ctx, "fpr now");
    (void)server.ReplyWithDouble(ctx, stats.fpr_estimate);
    if (s->window) {
        (void)server.ReplyWithSimpleString(ctx, "window");
        (void)server.ReplyWithLongLong(ctx, (long long)stats.window);
        (void)server.ReplyWithSimpleString(ctx, "oldest");
        (void)server.ReplyWithLongLong(ctx, (long long)stats.oldest);
    }
    return SERVER_OK;
}
