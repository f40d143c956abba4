/* SPDX-License-Identifier: MIT */
#include "seen/seen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <unseen_list.h>

#include "address.h"
#include "clock.h"
#include "lines/files.h"
#include "lines/identity.h"
#include "lines/profile.h"
#include "lines/reader.h"
#include "print/message.h"
#include "seen/filter_words.h"
#include "seen/stores.h"
#include "seen/token.h"

enum {
    LOOK_MS = 1000
};

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

/* Versions that -p and --rule do not say are those of the first store of -x, so that a store of an
 * older version can be named without -p. The same holds for a store that is made. */
static bool create_set(struct seen *m, enum unseen_cpu cpu)
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

static bool open_store(struct seen *m, enum unseen_cpu cpu)
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

/* False, and reported, if the key has several parts: none of the single texts of a list or of a
 * file of lines would ever equal it. */
static bool check_parts(const struct seen *m, const char *path)
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
    if (!check_parts(m, path) || !lists_open(l, path, UNSEEN_LIST_MAP_PREFETCH, cpu)) {
        return false;
    }
    m->list.takes_canons = l->kind == UNSEEN_KIND_URL;
    m->url = m->list.takes_canons ? l->url : NULL;
    return true;
}

/* The settings of a store that is served are the server's. */
static bool check_remote(const struct seen *m)
{
    const struct seen_options *o = m->o;
    if (o->filter || o->fpr > 0 || o->capacity > 0 || o->seed.len || o->key_bits || o->no_log ||
        o->file_mode || o->like) {
        message_error("%s is a server: its store has its settings already", o->path);
        message_hint("unseen -s %s FILE", o->path);
        return false;
    }
    if (o->nexcludes > 0) {
        message_error("-x and a server cannot be asked in one run");
        message_hint("unseen -x %s FILE | unseen -s %s", o->excludes[0], o->path);
        return false;
    }
    if (m->input->delimiter != '\n') {
        message_error("a server takes lines that end in newline");
        message_hint("unseen -s %s FILE, without -z", o->path);
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
    wanted.like = m->remote.profile;
    if (is_named && !profile_create(&url, &wanted, m->o->profile, cpu)) {
        return false;
    }
    const bool differs = is_named && strcmp(unseen_url_id(url), m->remote.profile) != 0;
    if (differs) {
        message_error("the store at %s has the profile %s, not %s", m->o->path, m->remote.profile,
                      unseen_url_id(url));
        message_hint("unseen -s %s FILE", m->o->path);
    }
    unseen_url_free(url);
    if (differs || !m->wants_canons || strcmp(m->remote.profile, "none/1") == 0) {
        return !differs;
    }
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = m->remote.profile, .cpu = cpu};
    if (unseen_url_create(&m->own_url, &options, &error) != UNSEEN_OK) {
        message_error("%s: %s", m->o->path, message_of(&error));
        return false;
    }
    m->url = m->own_url;
    return true;
}

static bool open_remote(struct seen *m, enum unseen_cpu cpu)
{
    char token[TOKEN_MAX + 2];
    const char *name = m->o->token_file;
    m->is_remote = true;
    m->remote.fd = -1;
    return check_remote(m) && (!name || token_read(name, token)) &&
           remote_open(&m->remote, m->o->path, name ? token : NULL, m->o->waits ? m->o->wait : 0) &&
           use_remote_profile(m, cpu);
}

bool seen_open(struct seen *m, enum unseen_cpu cpu)
{
    const struct seen_options *o = m->o;
    m->asks_only = o->dry_run || o->use->asks_only;
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
    if (o->use->takes_list && stores_kind_of(o->path) == STORES_LAYER) {
        return check_parts(m, o->path) && layers_open(&m->layer, o->path);
    }
    return o->path ? open_store(m, cpu) : create_set(m, cpu);
}

/* ---- What -x names --------------------------------------------------------------------------- */

static bool exclude_store(struct seen *m, const char *path, const struct unseen_store *store)
{
    const struct unseen_set *set = unseen_store_set(store);
    const char *has = unseen_set_profile(set);
    const char *wanted = unseen_set_profile(m->set);
    const char *quote = profile_quote(has);
    if (strcmp(has, wanted) != 0) {
        message_error("%s has the profile %s, %s has %s", path, has,
                      m->store ? m->o->path : "the run", wanted);
        if (m->store && stores_info(m->store).is_new) {
            message_hint("unseen -p %s%s%s -s %s -x %s FILE", quote, has, quote, m->o->path, path);
        } else if (m->store) {
            message_hint("unseen -p %s%s%s -x %s FILE, without -s", quote, has, quote, path);
        } else {
            message_hint("unseen -p %s%s%s -x %s FILE", quote, has, quote, path);
        }
        return false;
    }
    m->excluded[m->nexcluded++] = set;
    return true;
}

