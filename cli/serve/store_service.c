/* SPDX-License-Identifier: MIT
 *
 * Answers the line protocol: adds, asks or removes a run of URLs and gives a mark for each, commits
 * the changes, and ends leases. */
#include "serve/service.h"

#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "print/message.h"
#include "print/print_utf8.h"
#include "seen/filter_words.h"
#include "seen/stores.h"

enum {
    FILL_LEAST = 1000 /* new URLs between two looks at how full the filter is */
};

/* The marks of the verdicts SEEN, NEW and ALLOWED. */
static const char add_marks[] = {[UNSEEN_SEEN] = '0', [UNSEEN_NEW] = '1'};
static const char ask_marks[] = {[UNSEEN_SEEN] = '1', [UNSEEN_NEW] = '0', [UNSEEN_ALLOWED] = '0'};

/* The sentence goes into an answer of one line, so control characters are cleaned away. */
void service_set_trouble(struct service *s, const char *text)
{
    if (!s->broken) {
        snprintf(s->trouble, sizeof(s->trouble), "%s", text);
        utf8_clean(s->trouble);
    }
}

/* The first failed commit is reported. Returns whether all commits so far have gone well. */
static bool note_commit(struct service *s, enum unseen_status status, struct unseen_error *error)
{
    if (status != UNSEEN_OK && !s->broken) {
        error->status = status;
        service_set_trouble(s, error->text[0] ? error->text : unseen_status_string(status));
        stores_report_commit(s->path, s->seen, error);
        s->broken = true;
    }
    return !s->broken;
}

/* Writes the marks of ndone verdicts, and 'E' for the other URLs. Returns how many marks are '1'.
 * */
static size_t write_marks(struct service *s, enum unseen_status status, const uint8_t *verdicts,
                          size_t ndone, size_t n, const char *marks_of, char *marks)
{
    size_t count = 0;
    for (size_t i = 0; i < ndone; i++) {
        marks[i] = marks_of[verdicts[i]];
        count += marks[i] == '1';
    }
    if (ndone == n) {
        return count;
    }
    memset(marks + ndone, 'E', n - ndone);
    if (status == UNSEEN_ERR_STOPPED && !s->broken) {
        (void)service_commit_wait(s); /* sets the trouble that has stopped the store */
    }
    service_set_trouble(s, status == UNSEEN_ERR_UNSUPPORTED ? "the store's filter cannot remove"
                                                            : unseen_status_string(status));
    return count;
}

bool service_keys(struct service *s, const struct unseen_bytes *urls, size_t n,
                  struct unseen_key *keys)
{
    const enum unseen_status status =
        unseen_set_keys(unseen_store_set(s->store), urls, n, keys, NULL);
    if (status != UNSEEN_OK) {
        service_set_trouble(s, unseen_status_string(status));
    }
    return status == UNSEEN_OK;
}

/* Says why nothing is changed; false if it may be. */
static bool is_refused(struct service *s, char *marks, size_t n)
{
    if (!s->list.list && !s->read_only) {
        return false;
    }
    memset(marks, 'E', n);
    service_set_trouble(
        s, s->list.list ? "this is a list, which unseen update changes: here are only answers"
                        : "this server was started with --dry-run: it only answers questions");
    return true;
}

void service_list_marks(struct service *s, enum request_type type, const struct unseen_bytes *urls,
                        size_t n, char *marks)
{
    uint8_t verdicts[SERVICE_RUN];
    s->counts.nquestions += n;
    if (type != REQUEST_ASK) {
        (void)is_refused(s, marks, n);
        return;
    }
    const enum unseen_status status = service_covers(s, urls, n, verdicts);
    (void)write_marks(s, status, verdicts, status == UNSEEN_OK ? n : 0, n, ask_marks, marks);
}

/* As service_marks, for keys that no worker has. */
static size_t mark_keys(struct service *s, enum request_type type, const struct unseen_key *keys,
                        size_t n, char *marks)
{
    uint8_t verdicts[SERVICE_RUN];
    size_t ndone = 0;
    enum unseen_status status;
    (void)stores_tell_time(s->store, STORES_LEAVING); /* a change fails as well then */
    if (type == REQUEST_ASK) {
        status = unseen_set_contains_keys(unseen_store_set(s->store), keys, n, verdicts, &ndone);
        (void)write_marks(s, status, verdicts, ndone, n, ask_marks, marks);
        return 0;
    }
    if (is_refused(s, marks, n)) {
        return 0;
    }
    const bool adds = type == REQUEST_ADD;
    status = (adds ? unseen_store_add_keys : unseen_store_remove_keys)(s->store, keys, n, verdicts,
                                                                       &ndone);
    const size_t nchanges =
        write_marks(s, status, verdicts, ndone, n, adds ? add_marks : ask_marks, marks);
    s->nmade += nchanges;
    s->counts.nnew += adds ? nchanges : 0;
    s->counts.nseen += adds ? ndone - nchanges : 0;
    return nchanges;
}

