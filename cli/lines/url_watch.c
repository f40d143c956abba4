/* SPDX-License-Identifier: MIT */
#include "lines/url_watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "characters.h"
#include "lines/json_scan.h"
#include "lines/key_option.h"
#include "print/message.h"
#include "print/typed.h"

enum {
    ENOUGH = BATCH_LINES, /* lines without a URL, until a run stops */
    SHOWN = 60,
    NAME_MAX_LEN = 64
};

static bool is_of_name(char c)
{
    return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
}

/* True for www.e.com and e.com/a, but not for 10.5, a@e.com or words with blanks. */
static bool is_host(struct unseen_bytes line)
{
    size_t end = 0;
    size_t dots = 0;
    while (end < line.len && is_of_name(line.data[end])) {
        dots += line.data[end++] == '.';
    }
    return dots > 0 && line.data[0] != '.' && is_letter(line.data[end - 1]) &&
           (end == line.len || strchr("/?#\r", line.data[end]));
}

/* The first http:// or https:// of the line; NULL: none. */
static const char *find_url(struct unseen_bytes line)
{
    const char *const end = line.data + line.len;
    for (const char *p = line.data; (p = memchr(p, ':', (size_t)(end - p))); p++) {
        const size_t before = (size_t)(p - line.data);
        if (end - p >= 3 && p[1] == '/' && p[2] == '/') {
            if (before >= 5 && memcmp(p - 5, "https", 5) == 0) {
                return p - 5;
            }
            if (before >= 4 && memcmp(p - 4, "http", 4) == 0) {
                return p - 4;
            }
        }
    }
    return NULL;
}

static enum line_look look_of(struct unseen_bytes line)
{
    const char *p = line.data;
    size_t len = line.len;
    if (len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) {
        p += 3;
        len -= 3;
    }
    if (len >= 5 && memcmp(p, "WARC/", 5) == 0) {
        return LOOK_WARC;
    }
    const char *url = find_url(line);
    if (len > 0 && (*p == '{' || (*p == '[' && url))) {
        return LOOK_JSON;
    }
    if (url && url > line.data) {
        return strchr("\t,; |", url[-1]) ? LOOK_FIELDS : LOOK_TEXT;
    }
    return is_host(line) ? LOOK_HOST : LOOK_OTHER;
}

/* "WARC-Type: response" and other header lines of an archive are URLs of schemes nobody has. */
static bool is_of_archive(const struct url_watch *w, struct unseen_bytes line)
{
    return w->look == LOOK_WARC && find_url(line) != line.data;
}

void url_watch_look_line(struct url_watch *w, struct unseen_bytes line)
{
    if (w->look == LOOK_OTHER && (w->look = look_of(line)) != LOOK_OTHER) {
        w->len = line.len < sizeof(w->text) ? line.len : sizeof(w->text);
        memcpy(w->text, line.data, w->len);
    }
}

/* True without memory, too: a run is not stopped for that. */
static bool is_url(const struct url_watch *w, const struct batch *b, size_t i)
{
    struct unseen_canon canon = {.form = (enum unseen_url_form)b->forms[i]};
    if (w->url) {
        const struct unseen_bytes line = b->texts[i];
        const size_t cap = unseen_url_bound(line.len, 0);
        char *room = malloc(cap);
        canon.form = UNSEEN_URL_UNCHANGED;
        if (room) {
            (void)unseen_url_canon(w->url, line.data, line.len, NULL, room, cap, &canon);
        }
        free(room);
    }
    return canon.form != UNSEEN_URL_FAILED;
}

void url_watch_look(struct url_watch *w, const struct batch *b, size_t first, size_t n)
{
    for (size_t i = first; i < first + n && !w->has_url; i++) {
        const struct unseen_bytes line = b->texts[i];
        w->nlines++;
        w->has_url = is_url(w, b, i) && !is_of_archive(w, line);
        if (!w->has_url) {
            url_watch_look_line(w, line);
        }
    }
}

bool url_watch_doubts(const struct url_watch *w)
{
    return w->matters && !w->has_url && w->look != LOOK_OTHER;
}

bool url_watch_stops(const struct url_watch *w)
{
    return url_watch_doubts(w) && w->nlines >= ENOUGH;
}

/* ---- The way out ----------------------------------------------------------------------------- */

