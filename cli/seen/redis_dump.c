/* SPDX-License-Identifier: MIT */
#include "seen/redis_dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "print/message.h"
#include "seen/redis_link.h"

static bool report(const struct redis_link *l, const struct redisReply *reply)
{
    if (redis_link_is_error(reply, "ERR unknown command")) {
        message_error("the server at %s has no BF.SCANDUMP, so it is not RedisBloom", l->shown);
        message_hint("name a server with RedisBloom; the filters of valkey-bloom cannot be read");
        return false;
    }
    if (redis_link_is_error(reply, "ERR not found")) {
        message_error("the server at %s has no such filter", l->shown);
        message_hint("redis-cli SCAN 0 TYPE MBbloom-- lists the filters of RedisBloom");
        return false;
    }
    if (redis_link_is_error(reply, "WRONGTYPE")) {
        message_error("the key of the server at %s is no Bloom filter", l->shown);
        message_hint("filters of BF.* can be read; add items of a cuckoo filter (CF.*, its TYPE is "
                     "MBbloomCF) to a new filter");
        return false;
    }
    if (reply->type == REDIS_REPLY_ERROR) {
        return redis_link_report(l, reply);
    }
    message_error("the server at %s does not answer as RedisBloom does", l->shown);
    return false;
}

/* Takes an answer, [next position, piece]. The last has position 0, and no piece. */
static bool take_answer(const struct redis_link *l, const struct redisReply *reply, long long *at,
                        redis_dump_take *take, void *context)
{
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
        reply->element[0]->type != REDIS_REPLY_INTEGER) {
        return report(l, reply);
    }
    const long long next = reply->element[0]->integer;
    const struct redisReply *piece = reply->element[1];
    const bool has_piece = piece->type == REDIS_REPLY_STRING && piece->len > 0;
    if (next == 0 && !has_piece) {
        *at = 0;
        return true;
    }
    if (next <= *at || !has_piece) {
        return report(l, reply);
    }
    *at = next;
    return take(context, piece->str, (size_t)piece->len);
}

static bool read_pieces(struct redis_link *l, redis_dump_take *take, void *context)
{
    long long at = 0;
    size_t node = 0;
    bool done = true;
    do {
        char position[24];
        snprintf(position, sizeof(position), "%lld", at);
        const char *argv[] = {"BF.SCANDUMP", l->url.key, position};
        size_t lens[] = {strlen(argv[0]), strlen(argv[1]), strlen(argv[2])};
        struct redis_command command = {.argv = argv, .lens = lens, .argc = 3, .node = &node};
        done = redis_link_ask(l, &command, 1) && take_answer(l, command.reply, &at, take, context);
        redis_link_release(&command, 1);
    } while (done && at > 0);
    return done;
}

bool redis_dump(const char *address, const char *password, redis_dump_take *take, void *context)
{
    struct redis_link *l = calloc(1, sizeof(*l));
    if (!l) {
        return message_no_memory();
    }
    bool done = redis_link_open(l, address, password, 0, NULL);
    if (done && !l->url.key[0]) {
        message_error("%s names a server and no key", address);
        done = false;
    }
    done = done && read_pieces(l, take, context);
    redis_link_close(l);
    free(l);
    return done;
}
