/* SPDX-License-Identifier: MIT */
#include "command_table.h"

#include <stdio.h>

#include "commands/apply.h"
#include "commands/bloom.h"
#include "commands/claims.h"
#include "commands/cuckoo.h"
#include "commands/guard.h"
#include "commands/load.h"
#include "commands/merge.h"
#include "commands/scandump.h"
#include "commands/shards.h"
#include "commands/urls.h"

enum access {
    ASK,
    SHOW,
    ADD,
    MAKE,
    TAKE,
    MERGE,
    LOAD,
    EFFECT,
    STEP_EFFECT,
    GUARD_ASK,
    GUARD_END,
    GUARD_PUT,
    GUARD_DROP,
    NO_KEY
};

/* The arguments behind the key, as COMMAND DOCS shows them. */
enum shape {
    KEY_ONLY,
    ITEM,
    ITEMS,
    RESERVE,
    INSERT,
    CF_RESERVE_SHAPE,
    CF_INSERT_SHAPE,
    FIELD,
    SCAN,
    CHUNK,
    FRAMES,
    STEP,
    WHOLE,
    URLS_RESERVE,
    CLAIM_SHAPE,
    SOURCES,
    GUARD_GET_SHAPE,
    GUARD_SET_SHAPE,
    GUARD_FAIL_SHAPE,
    SHARD_SHAPE
};

static const struct {
    const char *flags;
    const char *categories; /* of ACLs */
    uint64_t key_flags;
    int more_keys; /* behind the first; -1: all arguments */
} accesses[] = {
    [ASK] = {"readonly fast", "read fast", SERVER_KEY_RO | SERVER_KEY_ACCESS, 0},
    [SHOW] = {"readonly fast", "read fast", SERVER_KEY_RO | SERVER_KEY_ACCESS, 0},
    [ADD] = {"write deny-oom fast", "write fast",
             SERVER_KEY_RW | SERVER_KEY_ACCESS | SERVER_KEY_INSERT, 0},
    [MAKE] = {"write deny-oom fast", "write fast", SERVER_KEY_OW | SERVER_KEY_INSERT, 0},
    [TAKE] = {"write fast", "write fast", SERVER_KEY_RW | SERVER_KEY_ACCESS | SERVER_KEY_DELETE, 0},
    [MERGE] = {"write deny-oom", "write slow",
               SERVER_KEY_RW | SERVER_KEY_ACCESS | SERVER_KEY_UPDATE, -1},
    [LOAD] = {"write deny-oom", "write slow", SERVER_KEY_OW | SERVER_KEY_INSERT, 0},
    [EFFECT] = {"write admin", "write admin dangerous", SERVER_KEY_RW | SERVER_KEY_UPDATE, 0},
    [STEP_EFFECT] = {"write admin", "write admin dangerous", SERVER_KEY_RW | SERVER_KEY_UPDATE, 1},
    [GUARD_ASK] = {"readonly fast", "read fast", SERVER_KEY_RO | SERVER_KEY_ACCESS, 1},
    [GUARD_END] = {"readonly fast", "read fast", SERVER_KEY_RO, 0},
    [GUARD_PUT] = {"write deny-oom fast", "write fast", SERVER_KEY_OW | SERVER_KEY_INSERT, 0},
    [NO_KEY] = {"readonly fast", "read fast", 0, 0},
    [GUARD_DROP] = {"write fast", "write fast", SERVER_KEY_RW | SERVER_KEY_DELETE, 0},
};

