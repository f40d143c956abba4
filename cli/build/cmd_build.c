/* SPDX-License-Identifier: MIT
 *
 * `unseen build`, from lines to a list:
 *
 *     IN... -> build_entries -> LIST.building/keys -> LIST.building/list -> LIST
 *                                   |                    ^
 *                              checkpoints        changes of --from, --known-good
 *
 * Everything is made in the folder LIST.building. So LIST does not change until the new list is
 * complete, and another run can go on where one was interrupted. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <unseen_list.h>

#include "build/build_job.h"
#include "lines/files.h"
#include "lines/profile.h"
#include "print/message.h"
#include "seen/lists.h"
#include "seen/stores.h"
#include "stop.h"

enum {
    THREADS_MAX = 256,
    WAITS_SILENT = 20
};

/* ---- What is asked for ----------------------------------------------------------------------- */

/* Refuses - as the list, which needs a name: an input was meant. */
static bool check_name(const struct options *o)
{
    if (o->seen.path[0] != '\0' && !files_is_standard_input(o->seen.path)) {
        return true;
    }
    message_error("the list needs a file name, and '%s' is not one", o->seen.path);
    message_hint("unseen build NEW.list FILE, or - in place of FILE for standard input");
    return false;
}

/* Checks that LIST does not exist, or is a list. */
static bool check_target(const struct options *o)
{
    struct stat st;
    const char *path = o->seen.path;
    /* In a folder where anybody can make a link, the link may lead to a list of ours. */
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && st.st_uid != geteuid() && st.st_uid != 0) {
        message_error("%s is a symbolic link that another user has made", path);
        message_hint("build the list where it leads to, or remove the link");
        return false;
    }
    if (stat(path, &st) != 0) {
        return true;
    }
    const enum stores_kind kind = stores_kind_of(path);
    if (kind == STORES_LIST || (S_ISREG(st.st_mode) && st.st_size == 0)) {
        return true;
    }
    message_error(kind == STORES_NONE ? "%s is something else than a list, and stays as it is"
                                      : "%s is a store, and stays as it is",
                  path);
    message_hint("unseen build NEW.list FILE");
    return false;
}

static bool check_standard_input(const struct build_job *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->inputs.n; i++) {
        n += files_is_standard_input(m->inputs.names[i]);
    }
    for (size_t i = 0; i < m->o->list.nknown_good; i++) {
        n += files_is_standard_input(m->o->list.known_good[i]);
    }
    if (n > 1) {
        message_error("standard input can be read only once");
        message_hint("unseen build --known-good FILE %s < FILE", m->o->seen.path);
    }
    return n <= 1;
}

/* Checks --from: it needs inputs as well, because the old list has no entries. */
static bool check_from(const struct options *o)
{
    if (o->list.from && o->input.none_named) {
        message_error("a list does not keep its entries, and without them it cannot be built anew");
        message_hint("unseen build --from %s %s FILE, or - for standard input", o->list.from,
                     o->seen.path);
        return false;
    }
    return true;
}

static bool report_kinds(const struct build_job *m, enum unseen_kind wanted)
{
    message_error("%s has the kind %s, not %s", m->o->list.from, unseen_kind_name(m->old.info.kind),
                  unseen_kind_name(wanted));
    message_hint("unseen build --from %s %s FILE, without --kind", m->o->list.from,
                 m->o->seen.path);
    return false;
}

/* Finds the kind; --expressions names a kind, too. */
static bool choose_kind(struct build_job *m)
{
    const struct options *o = m->o;
    if (o->list.expressions && o->list.has_kind &&
        unseen_kind_newest(o->list.kind) != UNSEEN_KIND_EXPRESSIONS) {
        message_error("--expressions is for URLs, not for the kind %s",
                      unseen_kind_name(o->list.kind));
        message_hint("unseen build --expressions %s FILE", o->seen.path);
        return false;
    }
    m->kind = o->list.has_kind      ? o->list.kind
              : o->list.expressions ? UNSEEN_KIND_EXPRESSIONS
                                    : unseen_kind_newest(m->old.info.kind);
    return !o->list.from || unseen_kind_newest(m->kind) == unseen_kind_newest(m->old.info.kind) ||
           report_kinds(m, m->kind);
}

