/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "serve/list_service.h"

#include <string.h>
#include <time.h>

#include "memory/stores.h"
#include "print/message.h"
#include "serve/names.h"

#define SECOND ((uint64_t)1000000000)
#define MINUTE (60 * SECOND)

enum {
    HOST_ROOM = 512 /* no host is longer than 253 bytes */
};

/* ---- Opening --------------------------------------------------------------------------------- */

/* A bit for each kind of list that can answer a question. Servers can be told to give the client's
 * address where a URL is expected. */
static unsigned kinds_for(enum find_type type)
{
    switch (type) {
    case FIND_URL:
    case FIND_HOST:
        return 1u << UNSEEN_KIND_URL | 1u << UNSEEN_KIND_EXPRESSIONS | 1u << UNSEEN_KIND_IP;
    case FIND_SENDER:
        return 1u << UNSEEN_KIND_MAIL;
    case FIND_CLIENT:
        return 1u << UNSEEN_KIND_IP;
    default:
        return ~0u;
    }
}

static bool check_kind(const struct list_service *l, enum unseen_kind kind)
{
    const unsigned finds = l->protocol->finds;
    unsigned kinds = finds ? 0 : ~0u;
    unsigned first = 0;
    for (unsigned type = FIND_URL; type <= FIND_KEY; type++) {
        kinds |= finds >> type & 1 ? kinds_for(type) : 0;
    }
    if (kinds >> kind & 1) {
        return true;
    }
    while (!(kinds >> first & 1)) {
        first++;
    }
    message_error("%s is of the kind %s, and --protocol %s asks for nothing of that kind", l->path,
                  unseen_kind_name(kind), l->protocol->name);
    message_hint("unseen build --kind %s NEW.list FILE", unseen_kind_name(first));
    return false;
}

static bool check_list(const struct list_service *l, const struct opened_list *list)
{
    if (!check_kind(l, list->kind)) {
        return false;
    }
    if (l->expressions && list->kind != UNSEEN_KIND_EXPRESSIONS) {
        message_error("%s was not built with --expressions", l->path);
        message_hint("unseen build --expressions %s FILE", l->path);
        return false;
    }
    return true;
}

static void close_file(struct list_service *l)
{
    (void)unseen_store_close(l->store, NULL); /* was only read */
    lists_close(&l->list);
    l->store = NULL;
}

/* Opens the file that has the name now, in place of the open one; `file` tells it. */
static bool open_file(struct list_service *l, const struct stat *file)
{
    struct opened_list list = {.list = NULL};
    struct unseen_store *store = NULL;
    if (stores_kind_of(l->path) == STORES_LIST) {
        if (!lists_open(&list, l->path, UNSEEN_LIST_MAP_PREFETCH, l->cpu)) {
            return false;
        }
        if (!check_list(l, &list)) {
            lists_close(&list);
            return false;
        }
    } else if (!l->open_store) {
        message_error("%s is not a list", l->path);
        return false;
    } else if (!l->open_store(l->context, &store)) {
        return false;
    }
    close_file(l);
    l->list = list;
    l->store = store;
    l->file = *file;
    l->lost = false;
    l->in_trouble = false;
    return true;
}

bool list_service_open(struct list_service *l)
{
    struct stat file = {.st_ino = 0};
    (void)stat(l->path, &file); /* if the name changes from here on, the next look shows it */
    return open_file(l, &file);
}

void list_service_close(struct list_service *l)
{
    close_file(l);
    text_release(&l->room);
}

/* ---- A new file, and changes ----------------------------------------------------------------- */

/* Time that only goes forward. Without a clock the file is looked at in every call. */
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

static void lose_list(struct list_service *l)
{
    if (!l->lost) {
        lists_report_lost(l->path);
    }
    l->lost = true;
    l->in_trouble = true;
}

static void take_changes(struct list_service *l)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    error.status = unseen_list_refresh(l->list.list, NULL, &error);
    if (error.status == UNSEEN_ERR_MISMATCH) {
        lose_list(l);
    } else if (error.status != UNSEEN_OK && !l->in_trouble) {
        lists_report(l->path, &error);
        message_warning("the answers are still those without the last changes of %s", l->path);
    }
    l->in_trouble = error.status != UNSEEN_OK;
}

/* A file that could not be opened is tried again when it has changed, because it may just have been
 * written, and once a minute, because the cause may lie elsewhere. */
static void take_file(struct list_service *l, const struct stat *file, uint64_t time)
{
    if (is_unchanged(file, &l->refused) && time - l->refused_at < MINUTE) {
        return;
    }
    if (open_file(l, file)) {
        return;
    }
    l->refused = *file;
    l->refused_at = time;
    if (!l->lost) {
        message_warning("the answers are still those of the file that was %s before", l->path);
    }
}