static bool exclude_list(struct seen *m, const char *path, enum unseen_cpu cpu)
{
    struct asked_list *a = &m->lists[m->nlists];
    if (!lists_open(&a->list, path, UNSEEN_LIST_MAP_PREFETCH, cpu)) {
        return false;
    }
    m->nlists++;
    const char *has = a->list.url ? unseen_url_id(a->list.url) : "none/1";
    a->takes_canons =
        a->list.kind == UNSEEN_KIND_URL && strcmp(has, unseen_set_profile(m->set)) == 0;
    return true;
}

/* A layer was filled by a program that knew no profile. */
static bool exclude_layer(struct seen *m, const char *path)
{
    if (m->url) {
        message_error("%s is a frozen layer, asked with the bytes of each line; the profile %s "
                      "rewrites them",
                      path, unseen_set_profile(m->set));
        message_hint("unseen -p none -x %s FILE", path);
        return false;
    }
    if (!layers_open(&m->layers[m->nlayers], path)) {
        return false;
    }
    m->nlayers++;
    return true;
}

/* The set for the lines of -x: own_set, or with a store a set of their own, as the store must not
 * remember them. */
static struct unseen_set *set_for_lines(struct seen *m, enum unseen_cpu cpu)
{
    if (m->own_set || m->lines) {
        return m->own_set ? m->own_set : m->lines;
    }
    const struct unseen_set_options options = {.size = sizeof(options), .url = m->url, .cpu = cpu};
    const enum unseen_status status = unseen_set_create(&m->lines, &options, NULL);
    if (status != UNSEEN_OK) {
        message_error("cannot make a set: %s", unseen_status_string(status));
        return NULL;
    }
    m->excluded[m->nexcluded++] = m->lines;
    return m->lines;
}

/* Reads a file of lines for -x. Each whole line is an identity: -k is for the input only. */
static bool exclude_lines(struct seen *m, const char *path, enum unseen_cpu cpu,
                          uint64_t *nlines_out)
{
    if (access(path, F_OK) != 0 && errno == ENOENT && !files_is_standard_input(path)) {
        message_error("cannot open %s: %s", path, strerror(ENOENT));
        message_hint("touch %s makes an empty list", path);
        return false;
    }
    struct unseen_set *set = set_for_lines(m, cpu);
    if (!set) {
        return false;
    }
    const struct key_options key = {.shard = m->key->shard, .nshards = m->key->nshards};
    struct identity whole = {
        .url = m->url, .set = set, .key = &key, .delimiter = m->input->delimiter};
    enum unseen_status status = identity_init(&whole);
    struct reader reader = {
        .names = &path,
        .nnames = 1,
        .identity = &whole,
        .options = m->input,
        .nblocks = 1,
    };
    struct batch *b = calloc(1, sizeof(*b));
    if (!b || status != UNSEEN_OK) {
        free(b);
        identity_release(&whole);
        return message_no_memory();
    }
    while (status == UNSEEN_OK && reader_next(&reader, b)) {
        uint8_t verdicts[BATCH_LINES];
        status = unseen_set_add_keys(set, b->keys, b->n, verdicts, NULL);
        *nlines_out += b->n + b->nother;
    }
    if (status != UNSEEN_OK) {
        seen_report_full(status);
    }
    reader_summary(&reader);
    reader_release(&reader);
    text_release(&b->text);
    free(b);
    identity_release(&whole);
    return status == UNSEEN_OK && !reader.failed;
}

static bool exclude(struct seen *m, size_t i, enum unseen_cpu cpu, uint64_t *nlines_out)
{
    const char *path = m->o->excludes[i];
    if (m->stores[i]) {
        return exclude_store(m, path, m->stores[i]);
    }
    if (!check_parts(m, path)) {
        return false;
    }
    switch (stores_kind_of(path)) {
    case STORES_LIST:
        return exclude_list(m, path, cpu);
    case STORES_LAYER:
        return exclude_layer(m, path);
    case STORES_BITMAP:
        message_error("%s is a bitmap, which has integers and no lines", path);
        message_hint("unseen bits check -v %s FILE", path);
        return false;
    default:
        return exclude_lines(m, path, cpu, nlines_out);
    }
}

bool seen_exclude(struct seen *m, enum unseen_cpu cpu, uint64_t *nlines_out)
{
    const struct seen_options *o = m->o;
    if (o->nexcludes == 0) {
        return true;
    }
    m->excluded = calloc(o->nexcludes + 1, sizeof(struct unseen_set *));
    m->lists = calloc(o->nexcludes, sizeof(*m->lists));
    m->layers = calloc(o->nexcludes, sizeof(struct unseen_layer *));
    if (!m->excluded || !m->lists || !m->layers) {
        return message_no_memory();
    }
    for (size_t i = 0; i < o->nexcludes; i++) {
        if (!exclude(m, i, cpu, nlines_out)) {
            return false;
        }
    }
    return true;
}

