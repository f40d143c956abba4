/* SPDX-License-Identifier: MIT
 *
 * In an RDB file a value is a number, the frames of dump.h, each a string, and an empty string. The
 * number is 1 before the first value of a file, and then comes what the module has beside its
 * values; else 0. The data that a module may save beside all keys are not used: Redis 7.0 writes
 * them even if there are none, and a server without the module refuses a file that has them.
 *
 * The server's checksum of a file or payload protects from accidents only: a client can compute
 * it. */
#include "keys/type.h"

#include <stdatomic.h>
#include <string.h>

#include "keys/frames.h"
#include "keys/load_file.h"
#include "server/config.h"
#include "value/dump.h"

enum {
    ENCODING = 2,
    LINES_MAX = 10 /* of the log for refused payloads, in a second */
};

/* 9 characters of the 64 that names may have */
static const char type_name[] = "unseenset";

static struct type_refusals refusals;
static _Atomic uint64_t nmoved;

struct type_totals type_totals(void)
{
    return (struct type_totals){value_total(), memory_total(), refusals, nmoved};
}

void type_note_refusal(enum unseen_status status)
{
    refusals.nother_version += status == UNSEEN_ERR_VERSION;
    refusals.nwithout_memory += status == UNSEEN_ERR_NOMEM;
    refusals.ndamaged += status != UNSEEN_ERR_VERSION && status != UNSEEN_ERR_NOMEM;
}

/* ---- beside the values: the secret, so that keys created after a restart can be merged, and
 * unfinished loads ---- */

static bool is_first_of_file; /* the next value that is saved */

/* The event comes before each RDB file, also in a child that writes one, and not before a DUMP. */
static void hear_of_saves(struct server_ctx *ctx, struct server_event event, uint64_t subevent,
                          void *data)
{
    (void)ctx;
    (void)event;
    (void)data;
    is_first_of_file =
        subevent != SERVER_PERSISTENCE_ENDED && subevent != SERVER_PERSISTENCE_FAILED;
}

static void save_beside(struct server_io *io)
{
    server.SaveUnsigned(io, is_first_of_file);
    if (is_first_of_file) {
        is_first_of_file = false;
        server.SaveStringBuffer(io, (const char *)config.seed, SEED_LEN);
        load_file_save(io);
    }
}

/* RESTORE, which any client may send, brings no secret. */
static bool load_beside(struct server_io *io)
{
    size_t len;
    const uint64_t has_more = server.LoadUnsigned(io);
    if (server.IsIOError(io) || has_more == 0) {
        return !server.IsIOError(io);
    }
    if (has_more != 1 || !(server.GetContextFlags(NULL) & SERVER_IS_LOADING)) {
        return false;
    }
    char *seed = server.LoadStringBuffer(io, &len);
    const bool is_good = !server.IsIOError(io) && seed && len == SEED_LEN;
    if (is_good && !config.has_seed_file) {
        memcpy(config.seed, seed, SEED_LEN);
    }
    server.Free(seed);
    return is_good && load_file_load(io);
}

/* ---- RDB ---- */

static void rdb_save(struct server_io *io, void *value)
{
    uint8_t buf[DUMP_FRAME_MAX];
    save_beside(io);
    for (int64_t position = DUMP_START; position != DUMP_END;) {
        const size_t len = dump_frame(value, &position, buf);
        server.SaveStringBuffer(io, (const char *)buf, len);
    }
    server.SaveStringBuffer(io, "", 0);
}

/* A client may send refused payloads without end. */
static bool may_log(void)
{
    static int64_t second;
    static unsigned nlines;
    const int64_t now = server_steady() / 1000;
    nlines = now == second ? nlines + 1 : 1;
    second = now;
    return nlines <= LINES_MAX;
}

/* Takes one string of the stream. Returns false at the end of the value, or if it cannot be
 * read. */
static bool load_frame(struct server_io *io, struct loader *loader, enum unseen_status *status)
{
    size_t len;
    char *frame = server.LoadStringBuffer(io, &len);
    if (server.IsIOError(io) || !frame) {
        server.Free(frame);
        *status = UNSEEN_ERR_CORRUPT;
        return false;
    }
    const bool is_end = len == 0;
    if (!is_end) {
        *status = len <= DUMP_FRAME_MAX ? loader_take(loader, frame, len) : UNSEEN_ERR_CORRUPT;
    }
    server.Free(frame);
    return !is_end && *status == UNSEEN_OK;
}

