/* SPDX-License-Identifier: MIT
 *
 * From what a server asks for to what the file is asked. A list knows by its kind what would cover a
 * text; a store holds lines of any sort, so that the names and expressions are made here. */
#include "serve/listed.h"

#include <string.h>
#include <unseen_list.h>

#include "print/message.h"
#include "serve/names.h"

enum {
    HOST_ROOM = 512 /* no host is longer than 253 bytes */
};

/* ---- Lists ----------------------------------------------------------------------------------- */

/* Which lists can answer which questions. Servers can be told to give the client's address where a
 * URL is expected. */
static const bool fits[][5] = {
    [LOOKUP_URL] =
        {[UNSEEN_KIND_URL] = true, [UNSEEN_KIND_EXPRESSIONS] = true, [UNSEEN_KIND_IP] = true},
    [LOOKUP_HOST] =
        {[UNSEEN_KIND_URL] = true, [UNSEEN_KIND_EXPRESSIONS] = true, [UNSEEN_KIND_IP] = true},
    [LOOKUP_SENDER] = {[UNSEEN_KIND_MAIL] = true},
    [LOOKUP_CLIENT] = {[UNSEEN_KIND_IP] = true},
    [LOOKUP_KEY] = {true, true, true, true, true},
};

bool listed_suits(unsigned asks, enum unseen_kind kind)
{
    for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++) {
        if ((asks & 1u << i) && fits[i][kind]) {
            return true;
        }
    }
    return false;
}

enum unseen_status listed_covers(struct listed *l, const struct unseen_bytes *items, size_t n,
                                 uint8_t *verdicts)
{
    enum unseen_status status = UNSEEN_ERR_IO;
    if (!l->lost) {
        status = lists_covers(&l->list, l->list.url, items, n, verdicts);
    }
    if (status == UNSEEN_ERR_MISMATCH) {
        listed_lose(l);
    }
    return l->lost ? UNSEEN_ERR_IO : status;
}

static enum lookup_answer answer_of(struct listed *l, enum unseen_status status,
                                    const uint8_t *verdicts, size_t n)
{
    if (status == UNSEEN_OK) {
        return n > 0 && memchr(verdicts, UNSEEN_SEEN, n) ? LOOKUP_LISTED : LOOKUP_ABSENT;
    }
    if (!l->in_trouble) {
        message_error("%s: %s", l->o->seen.path, unseen_status_string(status));
        l->in_trouble = true;
    }
    return LOOKUP_TROUBLE;
}

/* All that can be known of what a tunnel to host:port will be used for: "https://host:port/", in room
 * if it fits in there. */
static struct unseen_bytes url_of_host(struct unseen_bytes host, char *room, size_t cap)
{
    static const char scheme[] = "https://";
    const size_t len = strlen(scheme) + host.len + 1;
    if (len > cap) {
        return host;
    }
    memcpy(room, scheme, strlen(scheme));
    memcpy(room + strlen(scheme), host.data, host.len);
    room[len - 1] = '/';
    return (struct unseen_bytes){room, len};
}

static enum lookup_answer ask_list(struct listed *l, enum lookup_kind kind,
                                   struct unseen_bytes text)
{
    const struct opened_list *list = &l->list;
    char room[HOST_ROOM];
    uint8_t verdict = UNSEEN_NEW;
    if (!fits[kind][list->kind]) {
        return LOOKUP_ABSENT;
    }
    if (kind == LOOKUP_HOST && list->kind != UNSEEN_KIND_IP) {
        text = url_of_host(text, room, sizeof(room));
    }
    return answer_of(l, listed_covers(l, &text, 1, &verdict), &verdict, 1);
}

/* ---- Stores ---------------------------------------------------------------------------------- */

/* The host-suffix and path-prefix expressions of a URL: "evil.example/" covers a site. What is no
 * URL has none. */
static enum lookup_answer ask_expressions(struct listed *l, struct unseen_bytes url)
{
    struct unseen_bytes texts[UNSEEN_EXPRESSIONS_MAX];
    struct unseen_key keys[UNSEEN_EXPRESSIONS_MAX];
    uint8_t verdicts[UNSEEN_EXPRESSIONS_MAX];
    const struct unseen_set *set = unseen_store_set(l->store);
    size_t n = 0;
    text_clear(&l->room);
    enum unseen_status status = text_reserve(&l->room, unseen_url_bound(url.len, 0))
                                    ? unseen_url_expressions(l->url, url.data, url.len,
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

static enum lookup_answer ask_any(struct listed *l, const struct unseen_bytes *texts, size_t n)
{
    uint8_t verdicts[NAMES_TEXTS];
    const enum unseen_status status =
        unseen_set_contains(unseen_store_set(l->store), texts, n, verdicts, NULL);
    return answer_of(l, status, verdicts, n);
}

static enum lookup_answer ask_url(struct listed *l, struct unseen_bytes url)
{
    return l->url ? ask_expressions(l, url) : ask_any(l, &url, 1);
}

static enum lookup_answer ask_names(struct listed *l, enum lookup_kind kind,
                                    struct unseen_bytes text)
{
    struct names names;
    const bool is_name = (kind == LOOKUP_SENDER   ? names_of_address
                          : kind == LOOKUP_CLIENT ? names_of_client
                                                  : names_of_key)(&names, text);
    if (!is_name) {
        return LOOKUP_ABSENT; /* longer than any */
    }
    return names.is_url ? ask_url(l, text) : ask_any(l, names.texts, names.n);
}

/* ---- Either ---------------------------------------------------------------------------------- */

static enum lookup_answer ask(void *context, enum lookup_kind kind, struct unseen_bytes text)
{
    struct listed *l = context;
    char room[HOST_ROOM];
    if (l->list.list) {
        return ask_list(l, kind, text);
    }
    switch (kind) {
    case LOOKUP_URL:
        return ask_url(l, text);
    case LOOKUP_HOST:
        return ask_url(l, url_of_host(text, room, sizeof(room)));
    default:
        return ask_names(l, kind, text);
    }
}

struct lookup listed_lookup(struct listed *l)
{
    return (struct lookup){ask, l};
}
