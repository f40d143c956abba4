/* SPDX-License-Identifier: MIT */
#include "fake_server.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/server.h"

int RedisModule_OnLoad(struct server_ctx *ctx, struct server_string **argv, int argc);

enum {
    NDBS = 2,
    NKEYS = 32,
    NCOMMANDS = 128,
    NEFFECTS = 4096,
    NLIVE = 256,
    DEPTH = 8,
    LOG_MAX = 1024,
    HEADER = 16,         /* in front of an allocation: its size */
    ALLOC_MAX = 1 << 24, /* a larger one fails, */
    TOTAL_MAX = 1 << 26  /* and one more than this; but not in a replica that follows */
};

struct server_string {
    size_t len;
    char *bytes; /* with a zero behind */
    unsigned nretained;
};

struct server_ctx {
    void *get_api; /* the first word, as the module expects */
    int db;
    bool is_loading;
};

enum type {
    EMPTY,
    TEXT,
    MODULE
};

struct entry {
    struct server_string name;
    enum type type;
    void *value;
};

struct server_key {
    int db;
    int mode;
    struct server_string name;
};

struct server_command {
    char name[32];
    server_handler *run;
    bool is_readonly;
    bool has_info;
};

struct server_io {
    struct fake_stream *stream;
    size_t next;
    bool failed;
    struct server_string *name;
};

struct server_digest {
    uint64_t hash;
};

struct server_defrag_ctx {
    int unused;
};

/* A command that the module wants replicated, or that a rewritten AOF has. */
struct effect {
    char name[32];
    int argc;
    struct server_string *argv;
};

static struct entry entries[NDBS][NKEYS];
static struct server_command commands[NCOMMANDS];
static size_t ncommands;
static struct server_type_methods methods;
static int type_encoding;
static struct effect effects[NEFFECTS];
static size_t neffects;
static unsigned nsignals;
static unsigned nopen;
static struct server_string *live[NLIVE]; /* strings that the module has made */
static size_t nlive;
static size_t nlive_loaded; /* as it was loaded */
static int64_t clock_now;
static size_t allocated;
static unsigned fail_at;
static bool may_fail;
static bool is_following;
static const struct server_command *running;

static void require(bool ok)
{
    if (!ok) {
        abort();
    }
}

/* ---- memory ---- */

static void *get_memory(size_t size)
{
    if (may_fail && fail_at > 0 && --fail_at == 0) {
        return NULL;
    }
    if (!is_following && (size > ALLOC_MAX || allocated + size > TOTAL_MAX)) {
        return NULL;
    }
    char *whole = malloc(size + HEADER);
    require(whole);
    memcpy(whole, &size, sizeof(size));
    allocated += size;
    return whole + HEADER;
}

static size_t size_of(const void *ptr)
{
    size_t size;
    memcpy(&size, (const char *)ptr - HEADER, sizeof(size));
    return size;
}

static void give_back(void *ptr)
{
    if (ptr) {
        allocated -= size_of(ptr);
        free((char *)ptr - HEADER);
    }
}

static struct server_string string_of(const void *data, size_t len)
{
    struct server_string s = {len, malloc(len + 1), 0};
    require(s.bytes);
    if (len > 0) {
        memcpy(s.bytes, data, len);
    }
    s.bytes[len] = 0;
    return s;
}

/* ---- the module starts ---- */

static int set_attributes(struct server_ctx *ctx, const char *name, int version, int api)
{
    (void)ctx;
    require(strcmp(name, "bf") == 0 && version >= 20400 && api == SERVER_API_VERSION);
    return SERVER_OK;
}

static int is_name_busy(const char *name)
{
    (void)name;
    return 0;
}

static void set_options(struct server_ctx *ctx, int options)
{
    (void)ctx;
    require(options & SERVER_HANDLE_IO_ERRORS && options & SERVER_SIGNALS_BY_HAND);
}

static void get_random(unsigned char *buf, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        buf[i] = (unsigned char)(37 * i + 11);
    }
}

static int create_command(struct server_ctx *ctx, const char *name, server_handler *run,
                          const char *flags, int first, int last, int step)
{
    (void)ctx;
    (void)first;
    (void)last;
    (void)step;
    require(ncommands < NCOMMANDS && strlen(name) < sizeof(commands[0].name));
    struct server_command *command = &commands[ncommands++];
    memcpy(command->name, name, strlen(name) + 1);
    command->run = run;
    command->is_readonly = strstr(flags, "readonly") != NULL;
    command->has_info = false;
    return SERVER_OK;
}

