/* SPDX-License-Identifier: MIT
 *
 * A server puts the name of the module before the name of a setting: bf.bloom-capacity, as
 * valkey-bloom has it. RedisBloom in Redis 8 has names without a prefix, which older servers and
 * Valkey do not offer: there it is bf.bf-initial-size. */
#include "server/config.h"

#include <stdio.h>
#include <string.h>

#include "server/parse.h"
#include "server/server.h"

struct config config = {
    .dialect = DIALECT_REDISBLOOM,
    .fpr = 0.01,
    .capacity = 100,
    .expansion = 2,
    .cuckoo_capacity = 1024,
    .cuckoo_bucket = 2,
    .cuckoo_iterations = 20,
    .cuckoo_expansion = 1,
    .cuckoo_max_expansions = 32,
    .tightening = 0.5,
    .nshards = 16,
};

static int refuse(struct server_string **error, const char *text)
{
    *error = server.CreateString(NULL, text, strlen(text));
    return SERVER_ERR;
}

/* ---- numbers ---- */

struct number {
    const char *name;
    uint64_t *wide;   /* the number is here */
    uint32_t *narrow; /* or here */
    long long min;
    long long max;
    unsigned flags;
};

static struct number redisbloom_numbers[] = {
    {"bf-initial-size", &config.capacity, NULL, 1, CAPACITY_MAX, SERVER_CONFIG_UNPREFIXED},
    {"bf-expansion-factor", NULL, &config.expansion, 0, EXPANSION_MAX, SERVER_CONFIG_UNPREFIXED},
    {"cf-initial-size", &config.cuckoo_capacity, NULL, 4, CAPACITY_MAX, SERVER_CONFIG_UNPREFIXED},
    {"cf-bucket-size", NULL, &config.cuckoo_bucket, 1, 255, SERVER_CONFIG_UNPREFIXED},
    {"cf-max-iterations", NULL, &config.cuckoo_iterations, 1, 65535, SERVER_CONFIG_UNPREFIXED},
    {"cf-expansion-factor", NULL, &config.cuckoo_expansion, 0, EXPANSION_MAX,
     SERVER_CONFIG_UNPREFIXED},
    {"cf-max-expansions", NULL, &config.cuckoo_max_expansions, 1, 65536, SERVER_CONFIG_UNPREFIXED},
    {"maxbytes", &config.limit, NULL, 0, INT64_MAX, SERVER_CONFIG_MEMORY},
};

static struct number valkey_numbers[] = {
    {"bloom-capacity", &config.capacity, NULL, 1, CAPACITY_MAX, 0},
    {"bloom-expansion", NULL, &config.expansion, 0, EXPANSION_MAX, 0},
    {"bloom-memory-usage-limit", &config.limit, NULL, 0, INT64_MAX, SERVER_CONFIG_MEMORY},
};

static long long get_number(const char *name, void *data)
{
    const struct number *number = data;
    (void)name;
    return number->wide ? (long long)*number->wide : (long long)*number->narrow;
}

/* The server has checked the range. */
static int set_number(const char *name, long long value, void *data, struct server_string **error)
{
    const struct number *number = data;
    (void)name;
    (void)error;
    if (number->wide) {
        *number->wide = (uint64_t)value;
    } else {
        *number->narrow = (uint32_t)value;
    }
    return SERVER_OK;
}

/* ---- numbers between 0 and 1 ---- */

struct share {
    const char *name;
    double *number;
    struct server_string *text; /* as it was set: CONFIG GET shows it */
    unsigned flags;
};

static struct share redisbloom_shares[] = {
    {"bf-error-rate", &config.fpr, NULL, SERVER_CONFIG_UNPREFIXED},
};

static struct share valkey_shares[] = {
    {"bloom-fp-rate", &config.fpr, NULL, 0},
    {"bloom-tightening-ratio", &config.tightening, NULL, 0},
};

static struct server_string *get_share(const char *name, void *data)
{
    const struct share *share = data;
    (void)name;
    return share->text;
}

static int set_share(const char *name, struct server_string *value, void *data,
                     struct server_string **error)
{
    struct share *share = data;
    double number;
    (void)name;
    if (!parse_double(value, &number) || !(number > 0 && number < 1)) {
        return refuse(error, "argument must be above 0 and below 1");
    }
    if (share->text) {
        server.FreeString(NULL, share->text);
    }
    share->text = server.CreateStringFromString(NULL, value);
    *share->number = number;
    return SERVER_OK;
}

/* ---- yes and no: valkey-bloom only ---- */

static int get_true(const char *name, void *data)
{
    (void)name;
    (void)data;
    return 1;
}

static int set_random_seed(const char *name, int value, void *data, struct server_string **error)
{
    (void)name;
    (void)data;
    return value ? SERVER_OK : refuse(error, "the secret is always random, or that of seed-file");
}

