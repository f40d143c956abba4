/* SPDX-License-Identifier: MIT
 *
 * A client may go away in the middle, so there is room for LOADS_MAX unfinished values; one more
 * takes the place of the load that has been idle for longest. Replicas and the AOF get each frame as it
 * comes, so that the last one is no more work than the others. But a load is not in a file or in a full
 * sync: if a child was forked to write one meanwhile, or a replica came or went, the whole value is
 * sent at the end. */
#include "load.h"

#include <string.h>

#include "bytes.h"
#include "dump.h"
#include "errors.h"
#include "keys.h"
#include "module.h"
#include "parse.h"

enum {
    LOADS_MAX = 16,
    LENGTH_BYTES = 4
};

struct load {
    struct loader loader;
    char *name; /* NULL: free */
    size_t name_len;
    int db;
    uint64_t last_used;
    uint64_t nframes;
    bool sends_whole; /* at the end, not each frame */
};

static struct load loads[LOADS_MAX];
static uint64_t now;

static void forget(struct load *load)
{
    loader_release(&load->loader);
    server.Free(load->name);
    load->name = NULL;
}

static struct load *find(int db, const char *name, size_t len)
{
    for (struct load *load = loads; load < loads + LOADS_MAX; load++) {
        if (load->name && load->db == db && load->name_len == len &&
            memcmp(load->name, name, len) == 0) {
            load->last_used = ++now;
            return load;
        }
    }
    return NULL;
}

static struct load *begin(int db, const char *name, size_t len)
{
    struct load *oldest = find(db, name, len);
    for (struct load *load = loads; !oldest && load < loads + LOADS_MAX; load++) {
        oldest = load->name ? NULL : load;
    }
    if (!oldest) {
        oldest = loads;
        for (struct load *load = loads; load < loads + LOADS_MAX; load++) {
            oldest = load->last_used < oldest->last_used ? load : oldest;
        }
    }
    forget(oldest);
    oldest->name = server.TryAlloc(len + 1);
    if (!oldest->name) {
        return NULL;
    }
    memcpy(oldest->name, name, len);
    oldest->name_len = len;
    oldest->db = db;
    oldest->last_used = ++now;
    oldest->nframes = 0;
    oldest->sends_whole = false;
    loader_init(&oldest->loader);
    return oldest;
}

/* ---- out ---- */

size_t load_frames(const struct value *value, int64_t *position, struct server_string **frames)
{
    uint8_t buf[DUMP_FRAME_MAX];
    size_t n = 0;
    while (n < LOAD_FRAMES && *position != DUMP_END) {
        const size_t len = dump_frame(value, position, buf);
        frames[n++] = server.CreateString(NULL, (const char *)buf, len);
    }
    return n;
}

void load_free_frames(struct server_string **frames, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        server.FreeString(NULL, frames[i]);
    }
}

void load_replicate(struct server_ctx *ctx, struct server_string *name, const struct value *value)
{
    struct server_string *frames[LOAD_FRAMES];
    for (int64_t position = DUMP_START; position != DUMP_END;) {
        const char *which = position == DUMP_START ? "FIRST" : "NEXT";
        const size_t n = load_frames(value, &position, frames);
        (void)server.Replicate(ctx, "UNSEEN.LOAD", "scv", name, which, frames, n);
        load_free_frames(frames, n);
    }
}

/* ---- in ---- */

static void send_whole(struct server_ctx *ctx, struct server_event event, uint64_t subevent,
                       void *data)
{
    (void)ctx;
    (void)event;
    (void)subevent;
    (void)data;
    for (struct load *load = loads; load < loads + LOADS_MAX; load++) {
        load->sends_whole = true;
    }
}

bool load_init(struct server_ctx *ctx)
{
    const struct server_event forked = {SERVER_EVENT_FORK, SERVER_EVENT_VERSION};
    const struct server_event replica = {SERVER_EVENT_REPLICA, SERVER_EVENT_VERSION};
    return server.SubscribeToServerEvent(ctx, forked, send_whole) == SERVER_OK &&
           server.SubscribeToServerEvent(ctx, replica, send_whole) == SERVER_OK;
}

