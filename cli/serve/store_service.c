/* SPDX-License-Identifier: MIT */
#include "serve/store_service.h"

#include <stdio.h>
#include <string.h>

#include "lines/utf8.h"
#include "serve/list_service.h"

/* The marks of the verdicts SEEN, NEW and ALLOWED. */
static const char add_marks[] = {[UNSEEN_SEEN] = '0', [UNSEEN_NEW] = '1'};
static const char ask_marks[] = {[UNSEEN_SEEN] = '1', [UNSEEN_NEW] = '0', [UNSEEN_ALLOWED] = '0'};

/* The sentence goes into an answer of one line, so control characters are cleaned away. */
static void set_trouble(struct store_service *s, const char *text)
{
    snprintf(s->trouble, sizeof(s->trouble), "%s", text);
    utf8_clean(s->trouble);
}

/* The first failed commit is reported. Returns whether all commits so far have gone well. */
static bool note_commit(struct store_service *s, enum unseen_status status,
                        struct unseen_error *error)
{
    if (status != UNSEEN_OK && !s->broken) {
        error->status = status;
        set_trouble(s, error->text[0] ? error->text : unseen_status_string(status));
        s->report_commit(s->context, error);
        s->broken = true;
    }
    return !s->broken;
}

/* Writes the marks of ndone verdicts, and 'E' for the other URLs. */
static void write_marks(struct store_service *s, enum unseen_status status, const uint8_t *verdicts,
                        size_t ndone, size_t n, const char *marks_of, char *marks)
{
    for (size_t i = 0; i < ndone; i++) {
        marks[i] = marks_of[verdicts[i]];
    }
    if (ndone == n) {
        return;
    }
    memset(marks + ndone, 'E', n - ndone);
    if (status == UNSEEN_ERR_STOPPED && !s->broken) {
        (void)store_service_commit_wait(s); /* sets the trouble that has stopped the store */
    }
    if (!s->broken) {
        set_trouble(s, status == UNSEEN_ERR_UNSUPPORTED ? "the store's filter cannot remove"
                                                        : unseen_status_string(status));
    }
}

static size_t count_ones(const char *marks, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        count += marks[i] == '1';
    }
    return count;
}

static size_t change(struct store_service *s,
                     enum unseen_status (*how)(struct unseen_store *store,
                                               const struct unseen_key *keys, size_t n,
                                               uint8_t *verdicts, size_t *ndone_out),
                     const char *marks_of, const struct unseen_bytes *urls, size_t n, char *marks)
{
    struct unseen_key keys[STORE_SERVICE_RUN];
    uint8_t verdicts[STORE_SERVICE_RUN];
    size_t ndone = 0;
    if (s->list || s->read_only) {
        memset(marks, 'E', n);
        set_trouble(s, s->list
                           ? "this is a list, which unseen update changes: here are only answers"
                           : "this server was started with --dry-run: it only answers questions");
        return 0;
    }
    enum unseen_status status = unseen_set_keys(unseen_store_set(s->store), urls, n, keys, NULL);
    if (status == UNSEEN_OK) {
        status = how(s->store, keys, n, verdicts, &ndone);
    }
    write_marks(s, status, verdicts, ndone, n, marks_of, marks);
    return count_ones(marks, n);
}

size_t store_service_add(struct store_service *s, const struct unseen_bytes *urls, size_t n,
                         char *marks)
{
    return change(s, unseen_store_add_keys, add_marks, urls, n, marks);
}

size_t store_service_remove(struct store_service *s, const struct unseen_bytes *urls, size_t n,
                            char *marks)
{
    return change(s, unseen_store_remove_keys, ask_marks, urls, n, marks);
}

size_t store_service_ask(struct store_service *s, const struct unseen_bytes *urls, size_t n,
                         char *marks)
{
    uint8_t verdicts[STORE_SERVICE_RUN];
    const enum unseen_status status =
        s->list ? list_service_covers(s->list, urls, n, verdicts)
                : unseen_set_contains(unseen_store_set(s->store), urls, n, verdicts, NULL);
    write_marks(s, status, verdicts, status == UNSEEN_OK ? n : 0, n, ask_marks, marks);
    return 0;
}

void store_service_commit_begin(struct store_service *s, uint64_t n)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    if (!s->broken && n > 0) {
        (void)note_commit(s, unseen_store_commit_begin(s->store, n, 0, &error), &error);
    }
}

bool store_service_commit_wait(struct store_service *s)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    if (s->broken || s->read_only || s->list) {
        return !s->broken;
    }
    return note_commit(s, unseen_store_commit_wait(s->store, &error), &error);
}
