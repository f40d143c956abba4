/* SPDX-License-Identifier: MIT
 *
 * The commands BF.*, in the dialect of RedisBloom or of valkey-bloom. */
#include "commands/handlers.h"

#include <stdio.h>

#include "commands/bloom_options.h"
#include "server/config.h"
#include "server/parse.h"

static enum answer answers(void)
{
    return is_redisbloom() ? ANSWER_BOOL : ANSWER_NUMBER;
}

int bloom_reserve(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct creation creation;
    creation_defaults(&creation, FAMILY_BLOOM);
    if (!bloom_take_window(ctx, argv, &argc, &creation)) {
        return SERVER_OK;
    }
    if (argc < 4 || argc > 7) {
        return server.WrongArity(ctx);
    }
    if (!bloom_reserve_options(ctx, argv, argc, &creation)) {
        return SERVER_OK;
    }
    return items_reserve(ctx, argv[1], &creation.settings);
}

static int add(struct server_ctx *ctx, struct server_string **argv, int argc, bool is_array)
{
    struct creation creation;
    const struct items items = {argv + 2, (size_t)argc - 2, is_array, answers()};
    creation_defaults(&creation, FAMILY_BLOOM);
    creation.again = is_array ? bloom_madd : bloom_add;
    return items_add(ctx, argv[1], &creation, &items, true);
}

int bloom_add(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return argc == 3 ? add(ctx, argv, argc, false) : server.WrongArity(ctx);
}

int bloom_madd(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return argc >= 3 ? add(ctx, argv, argc, true) : server.WrongArity(ctx);
}

int bloom_insert(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct creation creation;
    int first;
    if (argc < (is_redisbloom() ? 4 : 2)) {
        return server.WrongArity(ctx);
    }
    creation_defaults(&creation, FAMILY_BLOOM);
    if (!bloom_insert_options(ctx, argv, argc, &creation, &first)) {
        return SERVER_OK;
    }
    /* In valkey-bloom, items are optional. */
    if (first == argc && (is_redisbloom() || parse_is(argv[argc - 1], "ITEMS"))) {
        return server.WrongArity(ctx);
    }
    const struct items items = {argv + first, (size_t)(argc - first), true, answers()};
    creation.again = bloom_insert;
    return items_add(ctx, argv[1], &creation, &items, true);
}

int bloom_exists(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    const struct items items = {argv + 2, 1, false, answers()};
    return argc == 3 ? items_ask(ctx, argv[1], FAMILY_BLOOM, &items) : server.WrongArity(ctx);
}

int bloom_mexists(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    const struct items items = {argv + 2, (size_t)argc - 2, true, answers()};
    return argc >= 3 ? items_ask(ctx, argv[1], FAMILY_BLOOM, &items) : server.WrongArity(ctx);
}

int bloom_card(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct value *value;
    if (argc != 2) {
        return server.WrongArity(ctx);
    }
    const enum found found = key_read(ctx, argv[1], FAMILY_BLOOM, &value);
    if (found == OF_OTHER_TYPE) {
        return reply_error(ctx, ERROR_WRONG_TYPE);
    }
    return server.ReplyWithLongLong(ctx, found == FOUND ? (long long)value_nitems(value) : 0);
}

/* ---- BF.INFO ---- */

enum field {
    FIELD_CAPACITY,
    FIELD_SIZE,
    FIELD_FILTERS,
    FIELD_ITEMS,
    FIELD_ERROR,
    FIELD_EXPANSION,
    FIELD_TIGHTENING,
    FIELD_MAX_CAPACITY,
    FIELD_WINDOW,
    FIELD_OLDEST,
    NFIELDS
};

static const struct {
    const char *word;
    const char *name;
    bool is_common; /* RedisBloom has it, too */
} fields[NFIELDS] = {
    [FIELD_CAPACITY] = {"CAPACITY", "Capacity", true},
    [FIELD_SIZE] = {"SIZE", "Size", true},
    [FIELD_FILTERS] = {"FILTERS", "Number of filters", true},
    [FIELD_ITEMS] = {"ITEMS", "Number of items inserted", true},
    [FIELD_ERROR] = {"ERROR", "Error rate", false},
    [FIELD_EXPANSION] = {"EXPANSION", "Expansion rate", true},
    [FIELD_TIGHTENING] = {"TIGHTENING", "Tightening ratio", false},
    [FIELD_MAX_CAPACITY] = {"MAXSCALEDCAPACITY", "Max scaled capacity", false},
    [FIELD_WINDOW] = {"WINDOW", "Window", true},
    [FIELD_OLDEST] = {"OLDEST", "Oldest item", true},
};

