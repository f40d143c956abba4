/* SPDX-License-Identifier: MIT
 *
 * A client may go away in the middle, so there is room for LOADS_MAX unfinished values; one more
 * takes the place of the load that has been idle for longest. Loads in steps have no place among
 * these. At most LOADS_MAX of BF.LOAD, with WAITING_BYTES_MAX of data, wait at once; one more
 * BF.LOAD is refused. A load whose client has gone still counts.
 *
 * The module sends each frame to replicas and the AOF at once, and the last frame costs what the
 * others cost. But a file or a full sync does not hold a client's unfinished load. If the server
 * has forked a child to write one meanwhile, or a replica came or went, the module sends the whole
 * value at the end.
 *
 * A replica gets only what comes behind its own file, or behind the full sync that it got from
 * another replica. So it keeps the frames of unfinished loads, and its files have them.
 *
 * That is done in steps (steps.h), as is all of BF.LOAD. If a child is forked or a replica comes
 * between two steps, the sending begins again with the first frame. The key appears when the last
 * frame is sent. */
#include "load.h"

#include <limits.h>
#include <string.h>

#include "bytes.h"
#include "dump.h"
#include "errors.h"
#include "keys.h"
#include "module.h"
#include "parse.h"
#include "steps.h"

enum {
    LOADS_MAX = 16,
    LENGTH_BYTES = 4,
    STEP_FRAMES = 4, /* in one step */
    STEP_BYTES = STEP_FRAMES * DUMP_FRAME_MAX,
    WAITING_BYTES_MAX = 128 << 20 /* for all loads in steps together; a single one may be larger */
};

/* A frame that a file will need. */
struct kept {
    struct kept *next;
    size_t len;
    uint8_t bytes[];
};

struct load {
    struct steps steps; /* of the client that waits for the end */
    struct load *next;
    struct loader loader;
    char *name;
    size_t name_len;
    int db;
    unsigned kind; /* of the value; 0: any */
    uint64_t last_used;
    uint64_t nframes; /* that were sent */
    bool sends_whole; /* at the end, not each frame */

    /* Of a load that a primary sends: the frames so far. */
    struct kept *kept;
    struct kept *last_kept;

    /* Of a load that goes in steps. */
    bool is_in_steps;
    enum error stopped; /* why the next step ends it; ERROR_NONE: it goes on */
    struct server_string *key;
    struct server_string *data; /* the frames of BF.LOAD until all are taken; NULL: all are */
    size_t nbytes;              /* of data, or of a value that needs none */
    size_t at;                  /* bytes of data that were taken */
    struct value *value;        /* complete, and sent up to: */
    int64_t position;
};

static struct load *loads; /* in the order of their beginnings */
static uint64_t now;

static void forget(struct load *load)
{
    struct load **link = &loads;
    while (*link != load) {
        link = &(*link)->next;
    }
    *link = load->next;
    loader_release(&load->loader);
    value_free(load->value);
    if (load->key) {
        server.FreeString(NULL, load->key);
    }
    if (load->data) {
        server.FreeString(NULL, load->data);
    }
    while (load->kept) {
        struct kept *kept = load->kept;
        load->kept = kept->next;
        server.Free(kept);
    }
    server.Free(load->name);
    server.Free(load);
}

/* Tells replicas that no more frames of this load come. They would keep its first frames, and might
 * forget another load for it that has more to come. The load may be of another database than the
 * one of this client, which stays in its own. */
static void send_drop(struct server_ctx *ctx, const struct load *load)
{
    const int db = server.GetSelectedDb(ctx);
    if (load->nframes > 0 && server.SelectDb(ctx, load->db) == SERVER_OK) { /* not of a bad file */
        (void)server.Replicate(ctx, "UNSEEN.LOAD", "bc", load->name, load->name_len, "DROP");
        (void)server.SelectDb(ctx, db);
    }
}

static void drop(struct server_ctx *ctx, struct load *load)
{
    send_drop(ctx, load);
    forget(load);
}

static bool is_of(const struct load *load, int db, const char *name, size_t len)
{
    return load->db == db && load->name_len == len && memcmp(load->name, name, len) == 0;
}

/* The load that takes the next frame of a key. */
static struct load *find(int db, const char *name, size_t len)
{
    for (struct load *load = loads; load; load = load->next) {
        if (!load->is_in_steps && is_of(load, db, name, len)) {
            load->last_used = ++now;
            return load;
        }
    }
    return NULL;
}

