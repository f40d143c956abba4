/* SPDX-License-Identifier: MIT
 *
 * The ways in which programs read the path of a URL, for lists of bad sites. Browsers, proxies and
 * servers disagree about which folder a path leads to once it has dots or slashes in disguise, so a
 * path could be written that a list looks up in one folder and a server opens in another:
 *
 *     path                      in a folder of the name    opened by
 *     /free/%2e%2e%2f..%2fx     free                       browsers, and servers that keep %2F
 *                               (none): /x                 servers that decode
 *     /a/%252e%252e%252fbad/    bad                        servers behind a proxy that decodes
 *     /a/..;/bad/               bad                        Tomcat
 *     /a/..%5cbad/              bad                        IIS
 *
 * So the path is read in every way of this table, and a question asks for the texts of all readings
 * that differ. Nearly all URLs have only one.
 *
 *     who comes first     how the server finds folders                   how often it decodes
 *     a browser           as browsers: an empty name is a folder         0, 1, 2 times
 *     nobody              merging: // is / before .. is taken out        1, 2 times
 *                         loosely: so, \ is /, and ;parameters go
 *
 * Twice is a proxy, then a server; each takes out the dots after it has decoded. In every reading
 * the names of folders and pages are decoded until no escape is left, as in entries, but a slash or
 * question mark that comes from that divides nothing any more and stays an escape. */
#include <string.h>

#include "url/ascii.h"
#include "url/percent.h"
#include "url/rules.h"
#include "url/safebrowsing.h"
#include "url/whatwg.h"

enum style {
    BROWSER,
    MERGING,
    LOOSE,
    NSTYLES
};

enum {
    ROUNDS_MAX = 2
};

/* What the readings of one URL share, and the room for their making. */
struct work {
    struct unseen_bytes host;
    struct unseen_bytes query; /* with its '?', as it is written */
    char *path;                /* that is being read */
    char *name;                /* a name that is being decoded */
};

bool unseen__path_is_ambiguous(struct unseen_bytes path)
{
    const char *const end = path.data + path.len;
    for (const char *at = path.data; at < end; at++) {
        const int value = unseen__percent_value(at, end);
        if (*at == '%' && (value < 0 || strchr("%./\\;", value))) {
            return true; /* one that is not an escape may become one */
        }
        if (*at == ';' || *at == '\\' || (*at == '/' && end - at > 1 && at[1] == '/')) {
            return true;
        }
    }
    return false;
}

/* The length of "http:" or of another scheme whose URLs browsers open; 0 if the text has none. */
static size_t scheme_len(struct unseen_bytes text)
{
    static const char *const schemes[] = {"http:", "https:", "ws:", "wss:", "ftp:"};
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        size_t len = 0;
        while (schemes[i][len] && len < text.len &&
               ascii_lower(text.data[len]) == schemes[i][len]) {
            len++;
        }
        if (!schemes[i][len]) {
            return len;
        }
    }
    return 0;
}

/* The path as it was written, in a text that browsers take for a URL with a host. */
static struct unseen_bytes written_path(struct unseen_bytes text)
{
    const char *const end = text.data + text.len;
    const char *at = text.data + scheme_len(text);
    while (at < end && (*at == '/' || *at == '\\')) {
        at++;
    }
    const char *const path = unseen__find_delimiter(at, end, true);
    for (at = path; at < end && *at != '?' && *at != '#'; at++) {
    }
    return bytes_between(path, at);
}

/* ---- One reading ----------------------------------------------------------------------------- */

/* Cuts ";..." off each name. */
static size_t cut_parameters(char *path, size_t len)
{
    size_t n = 0;
    bool cuts = false;
    for (size_t i = 0; i < len; i++) {
        cuts = path[i] == ';' || (cuts && path[i] != '/');
        path[n] = path[i];
        n += !cuts;
    }
    return n;
}

/* Decodes %2e, which is a dot to those who decode nothing else, too. */
static size_t decode_dots(char *path, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; n++) {
        const bool is_dot = unseen__percent_value(path + i, path + len) == '.';
        path[n] = is_dot ? '.' : path[i];
        i += is_dot ? 3 : 1;
    }
    return n;
}

/* Reads the path once more, where it stands: as a server does that decodes it, or one that only
 * takes out dots. Returns its new length. */