static const struct command {
    const char *name;
    server_handler *run;
    enum access access;
    int arity; /* negative: at least so many */
    enum shape shape;
    const char *summary;
    const char *complexity;
} commands[] = {
    {"BF.RESERVE", bloom_reserve, MAKE, -4, RESERVE, "Creates a set with a rate and a capacity",
     "O(capacity)"},
    {"BF.ADD", bloom_add, ADD, 3, ITEM, "Adds an item, and says if it was new", "O(1)"},
    {"BF.MADD", bloom_madd, ADD, -3, ITEMS, "Adds items, and says which were new", "O(N)"},
    {"BF.INSERT", bloom_insert, ADD, -2, INSERT,
     "Adds items to a set that is created with these options if it is missing", "O(N)"},
    {"BF.EXISTS", bloom_exists, ASK, 3, ITEM, "Says if an item was added", "O(1)"},
    {"BF.MEXISTS", bloom_mexists, ASK, -3, ITEMS, "Says which items were added", "O(N)"},
    {"BF.INFO", bloom_info, SHOW, -2, FIELD, "Capacity, size and counts of a set", "O(1)"},
    {"BF.CARD", bloom_card, SHOW, 2, KEY_ONLY, "The number of items that were new", "O(1)"},
    {"BF.DEBUG", bloom_debug, SHOW, 2, KEY_ONLY, "The filters of a set as text", "O(1)"},
    {"BF.SCANDUMP", scandump_bloom, SHOW, 3, SCAN, "The next chunk of a dump",
     "O(1), 64 KiB at most"},
    {"BF.LOADCHUNK", load_bloom_loadchunk, LOAD, 4, CHUNK, "Takes a chunk of a dump",
     "O(1), 64 KiB at most; the last chunk may take O(size), in steps"},
    {"BF.LOAD", load_bloom_load, LOAD, 3, WHOLE, "Takes a dump in one string", "O(size), in steps"},
    {"CF.RESERVE", cuckoo_reserve, MAKE, -3, CF_RESERVE_SHAPE,
     "Creates a set from which items can be deleted", "O(1)"},
    {"CF.ADD", cuckoo_add, ADD, 3, ITEM, "Adds an item once more", "O(1)"},
    {"CF.ADDNX", cuckoo_addnx, ADD, 3, ITEM, "Adds an item unless it is there", "O(1)"},
    {"CF.INSERT", cuckoo_insert, ADD, -4, CF_INSERT_SHAPE, "Adds items once more", "O(N)"},
    {"CF.INSERTNX", cuckoo_insertnx, ADD, -4, CF_INSERT_SHAPE, "Adds items that are not there",
     "O(N)"},
    {"CF.EXISTS", cuckoo_exists, ASK, 3, ITEM, "Says if an item is there", "O(1)"},
    {"CF.MEXISTS", cuckoo_mexists, ASK, -3, ITEMS, "Says which items are there", "O(N)"},
    {"CF.COUNT", cuckoo_count, ASK, 3, ITEM, "How often an item was added and not deleted", "O(1)"},
    {"CF.DEL", cuckoo_del, TAKE, 3, ITEM, "Takes one add of an item back", "O(1)"},
    {"CF.COMPACT", cuckoo_compact, SHOW, 2, KEY_ONLY, "Does nothing: there is nothing to compact",
     "O(1)"},
    {"CF.INFO", cuckoo_info, SHOW, 2, KEY_ONLY, "Size and counts of a set", "O(1)"},
    {"CF.DEBUG", cuckoo_debug, SHOW, 2, KEY_ONLY, "The counts of a set as text", "O(1)"},
    {"CF.SCANDUMP", scandump_cuckoo, SHOW, 3, SCAN, "The next chunk of a dump",
     "O(1), 64 KiB at most"},
    {"CF.LOADCHUNK", load_cuckoo_loadchunk, LOAD, 4, CHUNK, "Takes a chunk of a dump",
     "O(1), 64 KiB at most; the last chunk may take O(size), in steps"},
    {"UNSEEN.RESERVE", urls_reserve, MAKE, -2, URLS_RESERVE, "Creates a set of URLs", "O(1)"},
    {"UNSEEN.ADD", urls_add, ADD, -3, ITEMS, "Adds URLs, and says which were new", "O(N)"},
    {"UNSEEN.EXISTS", urls_exists, ASK, -3, ITEMS, "Says which URLs were added", "O(N)"},
    {"UNSEEN.REMOVE", urls_remove, TAKE, -3, ITEMS, "Removes URLs that were added", "O(N)"},
    {"UNSEEN.MERGE", merge_command, MERGE, -3, SOURCES, "Adds all URLs of other sets to a set",
     "O(size) of all"},
    {"UNSEEN.INFO", urls_info, SHOW, 2, KEY_ONLY, "Counts, size and rate of a set", "O(1)"},
    {"UNSEEN.CLAIM", claims_claim, ADD, -4, CLAIM_SHAPE,
     "Leases URLs that are neither known nor leased, for some seconds", "O(N)"},
    {"UNSEEN.ACK", claims_ack, ADD, -3, ITEMS, "Adds URLs that were claimed: they are done",
     "O(N)"},
    {"UNSEEN.RENEW", claims_renew, ADD, -4, CLAIM_SHAPE, "Leases claimed URLs for longer", "O(N)"},
    {"UNSEEN.SHARD", shards_shard, NO_KEY, -3, SHARD_SHAPE,
     "The key of a cluster that each URL belongs to", "O(N)"},
    {"GUARD.GET", guard_get, GUARD_ASK, -3, GUARD_GET_SHAPE,
     "Says that a key is absent, gives its value, or leases it to one loader", "O(1)"},
    {"GUARD.SET", guard_set, GUARD_PUT, -4, GUARD_SET_SHAPE,
     "Stores the value of a leased key, and answers all who wait for it", "O(N) clients that wait"},
    {"GUARD.FAIL", guard_fail, GUARD_END, -3, GUARD_FAIL_SHAPE,
     "Gives a lease back: there is no such key, or it cannot be loaded", "O(N) clients that wait"},
    {"GUARD.DEL", guard_del, GUARD_DROP, 2, KEY_ONLY,
     "Deletes a value, and refuses what its loader will bring", "O(1)"},
    {"UNSEEN.LEASE", apply_leases, EFFECT, 4, CHUNK,
     "Leases URLs as the primary did; for replicas and AOF files only", "O(N)"},
    {"UNSEEN.MERGESTEP", merge_step_command, STEP_EFFECT, 4, STEP,
     "Takes a step of a merge as the primary did; for replicas and AOF files only", "O(1)"},
    {"UNSEEN.LOAD", load_unseen, EFFECT, -3, FRAMES,
     "Takes frames of a rewritten AOF; for replicas and AOF files only", "O(N)"},
    {"UNSEEN.CREATE", apply_create, EFFECT, 3, WHOLE,
     "Creates a key as the primary did; for replicas and AOF files only", "O(1)"},
    {"UNSEEN.APPLY", apply_changes, EFFECT, 4, WHOLE,
     "Changes a key as the primary did; for replicas and AOF files only", "O(N)"},
};

