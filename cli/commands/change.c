/* SPDX-License-Identifier: MIT */
#include "commands/change.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "lines/batch.h"
#include "lines/files.h"
#include "print/message.h"
#include "print/typed.h"
#include "seen/filter_words.h"
#include "seen/stores.h"
#include "stop.h"

/* The store reads its log once for so many keys. */
enum {
    KEPT_MAX = 1 << 16
};

static bool removes(const struct change *c)
{
    return c->o->seen.use->removes;
}

bool change_check_inputs(const struct options *o)
{
    for (size_t i = 0; i < o->input.nfiles; i++) {
        const char *name = o->input.files[i];
        const enum stores_type type = stores_refuse(name);
        if (address_is_server(o->seen.path) && type != STORES_NONE) {
            message_hint("a server takes lines, and a %s keeps none", stores_type_name(type));
        } else if (type == STORES_STORE || type == STORES_IMAGE) {
            message_hint("unseen merge --into %s %s", typed_quoted(o->seen.path),
                         files_is_standard_input(name) ? "STORE" : typed_quoted(name));
        }
        if (type != STORES_NONE) {
            return false;
        }
    }
    return true;
}

/* Makes room for keys to remove; false, and reported, if the store cannot remove any. */
static bool start_removing(struct change *c)
{
    const struct unseen_set_stats stats = stores_stats(unseen_store_set(c->store));
    if (!(stats.abilities & UNSEEN_CAN_REMOVE)) {
        message_error("%s has the filter %s, which cannot remove", c->o->seen.path, stats.filter);
        message_hint("unseen rewrite --filter compact %s", typed_quoted(c->o->seen.path));
        return false;
    }
    c->kept = malloc(KEPT_MAX * sizeof(*c->kept));
    return c->kept || message_no_memory();
}

bool change_start(struct change *c, const struct options *o, enum unseen_cpu cpu)
{
    *c = (struct change){.o = o, .watch.matters = o->key.key.nparts == 0};
    const enum unseen_store_mode mode = removes(c) ? UNSEEN_STORE_WRITE : UNSEEN_STORE_CREATE;
    c->failed = !change_check_inputs(o) ||
                !stores_open(&c->store, o->seen.path, mode, &o->seen, &o->profile, cpu) ||
                (removes(c) && !start_removing(c));
    if (c->failed) {
        return false;
    }
    stop_listen();
    report_start(&c->report, &o->report, true);
    return true;
}

static bool report_failure(struct change *c, enum unseen_status status)
{
    c->failed = true;
    message_error("cannot %s more lines: %s", removes(c) ? "remove" : "remember",
                  unseen_status_string(status));
    return false;
}

/* Begins the commit of n keys with these verdicts. */
static bool take_verdicts(struct change *c, enum unseen_status status, const uint8_t *verdicts,
                          size_t n)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    size_t nnew = 0;
    for (size_t i = 0; i < n; i++) {
        nnew += verdicts[i];
    }
    c->report.nnew += nnew;
    c->report.nseen += n - nnew;
    if (!url_watch_doubts(&c->watch)) {
        error.status = unseen_store_commit_begin(c->store, UINT64_MAX, 0, &error);
    }
    if (error.status != UNSEEN_OK) {
        c->broken = true;
        stores_report_commit(c->o->seen.path, &c->o->seen, &error);
        return false;
    }
    return status == UNSEEN_OK || report_failure(c, status);
}

/* A key that is still there after its removal is not in the store: the filter takes it for seen. */
static void count_false(struct change *c, const struct unseen_key *keys, size_t n)
{
    uint8_t verdicts[BATCH_LINES];
    for (size_t i = 0; i < n; i += BATCH_LINES) {
        const size_t count = n - i < BATCH_LINES ? n - i : BATCH_LINES;
        memset(verdicts, UNSEEN_NEW, count);
        (void)unseen_set_contains_keys(unseen_store_set(c->store), keys + i, count, verdicts, NULL);
        for (size_t k = 0; k < count; k++) {
            c->nfalse += verdicts[k] == UNSEEN_SEEN;
        }
    }
}

bool change_kept(struct change *c)
{
    const size_t n = c->nkept;
    size_t ndone = 0;
    if (n == 0 || c->broken) {
        return !c->broken;
    }
    uint8_t *verdicts = malloc(n);
    (void)stores_tell_time(c->store, STORES_LEAVING); /* a change fails as well then */
    c->nkept = 0;
    if (!verdicts) {
        c->failed = true;
        return message_no_memory();
    }
    const enum unseen_status status =
        unseen_store_remove_keys(c->store, c->kept, n, verdicts, &ndone);
    const bool good = take_verdicts(c, status, verdicts, ndone);
    free(verdicts);
    if (good) {
        count_false(c, c->kept, n);
    }
    return good;
}

bool change_keys(struct change *c, const struct unseen_key *keys, size_t n)
{
    uint8_t verdicts[BATCH_LINES];
    size_t ndone = 0;
    if (!c->kept) {
        (void)stores_tell_time(c->store, STORES_LEAVING); /* as above */
        const enum unseen_status status =
            unseen_store_add_keys(c->store, keys, n, verdicts, &ndone);
        return take_verdicts(c, status, verdicts, ndone);
    }
    memcpy(c->kept + c->nkept, keys, n * sizeof(*keys));
    c->nkept += n;
    return c->nkept + BATCH_LINES <= KEPT_MAX || change_kept(c);
}

int change_finish(struct change *c)
{
    if (!c->store) {
        return EXIT_TROUBLE;
    }
    (void)change_kept(c);
    free(c->kept);
    const struct unseen_set *set = unseen_store_set(c->store);
    const struct unseen_set_stats stats = stores_stats(set);
    report_end(&c->report, &stats, unseen_set_profile(set));
    c->failed = !filters_check_full(&c->o->seen, set, c->report.nnew, c->report.nseen) || c->failed;
    if (c->nfalse > 0) {
        message_warning("%" PRIu64 " of the lines are not in %s, but it takes them for seen",
                        c->nfalse, c->o->seen.path);
        if (!stores_info(c->store).no_log) {
            message_hint("to have them answered new: unseen allow %s%s",
                         typed_quoted(c->o->seen.path), typed_inputs());
        }
    }
    const bool is_fixed = !stores_info(c->store).is_new;
    c->failed = !url_watch_report(&c->watch, unseen_set_profile(set), is_fixed) || c->failed;
    if (c->broken) {
        (void)unseen_store_close(c->store, NULL); /* the cause has been reported */
    } else {
        c->failed = !stores_close(c->store, c->o->seen.path, &c->o->seen, c->failed) || c->failed;
    }
    stop_die(false);
    return c->broken || c->failed ? EXIT_TROUBLE : EXIT_DONE;
}

void change_count(struct change *c, const struct batch *b)
{
    batch_count(b, &c->report);
    c->report.nfailed += batch_count_failed(b, 0, b->n);
    url_watch_look(&c->watch, b, 0, b->n);
}