/* Ends the older load of a key. If that load goes in steps, its next step ends it. */
static void replace(struct server_ctx *ctx, int db, const char *name, size_t len)
{
    for (struct load *next, *load = loads; load; load = next) {
        next = load->next;
        if (is_of(load, db, name, len)) {
            if (load->is_in_steps) {
                send_drop(ctx, load);
                load->stopped = ERROR_REPLACED;
            } else {
                drop(ctx, load);
            }
        }
    }
}

static void make_room(struct server_ctx *ctx, size_t max)
{
    struct load *oldest = NULL;
    size_t n = 0;
    for (struct load *load = loads; load; load = load->next) {
        if (!load->is_in_steps) {
            oldest = oldest && oldest->last_used < load->last_used ? oldest : load;
            n++;
        }
    }
    if (n >= max) {
        drop(ctx, oldest);
    }
}

/* Whether one more load of len bytes may go in steps. */
static bool may_wait(size_t len)
{
    uint64_t nbytes = len;
    size_t n = 0;
    for (const struct load *load = loads; load; load = load->next) {
        if (load->is_in_steps) {
            nbytes += load->nbytes;
            n++;
        }
    }
    return n == 0 || (n < LOADS_MAX && nbytes <= WAITING_BYTES_MAX);
}

static const struct steps_work load_work;

static struct load *append(int db, const char *name, size_t len, unsigned kind)
{
    struct load **end = &loads;
    struct load *load = server.TryAlloc(sizeof(*load));
    char *copy = server.TryAlloc(len + 1);
    if (!load || !copy) {
        server.Free(load);
        server.Free(copy);
        return NULL;
    }
    memcpy(copy, name, len);
    *load = (struct load){.name = copy,
                          .name_len = len,
                          .db = db,
                          .kind = kind,
                          .last_used = ++now,
                          .stopped = ERROR_NONE};
    steps_init(&load->steps, &load_work);
    loader_init(&load->loader);
    while (*end) {
        end = &(*end)->next;
    }
    *end = load;
    return load;
}

/* A replica has room for as many values again: those that its primary sends whole. */
static struct load *begin(struct server_ctx *ctx, struct server_string *key, unsigned kind)
{
    size_t len;
    const char *name = server.StringPtrLen(key, &len);
    const int db = server.GetSelectedDb(ctx);
    replace(ctx, db, name, len);
    make_room(ctx, kind ? LOADS_MAX : 2 * LOADS_MAX);
    return append(db, name, len, kind);
}

/* ---- out ---- */

