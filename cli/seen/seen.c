/* SPDX-License-Identifier: MIT */
#include "seen/seen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <unseen_list.h>

#include "address.h"
#include "clock.h"
#include "lines/profile.h"
#include "lines/set_parts.h"
#include "print/message.h"
#include "redis_url.h"
#include "seen/filter_words.h"
#include "seen/stores.h"

enum {
    LOOK_MS = 1000
};

/* A set made for so many threads has a filter for each part. */
#define PARTS_THREADS (PARTS / 8)

/* From this --fpr on, "compact" takes less memory and is wrong 100 times as often (unseen.h). */
#define COMPACT_SMALL_FPR 1.5e-6

void seen_report_full(enum unseen_status status)
{
    if (status == UNSEEN_ERR_STOPPED || status == UNSEEN_ERR_MISMATCH) {
        return; /* a failed commit is reported at the end; a lost list has been reported */
    }
    message_error("cannot remember more lines: %s", unseen_status_string(status));
    message_hint("unseen --shard 1/2 FILE, then unseen --shard 2/2 FILE: half the memory each");
}

/* ---- The set or the store -------------------------------------------------------------------- */

/* Opens the stores of -x. */
static bool open_excluded(struct seen *m, enum unseen_cpu cpu)
{
    const struct seen_options *o = m->o;
    if (o->nexcludes == 0) {
        return true;
    }
    m->stores = calloc(o->nexcludes, sizeof(struct unseen_store *));
    if (!m->stores) {
        return message_no_memory();
    }
    for (; m->nstores < o->nexcludes; m->nstores++) {
        const char *path = o->excludes[m->nstores];
        const enum stores_kind kind = stores_kind_of(path);
        if ((kind == STORES_STORE || kind == STORES_IMAGE) &&
            !stores_open_to_read(&m->stores[m->nstores], path, o, cpu)) {
            return false;
        }
    }
    return true;
}

/* The identity text of the first store of -x, or NULL. */
static const char *excluded_profile(const struct seen *m)
{
    for (size_t i = 0; i < m->nstores; i++) {
        if (m->stores[i]) {
            return unseen_set_profile(unseen_store_set(m->stores[i]));
        }
    }
    return NULL;
}

/* False if keys must be asked in the order of their lines, or a read-only set is asked, too. The
 * set of each part takes some lines wrongly for seen, and these are not always those of one set
 * for all: only where a wrong answer is as rare as the default promises, threads may make a
 * difference. */
static bool can_part(const struct seen *m)
{
    const struct seen_options *o = m->o;
    return m->asks_parts && !m->asks_only && o->nexcludes == 0 && !o->filter &&
           o->fpr < COMPACT_SMALL_FPR;
}

/* Versions that -p and --rule do not say are those of the first store of -x, so that a store of an
 * older version can be named without -p. The same holds for a store that is made. */
static bool seen_create_set(struct seen *m, enum unseen_cpu cpu)
{
    const struct seen_options *o = m->o;
    struct profile_options wanted = *m->profile;
    wanted.like = excluded_profile(m);
    if (!profile_create(&m->own_url, &wanted, NULL, cpu)) {
        return false;
    }
    m->url = profile_is_none(m->own_url) ? NULL : m->own_url;
    const struct unseen_set_options options = {
        .size = sizeof(options),
        .url = m->url,
        .fpr = o->fpr,
        .capacity = o->capacity,
        .filter = o->filter,
        .bits_per_key = o->bits_per_key,
        .hashes = o->hashes,
        .seed = seed_bytes(&o->seed),
        .seed_len = o->seed.len,
        .threads = m->asks_parts ? PARTS_THREADS : 1,
        .cpu = cpu,
    };
    struct unseen_error error;
    if (unseen_set_create(&m->own_set, &options, &error) == UNSEEN_OK) {
        m->set = m->own_set;
        return true;
    }
    if (filters_report(o, &error, "unseen", "")) {
        return false;
    }
    switch (error.status) {
    case UNSEEN_ERR_FPR:
        message_error("--fpr %g: %s", o->fpr, unseen_status_string(error.status));
        message_hint("unseen --fpr 5e-9");
        break;
    case UNSEEN_ERR_NOMEM:
        message_error("no memory for %" PRIu64 " keys", o->capacity);
        message_hint("without --capacity the set grows as needed");
        break;
    default:
        message_error("cannot make a set: %s", message_of(&error));
    }
    return false;
}

