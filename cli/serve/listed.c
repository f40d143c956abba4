/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "serve/listed.h"

#include <sys/stat.h>
#include <time.h>

#include "lines/profile.h"
#include "memory/stores.h"
#include "print/message.h"

#define SECOND ((uint64_t)1000000000)

/* What is open, or shall be. */
struct opened {
    struct unseen_store *store;
    struct opened_list list;
};

/* Whether the name stands for another file than the one that is known; if so, it is known then. */
static bool is_another(struct listed *l)
{
    struct stat st;
    if (stat(l->o->store, &st) != 0 || (st.st_dev == l->device && st.st_ino == l->inode)) {
        return false; /* a name may be gone between two files */
    }
    l->device = st.st_dev;
    l->inode = st.st_ino;
    return true;
}

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
    const char *path = l->o->store;
    if (l->asks && !listed_suits(l->asks, list->kind)) {
        message_error("%s is of the kind %s, and --protocol %s asks for nothing of that kind", path,
                      unseen_kind_name(list->kind), l->o->protocol);
        message_hint("unseen build --kind %s %s FILE", unseen_kind_name(kind_for(l->asks)), path);
        return false;
    }
    if (l->o->expressions && list->kind != UNSEEN_KIND_EXPRESSIONS) {
        message_error("%s was not built with --expressions", path);
        message_hint("unseen build --expressions %s FILE", path);
        return false;
    }
    return true;
}

static bool open_file(const struct listed *l, struct opened *opened_out)
{
    struct opened opened = {.store = NULL};
    const char *path = l->o->store;
    bool works;
    if (stores_kind_of(path) == STORES_LIST) {
        works = lists_open(&opened.list, path, UNSEEN_LIST_WARM, l->cpu);
        if (works && !check_list(l, &opened.list)) {
            lists_close(&opened.list);
            works = false;
        }
    } else if (l->lists_only) {
        message_error("%s is no list", path);
        works = false;
    } else {
        works = stores_open_to_read(&opened.store, path, l->o, l->cpu);
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

static void use(struct listed *l, const struct opened *opened)
{
    close_file(l);
    l->store = opened->store;
    l->list = opened->list;
    l->in_trouble = false;
}

bool listed_open(struct listed *l)
{
    struct opened opened;
    if (l->o->expressions && !profile_create(&l->url, l->o, "safebrowsing", l->cpu)) {
        return false;
    }
    (void)is_another(l); /* if the name changes from here on, the next look shows it */
    if (!open_file(l, &opened)) {
        return false;
    }
    use(l, &opened);
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

static void take_changes(struct listed *l)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    bool changed = false;
    error.status = unseen_list_refresh(l->list.list, &changed, &error);
    if (error.status != UNSEEN_OK && !l->in_trouble) {
        lists_report(l->o->store, &error);
        message_warning("the answers are still those without the last changes of %s", l->o->store);
    }
    l->in_trouble = error.status != UNSEEN_OK;
}

void listed_refresh(struct listed *l)
{
    struct opened opened;
    const uint64_t time = now();
    if (time - l->looked < SECOND) {
        return;
    }
    l->looked = time;
    if (!is_another(l)) {
        if (l->list.list) {
            take_changes(l);
        }
    } else if (open_file(l, &opened)) {
        use(l, &opened);
    } else {
        message_warning("the answers are still those of the file that was %s before", l->o->store);
    }
}