size_t load_frames(const struct value *value, int64_t *position, struct server_string **frames,
                   size_t max)
{
    uint8_t buf[DUMP_FRAME_MAX];
    size_t n = 0;
    while (n < max && *position != DUMP_END) {
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
        const size_t n = load_frames(value, &position, frames, LOAD_FRAMES);
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
    for (struct load *load = loads; load; load = load->next) {
        load->sends_whole = true;
        load->position = DUMP_START;
    }
}

bool load_init(struct server_ctx *ctx)
{
    const struct server_event forked = {SERVER_EVENT_FORK, SERVER_EVENT_VERSION};
    const struct server_event replica = {SERVER_EVENT_REPLICA, SERVER_EVENT_VERSION};
    return server.SubscribeToServerEvent(ctx, forked, send_whole) == SERVER_OK &&
           server.SubscribeToServerEvent(ctx, replica, send_whole) == SERVER_OK;
}

/* Puts the complete value into its key. A replica replaces what it has there, and the key keeps its
 * time to live, as that of the primary did; a client does not. */
static bool show(struct server_ctx *ctx, struct server_string *name, struct load *load)
{
    struct server_key *key = server.OpenKey(ctx, name, SERVER_READ | SERVER_WRITE);
    const bool is_free = server.KeyType(key) == SERVER_KEY_EMPTY;
    const bool is_ours = load->kind == 0 && server.ModuleTypeGetType(key) == module.type;
    if (is_free) {
        key_put(key, load->value);
        load->value = NULL;
    } else if (is_ours) {
        void *old = NULL;
        (void)server.ModuleTypeReplaceValue(key, module.type, load->value, &old); /* is of it */
        load->value = old; /* goes with the load */
    }
    server.CloseKey(key);
    return is_free || is_ours;
}

static void announce(struct server_ctx *ctx, struct server_string *name)
{
    (void)server.SignalModifiedKey(ctx, name);
    (void)server.NotifyKeyspaceEvent(ctx, SERVER_NOTIFY_GENERIC, "unseen.load", name);
}

/* Takes a frame. */
static enum error take(struct load *load, const void *frame, size_t len)
{
    const enum unseen_status status = loader_take(&load->loader, frame, len);
    if (status == UNSEEN_ERR_NOMEM) {
        return ERROR_NO_MEMORY_CREATE;
    }
    const bool is_good =
        status == UNSEEN_OK &&
        (load->kind == 0 || value_plan(load->loader.value)->settings.kind == load->kind);
    if (is_good && load->loader.is_complete) {
        load->value = loader_value(&load->loader);
    }
    if (is_good) {
        return ERROR_NONE;
    }
    return status == UNSEEN_ERR_VERSION ? ERROR_DATA_VERSION : ERROR_DATA;
}

/* ---- files ---- */

static bool keep(struct load *load, const void *frame, size_t len)
{
    struct kept *kept = server.TryAlloc(sizeof(*kept) + len);
    if (!kept) {
        return false;
    }
    *kept = (struct kept){.len = len};
    memcpy(kept->bytes, frame, len);
    if (load->kept) {
        load->last_kept->next = kept;
    } else {
        load->kept = kept;
    }
    load->last_kept = kept;
    return true;
}

void load_save_unfinished(struct server_io *io)
{
    for (const struct load *load = loads; load; load = load->next) {
        if (load->kept) {
            server.SaveUnsigned(io, 1 + (uint64_t)load->db);
            server.SaveStringBuffer(io, load->name, load->name_len);
            for (const struct kept *kept = load->kept; kept; kept = kept->next) {
                server.SaveStringBuffer(io, (const char *)kept->bytes, kept->len);
            }
            server.SaveStringBuffer(io, "", 0);
        }
    }
    server.SaveUnsigned(io, 0);
}

static enum error take_kept(struct load *load, const char *frame, size_t len)
{
    const enum error error = take(load, frame, len);
    if (error != ERROR_NONE || load->value) {
        return error != ERROR_NONE ? error : ERROR_DATA; /* a complete value is not unfinished */
    }
    load->nframes++; /* replicas of this server have it */
    return keep(load, frame, len) ? ERROR_NONE : ERROR_NO_MEMORY_CREATE;
}

/* Reads the frames of a load up to the empty string behind them. Behind an error in *error the
 * load takes no more frames. Returns false if the stream cannot be read. */
static bool read_kept(struct server_io *io, struct load *load, enum error *error)
{
    for (bool is_end = false; !is_end;) {
        size_t len;
        char *frame = server.LoadStringBuffer(io, &len);
        if (server.IsIOError(io) || !frame) {
            server.Free(frame);
            return false;
        }
        is_end = len == 0;
        if (!is_end && *error == ERROR_NONE) {
            *error = take_kept(load, frame, len);
        }
        server.Free(frame);
    }
    return true;
}

/* Reads one load. A bad load is dropped: it has no key yet. A replica gets the value in spite of
 * that, because its primary sends a load whole if a replica came before the end. */
static bool load_one_unfinished(struct server_io *io, uint64_t db)
{
    size_t len;
    enum error error = db <= INT_MAX ? ERROR_NONE : ERROR_DATA;
    char *name = server.LoadStringBuffer(io, &len);
    bool is_good = !server.IsIOError(io) && name;
    struct load *load = is_good && error == ERROR_NONE ? append((int)db, name, len, 0) : NULL;
    server.Free(name);
    if (!load && error == ERROR_NONE) {
        return false;
    }
    is_good = is_good && read_kept(io, load, &error);
    if (is_good && error != ERROR_NONE && error != ERROR_NO_MEMORY_CREATE) {
        server.LogIOError(io, "warning", "an unfinished load is damaged, and is dropped");
    }
    if (load && (!is_good || error != ERROR_NONE)) {
        forget(load);
    }
    return is_good && error != ERROR_NO_MEMORY_CREATE;
}

/* Ends the loads of the data set that a file replaces. A timer and a client still have a load in
 * steps, so its next step ends it. */
static void end_all(void)
{
    for (struct load *next, *load = loads; load; load = next) {
        next = load->next;
        if (load->is_in_steps) {
            load->stopped = ERROR_NEW_DATA_SET;
        } else {
            forget(load);
        }
    }
}

bool load_load_unfinished(struct server_io *io)
{
    bool is_good = true;
    end_all();
    for (uint64_t n; is_good && (n = server.LoadUnsigned(io)) != 0 && !server.IsIOError(io);) {
        is_good = load_one_unfinished(io, n - 1);
    }
    return is_good && !server.IsIOError(io);
}

/* ---- steps ---- */

/* Takes some frames of BF.LOAD: each is behind its length in 4 bytes. */
static enum error take_data(struct load *load)
{
    size_t len;
    enum error error = ERROR_NONE;
    const uint8_t *p = (const uint8_t *)server.StringPtrLen(load->data, &len);
    for (size_t i = 0; i < STEP_FRAMES && !load->value && error == ERROR_NONE; i++) {
        const size_t left = len - load->at;
        const size_t frame_len =
            left < LENGTH_BYTES ? SIZE_MAX : (size_t)get_le(p + load->at, LENGTH_BYTES);
        if (left < LENGTH_BYTES || frame_len > left - LENGTH_BYTES) {
            return ERROR_DATA;
        }
        error = take(load, p + load->at + LENGTH_BYTES, frame_len);
        load->at += LENGTH_BYTES + frame_len;
    }
    if (load->value) {
        server.FreeString(NULL, load->data);
        load->data = NULL;
        error = load->at == len ? error : ERROR_DATA;
    }
    return error;
}

/* Sends some frames of the complete value. The key gets the value when the last frame is sent. A
 * key that somebody made meanwhile stays as it is, and a key whose slot has moved is not made. */
static enum error send(struct server_ctx *ctx, struct load *load)
{
    struct server_string *frames[STEP_FRAMES];
    enum error error = ERROR_NONE;
    const char *which = load->position == DUMP_START ? "FIRST" : "NEXT";
    const size_t n = load_frames(load->value, &load->position, frames, STEP_FRAMES);
    if (load->position == DUMP_END && load->steps.client && !key_is_ours(ctx, load->key)) {
        error = ERROR_MOVED;
    } else if (load->position == DUMP_END && !show(ctx, load->key, load)) {
        error = ERROR_EXISTS;
    }
    if (error == ERROR_NONE) {
        (void)server.Replicate(ctx, "UNSEEN.LOAD", "scv", load->key, which, frames, n);
        load->nframes += n;
    }
    load_free_frames(frames, n);
    return error;
}

/* Loads whose clients wait take their steps one after the other, so that many do not add up. */
static bool is_next(const struct load *load)
{
    const struct load *first = loads;
    while (!first->is_in_steps) {
        first = first->next;
    }
    return first == load;
}

static bool go_on(struct server_ctx *ctx, struct steps *steps)
{
    struct load *load = (struct load *)steps;
    if (load->stopped != ERROR_NONE) {
        steps->error = load->stopped;
        return false;
    }
    if (steps->client && !is_next(load)) {
        return true;
    }
    steps->error = load->data ? take_data(load) : send(ctx, load);
    return steps->error == ERROR_NONE && load->position != DUMP_END;
}

static void end(struct server_ctx *ctx, struct steps *steps)
{
    struct load *load = (struct load *)steps;
    if (steps->error == ERROR_NONE) {
        announce(ctx, load->key);
    } else if (steps->error == ERROR_EXISTS || steps->error == ERROR_MOVED ||
               steps->error == ERROR_NEW_DATA_SET) {
        send_drop(ctx, load);
    }
}

static void free_load(struct steps *steps)
{
    forget((struct load *)steps);
}

static const struct steps_work load_work = {go_on, end, free_load};

/* All at once if nbytes are few. */
static int run_steps(struct server_ctx *ctx, struct load *load, struct server_string *key,
                     size_t nbytes)
{
    server.RetainString(NULL, key);
    load->key = key;
    load->is_in_steps = true;
    load->nbytes = nbytes;
    return steps_run(ctx, &load->steps, nbytes <= STEP_BYTES);
}

/* ---- commands ---- */

/* Ends a load with its last frame. */
static int finish(struct server_ctx *ctx, struct server_string *key, struct load *load,
                  const char *frame, size_t len)
{
    if (load->sends_whole && load->kind != 0) {
        return run_steps(ctx, load, key, value_memory(load->value));
    }
    struct value *value = load->value;
    if (!show(ctx, key, load)) {
        drop(ctx, load);
        return reply_error(ctx, ERROR_EXISTS);
    }
    if (!load->sends_whole) {
        (void)server.Replicate(ctx, "UNSEEN.LOAD", "scb", key, load->nframes ? "NEXT" : "FIRST",
                               frame, len);
    } else if (server.GetContextFlags(ctx) & (SERVER_IS_MASTER | SERVER_HAS_AOF)) {
        load_replicate(ctx, key, value);
    }
    announce(ctx, key);
    forget(load);
    return server.ReplyWithSimpleString(ctx, "OK");
}

/* Takes n frames of a load. */
static int load_command(struct server_ctx *ctx, struct server_string *key, unsigned kind,
                        bool is_first, struct server_string **data, int n)
{
    size_t len;
    const char *name = server.StringPtrLen(key, &len);
    struct load *load =
        is_first ? begin(ctx, key, kind) : find(server.GetSelectedDb(ctx), name, len);
    if (!load) {
        return reply_error(ctx, is_first ? ERROR_NO_MEMORY_CREATE : ERROR_DATA);
    }
    if (load->kind != kind) {
        return reply_error(ctx, ERROR_MIXED);
    }
    for (int i = 0; i < n; i++) {
        const char *frame = server.StringPtrLen(data[i], &len);
        /* Nothing may follow the last frame. */
        const enum error error = load->value ? ERROR_DATA : take(load, frame, len);
        if (error != ERROR_NONE) {
            drop(ctx, load);
            return reply_error(ctx, error);
        }
        if (load->value && i == n - 1) {
            return finish(ctx, key, load, frame, len);
        }
        if (kind == 0 && !keep(load, frame, len)) {
            drop(ctx, load);
            return reply_error(ctx, ERROR_NO_MEMORY_CREATE);
        }
        if (!load->sends_whole) {
            (void)server.Replicate(ctx, "UNSEEN.LOAD", "scb", key, load->nframes ? "NEXT" : "FIRST",
                                   frame, len);
            load->nframes++;
        }
    }
    return server.ReplyWithSimpleString(ctx, "OK");
}

int load_unseen(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    if (argc == 3 && parse_is(argv[2], "DROP")) {
        size_t len;
        const char *name = server.StringPtrLen(argv[1], &len);
        replace(ctx, server.GetSelectedDb(ctx), name, len);
        return server.ReplyWithSimpleString(ctx, "OK");
    }
    if (argc < 4) {
        return server.WrongArity(ctx);
    }
    const bool is_first = parse_is(argv[2], "FIRST");
    if (!is_first && !parse_is(argv[2], "NEXT")) {
        return reply_error(ctx, ERROR_SYNTAX);
    }
    return load_command(ctx, argv[1], 0, is_first, argv + 3, argc - 3);
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
    return load_command(ctx, argv[1], kind, position == 1, argv + 3, 1);
}

int load_bloom_loadchunk(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return loadchunk(ctx, argv, argc, KIND_BLOOM, ERROR_LOAD_POSITION);
}

int load_cuckoo_loadchunk(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return loadchunk(ctx, argv, argc, KIND_CUCKOO, ERROR_CF_POSITION);
}

int load_bloom_load(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    size_t len;
    struct value *value;
    if (argc != 3) {
        return server.WrongArity(ctx);
    }
    if (key_read(ctx, argv[1], KIND_BLOOM, &value) != MISSING) {
        return reply_error(ctx, ERROR_EXISTS);
    }
    (void)server.StringPtrLen(argv[2], &len);
    const bool waits = !(server.GetContextFlags(ctx) & SERVER_DENIES_BLOCKING);
    if (waits && len > STEP_BYTES && !may_wait(len)) {
        return reply_error(ctx, ERROR_LOADS);
    }
    struct load *load = begin(ctx, argv[1], KIND_BLOOM);
    if (!load) {
        return reply_error(ctx, ERROR_NO_MEMORY_CREATE);
    }
    server.RetainString(NULL, argv[2]);
    load->data = argv[2];
    return run_steps(ctx, load, argv[1], len);
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
