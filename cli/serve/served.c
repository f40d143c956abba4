/* SPDX-License-Identifier: MIT */
#include "serve/served.h"

#include <stdio.h>
#include <string.h>

#include "print/utf8.h"
#include "seen/stores.h"

/* What can come of a URL, with the marks for a verdict of SEEN and of NEW. */
static const char marks_of_add[] = {[UNSEEN_SEEN] = '0', [UNSEEN_NEW] = '1'};
static const char marks_of_ask[] = {
    [UNSEEN_SEEN] = '1', [UNSEEN_NEW] = '0', [UNSEEN_ALLOWED] = '0'};

/* A sentence for a line of its own, so without what would end it. */
static void set_trouble(struct served *d, const char *text)
{
    snprintf(d->trouble, sizeof(d->trouble), "%s", text);
    utf8_clean(d->trouble);
}

/* A failed commit is reported where it shows first. */
static void break_off(struct served *d, struct unseen_error *error, enum unseen_status status)
{
    if (!d->broken) {
        error->status = status;
        set_trouble(d, error->text[0] ? error->text : unseen_status_string(status));
        stores_report_commit(d->o->seen.path, &d->o->seen, error);
        d->broken = true;
    }
}

static void fail_urls(struct served *d, enum unseen_status status, char *marks, size_t n)
{
    memset(marks, 'E', n);
    if (status == UNSEEN_ERR_STOPPED && !d->broken) {
        (void)served_commit_wait(d); /* says what has stopped it */
    }
    if (!d->broken) {
        set_trouble(d, status == UNSEEN_ERR_UNSUPPORTED ? "the store's filter cannot remove"
                                                        : unseen_status_string(status));
    }
}

/* The verdicts of ndone URLs as marks, and 'E' for the others up to n. */
static void put_marks(struct served *d, enum unseen_status status, const uint8_t *verdicts,
                      size_t ndone, size_t n, const char *marks_of, char *marks)
{
    for (size_t i = 0; i < ndone; i++) {
        marks[i] = marks_of[verdicts[i]];
    }
    if (ndone < n) {
        fail_urls(d, status, marks + ndone, n - ndone);
    }
}

static size_t count_ones(const char *marks, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += marks[i] == '1';
    }
    return sum;
}

static bool may_change(struct served *d, char *marks, size_t n)
{
    if (d->listed) {
        memset(marks, 'E', n);
        set_trouble(d, "this is a list, which unseen update changes: here are only answers");
    } else if (d->o->seen.dry_run) {
        memset(marks, 'E', n);
        set_trouble(d, "this server was started with --dry-run: it only answers questions");
    }
    return !d->listed && !d->o->seen.dry_run;
}

static size_t change(struct served *d,
                     enum unseen_status (*how)(struct unseen_store *store,
                                               const struct unseen_key *keys, size_t n,
                                               uint8_t *verdicts, size_t *ndone_out),
                     const char *marks_of, const struct unseen_bytes *urls, size_t n, char *marks)
{
    struct unseen_key keys[SERVED_RUN];
    uint8_t verdicts[SERVED_RUN];
    size_t ndone = 0;
    if (!may_change(d, marks, n)) {
        return 0;
    }
    enum unseen_status status = unseen_set_keys(unseen_store_set(d->store), urls, n, keys, NULL);
    if (status == UNSEEN_OK) {
        status = how(d->store, keys, n, verdicts, &ndone);
    }
    put_marks(d, status, verdicts, ndone, n, marks_of, marks);
    return count_ones(marks, n);
}

size_t served_add(struct served *d, const struct unseen_bytes *urls, size_t n, char *marks)
{
    return change(d, unseen_store_add_keys, marks_of_add, urls, n, marks);
}

size_t served_remove(struct served *d, const struct unseen_bytes *urls, size_t n, char *marks)
{
    return change(d, unseen_store_remove_keys, marks_of_ask, urls, n, marks);
}

size_t served_ask(struct served *d, const struct unseen_bytes *urls, size_t n, char *marks)
{
    uint8_t verdicts[SERVED_RUN];
    const enum unseen_status status =
        d->listed ? listed_covers(d->listed, urls, n, verdicts)
                  : unseen_set_contains(unseen_store_set(d->store), urls, n, verdicts, NULL);
    put_marks(d, status, verdicts, status == UNSEEN_OK ? n : 0, n, marks_of_ask, marks);
    return 0;
}

void served_refresh(struct served *d)
{
    if (d->listed) {
        listed_refresh(d->listed);
    }
}

void served_commit_begin(struct served *d, uint64_t nchanges)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    if (d->broken || nchanges == 0) {
        return;
    }
    const enum unseen_status status = unseen_store_commit_begin(d->store, nchanges, 0, &error);
    if (status != UNSEEN_OK) {
        break_off(d, &error, status);
    }
}

bool served_commit_wait(struct served *d)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    if (d->broken || d->o->seen.dry_run || d->listed) {
        return !d->broken;
    }
    const enum unseen_status status = unseen_store_commit_wait(d->store, &error);
    if (status != UNSEEN_OK) {
        break_off(d, &error, status);
    }
    return !d->broken;
}
