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

/* Those beside the settings of config.h. */
static const struct {
    const char *name;
    bool (*set)(const struct server_string *value);
    const char *values;
} arguments[] = {
    {"dialect", set_dialect, "redisbloom or valkey"},
    {"shards", set_shards, "1 to 16384"},
    {"seed-file", set_seed, "a file of 32 hexadecimal digits"},
};

/* Looks an argument up. Returns false if there is none of this name. *values_out is NULL if the
 * argument was taken, or says what it takes. */
static bool find_argument(const struct server_string *name, const struct server_string *value,
                          const char **values_out)
{
    for (size_t i = 0; i < sizeof(arguments) / sizeof(*arguments); i++) {
        if (parse_is(name, arguments[i].name)) {
            *values_out = value && arguments[i].set(value) ? NULL : arguments[i].values;
            return true;
        }
    }
    return config_argument(name, value, values_out);
}

static bool take_argument(struct server_ctx *ctx, const struct server_string *name,
                          const struct server_string *value)
{
    const char *values;
    if (!find_argument(name, value, &values)) {
        server.Log(ctx, "warning", "unseen.so: there is no argument %s",
                   server.StringPtrLen(name, NULL));
        return false;
    }
    if (values) {
        server.Log(ctx, "warning", "unseen.so: the argument %s needs a value: %s",
                   server.StringPtrLen(name, NULL), values);
    }
    return !values;
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
    (void)server.InfoAddFieldCString(info, "unseen_version", unseen_version());
    (void)server.InfoAddFieldULongLong(info, "sets", totals.nvalues);
    (void)server.InfoAddFieldULongLong(info, "memory_bytes", totals.memory);
    (void)server.InfoAddFieldULongLong(info, "refused_damaged", totals.refusals.ndamaged);
    (void)server.InfoAddFieldULongLong(info, "refused_other_version",
                                       totals.refusals.nother_version);
    (void)server.InfoAddFieldULongLong(info, "refused_no_memory", totals.refusals.nwithout_memory);
    (void)server.InfoAddFieldULongLong(info, "loads", loads_ended());
    (void)server.InfoAddFieldULongLong(info, "defragmented_sets", totals.nmoved);
    claims_add_info(info);
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
    server.Log(ctx, "notice", "unseen.so: version %s of unseen", unseen_version());
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
