/* SPDX-License-Identifier: MIT
 *
 * RedisBloom takes the options of BF.RESERVE in any order, and tells those of BF.INSERT apart by
 * their first letters. valkey-bloom takes whole words only. */
#include "commands/bloom_options.h"

#include "server/config.h"
#include "server/parse.h"

enum {
    SEED_ARGUMENT_LEN = 32
};

/* RedisBloom's highest rate. It takes a higher rate as this one. */
static const double rate_max = 0.25;

static bool refuse(struct server_ctx *ctx, enum error error)
{
    (void)reply_error(ctx, error);
    return false;
}

static bool take_rate(struct server_ctx *ctx, const struct server_string *argument,
                      struct settings *settings, enum error error)
{
    double rate;
    if (!parse_double(argument, &rate)) {
        return refuse(ctx, error);
    }
    if (!(rate > 0 && rate < 1)) {
        return refuse(ctx, ERROR_RATE_RANGE);
    }
    if (rate > rate_max && is_redisbloom()) {
        server.Log(ctx, "warning", "an error rate of %g is taken as %g", rate, rate_max);
        rate = rate_max;
    }
    settings->fpr = rate;
    return true;
}

static bool take_capacity(struct server_ctx *ctx, const struct server_string *argument,
                          struct settings *settings, enum error error)
{
    long long number;
    if (!parse_number(argument, &number)) {
        return refuse(ctx, error);
    }
    if (number < 1 || number > (long long)CAPACITY_MAX) {
        return refuse(ctx, ERROR_CAPACITY_RANGE);
    }
    settings->capacity = (uint64_t)number;
    return true;
}

/* An expansion of 0 is NONSCALING in RedisBloom. */
static bool take_expansion(struct server_ctx *ctx, const struct server_string *argument,
                           struct settings *settings, enum error error)
{
    long long number;
    if (!parse_number(argument, &number)) {
        return refuse(ctx, error);
    }
    if (number < !is_redisbloom() || number > EXPANSION_MAX) {
        return refuse(ctx, ERROR_EXPANSION_RANGE);
    }
    settings->expansion = (uint32_t)number;
    settings->is_fixed = settings->is_fixed || number == 0;
    return true;
}

/* ---- BF.RESERVE ---- */

static bool reserve_redisbloom(struct server_ctx *ctx, struct server_string **argv, int argc,
                               struct settings *settings)
{
    bool expands = false;
    bool is_fixed = false;
    for (int i = 4; i < argc; i++) {
        if (parse_is(argv[i], "NONSCALING")) {
            is_fixed = true;
        } else if (!parse_is(argv[i], "EXPANSION")) {
            return refuse(ctx, ERROR_RESERVE_SYNTAX);
        } else if (++i == argc) {
            return refuse(ctx, ERROR_NO_EXPANSION);
        } else if (!take_expansion(ctx, argv[i], settings, ERROR_EXPANSION)) {
            return false;
        } else {
            expands = settings->expansion > 0;
        }
    }
    if (is_fixed && expands) {
        return refuse(ctx, ERROR_FIXED_EXPANDS);
    }
    settings->is_fixed = settings->is_fixed || is_fixed;
    return true;
}

static bool reserve_valkey(struct server_ctx *ctx, struct server_string **argv, int argc,
                           struct settings *settings)
{
    if (argc == 5 && parse_is(argv[4], "NONSCALING")) {
        settings->is_fixed = true;
        return true;
    }
    if (argc == 6 && parse_is(argv[4], "EXPANSION")) {
        return take_expansion(ctx, argv[5], settings, ERROR_EXPANSION);
    }
    return argc == 4 || refuse(ctx, ERROR_RESERVE_SYNTAX);
}

bool bloom_take_window(struct server_ctx *ctx, struct server_string **argv, int *argc,
                       struct creation *creation)
{
    if (*argc == 5 && parse_is(argv[4], "WINDOW")) {
        return refuse(ctx, ERROR_WINDOW);
    }
    if (*argc >= 6 && parse_is(argv[*argc - 2], "WINDOW")) {
        *argc -= 2;
        return parse_window(argv[*argc + 1], &creation->settings.window) ||
               refuse(ctx, ERROR_WINDOW);
    }
    return true;
}

bool bloom_reserve_options(struct server_ctx *ctx, struct server_string **argv, int argc,
                           struct creation *creation)
{
    struct settings *settings = &creation->settings;
    if (!take_rate(ctx, argv[2], settings, ERROR_RATE) ||
        !take_capacity(ctx, argv[3], settings, ERROR_CAPACITY)) {
        return false;
    }
    if (!(is_redisbloom() ? reserve_redisbloom(ctx, argv, argc, settings)
                          : reserve_valkey(ctx, argv, argc, settings))) {
        return false;
    }
    return !settings->is_fixed || !settings->window || refuse(ctx, ERROR_WINDOW_FIXED);
}

/* ---- BF.INSERT ---- */