static bool has_field(const struct value *value, enum field field)
{
    if (field == FIELD_WINDOW || field == FIELD_OLDEST) {
        return value_recipe(value)->settings.window > 0;
    }
    const bool is_of_growing = field == FIELD_TIGHTENING || field == FIELD_MAX_CAPACITY;
    return is_redisbloom() ? fields[field].is_common
                           : !is_of_growing || !value_recipe(value)->settings.is_fixed;
}

static void reply_field(struct server_ctx *ctx, const struct value *value, enum field field)
{
    const struct settings *s = &value_recipe(value)->settings;
    uint64_t nfilters;
    const uint64_t capacity = value_capacity(value, &nfilters);
    const uint64_t numbers[NFIELDS] = {
        [FIELD_CAPACITY] = capacity,
        [FIELD_SIZE] = value_memory(value),
        [FIELD_FILTERS] = nfilters,
        [FIELD_ITEMS] = value_nitems(value),
        [FIELD_EXPANSION] = s->expansion,
        [FIELD_MAX_CAPACITY] = s->limit ? s->limit / 5 : INT64_MAX,
        [FIELD_WINDOW] = s->window,
        [FIELD_OLDEST] = field == FIELD_OLDEST ? value_stats(value).oldest : 0,
    };
    if (field == FIELD_ERROR || field == FIELD_TIGHTENING) {
        (void)server.ReplyWithDouble(ctx, field == FIELD_ERROR ? s->fpr : s->tightening);
    } else if (field == FIELD_EXPANSION && s->is_fixed) {
        (void)server.ReplyWithNull(ctx);
    } else {
        (void)server.ReplyWithLongLong(ctx, (long long)numbers[field]);
    }
}

static void begin_fields(struct server_ctx *ctx, long n)
{
    if (is_redisbloom()) {
        reply_map(ctx, n);
    } else {
        (void)server.ReplyWithArray(ctx, 2 * n);
    }
}

static int info_all(struct server_ctx *ctx, const struct value *value)
{
    long n = 0;
    for (enum field field = 0; field < NFIELDS; field++) {
        n += has_field(value, field);
    }
    begin_fields(ctx, n);
    for (enum field field = 0; field < NFIELDS; field++) {
        if (has_field(value, field)) {
            (void)server.ReplyWithSimpleString(ctx, fields[field].name);
            reply_field(ctx, value, field);
        }
    }
    return SERVER_OK;
}

/* RedisBloom answers one field as an array, or a map in RESP3; valkey-bloom bare. */
static int info_one(struct server_ctx *ctx, const struct value *value,
                    const struct server_string *word)
{
    for (enum field field = 0; field < NFIELDS; field++) {
        if (!parse_is(word, fields[field].word) || !has_field(value, field)) {
            continue;
        }
        if (is_redisbloom() && (server.GetContextFlags(ctx) & SERVER_IS_RESP3)) {
            (void)server.ReplyWithMap(ctx, 1);
            (void)server.ReplyWithSimpleString(ctx, fields[field].name);
        } else if (is_redisbloom()) {
            (void)server.ReplyWithArray(ctx, 1);
        }
        reply_field(ctx, value, field);
        return SERVER_OK;
    }
    return reply_error(ctx, ERROR_INFORMATION);
}

int bloom_info(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct value *value;
    if (argc < 2 || argc > 3) {
        return server.WrongArity(ctx);
    }
    const enum found found = key_read(ctx, argv[1], FAMILY_BLOOM, &value);
    if (found != FOUND) {
        return reply_error(ctx, key_error(found));
    }
    return argc == 2 ? info_all(ctx, value) : info_one(ctx, value, argv[2]);
}

int bloom_debug(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct value *value;
    char line[256];
    if (argc != 2) {
        return server.WrongArity(ctx);
    }
    const enum found found = key_read(ctx, argv[1], FAMILY_BLOOM, &value);
    if (found != FOUND) {
        return reply_error(ctx, key_error(found));
    }
    const struct unseen_set_stats stats = value_stats(value);
    const struct recipe *recipe = value_recipe(value);
    (void)server.ReplyWithArray(ctx, 2);
    int len = snprintf(line, sizeof(line), "size:%llu", (unsigned long long)value_nadded(value));
    (void)server.ReplyWithStringBuffer(ctx, line, (size_t)len);
    len = snprintf(line, sizeof(line),
                   "bytes:%llu bits:%llu hashes:%u hashwidth:%u capacity:%llu size:%llu "
                   "ratio:%g filter:%s",
                   (unsigned long long)stats.memory, 8 * (unsigned long long)stats.memory,
                   stats.hashes, recipe->key_bits, (unsigned long long)stats.capacity,
                   (unsigned long long)stats.nkeys, recipe->rate, stats.filter);
    return server.ReplyWithStringBuffer(ctx, line, (size_t)len);
}
