/* SPDX-License-Identifier: MIT
 *
 * The line protocol, unseen's own: a request a line, an answer a line. docs/serve.md has it.
 *
 * Requests of one type that stand behind each other are answered as one run, whether or not they
 * are lines of a batch: the store fetches memory ahead, so a run costs a fraction of as many single
 * requests.
 *
 * The marks of a batch are held back until the batch is whole. If this process dies before that,
 * none of the marks was written, so none of the changes is committed, and the client can send the
 * same batch again. */
#include "serve/connection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/info_json.h"

/* The URLs lie in the input. */
struct run {
    struct unseen_bytes urls[SERVICE_RUN];
    size_t n;
    enum request_type type;
    bool in_batch;
};

void line_greet(struct connection *c)
{
    const struct service *s = c->service;
    struct unseen_list_info list = {.size = sizeof(list), .profile = ""};
    struct unseen_store_info store = {.size = sizeof(store)};
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    char numbers[64];
    if (s->list.list) {
        (void)unseen_list_info(s->list.list, &list); /* fails for a wrong size only */
        stats.nkeys = list.nkeys;
        store.key_bits = list.key_bits;
    } else {
        (void)unseen_store_info(s->store, &store); /* the same */
        (void)unseen_set_stats(unseen_store_set(s->store), &stats);
        list.profile = unseen_set_profile(unseen_store_set(s->store));
    }
    snprintf(numbers, sizeof(numbers), " key=%u items=%" PRIu64, store.key_bits, stats.nkeys);
    connection_puts(c, "unseen 1 profile=");
    connection_puts(c, list.profile);
    connection_puts(c, numbers);
    if (s->list.list) {
        connection_puts(c, " kind=");
        connection_puts(c, unseen_kind_name(list.kind));
    }
    connection_puts(c, "\n");
}

static void put_error(struct connection *c, const char *sentence)
{
    connection_puts(c, "E ");
    connection_puts(c, sentence);
    connection_puts(c, "\n");
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static void put_marks(struct connection *c, const char *marks, size_t n)
{
    char lines[2 * SERVICE_RUN];
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        if (marks[i] == 'E') {
            connection_put(c, lines, len);
            put_error(c, c->service->trouble);
            len = 0;
        } else {
            lines[len++] = marks[i];
            lines[len++] = '\n';
        }
    }
    connection_put(c, lines, len);
}

static void hold_marks(struct connection *c, const char *marks, size_t n)
{
    connection_put(c, marks, n);
    c->held += n;
}

static void end_run(struct connection *c, struct run *run)
{
    char marks[SERVICE_RUN];
    if (run->n == 0) {
        return;
    }
    const size_t nchanges = service_marks(c->service, run->type, run->urls, run->n, marks);
    if (run->in_batch) {
        hold_marks(c, marks, run->n);
        c->held_nchanges += nchanges;
    } else {
        put_marks(c, marks, run->n);
        c->nchanges += nchanges;
    }
    run->n = 0;
}

static void add_to_run(struct connection *c, struct run *run, const struct request *r)
{
    if (run->n == SERVICE_RUN || r->type != run->type || r->in_batch != run->in_batch) {
        end_run(c, run);
    }
    run->type = r->type;
    run->in_batch = r->in_batch;
    run->urls[run->n++] = r->url;
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* Puts what `unseen info --json` prints. An elastic output keeps what its descriptor does not take,
 * and the descriptor -1 takes nothing. */
static void put_info(struct connection *c)
{
    const struct service *s = c->service;
    struct output json = {.fd = -1,
                          .name = "the answer",
                          .elastic = true,
                          .buf = malloc(OUTPUT_BYTES),
                          .cap = OUTPUT_BYTES};
    if (!json.buf) {
        c->failed = true;
        return;
    }
    if (s->list.list) {
        info_json_list(&json, s->list.list, s->path);
    } else {
        info_json(&json, s->store, s->path);
    }
    c->failed = c->failed || json.failed;
    connection_put(c, json.buf, json.len);
    free(json.buf);
}

static void answer_request(struct connection *c, const struct request *r)
{
    switch (r->type) {
    case REQUEST_BATCH_END:
        connection_puts(c, "\n");
        c->nchanges += c->held_nchanges;
        c->held = 0;
        c->held_nchanges = 0;
        break;
    case REQUEST_FLUSH:
        if (c->service->no_log) {
            put_error(c, "this store has no log: its changes are durable when the server ends");
        } else {
            c->syncing = true;
        }
        break;
    case REQUEST_INFO:
        put_info(c);
        break;
    default:
        if (r->in_batch) {
            hold_marks(c, "E", 1);
        } else {
            put_error(c, r->wrong);
        }
    }
}

bool line_take(struct connection *c)
{
    struct run run;
    struct request r;
    bool any = false;
    run.n = 0;
    run.type = 0;
    run.in_batch = false;
    while (!c->syncing && !c->failed && line_request_next(&c->parser, &c->in, &r)) {
        any = true;
        if (r.type == REQUEST_ADD || r.type == REQUEST_ASK || r.type == REQUEST_REMOVE) {
            add_to_run(c, &run, &r);
        } else {
            end_run(c, &run);
            answer_request(c, &r);
        }
    }
    end_run(c, &run);
    return any;
}

void line_synced(struct connection *c, bool durable)
{
    if (durable) {
        connection_puts(c, "OK\n");
    } else {
        put_error(c, c->service->trouble);
    }
}
