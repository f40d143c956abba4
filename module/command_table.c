/* SPDX-License-Identifier: MIT */
#include "command_table.h"

#include <stdio.h>
#include <string.h>

#include "commands/handlers.h"

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
    NO_KEY,
    TICK
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
    [TICK] = {"write admin", "write admin dangerous", 0, 0},
    [GUARD_DROP] = {"write fast", "write fast", SERVER_KEY_RW | SERVER_KEY_DELETE, 0},
};

static const struct command {
    const char *name;
    server_handler *run;
    enum access access;
    int arity;             /* negative: at least so many */
    const char *arguments; /* as read_arguments reads them */
    const char *summary;
    const char *complexity;
} commands[] = {
    {"BF.RESERVE", bloom_reserve, MAKE, -4,
     "key error_rate:double capacity:int [EXPANSION:int] [NONSCALING] [WINDOW:string]",
     "Creates a set with a rate and a capacity", "O(capacity)"},
    {"BF.ADD", bloom_add, ADD, 3, "key item", "Adds an item, and says if it was new", "O(1)"},
    {"BF.MADD", bloom_madd, ADD, -3, "key item...", "Adds items, and says which were new", "O(N)"},
    {"BF.INSERT", bloom_insert, ADD, -2,
     "key [CAPACITY:int] [ERROR:double] [EXPANSION:int] [NOCREATE] [NONSCALING] ITEMS=item...",
     "Adds items to a set that is created with these options if it is missing", "O(N)"},
    {"BF.EXISTS", bloom_exists, ASK, 3, "key item", "Says if an item was added", "O(1)"},
    {"BF.MEXISTS", bloom_mexists, ASK, -3, "key item...", "Says which items were added", "O(N)"},
    {"BF.INFO", bloom_info, SHOW, -2, "key [field]", "Capacity, size and counts of a set", "O(1)"},
    {"BF.CARD", bloom_card, SHOW, 2, "key", "The number of items that were new", "O(1)"},
    {"BF.DEBUG", bloom_debug, SHOW, 2, "key", "The filters of a set as text", "O(1)"},
    {"BF.SCANDUMP", scandump_bloom, SHOW, 3, "key iterator:int", "The next chunk of a dump",
     "O(1), 64 KiB at most"},
    {"BF.LOADCHUNK", load_bloom_loadchunk, LOAD, 4, "key iterator:int data",
     "Takes a chunk of a dump", "O(1), 64 KiB at most; the last chunk may take O(size), in steps"},
    {"BF.LOAD", load_bloom_load, LOAD, 3, "key data", "Takes a dump in one string",
     "O(size), in steps"},
    {"CF.RESERVE", cuckoo_reserve, MAKE, -3,
     "key capacity:int [BUCKETSIZE:int] [MAXITERATIONS:int] [EXPANSION:int]",
     "Creates a set from which items can be deleted", "O(1)"},
    {"CF.ADD", cuckoo_add, ADD, 3, "key item", "Adds an item once more", "O(1)"},
    {"CF.ADDNX", cuckoo_addnx, ADD, 3, "key item", "Adds an item unless it is there", "O(1)"},
    {"CF.INSERT", cuckoo_insert, ADD, -4, "key [CAPACITY:int] [NOCREATE] ITEMS=item...",
     "Adds items once more", "O(N)"},
    {"CF.INSERTNX", cuckoo_insertnx, ADD, -4, "key [CAPACITY:int] [NOCREATE] ITEMS=item...",
     "Adds items that are not there", "O(N)"},
    {"CF.EXISTS", cuckoo_exists, ASK, 3, "key item", "Says if an item is there", "O(1)"},
    {"CF.MEXISTS", cuckoo_mexists, ASK, -3, "key item...", "Says which items are there", "O(N)"},
    {"CF.COUNT", cuckoo_count, ASK, 3, "key item", "How often an item was added and not deleted",
     "O(1)"},
    {"CF.DEL", cuckoo_del, TAKE, 3, "key item", "Takes one add of an item back", "O(1)"},
    {"CF.COMPACT", cuckoo_compact, SHOW, 2, "key", "Does nothing: there is nothing to compact",
     "O(1)"},
    {"CF.INFO", cuckoo_info, SHOW, 2, "key", "Size and counts of a set", "O(1)"},
    {"CF.DEBUG", cuckoo_debug, SHOW, 2, "key", "The counts of a set as text", "O(1)"},
    {"CF.SCANDUMP", scandump_cuckoo, SHOW, 3, "key iterator:int", "The next chunk of a dump",
     "O(1), 64 KiB at most"},
    {"CF.LOADCHUNK", load_cuckoo_loadchunk, LOAD, 4, "key iterator:int data",
     "Takes a chunk of a dump", "O(1), 64 KiB at most; the last chunk may take O(size), in steps"},
    {"UNSEEN.RESERVE", urls_reserve, MAKE, -2,
     "key [PROFILE:string] [FPR:double] [MAXBYTES:int] [WINDOW:string]", "Creates a set of URLs",
     "O(1)"},
    {"UNSEEN.ADD", urls_add, ADD, -3, "key item...", "Adds URLs, and says which were new", "O(N)"},
    {"UNSEEN.EXISTS", urls_exists, ASK, -3, "key item...", "Says which URLs were added", "O(N)"},
    {"UNSEEN.REMOVE", urls_remove, TAKE, -3, "key item...", "Removes URLs that were added", "O(N)"},
    {"UNSEEN.MERGE", merge_command, MERGE, -3, "key source:key...",
     "Adds all URLs of other sets to a set", "O(size) of all"},
    {"UNSEEN.INFO", urls_info, SHOW, 2, "key", "Counts, size and rate of a set", "O(1)"},
    {"UNSEEN.SCANDUMP", scandump_urls, SHOW, 3, "key iterator:int", "The next chunk of a dump",
     "O(1), 64 KiB at most"},
    {"UNSEEN.LOADCHUNK", load_urls_loadchunk, LOAD, 4, "key iterator:int data",
     "Takes a chunk of a dump", "O(1), 64 KiB at most; the last chunk may take O(size), in steps"},
    {"UNSEEN.CLAIM", claims_claim, ADD, -4, "key seconds:int url...",
     "Leases URLs that are neither known nor leased, for some seconds", "O(N)"},
    {"UNSEEN.ACK", claims_ack, ADD, -3, "key item...", "Adds URLs that were claimed: they are done",
     "O(N)"},
    {"UNSEEN.RENEW", claims_renew, ADD, -4, "key seconds:int url...",
     "Leases claimed URLs for longer", "O(N)"},
    {"UNSEEN.SHARD", shards_shard, NO_KEY, -3, "name [SHARDS:int] [PROFILE:string] url...",
     "The key of a cluster that each URL belongs to", "O(N)"},
    {"GUARD.GET", guard_get, GUARD_ASK, -3, "filter:key key [LEASE:int] [WAIT:int]",
     "Says that a key is absent, gives its value, or leases it to one loader", "O(1)"},
    {"GUARD.SET", guard_set, GUARD_PUT, -4, "key token value [PX:int]",
     "Stores the value of a leased key, and answers all who wait for it", "O(N) clients that wait"},
    {"GUARD.FAIL", guard_fail, GUARD_END, -3, "key token [ABSENT]",
     "Gives a lease back: there is no such key, or it cannot be loaded", "O(N) clients that wait"},
    {"GUARD.DEL", guard_del, GUARD_DROP, 2, "key",
     "Deletes a value, and refuses what its loader will bring", "O(1)"},
    {"UNSEEN.LEASE", apply_leases, EFFECT, 4, "key until:int keys",
     "Leases URLs as the primary did; for replicas and AOF files only", "O(N)"},
    {"UNSEEN.MERGESTEP", merge_step_command, STEP_EFFECT, 4, "key source:key cursor:int",
     "Takes a step of a merge as the primary did; for replicas and AOF files only", "O(1)"},
    {"UNSEEN.LOAD", load_unseen, EFFECT, -3, "key which data...",
     "Takes frames of a rewritten AOF; for replicas and AOF files only", "O(N)"},
    {"UNSEEN.CREATE", apply_create, EFFECT, -3, "key settings [own]",
     "Creates a key as the primary did; for replicas and AOF files only", "O(1)"},
    {"UNSEEN.APPLY", apply_changes, EFFECT, -4, "key operation keys [now:int] [max:int]",
     "Changes a key as the primary did; for replicas and AOF files only", "O(N)"},
    {"UNSEEN.TICK", apply_tick, TICK, 2, "upto:int",
     "Lets keys leave their windows as the primary did; for replicas and AOF files only", "O(N)"},
};

