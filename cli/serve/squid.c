/* SPDX-License-Identifier: MIT
 *
 * Squid's helpers, as its external_acl_type and url_rewrite_program talk to them: a line with a
 * request, a line with the result. docs/squid.md has the configuration.
 *
 *     7 http://evil.example/ -       7 OK               listed
 *     8 http://good.example/ -       8 ERR              not
 *     9                              9 BH message="..." broken
 *
 * With concurrency=N each line starts with a number, which its answer repeats; otherwise with the
 * URL. A URL is never all digits, so a line shows which of the two it is.
 *
 * Squid escapes only the characters that no URL may have, such as quotes, so the text is a URL and
 * is taken as it is: to undo %2F would make another URL. A text without "://" was escaped as a
 * whole. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "characters.h"
#include "serve/connection.h"

#include <string.h>

enum {
    CUTS_MAX = 16
};

static bool is_number(struct unseen_bytes word)
{
    uint64_t number;
    return word.len > 0 && read_decimal(word.data, word.len, &number) == word.len;
}

static void put_squid_result(struct connection *c, struct unseen_bytes id, const char *result)
{
    if (id.len > 0) {
        connection_put(c, id.data, id.len);
        connection_puts(c, " ");
    }
    connection_puts(c, result);
}

static void put_broken(struct connection *c, struct unseen_bytes id, const char *sentence)
{
    put_squid_result(c, id, "BH message=\"");
    connection_puts(c, sentence);
    connection_puts(c, "\"\n");
}

/* Squid sends a # on to the server as it came, and asks for it as %23. Some servers cut it off with
 * all behind it, so the URL is also asked for up to each %23. One with more of them than anybody
 * writes counts as listed: it would take too long. */
static enum find_answer find_url(struct connection *c, struct unseen_bytes url)
{
    const size_t weight = url.len + (line_reader_is_costly(url) ? LINE_READER_NAME : 0);
    enum find_answer answer = connection_find(c, FIND_URL, url);
    size_t ncuts = 0;
    for (size_t at = 0; at + 3 <= url.len && answer == FIND_ABSENT; at++) {
        if (memcmp(url.data + at, "%23", 3) == 0) {
            ncuts++;
            answer = ncuts > CUTS_MAX || ncuts * weight > REQUEST_LONGEST
                         ? FIND_LISTED
                         : connection_find(c, FIND_URL, (struct unseen_bytes){url.data, at});
        }
    }
    return answer;
}

/* A browser that wants a tunnel (CONNECT) names no more than host:port; with %SRC in place of %URI
 * the text is an address. */
static void answer_url(struct connection *c, struct unseen_bytes id, struct unseen_bytes url)
{
    const bool rewrites = c->service->protocol->has_redirect;
    char room[REQUEST_LONGEST];
    if (!rewrites && !memmem(url.data, url.len, "://", 3)) {
        if (!percent_decode(url, room, &url.len)) {
            put_broken(c, id, "a % without two hexadecimal digits");
            return;
        }
        url.data = room;
    }
    const bool is_url = memchr(url.data, '/', url.len) != NULL;
    const enum find_answer answer = is_url ? find_url(c, url) : connection_find(c, FIND_HOST, url);
    if (answer == FIND_TROUBLE) {
        put_broken(c, id, "the list cannot be read");
    } else if (answer == FIND_LISTED && rewrites) {
        put_squid_result(c, id, "OK status=302 url=\"");
        connection_puts(c, c->service->redirect);
        connection_puts(c, "\"\n");
    } else {
        put_squid_result(c, id, answer == FIND_LISTED ? "OK\n" : "ERR\n");
    }
}

bool squid_take(struct connection *c)
{
    struct unseen_bytes line;
    const enum reading reading = line_reader_line(&c->in, &line);
    if (reading == READING_NONE) {
        return false;
    }
    struct unseen_bytes id = {line.data, 0};
    struct unseen_bytes word = cut_word(&line, ' ');
    if (is_number(word)) {
        id = word;
        word = cut_word(&line, ' ');
    }
    if (reading == READING_LONG) {
        id.len = id.len < 20 ? id.len : 0; /* all of the line may be digits */
        put_broken(c, id, "the line is too long");
    } else if (word.len == 0) {
        put_broken(c, id, "a line without a URL");
    } else {
        answer_url(c, id, word);
    }
    return true;
}
