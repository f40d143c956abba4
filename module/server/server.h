/* SPDX-License-Identifier: MIT
 *
 * The interface between a module and a Redis (7.0 and newer) or Valkey (8.0 and newer) server, as
 * far as this module uses it. No package installs the servers' own header, and the binary interface
 * is small: the server calls RedisModule_OnLoad with a context whose first word is a function that
 * finds every other function by name, "RedisModule_" and the name below. Valkey knows these names,
 * too.
 *
 * Functions in SERVER_FUNCTIONS exist in every supported server. Functions in SERVER_OPTIONAL
 * may be NULL: test them before a call. */
#ifndef UNSEEN_MODULE_SERVER_H
#define UNSEEN_MODULE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct server_ctx;
struct server_string;
struct server_key;
struct server_io;
struct server_type;
struct server_digest;
struct server_command;
struct server_info;
struct server_info_ctx;
struct server_key_option_ctx;
struct server_defrag_ctx;
struct server_client;
struct server_call_reply;
struct server_type_methods;
struct server_command_info;

enum {
    SERVER_OK = 0,
    SERVER_ERR = 1,
    SERVER_API_VERSION = 1
};

enum {
    SERVER_READ = 1,
    SERVER_WRITE = 2
}; /* of OpenKey */

enum {
    SERVER_KEY_EMPTY = 0,
    SERVER_KEY_STRING = 1
}; /* of KeyType */

enum {
    SERVER_POSTPONED_LEN = -1
}; /* of ReplyWithArray and ReplyWithMap */

/* Of GetContextFlags. */
enum {
    SERVER_IN_LUA = 1 << 0,
    SERVER_IN_MULTI = 1 << 1,
    SERVER_IS_MASTER = 1 << 2,
    SERVER_IS_REPLICA = 1 << 3,
    SERVER_IS_CLUSTER = 1 << 5,
    SERVER_HAS_AOF = 1 << 6,
    SERVER_IS_FULL = 1 << 10, /* past maxmemory */
    SERVER_IS_REPLICATED = 1 << 12,
    SERVER_IS_LOADING = 1 << 13,
    SERVER_DENIES_BLOCKING = 1 << 21,
    SERVER_IS_RESP3 = 1 << 22
};

enum {
    SERVER_HANDLE_IO_ERRORS = 1 << 0,
    SERVER_SIGNALS_BY_HAND = 1 << 1
}; /* of SetModuleOptions */

enum {
    SERVER_NOTIFY_GENERIC = 1 << 2,
    SERVER_NOTIFY_STRING = 1 << 3,
    SERVER_NOTIFY_LIST = 1 << 4,
    SERVER_NOTIFY_SET = 1 << 5,
    SERVER_NOTIFY_HASH = 1 << 6,
    SERVER_NOTIFY_ZSET = 1 << 7,
    SERVER_NOTIFY_STREAM = 1 << 10,
    SERVER_NOTIFY_MODULE = 1 << 13,
    /* What writes a key. Keys that run out or are evicted are none of these. */
    SERVER_NOTIFY_WRITES = SERVER_NOTIFY_GENERIC | SERVER_NOTIFY_STRING | SERVER_NOTIFY_LIST |
                           SERVER_NOTIFY_SET | SERVER_NOTIFY_HASH | SERVER_NOTIFY_ZSET |
                           SERVER_NOTIFY_STREAM | SERVER_NOTIFY_MODULE
}; /* of NotifyKeyspaceEvent and SubscribeToKeyspaceEvents */

enum {
    SERVER_TYPE_METHODS_VERSION = 4
};

