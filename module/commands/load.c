/* SPDX-License-Identifier: MIT
 *
 * Values that come in by commands, frame by frame: BF.LOADCHUNK, CF.LOADCHUNK, UNSEEN.LOADCHUNK,
 * BF.LOAD, and, for replicas and the AOF, with several frames in a command,
 *
 *     UNSEEN.LOAD key FIRST|NEXT frame...
 *     UNSEEN.LOAD key DROP
 *
 * A value is put together aside (keys/loads.h), and its key appears when the last frame has come.
 * DROP forgets the frames that have come. */
#include "commands/handlers.h"

#include "commands/load_steps.h"
#include "keys/frames.h"
#include "keys/keys.h"
#include "server/parse.h"

/* Ends a load with its last frame. */
static int finish(struct server_ctx *ctx, struct server_string *key, struct load *load,
                  const char *frame, size_t len)
{
    if (load->sends_whole && load->family != 0) {
        return load_run_steps(ctx, load, key, value_memory(load->value));
    }
    struct value *value = load->value;
    if (!load_show(ctx, key, load)) {
        load_drop(ctx, load);
        return reply_error(ctx, ERROR_EXISTS);
    }
    if (!load->sends_whole) {
        (void)server.Replicate(ctx, "UNSEEN.LOAD", "scb", key, load->nframes ? "NEXT" : "FIRST",
                               frame, len);
    } else if (server.GetContextFlags(ctx) & (SERVER_IS_MASTER | SERVER_HAS_AOF)) {
        frames_replicate(ctx, key, value);
    }
    load_announce(ctx, key);
    load_forget(load);
    return server.ReplyWithSimpleString(ctx, "OK");
}

/* Takes n frames of a load. */
static int load_command(struct server_ctx *ctx, struct server_string *key, unsigned family,
                        bool is_first, struct server_string **data, int n)
{
    size_t len;
    const char *name = server.StringPtrLen(key, &len);
    struct load *load =
        is_first ? loads_begin(ctx, key, family) : loads_find(server.GetSelectedDb(ctx), name, len);
    if (!load) {
        return reply_error(ctx, is_first ? ERROR_NO_MEMORY_CREATE : ERROR_DATA);
    }
    if (load->family != family) {
        return reply_error(ctx, ERROR_MIXED);
    }
    for (int i = 0; i < n; i++) {
        const char *frame = server.StringPtrLen(data[i], &len);
        /* Nothing may follow the last frame. */
        const enum error error = load->value ? ERROR_DATA : load_take(load, frame, len);
        if (error != ERROR_NONE) {
            load_drop(ctx, load);
            return reply_error(ctx, error);
        }
        if (load->value && i == n - 1) {
            return finish(ctx, key, load, frame, len);
        }
        if (family == 0 && !load_keep(load, frame, len)) {
            load_drop(ctx, load);
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
        loads_replace(ctx, server.GetSelectedDb(ctx), name, len);
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

/* A frame comes with the position behind it. The settings come with position 1. */
static int loadchunk(struct server_ctx *ctx, struct server_string **argv, int argc,
                     enum family family, enum error position_error)
{
    long long position;
    struct value *value;
    if (argc != 4) {
        return server.WrongArity(ctx);
    }
    if (!parse_number(argv[2], &position)) {
        return reply_error(ctx, position_error);
    }
    if (position == 1 && key_read(ctx, argv[1], family, &value) != MISSING) {
        return reply_error(ctx, ERROR_EXISTS);
    }
    return load_command(ctx, argv[1], family, position == 1, argv + 3, 1);
}

int load_bloom_loadchunk(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return loadchunk(ctx, argv, argc, FAMILY_BLOOM, ERROR_LOAD_POSITION);
}

int load_cuckoo_loadchunk(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return loadchunk(ctx, argv, argc, FAMILY_CUCKOO, ERROR_CF_POSITION);
}

int load_urls_loadchunk(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return loadchunk(ctx, argv, argc, FAMILY_URLS, ERROR_LOAD_POSITION);
}

int load_bloom_load(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    size_t len;
    struct value *value;
    if (argc != 3) {
        return server.WrongArity(ctx);
    }
    if (key_read(ctx, argv[1], FAMILY_BLOOM, &value) != MISSING) {
        return reply_error(ctx, ERROR_EXISTS);
    }
    (void)server.StringPtrLen(argv[2], &len);
    const bool waits = !(server.GetContextFlags(ctx) & SERVER_DENIES_BLOCKING);
    if (waits && len > LOAD_STEP_BYTES && !loads_may_wait(len)) {
        return reply_error(ctx, ERROR_LOADS);
    }
    struct load *load = loads_begin(ctx, argv[1], FAMILY_BLOOM);
    if (!load) {
        return reply_error(ctx, ERROR_NO_MEMORY_CREATE);
    }
    server.RetainString(NULL, argv[2]);
    load->data = argv[2];
    return load_run_steps(ctx, load, argv[1], len);
}