/* ---- COMMAND DOCS ---- */

#define ARG_KEY                                                                                    \
    {                                                                                              \
        .name = "key", .type = SERVER_ARG_KEY                                                      \
    }
#define ARG(word, kind, bits)                                                                      \
    {                                                                                              \
        .name = (word), .type = (kind), .key_spec_index = -1, .flags = (bits)                      \
    }
#define ARG_OPTION(word, kind)                                                                     \
    {                                                                                              \
        .name = (word), .type = (kind), .key_spec_index = -1, .token = (word),                     \
        .flags = SERVER_ARG_OPTIONAL                                                               \
    }
#define ARG_ITEMS                                                                                  \
    {                                                                                              \
        .name = "item", .type = SERVER_ARG_STRING, .key_spec_index = -1, .token = "ITEMS",         \
        .flags = SERVER_ARG_MULTIPLE                                                               \
    }
#define ARG_END                                                                                    \
    {                                                                                              \
        .name = NULL                                                                               \
    }

static struct server_arg shapes[][8] = {
    [KEY_ONLY] = {ARG_KEY, ARG_END},
    [ITEM] = {ARG_KEY, ARG("item", SERVER_ARG_STRING, 0), ARG_END},
    [ITEMS] = {ARG_KEY, ARG("item", SERVER_ARG_STRING, SERVER_ARG_MULTIPLE), ARG_END},
    [RESERVE] = {ARG_KEY, ARG("error_rate", SERVER_ARG_DOUBLE, 0),
                 ARG("capacity", SERVER_ARG_INTEGER, 0),
                 ARG_OPTION("EXPANSION", SERVER_ARG_INTEGER),
                 ARG_OPTION("NONSCALING", SERVER_ARG_PURE_TOKEN), ARG_END},
    [INSERT] = {ARG_KEY, ARG_OPTION("CAPACITY", SERVER_ARG_INTEGER),
                ARG_OPTION("ERROR", SERVER_ARG_DOUBLE), ARG_OPTION("EXPANSION", SERVER_ARG_INTEGER),
                ARG_OPTION("NOCREATE", SERVER_ARG_PURE_TOKEN),
                ARG_OPTION("NONSCALING", SERVER_ARG_PURE_TOKEN), ARG_ITEMS, ARG_END},
    [CF_RESERVE_SHAPE] = {ARG_KEY, ARG("capacity", SERVER_ARG_INTEGER, 0),
                          ARG_OPTION("BUCKETSIZE", SERVER_ARG_INTEGER),
                          ARG_OPTION("MAXITERATIONS", SERVER_ARG_INTEGER),
                          ARG_OPTION("EXPANSION", SERVER_ARG_INTEGER), ARG_END},
    [CF_INSERT_SHAPE] = {ARG_KEY, ARG_OPTION("CAPACITY", SERVER_ARG_INTEGER),
                         ARG_OPTION("NOCREATE", SERVER_ARG_PURE_TOKEN), ARG_ITEMS, ARG_END},
    [FIELD] = {ARG_KEY, ARG("field", SERVER_ARG_STRING, SERVER_ARG_OPTIONAL), ARG_END},
    [SCAN] = {ARG_KEY, ARG("iterator", SERVER_ARG_INTEGER, 0), ARG_END},
    [CHUNK] = {ARG_KEY, ARG("iterator", SERVER_ARG_INTEGER, 0), ARG("data", SERVER_ARG_STRING, 0),
               ARG_END},
    [URLS_RESERVE] = {ARG_KEY, ARG_OPTION("PROFILE", SERVER_ARG_STRING),
                      ARG_OPTION("FPR", SERVER_ARG_DOUBLE),
                      ARG_OPTION("MAXBYTES", SERVER_ARG_INTEGER), ARG_END},
    [CLAIM_SHAPE] = {ARG_KEY, ARG("seconds", SERVER_ARG_INTEGER, 0),
                     ARG("url", SERVER_ARG_STRING, SERVER_ARG_MULTIPLE), ARG_END},
    [SOURCES] = {ARG_KEY,
                 {.name = "source", .type = SERVER_ARG_KEY, .flags = SERVER_ARG_MULTIPLE},
                 ARG_END},
    [GUARD_GET_SHAPE] = {{.name = "filter", .type = SERVER_ARG_KEY},
                         ARG_KEY,
                         ARG_OPTION("LEASE", SERVER_ARG_INTEGER),
                         ARG_OPTION("WAIT", SERVER_ARG_INTEGER),
                         ARG_END},
    [GUARD_SET_SHAPE] = {ARG_KEY, ARG("token", SERVER_ARG_STRING, 0),
                         ARG("value", SERVER_ARG_STRING, 0), ARG_OPTION("PX", SERVER_ARG_INTEGER),
                         ARG_END},
    [GUARD_FAIL_SHAPE] = {ARG_KEY, ARG("token", SERVER_ARG_STRING, 0),
                          ARG_OPTION("ABSENT", SERVER_ARG_PURE_TOKEN), ARG_END},
    [FRAMES] = {ARG_KEY, ARG("which", SERVER_ARG_STRING, 0),
                ARG("data", SERVER_ARG_STRING, SERVER_ARG_MULTIPLE), ARG_END},
    [STEP] = {ARG_KEY,
              {.name = "source", .type = SERVER_ARG_KEY},
              ARG("cursor", SERVER_ARG_INTEGER, 0),
              ARG_END},
    [SHARD_SHAPE] = {ARG("name", SERVER_ARG_STRING, 0), ARG_OPTION("SHARDS", SERVER_ARG_INTEGER),
                     ARG_OPTION("PROFILE", SERVER_ARG_STRING),
                     ARG("url", SERVER_ARG_STRING, SERVER_ARG_MULTIPLE), ARG_END},
    [WHOLE] = {ARG_KEY, ARG("data", SERVER_ARG_STRING, 0), ARG_END},
};