static struct server_command *get_command(struct server_ctx *ctx, const char *name)
{
    (void)ctx;
    for (size_t i = 0; i < ncommands; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static int set_command_info(struct server_command *command, const struct server_command_info *info)
{
    require(info->version && info->summary && info->arity != 0 && info->args);
    command->has_info = true;
    return SERVER_OK;
}

static struct server_type *create_type(struct server_ctx *ctx, const char *name, int encoding,
                                       struct server_type_methods *m)
{
    (void)ctx;
    type_encoding = encoding;
    require(strlen(name) == 9 && m->rdb_load && m->rdb_save && m->aof_rewrite && m->free);
    methods = *m;
    return (struct server_type *)&methods;
}

static int register_info(struct server_ctx *ctx, void (*each)(struct server_info_ctx *, int))
{
    (void)ctx;
    (void)each;
    return SERVER_OK;
}

static int subscribe_to_keys(struct server_ctx *ctx, int types, server_key_event *each)
{
    (void)ctx;
    (void)types;
    (void)each;
    return SERVER_OK;
}

/* A server without a configuration file: the settings stay as the arguments of the module say. */
static int register_number(struct server_ctx *ctx, const char *name, long long value,
                           unsigned flags, long long min, long long max, server_get_number *get,
                           server_set_number *set, server_apply *apply, void *data)
{
    (void)ctx;
    (void)flags;
    (void)set;
    (void)apply;
    require(value >= min && value <= max && get(name, data) == value);
    return SERVER_OK;
}

static int register_text(struct server_ctx *ctx, const char *name, const char *value,
                         unsigned flags, server_get_string *get, server_set_string *set,
                         server_apply *apply, void *data)
{
    (void)ctx;
    (void)name;
    (void)flags;
    (void)get;
    (void)set;
    (void)apply;
    (void)data;
    require(value[0] != 0);
    return SERVER_OK;
}

static int register_bool(struct server_ctx *ctx, const char *name, int value, unsigned flags,
                         server_get_bool *get, server_set_bool *set, server_apply *apply,
                         void *data)
{
    (void)ctx;
    (void)flags;
    (void)set;
    (void)apply;
    require(get(name, data) == value);
    return SERVER_OK;
}

static int load_settings(struct server_ctx *ctx)
{
    (void)ctx;
    return SERVER_OK;
}

/* The events that this server raises: a file is written, or read. */
static struct {
    struct server_event event;
    server_event_handler *each;
} heard[] = {{{SERVER_EVENT_PERSISTENCE, SERVER_EVENT_VERSION}, NULL},
             {{SERVER_EVENT_LOADING, SERVER_EVENT_VERSION}, NULL}};
static bool is_reading;

static int subscribe(struct server_ctx *ctx, struct server_event event, server_event_handler *each)
{
    (void)ctx;
    for (size_t i = 0; i < sizeof(heard) / sizeof(*heard); i++) {
        if (heard[i].event.id == event.id) {
            heard[i].each = each;
        }
    }
    return SERVER_OK;
}

static void fire(uint64_t id, uint64_t subevent)
{
    for (size_t i = 0; i < sizeof(heard) / sizeof(*heard); i++) {
        if (heard[i].event.id == id && heard[i].each) {
            heard[i].each(NULL, heard[i].event, subevent, NULL);
        }
    }
}

/* ---- what commands ask for ---- */

static int get_flags(struct server_ctx *ctx)
{
    if (!ctx) {
        return is_reading ? SERVER_IS_LOADING : 0;
    }
    return SERVER_DENIES_BLOCKING | (ctx->db == FAKE_REPLICA ? SERVER_IS_REPLICATED : 0) |
           (ctx->is_loading ? SERVER_IS_LOADING : 0);
}

static long long milliseconds(void)
{
    return clock_now;
}

static uint64_t microseconds(void)
{
    return (uint64_t)clock_now * 1000;
}

static int selected_db(struct server_ctx *ctx)
{
    return ctx->db;
}

static int select_db(struct server_ctx *ctx, int db)
{
    const bool is_good = db >= 0 && db < NDBS; /* a forged file may have any number */
    ctx->db = is_good ? db : ctx->db;
    return is_good ? SERVER_OK : SERVER_ERR;
}

static void check_text(const char *format, va_list args)
{
    char text[LOG_MAX];
    require(vsnprintf(text, sizeof(text), format, args) >= 0);
}

__attribute__((format(printf, 3, 4))) static void
write_log(struct server_ctx *ctx, const char *level, const char *format, ...)
{
    va_list args;
    (void)ctx;
    (void)level;
    va_start(args, format);
    check_text(format, args);
    va_end(args);
}

__attribute__((format(printf, 3, 4))) static void
write_io_log(struct server_io *io, const char *level, const char *format, ...)
{
    va_list args;
    (void)io;
    (void)level;
    va_start(args, format);
    check_text(format, args);
    va_end(args);
}

static const char *string_bytes(const struct server_string *s, size_t *len_out)
{
    if (len_out) {
        *len_out = s->len;
    }
    return s->bytes;
}

/* As the server: no spaces, no plus sign, no zeros in front. */
static int string_to_number(const struct server_string *s, long long *number_out)
{
    char again[32];
    char *end;
    errno = 0;
    const long long number = strtoll(s->bytes, &end, 10);
    const int len = snprintf(again, sizeof(again), "%lld", number);
    if (errno != 0 || (size_t)len != s->len || memcmp(again, s->bytes, s->len) != 0) {
        return SERVER_ERR;
    }
    *number_out = number;
    return SERVER_OK;
}

static int string_to_double(const struct server_string *s, double *number_out)
{
    char *end;
    errno = 0;
    const double number = strtod(s->bytes, &end);
    if (s->len == 0 || strchr(" \t\n\v\f\r", s->bytes[0]) || end != s->bytes + s->len ||
        (errno == ERANGE && (number == 0 || isinf(number))) || isnan(number)) {
        return SERVER_ERR;
    }
    *number_out = number;
    return SERVER_OK;
}

static struct server_string *create_string(struct server_ctx *ctx, const char *data, size_t len)
{
    struct server_string *s = malloc(sizeof(*s));
    (void)ctx;
    require(s && nlive < NLIVE);
    *s = string_of(data, len);
    live[nlive++] = s;
    return s;
}

static void retain_string(struct server_ctx *ctx, struct server_string *s)
{
    (void)ctx;
    s->nretained++;
}

static void free_string(struct server_ctx *ctx, struct server_string *s)
{
    size_t i = nlive;
    (void)ctx;
    if (s->nretained > 0) {
        s->nretained--;
        return;
    }
    while (i > 0 && live[i - 1] != s) {
        i--;
    }
    require(i > nlive_loaded); /* made by this command */
    live[i - 1] = live[--nlive];
    free(s->bytes);
    free(s);
}

/* Strings of the module, which live as long as it is loaded. */
static void free_live(void)
{
    while (nlive > 0) {
        free(live[--nlive]->bytes);
        free(live[nlive]);
    }
    nlive_loaded = 0;
}

static const struct server_string *name_of_io(struct server_io *io)
{
    return io->name;
}

/* ---- replies ---- */

static struct fake_reply *answer;
static size_t nwhole; /* replies that are complete */
static size_t depth;  /* arrays that are open, */
static struct {
    bool is_postponed; /* whose length comes later, */
    size_t n;          /* elements so far; or to come */
} open_arrays[DEPTH];

static void close_full(void)
{
    while (depth > 0 && !open_arrays[depth - 1].is_postponed && open_arrays[depth - 1].n == 0) {
        depth--;
    }
    nwhole += depth == 0;
}

static void count_element(void)
{
    require(depth > 0 || nwhole == 0);
    if (depth > 0) {
        open_arrays[depth - 1].n += open_arrays[depth - 1].is_postponed ? 1 : SIZE_MAX;
    }
}

static int reply_one(void)
{
    count_element();
    close_full();
    return SERVER_OK;
}

static int reply_value(long long value)
{
    if (answer->nvalues < FAKE_NVALUES) {
        answer->values[answer->nvalues++] = value;
    }
    return reply_one();
}

static int reply_number(struct server_ctx *ctx, long long number)
{
    (void)ctx;
    return reply_value(number);
}

static int reply_bool(struct server_ctx *ctx, int yes)
{
    (void)ctx;
    require(yes == 0 || yes == 1);
    return reply_value(yes);
}

/* Sentences of errors have a word in capitals in front, or are whole sentences of RedisBloom. */
static int reply_failure(struct server_ctx *ctx, const char *text)
{
    (void)ctx;
    require(strlen(text) > 4 && !strchr(text, '\n') && !strchr(text, '\r'));
    if (depth == 0) {
        answer->is_error = true;
        (void)snprintf(answer->error, sizeof(answer->error), "%s", text);
    }
    return reply_value(-2);
}

static int wrong_arity(struct server_ctx *ctx)
{
    return reply_failure(ctx, "ERR wrong number of arguments");
}

static int reply_simple(struct server_ctx *ctx, const char *text)
{
    (void)ctx;
    require(text[0] && !strchr(text, '\n'));
    return reply_one();
}

static int reply_buffer(struct server_ctx *ctx, const char *data, size_t len)
{
    uint8_t sum = 0;
    (void)ctx;
    for (size_t i = 0; i < len; i++) {
        sum = (uint8_t)(sum + (uint8_t)data[i]); /* reads every byte */
    }
    (void)sum;
    return reply_one();
}

static int reply_double(struct server_ctx *ctx, double number)
{
    (void)ctx;
    require(isfinite(number));
    return reply_one();
}

static int reply_null(struct server_ctx *ctx)
{
    (void)ctx;
    return reply_one();
}

static int reply_array(struct server_ctx *ctx, long n)
{
    (void)ctx;
    require(n >= 0 || n == SERVER_POSTPONED_LEN);
    count_element();
    require(depth < DEPTH);
    open_arrays[depth].is_postponed = n == SERVER_POSTPONED_LEN;
    open_arrays[depth].n = n > 0 ? (size_t)n : 0;
    depth++;
    close_full();
    return SERVER_OK;
}

static int reply_map(struct server_ctx *ctx, long n)
{
    return reply_array(ctx, n > 0 ? 2 * n : n);
}

static void set_array_length(struct server_ctx *ctx, long n)
{
    (void)ctx;
    require(depth > 0 && open_arrays[depth - 1].is_postponed && n >= 0 &&
            open_arrays[depth - 1].n == (size_t)n);
    depth--;
    close_full();
}

/* ---- keys ---- */

static struct entry *find(int db, const struct server_string *name)
{
    for (struct entry *e = entries[db]; e < entries[db] + NKEYS; e++) {
        if (e->type != EMPTY && e->name.len == name->len &&
            memcmp(e->name.bytes, name->bytes, name->len) == 0) {
            return e;
        }
    }
    return NULL;
}

static struct entry *make_entry(int db, const struct server_string *name)
{
    for (struct entry *e = entries[db]; e < entries[db] + NKEYS; e++) {
        if (e->type == EMPTY) {
            e->name = string_of(name->bytes, name->len);
            return e;
        }
    }
    abort();
}

static void clear_entry(struct entry *e)
{
    if (!e) {
        return;
    }
    if (e->type == MODULE) {
        methods.free(e->value);
    }
    if (e->type != EMPTY) {
        free(e->name.bytes);
    }
    e->type = EMPTY;
}

static struct server_key *open_key(struct server_ctx *ctx, struct server_string *name, int mode)
{
    require(!(running && running->is_readonly && (mode & SERVER_WRITE)));
    if (!(mode & SERVER_WRITE) && !find(ctx->db, name)) {
        return NULL;
    }
    struct server_key *key = malloc(sizeof(*key));
    require(key);
    *key = (struct server_key){ctx->db, mode, string_of(name->bytes, name->len)};
    nopen++;
    return key;
}

static void close_key(struct server_key *key)
{
    if (key) {
        free(key->name.bytes);
        free(key);
        nopen--;
    }
}

static int key_type(struct server_key *key)
{
    const struct entry *e = key ? find(key->db, &key->name) : NULL;
    return e ? (int)e->type : SERVER_KEY_EMPTY;
}

static struct server_type *module_type(struct server_key *key)
{
    return key_type(key) == MODULE ? (struct server_type *)&methods : NULL;
}

static void *module_value(struct server_key *key)
{
    return key_type(key) == MODULE ? find(key->db, &key->name)->value : NULL;
}

static int set_value(struct server_key *key, struct server_type *type, void *value)
{
    require(key && key->mode & SERVER_WRITE && type == (struct server_type *)&methods && value);
    clear_entry(find(key->db, &key->name));
    struct entry *e = make_entry(key->db, &key->name);
    e->type = MODULE;
    e->value = value;
    return SERVER_OK;
}

static int replace_value(struct server_key *key, struct server_type *type, void *value, void **old)
{
    require(key && key->mode & SERVER_WRITE && type == (struct server_type *)&methods);
    struct entry *e = find(key->db, &key->name);
    require(e && e->type == MODULE);
    if (old) {
        *old = e->value;
    }
    e->value = value;
    return SERVER_OK;
}

static int signal_modified(struct server_ctx *ctx, struct server_string *name)
{
    (void)name;
    nsignals += ctx->db == FAKE_PRIMARY;
    return SERVER_OK;
}

static int notify(struct server_ctx *ctx, int kind, const char *event, struct server_string *name)
{
    (void)ctx;
    (void)name;
    require(kind == SERVER_NOTIFY_GENERIC && event[0]);
    return SERVER_OK;
}

/* ---- effects ---- */

static void keep_argument(struct effect *e, const void *data, size_t len)
{
    e->argv = realloc(e->argv, ((size_t)e->argc + 1) * sizeof(*e->argv));
    require(e->argv && e->argc < FAKE_NARGS);
    e->argv[e->argc++] = string_of(data, len);
}

static void keep_effect(const char *name, const char *format, va_list args)
{
    char number[32];
    require(neffects < NEFFECTS && strlen(name) < sizeof(effects[0].name));
    struct effect *e = &effects[neffects++];
    memcpy(e->name, name, strlen(name) + 1);
    e->argc = 0;
    e->argv = NULL;
    for (; *format; format++) {
        if (*format == 's') {
            const struct server_string *s = va_arg(args, struct server_string *);
            keep_argument(e, s->bytes, s->len);
        } else if (*format == 'c') {
            const char *text = va_arg(args, const char *);
            keep_argument(e, text, strlen(text));
        } else if (*format == 'b') {
            const char *data = va_arg(args, const char *);
            keep_argument(e, data, va_arg(args, size_t));
        } else if (*format == 'l') {
            const int len = snprintf(number, sizeof(number), "%lld", va_arg(args, long long));
            keep_argument(e, number, (size_t)len);
        } else if (*format == 'v') {
            struct server_string *const *strings = va_arg(args, struct server_string **);
            for (size_t n = va_arg(args, size_t), i = 0; i < n; i++) {
                keep_argument(e, strings[i]->bytes, strings[i]->len);
            }
        } else {
            abort();
        }
    }
}

static void free_effect(struct effect *e)
{
    for (int i = 0; i < e->argc; i++) {
        free(e->argv[i].bytes);
    }
    free(e->argv);
}

static int replicate(struct server_ctx *ctx, const char *name, const char *format, ...)
{
    va_list args;
    require(!(running && running->is_readonly));
    if (ctx->db == FAKE_PRIMARY) {
        va_start(args, format);
        keep_effect(name, format, args);
        va_end(args);
    }
    return SERVER_OK;
}

static void emit_aof(struct server_io *io, const char *name, const char *format, ...)
{
    va_list args;
    (void)io;
    va_start(args, format);
    keep_effect(name, format, args);
    va_end(args);
}

/* ---- streams and digests ---- */

static void save_string(struct server_io *io, const char *data, size_t len)
{
    struct fake_stream *s = io->stream;
    if (s->n == FAKE_NSTRINGS) {
        io->failed = true;
        return;
    }
    s->data[s->n] = string_of(data, len).bytes;
    s->len[s->n++] = len;
}

static char *load_string(struct server_io *io, size_t *len_out)
{
    if (io->next == io->stream->n) {
        io->failed = true;
        return NULL;
    }
    const size_t len = io->stream->len[io->next];
    char *copied = get_memory(len ? len : 1);
    require(copied);
    memcpy(copied, io->stream->data[io->next++], len);
    *len_out = len;
    return copied;
}

/* A number is a string of 8 bytes. */
static void save_number(struct server_io *io, uint64_t number)
{
    save_string(io, (const char *)&number, sizeof(number));
}

static uint64_t load_number(struct server_io *io)
{
    uint64_t number = 0;
    size_t len = 0;
    char *bytes = load_string(io, &len);
    io->failed = io->failed || len != sizeof(number);
    if (!io->failed) {
        memcpy(&number, bytes, sizeof(number));
    }
    give_back(bytes);
    return number;
}

static int is_io_error(struct server_io *io)
{
    return io->failed;
}

static void digest_string(struct server_digest *digest, const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        digest->hash = (digest->hash ^ (uint8_t)data[i]) * 0x100000001b3;
    }
}

static void digest_number(struct server_digest *digest, long long number)
{
    digest_string(digest, (const char *)&number, sizeof(number));
}

static void digest_end(struct server_digest *digest)
{
    digest->hash *= 0x9e3779b97f4a7c15;
}

static void *defrag_block(struct server_defrag_ctx *ctx, void *ptr)
{
    (void)ctx;
    const size_t size = size_of(ptr);
    void *moved = get_memory(size);
    require(moved);
    memcpy(moved, ptr, size);
    give_back(ptr);
    return moved;
}

/* ---- the table of functions ---- */

typedef void function(void);

static void is_not_here(void)
{
    abort();
}

static int get_api(const char *name, void *function_out)
{
#define FAKE(name, fake)                                                                           \
    {                                                                                              \
        "RedisModule_" name, (function *)(fake)                                                    \
    }
    static const struct {
        const char *name;
        function *pointer;
    } table[] = {
        FAKE("SetModuleAttribs", set_attributes),
        FAKE("IsModuleNameBusy", is_name_busy),
        FAKE("SetModuleOptions", set_options),
        FAKE("GetContextFlags", get_flags),
        FAKE("Milliseconds", milliseconds),
        FAKE("MonotonicMicroseconds", microseconds),
        FAKE("GetSelectedDb", selected_db),
        FAKE("SelectDb", select_db),
        FAKE("Log", write_log),
        FAKE("GetRandomBytes", get_random),
        FAKE("CreateCommand", create_command),
        FAKE("GetCommand", get_command),
        FAKE("SetCommandInfo", set_command_info),
        FAKE("CreateDataType", create_type),
        FAKE("RegisterInfoFunc", register_info),
        FAKE("SubscribeToKeyspaceEvents", subscribe_to_keys),
        FAKE("SubscribeToServerEvent", subscribe),
        FAKE("RegisterNumericConfig", register_number),
        FAKE("RegisterStringConfig", register_text),
        FAKE("RegisterBoolConfig", register_bool),
        FAKE("LoadConfigs", load_settings),
        FAKE("TryAlloc", get_memory),
        FAKE("Free", give_back),
        FAKE("StringPtrLen", string_bytes),
        FAKE("StringToLongLong", string_to_number),
        FAKE("StringToDouble", string_to_double),
        FAKE("CreateString", create_string),
        FAKE("RetainString", retain_string),
        FAKE("FreeString", free_string),
        FAKE("GetKeyNameFromIO", name_of_io),
        FAKE("WrongArity", wrong_arity),
        FAKE("ReplyWithError", reply_failure),
        FAKE("ReplyWithSimpleString", reply_simple),
        FAKE("ReplyWithStringBuffer", reply_buffer),
        FAKE("ReplyWithLongLong", reply_number),
        FAKE("ReplyWithDouble", reply_double),
        FAKE("ReplyWithBool", reply_bool),
        FAKE("ReplyWithNull", reply_null),
        FAKE("ReplyWithArray", reply_array),
        FAKE("ReplyWithMap", reply_map),
        FAKE("ReplySetArrayLength", set_array_length),
        FAKE("OpenKey", open_key),
        FAKE("CloseKey", close_key),
        FAKE("KeyType", key_type),
        FAKE("ModuleTypeGetType", module_type),
        FAKE("ModuleTypeGetValue", module_value),
        FAKE("ModuleTypeSetValue", set_value),
        FAKE("ModuleTypeReplaceValue", replace_value),
        FAKE("SignalModifiedKey", signal_modified),
        FAKE("NotifyKeyspaceEvent", notify),
        FAKE("Replicate", replicate),
        FAKE("SaveUnsigned", save_number),
        FAKE("LoadUnsigned", load_number),
        FAKE("SaveStringBuffer", save_string),
        FAKE("LoadStringBuffer", load_string),
        FAKE("IsIOError", is_io_error),
        FAKE("LogIOError", write_io_log),
        FAKE("EmitAOF", emit_aof),
        FAKE("DigestAddStringBuffer", digest_string),
        FAKE("DigestAddLongLong", digest_number),
        FAKE("DigestEndSequence", digest_end),
        FAKE("DefragAlloc", defrag_block),
    };
#undef FAKE
    function *pointer = is_not_here; /* found, but not to be called here */
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        pointer = strcmp(table[i].name, name) == 0 ? table[i].pointer : pointer;
    }
    if (strstr(name, "ACLCategor")) {
        return SERVER_ERR; /* as in Redis 7.0 */
    }
    memcpy(function_out, &pointer, sizeof(pointer));
    return SERVER_OK;
}

