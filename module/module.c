/* SPDX-License-Identifier: MIT
 *
 * unseen.so: the start of the module, its arguments and its section of INFO.
 *
 *     redis-server --loadmodule unseen.so [dialect redisbloom|valkey] [NAME VALUE]... */
#include <unseen.h>

#include "command_table.h"
#include "commands/guard_leases.h"
#include "commands/handlers.h"
#include "keys/effects.h"
#include "keys/loads.h"
#include "keys/type.h"
#include "keys/windows.h"
#include "server/config.h"
#include "server/memory.h"
#include "server/parse.h"
#include "server/secret.h"
#include "server/server.h"

/* MODULE LIST says "bf", and clients ask for a version of RedisBloom that has all commands. */
static const char module_name[] = "bf";
enum {
    MODULE_VERSION = 20815
};

/* ---- arguments ---- */

static bool set_dialect(const struct server_string *value)
{
    if (parse_is(value, "redisbloom")) {
        config.dialect = DIALECT_REDISBLOOM;
    } else if (parse_is(value, "valkey")) {
        config.dialect = DIALECT_VALKEY;
    } else {
        return false;
    }
    return true;
}

static bool set_rate(const struct server_string *value)
{
    return parse_double(value, &config.fpr) && config.fpr > 0 && config.fpr < 1;
}

static bool set_capacity(const struct server_string *value)
{
    return parse_range(value, 1, (long long)CAPACITY_MAX, &config.capacity);
}

static bool set_expansion(const struct server_string *value)
{
    uint64_t number;
    const bool is_good = parse_range(value, 0, EXPANSION_MAX, &number);
    config.expansion = is_good ? (uint32_t)number : config.expansion;
    return is_good;
}

static bool set_cuckoo_capacity(const struct server_string *value)
{
    return parse_range(value, 4, (long long)CAPACITY_MAX, &config.cuckoo_capacity);
}

static bool set_limit(const struct server_string *value)
{
    return parse_range(value, 0, INT64_MAX, &config.limit);
}

static bool set_shards(const struct server_string *value)
{
    uint64_t number;
    const bool is_good = parse_range(value, 1, UNSEEN_SHARD_TAGS_MAX, &number);
    config.nshards = is_good ? (uint32_t)number : config.nshards;
    return is_good;
}

static bool set_seed(const struct server_string *value)
{
    config.has_seed_file = secret_read(server.StringPtrLen(value, NULL), config.seed);
    return config.has_seed_file;
}

static const struct {
    const char *name;
    const char *old_name; /* of RedisBloom's arguments before 8.0; NULL if it is new */
    bool (*set)(const struct server_string *value);
    const char *values;
} arguments[] = {
    {"dialect", NULL, set_dialect, "redisbloom or valkey"},
    {"bf-error-rate", "ERROR_RATE", set_rate, "above 0 and below 1"},
    {"bf-initial-size", "INITIAL_SIZE", set_capacity, "1 to 1073741824"},
    {"bf-expansion-factor", NULL, set_expansion, "0 to 32768"},
    {"cf-initial-size", NULL, set_cuckoo_capacity, "4 to 1073741824"},
    {"shards", NULL, set_shards, "1 to 16384"},
    {"seed-file", NULL, set_seed, "a file of 32 hexadecimal digits"},
    {"maxbytes", NULL, set_limit, "a number of bytes, or 0 for no limit"},
};

static bool take_argument(struct server_ctx *ctx, const struct server_string *name,
                          const struct server_string *value)
{
    const size_t n = sizeof(arguments) / sizeof(*arguments);
    for (size_t i = 0; i < n; i++) {
        const char *old_name = arguments[i].old_name;
        if (!parse_is(name, arguments[i].name) && !(old_name && parse_is(name, old_name))) {
            continue;
        }
        if (value && arguments[i].set(value)) {
            return true;
        }
        server.Log(ctx, "warning", "unseen.so: the argument %s needs a value: %s",
                   arguments[i].name, arguments[i].values);
        return false;
    }
    server.Log(ctx, "warning", "unseen.so: there is no argument %s",
               server.StringPtrLen(name, NULL));
    return false;
}

static bool take_arguments(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    for (int i = 0; i < argc; i += 2) {
        if (!take_argument(ctx, argv[i], i + 1 < argc ? argv[i + 1] : NULL)) {
            return false;
        }
    }
    return true;
}

/* ---- events ---- */

/* A module has one subscriber for each event of the server: the last one. */
static void cron(struct server_ctx *ctx, struct server_event event, uint64_t subevent, void *data)
{
    (void)event;
    (void)subevent;
    (void)data;
    effects_cron(ctx);
    windows_cron(ctx);
    guard_leases_cron(ctx);
}

static bool hear_cron(struct server_ctx *ctx)
{
    const struct server_event event = {SERVER_EVENT_CRON, SERVER_EVENT_VERSION};
    effects_init();
    return server.SubscribeToServerEvent(ctx, event, cron) == SERVER_OK;
}

/* ---- INFO ---- */

static void add_info(struct server_info_ctx *info, int for_crash_report)
{
    const struct type_totals totals = type_totals();
    (void)for_crash_report;
    (void)server.InfoAddSection(info, "unseen");
    (void)server.InfoAddFieldULongLong(info, "sets", totals.nvalues);
    (void)server.InfoAddFieldULongLong(info, "memory_bytes", totals.memory);
    (void)server.InfoAddFieldULongLong(info, "refused_payloads", totals.nrefused);
    (void)server.InfoAddFieldULongLong(info, "defragmented_sets", totals.nmoved);
    guard_add_info(info);
}

__attribute__((visibility("default"))) int RedisModule_OnLoad(struct server_ctx *ctx,
                                                              struct server_string **argv, int argc)
{
    const char *missing = server_bind(ctx);
    if (missing) {
        if (server.Log) {
            server.Log(ctx, "warning",
                       "unseen.so: the server has no function %s: it needs Redis "
                       "7.0 or Valkey 8.0",
                       missing);
        }
        return SERVER_ERR;
    }
    if (server.IsModuleNameBusy(module_name)) {
        server.Log(ctx, "warning", "unseen.so: another module has the name %s: unload it first",
                   module_name);
        return SERVER_ERR;
    }
    (void)server.SetModuleAttribs(ctx, module_name, MODULE_VERSION, SERVER_API_VERSION);
    server.SetModuleOptions(ctx, SERVER_HANDLE_IO_ERRORS | SERVER_SIGNALS_BY_HAND);
    memory_probe();
    server.GetRandomBytes(config.seed, SEED_LEN);
    config.type = type_create(ctx);
    const char *refused = config.type ? commands_register(ctx) : "of the data type";
    if (refused) {
        server.Log(ctx, "warning", "unseen.so: the server refuses the name %s", refused);
        return SERVER_ERR;
    }
    return take_arguments(ctx, argv, argc) && config_init(ctx) && hear_cron(ctx) &&
                   guard_leases_init(ctx) && loads_init(ctx) &&
                   server.RegisterInfoFunc(ctx, add_info) == SERVER_OK
               ? SERVER_OK
               : SERVER_ERR;
}
