/* SPDX-License-Identifier: MIT
 *
 * Just enough HTTP/1.1 (RFC 9112) for nginx's auth_request and its like: a request without a body
 * that names a URL, in a field X-Url or as ?url= with %-escapes, is answered 204 (go on) or 403 (it
 * is listed). docs/serve.md has the configuration.
 *
 * A request with a body is answered, and then the connection is closed, so that no body is ever
 * taken for a request. */
#include "serve/talk.h"

#include <string.h>
#include <strings.h>

struct http_request {
    struct unseen_bytes target;
    struct unseen_bytes url; /* of the field */
    bool has_url;
    bool broken;
    bool closes;
};

static struct unseen_bytes trim(struct unseen_bytes text)
{
    while (text.len > 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
        text.data++;
        text.len--;
    }
    while (text.len > 0 && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t')) {
        text.len--;
    }
    return text;
}

/* A line without its end, CR LF or LF alone (RFC 9112, 2.2). */
static struct unseen_bytes cut_line(struct unseen_bytes *text)
{
    struct unseen_bytes line = talk_word(text, '\n');
    line.len -= line.len > 0 && line.data[line.len - 1] == '\r';
    return line;
}

static bool is_word(struct unseen_bytes text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.data, word, text.len) == 0;
}

/* "GET /check?url=x HTTP/1.1" */
static void read_first(struct http_request *r, struct unseen_bytes line)
{
    const struct unseen_bytes method = talk_word(&line, ' ');
    r->target = talk_word(&line, ' ');
    r->closes = talk_is(line, "HTTP/1.0");
    r->broken = method.len == 0 || r->target.len == 0 || (!r->closes && !talk_is(line, "HTTP/1.1"));
}

static void read_connection(struct http_request *r, struct unseen_bytes value)
{
    while (value.len > 0) {
        const struct unseen_bytes word = trim(talk_word(&value, ','));
        if (is_word(word, "close")) {
            r->closes = true;
        }
    }
}

static void read_field(struct http_request *r, struct unseen_bytes line)
{
    const bool is_field = memchr(line.data, ':', line.len) != NULL;
    const struct unseen_bytes name = talk_word(&line, ':');
    const struct unseen_bytes value = trim(line);
    if (!is_field || name.len == 0 || trim(name).len != name.len) {
        r->broken = true;
    } else if (is_word(name, "X-Url")) {
        r->broken = r->broken || r->has_url; /* which of two was checked would not be clear */
        r->has_url = true;
        r->url = value;
    } else if (is_word(name, "Connection")) {
        read_connection(r, value);
    } else if (is_word(name, "Transfer-Encoding") ||
               (is_word(name, "Content-Length") && !talk_is(value, "0"))) {
        r->closes = true; /* a body */
    }
}

static struct http_request read_request(struct unseen_bytes head)
{
    struct http_request r = {.broken = false};
    read_first(&r, cut_line(&head));
    while (head.len > 0) {
        const struct unseen_bytes line = cut_line(&head);
        if (line.len > 0) {
            read_field(&r, line);
        }
    }
    return r;
}

/* Finds url=VALUE in the query of a target; false if there is none or it is broken. */
static bool read_query(struct unseen_bytes target, char *url, size_t *len_out)
{
    (void)talk_word(&target, '?');
    while (target.len > 0) {
        struct unseen_bytes value = talk_word(&target, '&');
        const struct unseen_bytes name = talk_word(&value, '=');
        if (talk_is(name, "url")) {
            return talk_unescape(value, url, len_out);
        }
    }
    return false;
}

static void put(struct talk *t, const char *status, const char *length, bool closes)
{
    talk_puts(t, "HTTP/1.1 ");
    talk_puts(t, status);
    talk_puts(t, "\r\n");
    talk_puts(t, length);
    talk_puts(t, closes ? "Connection: close\r\n\r\n" : "\r\n");
    t->over = closes;
}

static void answer_request(struct talk *t, struct unseen_bytes head)
{
    static const char no_body[] = "Content-Length: 0\r\n";
    const struct http_request r = read_request(head);
    char room[TALK_LINE];
    struct unseen_bytes url = r.url;
    if (!r.has_url && !r.broken) {
        url.data = room;
        url.len = 0;
        (void)read_query(r.target, room, &url.len); /* then there is no URL */
    }
    if (r.broken || url.len == 0) {
        put(t, "400 Bad Request", no_body, r.broken || r.closes);
        return;
    }
    switch (lookup(t->lookup, LOOKUP_URL, url)) {
    case LOOKUP_LISTED:
        put(t, "403 Forbidden", no_body, r.closes);
        break;
    case LOOKUP_ABSENT:
        put(t, "204 No Content", "", r.closes);
        break;
    case LOOKUP_TROUBLE:
        put(t, "500 Internal Server Error", no_body, r.closes);
    }
}

/* Behind the empty line that ends a head; NULL if that has not come. */
static const char *find_end(struct talk *t, const char *data, size_t len)
{
    const char *end = data + len;
    const char *at = data + t->known;
    const char *newline;
    while ((newline = memchr(at, '\n', (size_t)(end - at)))) {
        at = newline + 1;
        if (at < end && *at == '\n') {
            return at + 1;
        }
        if (end - at >= 2 && at[0] == '\r' && at[1] == '\n') {
            return at + 2;
        }
    }
    t->known = len > 2 ? len - 2 : 0; /* the end may have begun */
    return NULL;
}

static size_t take(struct talk *t, const char *data, size_t len, bool at_end)
{
    (void)at_end;
    if (data[0] == '\n' || (data[0] == '\r' && len > 1 && data[1] == '\n')) {
        return data[0] == '\n' ? 1 : 2; /* some send one after a body (RFC 9112, 2.2) */
    }
    const char *end = find_end(t, data, len);
    const size_t used = end ? (size_t)(end - data) : len;
    if (used > TALK_LINE) {
        put(t, "431 Request Header Fields Too Large", "Content-Length: 0\r\n", true);
        return used;
    }
    if (!end) {
        return 0;
    }
    answer_request(t, (struct unseen_bytes){data, used});
    return used;
}

const struct dialect http_auth_dialect = {
    .name = "http-auth", .take = take, .asks = 1u << LOOKUP_URL};