static struct server_ctx context_of(int db)
{
    struct server_ctx ctx = {.db = db};
    int (*get)(const char *, void *) = get_api;
    memcpy(&ctx.get_api, &get, sizeof(get));
    return ctx;
}

bool fake_load_module(const struct fake_text *argv, int argc)
{
    struct server_string strings[FAKE_NARGS];
    struct server_string *pointers[FAKE_NARGS];
    struct server_ctx ctx = context_of(FAKE_PRIMARY);
    require(argc <= FAKE_NARGS);
    for (int db = 0; db < NDBS; db++) {
        for (int i = 0; i < NKEYS; i++) {
            clear_entry(&entries[db][i]);
        }
    }
    free_live();
    fail_at = 0;
    ncommands = 0;
    clock_now = 1000000;
    for (int i = 0; i < argc; i++) {
        strings[i] = string_of(argv[i].data, argv[i].len);
        pointers[i] = &strings[i];
    }
    const bool is_good = RedisModule_OnLoad(&ctx, pointers, argc) == SERVER_OK;
    for (int i = 0; i < argc; i++) {
        free(strings[i].bytes);
    }
    nlive_loaded = nlive;
    for (size_t i = 0; i < ncommands; i++) {
        require(commands[i].has_info);
    }
    return is_good;
}

