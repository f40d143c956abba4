/* SPDX-License-Identifier: MIT
 *
 * The commands CF.*, as RedisBloom has them. Items can be deleted, and repeats are counted.
 *
 * RedisBloom's table of buckets is not built here: BUCKETSIZE, MAXITERATIONS and EXPANSION are
 * checked and reported, and do nothing. */
#include "commands/handlers.h"

#include <stdio.h>

#include "commands/items.h"
#include "keys/effects.h"
#include "server/config.h"
#include "server/parse.h"

enum {
    BUCKET_MAX = 255,
    ITERATIONS_MAX = 65535
};

static enum answer answers(void)
{
    return ANSWER_BOOL;
}

/* ---- CF.RESERVE ---- */

static uint32_t power_of_two(uint32_t number)
{
    uint32_t power = number > 0;
    while (power < number) {
        power *= 2;
    }
    return power;
}

/* Options with a number behind them. Returns false after it has replied with an error. */
static bool take_option(struct server_ctx *ctx, struct server_string *const *argv,
                        struct settings *settings)
{
    static const struct {
        const char *word;
        long long min;
        long long max;
        enum error unreadable;
        enum error range;
    } options[] = {
        {"MAXITERATIONS", 1, ITERATIONS_MAX, ERROR_CF_ITERATIONS, ERROR_CF_ITERATIONS_RANGE},
        {"BUCKETSIZE", 1, BUCKET_MAX, ERROR_CF_BUCKET, ERROR_CF_BUCKET_RANGE},
        {"EXPANSION", 0, EXPANSION_MAX, ERROR_CF_EXPANSION, ERROR_CF_EXPANSION_RANGE},
    };
    uint32_t *const targets[] = {&settings->iterations, &settings->bucket, &settings->expansion};
    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
        long long number;
        if (!parse_is(argv[0], options[i].word)) {
            continue;
        }
        if (!parse_number(argv[1], &number)) {
            (void)reply_error(ctx, options[i].unreadable);
            return false;
        }
        if (number < options[i].min || number > options[i].max) {
            (void)reply_error(ctx, options[i].range);
            return false;
        }
        *targets[i] = (uint32_t)number;
        return true;
    }
    (void)reply_error(ctx, parse_is(argv[0], "WINDOW") ? ERROR_WINDOW_COUNTS : ERROR_CF_SYNTAX);
    return false;
}

static bool take_options(struct server_ctx *ctx, struct server_string **argv, int argc,
                         struct settings *settings)
{
    for (int i = 3; i < argc; i += 2) {
        if (i + 1 == argc) {
            (void)server.WrongArity(ctx);
            return false;
        }
        if (!take_option(ctx, argv + i, settings)) {
            return false;
        }
    }
    settings->expansion = power_of_two(settings->expansion);
    return true;
}

int cuckoo_reserve(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct creation creation;
    long long capacity;
    if (argc < 3 || argc > 9) {
        return server.WrongArity(ctx);
    }
    creation_defaults(&creation, FAMILY_CUCKOO);
    if (!parse_number(argv[2], &capacity)) {
        return reply_error(ctx, ERROR_CF_CAPACITY);
    }
    if (!take_options(ctx, argv, argc, &creation.settings)) {
        return SERVER_OK;
    }
    if (capacity < 2 * (long long)creation.settings.bucket || capacity > (long long)CAPACITY_MAX) {
        return reply_error(ctx, ERROR_CF_CAPACITY_RANGE);
    }
    creation.settings.capacity = (uint64_t)capacity;
    return items_reserve(ctx, argv[1], &creation.settings);
}

/* ---- items ---- */

static int add(struct server_ctx *ctx, struct server_string **argv, int argc, bool only_absent)
{
    struct creation creation;
    const struct items items = {argv + 2, 1, false, answers()};
    if (argc != 3) {
        return server.WrongArity(ctx);
    }
    creation_defaults(&creation, FAMILY_CUCKOO);
    return items_add(ctx, argv[1], &creation, &items, only_absent);
}

int cuckoo_add(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return add(ctx, argv, argc, false);
}

int cuckoo_addnx(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return add(ctx, argv, argc, true);
}

static int insert(struct server_ctx *ctx, struct server_string **argv, int argc, bool only_absent)
{
    struct creation creation;
    int i = 2;
    if (argc < 4) {
        return server.WrongArity(ctx);
    }
    creation_defaults(&creation, FAMILY_CUCKOO);
    for (; i < argc && !parse_is(argv[i], "ITEMS"); i++) {
        long long capacity;
        if (parse_is(argv[i], "NOCREATE")) {
            creation.is_forbidden = true;
            continue;
        }
        if (!parse_is(argv[i], "CAPACITY")) {
            return reply_error(ctx, ERROR_CF_SYNTAX);
        }
        if (++i == argc) {
            return server.WrongArity(ctx);
        }
        if (!parse_number(argv[i], &capacity)) {
            return reply_error(ctx, ERROR_CF_CAPACITY);
        }
        if (capacity < 2 * (long long)config.cuckoo_bucket || capacity > (long long)CAPACITY_MAX) {
            return reply_error(ctx, ERROR_CF_INSERT_CAPACITY_RANGE);
        }
        creation.settings.capacity = (uint64_t)capacity;
    }
    i++; /* ITEMS */
    if (i >= argc) {
        return server.WrongArity(ctx);
    }
    const struct items items = {argv + i, (size_t)(argc - i), true,
                                only_absent ? ANSWER_NUMBER : answers()};
    return items_add(ctx, argv[1], &creation, &items, only_absent);
}