static bool seen_open_store(struct seen *m, enum unseen_cpu cpu)
{
    const struct seen_options *o = m->o;
    const enum unseen_store_mode mode = m->asks_only ? UNSEEN_STORE_READ : UNSEEN_STORE_CREATE;
    struct profile_options wanted = *m->profile;
    wanted.like = excluded_profile(m);
    if (!stores_open(&m->store, o->path, mode, o, &wanted, cpu)) {
        return false;
    }
    m->set = unseen_store_set(m->store);
    m->url = stores_info(m->store).url;
    return true;
}

bool seen_check_parts(const struct seen *m, const char *path)
{
    if (m->key->key.nparts <= 1) {
        return true;
    }
    message_error("%s has single texts, -k %s names several parts of a line", path, m->key->text);
    message_hint("unseen add -k %s STORE FILE remembers them together", m->key->text);
    return false;
}

/* Lines for a list of URLs are made canonical where they are read, and not again when the list is
 * asked. */
static bool open_list(struct seen *m, const char *path, enum unseen_cpu cpu)
{
    struct opened_list *l = &m->list.list;
    if (!seen_check_parts(m, path) || !lists_open(l, path, UNSEEN_LIST_MAP_PREFETCH, cpu)) {
        return false;
    }
    m->list.takes_canons = l->kind == UNSEEN_KIND_URL;
    m->url = m->list.takes_canons ? l->url : NULL;
    return true;
}

/* The command at hand without the options that are refused. */
static void hint_plain(const struct seen *m)
{
    const struct seen_options *o = m->o;
    message_hint("%s %s%s FILE", o->called, o->use->prints_new ? "-s " : "", o->path);
}

/* The settings of a store that is served are the server's. A server with our module can make a set,
 * of which the profile and the rate can be said. */
static bool check_remote(const struct seen *m)
{
    const struct seen_options *o = m->o;
    const bool is_redis = redis_url_is(o->path);
    if (o->filter || (o->fpr > 0 && !is_redis) || o->capacity > 0 || o->seed.len || o->key_bits ||
        o->no_log || o->file_mode || o->like) {
        if (is_redis) {
            message_error("a set at %s has a profile and a rate, and no other settings", o->path);
        } else {
            message_error("%s is a server: its store has its settings already", o->path);
        }
        hint_plain(m);
        return false;
    }
    if (o->nexcludes > 0) {
        message_error("-x and a server cannot be asked in one run");
        message_hint("unseen -x %s FILE | unseen -s %s", o->excludes[0], o->path);
        return false;
    }
    if (m->input->delimiter != '\n' && !is_redis) {
        message_error("a server takes lines that end in newline");
        message_hint("%s %s%s FILE, without -z", o->called, o->use->prints_new ? "-s " : "",
                     o->path);
        return false;
    }
    return true;
}

/* The server makes lines canonical; this run does so only if it needs the canonical forms, too. The
 * profile that was asked for must be the server's; versions that it does not say are. */
static bool use_remote_profile(struct seen *m, enum unseen_cpu cpu)
{
    struct unseen_url *url = NULL;
    struct unseen_error error;
    struct profile_options wanted = *m->profile;
    const bool is_named = wanted.name || wanted.nrules > 0 || m->o->profile;
    wanted.like = server_profile(&m->server);
    if (is_named && !profile_create(&url, &wanted, m->o->profile, cpu)) {
        return false;
    }
    const bool differs = is_named && strcmp(unseen_url_id(url), server_profile(&m->server)) != 0;
    if (differs) {
        message_error("the store at %s has the profile %s, not %s", m->o->path,
                      server_profile(&m->server), unseen_url_id(url));
        hint_plain(m);
    }
    unseen_url_free(url);
    if (differs || !m->wants_canons || strcmp(server_profile(&m->server), "none/1") == 0) {
        return !differs;
    }
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = server_profile(&m->server), .cpu = cpu};
    if (unseen_url_create(&m->own_url, &options, &error) != UNSEEN_OK) {
        message_error("%s: %s", m->o->path, message_of(&error));
        return false;
    }
    m->url = m->own_url;
    return true;
}

