/* SPDX-License-Identifier: MIT
 *
 * The server makes the keys, so it gets the texts of lines. It is asked for all lines that have
 * arrived at once: a question and its answer wake two processes. */
#include "commands/change_server.h"

#include "commands/change.h"
#include "lines/batch.h"
#include "lines/feed.h"
#include "lines/identity.h"
#include "print/message.h"
#include "seen/remote.h"
#include "seen/seen.h"
#include "stop.h"

struct server_change {
    struct change change; /* without a store */
    struct seen seen;
};

/* Asks the server to add or remove all lines of n batches. */
static bool take_kept(void *context, const struct batch *const *batches, size_t n)
{
    struct server_change *c = context;
    struct report *report = &c->change.report;
    uint8_t verdicts[FEED_KEPT * BATCH_LINES];
    size_t nlines = 0;
    for (size_t i = 0; i < n; i++) {
        change_count(&c->change, batches[i]);
        nlines += batches[i]->n;
    }
    if (url_watch_doubts(&c->change.watch)) {
        return false; /* the server would remember them at once */
    }
    const enum unseen_status status = seen_ask_server(&c->seen, batches, n, verdicts);
    for (size_t i = 0; i < nlines; i++) {
        report->nnew += verdicts[i] == UNSEEN_NEW;
        report->nseen += verdicts[i] == UNSEEN_SEEN;
    }
    report_poll();
    c->change.failed = c->change.failed || status != UNSEEN_OK; /* reported */
    return status == UNSEEN_OK;
}

static void read_lines(struct server_change *c)
{
    const struct options *o = c->change.o;
    struct output none = {.fd = -1};
    struct identity identity = {
        .url = c->seen.url, .keeps_texts = true, .key = &o->key, .delimiter = o->input.delimiter};
    struct feed feed = {
        .input = &o->input,
        .identity = &identity,
        .out = &none,
        .take_kept = take_kept,
        .context = c,
    };
    feed_run(&feed);
    c->change.failed = c->change.failed || feed.failed;
}

static void print_figures(struct server_change *c)
{
    struct unseen_set_stats stats;
    const char *profile = seen_stats(&c->seen, &stats);
    report_end(&c->change.report, &stats, profile);
    c->change.failed = !url_watch_report(&c->change.watch, profile, true) || c->change.failed;
}

int change_server_run(const struct options *o, enum unseen_cpu cpu)
{
    struct server_change c = {.change = {.o = o, .watch.matters = o->key.key.nparts == 0},
                              .seen = {.o = &o->seen,
                                       .profile = &o->profile,
                                       .key = &o->key,
                                       .input = &o->input,
                                       .wants_canons = o->key.key.nparts > 1}};
    c.change.failed = !change_check_inputs(o) || !seen_open(&c.seen, cpu);
    if (!c.change.failed) {
        c.change.watch.url = o->key.base ? NULL : c.seen.own_url;
        stop_listen();
        report_start(&c.change.report, &o->report, true);
        read_lines(&c);
        print_figures(&c);
    }
    (void)seen_close(&c.seen, false); /* there is no store */
    stop_die(false);
    return c.change.failed ? EXIT_TROUBLE : EXIT_DONE;
}