enum option {
    OPTION_ITEMS,
    OPTION_CAPACITY,
    OPTION_ERROR,
    OPTION_EXPANSION,
    OPTION_NOCREATE,
    OPTION_NONSCALING,
    OPTION_TIGHTENING,
    OPTION_SEED,
    OPTION_SCALE_TO,
    OPTION_UNKNOWN
};

/* In this order: the first letters that fit decide. */
static const struct {
    const char *letters; /* NULL: not an option of RedisBloom */
    const char *word;
    enum option option;
} insert_options[] = {
    {"i", "ITEMS", OPTION_ITEMS},
    {"c", "CAPACITY", OPTION_CAPACITY},
    {"er", "ERROR", OPTION_ERROR},
    {"e", "EXPANSION", OPTION_EXPANSION},
    {"noc", "NOCREATE", OPTION_NOCREATE},
    {"n", "NONSCALING", OPTION_NONSCALING},
    {NULL, "TIGHTENING", OPTION_TIGHTENING},
    {NULL, "SEED", OPTION_SEED},
    {NULL, "VALIDATESCALETO", OPTION_SCALE_TO},
};

static enum option option_of(const struct server_string *argument)
{
    for (size_t i = 0; i < sizeof(insert_options) / sizeof(*insert_options); i++) {
        const char *letters = insert_options[i].letters;
        if (is_redisbloom() ? letters && parse_begins(argument, letters)
                            : parse_is(argument, insert_options[i].word)) {
            return insert_options[i].option;
        }
    }
    return OPTION_UNKNOWN;
}

static bool take_tightening(struct server_ctx *ctx, const struct server_string *argument,
                            struct settings *settings)
{
    if (!parse_double(argument, &settings->tightening)) {
        return refuse(ctx, ERROR_TIGHTENING);
    }
    return (settings->tightening > 0 && settings->tightening < 1) ||
           refuse(ctx, ERROR_TIGHTENING_RANGE);
}

/* A seed of valkey-bloom has 32 bytes. Ours has 16, so one half is folded onto the other. */
static bool take_seed(struct server_ctx *ctx, const struct server_string *argument,
                      struct settings *settings)
{
    size_t len;
    const char *bytes = server.StringPtrLen(argument, &len);
    if (len != SEED_ARGUMENT_LEN) {
        return refuse(ctx, ERROR_SEED);
    }
    for (size_t i = 0; i < SEED_LEN; i++) {
        settings->seed[i] = (uint8_t)(bytes[i] ^ bytes[i + SEED_LEN]);
    }
    return true;
}

static bool take_value(struct server_ctx *ctx, enum option option,
                       const struct server_string *argument, struct settings *settings,
                       uint64_t *scale_to)
{
    switch (option) {
    case OPTION_CAPACITY:
        return take_capacity(ctx, argument, settings, ERROR_INSERT_CAPACITY);
    case OPTION_ERROR:
        return take_rate(ctx, argument, settings, ERROR_INSERT_RATE);
    case OPTION_EXPANSION:
        return take_expansion(ctx, argument, settings, ERROR_INSERT_EXPANSION);
    case OPTION_TIGHTENING:
        return take_tightening(ctx, argument, settings);
    case OPTION_SEED:
        return take_seed(ctx, argument, settings);
    case OPTION_SCALE_TO:
        return parse_range(argument, 1, INT64_MAX, scale_to) || refuse(ctx, ERROR_SCALE_TO);
    default:
        return refuse(ctx, ERROR_INSERT_SYNTAX);
    }
}

/* A set that grows reaches any number of keys, so only MAXBYTES can be in the way: 36 bits a
 * key. */
static bool is_reachable(struct server_ctx *ctx, const struct settings *settings, uint64_t scale_to)
{
    if (scale_to > 0 && settings->is_fixed) {
        return refuse(ctx, ERROR_SCALE_FIXED);
    }
    return settings->limit == 0 || scale_to <= settings->limit / 5 ||
           refuse(ctx, ERROR_SCALE_LIMIT);
}

bool bloom_insert_options(struct server_ctx *ctx, struct server_string **argv, int argc,
                          struct creation *creation, int *first_item_out)
{
    struct settings *settings = &creation->settings;
    uint64_t scale_to = 0;
    int i = 2;
    for (; i < argc; i++) {
        const enum option option = option_of(argv[i]);
        if (option == OPTION_ITEMS) {
            i++;
            break;
        }
        if (option == OPTION_NOCREATE) {
            creation->is_forbidden = true;
        } else if (option == OPTION_NONSCALING) {
            settings->is_fixed = true;
        } else if (option == OPTION_UNKNOWN) {
            return refuse(ctx, ERROR_INSERT_SYNTAX);
        } else if (++i == argc) {
            (void)server.WrongArity(ctx);
            return false;
        } else if (!take_value(ctx, option, argv[i], settings, &scale_to)) {
            return false;
        }
    }
    *first_item_out = i;
    return is_reachable(ctx, settings, scale_to);
}
