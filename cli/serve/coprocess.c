/* SPDX-License-Identifier: MIT
 *
 * Neighbouring requests of one kind are answered as one run, whether or not they are lines of a
 * batch: the store fetches memory ahead, so a run costs a fraction of as many single requests.
 *
 * The marks of a batch wait here until it is whole. If this process dies in the middle of one, then
 * nothing of it was written, so nothing of it is committed, and it can be sent again as it was. */
#include "serve/coprocess.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unseen_list.h>

#include "commands/info_json.h"
#include "print/json.h"
#include "serve/protocol.h"

struct coprocess {
    struct protocol protocol;

    /* the run */
    struct unseen_bytes urls[SERVED_RUN];
    size_t nurls;
    enum request_kind kind;
    bool in_batch;

    /* the batch */
    char marks[PROTOCOL_BATCH_LINES + 1];
    size_t nmarks;
    uint64_t nchanges;
};

struct coprocess *coprocess_create(void)
{
    struct coprocess *c = malloc(sizeof(*c)); /* most of marks is never touched */
    if (c) {
        c->protocol = (struct protocol){.line_bytes = PROTOCOL_LINE_BYTES};
        c->nurls = 0;
        c->nmarks = 0;
        c->nchanges = 0;
    }
    return c;
}

void coprocess_free(struct coprocess *c)
{
    free(c);
}

static void put_greeting(struct session *s, const char *profile, unsigned key_bits, uint64_t nitems)
{
    char line[128];
    json_write(&s->out, "unseen 1 profile=");
    json_write(&s->out, profile);
    snprintf(line, sizeof(line), " key=%u items=%" PRIu64, key_bits, nitems);
    json_write(&s->out, line);
}

static void greet_for_store(struct session *s, struct unseen_store *store)
{
    struct unseen_store_info info = {.size = sizeof(info)};
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    (void)unseen_store_info(store, &info);                   /* can fail for a wrong size only */
    (void)unseen_set_stats(unseen_store_set(store), &stats); /* the same */
    put_greeting(s, unseen_set_profile(unseen_store_set(store)), info.key_bits, stats.nkeys);
    json_write(&s->out, "\n");
}

static void greet_for_list(struct session *s, const struct unseen_list *list)
{
    struct unseen_list_info info = {.size = sizeof(info), .profile = ""};
    (void)unseen_list_info(list, &info); /* can fail for a wrong size only */
    put_greeting(s, info.profile, info.key_bits, info.nkeys);
    json_write(&s->out, " kind=");
    json_write(&s->out, unseen_kind_name(info.kind));
    json_write(&s->out, "\n");
}

static void greet(struct session *s)
{
    const struct served *d = s->served;
    if (d->listed) {
        greet_for_list(s, d->listed->list.list);
    } else {
        greet_for_store(s, d->store);
    }
}

static void put_error(struct session *s, const char *sentence)
{
    json_write(&s->out, "E ");
    json_write(&s->out, sentence);
    json_write(&s->out, "\n");
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static size_t ask(struct session *s, struct coprocess *c, char *marks)
{
    switch (c->kind) {
    case REQUEST_ADD:
        return served_add(s->served, c->urls, c->nurls, marks);
    case REQUEST_REMOVE:
        return served_remove(s->served, c->urls, c->nurls, marks);
    default:
        return served_ask(s->served, c->urls, c->nurls, marks);
    }
}

static void end_run(struct session *s, struct coprocess *c)
{
    char marks[SERVED_RUN];
    if (c->nurls == 0) {
        return;
    }
    if (c->in_batch) {
        c->nchanges += ask(s, c, c->marks + c->nmarks);
        c->nmarks += c->nurls;
    } else {
        const size_t nchanges = ask(s, c, marks);
        for (size_t i = 0; i < c->nurls; i++) {
            if (marks[i] == 'E') {
                put_error(s, s->served->trouble);
            } else {
                output_write(&s->out, (const char[]){marks[i], '\n'}, 2);
            }
        }
        session_answered(s, nchanges);
    }
    c->nurls = 0;
}

static void add_to_run(struct session *s, struct coprocess *c, const struct request *r)
{
    if (c->nurls == SERVED_RUN || r->kind != c->kind || r->in_batch != c->in_batch) {
        end_run(s, c);
    }
    c->kind = r->kind;
    c->in_batch = r->in_batch;
    c->urls[c->nurls++] = r->url;
}

static void end_batch(struct session *s, struct coprocess *c)
{
    c->marks[c->nmarks] = '\n';
    output_write(&s->out, c->marks, c->nmarks + 1);
    session_answered(s, c->nchanges);
    c->nmarks = 0;
    c->nchanges = 0;
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void answer(struct session *s, struct coprocess *c, const struct request *r)
{
    switch (r->kind) {
    case REQUEST_ADD:
    case REQUEST_ASK:
    case REQUEST_REMOVE:
        add_to_run(s, c, r);
        return;
    default:
        break;
    }
    end_run(s, c);
    switch (r->kind) {
    case REQUEST_BATCH_END:
        end_batch(s, c);
        break;
    case REQUEST_FLUSH:
        if (s->served->no_log) {
            put_error(s, "this store has no log: its changes are durable when the server ends");
        } else {
            session_sync(s);
        }
        break;
    case REQUEST_INFO:
        if (s->served->listed) {
            info_json_list(&s->out, s->served->listed->list.list, s->served->o->seen.path);
        } else {
            info_json(&s->out, s->served->store, s->served->o->seen.path);
        }
        break;
    default:
        if (r->in_batch) {
            c->marks[c->nmarks++] = 'E';
        } else {
            put_error(s, r->wrong);
        }
    }
}

static size_t take(struct session *s, const char *data, size_t len, bool at_end)
{
    struct coprocess *c = s->state;
    struct request r;
    size_t at = 0;
    served_refresh(s->served);
    while (!s->syncing && protocol_next(&c->protocol, data, len, at_end, &at, &r)) {
        answer(s, c, &r);
    }
    end_run(s, c); /* its URLs lie in data */
    return at;
}

static void synced(struct session *s, bool durable)
{
    if (durable) {
        json_write(&s->out, "OK\n");
    } else {
        put_error(s, s->served->trouble);
    }
}

const struct face coprocess_face = {.greet = greet, .take = take, .synced = synced};