/* The clock of a set with a window does not go back: if the machine on which it was kept was ahead,
 * its keys stay until the time of day has come to theirs, and by the window more. */
static void report_ahead(struct server_io *io, const struct value *value)
{
    if (value_recipe(value)->settings.window == 0) {
        return;
    }
    const struct unseen_set_stats stats = value_stats(value);
    const uint64_t now = (uint64_t)server.Milliseconds();
    if (stats.oldest > now + stats.window) {
        server.LogIOError(io, "warning",
                          "the clock of a set is ahead of the time of day: until %llu s from now "
                          "it forgets nothing",
                          (unsigned long long)((stats.oldest + stats.window - now) / 1000));
    }
}

static void *rdb_load(struct server_io *io, int encoding)
{
    struct loader loader;
    enum unseen_status status = encoding == ENCODING ? UNSEEN_OK : UNSEEN_ERR_VERSION;
    struct value *value = NULL;
    loader_init(&loader);
    if (status == UNSEEN_OK && !load_beside(io)) {
        status = UNSEEN_ERR_CORRUPT;
    }
    while (status == UNSEEN_OK && load_frame(io, &loader, &status)) {
    }
    if (status == UNSEEN_OK && loader.is_complete) {
        value = loader_value(&loader);
        report_ahead(io, value);
    } else {
        type_note_refusal(status);
        if (may_log()) {
            server.LogIOError(io, "warning", "a set is refused: %s",
                              status == UNSEEN_OK ? "it is not complete"
                                                  : unseen_status_string(status));
        }
    }
    loader_release(&loader);
    return value;
}

/* ---- AOF ---- */

static void aof_rewrite(struct server_io *io, struct server_string *key, void *value)
{
    struct server_string *frames[FRAMES_MAX];
    for (int64_t position = DUMP_START; position != DUMP_END;) {
        const char *which = position == DUMP_START ? "FIRST" : "NEXT";
        const size_t n = frames_next(value, &position, frames, FRAMES_MAX);
        server.EmitAOF(io, "UNSEEN.LOAD", "scv", key, which, frames, n);
        frames_free(frames, n);
    }
}

/* ---- the rest ---- */

static size_t mem_usage(const void *value)
{
    return (size_t)value_memory(value);
}

static void digest(struct server_digest *digest, void *value)
{
    const struct value *v = value;
    uint8_t settings[SETTINGS_MAX];
    const size_t len = settings_encode(&value_recipe(v)->settings, settings);
    server.DigestAddStringBuffer(digest, (const char *)settings, len);
    server.DigestAddLongLong(digest, (long long)value_nadded(v));
    server.DigestAddLongLong(digest, (long long)value_nremoved(v));
    server.DigestAddLongLong(digest, (long long)value_digest(v));
    server.DigestEndSequence(digest);
}

static void free_value(void *value)
{
    value_free(value);
}

static size_t free_effort(struct server_string *key, const void *value)
{
    (void)key;
    return value_effort(value);
}

static void *copy(struct server_string *from, struct server_string *to, const void *value)
{
    struct value *copied;
    (void)from;
    (void)to;
    return dump_copy(&copied, value) == UNSEEN_OK ? copied : NULL;
}

/* A server moves only what its allocator has in slabs, up to 14 KiB: of ours, the small sets. */
static int defrag(struct server_defrag_ctx *ctx, struct server_string *key, void **value)
{
    (void)key;
    struct value *v = *value;
    void **block = config.keeps_place ? NULL : value_block(&v);
    void *moved = block ? server.DefragAlloc(ctx, *block) : NULL;
    if (moved) {
        *block = moved;
        *value = v;
        nmoved++;
    }
    return 0;
}

struct server_type *type_create(struct server_ctx *ctx)
{
    static struct server_type_methods methods = {
        .version = SERVER_TYPE_METHODS_VERSION,
        .rdb_load = rdb_load,
        .rdb_save = rdb_save,
        .aof_rewrite = aof_rewrite,
        .mem_usage = mem_usage,
        .digest = digest,
        .free = free_value,
        .free_effort = free_effort,
        .copy = copy,
        .defrag = defrag,
    };
    const struct server_event saves = {SERVER_EVENT_PERSISTENCE, SERVER_EVENT_VERSION};
    if (server.SubscribeToServerEvent(ctx, saves, hear_of_saves) != SERVER_OK) {
        return NULL;
    }
    return server.CreateDataType(ctx, type_name, ENCODING, &methods);
}