/* Writes the path of the member of a record that the URL is the value of, or .url. */
static void find_path(const struct url_watch *w, char path[NAME_MAX_LEN])
{
    const struct unseen_bytes line = {w->text, w->len};
    const char *const url = find_url(line);
    const char *p = url && url > line.data + 1 && url[-1] == '"' ? url - 2 : line.data;
    (void)snprintf(path, NAME_MAX_LEN, ".url");
    while (p > line.data && (*p == ' ' || *p == ':')) {
        p--;
    }
    const char *const end = p;
    while (p > line.data && is_of_name(p[-1])) {
        p--;
    }
    const size_t len = (size_t)(end - p);
    const struct json_step step = {{p, len}, SIZE_MAX};
    struct unseen_bytes value;
    if (*end == '"' && len > 0 && len < NAME_MAX_LEN - 1 && !memchr(p, '.', len) &&
        json_find(line, &step, 1, JSON_NO_BYTE, &value) && value.data == url - 1) {
        (void)snprintf(path, NAME_MAX_LEN, ".%.*s", (int)len, p);
    }
}

/* Hints at the field that the URL is. */
static void hint_field(const struct url_watch *w)
{
    const char *const url = find_url((struct unseen_bytes){w->text, w->len});
    char option[32] = "";
    size_t field = 1;
    for (const char *p = w->text; p < url; p++) {
        field += *p == url[-1];
    }
    if (url[-1] != '\t') { /* the default */
        const char separator[] = {url[-1], '\0'};
        (void)snprintf(option, sizeof(option), "--separator %s ", typed_quoted(separator));
    }
    message_hint("to compare that part of a line: %s",
                 typed_changed("format separator", "%s--key %zu", option, field));
}

/* Hints at a command that makes lines of the URLs, whatever the store's profile is. */
static void hint_pipe(const char *why, const char *command, const char *more)
{
    message_hint("%s: %s%s%s | %s", why, command, typed_inputs(), more, typed_piped(NULL));
}

static bool takes_scheme(const char *profile)
{
    static const char *const profiles[] = {"crawl/", "whatwg/", "aggressive/"};
    for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
        if (strncmp(profile, profiles[i], strlen(profiles[i])) == 0) {
            return !typed_has("rule"); /* of which one would be replaced */
        }
    }
    return false;
}

static void hint_hosts(const char *profile, bool is_fixed)
{
    if (is_fixed || !takes_scheme(profile)) {
        hint_pipe("to take example.com for http://example.com", "sed 's,^,http://,'", "");
    } else {
        message_hint("to take example.com for http://example.com: %s",
                     typed_with("--rule default-scheme"));
    }
}

void url_watch_hint(const struct url_watch *w, const char *profile, bool is_fixed)
{
    char path[NAME_MAX_LEN];
    switch (w->look) {
    case LOOK_HOST:
        hint_hosts(profile, is_fixed);
        break;
    case LOOK_JSON:
        find_path(w, path);
        message_hint("to compare a value of each record: %s",
                     typed_changed("format", "--key %s", path));
        break;
    case LOOK_FIELDS:
        hint_field(w);
        break;
    case LOOK_WARC:
        hint_pipe("to take the URLs of an archive",
                  "zgrep -aih ^WARC-Target-URI:", " | cut -d ' ' -f 2");
        break;
    default:
        hint_pipe("to take the URLs in the lines", "grep -aohE 'https?://[^[:space:]\"<>]+'", "");
    }
    if (!is_fixed) {
        message_hint("to compare whole lines: %s",
                     typed_changed("rule drop-params only-params", "--profile none"));
    }
}

static void report_wrong(const struct url_watch *w, const char *from)
{
    message_error("%s%sno line is a URL; one is '%.*s'", from, from[0] ? ": " : "",
                  w->len < SHOWN ? (int)w->len : SHOWN, w->text);
}

bool url_watch_report(const struct url_watch *w, const char *profile, bool is_fixed)
{
    if (!w->matters && !w->has_url && w->look == LOOK_HOST && takes_scheme(profile)) {
        message_hint("no line has a scheme, so no line is a URL; to take example.com for "
                     "http://example.com: %s",
                     typed_with("--rule default-scheme"));
    }
    if (!url_watch_doubts(w)) {
        return true;
    }
    report_wrong(w, "");
    url_watch_hint(w, profile, is_fixed);
    return false;
}

bool url_watch_report_file(const struct url_watch *w, const char *path)
{
    if (!url_watch_doubts(w)) {
        return true;
    }
    report_wrong(w, path);
    message_hint("-x compares whole lines: write the URLs of the file, one a line, to another");
    return false;
}
