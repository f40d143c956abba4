/* SPDX-License-Identifier: MIT
 *
 * `unseen allow` of a store: lines that its filter takes for seen by error are new from now on. The
 * store reads its log once for all keys of a call, so keys are kept until there are many. */
#include "commands/allow_store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/change.h"
#include "lines/batch.h"
#include "lines/feed.h"
#include "lines/identity.h"
#include "print/message.h"
#include "print/typed.h"
#include "seen/stores.h"

enum {
    KEPT_MAX = 1 << 16
};

struct allowing {
    const struct options *o;
    struct unseen_store *store;
    struct unseen_key *keys; /* not allowed yet */
    size_t nkeys;
    uint64_t nlines;
    uint64_t nnew;  /* lines that were new before */
    uint64_t nheld; /* lines that the store has: they stay seen */
    bool failed;
    bool broken; /* so that nothing more can be committed; this has been reported */
};

static bool allow_kept(struct allowing *a)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    const size_t n = a->nkeys;
    uint8_t *verdicts = malloc(n + 1);
    a->nkeys = 0;
    if (!verdicts) {
        a->failed = true;
        return message_no_memory();
    }
    error.status = unseen_set_contains_keys(unseen_store_set(a->store), a->keys, n, verdicts, NULL);
    for (size_t i = 0; i < n && error.status == UNSEEN_OK; i++) {
        a->nnew += verdicts[i] == UNSEEN_NEW;
    }
    if (error.status == UNSEEN_OK) {
        error.status = unseen_store_allow(a->store, a->keys, n, verdicts, &error);
    }
    for (size_t i = 0; i < n && error.status == UNSEEN_OK; i++) {
        a->nheld += verdicts[i] == UNSEEN_SEEN;
    }
    free(verdicts);
    if (error.status != UNSEEN_OK) {
        a->failed = a->broken = true;
        stores_report(a->o->seen.path, &a->o->seen, &error);
    }
    return !a->failed;
}

static bool allow_take_batch(void *context, const struct batch *b)
{
    struct allowing *a = context;
    a->nlines += b->n;
    memcpy(a->keys + a->nkeys, b->keys, b->n * sizeof(*b->keys));
    a->nkeys += b->n;
    return a->nkeys + BATCH_LINES <= KEPT_MAX || allow_kept(a);
}

static void allow_lines(struct allowing *a)
{
    const struct options *o = a->o;
    struct output none = {.fd = -1};
    struct identity identity = {.url = stores_info(a->store).url,
                                .set = unseen_store_set(a->store),
                                .key = &o->key,
                                .delimiter = o->input.delimiter};
    struct feed feed = {
        .input = &o->input,
        .identity = &identity,
        .out = &none,
        .take = allow_take_batch,
        .context = a,
    };
    feed_run(&feed);
    a->failed = a->failed || feed.failed;
    if (!a->failed) {
        (void)allow_kept(a);
    }
}

static void report(struct allowing *a)
{
    const struct figure figures[] = {
        {"lines", "lines", a->nlines, false},
        {"new before", "new", a->nnew, false},
        {"in the store", "held", a->nheld, false},
        {"allowed", "allowed", stores_info(a->store).nallowed, false},
    };
    const size_t n = sizeof(figures) / sizeof(figures[0]);
    char json[FIGURES_JSON_CAP];
    if (a->o->report.stats == STATS_TEXT) {
        figures_print(figures, n);
    } else if (a->o->report.stats == STATS_JSON) {
        figures_write_json(figures, n, json);
        message_plain("{%s}", json);
    }
    if (a->nheld > 0) {
        a->failed = true;
        message_error("%" PRIu64 " of the %" PRIu64 " lines %s added to %s, so %s not allowed",
                      a->nheld, a->nlines, a->nheld == 1 ? "was" : "were", a->o->seen.path,
                      a->nheld == 1 ? "it is" : "they are");
        message_hint("to make them new again: unseen remove %s%s", typed_quoted(a->o->seen.path),
                     typed_inputs());
    }
}

static bool check_options(const struct options *o)
{
    if (o->list.lists_allowed || o->list.undo) {
        message_error("%s is a store: it keeps keys, not lines, and %s", o->seen.path,
                      o->list.undo ? "a line is allowed until it is added"
                                   : "cannot print what is allowed");
        message_hint(o->list.undo ? "to have it seen: unseen add %s%s"
                                  : "how many lines it allows: unseen info %s%s",
                     typed_quoted(o->seen.path), o->list.undo ? typed_inputs() : "");
        return false;
    }
    return change_check_inputs(o);
}

int allow_store_run(const struct options *o, enum unseen_cpu cpu)
{
    struct allowing a = {.o = o};
    if (!check_options(o) ||
        !stores_open(&a.store, o->seen.path, UNSEEN_STORE_WRITE, &o->seen, &o->profile, cpu)) {
        return EXIT_TROUBLE;
    }
    a.keys = malloc(KEPT_MAX * sizeof(*a.keys));
    if (a.keys) {
        allow_lines(&a);
        report(&a);
    } else {
        a.failed = !message_no_memory();
    }
    free(a.keys);
    if (a.broken) {
        (void)unseen_store_close(a.store, NULL);
    } else {
        a.failed = !stores_close(a.store, o->seen.path, &o->seen, a.failed) || a.failed;
    }
    return a.failed ? EXIT_TROUBLE : EXIT_DONE;
}
