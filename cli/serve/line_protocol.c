/* SPDX-License-Identifier: MIT
 *
 * The line protocol, unseen's own: a request a line, an answer a line. docs/serve.md has it.
 *
 * Requests of one type that stand behind each other are answered as one run, whether or not they
 * are lines of a batch: the store fetches memory ahead, so a run costs a fraction of as many single
 * requests.
 *
 * The lines of a batch become keys when they come, and are asked when the batch is whole. If this
 * process dies before that, nothing has changed, and the client can send the same batch again. A
 * client that stops in the middle of a batch holds up nobody. */
#include "serve/line_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/info_json.h"
#include "seen/stores.h"

enum {
    REQUEST_WEIGHT = 256 /* of requests without a URL, which take some microseconds */
};

static const char no_log_sentence[] =
    "this store has no log: its changes are durable when the server ends";
static const char may_not_change[] = "here are only answers to questions: T TOKEN, with the token "
                                     "of the server's --token-file, lets "
                                     "you change the store";

/* The URLs lie in the input. */
struct run {
    struct unseen_bytes urls[SERVICE_RUN];
    size_t n;
    enum request_type type;
    bool in_batch;
};

static void greet(struct connection *c)
{
    const struct service *s = c->service;
    struct unseen_list_info list; /* its figures, or the same ones of the store */
    char numbers[64];
    if (s->list.list) {
        list = lists_info(s->list.list);
    } else {
        const struct unseen_set *set = unseen_store_set(s->store);
        list.key_bits = stores_info(s->store).key_bits;
        list.nkeys = stores_stats(set).nkeys;
        list.profile = unseen_set_profile(set);
    }
    snprintf(numbers, sizeof(numbers), " key=%u items=%" PRIu64, list.key_bits, list.nkeys);
    connection_puts(c, "unseen 1 profile=");
    connection_puts(c, list.profile);
    connection_puts(c, numbers);
    if (s->list.list) {
        connection_puts(c, " kind=");
        connection_puts(c, unseen_kind_name(list.kind));
    }
    if (!c->is_standard) {
        snprintf(numbers, sizeof(numbers), " batch=%d", LINE_BATCH_SHARED);
        connection_puts(c, numbers);
    }
    connection_puts(c, "\n");
}

bool line_begin(struct connection *c)
{
    struct line_state *state = malloc(sizeof(*state));
    if (!state) {
        return false;
    }
    *state = (struct line_state){
        .parser = {.batch_max = c->is_standard ? LINE_BATCH_MAX : LINE_BATCH_SHARED},
        .may_change = !c->service->needs_token};
    c->state = state;
    c->in.is_cut = !c->is_standard;
    greet(c);
    return true;
}

void line_end(struct connection *c)
{
    struct line_state *state = c->state;
    text_release(&state->batch.keys);
    text_release(&state->batch.marks);
    free(state);
}

bool line_may_be_evicted(const struct connection *c)
{
    const struct line_state *state = line_state(c);
    return !state->has_spoken || (c->service->needs_token && !state->may_change);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* news: one item for each mark '1'; NULL: none are kept. */
static void put_marks(struct connection *c, enum request_type type, const char *marks, size_t n,
                      struct news_item *news)
{
    char lines[2 * SERVICE_RUN];
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        if (marks[i] == 'E') {
            connection_put(c, lines, len);
            connection_put_error(c, c->service->trouble);
            len = 0;
        } else if (marks[i] == 'L') {
            connection_put(c, lines, len);
            connection_puts(c, type == REQUEST_ASK ? "not yet\n" : "leased\n");
            len = 0;
        } else {
            lines[len++] = marks[i];
            lines[len++] = '\n';
            if (news && marks[i] == '1') {
                (news++)->end = c->gone + c->out.len + len;
            }
        }
    }
    connection_put(c, lines, len);
}

/* Adds bytes to a text of the connection, which fails without memory for it. */
static void keep(struct connection *c, struct text *text, const void *data, size_t len)
{
    c->failed = c->failed || !text_append(text, data, len);
}

