/* SPDX-License-Identifier: MIT
 *
 * Answers the protocols of other programs: opens the list that they ask, or the store, which is
 * only read, looks texts up in it, and takes up what other processes write. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "serve/service.h"

#include <string.h>

#include "clock.h"
#include "print/message.h"
#include "print/typed.h"
#include "seen/stores.h"
#include "serve/names.h"

enum {
    HOST_ROOM = 512,   /* no host is longer than 253 bytes */
    LOOK_MS = 1000,    /* between two looks at the file */
    REFUSED_MS = 60000 /* before a file that was refused is tried again */
};

/* ---- Opening --------------------------------------------------------------------------------- */

/* A bit for each kind of list that can answer one of the questions. Servers can be told to give the
 * client's address where a URL is expected. */
static unsigned kinds_for(unsigned finds)
{
    const unsigned url = 1u << UNSEEN_KIND_URL | 1u << UNSEEN_KIND_EXPRESSIONS;
    return (finds & (FIND_URL | FIND_HOST) ? url | 1u << UNSEEN_KIND_IP : 0) |
           (finds & FIND_SENDER ? 1u << UNSEEN_KIND_MAIL : 0) |
           (finds & FIND_CLIENT ? 1u << UNSEEN_KIND_IP : 0) | (finds & FIND_KEY ? ~0u : 0);
}

static bool check_list(const struct service *s, const struct opened_list *list)
{
    const unsigned kinds = s->protocol->finds ? kinds_for(s->protocol->finds) : ~0u;
    static const enum unseen_kind usual[] = {UNSEEN_KIND_URL, UNSEEN_KIND_MAIL, UNSEEN_KIND_IP};
    unsigned suits = 0;
    const enum unseen_kind kind = list->kind;
    if (!(kinds >> UNSEEN_KIND_GROUP(kind) & 1)) {
        while (suits < sizeof(usual) / sizeof(usual[0]) - 1 && !(kinds >> usual[suits] & 1)) {
            suits++;
        }
        message_error("%s is of the kind %s, and --protocol %s asks for nothing of that kind",
                      s->path, unseen_kind_name(list->kind), s->protocol->name);
        message_hint("unseen build --kind %s NEW.list FILE", unseen_kind_name(usual[suits]));
        return false;
    }
    if (s->expressions && kind != UNSEEN_KIND_EXPRESSIONS) {
        message_error("%s was not built with --expressions", s->path);
        message_hint("unseen build --expressions %s FILE", typed_quoted(s->path));
        return false;
    }
    return true;
}

static void close_open_file(struct service *s)
{
    (void)unseen_store_close(s->store, NULL); /* was only read */
    lists_close(&s->list);
    s->store = NULL;
}

/* Opens the file that has the name now, in place of the open one; `file` tells it. */
static bool open_named_file(struct service *s, const struct stat *file)
{
    struct opened_list list = {.list = NULL};
    struct unseen_store *store = NULL;
    bool opened = false;
    if (stores_type_of(s->path) == STORES_LIST) {
        opened = lists_open(&list, s->path, UNSEEN_LIST_MAP_PREFETCH, s->cpu);
        if (opened && !check_list(s, &list)) {
            lists_close(&list);
            opened = false;
        }
    } else if (s->protocol->finds) {
        opened = stores_open_to_read(&store, s->path, s->seen, s->cpu);
    } else {
        message_error("%s is not a list", s->path);
    }
    if (opened) {
        close_open_file(s);
        s->list = list;
        s->store = store;
        s->file = *file;
        s->lost = false;
        s->in_trouble = false;
    }
    return opened;
}

bool service_open_list(struct service *s)
{
    struct stat file = {.st_ino = 0};
    (void)stat(s->path, &file); /* if the name changes from here on, the next look shows it */
    return open_named_file(s, &file);
}

void service_close_list(struct service *s)
{
    close_open_file(s);
    text_release(&s->room);
}

/* ---- A new file, and changes ----------------------------------------------------------------- */

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
    return is_same_file(a, b) && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void lose_list(struct service *s)
{
    if (!s->lost) {
        lists_report_lost(s->path);
    }
    s->lost = true;
    s->in_trouble = true;
}

static void take_changes(struct service *s)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    error.status = unseen_list_refresh(s->list.list, NULL, &error);
    if (error.status == UNSEEN_ERR_MISMATCH) {
        lose_list(s);
    } else if (error.status != UNSEEN_OK && !s->in_trouble) {
        lists_report(s->path, &error);
        message_warning("the answers still lack the last changes of %s", s->path);
    }
    s->in_trouble = error.status != UNSEEN_OK;
}

/* What another process has committed to the store that is only read. */
static void take_commits(struct service *s)
{
    struct unseen_error error;
    const bool done = stores_refresh(s->store, &error);
    if (!done && !s->in_trouble) {
        stores_report(s->path, s->seen, &error);
        message_warning("the answers still come from %s as it was", s->path);
    }
    s->in_trouble = !done;
}

/* A file that could not be opened is tried again when it has changed, because it may just have been
 * written, and once a minute, because the cause may lie elsewhere. */