static int get_defrag(const char *name, void *data)
{
    (void)name;
    (void)data;
    return !config.keeps_place;
}

static int set_defrag(const char *name, int value, void *data, struct server_string **error)
{
    (void)name;
    (void)data;
    (void)error;
    config.keeps_place = !value;
    return SERVER_OK;
}

/* ---- arguments of the module ---- */

#define N(array) (sizeof(array) / sizeof(*(array)))

/* Of RedisBloom before 8.0. */
static const char *new_name(const struct server_string *name)
{
    static const char *const names[][2] = {{"ERROR_RATE", "bf-error-rate"},
                                           {"INITIAL_SIZE", "bf-initial-size"},
                                           {"CF_MAX_EXPANSIONS", "cf-max-expansions"}};
    for (size_t i = 0; i < N(names); i++) {
        if (parse_is(name, names[i][0])) {
            return names[i][1];
        }
    }
    return NULL;
}

static bool is_named(const struct server_string *name, const char *setting)
{
    const char *renamed = new_name(name);
    return parse_is(name, setting) || (renamed && strcmp(renamed, setting) == 0);
}

static const char *take_number(struct number *number, const struct server_string *value)
{
    static char values[64];
    uint64_t wide;
    const bool is_memory = number->flags & SERVER_CONFIG_MEMORY;
    if (value && (is_memory ? parse_memory(value, number->max, &wide)
                            : parse_range(value, number->min, number->max, &wide))) {
        (void)set_number(NULL, (long long)wide, number, NULL);
        return NULL;
    }
    (void)snprintf(values, sizeof(values), "%lld to %lld", number->min, number->max);
    return is_memory ? "bytes, as 1000000 or 10mb; 0 for no limit" : values;
}

static const char *take_share(const struct share *share, const struct server_string *value)
{
    double number;
    if (value && parse_double(value, &number) && number > 0 && number < 1) {
        *share->number = number;
        return NULL;
    }
    return "above 0 and below 1";
}

bool config_argument(const struct server_string *name, const struct server_string *value,
                     const char **values_out)
{
    for (size_t i = 0; i < N(redisbloom_numbers); i++) {
        if (is_named(name, redisbloom_numbers[i].name)) {
            *values_out = take_number(&redisbloom_numbers[i], value);
            return true;
        }
    }
    for (size_t i = 0; i < N(redisbloom_shares); i++) {
        if (is_named(name, redisbloom_shares[i].name)) {
            *values_out = take_share(&redisbloom_shares[i], value);
            return true;
        }
    }
    return false;
}

/* ---- registration ---- */

/* Redis 8 brought names without a prefix and this function. */
static unsigned known(unsigned flags)
{
    return server.LoadDefaultConfigs ? flags : flags & ~(unsigned)SERVER_CONFIG_UNPREFIXED;
}

static bool add_numbers(struct server_ctx *ctx, struct number *numbers, size_t n)
{
    bool is_good = true;
    for (struct number *number = numbers; number < numbers + n; number++) {
        is_good = is_good &&
                  server.RegisterNumericConfig(ctx, number->name, get_number(NULL, number),
                                               known(number->flags), number->min, number->max,
                                               get_number, set_number, NULL, number) == SERVER_OK;
    }
    return is_good;
}

static bool add_shares(struct server_ctx *ctx, struct share *shares, size_t n)
{
    bool is_good = true;
    for (struct share *share = shares; share < shares + n; share++) {
        char text[32];
        (void)snprintf(text, sizeof(text), "%.15g", *share->number);
        is_good =
            is_good && server.RegisterStringConfig(ctx, share->name, text, known(share->flags),
                                                   get_share, set_share, NULL, share) == SERVER_OK;
    }
    return is_good;
}

static bool add_redisbloom(struct server_ctx *ctx)
{
    return add_numbers(ctx, redisbloom_numbers, N(redisbloom_numbers)) &&
           add_shares(ctx, redisbloom_shares, N(redisbloom_shares));
}

static bool add_valkey(struct server_ctx *ctx)
{
    return add_numbers(ctx, valkey_numbers, N(valkey_numbers)) &&
           add_shares(ctx, valkey_shares, N(valkey_shares)) &&
           server.RegisterBoolConfig(ctx, "bloom-use-random-seed", 1, 0, get_true, set_random_seed,
                                     NULL, NULL) == SERVER_OK &&
           server.RegisterBoolConfig(ctx, "bloom-defrag-enabled", 1, 0, get_defrag, set_defrag,
                                     NULL, NULL) == SERVER_OK;
}

bool config_init(struct server_ctx *ctx)
{
    const bool is_added = is_redisbloom() ? add_redisbloom(ctx) : add_valkey(ctx);
    if (!is_added || server.LoadConfigs(ctx) != SERVER_OK) {
        server.Log(ctx, "warning", "unseen.so: the server refuses a setting");
        return false;
    }
    return true;
}