size_t fake_ncommands(void)
{
    return ncommands;
}

const char *fake_command_name(size_t i)
{
    return commands[i].name;
}

static void call(int db, const char *name, struct server_string *argv, int argc, bool is_loading,
                 struct fake_reply *reply)
{
    struct server_string *pointers[FAKE_NARGS + 1];
    struct server_ctx ctx = context_of(db);
    struct server_string first = string_of(name, strlen(name));
    const struct server_command *command = get_command(&ctx, name);
    require(command && argc <= FAKE_NARGS);
    pointers[0] = &first;
    for (int i = 0; i < argc; i++) {
        pointers[1 + i] = &argv[i];
    }
    memset(reply, 0, sizeof(*reply));
    ctx.is_loading = is_loading;
    answer = reply;
    nwhole = 0;
    depth = 0;
    running = command;
    require(command->run(&ctx, pointers, 1 + argc) == SERVER_OK);
    running = NULL;
    require(nwhole == 1 && depth == 0 && nopen == 0 && nlive == nlive_loaded);
    for (int i = 0; i < argc; i++) {
        require(argv[i].nretained == 0);
    }
    free(first.bytes);
}

/* Runs the effects in these databases. A replica that refuses one is no longer equal. */
static void run_effects(int first_db, int last_db, const struct server_string *name,
                        bool is_loading)
{
    struct fake_reply reply;
    const size_t n = neffects;
    for (size_t i = 0; i < n; i++) {
        struct effect e = effects[i];
        if (name) {
            free(e.argv[0].bytes);
            e.argv[0] = string_of(name->bytes, name->len);
        }
        for (int db = first_db; db <= last_db; db++) {
            call(db, e.name, e.argv, e.argc, is_loading, &reply);
            require(!reply.is_error);
        }
        free_effect(&e);
    }
    for (size_t i = n; i < neffects; i++) { /* of a primary that loads an AOF */
        free_effect(&effects[i]);
    }
    neffects = 0;
}