int cuckoo_insert(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return insert(ctx, argv, argc, false);
}

int cuckoo_insertnx(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return insert(ctx, argv, argc, true);
}

int cuckoo_exists(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    const struct items items = {argv + 2, 1, false, answers()};
    return argc == 3 ? items_ask(ctx, argv[1], FAMILY_CUCKOO, &items) : server.WrongArity(ctx);
}

int cuckoo_mexists(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    const struct items items = {argv + 2, (size_t)argc - 2, true, answers()};
    return argc >= 3 ? items_ask(ctx, argv[1], FAMILY_CUCKOO, &items) : server.WrongArity(ctx);
}

int cuckoo_count(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct value *value;
    struct unseen_key item;
    if (argc != 3) {
        return server.WrongArity(ctx);
    }
    if (key_read(ctx, argv[1], FAMILY_CUCKOO, &value) != FOUND) {
        return server.ReplyWithLongLong(ctx, 0);
    }
    if (recipe_keys(value_recipe(value), argv + 2, 1, &item) != UNSEEN_OK) {
        return reply_error(ctx, ERROR_CF_NO_MEMORY);
    }
    return server.ReplyWithLongLong(ctx, (long long)value_count(value, item));
}

int cuckoo_del(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct effect effect;
    struct server_key *key;
    struct value *value;
    struct unseen_key item;
    uint8_t verdict = UNSEEN_NEW;
    if (argc != 3) {
        return server.WrongArity(ctx);
    }
    const enum found found =
        key_open(ctx, argv[1], SERVER_READ | SERVER_WRITE, FAMILY_CUCKOO, &key, &value);
    if (found != FOUND) {
        server.CloseKey(key);
        return reply_error(ctx, found == MISSING ? ERROR_CF_NOT_FOUND : ERROR_WRONG_TYPE);
    }
    struct budget budget = key_budget(value);
    effect_begin(&effect, ctx, argv[1], value_recipe(value), OPERATION_REMOVE, "cuckoo.del");
    const bool is_done = recipe_keys(value_recipe(value), argv + 2, 1, &item) == UNSEEN_OK &&
                         value_remove(&value, item, &verdict, &budget) == UNSEEN_OK;
    if (is_done && verdict == UNSEEN_SEEN) {
        effect_key(&effect, item);
    }
    key_moved(key, value);
    effect_end(&effect);
    server.CloseKey(key);
    return is_done ? server.ReplyWithBool(ctx, verdict == UNSEEN_SEEN)
                   : reply_error(ctx, ERROR_CF_NO_MEMORY);
}

/* Nothing to do: memory of removed items is used again. */
int cuckoo_compact(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct value *value;
    if (argc != 2) {
        return server.WrongArity(ctx);
    }
    return key_read(ctx, argv[1], FAMILY_CUCKOO, &value) == FOUND
               ? server.ReplyWithSimpleString(ctx, "OK")
               : reply_error(ctx, ERROR_CF_NO_FILTER);
}

/* ---- numbers ---- */

static uint64_t buckets_of(const struct value *value)
{
    return value_stats(value).nslots / value_recipe(value)->settings.bucket;
}

int cuckoo_info(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct value *value;
    if (argc != 2) {
        return server.WrongArity(ctx);
    }
    const enum found found = key_read(ctx, argv[1], FAMILY_CUCKOO, &value);
    if (found != FOUND) {
        return reply_error(ctx, key_error(found));
    }
    const struct settings *s = &value_recipe(value)->settings;
    const struct {
        const char *name;
        uint64_t number;
    } rows[] = {
        {"Size", value_memory(value)},
        {"Number of buckets", buckets_of(value)},
        {"Number of filters", 1},
        {"Number of items inserted", value_nadded(value) - value_nremoved(value)},
        {"Number of items deleted", value_nremoved(value)},
        {"Bucket size", s->bucket},
        {"Expansion rate", s->expansion},
        {"Max iterations", s->iterations},
    };
    enum {
        NROWS = sizeof(rows) / sizeof(*rows)
    };
    reply_map(ctx, NROWS);
    for (size_t i = 0; i < NROWS; i++) {
        (void)server.ReplyWithSimpleString(ctx, rows[i].name);
        (void)server.ReplyWithLongLong(ctx, (long long)rows[i].number);
    }
    return SERVER_OK;
}

int cuckoo_debug(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct value *value;
    char line[256];
    if (argc != 2) {
        return server.WrongArity(ctx);
    }
    const enum found found = key_read(ctx, argv[1], FAMILY_CUCKOO, &value);
    if (found != FOUND) {
        return reply_error(ctx, key_error(found));
    }
    const struct settings *s = &value_recipe(value)->settings;
    const int len = snprintf(
        line, sizeof(line),
        "bktsize:%u buckets:%llu items:%llu deletes:%llu filters:1 max_iterations:%u expansion:%u",
        s->bucket, (unsigned long long)buckets_of(value),
        (unsigned long long)(value_nadded(value) - value_nremoved(value)),
        (unsigned long long)value_nremoved(value), s->iterations, s->expansion);
    return server.ReplyWithStringBuffer(ctx, line, (size_t)len);
}