static size_t read_path(char *path, size_t len, enum style style, bool decodes)
{
    if (style == LOOSE) {
        len = cut_parameters(path, len);
    }
    len =
        decodes ? (size_t)(unseen__percent_decode(path, len, path) - path) : decode_dots(path, len);
    for (size_t i = 0; style == LOOSE && i < len; i++) {
        path[i] = path[i] == '\\' ? '/' : path[i];
    }
    if (style != BROWSER) {
        len = unseen__collapse_slashes(NULL, path, len);
    }
    return (size_t)(unseen__resolve_dots(path, path + len) - path);
}

/* Writes host, path and query of a reading to out, in the form of entries. */
static struct unseen_bytes write_reading(const struct work *w, size_t path_len, char *out)
{
    const char *const path_end = w->path + path_len;
    char *end = out + w->host.len;
    memcpy(out, w->host.data, w->host.len);
    for (const char *at = w->path; at < path_end;) {
        const char *const name = at + 1;
        const char *const slash = memchr(name, '/', (size_t)(path_end - name));
        at = slash ? slash : path_end;
        if (end[-1] != '/') { /* as in entries, empty names do not count */
            *end++ = '/';
        }
        const size_t len = unseen__decode_fully(name, (size_t)(at - name), w->name);
        for (size_t i = 0; i < len; i++) {
            const unsigned char c = (unsigned char)w->name[i];
            if (c <= ' ' || c >= 0x7f || strchr("#%/?\\", c)) {
                end = unseen__percent_write(end, c);
            } else {
                *end++ = (char)c;
            }
        }
    }
    memcpy(end, w->query.data, w->query.len);
    return (struct unseen_bytes){out, (size_t)(end - out) + w->query.len};
}

/* ---- All readings ---------------------------------------------------------------------------- */

static bool has_reading(const struct unseen_bytes *readings, size_t n, struct unseen_bytes text)
{
    for (size_t i = 0; i < n; i++) {
        if (readings[i].len == text.len && memcmp(readings[i].data, text.data, text.len) == 0) {
            return true;
        }
    }
    return false;
}

/* Adds the readings of a path that differ from those before; returns the end of their bytes. A path
 * that is not decoded, and one that is, are both read as it came. */
static char *add_readings(const struct work *w, struct unseen_bytes path, bool is_browsed,
                          char *out, struct unseen_bytes *readings, size_t *n)
{
    for (int style = 0; style < NSTYLES; style++) {
        size_t len = 0;
        for (int round = is_browsed ? 0 : 1; round <= ROUNDS_MAX; round++) {
            if (round <= 1) {
                memcpy(w->path, path.data, path.len);
                *w->path = '/'; /* there may be nothing, or a backslash */
                len = path.len > 0 ? path.len : 1;
            }
            len = read_path(w->path, len, (enum style)style, round > 0);
            const struct unseen_bytes text = write_reading(w, len, out);
            if (!has_reading(readings, *n, text)) {
                readings[(*n)++] = text;
                out += text.len;
            }
        }
    }
    return out;
}

/* Writes a query in the form of entries. */
static struct unseen_bytes write_query(const struct work *w, struct unseen_bytes query, char *out)
{
    const size_t len = unseen__decode_fully(query.data, query.len, w->name);
    const char *const end = unseen__write_escaped(w->name, len, '%', out);
    return bytes_between(out, end);
}

size_t unseen__url_readings(struct unseen_bytes in, size_t host_len, char *room,
                            struct unseen_bytes readings[UNSEEN__READINGS_MAX])
{
    const size_t bound = unseen_url_bound(in.len, 0);
    const size_t part = 3 * in.len + UNSEEN__TEXT_EXTRA;
    char *const copy = room + bound;
    const struct unseen_bytes written =
        written_path(unseen__url_clean(in.data, in.len, copy, NULL));
    struct unseen_bytes text;
    if (!unseen__path_is_ambiguous(written) || !unseen__url_browsed(in, room, bound, &text) ||
        scheme_len(text) == 0) {
        return 1;
    }
    struct work w = {.host = {readings[0].data, host_len}, .path = copy + in.len};
    w.name = w.path + part;
    char *out = w.name + part;
    const char *const end = text.data + text.len;
    const char *const host = text.data + scheme_len(text) + 2;
    const char *const path = memchr(host, '/', (size_t)(end - host));
    const char *const question = memchr(path, '?', (size_t)(end - path));
    const char *const path_end = question ? question : end;
    w.query = write_query(&w, bytes_between(path_end, end), out);
    out += w.query.len;
    size_t n = 1;
    out = add_readings(&w, bytes_between(path, path_end), true, out, readings, &n);
    (void)add_readings(&w, written, false, out, readings, &n);
    return n;
}
