/* SPDX-License-Identifier: MIT
 *
 * What `unseen build` is asked for: the list, its kind, its profile and its inputs, checked before
 * anything is made. */
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build/build_job.h"
#include "lines/files.h"
#include "lines/profile.h"
#include "print/message.h"
#include "print/typed.h"
#include "seen/lists.h"
#include "seen/stores.h"

enum {
    THREADS_MAX = 256
};

/* Refuses - as the list, which needs a name: an input was meant. */
static bool check_list_name(const struct options *o)
{
    if (o->seen.path[0] != '\0' && !files_is_standard_input(o->seen.path)) {
        return true;
    }
    message_error("the list needs a file name, and '%s' is not one", o->seen.path);
    message_hint("%s", typed_on(o->seen.path[0] != '\0' ? "NEW.list -" : "NEW.list", ""));
    return false;
}

bool build_check_target(const struct options *o)
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
    const enum stores_type type = stores_type_of(path);
    if (type == STORES_LIST || (S_ISREG(st.st_mode) && st.st_size == 0)) {
        return true;
    }
    message_error(type == STORES_NONE ? "%s is not a list, and is not replaced"
                                      : "%s is a store, and is not replaced",
                  path);
    char words[5000];
    snprintf(words, sizeof(words), "NEW.list %s", type == STORES_NONE ? typed_quoted(path) : "");
    message_hint("%s", typed_on(words, ""));
    return false;
}

static bool check_standard_input(const struct build_job *m)
{
    const size_t n = files_count_standard_input(m->inputs.names, m->inputs.n) +
                     files_count_standard_input(m->o->list.known_good, m->o->list.nknown_good);
    if (n > 1) {
        message_error("standard input can be read only once");
        message_hint("name one of the two files, and give the other one as standard input");
    }
    return n <= 1;
}

/* Checks --from: it needs inputs as well, because the old list has no entries. */
static bool check_from(const struct options *o)
{
    if (o->list.from && o->input.none_named) {
        message_error("a list does not keep its entries, and without them it cannot be built anew");
        message_hint("with the files it was built from, or - for standard input: %s FILE",
                     typed_line());
        return false;
    }
    return true;
}

static bool report_kinds(const struct build_job *m)
{
    const enum unseen_kind old = m->old.info.kind;
    const bool differs = UNSEEN_KIND_GROUP(old) != UNSEEN_KIND_GROUP(m->kind);
    if (differs) {
        message_error("%s has the kind %s, not %s", m->o->list.from, unseen_kind_name(old),
                      unseen_kind_name(m->kind));
    } else {
        message_error("the country of %s is %u, not %u", m->o->list.from, UNSEEN_KIND_COUNTRY(old),
                      UNSEEN_KIND_COUNTRY(m->kind));
    }
    message_hint("%s", typed_without(differs ? "kind expressions" : "country"));
    return false;
}

/* Finds the kind; --expressions names a kind, too, and --country is a part of one. */
static bool choose_kind(struct build_job *m)
{
    const struct options *o = m->o;
    if (o->list.expressions && o->list.has_kind && o->list.kind != UNSEEN_KIND_EXPRESSIONS) {
        message_error("--expressions is for URLs, not for the kind %s",
                      unseen_kind_name(o->list.kind));
        message_hint("%s", typed_without("kind"));
        return false;
    }
    m->kind = o->list.has_kind      ? o->list.kind
              : o->list.expressions ? UNSEEN_KIND_EXPRESSIONS
                                    : m->old.info.kind;
    if (o->list.country > 0 && UNSEEN_KIND_GROUP(m->kind) != UNSEEN_KIND_PHONE) {
        message_error("--country is for phone numbers, not for the kind %s",
                      unseen_kind_name(m->kind));
        message_hint("%s", typed_with("--kind phone"));
        return false;
    }
    if (o->list.country > 0) {
        m->kind = UNSEEN_KIND_PHONE_OF(o->list.country);
    } else if (o->list.from && m->kind == UNSEEN_KIND_GROUP(m->old.info.kind)) {
        m->kind = m->old.info.kind;
    }
    return !o->list.from || m->kind == m->old.info.kind || report_kinds(m);
}

