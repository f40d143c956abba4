/* SPDX-License-Identifier: MIT */
#include "commands/change.h"

#include "address.h"
#include "lines/batch.h"
#include "lines/files.h"
#include "print/message.h"
#include "seen/filter_words.h"
#include "seen/stores.h"
#include "stop.h"

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
            message_hint("%s %s FILE takes lines, which a %s has not", o->command->called,
                         o->seen.path, stores_type_name(type));
        } else if (type == STORES_STORE || type == STORES_IMAGE) {
            message_hint("unseen merge --into %s %s", o->seen.path,
                         files_is_standard_input(name) ? "STORE" : name);
        }
        if (type != STORES_NONE) {
            return false;
        }
    }
    return true;
}

bool change_start(struct change *c, const struct options *o, enum unseen_cpu cpu)
{
    *c = (struct change){.o = o};
    const enum unseen_store_mode mode = removes(c) ? UNSEEN_STORE_WRITE : UNSEEN_STORE_CREATE;
    c->failed = !change_check_inputs(o) ||
                !stores_open(&c->store, o->seen.path, mode, &o->seen, &o->profile, cpu);
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
    if (removes(c) && status == UNSEEN_ERR_UNSUPPORTED) {
        message_error("%s has the filter %s, which cannot remove", c->o->seen.path,
                      stores_stats(unseen_store_set(c->store)).filter);
        message_hint("unseen rewrite --filter compact %s", c->o->seen.path);
        return false;
    }
    message_error("cannot remember more lines: %s", unseen_status_string(status));
    return false;
}

bool change_keys(struct change *c, const struct unseen_key *keys, size_t n)
{
    uint8_t verdicts[BATCH_LINES];
    struct unseen_error error = {.status = UNSEEN_OK};
    size_t ndone = 0;
    size_t nnew = 0;
    const enum unseen_status status =
        (removes(c) ? unseen_store_remove_keys : unseen_store_add_keys)(c->store, keys, n, verdicts,
                                                                        &ndone);
    for (size_t i = 0; i < ndone; i++) {
        nnew += verdicts[i];
    }
    c->report.nnew += nnew;
    c->report.nseen += ndone - nnew;
    error.status = unseen_store_commit_begin(c->store, UINT64_MAX, 0, &error);
    if (error.status != UNSEEN_OK) {
        c->broken = true;
        stores_report_commit(c->o->seen.path, &c->o->seen, &error);
        return false;
    }
    return status == UNSEEN_OK || report_failure(c, status);
}

int change_finish(struct change *c)
{
    if (!c->store) {
        return EXIT_TROUBLE;
    }
    const struct unseen_set *set = unseen_store_set(c->store);
    const struct unseen_set_stats stats = stores_stats(set);
    report_end(&c->report, &stats, unseen_set_profile(set));
    c->failed = !filters_check_full(&c->o->seen, set, c->report.nnew, c->report.nseen) || c->failed;
    if (!removes(c)) {
        after_run_schemes(&c->first_failed, &c->report, c->o, &stats, unseen_set_profile(set));
    }
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
    after_run_look(&c->first_failed, b);
}