/* Puts a complete value into its key. A replica replaces what it has there; a client does not. */
static enum error show(struct server_ctx *ctx, struct server_string *name, struct value *value,
                       bool replaces, bool *done)
{
    struct server_key *key = server.OpenKey(ctx, name, SERVER_READ | SERVER_WRITE);
    *done = server.KeyType(key) == SERVER_KEY_EMPTY ||
            (replaces && server.ModuleTypeGetType(key) == module.type);
    if (*done) {
        key_put(key, value);
    } else {
        value_free(value);
    }
    server.CloseKey(key);
    return ERROR_EXISTS;
}

/* Sends a frame that was taken, or the value that is complete with it. */
static void replicate(struct server_ctx *ctx, struct server_string *name, struct load *load,
                      const struct value *complete, const char *frame, size_t len)
{
    const char *which = load->nframes == 0 ? "FIRST" : "NEXT";
    if (!load->sends_whole) {
        (void)server.Replicate(ctx, "UNSEEN.LOAD", "scb", name, which, frame, len);
    } else if (complete) {
        load_replicate(ctx, name, complete);
    }
    load->nframes++;
}

/* Takes a frame of a load, of this kind or (0) of any. Returns true, or false and the error. */
static bool take(struct server_ctx *ctx, struct server_string *name, struct load *load,
                 unsigned kind, const char *frame, size_t len, enum error *error)
{
    const enum unseen_status status = loader_take(&load->loader, frame, len);
    bool is_good =
        status == UNSEEN_OK && (kind == 0 || value_plan(load->loader.value)->settings.kind == kind);
    const bool is_complete = is_good && load->loader.is_complete;
    struct value *value = is_complete ? loader_value(&load->loader) : NULL;
    *error = status == UNSEEN_ERR_NOMEM ? ERROR_NO_MEMORY_CREATE : ERROR_DATA;
    if (is_complete) {
        *error = show(ctx, name, value, kind == 0, &is_good);
    }
    if (is_good) {
        replicate(ctx, name, load, value, frame, len);
    }
    if (is_good && is_complete) {
        (void)server.SignalModifiedKey(ctx, name);
        (void)server.NotifyKeyspaceEvent(ctx, SERVER_NOTIFY_GENERIC, "unseen.load", name);
    }
    if (is_complete || !is_good) {
        forget(load);
    }
    return is_good;
}

/* Takes n frames of a load. Returns true, or false and the error. */
static bool take_frames(struct server_ctx *ctx, struct server_string *name, unsigned kind,
                        bool is_first, struct server_string **data, int n, enum error *error)
{
    size_t name_len;
    const char *text = server.StringPtrLen(name, &name_len);
    const int db = server.GetSelectedDb(ctx);
    struct load *load = is_first ? begin(db, text, name_len) : find(db, text, name_len);
    bool is_good = load != NULL;
    *error = !load && is_first ? ERROR_NO_MEMORY_CREATE : ERROR_DATA;
    for (int i = 0; i < n && is_good; i++) {
        size_t len;
        const char *frame = server.StringPtrLen(data[i], &len);
        /* The load has ended with the last frame, which nothing may follow. */
        is_good = load->name && take(ctx, name, load, kind, frame, len, error);
    }
    return is_good;
}

static int load_frames_of(struct server_ctx *ctx, struct server_string *name, unsigned kind,
                          bool is_first, struct server_string **data, int n)
{
    enum error error;
    return take_frames(ctx, name, kind, is_first, data, n, &error)
               ? server.ReplyWithSimpleString(ctx, "OK")
               : reply_error(ctx, error);
}