static bool report_profiles(const struct build_job *m)
{
    message_error("%s has the profile %s, not %s", m->o->list.from, m->old.info.profile,
                  m->profile);
    message_hint("%s", typed_without("profile rule drop-params only-params"));
    return false;
}

static bool choose_profile(struct build_job *m)
{
    const struct options *o = m->o;
    struct profile_options wanted = o->profile;
    const bool is_url = m->kind == UNSEEN_KIND_URL;
    if (!is_url && (o->profile.name || o->profile.nrules > 0)) {
        message_error("entries of the kind %s need no profile", unseen_kind_name(m->kind));
        message_hint("%s", typed_without("profile rule drop-params only-params"));
        return false;
    }
    m->profile = "none/1";
    if (!is_url && m->kind != UNSEEN_KIND_EXPRESSIONS) {
        return true;
    }
    if (o->list.from && !o->profile.name && o->profile.nrules == 0) {
        wanted.name = m->old.info.profile;
    }
    if (!profile_create(&m->url, &wanted, is_url ? NULL : "safebrowsing", m->cpu)) {
        return false;
    }
    m->profile = unseen_url_id(m->url);
    m->takes_bytes = is_url && profile_is_none(m->url);
    return !o->list.from || strcmp(m->profile, m->old.info.profile) == 0 || report_profiles(m);
}

enum unseen_status build_read_info(const char *path, struct unseen_list_info *info,
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

uint64_t build_count_changes(const struct options *o)
{
    struct unseen_list_info info;
    struct unseen_error error;
    if (stores_type_of(o->seen.path) != STORES_LIST) {
        return 0;
    }
    if (build_read_info(o->seen.path, &info, &error) != UNSEEN_OK) {
        message_warning("%s; what was allowed, added or removed in it will be gone", error.text);
        return 0;
    }
    return info.nallowed + info.nadded + info.nremoved;
}

/* Warns of changes that the new list will not have: other people may have made them. */
static void warn_of_changes(struct build_job *m)
{
    const char *list = m->o->seen.path;
    m->nforgotten = m->o->list.from ? 0 : build_count_changes(m->o);
    if (m->nforgotten > 0) {
        message_warning("%" PRIu64 " changes of %s (allowed, added, removed) will be gone",
                        m->nforgotten, list);
        message_hint("to take them over: %s", typed_with("--from %s", typed_quoted(list)));
    }
}

static unsigned count_processors(void)
{
    cpu_set_t usable;
    const int n = sched_getaffinity(0, sizeof(usable), &usable) == 0 ? CPU_COUNT(&usable) : 1;
    return n < 1 ? 1 : n < THREADS_MAX ? (unsigned)n : THREADS_MAX;
}

bool build_job_prepare(struct build_job *m)
{
    const struct options *o = m->o;
    const unsigned wanted = o->input.threads ? o->input.threads : count_processors();
    m->nthreads = wanted < THREADS_MAX ? wanted : THREADS_MAX;
    if (!check_list_name(o) || !build_check_target(o) || !check_from(o) ||
        !build_inputs_look(&m->inputs, o) || !check_standard_input(m) ||
        !build_known_good_check(o) || !build_old_open(&m->old, o->list.from) || !choose_kind(m) ||
        !choose_profile(m) || !build_old_read(&m->old)) {
        return false;
    }
    m->fpr = o->seen.fpr > 0 ? o->seen.fpr
             : o->list.from  ? m->old.info.fpr
                             : UNSEEN_LIST_FPR_DEFAULT;
    warn_of_changes(m);
    return build_folder_open(&m->folder, o->seen.path);
}
