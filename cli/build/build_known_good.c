/* SPDX-License-Identifier: MIT
 *
 * Allows in the finished list the allowed entries of the inputs, and for `unseen build
 * --known-good` the known-good lines that the list would take for listed. Each of these lines is
 * asked as a question of the list's kind. So it is found even if only a folder or a domain that it
 * belongs to is listed. Then the line itself is allowed. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <unseen_list.h>

#include "build/build_job.h"
#include "lines/batch.h"
#include "lines/feed.h"
#include "lines/files.h"
#include "print/message.h"
#include "seen/lists.h"
#include "seen/stores.h"
#include "stop.h"

struct known_good {
    struct build_job *m;
    struct opened_list list;
    struct unseen_list_edit *edit;
    struct text room;
    bool failed;
};

bool build_known_good_check(const struct options *o)
{
    for (size_t i = 0; i < o->list.nknown_good; i++) {
        const char *name = o->list.known_good[i];
        if (files_is_standard_input(name)) {
            continue;
        }
        struct stat st;
        if (access(name, R_OK) != 0 || stat(name, &st) != 0) {
            message_error("cannot open %s: %s", name, strerror(errno));
            return false;
        }
        if (S_ISDIR(st.st_mode)) {
            message_error("cannot read %s: %s", name, strerror(EISDIR));
            return false;
        }
        if (stores_refuse(name) != STORES_NONE) {
            message_hint("--known-good takes a file of lines");
            return false;
        }
    }
    return true;
}

static bool known_good_report(struct known_good *k, struct unseen_error *error,
                              enum unseen_status status)
{
    error->status = status;
    lists_report(k->m->o->seen.path, error);
    k->failed = true;
    return false;
}

/* Allows a line that is not an entry, such as "Jo <jo@e.example>", by the most specific text of its
 * question. */
static enum unseen_status allow_question(struct known_good *k, struct unseen_bytes line,
                                         struct unseen_error *error)
{
    struct unseen_bytes texts[UNSEEN_KIND_TEXTS_MAX];
    size_t n = 0;
    const size_t need = unseen_kind_bound(k->list.kind, line.len);
    text_clear(&k->room);
    const enum unseen_status status =
        need > 0 && text_reserve(&k->room, need)
            ? unseen_kind_texts(k->list.kind, unseen_list_url(k->list.list), line.data, line.len,
                                k->room.data, k->room.cap, texts, &n)
            : UNSEEN_ERR_NOMEM;
    return status == UNSEEN_OK && n > 0
               ? unseen_list_edit_change_texts(k->edit, UNSEEN_LIST_ALLOW, texts, 1, NULL, error)
               : status;
}

/* Allows a line that is listed. */
static bool allow(struct known_good *k, struct unseen_bytes line)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    enum unseen_status status =
        unseen_list_edit_change(k->edit, UNSEEN_LIST_ALLOW, &line, 1, NULL, &error);
    if (status == UNSEEN_ERR_ARGUMENT) {
        status = allow_question(k, line, &error);
    }
    k->m->known_good.nallowed++;
    return status == UNSEEN_OK || known_good_report(k, &error, status);
}

static bool known_good_take_batch(void *context, const struct batch *b)
{
    struct known_good *k = context;
    uint8_t verdicts[BATCH_LINES];
    struct unseen_error error = {.status = UNSEEN_OK};
    const enum unseen_status status = lists_covers(&k->list, b->texts, b->n, verdicts);
    if (status != UNSEEN_OK) {
        return known_good_report(k, &error, status);
    }
    k->m->known_good.nasked += b->n;
    for (size_t i = 0; i < b->n; i++) {
        if (verdicts[i] == UNSEEN_SEEN && !allow(k, b->texts[i])) {
            return false;
        }
    }
    progress_show(&k->m->progress, "known good", k->m->known_good.nasked, "lines", -1);
    return true;
}

static void poll(void *context)
{
    struct known_good *k = context;
    progress_show(&k->m->progress, "known good", k->m->known_good.nasked, "lines", -1);
}

static bool known_good_read(struct known_good *k, const char *name)
{
    struct output none = {.fd = -1};
    struct feed feed = {.input = &k->m->o->input,
                        .file = name,
                        .out = &none,
                        .take = known_good_take_batch,
                        .poll = poll,
                        .context = k};
    feed_run(&feed);
    k->failed = k->failed || feed.failed;
    return !k->failed && !stop_is_wanted();
}

static bool known_good_read_all(struct known_good *k)
{
    for (size_t i = 0; i < k->m->o->list.nknown_good; i++) {
        if (!known_good_read(k, k->m->o->list.known_good[i])) {
            return false;
        }
    }
    return true;
}

/* Allows the allowed entries. */
static bool allow_entries(struct known_good *k)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    const struct text *allowed = &k->m->allowed;
    for (size_t at = 0; at < allowed->len;) {
        const char *const start = allowed->data + at;
        const char *const end = memchr(start, '\n', allowed->len - at);
        const struct unseen_bytes text = {start, (size_t)(end - start)};
        const enum unseen_status status =
            unseen_list_edit_change_texts(k->edit, UNSEEN_LIST_ALLOW, &text, 1, NULL, &error);
        if (status != UNSEEN_OK) {
            return known_good_report(k, &error, status);
        }
        at += text.len + 1;
    }
    return true;
}

bool build_known_good_run(struct build_job *m)
{
    const char *path = m->folder.list;
    struct known_good k = {.m = m};
    struct unseen_error error = {.status = UNSEEN_OK};
    const bool wanted = m->o->list.nknown_good > 0 || m->allowed.len > 0;
    if (!wanted || !lists_open(&k.list, path, UNSEEN_LIST_MAP_PREFETCH, m->cpu)) {
        return !wanted;
    }
    progress_phase(&m->progress, 0, 0);
    enum unseen_status status = unseen_list_edit_open(&k.edit, path, NULL, &error);
    bool good = status == UNSEEN_OK ? allow_entries(&k) && known_good_read_all(&k)
                                    : known_good_report(&k, &error, status);
    if (good) {
        status = unseen_list_edit_commit(k.edit, &error);
        good = status == UNSEEN_OK || known_good_report(&k, &error, status);
    }
    unseen_list_edit_close(k.edit);
    lists_close(&k.list);
    text_release(&k.room);
    return good;
}
