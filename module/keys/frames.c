/* SPDX-License-Identifier: MIT */
#include "keys/frames.h"

#include "value/dump.h"

size_t frames_next(const struct value *value, int64_t *position, struct server_string **frames,
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

void frames_free(struct server_string **frames, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        server.FreeString(NULL, frames[i]);
    }
}

void frames_replicate(struct server_ctx *ctx, struct server_string *name, const struct value *value)
{
    struct server_string *frames[FRAMES_MAX];
    for (int64_t position = DUMP_START; position != DUMP_END;) {
        const char *which = position == DUMP_START ? "FIRST" : "NEXT";
        const size_t n = frames_next(value, &position, frames, FRAMES_MAX);
        (void)server.Replicate(ctx, "UNSEEN.LOAD", "scv", name, which, frames, n);
        frames_free(frames, n);
    }
}