int load_unseen(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    if (argc < 4) {
        return server.WrongArity(ctx);
    }
    const bool is_first = parse_is(argv[2], "FIRST");
    if (!is_first && !parse_is(argv[2], "NEXT")) {
        return reply_error(ctx, ERROR_SYNTAX);
    }
    return load_frames_of(ctx, argv[1], 0, is_first, argv + 3, argc - 3);
}

/* The position that comes with a frame is the one behind it; that of the settings is 1. */
static int loadchunk(struct server_ctx *ctx, struct server_string **argv, int argc, enum kind kind,
                     enum error position_error)
{
    long long position;
    struct value *value;
    if (argc != 4) {
        return server.WrongArity(ctx);
    }
    if (!parse_number(argv[2], &position)) {
        return reply_error(ctx, position_error);
    }
    if (position == 1 && key_read(ctx, argv[1], kind, &value) != MISSING) {
        return reply_error(ctx, ERROR_EXISTS);
    }
    return load_frames_of(ctx, argv[1], kind, position == 1, argv + 3, 1);
}

int load_bloom_loadchunk(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return loadchunk(ctx, argv, argc, KIND_BLOOM, ERROR_LOAD_POSITION);
}

int load_cuckoo_loadchunk(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return loadchunk(ctx, argv, argc, KIND_CUCKOO, ERROR_CF_POSITION);
}

/* All frames in one string, each behind its length in 4 bytes. */
int load_bloom_load(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct load load = {.sends_whole = true};
    size_t len;
    enum error error = ERROR_DATA;
    bool is_complete = false;
    if (argc != 3) {
        return server.WrongArity(ctx);
    }
    const uint8_t *p = (const uint8_t *)server.StringPtrLen(argv[2], &len);
    loader_init(&load.loader);
    bool is_good = true;
    while (is_good && !is_complete) {
        const size_t frame_len = len >= LENGTH_BYTES ? (size_t)get_le(p, LENGTH_BYTES) : SIZE_MAX;
        if (frame_len > len - LENGTH_BYTES || len < LENGTH_BYTES) {
            is_good = false;
            break;
        }
        p += LENGTH_BYTES;
        len -= LENGTH_BYTES + frame_len;
        is_complete = frame_len > 0 && p[0] == 'Z';
        is_good = (!is_complete || len == 0) &&
                  take(ctx, argv[1], &load, KIND_BLOOM, (const char *)p, frame_len, &error);
        p += frame_len;
    }
    loader_release(&load.loader);
    return is_good ? server.ReplyWithSimpleString(ctx, "OK") : reply_error(ctx, error);
}

/* ---- out ---- */

/* Behind the last frame the position is SCAN_END, whose answer ends the dump. */
static int scandump(struct server_ctx *ctx, struct server_string **argv, int argc, enum kind kind,
                    enum error position_error)
{
    static const long long scan_end = INT64_MAX;
    uint8_t buf[DUMP_FRAME_MAX];
    struct value *value;
    long long number;
    if (argc != 3) {
        return server.WrongArity(ctx);
    }
    const enum found found = key_read(ctx, argv[1], kind, &value);
    if (found != FOUND) {
        return reply_error(ctx, found == MISSING ? ERROR_NOT_FOUND : ERROR_WRONG_TYPE);
    }
    if (!parse_number(argv[2], &number) || number < 0) {
        return reply_error(ctx, position_error);
    }
    int64_t position = number;
    const size_t len = number == scan_end ? 0 : dump_frame(value, &position, buf);
    const long long next = position == DUMP_END ? scan_end : position;
    (void)server.ReplyWithArray(ctx, 2);
    (void)server.ReplyWithLongLong(ctx, len ? next : 0);
    return server.ReplyWithStringBuffer(ctx, (const char *)buf, len);
}

int load_bloom_scandump(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return scandump(ctx, argv, argc, KIND_BLOOM, ERROR_POSITION);
}

int load_cuckoo_scandump(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return scandump(ctx, argv, argc, KIND_CUCKOO, ERROR_CF_POSITION);
}