/* A load changes nothing before its last frame. */
static bool are_frames_only(void)
{
    for (size_t i = 0; i < neffects; i++) {
        if (strcmp(effects[i].name, "UNSEEN.LOAD") != 0) {
            return false;
        }
    }
    return true;
}

void fake_run(const char *name, const struct fake_text *argv, int argc, struct fake_reply *reply)
{
    struct server_string strings[FAKE_NARGS];
    require(argc <= FAKE_NARGS);
    for (int i = 0; i < argc; i++) {
        strings[i] = string_of(argv[i].data, argv[i].len);
    }
    nsignals = 0;
    neffects = 0;
    may_fail = true;
    call(FAKE_PRIMARY, name, strings, argc, false, reply);
    may_fail = false;
    fail_at = 0;
    require(nsignals > 0 ? neffects > 0 : are_frames_only());
    is_following = true;
    run_effects(FAKE_REPLICA, FAKE_REPLICA, NULL, false);
    is_following = false;
    for (int i = 0; i < argc; i++) {
        free(strings[i].bytes);
    }
}

void fake_fail_allocation(unsigned n)
{
    fail_at = n;
}

void fake_advance(int64_t ms)
{
    clock_now += ms;
}

/* ---- the server's own commands ---- */

static struct entry *find_text(int db, struct fake_text key)
{
    const struct server_string name = string_of(key.data, key.len);
    struct entry *e = find(db, &name);
    free(name.bytes);
    return e;
}

