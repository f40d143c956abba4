/* SPDX-License-Identifier: MIT
 *
 * The interface between a module and a Redis (7.0 and newer) or Valkey (8.0 and newer) server, as
 * far as this module uses it. No package installs the servers' own header, and the binary interface
 * is small: the server calls RedisModule_OnLoad with a context whose first word is a function that
 * finds every other function by name, "RedisModule_" and the name below. Valkey knows these names,
 * too.
 *
 * Functions in SERVER_FUNCTIONS exist in every supported server. Functions in SERVER_OPTIONAL may be
 * NULL: test them before a call. */
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
struct server_info_ctx;
struct server_key_option_ctx;
struct server_defrag_ctx;
struct server_client;
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
    SERVER_KEY_EMPTY = 0
}; /* of KeyType */

enum {
    SERVER_POSTPONED_LEN = -1
}; /* of ReplyWithArray and ReplyWithMap */

/* Of GetContextFlags. */
enum {
    SERVER_IN_LUA = 1 << 0,
    SERVER_IN_MULTI = 1 << 1,
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
    SERVER_NOTIFY_GENERIC = 1 << 2
}; /* of NotifyKeyspaceEvent */

enum {
    SERVER_AUX_BEFORE = 1 << 0
}; /* when auxiliary data is saved: before the keys */

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

/* What COMMAND DOCS and COMMAND INFO say of a command. A server steps through arrays by the sizes in
 * the version, so an older server reads these structs, too. */
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

/* X(result, name, parameters) */
#define SERVER_FUNCTIONS(X)                                                                        \
    X(int, SetModuleAttribs, (struct server_ctx *, const char *, int, int))                        \
    X(int, IsModuleNameBusy, (const char *))                                                       \
    X(void, SetModuleOptions, (struct server_ctx *, int))                                          \
    X(int, GetContextFlags, (struct server_ctx *))                                                 \
    X(long long, Milliseconds, (void))                                                             \
    X(int, GetSelectedDb, (struct server_ctx *))                                                   \
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
    X(int, InfoAddFieldULongLong, (struct server_info_ctx *, const char *, unsigned long long))    \
    /* memory */                                                                                   \
    X(void *, TryAlloc, (size_t))                                                                  \
    X(void, Free, (void *))                                                                        \
    /* arguments */                                                                                \
    X(const char *, StringPtrLen, (const struct server_string *, size_t *))                        \
    X(int, StringToLongLong, (const struct server_string *, long long *))                          \
    X(int, StringToDouble, (const struct server_string *, double *))                               \
    X(struct server_string *, CreateString, (struct server_ctx *, const char *, size_t))           \
    X(void, FreeString, (struct server_ctx *, struct server_string *))                             \
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
    X(int, SignalModifiedKey, (struct server_ctx *, struct server_string *))                       \
    X(int, NotifyKeyspaceEvent, (struct server_ctx *, int, const char *, struct server_string *))  \
    X(int, Replicate, (struct server_ctx *, const char *, const char *, ...))                      \
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
    X(void *, GetBlockedClientPrivateData, (struct server_ctx *))

#define SERVER_OPTIONAL(X)                                                                         \
    X(int, AddACLCategory, (struct server_ctx *, const char *))                                    \
    X(int, SetCommandACLCategories, (struct server_command *, const char *))

struct server_api {
#define SERVER_MEMBER(result, name, parameters) result(*name) parameters;
    SERVER_FUNCTIONS(SERVER_MEMBER)
    SERVER_OPTIONAL(SERVER_MEMBER)
#undef SERVER_MEMBER
};

/* The functions of the server that has loaded the module. */
extern struct server_api server;

/* Finds the functions. Returns NULL, or the name of a function that the server lacks. */
const char *server_bind(struct server_ctx *ctx);

#endif