static int describe(struct server_command *handle, const struct command *command)
{
    static const struct server_info_version version = {1, sizeof(struct server_history),
                                                       sizeof(struct server_key_spec),
                                                       sizeof(struct server_arg)};
    struct server_key_spec specs[2] = {
        {.flags = accesses[command->access].key_flags,
         .begin_search_type = SERVER_SEARCH_INDEX,
         .begin.index.pos = 1,
         .find_keys_type = SERVER_FIND_RANGE,
         .find.range = {accesses[command->access].more_keys, 1, 0}},
        {.begin_search_type = 0},
    };
    const struct server_command_info info = {
        .version = &version,
        .summary = command->summary,
        .complexity = command->complexity,
        .since = "1.0.0",
        .arity = command->arity,
        .key_specs = command->access == NO_KEY ? NULL : specs,
        .args = shapes[command->shape],
    };
    return server.SetCommandInfo(handle, &info);
}

/* ---- registration ---- */

static const char *family_of(const struct command *command)
{
    return command->name[0] == 'B' ? "bloom" : command->name[0] == 'C' ? "cuckoo" : "unseen";
}

/* Redis 7.0 knows no categories of modules: there, an ACL names commands. */
static bool has_categories(void)
{
    return server.AddACLCategory && server.SetCommandACLCategories;
}

static void add_categories(struct server_ctx *ctx)
{
    if (has_categories()) {
        (void)server.AddACLCategory(ctx, "bloom");
        (void)server.AddACLCategory(ctx, "cuckoo");
        (void)server.AddACLCategory(ctx, "unseen");
    }
}

static void set_categories(struct server_command *handle, const struct command *command)
{
    char text[64];
    if (has_categories()) {
        (void)snprintf(text, sizeof(text), "%s %s", accesses[command->access].categories,
                       family_of(command));
        (void)server.SetCommandACLCategories(handle, text);
    }
}

const char *commands_register(struct server_ctx *ctx)
{
    add_categories(ctx);
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        const struct command *command = &commands[i];
        const int first = command->access == NO_KEY ? 0 : 1;
        if (server.CreateCommand(ctx, command->name, command->run, accesses[command->access].flags,
                                 first, first, first) != SERVER_OK) {
            return command->name;
        }
        struct server_command *handle = server.GetCommand(ctx, command->name);
        if (!handle || describe(handle, command) != SERVER_OK) {
            return command->name;
        }
        set_categories(handle, command);
    }
    return NULL;
}