void list_service_refresh(struct list_service *l)
{
    const uint64_t time = now();
    struct stat file;
    if (time - l->looked < SECOND) {
        return;
    }
    l->looked = time;
    if (stat(l->path, &file) != 0) {
        return; /* a name may be gone between two files */
    }
    if (is_same_file(&file, &l->file) && l->list.list && !l->lost) {
        take_changes(l);
    }
    if (!is_same_file(&file, &l->file) || l->lost) {
        take_file(l, &file, time);
    }
}

/* ---- Questions ------------------------------------------------------------------------------- */

enum unseen_status list_service_covers(struct list_service *l, const struct unseen_bytes *items,
                                       size_t n, uint8_t *verdicts)
{
    enum unseen_status status = UNSEEN_ERR_IO;
    if (!l->lost) {
        status = lists_covers(&l->list, l->list.url, items, n, verdicts);
    }
    if (status == UNSEEN_ERR_MISMATCH) {
        lose_list(l);
    }
    return l->lost ? UNSEEN_ERR_IO : status;
}

/* An error is reported once. */
static enum find_answer answer_of(struct list_service *l, enum unseen_status status,
                                  const uint8_t *verdicts, size_t n)
{
    if (status == UNSEEN_OK) {
        return n > 0 && memchr(verdicts, UNSEEN_SEEN, n) ? FIND_LISTED : FIND_ABSENT;
    }
    if (!l->in_trouble) {
        message_error("%s: %s", l->path, unseen_status_string(status));
        l->in_trouble = true;
    }
    return FIND_TROUBLE;
}

/* A tunnel to host:port shows no more of its URL than "https://host:port/". A host that does not fit into
 * room stays as it is. */
static struct unseen_bytes url_of_host(struct unseen_bytes host, char room[HOST_ROOM])
{
    static const char scheme[] = "https://";
    const size_t scheme_len = sizeof(scheme) - 1;
    const size_t len = scheme_len + host.len + 1;
    if (len > HOST_ROOM) {
        return host;
    }
    memcpy(room, scheme, scheme_len);
    memcpy(room + scheme_len, host.data, host.len);
    room[len - 1] = '/';
    return (struct unseen_bytes){room, len};
}

/* A list knows by its kind which entries would cover a text. */
static enum find_answer find_in_list(struct list_service *l, enum find_type type,
                                     struct unseen_bytes text)
{
    uint8_t verdict = UNSEEN_NEW;
    if (!(kinds_for(type) >> l->list.kind & 1)) {
        return FIND_ABSENT;
    }
    return answer_of(l, list_service_covers(l, &text, 1, &verdict), &verdict, 1);
}

/* Asks the store for any of the texts. */
static enum find_answer find_any(struct list_service *l, const struct unseen_bytes *texts, size_t n)
{
    uint8_t verdicts[NAMES_TEXTS];
    const enum unseen_status status =
        unseen_set_contains(unseen_store_set(l->store), texts, n, verdicts, NULL);
    return answer_of(l, status, verdicts, n);
}

/* Asks the store for the host-suffix and path-prefix expressions of a URL: "evil.example/" covers a site. A
 * text that is not a URL has none. */
static enum find_answer find_expressions(struct list_service *l, struct unseen_bytes url)
{
    struct unseen_bytes texts[UNSEEN_EXPRESSIONS_MAX];
    struct unseen_key keys[UNSEEN_EXPRESSIONS_MAX];
    uint8_t verdicts[UNSEEN_EXPRESSIONS_MAX];
    const struct unseen_set *set = unseen_store_set(l->store);
    size_t n = 0;
    text_clear(&l->room);
    enum unseen_status status = text_reserve(&l->room, unseen_url_bound(url.len, 0))
                                    ? unseen_url_expressions(l->expressions, url.data, url.len,
                                                             l->room.data, l->room.cap, texts, &n)
                                    : UNSEEN_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        keys[i] = unseen_set_identity_key(set, texts[i].data, texts[i].len);
    }
    if (status == UNSEEN_OK && n > 0) {
        status = unseen_set_contains_keys(set, keys, n, verdicts, NULL);
    }
    return answer_of(l, status, verdicts, n);
}

/* A store holds lines of any sort, so the type of the question says which lines would cover the text. */
static enum find_answer find_in_store(struct list_service *l, enum find_type type,
                                      struct unseen_bytes text)
{
    struct names names;
    if (!names_of(&names, type, text)) {
        return FIND_ABSENT; /* too long for a name */
    }
    return names.is_url && l->expressions ? find_expressions(l, text)
                                          : find_any(l, names.texts, names.n);
}

static enum find_answer find_in_file(void *context, enum find_type type, struct unseen_bytes text)
{
    struct list_service *l = context;
    char room[HOST_ROOM];
    if (type == FIND_HOST && !(l->list.list && l->list.kind == UNSEEN_KIND_IP)) {
        text = url_of_host(text, room);
    }
    return (l->list.list ? find_in_list : find_in_store)(l, type, text);
}

struct finder list_service_finder(struct list_service *l)
{
    return (struct finder){find_in_file, l};
}
