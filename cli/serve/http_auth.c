/* SPDX-License-Identifier: MIT
 *
 * Just enough HTTP/1.1 (RFC 9112) for nginx's auth_request and its like: a request without a body
 * that names a URL, in a field X-Url or as ?url= with %-escapes, is answered 204 (go on) or 403
 * (the URL is listed). docs/serve.md has the configuration, and says what nginx has to ask with.
 *
 * A request with a body is answered, and then the connection is closed, so that no body is ever
 * taken for a request. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "serve/connection.h"

#include <string.h>
#include <strings.h>

static const char no_body[] = "\r\nContent-Length: 0";

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
    struct unseen_bytes line = cut_word(text, '\n');
    line.len -= line.len > 0 && line.data[line.len - 1] == '\r';
    return line;
}

static bool is_name(struct unseen_bytes text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.data, word, text.len) == 0;
}

static void read_field(struct http_request *r, struct unseen_bytes line)
{
    const bool is_field = memchr(line.data, ':', line.len) != NULL;
    const struct unseen_bytes name = cut_word(&line, ':');
    struct unseen_bytes value = trim(line);
    if (!is_field || name.len == 0 || trim(name).len != name.len) {
        r->broken = true;
    } else if (is_name(name, "X-Url")) {
        r->broken = r->broken || r->has_url; /* which of two was checked would not be clear */
        r->has_url = true;
        r->url = value;
    } else if (is_name(name, "Connection")) {
        while (value.len > 0) {
            const struct unseen_bytes word = trim(cut_word(&value, ','));
            r->closes = r->closes || is_name(word, "close");
        }
    } else if (is_name(name, "Transfer-Encoding") ||
               (is_name(name, "Content-Length") && !is_word(value, "0"))) {
        r->closes = true; /* a body */
    }
}

static struct http_request read_request(struct unseen_bytes head)
{
    struct unseen_bytes line = cut_line(&head); /* "GET /check?url=x HTTP/1.1" */
    const struct unseen_bytes method = cut_word(&line, ' ');
    struct http_request r = {.target = cut_word(&line, ' ')};
    r.closes = is_word(line, "HTTP/1.0");
    r.broken = method.len == 0 || r.target.len == 0 || (!r.closes && !is_word(line, "HTTP/1.1"));
    while (head.len > 0) {
        line = cut_line(&head);
        if (line.len > 0) {
            read_field(&r, line);
        }
    }
    return r;
}

/* Finds url=VALUE in the query of a target; false if there is none or it is broken. */
static bool read_query(struct unseen_bytes target, char *url, size_t *len_out)
{
    (void)cut_word(&target, '?');
    while (target.len > 0) {
        struct unseen_bytes value = cut_word(&target, '&');
        const struct unseen_bytes name = cut_word(&value, '=');
        if (is_word(name, "url")) {
            return percent_decode(value, url, len_out);
        }
    }
    return false;
}

/* Is it unclear what will be opened? A URL without a host comes from a proxy that asks with what
 * its client said of the host, which may be nothing: "http:///bad/" is read as the host "bad". No
 * request has a fragment: some servers cut it off, and to others it is a part of the path. */
static bool is_unclear(struct unseen_bytes url)
{
    const char *const slashes = memmem(url.data, url.len, "://", 3);
    const char *const host = slashes ? slashes + 3 : url.data;
    const bool lacks_host = host == url.data + url.len || memchr("/\\?:", *host, 4);
    return (slashes && lacks_host) || memchr(url.data, '#', url.len);
}

static void put_status(struct connection *c, const char *status, const char *length, bool closes)
{
    connection_puts(c, "HTTP/1.1 ");
    connection_puts(c, status);
    connection_puts(c, length);
    connection_puts(c, closes ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n");
    if (closes) {
        c->over = true;
    }
}

static void answer_http(struct connection *c, struct unseen_bytes head)
{
    static const char *const statuses[] = {[FIND_ABSENT] = "204 No Content",
                                           [FIND_LISTED] = "403 Forbidden",
                                           [FIND_TROUBLE] = "500 Internal Server Error"};
    const struct http_request r = read_request(head);
    char room[REQUEST_LONGEST];
    struct unseen_bytes url = r.url;
    if (!r.has_url && !r.broken) {
        url.data = room;
        url.len = 0;
        (void)read_query(r.target, room, &url.len); /* then there is no URL */
    }
    if (r.broken || url.len == 0 || is_unclear(url)) {
        put_status(c, "400 Bad Request", no_body, r.broken || r.closes);
        return;
    }
    const enum find_answer answer = connection_find(c, FIND_URL, url);
    put_status(c, statuses[answer], answer == FIND_ABSENT ? "" : no_body, r.closes);
}

bool http_auth_take(struct connection *c)
{
    struct unseen_bytes head;
    const enum reading reading = line_reader_paragraph(&c->in, true, &head);
    if (reading == READING_LONG) {
        put_status(c, "431 Request Header Fields Too Large", no_body, true);
    } else if (reading == READING_WHOLE && head.len > 2) {
        /* Some clients send an empty line after a body (RFC 9112, 2.2): it has no answer. */
        answer_http(c, head);
    }
    return reading != READING_NONE;
}
