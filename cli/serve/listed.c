/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "serve/listed.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "print/message.h"
#include "lines/profile.h"
#include "memory/stores.h"
#include "serve/names.h"

#define SECOND ((uint64_t)1000000000)

/* ---- The file -------------------------------------------------------------------------------- */

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

bool listed_open(struct listed *l, const struct options *o, enum unseen_cpu cpu)
{
    *l = (struct listed){.o = o, .cpu = cpu};
    if (o->expressions && !profile_create(&l->url, o, "safebrowsing", cpu)) {
        return false;
    }
    (void)is_another(l); /* if the name changes from here on, the next look shows it */
    return stores_open_to_read(&l->store, o->store, o, cpu);
}

/* Time that only goes forward; if there is none, files are looked for at every call. */
static uint64_t now(void)
{
    struct timespec t = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

void listed_refresh(struct listed *l)
{
    struct unseen_store *store = NULL;
    const uint64_t time = now();
    if (time - l->looked < SECOND) {
        return;
    }
    l->looked = time;
    if (!is_another(l)) {
        return;
    }
    if (!stores_open_to_read(&store, l->o->store, l->o, l->cpu)) {
        message_warning("the answers are still those of the file that was %s before", l->o->store);
        return;
    }
    (void)unseen_store_close(l->store, NULL); /* was only read */
    l->store = store;
    l->in_trouble = false;
}

void listed_close(struct listed *l)
{
    (void)unseen_store_close(l->store, NULL); /* was only read */
    unseen_url_free(l->url);
    text_release(&l->room);
    l->url = NULL;
    l->store = NULL;
}

/* ---- Questions ------------------------------------------------------------------------------- */

static enum lookup_answer answer_of(struct listed *l, enum unseen_status status,
                                    const uint8_t *verdicts, size_t n)
{
    if (status == UNSEEN_OK) {
        return n > 0 && memchr(verdicts, UNSEEN_SEEN, n) ? LOOKUP_LISTED : LOOKUP_ABSENT;
    }
    if (!l->in_trouble) {
        message_error("%s: %s", l->o->store, unseen_status_string(status));
        l->in_trouble = true;
    }
    return LOOKUP_TROUBLE;
}

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
    enum unseen_status status = text_reserve(&l->room, unseen_url_bound(url.len))
                                    ? unseen_url_expressions(l->url, url.data, url.len,
                                                             l->room.data, l->room.cap, texts, &n)
                                    : UNSEEN_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        keys[i] = unseen_set_identity_key(set, texts[i].data, texts[i].len);
    }
    if (status == UNSEEN_OK && n > 0) {
        status = unseen_set_contains_keys(set, keys, n, verdicts);
    }
    return answer_of(l, status, verdicts, n);
}

static enum lookup_answer ask_any(struct listed *l, const struct unseen_bytes *texts, size_t n)
{
    uint8_t verdicts[NAMES_TEXTS];
    const enum unseen_status status =
        unseen_set_contains_batch(unseen_store_set(l->store), texts, n, verdicts);
    return answer_of(l, status, verdicts, n);
}

static enum lookup_answer ask_url(struct listed *l, struct unseen_bytes url)
{
    return l->url ? ask_expressions(l, url) : ask_any(l, &url, 1);
}

/* All that can be known of what a tunnel to host:port will be used for. */
static enum lookup_answer ask_host(struct listed *l, struct unseen_bytes host)
{
    static const char scheme[] = "https://";
    char url[512];
    const size_t len = strlen(scheme) + host.len + 1;
    if (len > sizeof(url)) {
        return ask_url(l, host);
    }
    memcpy(url, scheme, strlen(scheme));
    memcpy(url + strlen(scheme), host.data, host.len);
    url[len - 1] = '/';
    return ask_url(l, (struct unseen_bytes){url, len});
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

static enum lookup_answer ask(void *context, enum lookup_kind kind, struct unseen_bytes text)
{
    struct listed *l = context;
    switch (kind) {
    case LOOKUP_URL:
        return ask_url(l, text);
    case LOOKUP_HOST:
        return ask_host(l, text);
    default:
        return ask_names(l, kind, text);
    }
}

struct lookup listed_lookup(struct listed *l)
{
    return (struct lookup){ask, l};
}