static void put(int db, struct fake_text key, enum type type, void *value)
{
    struct server_string name = string_of(key.data, key.len);
    struct entry *e = make_entry(db, &name);
    e->type = type;
    e->value = value;
    free(name.bytes);
}

void fake_delete(struct fake_text key)
{
    for (int db = 0; db < NDBS; db++) {
        clear_entry(find_text(db, key));
    }
}

void fake_set_text(struct fake_text key)
{
    fake_delete(key);
    for (int db = 0; db < NDBS; db++) {
        put(db, key, TEXT, NULL);
    }
}

/* Puts a value for each database into its key, or none if one is missing. */
static bool put_both(struct fake_text key, void *const *values)
{
    const bool is_good = values[0] && values[1];
    for (int db = 0; db < NDBS; db++) {
        if (is_good) {
            put(db, key, MODULE, values[db]);
        } else if (values[db]) {
            methods.free(values[db]);
        }
    }
    return is_good;
}

bool fake_copy(struct fake_text from, struct fake_text to)
{
    struct server_string from_name = string_of(from.data, from.len);
    struct server_string to_name = string_of(to.data, to.len);
    void *values[NDBS] = {NULL};
    for (int db = 0; db < NDBS; db++) {
        const struct entry *e = find_text(db, from);
        if (e && e->type == MODULE && !find_text(db, to)) {
            values[db] = methods.copy(&from_name, &to_name, e->value);
        }
    }
    free(from_name.bytes);
    free(to_name.bytes);
    return put_both(to, values);
}