/* Makes the set that a server with our module does not have yet. */
static bool make_remote(struct seen *m, enum unseen_cpu cpu)
{
    struct unseen_url *url = NULL;
    if (m->asks_only || !m->o->use->makes_store) {
        message_error("there is no set at %s yet", m->o->path);
        message_hint("unseen -s %s FILE makes it", m->o->path);
        return false;
    }
    const bool done = profile_create(&url, m->profile, m->o->profile, cpu) &&
                      redis_make(m->server.redis, unseen_url_id(url), m->o->fpr);
    unseen_url_free(url);
    return done;
}

/* A set of a server with our module may have been made with a larger rate. */
static bool check_rate(struct seen *m)
{
    struct unseen_set_stats stats = {.fpr_promise = 0};
    if (!m->server.redis || !(m->o->fpr > 0)) {
        return true;
    }
    server_stats(&m->server, &stats);
    if (stats.fpr_promise <= m->o->fpr) {
        return true;
    }
    message_error("the set at %s promises %g, not %g", m->o->path, stats.fpr_promise, m->o->fpr);
    message_hint("unseen -s %s FILE, or another key", m->o->path);
    return false;
}

static bool open_remote(struct seen *m, enum unseen_cpu cpu)
{
    const struct store_use *use = m->o->use;
    m->is_remote = true;
    m->question = m->asks_only      ? QUESTION_CHECK
                  : use->prints_new ? QUESTION_DEDUP
                  : use->removes    ? QUESTION_REMOVE
                                    : QUESTION_ADD;
    m->server.remote.fd = -1;
    return check_remote(m) && server_open(&m->server, m->o) &&
           (server_profile(&m->server)[0] || make_remote(m, cpu)) && check_rate(m) &&
           use_remote_profile(m, cpu);
}

bool seen_open(struct seen *m, enum unseen_cpu cpu)
{
    const struct seen_options *o = m->o;
    m->asks_only = o->dry_run || o->use->asks_only;
    m->asks_parts = !o->path && can_part(m);
    m->looked = clock_milliseconds();
    if (o->path && address_is_server(o->path)) {
        return open_remote(m, cpu);
    }
    if (!open_excluded(m, cpu)) {
        return false;
    }
    if (o->use->takes_list && stores_kind_of(o->path) == STORES_LIST) {
        return open_list(m, o->path, cpu);
    }
    if (o->use->takes_list && stores_kind_of(o->path) == STORES_FOREIGN) {
        return seen_check_parts(m, o->path) && foreign_open(&m->foreign, o->path);
    }
    return o->path ? seen_open_store(m, cpu) : seen_create_set(m, cpu);
}

bool seen_close(struct seen *m, bool broken)
{
    for (size_t i = 0; i < m->nstores; i++) {
        (void)unseen_store_close(m->stores[i], NULL); /* was only read */
    }
    for (size_t i = 0; i < m->nlists; i++) {
        lists_close(&m->lists[i].list);
    }
    for (size_t i = 0; i < m->nfilters; i++) {
        unseen_foreign_free(m->filters[i]);
    }
    lists_close(&m->list.list);
    unseen_foreign_free(m->foreign);
    if (m->is_remote) {
        server_close(&m->server);
    }
    free(m->stores);
    free(m->excluded);
    free(m->lists);
    free(m->filters);
    bool closed = false;
    if (broken) {
        (void)unseen_store_close(m->store, NULL); /* the cause has been reported */
    } else {
        closed = stores_close(m->store, m->o->path, m->o, m->run_failed);
    }
    unseen_set_free(m->lines);
    unseen_set_free(m->own_set);
    unseen_url_free(m->own_url);
    *m = (struct seen){.o = m->o};
    return closed;
}

/* ---- What others commit ---------------------------------------------------------------------- */

static void seen_follow(struct seen *m, struct unseen_store *store, const char *path)
{
    struct unseen_error error;
    if (store && !m->is_stale && !stores_refresh(store, &error)) {
        stores_report(path, m->o, &error);
        message_warning("the answers are still those of %s before", path);
        m->is_stale = true;
    }
}

void seen_refresh(struct seen *m)
{
    const bool reads = (m->store && m->asks_only) || m->nstores > 0;
    if (!reads || m->is_stale) {
        return;
    }
    const uint64_t now = clock_milliseconds();
    if (now - m->looked < LOOK_MS) {
        return;
    }
    m->looked = now;
    seen_follow(m, m->asks_only ? m->store : NULL, m->o->path);
    for (size_t i = 0; i < m->nstores; i++) {
        seen_follow(m, m->stores[i], m->o->excludes[i]);
    }
}