/* On standard output a change is sent before it is committed; one that was not sent is forgotten
 * then, without this. */
static bool keeps_news(const struct connection *c, enum request_type type)
{
    return type == REQUEST_ADD && (!c->is_standard || c->is_durable);
}

/* Asks and changes, and notes which keys were new: if the client goes away before it was told, they
 * become new again. */
static void mark_keys(struct connection *c, enum request_type type, const struct unseen_key *keys,
                      size_t n, char *marks)
{
    if (type != REQUEST_ASK && !line_state(c)->may_change) {
        memset(marks, 'E', n);
        service_set_trouble(c->service, may_not_change);
        return;
    }
    if (keeps_news(c, type) && !news_reserve(&c->news, n, c->service->nmade)) {
        memset(marks, 'E', n);
        c->failed = true;
        return;
    }
    if (service_marks(c->service, type, keys, n, marks) > 0) {
        c->has_changed = true;
    }
    if (keeps_news(c, type)) {
        news_add(&c->news, keys, n, marks);
    }
}

/* The marks of a run: of a list, its answers; of a store, 0, and 'E' without memory for keys. */
static void start_marks(struct connection *c, const struct run *run, struct unseen_key *keys,
                        char *marks)
{
    memset(marks, 0, run->n);
    if (c->service->list.list) {
        service_list_marks(c->service, run->type, run->urls, run->n, marks);
    } else if (!service_keys(c->service, run->urls, run->n, keys)) {
        memset(marks, 'E', run->n);
    }
}

static void answer_run(struct connection *c, const struct run *run)
{
    struct unseen_key keys[SERVICE_RUN] = {{0}};
    char marks[SERVICE_RUN];
    const size_t before = news_count(&c->news);
    start_marks(c, run, keys, marks);
    if (!marks[0]) {
        mark_keys(c, run->type, keys, run->n, marks);
    }
    put_marks(c, run->type, marks, run->n, news_from(&c->news, before));
}

static void collect_run(struct connection *c, const struct run *run)
{
    struct line_batch *b = &line_state(c)->batch;
    const size_t size = run->n * sizeof(struct unseen_key);
    b->type = run->type;
    if (!text_reserve(&b->keys, size) || !text_reserve(&b->marks, run->n)) {
        c->failed = true;
        return;
    }
    start_marks(c, run, (struct unseen_key *)(void *)(b->keys.data + b->keys.len),
                b->marks.data + b->marks.len);
    b->keys.len += size;
    b->marks.len += run->n;
}