bool fake_has_key(struct fake_text key)
{
    return find_text(FAKE_PRIMARY, key) != NULL;
}

bool fake_has_value(int db, struct fake_text key)
{
    const struct entry *e = find_text(db, key);
    return e && e->type == MODULE;
}

uint64_t fake_digest(int db, struct fake_text key)
{
    struct server_digest digest = {0xcbf29ce484222325};
    struct server_string name = string_of(key.data, key.len);
    const struct entry *e = find_text(db, key);
    require(e && e->type == MODULE);
    methods.digest(&digest, e->value);
    require(methods.mem_usage(e->value) > 0 && methods.free_effort(&name, e->value) > 0);
    free(name.bytes);
    return digest.hash;
}

bool fake_save(int db, struct fake_text key, struct fake_stream *stream_out)
{
    struct server_io io = {.stream = stream_out};
    const struct entry *e = find_text(db, key);
    stream_out->n = 0;
    if (!e || e->type != MODULE) {
        return false;
    }
    methods.rdb_save(&io, e->value);
    require(!io.failed);
    return true;
}

bool fake_save_beside(struct fake_stream *stream_out)
{
    struct server_io io = {.stream = stream_out};
    const struct entry *e = NULL;
    stream_out->n = 0;
    for (size_t i = 0; i < NDBS * NKEYS && !e; i++) {
        const struct entry *key = &entries[i / NKEYS][i % NKEYS];
        e = key->type == MODULE ? key : NULL;
    }
    if (!e) {
        return false;
    }
    fire(SERVER_EVENT_PERSISTENCE, 0);
    methods.rdb_save(&io, e->value);
    fire(SERVER_EVENT_PERSISTENCE, SERVER_PERSISTENCE_ENDED);
    return !io.failed;
}

