/* SPDX-License-Identifier: MIT
 *
 * `unseen build`, from lines to a list:
 *
 *     IN... -> build_entries -> LIST.building/.unseen-list -> LIST
 *                                 ^
 *                      changes of --from, --known-good
 *
 * Everything is made in the folder LIST.building. So LIST does not change until the new list is
 * complete. A build that is interrupted begins anew. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include <unseen_list.h>

#include "build/build_job.h"
#include "print/message.h"
#include "print/typed.h"
#include "seen/lists.h"
#include "seen/stores.h"
#include "stop.h"

enum {
    WAITS_SILENT = 20
};

/* ---- Beginning ------------------------------------------------------------------------------- */

/* Cuts off the path of the work file, which means nothing to a user. */
static const char *without_path(const char *text, const char *path)
{
    const size_t len = strlen(path);
    return strncmp(text, path, len) == 0 && strncmp(text + len, ": ", 2) == 0 ? text + len + 2
                                                                              : text;
}

static bool report_build(const struct build_job *m, const struct unseen_error *error)
{
    const char *text = message_of(error);
    if (error->setting == UNSEEN_SETTING_FPR) {
        message_error("--fpr %g: %s", m->fpr, without_path(text, m->folder.list));
        message_hint("%s", typed_with("--fpr 1e-4"));
        return false;
    }
    message_error("%s", text);
    return false;
}

static struct unseen_list_build_options options_of(const struct build_job *m)
{
    return (struct unseen_list_build_options){
        .size = sizeof(struct unseen_list_build_options),
        .fpr = m->fpr,
        .capacity = m->o->seen.capacity,
        .memory = m->o->list.memory,
        .folder = m->folder.name,
        .threads = m->nthreads,
        .seed = seed_bytes(&m->o->seen.seed),
        .seed_len = m->o->seen.seed.len,
        .profile = m->profile,
        .kind = m->kind,
        .cpu = m->cpu,
    };
}

/* Estimates the bytes of each key until the list is built: enough to tell `capacity` keys apart,
 * without the bits that the part of a key says. */
static double key_bytes(uint64_t capacity, double fpr)
{
    if (capacity == 0) {
        return 7;
    }
    const double bits = ceil(log2((double)capacity) - log2(0.006 * fpr));
    return fmin(fmax(ceil((bits - 14) / 8), 5), 7);
}

/* Estimates the bytes of n keys that are on the disk until the list is built: those for which the
 * library's buffers, a quarter of the memory, have no room. */
static double spilled_bytes(const struct list_options *o, double n, double bytes)
{
    const double memory = o->memory > 0 ? (double)o->memory : 0x1p30;
    return fmax(n * bytes - memory / 4, 0);
}

/* Checks the free space. While the list grows, the keys give their room back, and a key takes more
 * room than its part of the list. So the larger of both is needed. */
static bool check_room(const struct build_job *m)
{
    const struct options *o = m->o;
    uint64_t nlines = o->seen.capacity;
    if (nlines == 0 && !build_inputs_guess_lines(&m->inputs, o, &nlines)) {
        return false;
    }
    const double fpr = m->fpr / unseen_kind_texts_max(m->kind);
    const double list_bytes = (-log2(fpr) * 1.02 + 0.1) / 8;
    const double n = (double)nlines;
    const double spilled = spilled_bytes(&o->list, n, key_bytes(o->seen.capacity, fpr));
    const double need = fmax(n * list_bytes, spilled);
    const uint64_t room = build_folder_room(&m->folder);
    if (o->list.force || need <= (double)room) {
        return true;
    }
    message_error("%s needs about %.3g GB, and there are %.3g GB", m->folder.name, need * 1e-9,
                  (double)room * 1e-9);
    message_hint("make room, or build on another disk; to try it: %s", typed_with("--force"));
    return false;
}

