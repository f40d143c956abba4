/* SPDX-License-Identifier: MIT */
#include "seen/seen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "clock.h"
#include "lines/profile.h"
#include "lines/reader.h"
#include "lines/times.h"
#include "print/message.h"
#include "print/typed.h"
#include "seen/filter_words.h"
#include "seen/stores.h"

enum {
    LOOK_MS = 1000
};

/* Down to this --fpr keys of 64 bits are enough (unseen.h): half of the disk for --memory. */
#define SHORT_KEYS_FPR 1e-9

void seen_report_full(enum unseen_status status)
{
    if (status == UNSEEN_ERR_STOPPED || status == UNSEEN_ERR_MISMATCH) {
        return; /* a failed commit is reported at the end; a lost list has been reported */
    }
    message_error("cannot remember more lines: %s", unseen_status_string(status));
    message_hint("half of the memory each time: %s, and then with 2/2", typed_with("--shard 1/2"));
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Opens the stores of -x: first of all, so that nothing is made if one cannot be opened. */
static bool open_excluded(struct seen *m, enum unseen_cpu cpu)
{
    const struct seen_options *o = m->o;
    m->excluded = calloc(o->nexcludes + 1, sizeof(*m->excluded)); /* one more, for lines */
    if (!m->excluded) {
        return message_no_memory();
    }
    for (size_t i = 0; i < o->nexcludes; i++) {
        struct asked *a = &m->excluded[m->nexcluded];
        const enum stores_type type = stores_type_of(o->excludes[i]);
        if (type != STORES_STORE && type != STORES_IMAGE) {
            continue;
        }
        *a = (struct asked){.ops = &asked_store, .path = o->excludes[i], .makes_keys = true};
        if (!stores_open_to_read(&a->store, a->path, o, cpu)) {
            return false;
        }
        a->set = unseen_store_set(a->store);
        m->nexcluded++;
    }
    return true;
}

static bool create_set(struct seen *m, enum unseen_cpu cpu)
{
    const struct seen_options *o = m->o;
    if (!profile_create(&m->own_url, m->profile, NULL, cpu)) {
        return false;
    }
    m->url = profile_is_none(m->own_url) ? NULL : m->own_url;
    const struct unseen_set_options options = {
        .size = sizeof(options),
        .profile = unseen_url_id(m->own_url),
        .fpr = o->fpr,
        .capacity = o->capacity,
        .filter = o->filter,
        .bits_per_key = o->bits_per_key,
        .hashes = o->hashes,
        .seed = seed_bytes(&o->seed),
        .seed_len = o->seed.len,
        .threads = 1,
        .cpu = cpu,
        .window = o->window,
        .key_bits = o->memory > 0 && (o->fpr == 0 || o->fpr >= SHORT_KEYS_FPR) ? 64 : 0,
    };
    struct unseen_error error;
    m->asked.ops = &asked_set;
    if (unseen_set_create(&m->asked.own, &options, &error) == UNSEEN_OK) {
        m->asked.set = m->asked.own;
        m->window = o->window;
        return true;
    }
    if (filters_report(o, &error)) {
        return false;
    }
    switch (error.status) {
    case UNSEEN_ERR_FPR:
        message_error("--fpr %g: %s", o->fpr, unseen_status_string(error.status));
        message_hint("%s", typed_with("--fpr 1e-12"));
        break;
    case UNSEEN_ERR_NOMEM:
        message_error("no memory for %" PRIu64 " keys", o->capacity);
        message_hint("the set grows as needed: %s", typed_without("capacity"));
        break;
    default:
        message_error("cannot make a set: %s", message_of(&error));
        if (error.setting == UNSEEN_SETTING_WINDOW) {
            message_hint("%s", typed_changed("filter", "--filter compact"));
        }
    }
    return false;
}

static bool open_store(struct seen *m, enum unseen_cpu cpu)
{
    const struct seen_options *o = m->o;
    const enum unseen_store_mode mode = m->asked.adds ? UNSEEN_STORE_CREATE : UNSEEN_STORE_READ;
    if (!stores_open(&m->asked.store, o->path, mode, o, m->profile, cpu)) {
        return false;
    }
    m->asked.ops = &asked_store;
    m->asked.set = unseen_store_set(m->asked.store);
    m->url = stores_info(m->asked.store).url;
    m->window = stores_info(m->asked.store).window;
    return true;
}

bool seen_check_parts(const struct seen *m, const char *path)
{
    if (m->key->key.nparts <= 1) {
        return true;
    }
    message_error("%s has single texts, -k %s names several parts of a line", path, m->key->text);
    message_hint("to remember them together: unseen add -k %s STORE FILE",
                 typed_quoted(m->key->text));
    return false;
}

/* Lines for a list of URLs are made canonical where they are read, and not again when the list is
 * asked. */
static bool open_list(struct seen *m, enum unseen_cpu cpu)
{
    struct opened_list *l = &m->asked.list;
    if (!seen_check_parts(m, m->o->path) || !asked_open_list(&m->asked, m->o->path, cpu)) {
        return false;
    }
    l->takes_canons = l->kind == UNSEEN_KIND_URL;
    m->url = l->takes_canons ? unseen_list_url(l->list) : NULL;
    return true;
}

bool seen_open(struct seen *m, enum unseen_cpu cpu)
{
    const struct seen_options *o = m->o;
    m->asked = (struct asked){.path = o->path, .adds = !o->dry_run && !o->use->asks_only};
    m->looked = clock_milliseconds();
    if (o->path && address_is_server(o->path)) {
        return seen_open_server(m, cpu);
    }
    if (!open_excluded(m, cpu)) {
        return false;
    }
    switch (o->use->takes_list ? stores_type_of(o->path) : STORES_NONE) {
    case STORES_LIST:
        return open_list(m, cpu);
    case STORES_FOREIGN:
        return seen_check_parts(m, o->path) && asked_open_foreign(&m->asked, o->path);
    default:
        return o->path ? open_store(m, cpu) : create_set(m, cpu);
    }
}

bool seen_close(struct seen *m, bool broken)
{
    bool closed = !broken;
    for (size_t i = 0; i < m->nexcluded; i++) {
        asked_close(&m->excluded[i]);
    }
    free(m->excluded);
    if (!broken) {
        closed = stores_close(m->asked.store, m->o->path, m->o, m->run_failed);
        m->asked.store = NULL;
    }
    asked_close(&m->asked);
    unseen_url_free(m->own_url);
    *m = (struct seen){.o = m->o};
    return closed;
}

/* ---- What others commit ---------------------------------------------------------------------- */

/* Follows a store that is only read. */
static void follow(struct seen *m, const struct asked *a)
{
    struct unseen_error error;
    if (a->store && !a->adds && !m->is_stale && !stores_refresh(a->store, &error)) {
        stores_report(a->path, m->o, &error);
        message_warning("the answers still come from %s as it was", a->path);
        m->is_stale = true;
    }
}

void seen_refresh(struct seen *m)
{
    const uint64_t now = clock_milliseconds();
    if (now - m->looked < LOOK_MS) {
        return;
    }
    m->looked = now;
    follow(m, &m->asked);
    for (size_t i = 0; i < m->nexcluded; i++) {
        follow(m, &m->excluded[i]);
    }
}

/* ---- Asking ---------------------------------------------------------------------------------- */

bool seen_needs_texts(const struct seen *m)
{
    return m->nexcluded > 0 || !m->asked.set;
}

/* Asks all that -x names. A line that none of them has is NEW. */
static enum unseen_status ask_excluded(struct seen *m, struct query *q)
{
    enum unseen_status status = UNSEEN_OK;
    memset(q->verdicts, UNSEEN_NEW, q->n);
    for (size_t x = 0; x < m->nexcluded && status == UNSEEN_OK; x++) {
        uint8_t answers[BATCH_LINES];
        struct query one = {q->keys, q->items, q->canons, q->n, answers, 0};
        status = m->excluded[x].ops->ask(&m->excluded[x], &one);
        for (size_t i = 0; i < q->n && status == UNSEEN_OK; i++) {
            q->verdicts[i] &= answers[i];
        }
    }
    return status;
}

/* Asks the set or store for the lines that are not excluded. */
static enum unseen_status ask_rest(struct seen *m, struct query *q)
{
    struct unseen_key keys[BATCH_LINES];
    uint8_t answers[BATCH_LINES];
    struct query rest = {.keys = keys, .verdicts = answers};
    memcpy(keys, q->keys, q->n * sizeof(keys[0]));
    for (size_t i = 0; i < q->n; i++) {
        keys[rest.n] = keys[i];
        rest.n += q->verdicts[i] == UNSEEN_NEW;
    }
    const enum unseen_status status = m->asked.ops->ask(&m->asked, &rest);
    for (size_t used = 0; q->ndone < q->n; q->ndone++) {
        uint8_t *verdict = &q->verdicts[q->ndone];
        if (*verdict == UNSEEN_NEW && used == rest.ndone) {
            break;
        }
        *verdict = *verdict == UNSEEN_NEW ? answers[used++] : UNSEEN_SEEN;
    }
    return status;
}

static enum unseen_status ask_all(struct seen *m, const struct batch *b, size_t first, size_t n,
                                  uint8_t *verdicts, size_t *ndone_out)
{
    struct query q = {b->keys + first, b->items + first, b->canons + first, n, verdicts, 0};
    enum unseen_status status = UNSEEN_OK;
    if (m->nexcluded == 0) {
        status = m->asked.ops->ask(&m->asked, &q);
    } else {
        status = ask_excluded(m, &q);
        status = status == UNSEEN_OK ? ask_rest(m, &q) : status;
    }
    *ndone_out = q.ndone;
    return status;
}

/* True if what was new at this time has left the window by the latest time. */
static bool is_late(const struct seen *m, uint64_t time, uint64_t latest)
{
    return time > 0 && m->window > 0 && latest > m->window && time <= latest - m->window;
}

/* Counts a late line, and reports the first one. */
static void note_late(struct seen *m, const struct batch *b, size_t i)
{
    char time[TIMES_TEXT_MAX];
    char latest[TIMES_TEXT_MAX];
    if (m->nlate++ > 0) {
        return;
    }
    times_put(b->times[i] - 1, time);
    times_put(m->latest - 1, latest);
    message_warning("%s:%" PRIu64 ": its time, %s, is a window or more before %s, the latest so "
                    "far: such lines count as seen",
                    b->name, reader_line_number(b, b->lines[i].data, m->input->delimiter), time,
                    latest);
}

/* A store keeps the times also if it has no window. */
static enum unseen_status tell_time(struct seen *m, uint64_t now, uint64_t *next_out)
{
    if (m->asked.store) {
        return unseen_store_expire(m->asked.store, now, SIZE_MAX, next_out);
    }
    return unseen_set_expire(m->asked.own, now, SIZE_MAX, next_out); /* it has a window */
}

/* The first of these times: it counts for the lines before it, as a store takes no change without a
 * time. */
static uint64_t first_time(const uint64_t *times, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (times[i] > 0) {
            return times[i];
        }
    }
    return 1;
}