/* The callbacks of a data type; the order is the server's. */
struct server_type_methods {
    uint64_t version;
    void *(*rdb_load)(struct server_io *io, int encoding);
    void (*rdb_save)(struct server_io *io, void *value);
    void (*aof_rewrite)(struct server_io *io, struct server_string *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(struct server_digest *digest, void *value);
    void (*free)(void *value);
    int (*aux_load)(struct server_io *io, int encoding, int when);
    void (*aux_save)(struct server_io *io, int when);
    int aux_save_triggers;
    size_t (*free_effort)(struct server_string *key, const void *value);
    void (*unlink)(struct server_string *key, const void *value);
    void *(*copy)(struct server_string *from, struct server_string *to, const void *value);
    int (*defrag)(struct server_defrag_ctx *ctx, struct server_string *key, void **value);
    size_t (*mem_usage2)(struct server_key_option_ctx *ctx, const void *value, size_t sample);
    size_t (*free_effort2)(struct server_key_option_ctx *ctx, const void *value);
    void (*unlink2)(struct server_key_option_ctx *ctx, const void *value);
    void *(*copy2)(struct server_key_option_ctx *ctx, const void *value);
};

/* What COMMAND DOCS and COMMAND INFO say of a command. A server steps through arrays by the
 * sizes in the version, so an older server reads these structs, too. */
struct server_info_version {
    int version;
    size_t history_size;
    size_t key_spec_size;
    size_t arg_size;
};

struct server_history {
    const char *since;
    const char *changes;
};

enum {
    SERVER_SEARCH_INDEX = 2,
    SERVER_FIND_RANGE = 2
};

enum {
    SERVER_KEY_RO = 1 << 0,
    SERVER_KEY_RW = 1 << 1,
    SERVER_KEY_OW = 1 << 2,
    SERVER_KEY_ACCESS = 1 << 4,
    SERVER_KEY_UPDATE = 1 << 5,
    SERVER_KEY_INSERT = 1 << 6,
    SERVER_KEY_DELETE = 1 << 7
};

struct server_key_spec {
    const char *notes;
    uint64_t flags;
    int begin_search_type;
    union {
        struct {
            int pos;
        } index;
        struct {
            const char *keyword;
            int start_from;
        } keyword;
    } begin;
    int find_keys_type;
    union {
        struct {
            int last_key;
            int key_step;
            int limit;
        } range;
        struct {
            int key_num_index;
            int first_key;
            int key_step;
        } key_num;
    } find;
};

enum server_arg_type {
    SERVER_ARG_STRING,
    SERVER_ARG_INTEGER,
    SERVER_ARG_DOUBLE,
    SERVER_ARG_KEY,
    SERVER_ARG_PATTERN,
    SERVER_ARG_UNIX_TIME,
    SERVER_ARG_PURE_TOKEN,
    SERVER_ARG_ONEOF,
    SERVER_ARG_BLOCK
};

enum {
    SERVER_ARG_OPTIONAL = 1 << 0,
    SERVER_ARG_MULTIPLE = 1 << 1
};

struct server_arg {
    const char *name;
    int type;
    int key_spec_index; /* of the key's spec; -1: the argument is not a key */
    const char *token;
    const char *summary;
    const char *since;
    int flags;
    const char *deprecated_since;
    struct server_arg *subargs;
    const char *display_text;
};

struct server_command_info {
    const struct server_info_version *version;
    const char *summary;
    const char *complexity;
    const char *since;
    struct server_history *history;
    const char *tips;
    int arity;
    struct server_key_spec *key_specs;
    struct server_arg *args;
};

typedef int server_handler(struct server_ctx *ctx, struct server_string **argv, int argc);
typedef void server_disconnect(struct server_ctx *ctx, struct server_client *client);
typedef void server_timer(struct server_ctx *ctx, void *data);
typedef int server_key_event(struct server_ctx *ctx, int type, const char *event,
                             struct server_string *name);

/* Of SubscribeToServerEvent, by value. */
struct server_event {
    uint64_t id;
    uint64_t version;
};

enum {
    SERVER_EVENT_PERSISTENCE = 1,
    SERVER_EVENT_FLUSH = 2,
    SERVER_EVENT_LOADING = 3,
    SERVER_EVENT_REPLICA = 6, /* one came or went */
    SERVER_EVENT_CRON = 8,    /* ten times a second, if "hz" is 10 */
    SERVER_EVENT_SWAPDB = 11,
    SERVER_EVENT_FORK = 13,
    SERVER_EVENT_VERSION = 1,
    SERVER_FLUSH_END = 1, /* of the subevents of FLUSH; of those of PERSISTENCE, */
    SERVER_PERSISTENCE_ENDED = 3,
    SERVER_PERSISTENCE_FAILED = 4,
    SERVER_LOADING_ENDED = 3, /* and of LOADING, where those before this one are beginnings */
};

typedef void server_event_handler(struct server_ctx *ctx, struct server_event event,
                                  uint64_t subevent, void *data);

/* Of settings. A set function gives an error text as a string, which the server frees. */
enum {
    SERVER_CONFIG_MEMORY = 1 << 7,    /* "128mb" is a number, too */
    SERVER_CONFIG_UNPREFIXED = 1 << 9 /* from Redis 8.0 on */
};

typedef long long server_get_number(const char *name, void *data);
typedef int server_set_number(const char *name, long long value, void *data,
                              struct server_string **error);
typedef struct server_string *server_get_string(const char *name, void *data);
typedef int server_set_string(const char *name, struct server_string *value, void *data,
                              struct server_string **error);
typedef int server_get_bool(const char *name, void *data);
typedef int server_set_bool(const char *name, int value, void *data, struct server_string **error);
typedef int server_apply(struct server_ctx *ctx, void *data, struct server_string **error);

/* X(result, name, parameters) */
#define SERVER_FUNCTIONS(X)                                                                        \
    X(int, SetModuleAttribs, (struct server_ctx *, const char *, int, int))                        \
    X(int, IsModuleNameBusy, (const char *))                                                       \
    X(void, SetModuleOptions, (struct server_ctx *, int))                                          \
    X(int, GetContextFlags, (struct server_ctx *))                                                 \
    X(long long, Milliseconds, (void))                                                             \
    X(int, GetSelectedDb, (struct server_ctx *))                                                   \
    X(int, SelectDb, (struct server_ctx *, int))                                                   \
    X(void, Log, (struct server_ctx *, const char *, const char *, ...))                           \
    X(void, GetRandomBytes, (unsigned char *, size_t))                                             \
    X(int, CreateCommand,                                                                          \
      (struct server_ctx *, const char *, server_handler *, const char *, int, int, int))          \
    X(struct server_command *, GetCommand, (struct server_ctx *, const char *))                    \
    X(int, SetCommandInfo, (struct server_command *, const struct server_command_info *))          \
    X(struct server_type *, CreateDataType,                                                        \
      (struct server_ctx *, const char *, int, struct server_type_methods *))                      \
    X(int, RegisterInfoFunc, (struct server_ctx *, void (*)(struct server_info_ctx *, int)))       \
    X(int, InfoAddSection, (struct server_info_ctx *, const char *))                               \
    X(int, InfoAddFieldCString, (struct server_info_ctx *, const char *, const char *))            \
    X(int, InfoAddFieldULongLong, (struct server_info_ctx *, const char *, unsigned long long))    \
    /* memory */                                                                                   \
    X(void *, TryAlloc, (size_t))                                                                  \
    X(void, Free, (void *))                                                                        \
    /* arguments */                                                                                \
    X(const char *, StringPtrLen, (const struct server_string *, size_t *))                        \
    X(int, StringToLongLong, (const struct server_string *, long long *))                          \
    X(int, StringToDouble, (const struct server_string *, double *))                               \
    X(struct server_string *, CreateString, (struct server_ctx *, const char *, size_t))           \
    X(struct server_string *, CreateStringFromString,                                              \
      (struct server_ctx *, const struct server_string *))                                         \
    X(void, RetainString, (struct server_ctx *, struct server_string *))                           \
    X(void, FreeString, (struct server_ctx *, struct server_string *))                             \
    X(int, StringAppendBuffer,                                                                     \
      (struct server_ctx *, struct server_string *, const char *, size_t))                         \
    X(const struct server_string *, GetKeyNameFromIO, (struct server_io *))                        \
    /* replies */                                                                                  \
    X(int, WrongArity, (struct server_ctx *))                                                      \
    X(int, ReplyWithError, (struct server_ctx *, const char *))                                    \
    X(int, ReplyWithSimpleString, (struct server_ctx *, const char *))                             \
    X(int, ReplyWithStringBuffer, (struct server_ctx *, const char *, size_t))                     \
    X(int, ReplyWithLongLong, (struct server_ctx *, long long))                                    \
    X(int, ReplyWithDouble, (struct server_ctx *, double))                                         \
    X(int, ReplyWithBool, (struct server_ctx *, int))                                              \
    X(int, ReplyWithNull, (struct server_ctx *))                                                   \
    X(int, ReplyWithArray, (struct server_ctx *, long))                                            \
    X(int, ReplyWithMap, (struct server_ctx *, long))                                              \
    X(void, ReplySetArrayLength, (struct server_ctx *, long))                                      \
    /* keys */                                                                                     \
    X(struct server_key *, OpenKey, (struct server_ctx *, struct server_string *, int))            \
    X(void, CloseKey, (struct server_key *))                                                       \
    X(int, KeyType, (struct server_key *))                                                         \
    X(struct server_type *, ModuleTypeGetType, (struct server_key *))                              \
    X(void *, ModuleTypeGetValue, (struct server_key *))                                           \
    X(int, ModuleTypeSetValue, (struct server_key *, struct server_type *, void *))                \
    X(int, ModuleTypeReplaceValue, (struct server_key *, struct server_type *, void *, void **))   \
    X(const char *, StringDMA, (struct server_key *, size_t *, int))                               \
    X(int, StringSet, (struct server_key *, struct server_string *))                               \
    X(int, SetAbsExpire, (struct server_key *, long long))                                         \
    X(int, DeleteKey, (struct server_key *))                                                       \
    X(int, SignalModifiedKey, (struct server_ctx *, struct server_string *))                       \
    X(int, NotifyKeyspaceEvent, (struct server_ctx *, int, const char *, struct server_string *))  \
    X(struct server_call_reply *, Call, (struct server_ctx *, const char *, const char *, ...))    \
    X(void, FreeCallReply, (struct server_call_reply *))                                           \
    X(int, Replicate, (struct server_ctx *, const char *, const char *, ...))                      \
    X(int, ReplicateVerbatim, (struct server_ctx *))                                               \
    X(struct server_info *, GetServerInfo, (struct server_ctx *, const char *))                    \
    X(unsigned long long, ServerInfoGetFieldUnsigned, (struct server_info *, const char *, int *)) \
    X(void, FreeServerInfo, (struct server_ctx *, struct server_info *))                           \
    /* persistence */                                                                              \
    X(void, SaveUnsigned, (struct server_io *, uint64_t))                                          \
    X(uint64_t, LoadUnsigned, (struct server_io *))                                                \
    X(void, SaveStringBuffer, (struct server_io *, const char *, size_t))                          \
    X(char *, LoadStringBuffer, (struct server_io *, size_t *))                                    \
    X(int, IsIOError, (struct server_io *))                                                        \
    X(void, LogIOError, (struct server_io *, const char *, const char *, ...))                     \
    X(void, EmitAOF, (struct server_io *, const char *, const char *, ...))                        \
    X(void, DigestAddStringBuffer, (struct server_digest *, const char *, size_t))                 \
    X(void, DigestAddLongLong, (struct server_digest *, long long))                                \
    X(void, DigestEndSequence, (struct server_digest *))                                           \
    X(void *, DefragAlloc, (struct server_defrag_ctx *, void *))                                   \
    /* work of a blocked client */                                                                 \
    X(struct server_client *, BlockClient,                                                         \
      (struct server_ctx *, server_handler *, server_handler *,                                    \
       void (*)(struct server_ctx *, void *), long long))                                          \
    X(int, UnblockClient, (struct server_client *, void *))                                        \
    X(void, SetDisconnectCallback, (struct server_client *, server_disconnect *))                  \
    X(void *, GetBlockedClientPrivateData, (struct server_ctx *))                                  \
    X(struct server_client *, GetBlockedClientHandle, (struct server_ctx *))                       \
    /* settings: get, set, apply, private data */                                                  \
    X(int, RegisterNumericConfig,                                                                  \
      (struct server_ctx *, const char *, long long, unsigned, long long, long long,               \
       server_get_number *, server_set_number *, server_apply *, void *))                          \
    X(int, RegisterStringConfig,                                                                   \
      (struct server_ctx *, const char *, const char *, unsigned, server_get_string *,             \
       server_set_string *, server_apply *, void *))                                               \
    X(int, RegisterBoolConfig,                                                                     \
      (struct server_ctx *, const char *, int, unsigned, server_get_bool *, server_set_bool *,     \
       server_apply *, void *))                                                                    \
    X(int, LoadConfigs, (struct server_ctx *))                                                     \
    /* time, events */                                                                             \
    X(uint64_t, MonotonicMicroseconds, (void))                                                     \
    X(uint64_t, CreateTimer, (struct server_ctx *, long long, server_timer *, void *))             \
    X(int, AvoidReplicaTraffic, (void))                                                            \
    X(int, StopTimer, (struct server_ctx *, uint64_t, void **))                                    \
    X(int, SubscribeToKeyspaceEvents, (struct server_ctx *, int, server_key_event *))              \
    X(int, SubscribeToServerEvent,                                                                 \
      (struct server_ctx *, struct server_event, server_event_handler *))

#define SERVER_OPTIONAL(X)                                                                         \
    X(int, AddACLCategory, (struct server_ctx *, const char *))                                    \
    X(int, SetCommandACLCategories, (struct server_command *, const char *))                       \
    X(int, LoadDefaultConfigs, (struct server_ctx *))

struct server_api {
#define SERVER_MEMBER(result, name, parameters) result(*name) parameters;
    SERVER_FUNCTIONS(SERVER_MEMBER)
    SERVER_OPTIONAL(SERVER_MEMBER)
#undef SERVER_MEMBER
};

/* The functions of the server that has loaded the module. */
extern struct server_api server;

/* Milliseconds of a clock that nobody sets. */
static inline int64_t server_steady(void)
{
    return (int64_t)(server.MonotonicMicroseconds() / 1000);
}

/* Finds the functions. Returns NULL, or the name of a function that the server lacks. */
const char *server_bind(struct server_ctx *ctx);

#endif