static bool job_start(struct build_job *m)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    if (!check_room(m)) {
        return false;
    }
    const struct unseen_list_build_options options = options_of(m);
    error.status = unseen_list_build_create(&m->build, m->folder.list, &options, &error);
    if (error.status == UNSEEN_OK) {
        error.status = build_old_add(&m->old, m->build, &error);
    }
    return error.status == UNSEEN_OK || report_build(m, &error);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static double share_of(const struct build_job *m, const struct build_place *place)
{
    return m->inputs.are_files ? build_inputs_share(&m->inputs, place) : -1;
}

void build_job_look(struct build_job *m, const struct build_done *done)
{
    progress_show(&m->progress, "reading", done->counts.nlines, "lines", share_of(m, &done->place));
}

static bool job_read_lines(struct build_job *m)
{
    progress_phase(&m->progress, 0, share_of(m, &m->done.place));
    const enum build_ending ending = build_entries_run(m);
    progress_end(&m->progress);
    if (ending == BUILD_UNREADABLE) {
        message_error("nothing was built");
    }
    return ending == BUILD_ALL;
}

static bool refuse_list(const char *why)
{
    message_hint("%s: %s", why, typed_with("--force"));
    return false;
}

/* Hints at what the entries of a list of URLs should have been. */
static void hint_entries(const struct build_job *m)
{
    if (m->watch.look == LOOK_HOST) {
        message_hint("to take names for sites: %s", typed_with("--expressions"));
    } else if (m->watch.look != LOOK_OTHER && m->o->key.key.nparts == 0) {
        url_watch_hint(&m->watch, m->profile, false);
    } else {
        message_hint("--expressions takes names for sites, --kind mail, ip and phone other things; "
                     "-p none says that bytes are meant");
    }
}

/* Refuses an empty list, which lets everything through, and a list of URLs that most lines are not,
 * or that was an archive: most likely something went wrong before. */
static bool check_entries(const struct build_job *m)
{
    const struct build_counts *c = &m->done.counts;
    if (m->o->list.force) {
        return true;
    }
    if (c->nentries == 0 && m->old.info.nadded == 0) {
        message_error("there are no entries: nothing was built");
        return refuse_list("to make an empty list");
    }
    if (m->kind == UNSEEN_KIND_URL &&
        (c->nliteral > c->nentries / 2 || m->watch.look == LOOK_WARC)) {
        message_error("%" PRIu64 " of %" PRIu64
                      " entries are not URLs, and only a question of the same bytes would match "
                      "them: nothing was built",
                      c->nliteral, c->nentries);
        hint_entries(m);
        return refuse_list("to build it all the same");
    }
    return true;
}

/* ---- The list -------------------------------------------------------------------------------- */

static bool show_built(void *context, uint64_t ndone, uint64_t n)
{
    struct build_job *m = context;
    progress_show(&m->progress, "building", ndone, "keys", n > 0 ? (double)ndone / (double)n : 1);
    return !stop_is_wanted();
}

static bool job_finish(struct build_job *m)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    progress_phase(&m->progress, 0, 0);
    error.status = unseen_list_build_finish(m->build, show_built, m, &error);
    progress_end(&m->progress);
    if (error.status == UNSEEN_ERR_STOPPED) {
        return false; /* by show_built: a signal asks the program to end */
    }
    return error.status == UNSEEN_OK || report_build(m, &error);
}

/* Locks the list that will be replaced, so that no change gets lost: opens an edit of it. Other
 * edits take moments, so it waits for them. A damaged list is not locked: nobody can change it. */
static bool hold_list(const struct build_job *m, struct unseen_list_edit **edit_out)
{
    const struct timespec moment = {.tv_nsec = 50 * 1000 * 1000};
    enum unseen_status status = UNSEEN_OK;
    *edit_out = NULL;
    for (unsigned n = 0; stores_type_of(m->folder.path) == STORES_LIST; n++) {
        status = unseen_list_edit_open(edit_out, m->folder.path, NULL, NULL);
        if (status != UNSEEN_ERR_BUSY) {
            break;
        }
        if (n == WAITS_SILENT) {
            message_plain("unseen: waiting for another process that is changing %s",
                          m->o->seen.path);
        }
        if (stop_is_wanted() || (nanosleep(&moment, NULL) != 0 && stop_is_wanted())) {
            return false;
        }
    }
    if (status != UNSEEN_OK) {
        *edit_out = NULL;
    }
    return true;
}

