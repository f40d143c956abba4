/* SPDX-License-Identifier: MIT
 *
 * `unseen merge`: makes one store of several, or adds stores to a store. All or nothing: the merged
 * store is a draft until the last input has been read. */
#include <inttypes.h>
#include <sys/stat.h>

#include "commands/commands.h"
#include "print/json.h"
#include "print/message.h"
#include "print/output.h"
#include "print/typed.h"
#include "seen/filter_words.h"
#include "seen/stores.h"

struct merge {
    const struct options *o;
    enum unseen_cpu cpu;
    const char *path; /* of the store that the others are merged into */
    const char *const *inputs;
    size_t ninputs;
    struct unseen_store *out;
    struct report report;

    /* the input at hand: its index, keys and bytes; and what the inputs before it added up to */
    size_t at;
    uint64_t nkeys;
    uint64_t nbytes;
    uint64_t nnew_before;
    uint64_t nseen_before;
};

/* The store whose settings the inputs must have. A new store has those of the first input, which
 * exists and stays. */
static const char *model_of(const struct merge *m)
{
    return m->o->merge.into ? m->path : m->inputs[0];
}

/* Says which setting makes the keys of the input at hand differ from those of the model, and what
 * can be done. */
static void report_mismatch(const struct merge *m, struct unseen_store *in,
                            enum unseen_setting setting)
{
    const char *path = m->inputs[m->at];
    const char *model = model_of(m);
    const struct unseen_store_info has = stores_info(in);
    const struct unseen_store_info wanted = stores_info(m->out);
    if (setting == UNSEEN_SETTING_KEY_BITS) {
        message_error("%s keeps %u bits of each key, %s keeps %u", path, has.key_bits, model,
                      wanted.key_bits);
        message_hint("unseen rewrite --key-bits %u%s %s && %s", has.key_bits,
                     stores_rate_for(m->out, has.key_bits), typed_quoted(model), typed_line());
        return;
    }
    if (setting == UNSEEN_SETTING_PROFILE) {
        message_error("%s has the profile %s, %s has %s", path,
                      unseen_set_profile(unseen_store_set(in)), model,
                      unseen_set_profile(unseen_store_set(m->out)));
    } else {
        message_error("%s has the seed id %016" PRIx64 ", %s has %016" PRIx64, path, has.seed_id,
                      model, wanted.seed_id);
    }
    const char *quoted = typed_quoted(model);
    message_hint("to add the URLs of this one again: unseen add %s FILE", quoted);
    message_hint("to make a store that can be merged: unseen add --like %s NEW FILE", quoted);
}

/* Of the input at hand, ndone keys are merged, and nnew of them were new. */
static bool show_progress(void *context, uint64_t ndone, uint64_t nnew)
{
    struct merge *m = context;
    const double share = m->nkeys > ndone ? (double)ndone / (double)m->nkeys : 1;
    m->report.nnew = m->nnew_before + nnew;
    m->report.nseen = m->nseen_before + ndone - nnew;
    report_at(m->inputs, m->ninputs, m->at, (uint64_t)(share * (double)m->nbytes));
    report_poll();
    return true;
}

/* Whose window counts must be clear. */
static bool check_window(const struct merge *m, struct unseen_store *in)
{
    char has[STORES_WINDOW_CAP];
    char wanted[STORES_WINDOW_CAP];
    const uint64_t window = stores_info(m->out).window;
    if (m->o->seen.window != 0 || stores_info(in).window == window) {
        return true;
    }
    stores_window_text(stores_info(in).window, has);
    stores_window_text(window, wanted);
    message_error("the windows differ: %s has %s, %s has %s", m->inputs[m->at], has, model_of(m),
                  wanted);
    message_hint("to say which one counts: %s", typed_with("--window %s", wanted));
    return false;
}

static bool merge_one(struct merge *m)
{
    const char *path = m->inputs[m->at];
    struct unseen_store *in = NULL;
    struct unseen_error error;
    uint64_t nnew = 0;
    if (!stores_open_to_read(&in, path, &m->o->seen, m->cpu)) {
        return false;
    }
    m->nkeys = stores_stats(unseen_store_set(in)).nkeys;
    m->nbytes = stores_info(in).log_bytes;
    m->nnew_before = m->report.nnew;
    m->nseen_before = m->report.nseen;
    const bool may_merge = check_window(m, in);
    const enum unseen_status status =
        may_merge ? unseen_store_merge(m->out, in, &nnew, show_progress, m, &error)
                  : UNSEEN_ERR_MISMATCH;
    if (status == UNSEEN_ERR_MISMATCH && may_merge) {
        report_mismatch(m, in, error.setting);
    } else if (status != UNSEEN_OK && may_merge) {
        const bool is_of_out = unseen_store_commit_poll(m->out, true, NULL, NULL) != UNSEEN_OK;
        stores_report(is_of_out ? m->path : path, &m->o->seen, &error);
    }
    m->report.nbytes += m->nbytes;
    (void)unseen_store_close(in, NULL); /* was only read */
    return status == UNSEEN_OK;
}

/* The capacity of a store like this one; 0: the same. A filter that grows gets room for the keys
 * that are there: the capacity in a file that somebody sent must not decide how much memory is
 * taken. */
static uint64_t merge_capacity(struct unseen_store *like)
{
    const struct unseen_set_stats stats = stores_stats(unseen_store_set(like));
    return stats.abilities & UNSEEN_CAN_GROW ? stats.nkeys + 1 : 0;
}

