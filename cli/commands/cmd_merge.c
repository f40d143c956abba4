/* SPDX-License-Identifier: MIT
 *
 * `unseen merge`: makes one store of several, or adds stores to a store. All or nothing: the merged
 * store is a draft until the last input has been read. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/commands.h"
#include "print/json.h"
#include "print/message.h"
#include "print/output.h"
#include "print/typed.h"
#include "seen/asked.h"
#include "seen/beyond.h"
#include "seen/filter_words.h"
#include "seen/stores.h"

enum {
    KEY_LEN = 16,
    COMMIT_AFTER = 1 << 16 /* changes that wait */
};

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

    /* with --memory */
    struct asked asked; /* the merged store */
    struct beyond beyond;
    bool is_again;      /* the inputs are read for the second time */
    bool failed;        /* reported */
    uint64_t nread;     /* keys of this reading */
    uint64_t nanswered; /* before keys were gathered */
    uint64_t nwaiting;  /* for a commit */
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

/* About how many keys the store has: fewer, if some were removed. */
static uint64_t count_changes(struct unseen_store *in)
{
    const struct unseen_store_info info = stores_info(in);
    return info.log_bytes / (info.key_bits / 8);
}

static bool merge_one(struct merge *m)
{
    const char *path = m->inputs[m->at];
    struct unseen_store *in = NULL;
    struct unseen_error error;
    uint64_t nnew = 0;
    if (!stores_open_for_keys(&in, path, &m->o->seen, m->cpu)) {
        return false;
    }
    m->nkeys = count_changes(in);
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

/* ---- Larger than memory ----------------------------------------------------------------------
 *
 * With --memory the keys of the inputs are asked as lines of a run are (beyond.h): from some key on
 * they are gathered, the merged store is read part by part and answers them, and the inputs are
 * read again. They stay open, so they end where they ended. */

/* Asks for at most BATCH_LINES keys. MISMATCH has been reported. */
static enum unseen_status take_batch(struct merge *m, const struct unseen_key *keys, size_t n)
{
    const struct unseen_set *set = unseen_store_set(m->out);
    struct unseen_key narrow[BATCH_LINES];
    uint8_t packed[BATCH_LINES * KEY_LEN];
    uint8_t verdicts[BATCH_LINES];
    size_t nnew = 0;
    const size_t len = unseen_set_pack_keys(set, keys, n, packed);
    (void)unseen_set_unpack_keys(set, packed, len, narrow, BATCH_LINES, &n); /* as many */
    struct query q = {.keys = narrow, .n = n, .verdicts = verdicts};
    if (!m->beyond.gathers && beyond_is_reached(&m->beyond, m->nread)) {
        if (!beyond_gather(&m->beyond, &m->asked)) {
            return UNSEEN_ERR_MISMATCH;
        }
        m->nanswered = m->nread;
    }
    const enum unseen_status status = m->asked.ops->ask(&m->asked, &q);
    if (status != UNSEEN_OK || (m->beyond.gathers && !m->is_again)) {
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        nnew += verdicts[i] == UNSEEN_NEW;
    }
    m->report.nnew += nnew;
    m->report.nseen += n - nnew;
    m->nwaiting += nnew;
    return UNSEEN_OK;
}

static bool begin_commit(struct merge *m)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    error.status = unseen_store_commit_begin(m->out, UINT64_MAX, 0, &error);
    if (error.status != UNSEEN_OK) {
        stores_report(m->path, &m->o->seen, &error);
    }
    m->nwaiting = 0;
    return error.status == UNSEEN_OK;
}

static bool take_keys(void *context, const struct unseen_key *keys, size_t n)
{
    struct merge *m = context;
    enum unseen_status status = UNSEEN_OK;
    for (size_t done = 0; done < n && status == UNSEEN_OK;) {
        const uint64_t left = m->is_again && m->nread < m->nanswered ? m->nanswered - m->nread : 0;
        const size_t most = left > 0 && left < BATCH_LINES ? (size_t)left : BATCH_LINES;
        const size_t count = n - done < most ? n - done : most;
        status = left > 0 ? UNSEEN_OK : take_batch(m, keys + done, count);
        m->nread += count;
        m->nkeys += count; /* of this input */
        done += count;
    }
    m->failed = status != UNSEEN_OK;
    if (status != UNSEEN_OK && status != UNSEEN_ERR_MISMATCH) {
        message_error("cannot add keys to %s: %s", m->path, unseen_status_string(status));
    }
    report_at(m->inputs, m->ninputs, m->at, m->nkeys * 8);
    report_poll();
    m->failed = m->failed || (m->nwaiting >= COMMIT_AFTER && !begin_commit(m));
    return !m->failed;
}