static bool report_profiles(const struct build_job *m)
{
    message_error("%s has the profile %s, not %s", m->o->list.from, m->old.info.profile,
                  m->profile);
    message_hint("unseen build --from %s %s FILE, without -p and --rule", m->o->list.from,
                 m->o->seen.path);
    return false;
}

static bool choose_profile(struct build_job *m)
{
    const struct options *o = m->o;
    struct profile_options wanted = o->profile;
    const bool is_url = m->kind == UNSEEN_KIND_URL;
    if (!is_url && (o->profile.name || o->profile.nrules > 0)) {
        message_error("entries of the kind %s need no profile", unseen_kind_name(m->kind));
        message_hint("unseen build --kind %s %s FILE", unseen_kind_name(m->kind), o->seen.path);
        return false;
    }
    m->profile = "none/1";
    if (!is_url && unseen_kind_newest(m->kind) != UNSEEN_KIND_EXPRESSIONS) {
        return true;
    }
    if (o->list.from && !o->profile.name && o->profile.nrules == 0) {
        wanted.name = m->old.info.profile;
    }
    wanted.like = o->list.from ? m->old.info.profile : NULL;
    if (!profile_create(&m->url, &wanted, is_url ? NULL : "safebrowsing", m->cpu)) {
        return false;
    }
    m->profile = unseen_url_id(m->url);
    return !o->list.from || strcmp(m->profile, m->old.info.profile) == 0 || report_profiles(m);
}

const struct unseen_url *build_job_url(const struct build_job *m)
{
    return m->url && m->kind == UNSEEN_KIND_URL && profile_is_none(m->url) ? NULL : m->url;
}

/* Reads the figures of a list. Errors: those of opening lists. */
static enum unseen_status read_info(const char *path, struct unseen_list_info *info,
                                    struct unseen_error *error)
{
    const struct unseen_list_options cold = {.size = sizeof(cold), .access = UNSEEN_LIST_MAP};
    struct unseen_list *list = NULL;
    *info = (struct unseen_list_info){.size = sizeof(*info)};
    *error = (struct unseen_error){.status = UNSEEN_OK};
    error->status = unseen_list_open(&list, path, &cold, error);
    if (error->status == UNSEEN_OK) {
        error->status = unseen_list_info(list, info);
    }
    unseen_list_close(list);
    return error->status;
}

/* Counts the changes of the list that will be replaced; 0 if it cannot be opened. */
static uint64_t count_changes(const struct options *o)
{
    struct unseen_list_info info;
    struct unseen_error error;
    if (stores_kind_of(o->seen.path) != STORES_LIST) {
        return 0;
    }
    if (read_info(o->seen.path, &info, &error) != UNSEEN_OK) {
        message_warning("%s; what was allowed, added or removed in it will be gone", error.text);
        return 0;
    }
    return info.nallowed + info.nadded + info.nremoved;
}

/* Warns of changes that the new list will not have: other people may have made them. */
static void warn_of_changes(struct build_job *m)
{
    const char *list = m->o->seen.path;
    m->nforgotten = m->o->list.from ? 0 : count_changes(m->o);
    if (m->nforgotten > 0) {
        message_warning("%" PRIu64 " changes of %s (allowed, added, removed) will be gone",
                        m->nforgotten, list);
        message_hint("unseen build --from %s %s FILE takes them over", list, list);
    }
}

static unsigned count_processors(void)
{
    cpu_set_t usable;
    const int n = sched_getaffinity(0, sizeof(usable), &usable) == 0 ? CPU_COUNT(&usable) : 1;
    return n < 1 ? 1 : n < THREADS_MAX ? (unsigned)n : THREADS_MAX;
}

static bool job_prepare(struct build_job *m)
{
    const struct options *o = m->o;
    const unsigned wanted = o->input.threads ? o->input.threads : count_processors();
    m->nthreads = wanted < THREADS_MAX ? wanted : THREADS_MAX;
    if (!check_name(o) || !check_target(o) || !check_from(o) || !build_inputs_look(&m->inputs, o) ||
        !check_standard_input(m) || !build_known_good_check(o) ||
        !build_old_open(&m->old, o->list.from) || !choose_kind(m) || !choose_profile(m) ||
        !build_old_read(&m->old, m->kind, m->url)) {
        return false;
    }
    m->fpr = o->seen.fpr > 0 ? o->seen.fpr
             : o->list.from  ? m->old.info.fpr
                             : UNSEEN_LIST_FPR_DEFAULT;
    m->keeps = m->inputs.are_files;
    warn_of_changes(m);
    return build_folder_open(&m->folder, o->seen.path);
}

