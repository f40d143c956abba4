/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "serve/listed.h"

#include <time.h>
#include <unseen_list.h>

#include "lines/profile.h"
#include "seen/stores.h"
#include "print/message.h"

#define SECOND ((uint64_t)1000000000)
#define MINUTE (60 * SECOND)

/* What is open, or shall be. */
struct opened {
    struct unseen_store *store;
    struct opened_list list;
};

/* ---- Opening --------------------------------------------------------------------------------- */

static enum unseen_kind kind_for(unsigned asks)
{
    enum unseen_kind kind = UNSEEN_KIND_URL;
    while (kind < UNSEEN_KIND_PHONE && !listed_suits(asks, kind)) {
        kind++;
    }
    return kind;
}

static bool check_list(const struct listed *l, const struct opened_list *list)
{
    const char *path = l->o->seen.path;
    if (l->asks && !listed_suits(l->asks, list->kind)) {
        message_error("%s is of the kind %s, and --protocol %s asks for nothing of that kind", path,
                      unseen_kind_name(list->kind), l->o->serve.protocol);
        message_hint("unseen build --kind %s NEW.list FILE", unseen_kind_name(kind_for(l->asks)));
        return false;
    }
    if (l->o->serve.expressions && list->kind != UNSEEN_KIND_EXPRESSIONS) {
        message_error("%s was not built with --expressions", path);
        message_hint("unseen build --expressions %s FILE", path);
        return false;
    }
    return true;
}

static bool open_file(const struct listed *l, struct opened *opened_out)
{
    struct opened opened = {.store = NULL};
    const char *path = l->o->seen.path;
    bool works;
    if (stores_kind_of(path) == STORES_LIST) {
        works = lists_open(&opened.list, path, UNSEEN_LIST_MAP_PREFETCH, l->cpu);
        if (works && !check_list(l, &opened.list)) {
            lists_close(&opened.list);
            works = false;
        }
    } else if (l->lists_only) {
        message_error("%s is no list", path);
        works = false;
    } else {
        works = stores_open_to_read(&opened.store, path, &l->o->seen, l->cpu);
    }
    *opened_out = opened;
    return works;
}

static void close_file(struct listed *l)
{
    (void)unseen_store_close(l->store, NULL); /* was only read */
    lists_close(&l->list);
    l->store = NULL;
}

static void use(struct listed *l, const struct opened *opened, const struct stat *file)
{
    close_file(l);
    l->store = opened->store;
    l->list = opened->list;
    l->file = *file;
    l->lost = false;
    l->in_trouble = false;
}

bool listed_open(struct listed *l)
{
    struct opened opened;
    struct stat file = {.st_ino = 0};
    if (l->o->serve.expressions &&
        !profile_create(&l->url, &l->o->profile, "safebrowsing", l->cpu)) {
        return false;
    }
    (void)stat(l->o->seen.path,
               &file); /* if the name changes from here on, the next look shows it */
    if (!open_file(l, &opened)) {
        return false;
    }
    use(l, &opened, &file);
    return true;
}

void listed_close(struct listed *l)
{
    close_file(l);
    unseen_url_free(l->url);
    text_release(&l->room);
    l->url = NULL;
}

/* ---- What is new ----------------------------------------------------------------------------- */

/* Time that only goes forward; if there is none, files are looked for at every call. */
static uint64_t now(void)
{
    struct timespec t = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
    return is_same_file(a, b) && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

void listed_lose(struct listed *l)
{
    if (!l->lost) {
        lists_report_lost(l->o->seen.path);
    }
    l->lost = true;
    l->in_trouble = true;
}

static void take_changes(struct listed *l)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    error.status = unseen_list_refresh(l->list.list, NULL, &error);
    if (error.status == UNSEEN_ERR_MISMATCH) {
        listed_lose(l);
    } else if (error.status != UNSEEN_OK && !l->in_trouble) {
        lists_report(l->o->seen.path, &error);
        message_warning("the answers are still those without the last changes of %s",
                        l->o->seen.path);
    }
    l->in_trouble = error.status != UNSEEN_OK;
}

/* What could not be opened is tried again when it has changed, as it may just have been written, and
 * now and then, as the cause may lie elsewhere. */
static void take_file(struct listed *l, const struct stat *file, uint64_t time)
{
    struct opened opened;
    if (is_unchanged(file, &l->refused) && time - l->refused_at < MINUTE) {
        return;
    }
    if (open_file(l, &opened)) {
        use(l, &opened, file);
        return;
    }
    l->refused = *file;
    l->refused_at = time;
    if (!l->lost) {
        message_warning("the answers are still those of the file that was %s before",
                        l->o->seen.path);
    }
}

void listed_refresh(struct listed *l)
{
    const uint64_t time = now();
    struct stat file;
    if (time - l->looked < SECOND) {
        return;
    }
    l->looked = time;
    if (stat(l->o->seen.path, &file) != 0) {
        return; /* a name may be gone between two files */
    }
    if (is_same_file(&file, &l->file) && l->list.list && !l->lost) {
        take_changes(l);
    }
    if (!is_same_file(&file, &l->file) || l->lost) {
        take_file(l, &file, time);
    }
}
