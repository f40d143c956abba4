/* SPDX-License-Identifier: MIT
 *
 * BF.SCANDUMP, CF.SCANDUMP and UNSEEN.SCANDUMP: a value goes out frame by frame. */
#include "commands/handlers.h"

#include "keys/keys.h"
#include "server/errors.h"
#include "server/parse.h"
#include "value/dump.h"

/* Behind the last frame the position is scan_end, whose answer ends the dump. A number in
 * JavaScript and Lua is whole up to 2^53 only. node-redis adds the code of the last digit before it
 * takes that of '0' away, so scan_end is a little less. The others are below 2^52 + 2^51. */
static int scandump(struct server_ctx *ctx, struct server_string **argv, int argc,
                    enum family family, enum error position_error)
{
    static const long long scan_end = 9000000000000000;
    uint8_t buf[DUMP_FRAME_MAX];
    struct value *value;
    long long number;
    if (argc != 3) {
        return server.WrongArity(ctx);
    }
    const enum found found = key_read(ctx, argv[1], family, &value);
    if (found != FOUND) {
        return reply_error(ctx, key_error(found));
    }
    if (value_recipe(value)->settings.window > 0) {
        return reply_error(ctx, ERROR_WINDOW_DUMP);
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

int scandump_bloom(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return scandump(ctx, argv, argc, FAMILY_BLOOM, ERROR_POSITION);
}

int scandump_cuckoo(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return scandump(ctx, argv, argc, FAMILY_CUCKOO, ERROR_CF_POSITION);
}

int scandump_urls(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return scandump(ctx, argv, argc, FAMILY_URLS, ERROR_LOAD_POSITION);
}
