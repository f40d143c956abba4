/* SPDX-License-Identifier: MIT
 *
 * UNSEEN.SHARD: which key of a cluster a URL belongs to, for clients that cannot compute it
 * themselves (unseen_shard). The command needs no key, so any node answers it.
 *
 *     UNSEEN.SHARD name [SHARDS n] [PROFILE profile] url...  ->  name:{tag} for each URL */
#include "commands/handlers.h"

#include <stdio.h>
#include <string.h>

#include <unseen.h>

#include "commands/items.h"
#include "server/config.h"
#include "server/errors.h"
#include "server/parse.h"

enum {
    SHORT_URL = 4096,
    TAG_MAX = 16 /* ":{", a number, "}" and a NUL */
};

/* The tags of the last number of shards that was asked for. */
static uint32_t tags[UNSEEN_SHARD_TAGS_MAX];
static uint32_t ntags;

struct sharding {
    uint32_t n;
    struct unseen_url *url;
    struct server_string **urls;
    size_t nurls;
};

static enum error take_profile(struct sharding *s, const char *name)
{
    const struct unseen_url_options options = {.size = sizeof(options), .profile = name};
    unseen_url_free(s->url);
    s->url = NULL;
    const enum unseen_status status = unseen_url_create(&s->url, &options, NULL);
    return status == UNSEEN_OK          ? ERROR_NONE
           : status == UNSEEN_ERR_NOMEM ? ERROR_NO_MEMORY
                                        : ERROR_PROFILE;
}

/* Options stand in front of the URLs. */
static enum error parse(struct sharding *s, struct server_string **argv, int argc)
{
    int i = 2;
    size_t name_len;
    const char *name = server.StringPtrLen(argv[1], &name_len);
    if (memchr(name, '{', name_len)) {
        return ERROR_SHARD_NAME;
    }
    for (; i + 2 < argc; i += 2) {
        size_t len;
        const char *text = server.StringPtrLen(argv[i + 1], &len);
        uint64_t n = 0;
        enum error error = ERROR_NONE;
        if (parse_is(argv[i], "SHARDS")) {
            error =
                parse_range(argv[i + 1], 1, UNSEEN_SHARD_TAGS_MAX, &n) ? ERROR_NONE : ERROR_SHARDS;
            s->n = (uint32_t)n;
        } else if (parse_is(argv[i], "PROFILE")) {
            error = strlen(text) == len ? take_profile(s, text) : ERROR_PROFILE;
        } else {
            break;
        }
        if (error != ERROR_NONE) {
            return error;
        }
    }
    s->urls = argv + i;
    s->nurls = (size_t)(argc - i);
    if (s->nurls > ITEMS_MAX) {
        return ERROR_TOO_MANY;
    }
    return s->url ? ERROR_NONE : take_profile(s, "crawl");
}

/* Finds the shard of a URL. Returns false without memory for a long URL. */
static bool find(const struct sharding *s, const struct server_string *url, uint32_t *shard_out)
{
    char shorts[SHORT_URL];
    size_t len;
    const char *text = server.StringPtrLen(url, &len);
    const size_t need = unseen_url_bound(len, 0);
    char *buf = need <= sizeof(shorts) ? shorts : server.TryAlloc(need);
    if (need == 0 || !buf) {
        return false;
    }
    struct unseen_canon canon;
    (void)unseen_url_canon(s->url, text, len, NULL, buf, need, &canon); /* buf is large enough */
    *shard_out = unseen_shard(canon.bytes.data, canon.bytes.len, s->n);
    if (buf != shorts) {
        server.Free(buf);
    }
    return true;
}

static void reply_key(struct server_ctx *ctx, const struct server_string *name, uint32_t tag)
{
    char end[TAG_MAX];
    size_t len;
    const char *text = server.StringPtrLen(name, &len);
    struct server_string *key = server.CreateString(NULL, text, len);
    const int n = snprintf(end, sizeof(end), ":{%u}", (unsigned)tag);
    (void)server.StringAppendBuffer(NULL, key, end, (size_t)n); /* fails for a shared string only */
    text = server.StringPtrLen(key, &len);
    (void)server.ReplyWithStringBuffer(ctx, text, len);
    server.FreeString(NULL, key);
}

static void reply_keys(struct server_ctx *ctx, const struct server_string *name,
                       const struct sharding *s)
{
    if (ntags != s->n) {
        (void)unseen_shard_tags(s->n, tags); /* s->n is in its range */
        ntags = s->n;
    }
    (void)server.ReplyWithArray(ctx, (long)s->nurls);
    for (size_t i = 0; i < s->nurls; i++) {
        uint32_t shard;
        if (find(s, s->urls[i], &shard)) {
            reply_key(ctx, name, tags[shard]);
        } else {
            (void)reply_error(ctx, ERROR_NO_MEMORY);
        }
    }
}

int shards_shard(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct sharding s = {.n = config.nshards};
    if (argc < 3) {
        return server.WrongArity(ctx);
    }
    const enum error error = parse(&s, argv, argc);
    if (error == ERROR_NONE) {
        reply_keys(ctx, argv[1], &s);
    } else {
        (void)reply_error(ctx, error);
    }
    unseen_url_free(s.url);
    return SERVER_OK;
}
