/* SPDX-License-Identifier: MIT */
#include "server/errors.h"

#include "server/config.h"
#include "server/server.h"

static const char *const sentences[][2] = {
#define ERRORS_TEXT(name, redisbloom, valkey) {redisbloom, valkey},
    ERRORS(ERRORS_TEXT)
#undef ERRORS_TEXT
};

int reply_error(struct server_ctx *ctx, enum error error)
{
    return server.ReplyWithError(ctx, sentences[error][config.dialect]);
}