bool fake_load_beside(const struct fake_stream *stream)
{
    struct fake_stream s = *stream;
    struct server_io io = {.stream = &s};
    is_reading = true;
    fire(SERVER_EVENT_LOADING, 0);
    void *value = methods.rdb_load(&io, type_encoding);
    fire(SERVER_EVENT_LOADING, SERVER_LOADING_ENDED);
    is_reading = false;
    const bool is_good = value != NULL;
    require(!is_good || !io.failed);
    if (is_good) {
        methods.free(value);
    }
    return is_good && io.next == s.n;
}

void fake_stream_release(struct fake_stream *stream)
{
    for (size_t i = 0; i < stream->n; i++) {
        free(stream->data[i]);
    }
    stream->n = 0;
}

bool fake_restore(struct fake_text key, const struct fake_stream *stream)
{
    void *values[NDBS];
    struct fake_stream s = *stream;
    for (int db = 0; db < NDBS; db++) {
        struct server_io io = {.stream = &s};
        values[db] = methods.rdb_load(&io, type_encoding);
    }
    return put_both(key, values);
}

void fake_rewrite(struct fake_text from, struct fake_text to)
{
    struct fake_stream none = {.n = 0};
    struct server_string name = string_of(from.data, from.len);
    struct server_string to_name = string_of(to.data, to.len);
    struct server_io io = {.stream = &none, .name = &name};
    const struct entry *e = find_text(FAKE_PRIMARY, from);
    require(e && e->type == MODULE);
    neffects = 0;
    methods.aof_rewrite(&io, &name, e->value);
    is_following = true;
    run_effects(FAKE_PRIMARY, FAKE_REPLICA, &to_name, true);
    is_following = false;
    free(name.bytes);
    free(to_name.bytes);
}

void fake_defrag(struct fake_text key)
{
    struct server_defrag_ctx ctx = {0};
    struct server_string name = string_of(key.data, key.len);
    struct entry *e = find_text(FAKE_PRIMARY, key);
    if (methods.defrag && e && e->type == MODULE) {
        require(methods.defrag(&ctx, &name, &e->value) == 0);
    }
    free(name.bytes);
}
