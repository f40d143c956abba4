/* SPDX-License-Identifier: MIT */
#include "redis_url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "characters.h"

static const char *const schemes[] = {"redis://", "redis+unix:", "rediss://", "valkey://",
                                      "valkeys://"};

enum {
    NSCHEMES = sizeof(schemes) / sizeof(schemes[0])
};

/* A part of the text. */
struct part {
    const char *data;
    size_t len;
};

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool redis_url_is(const char *text)
{
    for (size_t i = 0; i < NSCHEMES; i++) {
        if (has_prefix(text, schemes[i])) {
            return true;
        }
    }
    return false;
}

/* Copies a part without its percent signs. Returns false if it does not fit, or has a wrong percent
 * sign or a NUL. */
static bool url_decode(char *to, size_t cap, struct part from)
{
    size_t n = 0;
    for (size_t i = 0; i < from.len; i++) {
        char c = from.data[i];
        if (c == '%') {
            const int byte = i + 2 < from.len ? hex_byte(from.data + i + 1) : -1;
            if (byte < 0) {
                return false;
            }
            c = (char)byte;
            i += 2;
        }
        if (c == '\0' || n + 1 >= cap) {
            return false;
        }
        to[n++] = c;
    }
    to[n] = '\0';
    return true;
}

static bool url_number(unsigned *to, struct part from, unsigned max)
{
    uint64_t n;
    if (from.len == 0 || read_decimal(from.data, from.len, &n) < from.len || n > max) {
        return false;
    }
    *to = (unsigned)n;
    return true;
}

/* Cuts what stands in front of the first `separator` off *rest, and the separator. Without one,
 * takes all. */
static struct part url_cut(struct part *rest, char separator)
{
    const char *end = rest->len > 0 ? memchr(rest->data, separator, rest->len) : NULL;
    const struct part front = {rest->data, end ? (size_t)(end - rest->data) : rest->len};
    const size_t used = front.len + (end ? 1 : 0);
    *rest = (struct part){rest->data + used, rest->len - used};
    return front;
}

static bool url_is_named(struct part p, const char *name)
{
    return p.len == strlen(name) && memcmp(p.data, name, p.len) == 0;
}

static bool read_shards(struct redis_url *url, struct part value)
{
    return url_number(&url->nshards, value, REDIS_SHARDS_MAX) && url->nshards >= 1 &&
           (url->nshards & (url->nshards - 1)) == 0;
}

/* What follows the question mark. */
static bool url_query(struct redis_url *url, struct part rest, bool is_local, const char **why)
{
    while (rest.len > 0) {
        struct part value = url_cut(&rest, '&');
        const struct part name = url_cut(&value, '=');
        if (url_is_named(name, "shards")) {
            *why = "shards is a power of 2 from 1 to 1024";
            if (!read_shards(url, value)) {
                return false;
            }
            continue;
        }
        *why = is_local ? "behind the question mark stand key=KEY, db=N, user=NAME or shards=N"
                        : "behind the question mark stands shards=N";
        const bool is_read =
            is_local &&
            ((url_is_named(name, "key") && url_decode(url->key, sizeof(url->key), value)) ||
             (url_is_named(name, "user") && url_decode(url->user, sizeof(url->user), value)) ||
             (url_is_named(name, "db") && url_number(&url->db, value, 1 << 30)));
        if (!is_read) {
            return false;
        }
    }
    return true;
}

static bool url_local(struct redis_url *url, struct part rest, const char **why)
{
    const struct part path = url_cut(&rest, '?');
    *why = "the path of the socket is missing, or too long";
    return url_decode(url->path, sizeof(url->path), path) && url->path[0] &&
           url_query(url, rest, true, why);
}

/* "[::1]:6379", "host:6379", "host" */
static bool url_host(struct redis_url *url, struct part text)
{
    struct part host;
    struct part port;
    if (text.len > 0 && text.data[0] == '[') {
        const char *end = memchr(text.data, ']', text.len);
        if (!end) {
            return false;
        }
        host = (struct part){text.data + 1, (size_t)(end - text.data) - 1};
        port = (struct part){end + 1, text.len - host.len - 2};
        if (port.len > 0 && port.data[0] != ':') {
            return false;
        }
        (void)url_cut(&port, ':');
    } else {
        port = text;
        host = url_cut(&port, ':');
    }
    url->port = REDIS_PORT;
    return host.len > 0 && url_decode(url->host, sizeof(url->host), host) &&
           (port.len == 0 || (url_number(&url->port, port, 65535) && url->port > 0));
}

static bool is_digits(struct part p)
{
    unsigned n;
    return url_number(&n, p, 1 << 30);
}