/* ---- COMMAND DOCS ---- */

enum {
    ARGUMENTS_MAX = 8,   /* of a command, and one more behind them */
    ARGUMENTS_SIZE = 100 /* of their text */
};

/* Cuts the text at the character and returns what is behind it. NULL: the text has no such one. */
static char *cut(char *text, char at)
{
    char *found = strchr(text, at);
    if (found) {
        *found++ = 0;
    }
    return found;
}

static int type_of(const char *word)
{
    static const char *const names[] = {[SERVER_ARG_STRING] = "string",
                                        [SERVER_ARG_INTEGER] = "int",
                                        [SERVER_ARG_DOUBLE] = "double",
                                        [SERVER_ARG_KEY] = "key"};
    int type = SERVER_ARG_STRING;
    while (type < SERVER_ARG_KEY && strcmp(names[type], word) != 0) {
        type++;
    }
    return type;
}

/* Reads one of the words in read_arguments. */
static struct server_arg read_argument(char *word)
{
    const bool is_optional = word[0] == '[';
    char *name = is_optional ? word + 1 : word;
    const bool is_token = is_optional && name[0] < 'a';
    const bool is_multiple = cut(name, '.');
    (void)cut(name, ']');
    const char *type = cut(name, ':');
    char *behind = cut(name, '=');
    struct server_arg arg = {.name = behind ? behind : name};
    arg.token = behind || is_token ? name : NULL;
    arg.type = type                       ? type_of(type)
               : strcmp(name, "key") == 0 ? SERVER_ARG_KEY
               : is_token                 ? SERVER_ARG_PURE_TOKEN
                                          : SERVER_ARG_STRING;
    arg.key_spec_index = arg.type == SERVER_ARG_KEY ? 0 : -1;
    arg.flags = (is_optional ? SERVER_ARG_OPTIONAL : 0) | (is_multiple ? SERVER_ARG_MULTIPLE : 0);
    return arg;
}

/* Reads the arguments of a row into args, which is all zero. They are words: NAME, NAME:TYPE,
 * NAME..., TOKEN=NAME, and [NAME] for an optional one. An optional name in upper case is a token,
 * with a value behind it if it has a type. Cuts the text. */
static void read_arguments(char *text, struct server_arg *args)
{
    while (text) {
        char *word = text;
        text = cut(word, ' ');
        *args++ = read_argument(word);
    }
}

static bool has_key(const struct command *command)
{
    return command->access != NO_KEY && command->access != TICK;
}

static int describe(struct server_command *handle, const struct command *command)
{
    char text[ARGUMENTS_SIZE];
    struct server_arg args[ARGUMENTS_MAX] = {{.name = NULL}};
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
        .key_specs = has_key(command) ? specs : NULL,
        .args = args,
    };
    (void)snprintf(text, sizeof(text), "%s", command->arguments);
    read_arguments(text, args);
    return server.SetCommandInfo(handle, &info); /* which copies it all */
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
        const int first = has_key(command);
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