/* Asks for lines that have times. The set is told the time of each line before it is asked for the
 * line, so the answers do not depend on batches. Lines share a call as long as no time among them
 * makes a difference. */
static enum unseen_status ask_at_times(struct seen *m, const struct batch *b, size_t first,
                                       size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    const uint64_t *times = b->times + first;
    enum unseen_status status = UNSEEN_OK;
    size_t at = 0;
    if (m->asked.store && m->latest == 0) {
        m->latest = first_time(times, n);
    }
    while (at < n && status == UNSEEN_OK) {
        if (is_late(m, times[at], m->latest)) {
            note_late(m, b, first + at);
            verdicts[at++] = UNSEEN_SEEN;
            continue;
        }
        uint64_t latest = times[at] > m->latest ? times[at] : m->latest;
        uint64_t next = 0;
        size_t end = at + 1;
        size_t ndone = 0;
        status = tell_time(m, latest, &next);
        for (; end < n && times[end] < next && !is_late(m, times[end], latest); end++) {
            latest = times[end] > latest ? times[end] : latest;
        }
        status = status == UNSEEN_OK ? tell_time(m, latest, NULL) : status;
        m->latest = latest;
        if (status == UNSEEN_OK) {
            status = ask_all(m, b, first + at, end - at, verdicts + at, &ndone);
        }
        at += ndone;
    }
    *ndone_out = at;
    return status;
}

enum unseen_status seen_ask(struct seen *m, const struct batch *b, size_t first, size_t n,
                            uint8_t *verdicts, size_t *ndone_out)
{
    const bool has_clock = m->asked.store || m->window > 0;
    enum unseen_status status = UNSEEN_OK;
    if (has_clock && m->key->time_text) {
        return ask_at_times(m, b, first, n, verdicts, ndone_out);
    }
    if (m->asked.store) {
        status = stores_tell_time(m->asked.store, STORES_LEAVING);
    } else if (has_clock) {
        status = unseen_set_expire(m->asked.own, clock_milliseconds(), STORES_LEAVING, NULL);
    }
    *ndone_out = 0;
    return status == UNSEEN_OK ? ask_all(m, b, first, n, verdicts, ndone_out) : status;
}

const char *seen_stats(const struct seen *m, struct unseen_set_stats *stats_out)
{
    *stats_out = (struct unseen_set_stats){.size = sizeof(*stats_out), .filter = "", .cpu = ""};
    return m->asked.ops->stats(&m->asked, stats_out);
}