/* "crawl", "2/crawl", "a/b" */
static bool read_key(struct redis_url *url, struct part text, const char **why)
{
    struct part rest = text;
    const struct part first = url_cut(&rest, '/');
    *why = "a number alone is a database: the key follows it, as in redis://HOST/0/KEY";
    if (is_digits(first) && rest.len == 0) {
        return false;
    }
    if (is_digits(first)) {
        (void)url_number(&url->db, first, 1 << 30);
        text = rest;
    }
    *why = "the key is too long, or has a wrong percent sign";
    return url_decode(url->key, sizeof(url->key), text);
}

static bool read_remote(struct redis_url *url, struct part rest, const char **why)
{
    const char *query = memchr(rest.data, '?', rest.len);
    struct part path = {rest.data, query ? (size_t)(query - rest.data) : rest.len};
    struct part host = url_cut(&path, '/');
    const char *at = host.len > 0 ? memchr(host.data, '@', host.len) : NULL;
    *why = "the user's name is too long, or has a wrong percent sign";
    if (at && !url_decode(url->user, sizeof(url->user), url_cut(&host, '@'))) {
        return false;
    }
    *why = "an address is redis://HOST:PORT/KEY; in a password write / as %2F, and @ as %40";
    if (!url_host(url, host)) {
        return false;
    }
    if (query) {
        const size_t used = (size_t)(query + 1 - rest.data);
        if (!url_query(url, (struct part){query + 1, rest.len - used}, false, why)) {
            return false;
        }
    }
    return path.len == 0 || read_key(url, path, why);
}

bool redis_url_read(struct redis_url *url, const char *text, const char **why)
{
    *url = (struct redis_url){.nshards = 1};
    if (has_prefix(text, "redis+unix:")) {
        text += strlen("redis+unix:");
        text += has_prefix(text, "//") ? 2 : 0;
        return url_local(url, (struct part){text, strlen(text)}, why);
    }
    if (has_prefix(text, "redis://") || has_prefix(text, "valkey://")) {
        text = strchr(text, ':') + 3;
        return read_remote(url, (struct part){text, strlen(text)}, why);
    }
    *why = "TLS is not spoken here: let stunnel listen on 127.0.0.1, and use redis://";
    return false;
}

int redis_url_make(char *text, size_t cap, const char *server, const char *key)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:{}";
    const bool is_number = key[strspn(key, "0123456789")] == '\0'; /* would be a database */
    int len = snprintf(text, cap, "redis://%s/", server);
    for (const char *p = key; *p && len >= 0 && (size_t)len < cap; p++) {
        const bool is_plain = strchr(plain, *p) && !is_number;
        len +=
            snprintf(text + len, cap - (size_t)len, is_plain ? "%c" : "%%%02X", (unsigned char)*p);
    }
    return len;
}

/* ---- The password ---------------------------------------------------------------------------- */

/* Where the address begins in "-sredis://..." or "--store=redis://..."; NULL if the argument has no
 * address. */
static char *find_authority(char *argument)
{
    for (size_t i = 0; i < NSCHEMES; i++) {
        char *found = strstr(argument, schemes[i]);
        if (found && schemes[i][strlen(schemes[i]) - 1] == '/') {
            return found + strlen(schemes[i]);
        }
    }
    return NULL;
}

/* Ends the address at `begin`, so that neither ps nor a message shows a part of the password. */
static void wipe(char *begin)
{
    memset(begin, 0, strlen(begin));
}

bool redis_url_take_password(char *argument, char **password_out, const char **why)
{
    char *begin = find_authority(argument);
    *password_out = NULL;
    if (!begin) {
        return true;
    }
    const struct part authority = {begin, strcspn(begin, "/?")};
    const char *end = NULL; /* the last @: one in a password may not be encoded */
    if (strchr(begin + authority.len, '@')) {
        wipe(begin);
        *why = "an @ stands behind a / or ?: in a password write / as %2F and ? as %3F, in a key @ "
               "as %40";
        return false;
    }
    for (size_t i = 0; i < authority.len; i++) {
        end = authority.data[i] == '@' ? authority.data + i : end;
    }
    const char *found = end ? memchr(begin, ':', (size_t)(end - begin)) : NULL;
    if (!found) {
        return true;
    }
    const struct part coded = {found + 1, (size_t)(end - found) - 1};
    char *password = malloc(coded.len + 1);
    if (!password) {
        wipe(begin);
        *why = "out of memory";
        return false;
    }
    if (!url_decode(password, coded.len + 1, coded)) {
        memcpy(password, coded.data, coded.len); /* a percent sign that was not encoded */
        password[coded.len] = '\0';
    }
    /* The @ of "redis://:PASSWORD@HOST" goes as well. */
    char *to = begin + (found - begin);
    const char *rest = found == begin ? end + 1 : end;
    const size_t nrest = strlen(rest) + 1;
    const size_t gap = (size_t)(rest - to);
    memmove(to, rest, nrest);
    memset(to + nrest, 0, gap); /* as ps shows it */
    *password_out = password;
    return true;
}