static void end_run(struct connection *c, struct run *run)
{
    if (run->n > 0) {
        (run->in_batch ? collect_run : answer_run)(c, run);
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

/* Adds the lines of an open batch that have come, as many as the run takes. False if there are
 * none. */
static bool add_lines_to_run(struct connection *c, struct run *run)
{
    const struct line_parser *p = &line_state(c)->parser;
    if (!p->in_batch) {
        return false;
    }
    if (run->n == SERVICE_RUN || !run->in_batch || run->type != p->each) {
        end_run(c, run);
    }
    const size_t n = line_request_lines(&line_state(c)->parser, &c->in, run->urls + run->n,
                                        SERVICE_RUN - run->n);
    run->type = p->each;
    run->in_batch = true;
    run->n += n;
    return n > 0;
}

/* ---- Batches --------------------------------------------------------------------------------- */

/* A line without a key: it was too long. */
static void collect_wrong(struct connection *c)
{
    const struct unseen_key none = {0};
    keep(c, &line_state(c)->batch.keys, &none, sizeof(none));
    keep(c, &line_state(c)->batch.marks, "E", 1);
}

/* Asks for all lines whose marks are still 0. */
static void end_batch(struct connection *c)
{
    struct line_batch *b = &line_state(c)->batch;
    char *marks = b->marks.data;
    const size_t n = b->marks.len;
    const size_t before = news_count(&c->news);
    for (size_t i = 0; i < n && !c->failed;) {
        size_t run = 0;
        while (run < SERVICE_RUN && i + run < n && !marks[i + run]) {
            run++;
        }
        if (run > 0) {
            const struct unseen_key *keys = (const struct unseen_key *)(void *)b->keys.data;
            mark_keys(c, b->type, keys + i, run, marks + i);
        }
        i += run > 0 ? run : 1;
    }
    connection_put(c, n > 0 ? marks : "", n);
    connection_puts(c, "\n");
    for (size_t i = before; i < news_count(&c->news); i++) {
        news_from(&c->news, i)->end = c->gone + c->out.len; /* a line without its end is not read */
    }
    text_release(&b->keys);
    text_release(&b->marks);
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* Puts what `unseen info --json` prints. */
static void put_info(struct connection *c)
{
    const struct service *s = c->service;
    struct output json;
    if (!output_open_memory(&json, "the answer")) {
        c->failed = true;
        return;
    }
    if (s->list.list) {
        info_json_list(&json, s->list.list, s->path);
    } else {
        (void)stores_tell_time(s->store, STORES_LEAVING); /* a change fails as well then */
        info_json(&json, s->store, s->path);
    }
    c->failed = c->failed || json.failed;
    connection_put(c, json.buf, json.len);
    output_abandon(&json);
}

static void put_stats(struct connection *c)
{
    const struct service *s = c->service;
    const uint64_t memory = s->store ? stores_stats(unseen_store_set(s->store)).memory : 0;
    char line[512];
    snprintf(line, sizeof(line),
             "{\"clients\":%zu,\"questions\":%" PRIu64 ",\"new\":%" PRIu64 ",\"wrong\":%" PRIu64
             ",\"changes\":%" PRIu64 ",\"waiting\":%" PRIu64 ",\"durable\":%" PRIu64
             ",\"memory\":%" PRIu64 ",\"leases\":%zu}\n",
             s->counts.nclients, s->counts.nquestions, s->counts.nnew, s->counts.nwrong, s->nmade,
             s->nmade - s->nbegun, s->ndurable, memory, s->leases.nlive);
    connection_puts(c, line);
}

static void set_option(struct connection *c, struct unseen_bytes name)
{
    if (!is_word(name, "durable")) {
        connection_put_error(c, "unknown option; there is: O durable");
    } else if (c->service->no_log) {
        connection_put_error(c, no_log_sentence);
    } else {
        c->is_durable = true;
        connection_puts(c, "OK\n");
    }
}

/* Compares in a time that does not depend on where the texts differ. */
static bool is_token(const struct service *s, struct unseen_bytes text)
{
    unsigned differs = text.len != s->token.len;
    for (size_t i = 0; i < text.len; i++) {
        differs |=
            (unsigned char)text.data[i] ^ (unsigned char)s->token.data[i % (s->token.len + 1)];
    }
    return s->token.len > 0 && !differs;
}

static void take_token(struct connection *c, struct unseen_bytes text)
{
    if (is_token(c->service, text)) {
        line_state(c)->may_change = true;
        connection_puts(c, "OK\n");
    } else {
        connection_put_error(
            c, "the token is wrong: it is the first line of the file that the server's "
               "--token-file names");
    }
}

static void answer_request(struct connection *c, const struct request *r)
{
    c->in.work += REQUEST_WEIGHT;
    switch (r->type) {
    case REQUEST_BATCH_END:
        end_batch(c);
        break;
    case REQUEST_FLUSH:
        if (c->service->no_log) {
            connection_put_error(c, no_log_sentence);
        } else {
            line_state(c)->syncing = true;
        }
        break;
    case REQUEST_INFO:
        put_info(c);
        break;
    case REQUEST_STATS:
        put_stats(c);
        break;
    case REQUEST_OPTION:
        set_option(c, r->text);
        break;
    case REQUEST_TOKEN:
        take_token(c, r->text);
        break;
    case REQUEST_LEASE:
    case REQUEST_DONE:
    case REQUEST_GIVE_BACK:
    case REQUEST_RENEW:
    case REQUEST_HAND_OUT:
        if (line_state(c)->may_change) {
            line_lease_request(c, r);
        } else {
            connection_put_error(c, may_not_change);
        }
        break;
    default:
        c->service->counts.nwrong++;
        if (r->in_batch) {
            collect_wrong(c);
        } else {
            connection_put_error(c, r->wrong);
        }
    }
}

/* A browser can be made to send lines to a port of its machine. The first of them tells it. */
static bool is_http(struct unseen_bytes line)
{
    const size_t version = sizeof("HTTP/1.1") - 1;
    line.len -= line.len > 0 && line.data[line.len - 1] == '\r';
    if (line.len > 1 && line.data[1] == ' ') {
        return false; /* a request of ours, whatever stands in its URL */
    }
    return line.len > version && memcmp(line.data + line.len - version, "HTTP/1.", 7) == 0;
}

/* Looks at the first line. False: it is not whole yet, or the conversation is over. */
static bool begin_conversation(struct connection *c)
{
    const struct unseen_bytes rest = line_reader_rest(&c->in);
    const char *newline = memchr(rest.data + c->in.known, '\n', rest.len - c->in.known);
    if (!newline && !c->in.at_end && rest.len <= c->in.longest) {
        c->in.known = rest.len;
        return false;
    }
    line_state(c)->has_spoken = true;
    if (!c->is_standard && newline &&
        is_http((struct unseen_bytes){rest.data, (size_t)(newline - rest.data)})) {
        connection_put_error(c, "this is not a web server, but unseen serve");
        c->over = true;
    }
    return !c->over;
}

/* Answers about leases wait for the disk, and answers about changes must be sent before the changes
 * are committed. So behind a lease only requests are taken that change nothing. */
static bool may_go_on(const struct connection *c)
{
    const struct unseen_bytes rest = line_reader_rest(&c->in);
    return !line_state(c)->syncing && !c->failed && c->out.len - c->sent < c->ahead &&
           !line_reader_turn_is_over(&c->in) &&
           (!line_state(c)->has_leased || (rest.len > 0 && memchr("LXGN", rest.data[0], 4)));
}

/* What of the answers waits for the disk. */
static void hold_answers(struct connection *c)
{
    const bool waits = c->is_durable && c->has_changed;
    c->needs_commit = line_state(c)->syncing || waits;
    c->needs_sync = line_state(c)->has_leased;
    if (waits) {
        c->held = c->out.len - c->sent;
    } else if (line_state(c)->has_leased) {
        c->held = c->out.len - line_state(c)->lease_at;
    }
    line_state(c)->has_leased = false;
}

bool line_take(struct connection *c)
{
    struct run run;
    struct request r;
    bool any = false;
    run.n = 0;
    run.type = 0;
    run.in_batch = false;
    if (!line_state(c)->has_spoken && !begin_conversation(c)) {
        return c->over;
    }
    while (may_go_on(c)) {
        if (add_lines_to_run(c, &run)) {
            any = true;
            continue;
        }
        if (!line_request_next(&line_state(c)->parser, &c->in, &r)) {
            break;
        }
        any = true;
        if (r.type == REQUEST_ADD || r.type == REQUEST_ASK || r.type == REQUEST_REMOVE) {
            add_to_run(c, &run, &r);
        } else {
            end_run(c, &run);
            answer_request(c, &r);
        }
    }
    end_run(c, &run);
    hold_answers(c);
    return any;
}

/* Puts an error in the place of the answers that wait for a commit that has failed, and ends the
 * conversation: which answer belongs to which request is not known any more. The URLs that were new
 * are new again. */
static void refuse_held(struct connection *c)
{
    c->out.len -= c->held;
    news_take_back(&c->news, c->service, c->gone + c->out.len);
    connection_put_error(c, c->service->trouble);
    c->over = true;
}

void line_synced(struct connection *c, bool durable)
{
    if (!durable && c->held > 0) {
        refuse_held(c);
    } else if (line_state(c)->syncing && durable) {
        connection_puts(c, "OK\n");
    } else if (line_state(c)->syncing) {
        connection_put_error(c, c->service->trouble);
    }
    c->held = 0;
    line_state(c)->syncing = false;
}