/* Looks at each key by itself. A URL whose lease is over, and that somebody adds, is leased no
 * more. */
static size_t mark_leased(struct service *s, enum request_type type, const struct unseen_key *keys,
                          size_t n, char *marks)
{
    size_t nchanges = 0;
    for (size_t i = 0; i < n; i++) {
        const enum lease_state state = leases_state(&s->leases, keys[i], clock_milliseconds());
        if (state == LEASE_OUT) {
            marks[i] = 'L';
            continue;
        }
        nchanges += mark_keys(s, type, &keys[i], 1, &marks[i]);
        if (state == LEASE_BACK && type == REQUEST_ADD && marks[i] != 'E') {
            leases_end(&s->leases, keys[i], s->nmade);
        }
    }
    return nchanges;
}

size_t service_marks(struct service *s, enum request_type type, const struct unseen_key *keys,
                     size_t n, char *marks)
{
    s->counts.nquestions += n;
    return (type != REQUEST_REMOVE && s->leases.nlive > 0 ? mark_leased : mark_keys)(s, type, keys,
                                                                                     n, marks);
}

/* Says in the log which file has the leases (0: none has), so that they are missed if the store is
 * moved without them. */
static bool name_leases(struct service *s, uint64_t id)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    return note_commit(s, unseen_store_note(s->store, id, &error), &error);
}

bool service_open_leases(struct service *s)
{
    if (s->leases.file.path) {
        return true;
    }
    if (!s->may_change || s->no_log) {
        service_set_trouble(s, "only a store with a log that may be changed has leases");
        return false;
    }
    const struct unseen_store_info info = stores_info(s->store);
    const struct lease_head head = {
        .id = info.note, .seed_id = info.seed_id, .key_bits = info.key_bits};
    if (!leases_open(&s->leases, s->path, &head, unseen_store_set(s->store), s->notify_fd)) {
        service_set_trouble(s, "the server cannot open the file of leases; it has said why");
        return false;
    }
    if (info.note == 0 && !name_leases(s, s->leases.file.head.id)) {
        leases_close(&s->leases, false);
        return false;
    }
    return true;
}

void service_close_leases(struct service *s)
{
    leases_close(&s->leases, !s->broken && leases_are_over(&s->leases) && name_leases(s, 0));
}

bool service_end_lease(struct service *s, struct unseen_key key, char *mark_out)
{
    const bool changed = mark_keys(s, REQUEST_ADD, &key, 1, mark_out) > 0;
    if (*mark_out != 'E') {
        leases_end(&s->leases, key, s->nmade);
    }
    return changed;
}

void service_take_back(struct service *s, const struct unseen_key *keys, size_t n)
{
    char marks[SERVICE_RUN];
    for (size_t i = 0; i < n; i += SERVICE_RUN) {
        const size_t run = n - i < SERVICE_RUN ? n - i : SERVICE_RUN;
        (void)service_marks(s, REQUEST_REMOVE, keys + i, run, marks); /* as far as that can be */
        for (size_t k = i; k < i + run && s->leases.table.n > 0; k++) {
            leases_undo_end(&s->leases, keys[k]);
        }
    }
}

/* Looks each time when a quarter more URLs were new. */
void service_watch_fill(struct service *s)
{
    if (!s->store || s->is_full || s->counts.nnew < s->fill_due) {
        return;
    }
    s->fill_due = s->counts.nnew + s->counts.nnew / 4 + FILL_LEAST;
    s->is_full = filters_is_full(unseen_store_set(s->store));
    if (s->is_full) {
        message_warning("%s has more URLs than its filter was made for: more and more new URLs are "
                        "taken for seen",
                        s->path);
    }
}

void service_commit(struct service *s)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    service_watch_fill(s);
    if (!s->broken && s->nmade > s->nbegun &&
        note_commit(s, unseen_store_commit_begin(s->store, UINT64_MAX, 0, &error), &error)) {
        s->nbegun = s->nmade;
    }
}

void service_poll(struct service *s)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    int code = 0;
    if (!s->broken && s->may_change) {
        (void)note_commit(s, unseen_store_commit_poll(s->store, false, &s->ndurable, &error),
                          &error);
    }
    leases_settle(&s->leases, s->ndurable < s->nsent ? s->ndurable : s->nsent);
    s->nsynced = lease_file_synced(&s->leases.file, &code);
    if (code != 0 && !s->leases_broken) {
        message_error("cannot write %s: %s", s->leases.file.path, strerror(code));
        service_set_trouble(s, "the leases cannot be written to the disk");
        s->leases_broken = true;
    }
}

bool service_commit_wait(struct service *s)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    if (s->broken || !s->may_change) {
        return !s->broken;
    }
    return note_commit(s, unseen_store_commit_poll(s->store, true, NULL, &error), &error);
}