static void take_file(struct service *s, const struct stat *file, uint64_t time)
{
    if (is_unchanged(file, &s->refused) && time - s->refused_at < REFUSED_MS) {
        return;
    }
    if (open_named_file(s, file)) {
        return;
    }
    s->refused = *file;
    s->refused_at = time;
    if (!s->lost) {
        message_warning("the answers still come from the file that was %s before", s->path);
    }
}

void service_refresh(struct service *s)
{
    const bool is_read_only = s->list.list || s->protocol->finds || s->read_only;
    const uint64_t time = is_read_only ? clock_milliseconds() : 0;
    struct stat file;
    if (s->store) {
        (void)stores_tell_time(s->store, STORES_LEAVING); /* a change fails as well then */
    }
    if (!is_read_only || time - s->looked < LOOK_MS) {
        return;
    }
    s->looked = time;
    if (stat(s->path, &file) != 0) {
        return; /* a name may be gone between two files */
    }
    if (s->store && (is_same_file(&file, &s->file) || !s->protocol->finds)) {
        take_commits(s); /* clients of the line protocol were told the profile: it stays */
        return;
    }
    if (is_same_file(&file, &s->file) && !s->lost) {
        take_changes(s);
    }
    if (!is_same_file(&file, &s->file) || s->lost) {
        take_file(s, &file, time);
    }
}

void service_look(struct service *s)
{
    s->looked = 0;
    s->refused_at = 0;
    service_refresh(s);
}

/* ---- Questions ------------------------------------------------------------------------------- */

enum unseen_status service_covers(struct service *s, const struct unseen_bytes *items, size_t n,
                                  uint8_t *verdicts)
{
    enum unseen_status status = UNSEEN_ERR_IO;
    if (!s->lost) {
        status = lists_covers(&s->list, items, n, verdicts);
    }
    if (status == UNSEEN_ERR_MISMATCH) {
        lose_list(s);
    }
    return s->lost ? UNSEEN_ERR_IO : status;
}

/* An error is reported once. */
static enum find_answer answer_of(struct service *s, enum unseen_status status,
                                  const uint8_t *verdicts, size_t n)
{
    if (status == UNSEEN_OK) {
        return n > 0 && memchr(verdicts, UNSEEN_SEEN, n) ? FIND_LISTED : FIND_ABSENT;
    }
    if (!s->in_trouble) {
        message_error("%s: %s", s->path, unseen_status_string(status));
        s->in_trouble = true;
    }
    return FIND_TROUBLE;
}

/* A tunnel to host:port shows no more of its URL than "https://host:port/". A host that does not
 * fit into room stays as it is. */
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

/* Asks the store for any of the texts. */
static enum find_answer find_any(struct service *s, const struct unseen_bytes *texts, size_t n)
{
    uint8_t verdicts[NAMES_TEXTS];
    const enum unseen_status status = unseen_store_contains(s->store, texts, n, verdicts, NULL);
    return answer_of(s, status, verdicts, n);
}

/* Asks the store for the host-suffix and path-prefix expressions of a URL, as a list of sites is
 * asked: "evil.example/" covers a site. A text that is not a URL has no expressions. */
static enum find_answer find_expressions(struct service *s, struct unseen_bytes url)
{
    struct unseen_bytes texts[UNSEEN_KIND_TEXTS_MAX];
    struct unseen_key keys[UNSEEN_KIND_TEXTS_MAX];
    uint8_t verdicts[UNSEEN_KIND_TEXTS_MAX];
    const struct unseen_set *set = unseen_store_set(s->store);
    size_t n = 0;
    text_clear(&s->room);
    enum unseen_status status =
        text_reserve(&s->room, unseen_kind_bound(UNSEEN_KIND_EXPRESSIONS, url.len))
            ? unseen_kind_texts(UNSEEN_KIND_EXPRESSIONS, s->expressions, url.data, url.len,
                                s->room.data, s->room.cap, texts, &n)
            : UNSEEN_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        keys[i] = unseen_set_identity_key(set, texts[i].data, texts[i].len);
    }
    if (status == UNSEEN_OK && n > 0) {
        status = unseen_set_contains_keys(set, keys, n, verdicts, NULL);
    }
    return answer_of(s, status, verdicts, n);
}

/* A store holds lines of any sort, so the type of the question says which lines would cover the
 * text. */
static enum find_answer find_in_store(struct service *s, enum find_type type,
                                      struct unseen_bytes text)
{
    struct names names;
    if (!names_of(&names, type, text)) {
        return FIND_ABSENT; /* too long for a name */
    }
    return names.is_url && s->expressions ? find_expressions(s, text)
                                          : find_any(s, names.texts, names.n);
}

/* A list knows by its kind which entries would cover a text. */
enum find_answer service_find(struct service *s, enum find_type type, struct unseen_bytes text)
{
    char room[HOST_ROOM];
    uint8_t verdict = UNSEEN_NEW;
    if (s->list.list && !(kinds_for(type) >> UNSEEN_KIND_GROUP(s->list.kind) & 1)) {
        return FIND_ABSENT;
    }
    if (type == FIND_HOST && !(s->list.list && s->list.kind == UNSEEN_KIND_IP)) {
        text = url_of_host(text, room);
    }
    return s->list.list ? answer_of(s, service_covers(s, &text, 1, &verdict), &verdict, 1)
                        : find_in_store(s, type, text);
}