/* ---- Asking ---------------------------------------------------------------------------------- */

bool seen_needs_texts(const struct seen *m)
{
    return m->nexcluded + m->nlists + m->nfilters > 0 || !m->set;
}

/* Asks a list. A text that is allowed counts as not listed. A file that was cut within a page reads
 * as zeros there, so lists_check comes before the answers are used. */
static enum unseen_status ask_list(const struct asked_list *a, const struct batch *b, size_t first,
                                   size_t n, uint8_t *verdicts)
{
    enum unseen_status status =
        lists_covers(&a->list, a->takes_canons ? NULL : a->list.url,
                     (a->takes_canons ? b->canons : b->items) + first, n, verdicts);
    if (status == UNSEEN_OK) {
        status = lists_check(&a->list);
    }
    if (status == UNSEEN_ERR_MISMATCH) {
        lists_report_lost(a->list.path);
    }
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        verdicts[i] = verdicts[i] == UNSEEN_SEEN ? UNSEEN_SEEN : UNSEEN_NEW;
    }
    return status;
}

/* Says that a store could not read a part of its image; other errors of asking are not reported
 * here. Returns what seen_ask returns. */
static enum unseen_status report_unread(const char *path, enum unseen_status status)
{
    if (status != UNSEEN_ERR_CORRUPT && status != UNSEEN_ERR_IO) {
        return status;
    }
    message_error("%s is damaged: a part of its image cannot be read", path);
    message_hint("unseen repair %s", path);
    return UNSEEN_ERR_MISMATCH;
}

static inline enum unseen_status ask_set(struct seen *m, const struct unseen_key *keys, size_t n,
                                         uint8_t *verdicts, size_t *ndone_out)
{
    if (m->asks_only) {
        return report_unread(m->o->path,
                             unseen_set_contains_keys(m->set, keys, n, verdicts, ndone_out));
    }
    return m->store ? unseen_store_add_keys(m->store, keys, n, verdicts, ndone_out)
                    : unseen_set_add_keys(m->own_set, keys, n, verdicts, ndone_out);
}

/* The name of the store of -x that a set belongs to; that of the set of lines is not used. */
static const char *excluded_path(const struct seen *m, const struct unseen_set *set)
{
    for (size_t i = 0; i < m->nstores; i++) {
        if (m->stores[i] && unseen_store_set(m->stores[i]) == set) {
            return m->o->excludes[i];
        }
    }
    return "";
}

/* Asks all read-only sets, lists and foreign filters. A line that none of them has is NEW. */
static enum unseen_status ask_excluded(const struct seen *m, const struct batch *b, size_t first,
                                       size_t n, uint8_t *verdicts)
{
    uint8_t answers[BATCH_LINES];
    enum unseen_status status = UNSEEN_OK;
    memset(verdicts, UNSEEN_NEW, n);
    for (size_t s = 0; s < m->nexcluded + m->nlists + m->nfilters && status == UNSEEN_OK; s++) {
        if (s < m->nexcluded) {
            struct unseen_key keys[BATCH_LINES];
            for (size_t i = 0; i < n; i++) {
                const struct unseen_bytes text = b->canons[first + i];
                keys[i] = unseen_set_identity_key(m->excluded[s], text.data, text.len);
            }
            status =
                report_unread(excluded_path(m, m->excluded[s]),
                              unseen_set_contains_keys(m->excluded[s], keys, n, answers, NULL));
        } else if (s < m->nexcluded + m->nlists) {
            status = ask_list(&m->lists[s - m->nexcluded], b, first, n, answers);
        } else {
            unseen_foreign_contains(m->filters[s - m->nexcluded - m->nlists], b->items + first, n,
                                    answers);
        }
        for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
            verdicts[i] &= answers[i];
        }
    }
    return status;
}