static bool read_input(struct merge *m, struct unseen_store *in)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    m->nkeys = 0;
    error.status = unseen_store_keys(in, take_keys, m, &error);
    if (error.status != UNSEEN_OK) {
        stores_report(m->inputs[m->at], &m->o->seen, &error);
    }
    return error.status == UNSEEN_OK && !m->failed;
}

static bool read_inputs(struct merge *m, struct unseen_store *const *ins)
{
    bool good = true;
    m->nread = 0;
    for (m->at = 0; m->at < m->ninputs && good; m->at++) {
        good = read_input(m, ins[m->at]);
    }
    return good;
}

/* False, and reported, if the keys of the input are not those of the merged store. */
static bool check_input(const struct merge *m, struct unseen_store *in)
{
    const struct unseen_store_info has = stores_info(in);
    const struct unseen_store_info wanted = stores_info(m->out);
    const struct unseen_set *set = unseen_store_set(m->out);
    if (strcmp(unseen_set_profile(unseen_store_set(in)), unseen_set_profile(set)) != 0) {
        report_mismatch(m, in, UNSEEN_SETTING_PROFILE);
    } else if (has.seed_id != wanted.seed_id) {
        report_mismatch(m, in, UNSEEN_SETTING_SEED);
    } else if (has.key_bits < wanted.key_bits) {
        report_mismatch(m, in, UNSEEN_SETTING_KEY_BITS);
    } else if (has.nallowed > 0) {
        message_error("%s allows lines, which cannot be merged part by part", m->inputs[m->at]);
        message_hint("%s", typed_without("memory"));
    } else {
        return check_window(m, in);
    }
    return false;
}

static bool open_inputs(struct merge *m, struct unseen_store **ins)
{
    bool good = true;
    for (m->at = 0; m->at < m->ninputs && good; m->at++) {
        good = stores_open_for_keys(&ins[m->at], m->inputs[m->at], &m->o->seen, m->cpu) &&
               check_input(m, ins[m->at]);
        m->report.nbytes += good ? stores_info(ins[m->at]).log_bytes : 0;
    }
    return good;
}

static bool merge_with_limit(struct merge *m)
{
    struct unseen_store **ins = calloc(m->ninputs, sizeof(struct unseen_store *));
    m->asked = (struct asked){.ops = &asked_store, .adds = true, .store = m->out};
    m->asked.set = unseen_store_set(m->out);
    m->beyond = (struct beyond){.limit = m->o->seen.memory,
                                .set = m->asked.set,
                                .store = m->out,
                                .path = m->path,
                                .report = &m->report};
    bool good = ins ? open_inputs(m, ins) && read_inputs(m, ins) : message_no_memory();
    if (good && m->beyond.gathers) {
        m->is_again = true;
        good = begin_commit(m) && beyond_answer(&m->beyond, &m->asked) && read_inputs(m, ins) &&
               beyond_end(&m->beyond);
    }
    for (size_t i = 0; ins && i < m->ninputs; i++) {
        (void)unseen_store_close(ins[i], NULL); /* was only read */
    }
    free(ins);
    beyond_release(&m->beyond);
    return good;
}

static bool merge_inputs(struct merge *m)
{
    bool good = true;
    for (m->at = 0; m->at < m->ninputs && good; m->at++) {
        report_at(m->inputs, m->ninputs, m->at, 0);
        report_poll();
        good = merge_one(m);
    }
    return good;
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
    const bool has_limit = o->seen.memory > 0;
    if (!(has_limit ? stores_open_for_keys : stores_open_to_read)(&first, m->inputs[0], &o->seen,
                                                                  m->cpu)) {
        return false;
    }
    struct unseen_error error = {.status = UNSEEN_OK};
    const struct unseen_store_options options = {.size = sizeof(options),
                                                 .mode = UNSEEN_STORE_DRAFT,
                                                 .like = first,
                                                 .capacity = has_limit ? 1 : merge_capacity(first),
                                                 .cpu = m->cpu,
                                                 .file_mode = o->seen.file_mode,
                                                 .window = o->seen.window,
                                                 .memory = o->seen.memory};
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
    if ((o->seen.memory > 0 && !beyond_check(o->seen.memory)) || !check_names(&m) ||
        !open_out(&m)) {
        return EXIT_TROUBLE;
    }
    if (stores_info(m.out).window == 0) {
        (void)stores_tell_time(m.out, STORES_LEAVING); /* at which the lines come */
    }
    report_at(m.inputs, m.ninputs, 0, 0);
    const bool merged = (o->seen.memory > 0 ? merge_with_limit(&m) : merge_inputs(&m)) &&
                        merge_check_fill(&m) && publish(&m);
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
