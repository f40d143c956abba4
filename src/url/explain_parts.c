/* SPDX-License-Identifier: MIT
 *
 * Explains a scheme that has no trace, scrapy or safebrowsing: compares the parts of a text with
 * the parts of its canonical form, and gives a step for each part that differs. The sentence says
 * what the profile does with such a part. */
#include <string.h>

#include "url/ascii.h"
#include "url/whatwg.h"

enum part {
    PART_SCHEME,
    PART_USERINFO,
    PART_HOST,
    PART_PORT,
    PART_PATH,
    PART_QUERY,
    PART_FRAGMENT,
    NPARTS
};

static const struct unseen_url_entry safebrowsing_steps[NPARTS] = {
    {"scheme", "a scheme is lower case; without one it is http"},
    {"userinfo", "user and password are not looked up"},
    {"host",
     "a host is decoded and lower case, and has one dot between names; an address has one form"},
    {"port", "a port is not looked up"},
    {"path", "escapes in a path are decoded until none is left, then . and .. and // are resolved"},
    {"query", "escapes in a query are decoded until none is left, then written one way"},
    {"fragment", "a fragment is not looked up"},
};

static const struct unseen_url_entry scrapy_steps[NPARTS] = {
    {"scheme", "a scheme is lower case"},
    {"userinfo", "escapes in user and password are written one way"},
    {"host", "a host is lower case and IDNA"},
    {"port", "an empty port goes"},
    {"path", "escapes in a path are written one way, and an empty path is /"},
    {"query", "parameters are sorted and their escapes written one way; a name alone gets ="},
    {"fragment", "a fragment is not sent to the server"},
};

/* The first byte of [in, end) that is in set, or end. */
static const char *find_any(const char *in, const char *end, const char *set)
{
    for (; in < end; in++) {
        for (const char *c = set; *c; c++) {
            if (*in == *c) {
                return in;
            }
        }
    }
    return in;
}

/* The end of the scheme's name if "//" follows its colon; in if that is not so. */
static const char *scheme_end(const char *in, const char *end)
{
    const char *at = in;
    while (at < end && (is_ascii_alnum(*at) || *at == '+' || *at == '-' || *at == '.')) {
        at++;
    }
    return end - at >= 3 && memcmp(at, "://", 3) == 0 ? at : in;
}

/* Each part with the characters that mark it, but the scheme without its colon. */
static void split(const char *in, size_t len, struct unseen_bytes parts[NPARTS])
{
    const char *const end = in + len;
    const char *const hash = find_any(in, end, "#");
    const char *at = scheme_end(in, hash);
    parts[PART_SCHEME] = bytes_between(in, at);
    at += hash - at >= 3 && memcmp(at, "://", 3) == 0 ? 3 : 0;
    const char *const path = find_any(at, hash, "/?\\");
    const char *host = path;
    while (host > at && host[-1] != '@') {
        host--;
    }
    parts[PART_USERINFO] = bytes_between(at, host);
    const char *port = find_any(host, path, "]");
    port = find_any(port < path ? port : host, path, ":");
    parts[PART_HOST] = bytes_between(host, port);
    parts[PART_PORT] = bytes_between(port, path);
    const char *const query = find_any(path, hash, "?");
    parts[PART_PATH] = bytes_between(path, query);
    parts[PART_QUERY] = bytes_between(query, hash);
    parts[PART_FRAGMENT] = bytes_between(hash, end);
}

static bool equal(struct unseen_bytes a, struct unseen_bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

void unseen__url_explain_parts(const struct unseen_url *url, const char *in, size_t len,
                               struct unseen_bytes canon, char *copy,
                               const struct unseen__url_trace *trace)
{
    const struct unseen_url_entry *const steps =
        strncmp(url->id, "scrapy/", 7) == 0 ? scrapy_steps : safebrowsing_steps;
    const struct unseen_bytes text = unseen__url_clean(in, len, copy, trace);
    struct unseen_bytes before[NPARTS];
    struct unseen_bytes after[NPARTS];
    split(text.data, text.len, before);
    split(canon.data, canon.len, after);
    for (size_t i = 0; i < NPARTS; i++) {
        if (!equal(before[i], after[i])) {
            const struct unseen_url_step step = {.rule = steps[i].name,
                                                 .sentence = steps[i].sentence,
                                                 .before = before[i],
                                                 .after = after[i]};
            trace->step(trace->context, &step);
        }
    }
}