/* Opens a store that exists, or makes one with the settings of the first input. */
static bool open_out(struct merge *m)
{
    const struct options *o = m->o;
    if (o->merge.into) {
        return stores_open(&m->out, m->path, UNSEEN_STORE_DRAFT, &o->seen, &o->profile, m->cpu);
    }
    struct unseen_store *first = NULL;
    if (!stores_open_to_read(&first, m->inputs[0], &o->seen, m->cpu)) {
        return false;
    }
    struct unseen_error error = {.status = UNSEEN_OK};
    const struct unseen_store_options options = {.size = sizeof(options),
                                                 .mode = UNSEEN_STORE_DRAFT,
                                                 .like = first,
                                                 .capacity = merge_capacity(first),
                                                 .cpu = m->cpu,
                                                 .file_mode = o->seen.file_mode,
                                                 .window = o->seen.window};
    error.status = unseen_store_open(&m->out, m->path, &options, &error);
    if (error.status != UNSEEN_OK) {
        stores_report(m->path, &o->seen, &error);
    }
    (void)unseen_store_close(first, NULL); /* was only read */
    return error.status == UNSEEN_OK;
}

/* True if the store that lines are merged into exists exactly if --into says so. */
static bool check_out(const struct merge *m)
{
    struct stat st;
    const bool exists = lstat(m->path, &st) == 0;
    if (exists && !m->o->merge.into) {
        message_error("%s exists: the first name is that of the new store", m->path);
        const bool is_store = stores_type_of(m->path) == STORES_STORE;
        message_hint("to make a new one: unseen merge NEW.unseen%s%s", is_store ? "" : " IN",
                     is_store ? typed_inputs() : "...");
        if (is_store) {
            message_hint("to add to it: unseen merge --into%s", typed_inputs());
        }
        return false;
    }
    if (!exists && m->o->merge.into) {
        message_error("%s does not exist", m->path);
        message_hint("to make it: unseen merge %s%s", typed_quoted(m->path), typed_inputs());
        return false;
    }
    return true;
}

static bool check_names(const struct merge *m)
{
    if (m->ninputs == 0) {
        message_error("nothing to merge into %s", m->path);
        message_hint("unseen merge %s IN.unseen IN.unseen", typed_quoted(m->path));
        return false;
    }
    for (size_t i = 0; i < m->ninputs; i++) {
        if (stores_are_same(m->path, m->inputs[i])) {
            message_error("%s is both the output and an input", m->inputs[i]);
            message_hint("it keeps its URLs: unseen merge --into %s OTHER...",
                         typed_quoted(m->path));
            return false;
        }
    }
    return check_out(m);
}

/* False, and reported, if the filter is too small for all keys: new keys would be taken for old,
 * and be lost. */
static bool merge_check_fill(const struct merge *m)
{
    const uint64_t capacity =
        filters_report_full(unseen_store_set(m->out), m->report.nnew, m->report.nseen);
    if (capacity > 0) {
        message_hint("nothing was merged: unseen rewrite --capacity %" PRIu64 " %s && %s", capacity,
                     typed_quoted(model_of(m)), typed_line());
    }
    return capacity == 0;
}

static bool publish(struct merge *m)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    error.status = unseen_store_publish(m->out, &error);
    if (error.status != UNSEEN_OK) {
        stores_report(m->path, &m->o->seen, &error);
    }
    return error.status == UNSEEN_OK;
}

/* Prints an object about the store, if the options want one. */
static bool merge_put_json(const struct merge *m, const struct unseen_set_stats *stats)
{
    struct output out = {.fd = -1};
    if (!m->o->print.json) {
        return true;
    }
    if (!output_open(&out, NULL)) {
        return false;
    }
    json_write(&out, "{\"store\":");
    json_write_text(&out, m->path);
    output_print(&out,
                 ",\"inputs\":%zu,\"new\":%" PRIu64 ",\"seen\":%" PRIu64 ",\"keys\":%" PRIu64 "}\n",
                 m->ninputs, m->report.nnew, m->report.nseen, stats->nkeys);
    return output_close(&out);
}

int merge_run(const struct options *given, enum unseen_cpu cpu)
{
    /* What time it is now does not matter: the clocks of the stores count. */
    struct options untimed = *given;
    untimed.seen.has_line_times = true;
    const struct options *o = &untimed;
    struct merge m = {.o = o, .cpu = cpu, .path = o->merge.into, .inputs = o->input.files};
    m.ninputs = o->input.nfiles;
    if (!m.path) {
        m.path = *m.inputs++;
        m.ninputs--;
    }
    report_start(&m.report, &o->report, true);
    if (!check_names(&m) || !open_out(&m)) {
        return EXIT_TROUBLE;
    }
    bool merged = true;
    if (stores_info(m.out).window == 0) {
        (void)stores_tell_time(m.out, STORES_LEAVING); /* at which the lines come */
    }
    for (m.at = 0; m.at < m.ninputs && merged; m.at++) {
        report_at(m.inputs, m.ninputs, m.at, 0);
        report_poll();
        merged = merge_one(&m);
    }
    merged = merged && merge_check_fill(&m) && publish(&m);
    const struct unseen_set *set = unseen_store_set(m.out);
    const struct unseen_set_stats stats = stores_stats(set);
    report_end(&m.report, &stats, unseen_set_profile(set));
    if (!merged) {
        (void)unseen_store_close(m.out, NULL); /* the cause has been reported */
        return EXIT_TROUBLE;
    }
    return stores_close(m.out, m.path, &o->seen, false) && merge_put_json(&m, &stats)
               ? EXIT_DONE
               : EXIT_TROUBLE;
}
