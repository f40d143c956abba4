/* SPDX-License-Identifier: MIT
 *
 * The set of a server as what a run asks. The server makes the keys, and what the run wants of the
 * set must fit the set that the server has. */
#include "seen/server.h"

#include <stdlib.h>
#include <string.h>

#include "lines/feed.h"
#include "print/message.h"
#include "print/typed.h"
#include "redis_url.h"
#include "seen/seen.h"
#include "seen/stores.h"
#include "seen/token.h"

/* ---- A server -------------------------------------------------------------------------------- */

bool server_open(struct server *s, const struct seen_options *o, enum server_question question)
{
    char secret[TOKEN_MAX + 2];
    const double wait = o->waits ? o->wait : 0;
    const char *file = o->token_file;
    *s = (struct server){.remote.fd = -1, .question = question};
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

void server_close(struct server *s)
{
    if (s->redis) {
        redis_close(s->redis);
        s->redis = NULL;
    } else {
        remote_close(&s->remote);
    }
}

/* The profile of the set; "": it has to be made, which only a server with our module allows. */
static const char *server_profile(const struct server *s)
{
    return s->redis ? redis_profile(s->redis) : s->remote.profile;
}

static bool server_put(struct server *s, const struct unseen_bytes *items, size_t n)
{
    return s->redis ? redis_put(s->redis, items, n) : remote_put(&s->remote, items, n);
}

static void server_stats(struct server *s, struct unseen_set_stats *stats)
{
    struct redis_info info;
    if (!s->redis) {
        remote_stats(&s->remote, stats);
    } else if (redis_info(s->redis, &info)) {
        *stats = info.stats;
    }
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* The command at hand without the options that are refused. */
static void hint_plain(void)
{
    message_hint("%s", typed_without(STORES_SETTINGS));
}

/* The settings of a store that is served are the server's. A server with our module can make a set,
 * of which the profile and the rate can be said. */
static bool check_options(const struct seen *m)
{
    const struct seen_options *o = m->o;
    const bool is_redis = redis_url_is(o->path);
    if (o->filter || (o->fpr > 0 && !is_redis) || o->capacity > 0 || o->seed.len || o->key_bits ||
        o->no_log || o->file_mode || o->like || o->window > 0 || o->has_line_times) {
        if (is_redis && o->window > 0) {
            char window[STORES_WINDOW_CAP];
            stores_window_text(o->window, window);
            message_error("a set at %s has the window that its key was made with", o->path);
            message_hint("redis-cli UNSEEN.RESERVE KEY WINDOW %s, then %s", window,
                         typed_without(STORES_SETTINGS));
            return false;
        }
        if (is_redis) {
            message_error("a set at %s has a profile and a rate, and no other settings", o->path);
        } else {
            message_error("%s is a server: its store has its settings already", o->path);
        }
        hint_plain();
        return false;
    }
    if (o->nexcludes > 0) {
        message_error("-x and a server cannot be asked in one run");
        message_hint("%s | unseen -s %s", typed_without("store"), typed_quoted(o->path));
        return false;
    }
    if (m->input->delimiter != '\n' && !is_redis) {
        message_error("a server takes lines that end in newline");
        message_hint("%s", typed_without("null"));
        return false;
    }
    return true;
}

/* The server makes lines canonical; this run does so only if it needs the canonical forms, too. The
 * profile that was asked for must be the server's. */
static bool use_profile(struct seen *m, const char *profile, enum unseen_cpu cpu)
{
    struct unseen_url *url = NULL;
    struct unseen_error error;
    const bool is_named = m->profile->name || m->profile->nrules > 0 || m->o->profile;
    if (is_named && !profile_create(&url, m->profile, m->o->profile, cpu)) {
        return false;
    }
    const bool differs = is_named && strcmp(unseen_url_id(url), profile) != 0;
    if (differs) {
        message_error("the store at %s has the profile %s, not %s", m->o->path, profile,
                      unseen_url_id(url));
        hint_plain();
    }
    unseen_url_free(url);
    if (differs || strcmp(profile, "none/1") == 0) {
        return !differs;
    }
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = profile, .cpu = cpu};
    if (unseen_url_create(&m->own_url, &options, &error) != UNSEEN_OK) {
        message_error("%s: %s", m->o->path, message_of(&error));
        return false;
    }
    m->url = m->wants_canons ? m->own_url : NULL;
    return true;
}

/* Makes the set that a server with our module does not have yet. */
static bool make_set(const struct seen *m, const struct server *server, enum unseen_cpu cpu)
{
    struct unseen_url *url = NULL;
    if (!m->asked.adds || !m->o->use->makes_store) {
        message_error("there is no set at %s yet", m->o->path);
        message_hint("to make it: unseen -s %s FILE", typed_quoted(m->o->path));
        return false;
    }
    const bool done = profile_create(&url, m->profile, m->o->profile, cpu) &&
                      redis_make(server->redis, unseen_url_id(url), m->o->fpr);
    unseen_url_free(url);
    return done;
}

/* A set of a server with our module may have been made with a larger rate. */
static bool check_rate(const struct seen *m, struct server *server)
{
    struct unseen_set_stats stats = {.fpr_promise = 0};
    if (!server->redis || !(m->o->fpr > 0)) {
        return true;
    }
    server_stats(server, &stats);
    if (stats.fpr_promise <= m->o->fpr) {
        return true;
    }
    message_error("the set at %s promises %g, not %g", m->o->path, stats.fpr_promise, m->o->fpr);
    hint_plain();
    return false;
}

bool seen_open_server(struct seen *m, enum unseen_cpu cpu)
{
    const struct store_use *use = m->o->use;
    if (!check_options(m)) {
        return false;
    }
    struct server *server = malloc(sizeof(*server));
    if (!server) {
        return message_no_memory();
    }
    m->asked.ops = &asked_server;
    m->asked.server = server;
    return server_open(server, m->o,
                       !m->asked.adds    ? QUESTION_CHECK
                       : use->prints_new ? QUESTION_DEDUP
                       : use->removes    ? QUESTION_REMOVE
                                         : QUESTION_ADD) &&
           (server_profile(server)[0] || make_set(m, server, cpu)) && check_rate(m, server) &&
           use_profile(m, server_profile(server), cpu);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* Asks for the lines that were put into the question, unless one could not be put. */
static enum unseen_status ask(struct server *s, bool is_put, size_t n, uint8_t *verdicts)
{
    memset(verdicts, REMOTE_NO_ANSWER, n);
    const bool is_answered = is_put && (s->redis ? redis_ask(s->redis, s->question, verdicts)
                                                 : remote_ask(&s->remote, s->question, verdicts));
    return is_answered ? UNSEEN_OK : UNSEEN_ERR_MISMATCH;
}

_Static_assert((int)FEED_KEPT <= (int)REMOTE_PIECES, "a question takes all that is kept");

enum unseen_status seen_ask_server(struct seen *m, const struct batch *const *batches, size_t n,
                                   uint8_t *verdicts)
{
    struct server *server = m->asked.server;
    bool is_put = true;
    size_t nlines = 0;
    for (size_t i = 0; i < n; i++) {
        is_put = is_put && server_put(server, batches[i]->items, batches[i]->n);
        nlines += batches[i]->n;
    }
    return nlines == 0 ? UNSEEN_OK : ask(server, is_put, nlines, verdicts);
}

static enum unseen_status ask_query(struct asked *a, struct query *q)
{
    q->ndone = q->n;
    return ask(a->server, server_put(a->server, q->items, q->n), q->n, q->verdicts);
}

static const char *server_figures(const struct asked *a, struct unseen_set_stats *stats)
{
    server_stats(a->server, stats);
    return server_profile(a->server);
}

const struct asked_ops asked_server = {ask_query, server_figures};