/* Asks the set about the lines that are not excluded. */
static enum unseen_status ask_rest(struct seen *m, const struct batch *b, size_t first, size_t n,
                                   uint8_t *verdicts, size_t *ndone_out)
{
    struct unseen_key rest[BATCH_LINES];
    uint8_t answers[BATCH_LINES];
    size_t nrest = 0;
    size_t ndone = 0;
    memcpy(rest, b->keys + first, n * sizeof(rest[0]));
    for (size_t i = 0; i < n; i++) {
        rest[nrest] = rest[i];
        nrest += verdicts[i] == UNSEEN_NEW;
    }
    const enum unseen_status status = ask_set(m, rest, nrest, answers, &ndone);
    size_t i = 0;
    for (size_t used = 0; i < n && (verdicts[i] == UNSEEN_SEEN || used < ndone); i++) {
        if (verdicts[i] == UNSEEN_NEW) {
            verdicts[i] = answers[used++];
        }
    }
    *ndone_out = i;
    return status;
}

/* Asks the server for the lines that were put into its question, unless one could not be put. */
static enum unseen_status ask_server(struct seen *m, bool is_put, size_t n, uint8_t *verdicts)
{
    memset(verdicts, REMOTE_NO_ANSWER, n);
    return is_put && server_ask(&m->server, m->question, verdicts) ? UNSEEN_OK
                                                                   : UNSEEN_ERR_MISMATCH;
}

enum unseen_status seen_ask_server(struct seen *m, const struct batch *const *batches, size_t n,
                                   uint8_t *verdicts)
{
    bool is_put = true;
    size_t nlines = 0;
    for (size_t i = 0; i < n; i++) {
        is_put = is_put && server_put(&m->server, batches[i]->items, batches[i]->n);
        nlines += batches[i]->n;
    }
    return nlines == 0 ? UNSEEN_OK : ask_server(m, is_put, nlines, verdicts);
}

enum unseen_status seen_ask_part(void *seen, const struct unseen_key *keys, size_t n,
                                 uint8_t *verdicts, size_t *ndone_out)
{
    const struct seen *m = seen;
    return unseen_set_add_keys(m->own_set, keys, n, verdicts, ndone_out);
}

enum unseen_status seen_ask(struct seen *m, const struct batch *b, size_t first, size_t n,
                            uint8_t *verdicts, size_t *ndone_out)
{
    if (m->list.list.list) {
        const enum unseen_status status = ask_list(&m->list, b, first, n, verdicts);
        *ndone_out = status == UNSEEN_OK ? n : 0;
        return status;
    }
    if (m->foreign) {
        unseen_foreign_contains(m->foreign, b->items + first, n, verdicts);
        *ndone_out = n;
        return UNSEEN_OK;
    }
    if (m->is_remote) {
        *ndone_out = n;
        return ask_server(m, server_put(&m->server, b->items + first, n), n, verdicts);
    }
    if (m->nexcluded + m->nlists + m->nfilters == 0) {
        return ask_set(m, b->keys + first, n, verdicts, ndone_out);
    }
    const enum unseen_status status = ask_excluded(m, b, first, n, verdicts);
    if (status != UNSEEN_OK) {
        *ndone_out = 0;
        return status;
    }
    return ask_rest(m, b, first, n, verdicts, ndone_out);
}

void seen_stats(struct seen *m, struct unseen_set_stats *stats_out, const char **profile_out)
{
    if (m->set) {
        *stats_out = stores_stats(m->set);
        *profile_out = unseen_set_profile(m->set);
        return;
    }
    if (m->is_remote) {
        *stats_out = (struct unseen_set_stats){.size = sizeof(*stats_out), .filter = "", .cpu = ""};
        server_stats(&m->server, stats_out);
        *profile_out = server_profile(&m->server);
        return;
    }
    if (m->foreign) {
        struct unseen_foreign_info info = {.size = sizeof(info)};
        (void)unseen_foreign_info(m->foreign, &info); /* fails for a wrong size only */
        *stats_out = (struct unseen_set_stats){.size = sizeof(*stats_out),
                                               .nkeys = info.nkeys_estimate,
                                               .memory = info.memory,
                                               .fpr_promise = info.fpr_estimate,
                                               .fpr_estimate = info.fpr_estimate,
                                               .filter = "foreign",
                                               .cpu = ""};
        *profile_out = "none/1";
        return;
    }
    const struct unseen_list_info info = lists_info(m->list.list.list);
    *stats_out = (struct unseen_set_stats){.size = sizeof(*stats_out),
                                           .nkeys = info.nkeys + info.nadded,
                                           .memory = info.bytes,
                                           .fpr_promise = info.fpr,
                                           .fpr_estimate = info.rate,
                                           .filter = "list",
                                           .cpu = ""};
    *profile_out = info.profile;
}