/* ---- Beginning, or going on ------------------------------------------------------------------ */

static void hint_to_go_on(void)
{
    message_hint("when the cause is gone, the same command goes on where this one was");
}

/* Cuts off the path of the work file, which means nothing to a user. */
static const char *without_path(const char *text, const char *path)
{
    const size_t len = strlen(path);
    return strncmp(text, path, len) == 0 && strncmp(text + len, ": ", 2) == 0 ? text + len + 2
                                                                              : text;
}

static bool report_build(struct build_job *m, const struct unseen_error *error)
{
    const char *list = m->o->seen.path;
    const char *text = message_of(error);
    if (error->setting == UNSEEN_SETTING_FPR) {
        message_error("--fpr %g: %s", m->fpr, without_path(text, m->folder.list));
        message_hint("unseen build --fpr 1e-4 %s FILE", list);
        return false;
    }
    switch (error->status) {
    case UNSEEN_ERR_CORRUPT:
    case UNSEEN_ERR_VERSION:
    case UNSEEN_ERR_MISMATCH:
        message_error("cannot go on with what is in %s: %s", m->folder.name, text);
        message_hint("begin anew: unseen build --restart %s FILE", list);
        break;
    case UNSEEN_ERR_FOREIGN:
        message_error("%s", text);
        message_hint("remove it; unseen build --restart %s FILE begins anew", list);
        break;
    default:
        message_error("%s", text);
        m->keeps = m->keeps && m->has_state;
        if (m->keeps) {
            hint_to_go_on();
        }
        break;
    }
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
        .keep = m->keeps,
        .threads = m->nthreads,
        .seed = seed_bytes(&m->o->seen.seed),
        .seed_len = m->o->seen.seed.len,
        .profile = m->profile,
        .kind = m->kind,
        .cpu = m->cpu,
    };
}

/* Estimates the bytes of each key that are kept until the list is built: enough to tell `capacity`
 * keys apart, without the bits that the part of a key says. */
static double kept_bytes(uint64_t capacity, double fpr)
{
    if (capacity == 0) {
        return 7;
    }
    const double bits = ceil(log2((double)capacity) - log2(0.006 * fpr));
    return fmin(fmax(ceil((bits - 14) / 8), 5), 7);
}

/* Checks the free space: keys and list are on the disk at the same time. */
static bool check_room(const struct build_job *m)
{
    const struct options *o = m->o;
    uint64_t nlines = o->seen.capacity;
    if (nlines == 0 && !build_inputs_guess_lines(&m->inputs, o, &nlines)) {
        return false;
    }
    const double fpr = m->fpr / unseen_kind_texts_max(m->kind);
    const double list_bytes = (-log2(fpr) * 1.02 + 0.1) / 8;
    const double need = (double)nlines * (kept_bytes(o->seen.capacity, fpr) + list_bytes);
    const uint64_t room = build_folder_room(&m->folder);
    if (o->list.force || need <= (double)room) {
        return true;
    }
    message_error("%s needs about %.3g GB, and there are %.3g GB", m->folder.name, need * 1e-9,
                  (double)room * 1e-9);
    message_hint("make room, or build on another disk; --force tries it");
    return false;
}

static bool begin_build(struct build_job *m, const struct unseen_list_build_options *options)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    build_folder_clear(&m->folder);
    if (!check_room(m)) {
        return false;
    }
    error.status = unseen_list_build_create(&m->build, m->folder.list, options, &error);
    if (error.status == UNSEEN_OK) {
        error.status = build_old_add(&m->old, m->build, &error);
    }
    return error.status == UNSEEN_OK || report_build(m, &error);
}

/* Begins a new build. If that fails, no other run can go on with it. */
static bool begin_anew(struct build_job *m, const struct unseen_list_build_options *options)
{
    const bool begun = begin_build(m, options);
    m->keeps = m->keeps && begun;
    return begun;
}

static bool go_on(struct build_job *m, struct unseen_bytes note)
{
    if (!build_note_read(note, &m->description, m->o->seen.path, &m->done.place, &m->done.counts)) {
        return false;
    }
    m->is_complete = unseen_list_build_complete(m->build);
    m->saved = true;
    message_plain("unseen: going on after %" PRIu64 " lines of an interrupted build",
                  m->done.counts.nlines);
    return true;
}

