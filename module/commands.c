/* SPDX-License-Identifier: MIT */
#include "commands.h"

#include "bloom.h"
#include "claims.h"
#include "cuckoo.h"
#include "effects.h"
#include "load.h"
#include "urls.h"

enum access {
    ASK,
    SHOW,
    ADD,
    MAKE,
    TAKE,
    MERGE,
    LOAD,
    EFFECT
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
    WHOLE,
    URLS_RESERVE,
    CLAIM_SHAPE,
    SOURCES
};

static const struct {
    const char *flags;
    uint64_t key_flags;
} accesses[] = {
    [ASK] = {"readonly fast", SERVER_KEY_RO | SERVER_KEY_ACCESS},
    [SHOW] = {"readonly fast", SERVER_KEY_RO | SERVER_KEY_ACCESS},
    [ADD] = {"write deny-oom fast", SERVER_KEY_RW | SERVER_KEY_ACCESS | SERVER_KEY_INSERT},
    [MAKE] = {"write deny-oom fast", SERVER_KEY_OW | SERVER_KEY_INSERT},
    [TAKE] = {"write fast", SERVER_KEY_RW | SERVER_KEY_ACCESS | SERVER_KEY_DELETE},
    [MERGE] = {"write deny-oom", SERVER_KEY_RW | SERVER_KEY_ACCESS | SERVER_KEY_UPDATE},
    [LOAD] = {"write deny-oom", SERVER_KEY_OW | SERVER_KEY_INSERT},
    [EFFECT] = {"write admin", SERVER_KEY_RW | SERVER_KEY_UPDATE},
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
    {"BF.SCANDUMP", load_bloom_scandump, SHOW, 3, SCAN, "The next chunk of a dump",
     "O(1), 64 KiB at most"},
    {"BF.LOADCHUNK", load_bloom_loadchunk, LOAD, 4, CHUNK, "Takes a chunk of a dump",
     "O(1), 64 KiB at most; with the last chunk O(size)"},
    {"BF.LOAD", load_bloom_load, LOAD, 3, WHOLE, "Takes a dump in one string", "O(size)"},
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
    {"CF.SCANDUMP", load_cuckoo_scandump, SHOW, 3, SCAN, "The next chunk of a dump",
     "O(1), 64 KiB at most"},
    {"CF.LOADCHUNK", load_cuckoo_loadchunk, LOAD, 4, CHUNK, "Takes a chunk of a dump",
     "O(1), 64 KiB at most; with the last chunk O(size)"},
    {"UNSEEN.RESERVE", urls_reserve, MAKE, -2, URLS_RESERVE, "Creates a set of URLs", "O(1)"},
    {"UNSEEN.ADD", urls_add, ADD, -3, ITEMS, "Adds URLs, and says which were new", "O(N)"},
    {"UNSEEN.EXISTS", urls_exists, ASK, -3, ITEMS, "Says which URLs were added", "O(N)"},
    {"UNSEEN.REMOVE", urls_remove, TAKE, -3, ITEMS, "Removes URLs that were added", "O(N)"},
    {"UNSEEN.MERGE", urls_merge, MERGE, -3, SOURCES, "Adds all URLs of other sets to a set",
     "O(size) of all"},
    {"UNSEEN.INFO", urls_info, SHOW, 2, KEY_ONLY, "Counts, size and rate of a set", "O(1)"},
    {"UNSEEN.CLAIM", claims_claim, ADD, -4, CLAIM_SHAPE,
     "Leases URLs that are neither known nor leased, for some seconds", "O(N)"},
    {"UNSEEN.ACK", claims_ack, ADD, -3, ITEMS, "Adds URLs that were claimed: they are done",
     "O(N)"},
    {"UNSEEN.RENEW", claims_renew, ADD, -4, CLAIM_SHAPE, "Leases claimed URLs for longer", "O(N)"},
    {"UNSEEN.LEASE", effect_lease_command, EFFECT, 4, CHUNK,
     "Leases URLs as the primary did; for replicas and AOF files only", "O(N)"},
    {"UNSEEN.LOAD", load_unseen, EFFECT, 4, CHUNK,
     "Takes a frame of a rewritten AOF; for replicas and AOF files only", "O(1)"},
    {"UNSEEN.CREATE", effect_create_command, EFFECT, 3, WHOLE,
     "Creates a key as the primary did; for replicas and AOF files only", "O(1)"},
    {"UNSEEN.APPLY", effect_apply_command, EFFECT, 4, WHOLE,
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
         .find.range = {command->access == MERGE ? -1 : 0, 1, 0}},
        {.begin_search_type = 0},
    };
    const struct server_command_info info = {
        .version = &version,
        .summary = command->summary,
        .complexity = command->complexity,
        .since = "1.0.0",
        .arity = command->arity,
        .key_specs = specs,
        .args = shapes[command->shape],
    };
    return server.SetCommandInfo(handle, &info);
}

/* ---- registration ---- */

static const char *category_of(const struct command *command)
{
    return command->name[0] == 'B' ? "bloom" : command->name[0] == 'C' ? "cuckoo" : "unseen";
}

/* A server without categories of modules knows @read, @write and @fast from the flags. */
static void add_categories(struct server_ctx *ctx)
{
    if (server.AddACLCategory && server.SetCommandACLCategories) {
        (void)server.AddACLCategory(ctx, "bloom");
        (void)server.AddACLCategory(ctx, "cuckoo");
        (void)server.AddACLCategory(ctx, "unseen");
    }
}

const char *commands_register(struct server_ctx *ctx)
{
    add_categories(ctx);
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        const struct command *command = &commands[i];
        if (server.CreateCommand(ctx, command->name, command->run, accesses[command->access].flags,
                                 1, 1, 1) != SERVER_OK) {
            return command->name;
        }
        struct server_command *handle = server.GetCommand(ctx, command->name);
        if (!handle || describe(handle, command) != SERVER_OK) {
            return command->name;
        }
        if (server.AddACLCategory && server.SetCommandACLCategories) {
            (void)server.SetCommandACLCategories(handle, category_of(command));
        }
    }
    return NULL;
}
