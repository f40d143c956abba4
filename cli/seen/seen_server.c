/* SPDX-License-Identifier: MIT */
#include "seen/seen_server.h"

#include "redis_url.h"
#include "seen/token.h"

bool server_open(struct server *s, const struct seen_options *o)
{
    char secret[TOKEN_MAX + 2];
    const double wait = o->waits ? o->wait : 0;
    const char *file = o->token_file;
    *s = (struct server){.remote.fd = -1};
    if (redis_url_is(o->path)) {
        if (file && !token_read(file, 1, NULL, secret)) {
            return false;
        }
        s->redis = redis_open(o->path, file ? secret : o->password, wait);
        return s->redis != NULL;
    }
    return (!file || token_read(file, TOKEN_MIN,
                                "take the file that the server's --token-file names", secret)) &&
           remote_open(&s->remote, o->path, file ? secret : NULL, wait);
}

const char *server_profile(const struct server *s)
{
    return s->redis ? redis_profile(s->redis) : s->remote.profile;
}

bool server_put(struct server *s, const struct unseen_bytes *items, size_t n)
{
    return s->redis ? redis_put(s->redis, items, n) : remote_put(&s->remote, items, n);
}

bool server_ask(struct server *s, enum server_question question, uint8_t *verdicts)
{
    return s->redis ? redis_ask(s->redis, question, verdicts)
                    : remote_ask(&s->remote, question, verdicts);
}

void server_stats(struct server *s, struct unseen_set_stats *stats_out)
{
    if (s->redis) {
        struct redis_info info;
        if (redis_info(s->redis, &info)) {
            *stats_out = info.stats;
        }
    } else {
        remote_stats(&s->remote, stats_out);
    }
}

void server_close(struct server *s)
{
    if (s->redis) {
        redis_close(s->redis);
        s->redis = NULL;
    } else {
        remote_close(&s->remote);
    }
}