/* Warns of changes that were made after the first warning. */
static void warn_of_more_changes(const struct build_job *m)
{
    const uint64_t n = m->o->list.from ? 0 : build_count_changes(m->o);
    if (n > m->nforgotten) {
        message_warning("%" PRIu64 " changes of %s that were made meanwhile are gone",
                        n - m->nforgotten, m->o->seen.path);
    }
}

/* Replaces the list. The lock is short: it covers only the last reading of the changes and the
 * rename. */
static bool build_replace(struct build_job *m)
{
    struct unseen_list_edit *held = NULL;
    struct unseen_error error = {.status = UNSEEN_OK};
    if (!hold_list(m, &held)) {
        return false;
    }
    /* A build takes hours: another file may have got the name. */
    if (!build_check_target(m->o) || !build_folder_check_name(&m->folder)) {
        unseen_list_edit_close(held);
        return false;
    }
    error.status = build_old_carry(&m->old, m->folder.list, &error);
    if (error.status == UNSEEN_OK) {
        warn_of_more_changes(m);
    } else {
        lists_report(m->folder.list, &error);
    }
    const bool good = error.status == UNSEEN_OK && build_folder_place(&m->folder);
    unseen_list_edit_close(held);
    return good;
}

/* Counts the entries that a list has now, with its changes; 0 if there is no such list. */
static uint64_t entries_of(const char *path)
{
    struct unseen_list_info info;
    struct unseen_error error;
    if (!path || stores_type_of(path) != STORES_LIST ||
        build_read_info(path, &info, &error) != UNSEEN_OK) {
        return 0;
    }
    const uint64_t n = info.nkeys + info.nadded;
    return n > info.nremoved ? n - info.nremoved : 0;
}

/* Refuses a list of less than half the entries of the list of --from, or of the list that it would
 * replace: most likely the lines are not all there. */
static bool check_size(const struct build_job *m)
{
    const char *const olds[] = {m->o->list.from, m->o->seen.path};
    struct unseen_list_info info;
    struct unseen_error error;
    if (m->o->list.force) {
        return true;
    }
    if (build_read_info(m->folder.list, &info, &error) != UNSEEN_OK) {
        return report_build(m, &error);
    }
    for (size_t i = 0; i < sizeof(olds) / sizeof(olds[0]); i++) {
        const uint64_t n = entries_of(olds[i]);
        if (info.nkeys < n - n / 2) {
            message_error("%" PRIu64 " entries are less than half of the %" PRIu64
                          " of %s, which stays as it is",
                          info.nkeys, n, olds[i]);
            return refuse_list("to build the smaller list");
        }
    }
    return true;
}

static bool job_place(struct build_job *m)
{
    const bool good =
        build_folder_check_name(&m->folder) && build_known_good_run(m) && build_replace(m);
    progress_end(&m->progress);
    return good;
}

/* ---- The command ----------------------------------------------------------------------------- */

static void job_release(struct build_job *m)
{
    unseen_list_build_free(m->build);
    build_folder_remove(&m->folder);
    build_folder_release(&m->folder);
    build_inputs_release(&m->inputs);
    text_release(&m->allowed);
    build_old_close(&m->old);
    unseen_url_free(m->url);
}

int build_run(const struct options *o, enum unseen_cpu cpu)
{
    struct build_job m = {.o = o, .cpu = cpu, .folder = {.fd = -1}};
    bool done = false;
    progress_start(&m.progress, o->report.progress, o->report.color, true);
    if (build_job_prepare(&m)) {
        stop_listen();
        done = job_start(&m) && job_read_lines(&m) && check_entries(&m) && job_finish(&m) &&
               check_size(&m) && job_place(&m);
    }
    const bool good = done && build_job_report(&m);
    job_release(&m);
    if (!done) {
        stop_die(false);
    }
    return good ? EXIT_DONE : EXIT_TROUBLE;
}