bool seen_close(struct seen *m, bool broken)
{
    for (size_t i = 0; i < m->nstores; i++) {
        (void)unseen_store_close(m->stores[i], NULL); /* was only read */
    }
    for (size_t i = 0; i < m->nlists; i++) {
        lists_close(&m->lists[i].list);
    }
    for (size_t i = 0; i < m->nlayers; i++) {
        unseen_layer_free(m->layers[i]);
    }
    lists_close(&m->list.list);
    unseen_layer_free(m->layer);
    if (m->is_remote) {
        remote_close(&m->remote);
    }
    free(m->stores);
    free(m->excluded);
    free(m->lists);
    free(m->layers);
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

static void follow(struct seen *m, struct unseen_store *store, const char *path)
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
    follow(m, m->asks_only ? m->store : NULL, m->o->path);
    for (size_t i = 0; i < m->nstores; i++) {
        follow(m, m->stores[i], m->o->excludes[i]);
    }
}

/* ---- Asking ---------------------------------------------------------------------------------- */

bool seen_needs_texts(const struct seen *m)
{
    return m->nexcluded + m->nlists + m->nlayers > 0 || !m->set;
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

/* Says that a store could not read a part of its image; other errors of asking are not reported here.
 * Returns what seen_ask returns. */
static enum unseen_status report_unread(const char *path, enum unseen_status status)
{
    if (status != UNSEEN_ERR_CORRUPT && status != UNSEEN_ERR_IO) {
        return status;
    }
    message_error("%s is damaged: a part of its image cannot be read", path);
    message_hint("unseen repair %s", path);
    return UNSEEN_ERR_MISMATCH;
}

static enum unseen_status ask_set(struct seen *m, const struct unseen_key *keys, size_t n,
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

/* Asks all read-only sets, lists and layers. A line that none of them has is NEW. */
static enum unseen_status ask_excluded(const struct seen *m, const struct batch *b, size_t first,
                                       size_t n, uint8_t *verdicts)
{
    uint8_t answers[BATCH_LINES];
    enum unseen_status status = UNSEEN_OK;
    memset(verdicts, UNSEEN_NEW, n);
    for (size_t s = 0; s < m->nexcluded + m->nlists + m->nlayers && status == UNSEEN_OK; s++) {
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
            unseen_layer_contains(m->layers[s - m->nexcluded - m->nlists], b->items + first, n,
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
    return is_put && remote_ask(&m->remote, !m->asks_only, verdicts) ? UNSEEN_OK
                                                                     : UNSEEN_ERR_MISMATCH;
}

enum unseen_status seen_ask_server(struct seen *m, const struct batch *const *batches, size_t n,
                                   uint8_t *verdicts)
{
    bool is_put = true;
    size_t nlines = 0;
    for (size_t i = 0; i < n; i++) {
        is_put = is_put && remote_put(&m->remote, batches[i]->items, batches[i]->n);
        nlines += batches[i]->n;
    }
    return nlines == 0 ? UNSEEN_OK : ask_server(m, is_put, nlines, verdicts);
}

enum unseen_status seen_ask(struct seen *m, const struct batch *b, size_t first, size_t n,
                            uint8_t *verdicts, size_t *ndone_out)
{
    if (m->list.list.list) {
        const enum unseen_status status = ask_list(&m->list, b, first, n, verdicts);
        *ndone_out = status == UNSEEN_OK ? n : 0;
        return status;
    }
    if (m->layer) {
        unseen_layer_contains(m->layer, b->items + first, n, verdicts);
        *ndone_out = n;
        return UNSEEN_OK;
    }
    if (m->is_remote) {
        *ndone_out = n;
        return ask_server(m, remote_put(&m->remote, b->items + first, n), n, verdicts);
    }
    if (m->nexcluded + m->nlists + m->nlayers == 0) {
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
        remote_stats(&m->remote, stats_out);
        *profile_out = m->remote.profile;
        return;
    }
    if (m->layer) {
        struct unseen_layer_info layer = {.size = sizeof(layer)};
        (void)unseen_layer_info(m->layer, &layer); /* fails for a wrong size only */
        *stats_out = (struct unseen_set_stats){.size = sizeof(*stats_out),
                                               .nkeys = layer.nkeys_estimate,
                                               .memory = layer.memory,
                                               .fpr_promise = layer.fpr_estimate,
                                               .fpr_estimate = layer.fpr_estimate,
                                               .filter = "frozen",
                                               .cpu = ""};
        *profile_out = "none/1";
        return;
    }
    struct unseen_list_info info = {.size = sizeof(info)};
    (void)unseen_list_info(m->list.list.list, &info); /* fails for a wrong size only */
    *stats_out = (struct unseen_set_stats){.size = sizeof(*stats_out),
                                           .nkeys = info.nkeys + info.nadded,
                                           .memory = info.bytes,
                                           .fpr_promise = info.fpr,
                                           .fpr_estimate = info.rate,
                                           .filter = "list",
                                           .cpu = ""};
    *profile_out = info.profile;
}
