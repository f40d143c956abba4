/* SPDX-License-Identifier: MIT
 *
 * Squid's helpers, as its external_acl_type and url_rewrite_program talk to them: a line with a
 * request, a line with the result. docs/squid.md has the configuration.
 *
 *     7 http://evil.example/ -       7 OK               listed
 *     8 http://good.example/ -       8 ERR              not
 *     9                              9 BH message="..." broken
 *
 * With concurrency=N each line starts with a number, which its answer repeats, without it there is
 * none. A URL is never all digits, so a line tells which of the two it is.
 *
 * Squid escapes of a URL only what no URL may have, quotes say, so that the result is a URL, to be
 * taken as it is: to undo %2F would make another one of it. Who escapes "://", too, has escaped
 * all. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "serve/talk.h"

#include <string.h>

static bool is_number(struct unseen_bytes word)
{
    size_t n = 0;
    while (n < word.len && word.data[n] >= '0' && word.data[n] <= '9') {
        n++;
    }
    return n == word.len && n > 0;
}

/* "ID " if there is one. Longer numbers than Squid's are none. */
static void put_id(struct talk *t, struct unseen_bytes id)
{
    if (id.len > 0) {
        talk_put(t, id.data, id.len);
        talk_puts(t, " ");
    }
}

static void put_broken(struct talk *t, struct unseen_bytes id, const char *sentence)
{
    put_id(t, id);
    talk_puts(t, "BH message=\"");
    talk_puts(t, sentence);
    talk_puts(t, "\"\n");
}

/* What a browser that wants a tunnel (CONNECT) names is host:port, all that can be known of it; %SRC
 * in place of %URI is an address. */
static enum lookup_answer ask(struct talk *t, struct unseen_bytes word)
{
    const bool is_url = memchr(word.data, '/', word.len) != NULL;
    return lookup(t->lookup, is_url ? LOOKUP_URL : LOOKUP_HOST, word);
}

static void put_acl(struct talk *t, struct unseen_bytes id, struct unseen_bytes word)
{
    char room[TALK_LINE];
    struct unseen_bytes url = word;
    if (!memmem(word.data, word.len, "://", 3)) {
        url.data = room;
        if (!talk_unescape(word, room, &url.len)) {
            put_broken(t, id, "a % without two hexadecimal digits");
            return;
        }
    }
    const enum lookup_answer answer = ask(t, url);
    if (answer == LOOKUP_TROUBLE) {
        put_broken(t, id, "the list cannot be read");
        return;
    }
    put_id(t, id);
    talk_puts(t, answer == LOOKUP_LISTED ? "OK\n" : "ERR\n");
}

static void put_rewrite(struct talk *t, struct unseen_bytes id, struct unseen_bytes url)
{
    const enum lookup_answer answer = ask(t, url);
    if (answer == LOOKUP_TROUBLE) {
        put_broken(t, id, "the list cannot be read");
        return;
    }
    put_id(t, id);
    if (answer == LOOKUP_LISTED) {
        talk_puts(t, "OK status=302 url=\"");
        talk_puts(t, t->redirect);
        talk_puts(t, "\"\n");
    } else {
        talk_puts(t, "ERR\n");
    }
}

static size_t take(struct talk *t, const char *data, size_t len, bool at_end,
                   void (*put)(struct talk *t, struct unseen_bytes id, struct unseen_bytes word))
{
    struct unseen_bytes line;
    size_t used = 0;
    const enum talk_line kind = talk_line(t, data, len, at_end, &line, &used);
    if (kind == TALK_NONE || kind == TALK_SKIPPED) {
        return used;
    }
    struct unseen_bytes id = {line.data, 0};
    struct unseen_bytes word = talk_word(&line, ' ');
    if (is_number(word)) {
        id = word;
        word = talk_word(&line, ' ');
    }
    if (kind == TALK_LONG) {
        id.len = id.len < 20 ? id.len : 0; /* all of it may be digits */
        put_broken(t, id, "the line is too long");
    } else if (word.len == 0) {
        put_broken(t, id, "a line without a URL");
    } else {
        put(t, id, word);
    }
    return used;
}

static size_t take_acl(struct talk *t, const char *data, size_t len, bool at_end)
{
    return take(t, data, len, at_end, put_acl);
}

static size_t take_rewrite(struct talk *t, const char *data, size_t len, bool at_end)
{
    return take(t, data, len, at_end, put_rewrite);
}

const struct dialect squid_dialect = {
    .name = "squid", .take = take_acl, .asks = 1u << LOOKUP_URL | 1u << LOOKUP_HOST};
const struct dialect squid_rewrite_dialect = {
    .name = "squid-rewrite", .take = take_rewrite, .asks = 1u << LOOKUP_URL, .has_redirect = true};