/* Refuses to go on with inputs that can be read only once: the interrupted build has not read
 * them. */
static bool report_state(struct build_job *m)
{
    message_error(
        "%s holds the work of an interrupted build, and standard input or a pipe cannot go "
        "on with it",
        m->folder.name);
    message_hint("the command that was interrupted goes on with it; begin anew: unseen build "
                 "--restart %s FILE",
                 m->o->seen.path);
    m->keeps = true; /* keep the checkpoint of the other build */
    return false;
}

static bool job_start(struct build_job *m)
{
    if (!m->keeps && !m->o->list.restart && build_folder_has_state(&m->folder)) {
        return report_state(m);
    }
    const struct unseen_list_build_options options = options_of(m);
    struct unseen_error error = {.status = UNSEEN_OK};
    struct unseen_bytes note = {NULL, 0};
    if (!build_note_describe(&m->description, m)) {
        return message_no_memory();
    }
    if (!m->keeps || m->o->list.restart) {
        return begin_anew(m, &options);
    }
    error.status = unseen_list_build_resume(&m->build, m->folder.list, &options, &note, &error);
    if (error.status == UNSEEN_ERR_MISSING) {
        return begin_anew(m, &options);
    }
    m->old.partly = true;
    m->has_state = true; /* after any later failure, another run can go on */
    return error.status == UNSEEN_OK ? go_on(m, note) : report_build(m, &error);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static bool job_save(struct build_job *m, const struct build_done *done)
{
    struct unseen_error error = {.status = UNSEEN_ERR_NOMEM};
    m->note.len = 0;
    if (text_reserve(&m->note, m->description.len)) {
        memcpy(m->note.data, m->description.data, m->description.len);
        m->note.len = m->description.len;
        if (build_note_put(&m->note, &done->place, &done->counts)) {
            error.status =
                unseen_list_build_checkpoint(m->build, m->note.data, m->note.len, &error);
        }
    }
    m->has_state = m->has_state || error.status == UNSEEN_OK;
    return error.status == UNSEEN_OK || report_build(m, &error);
}

bool build_job_save(struct build_job *m, const struct build_done *done)
{
    m->saved = true;
    return job_save(m, done);
}

static double share_of(const struct build_job *m, const struct build_place *place)
{
    return m->inputs.are_files ? build_inputs_share(&m->inputs, place) : -1;
}

void build_job_look(struct build_job *m, const struct build_done *done)
{
    progress_show(&m->progress, "reading", done->counts.nlines, "lines", share_of(m, &done->place));
}

static bool report_interrupted(const struct build_job *m)
{
    if (m->keeps) {
        message_plain("unseen: interrupted after %" PRIu64
                      " lines; the same command goes on from there",
                      m->done.counts.nlines);
    }
    return false;
}

/* Keeps the checkpoint only if it took a while to reach: if the user replaces the file, the build
 * begins anew. */
static bool report_unreadable(struct build_job *m)
{
    message_error("nothing was built");
    m->keeps = m->keeps && m->saved;
    if (m->keeps) {
        message_hint("when the file can be read again, unchanged, the same command goes on; unseen "
                     "build --restart %s FILE begins anew",
                     m->o->seen.path);
    }
    return false;
}

static bool job_read_lines(struct build_job *m)
{
    progress_phase(&m->progress, m->done.counts.nlines, share_of(m, &m->done.place));
    const enum build_ending ending = build_entries_run(m);
    progress_end(&m->progress);
    if (ending == BUILD_REFUSED) {
        m->keeps = false; /* the lines have to be changed first */
        return false;
    }
    if (ending == BUILD_BROKEN || (m->keeps && !job_save(m, &m->done))) {
        return false;
    }
    if (ending == BUILD_UNREADABLE) {
        return report_unreadable(m);
    }
    return ending == BUILD_INTERRUPTED ? report_interrupted(m) : ending == BUILD_ALL;
}

/* Hints at --force. Keeps the checkpoint only if it took a while to reach: if the user replaces the
 * files, the build begins anew. */
static bool refuse_list(struct build_job *m, const char *why)
{
    message_hint("unseen build --force %s FILE %s", m->o->seen.path, why);
    m->keeps = m->keeps && m->saved;
    return false;
}

/* Refuses an empty list, which lets everything through, and a list of URLs that most lines are not:
 * most likely something went wrong before. */
static bool check_entries(struct build_job *m)
{
    const struct build_counts *c = &m->done.counts;
    if (m->o->list.force) {
        return true;
    }
    if (c->nentries == 0 && m->old.info.nadded == 0) {
        message_error("there are no entries: nothing was built");
        return refuse_list(m, "makes an empty list");
    }
    if (c->nplain > c->nentries / 2) {
        message_error("%" PRIu64 " of %" PRIu64
                      " entries are not URLs, and only a question of the same bytes would match "
                      "them: nothing was built",
                      c->nplain, c->nentries);
        message_hint("--expressions takes names for sites, --kind mail, ip and phone other things; "
                     "-p none says that bytes are meant");
        return refuse_list(m, "builds it all the same");
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
        return report_interrupted(m);
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
    for (unsigned n = 0; stores_kind_of(m->folder.path) == STORES_LIST; n++) {
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
    const uint64_t n = m->o->list.from ? 0 : count_changes(m->o);
    if (n > m->nforgotten) {
        message_warning("%" PRIu64 " changes of %s that were made meanwhile are gone",
                        n - m->nforgotten, m->o->seen.path);
    }
}

/* Replaces the list. The lock is short: it covers only the last reading of the changes and the
 * rename. */
static bool replace(struct build_job *m)
{
    struct unseen_list_edit *held = NULL;
    struct unseen_error error = {.status = UNSEEN_OK};
    if (!hold_list(m, &held)) {
        return false;
    }
    if (!check_target(m->o)) { /* a build takes hours: another file may have got the name */
        unseen_list_edit_close(held);
        return false;
    }
    if (!build_folder_check_name(&m->folder)) {
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
    if (!path || stores_kind_of(path) != STORES_LIST ||
        read_info(path, &info, &error) != UNSEEN_OK) {
        return 0;
    }
    const uint64_t n = info.nkeys + info.nadded;
    return n > info.nremoved ? n - info.nremoved : 0;
}

/* Refuses a list of less than half the entries of the list of --from, or of the list that it would
 * replace: most likely the lines are not all there. */
static bool check_size(struct build_job *m)
{
    const char *const olds[] = {m->o->list.from, m->o->seen.path};
    struct unseen_list_info info;
    struct unseen_error error;
    if (m->o->list.force) {
        return true;
    }
    if (read_info(m->folder.list, &info, &error) != UNSEEN_OK) {
        return report_build(m, &error);
    }
    for (size_t i = 0; i < sizeof(olds) / sizeof(olds[0]); i++) {
        const uint64_t n = entries_of(olds[i]);
        if (info.nkeys < n - n / 2) {
            message_error("%" PRIu64 " entries are less than half of the %" PRIu64
                          " of %s, which stays as it is",
                          info.nkeys, n, olds[i]);
            return refuse_list(m, "builds the smaller list");
        }
    }
    return true;
}

static bool job_place(struct build_job *m)
{
    const bool good = build_folder_check_name(&m->folder) && build_known_good_run(m) && replace(m);
    progress_end(&m->progress);
    if (!good && stop_is_wanted()) {
        return report_interrupted(m);
    }
    if (!good && m->keeps) {
        hint_to_go_on();
    }
    return good;
}

/* ---- Report ---------------------------------------------------------------------------------- */

static void print_text(const struct build_job *m, const struct unseen_list_info *info, double bits)
{
    const struct build_counts *c = &m->done.counts;
    const struct {
        const char *name;
        uint64_t value;
        bool always;
    } counts[] = {
        {"lines", c->nlines, true},
        {"entries", c->nentries, true},
        {"distinct", info->nkeys, true},
        {"comments", c->ncomments, false},
        {"dangerous", c->ndangerous, false},
        {"left out", c->nskipped, false},
        {"removed", c->nremoved, false},
        {"allowed", info->nallowed, false},
        {"known good", m->known_good.nasked, false},
        {"of them hit", m->known_good.nallowed, false},
        {"bytes", info->bytes, true},
    };
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        if (counts[i].always || counts[i].value > 0) {
            message_plain("%-12s %" PRIu64, counts[i].name, counts[i].value);
        }
    }
    message_plain("%-12s %.3f", "bits/entry", bits);
    message_plain("%-12s %.3g", "wrong", info->rate);
    message_plain("%-12s %s", "kind", unseen_kind_name(info->kind));
    message_plain("%-12s %s", "profile", info->profile);
    message_plain("%-12s %.3f", "seconds", progress_seconds(&m->progress));
}

static void print_json(const struct build_job *m, const struct unseen_list_info *info, double bits)
{
    const struct build_counts *c = &m->done.counts;
    message_plain("{\"lines\":%" PRIu64 ",\"entries\":%" PRIu64 ",\"distinct\":%" PRIu64
                  ",\"comments\":%" PRIu64 ",\"dangerous\":%" PRIu64 ",\"left_out\":%" PRIu64
                  ",\"removed\":%" PRIu64 ",\"allowed\":%" PRIu64 ",\"known_good\":%" PRIu64
                  ",\"known_good_hit\":%" PRIu64 ",\"bytes\":%" PRIu64
                  ",\"bits_per_entry\":%.4f,\"rate\":%.6g"
                  ",\"kind\":\"%s\",\"profile\":\"%s\",\"seconds\":%.6f}",
                  c->nlines, c->nentries, info->nkeys, c->ncomments, c->ndangerous, c->nskipped,
                  c->nremoved, info->nallowed, m->known_good.nasked, m->known_good.nallowed,
                  info->bytes, bits, info->rate, unseen_kind_name(info->kind), info->profile,
                  progress_seconds(&m->progress));
}

/* Counts wrong lines, even without --stats: nobody has looked at each of them. */
static void report_wrong(const struct build_counts *c)
{
    if (c->ndangerous > 0) {
        message_warning("%" PRIu64 " dangerous entries were taken", c->ndangerous);
    }
    if (c->nskipped > 0) {
        message_warning("%" PRIu64 " lines that are not entries were left out", c->nskipped);
    }
}

/* Warns of entries that no URL can match, such as names of domains. */
static void report_plain(const struct build_job *m)
{
    const struct build_counts *c = &m->done.counts;
    if (c->nplain > c->nentries / 2) {
        message_warning("%" PRIu64 " of %" PRIu64
                        " entries are not URLs: only a question of the same bytes matches them",
                        c->nplain, c->nentries);
    }
}

static bool job_report(const struct build_job *m)
{
    struct build_old made;
    report_wrong(&m->done.counts);
    report_plain(m);
    if (m->o->report.stats == STATS_NONE && m->known_good.nallowed == 0) {
        return true;
    }
    if (!build_old_open(&made, m->folder.path)) {
        return false;
    }
    if (m->known_good.nallowed > 0 && m->o->report.stats == STATS_NONE) {
        message_plain("unseen: %" PRIu64 " of %" PRIu64
                      " known good lines would be listed, and are allowed now",
                      m->known_good.nallowed, m->known_good.nasked);
    }
    const uint64_t n = made.info.nkeys ? made.info.nkeys : 1;
    const double bits = 8 * (double)(made.info.bytes - made.info.changes_bytes) / (double)n;
    if (m->o->report.stats != STATS_NONE) {
        (m->o->report.stats == STATS_JSON ? print_json : print_text)(m, &made.info, bits);
    }
    build_old_close(&made);
    return true;
}

/* ---- The command ----------------------------------------------------------------------------- */

/* Removes the files of a build that no other run can go on with. */
static void job_release(struct build_job *m, bool done)
{
    if (m->build && !done && m->keeps) {
        unseen_list_build_keep(m->build);
    }
    unseen_list_build_free(m->build);
    if (done || !m->keeps) {
        build_folder_clear(&m->folder);
    }
    build_folder_remove(&m->folder, done);
    build_folder_release(&m->folder);
    build_inputs_release(&m->inputs);
    build_old_close(&m->old);
    unseen_url_free(m->url);
    text_release(&m->description);
    text_release(&m->note);
}

int build_run(const struct options *o, enum unseen_cpu cpu)
{
    struct build_job m = {.o = o, .cpu = cpu, .folder = {.fd = -1}};
    bool done = false;
    progress_start(&m.progress, o->report.progress, o->report.color, true);
    if (job_prepare(&m)) {
        stop_listen();
        done = job_start(&m) && (m.is_complete || job_read_lines(&m)) && check_entries(&m) &&
               job_finish(&m) && check_size(&m) && job_place(&m);
    }
    const bool good = done && job_report(&m);
    job_release(&m, done);
    if (!done) {
        stop_die(false);
    }
    return good ? EXIT_DONE : EXIT_TROUBLE;
}
