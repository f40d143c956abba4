/* SPDX-License-Identifier: MIT
 *
 * Host-suffix/path-prefix expressions ([SafeBrowsing], "Suffix/prefix expressions"): the texts
 * under which a list of sites, folders and pages may hold a URL.
 *
 * The canonical form has neither userinfo nor port, so the host stands right before the path. Each
 * expression is then a part of it: from the start of a host suffix to the end of a path prefix.
 * Nothing but the canonical form is copied.
 *
 *     http://a.b.c/1/2.html?x=1     starts: a b       a.b.c/1/2.html?x=1, a.b.c/1/2.html,
 *            ^ ^  ^ ^     ^         ends:   5         a.b.c/, a.b.c/1/, b.c/1/2.html?x=1, ...
 *
 * A path that programs read in several ways has a text of this shape for each of its readings. */
#include "url/safebrowsing.h"

#include <string.h>

#include "url/host.h"

enum {
    LABELS_MAX = UNSEEN__EXPRESSION_LABELS,
    LABELS_PUBLISHED = 5,
    PREFIXES_MAX = 4, /* "/" and three folders */
    PATHS_MAX = 2 + PREFIXES_MAX
};

/* Stores where the host starts, and then its suffixes of nlabels labels down to two. An address has
 * no suffixes. */
static size_t find_hosts(const char *host, const char *host_end, unsigned nlabels_max,
                         const char *starts[LABELS_MAX])
{
    size_t n = 0;
    uint32_t address;
    starts[n++] = host;
    if (*host == '[' || unseen__ipv4_parse(host, (size_t)(host_end - host), &address)) {
        return n;
    }
    const char *labels[LABELS_MAX]; /* their starts, from the last one on */
    size_t nlabels = 0;
    for (const char *at = host_end; at > host && nlabels < nlabels_max; at--) {
        if (at[-1] == '.') {
            labels[nlabels++] = at;
        }
    }
    while (nlabels > 1) {
        starts[n++] = labels[--nlabels];
    }
    return n;
}

/* Stores where the paths end: with the query, without it, then "/" and the folders below it. A
 * query that is only a question mark does not count. */
static size_t find_paths(const char *path, const char *end, const char *ends[PATHS_MAX])
{
    size_t n = 0;
    const char *const question = memchr(path, '?', (size_t)(end - path));
    const char *const path_end = question ? question : end;
    if (question && question + 1 < end) {
        ends[n++] = end;
    }
    ends[n++] = path_end;
    size_t nprefixes = 0;
    for (const char *at = path; at + 1 < path_end && nprefixes < PREFIXES_MAX; at++) {
        if (*at == '/') {
            ends[n++] = at + 1;
            nprefixes++;
        }
    }
    return n;
}

/* Writes the canonical form of a question or an entry to buf; its length is 0 if that is not a URL.
 * Errors: SPACE. */
static enum unseen_status write_form(unseen__url_slow_fn *slow, const struct unseen_url *url,
                                     struct unseen_bytes in, char *buf, size_t cap,
                                     struct unseen_bytes *form_out, bool *is_plain_out)
{
    struct unseen_canon canon;
    const size_t bound = unseen_url_bound(in.len, 0);
    if (bound == 0 || cap < bound) {
        return UNSEEN_ERR_SPACE;
    }
    *is_plain_out = unseen__fast_browsed(url, in.data, in.len, buf, bound, &canon);
    if (!*is_plain_out) {
        slow(url, in.data, in.len, buf, bound, &canon);
    }
    *form_out = (struct unseen_bytes){buf, 0};
    if (canon.form != UNSEEN_URL_FAILED) {
        form_out->len = canon.bytes.len;
        if (canon.bytes.data != buf) {
            memcpy(buf, canon.bytes.data, canon.bytes.len);
        }
    }
    return UNSEEN_OK;
}

/* The host, and where it ends, of a canonical form. */
static const char *find_host(struct unseen_bytes form, const char **host_end_out)
{
    const char *const host = (const char *)memchr(form.data, ':', form.len) + 3;
    *host_end_out = memchr(host, '/', (size_t)(form.data + form.len - host));
    return host;
}

/* The expressions of a form: all its paths for each of its hosts. */
static size_t list_expressions(struct unseen_bytes form, unsigned nlabels,
                               struct unseen_bytes *expressions)
{
    const char *starts[LABELS_MAX];
    const char *ends[PATHS_MAX];
    const char *path;
    const char *const host = find_host(form, &path);
    const size_t nhosts = find_hosts(host, path, nlabels, starts);
    const size_t npaths = find_paths(path, form.data + form.len, ends);
    size_t n = 0;
    for (size_t h = 0; h < nhosts; h++) {
        for (size_t p = 0; p < npaths; p++) {
            expressions[n++] = bytes_between(starts[h], ends[p]);
        }
    }
    return n;
}

static enum unseen_status find_expressions(unseen__url_slow_fn *slow, unsigned nlabels,
                                           const struct unseen_url *url, struct unseen_bytes in,
                                           char *buf, size_t cap, struct unseen_bytes *expressions,
                                           size_t *n_out)
{
    bool is_plain;
    struct unseen_bytes form;
    const enum unseen_status status = write_form(slow, url, in, buf, cap, &form, &is_plain);
    if (status == UNSEEN_OK) {
        *n_out = form.len > 0 ? list_expressions(form, nlabels, expressions) : 0;
    }
    return status;
}

enum unseen_status unseen_url_expressions(const struct unseen_url *url, const void *data,
                                          size_t len, void *buf, size_t cap,
                                          struct unseen_bytes expressions[UNSEEN_EXPRESSIONS_MAX],
                                          size_t *n_out)
{
    const struct unseen_bytes in = {data, len};
    return find_expressions(unseen__url_safebrowsing_browsed, LABELS_PUBLISHED, url, in, buf, cap,
                            expressions, n_out);
}

enum unseen_status unseen__expressions_entry(const struct unseen_url *url, struct unseen_bytes in,
                                             char *buf, size_t cap,
                                             struct unseen_bytes *expressions, size_t *n_out)
{
    return find_expressions(unseen__url_safebrowsing_entry, LABELS_MAX, url, in, buf, cap,
                            expressions, n_out);
}

/* ---- Several readings ------------------------------------------------------------------------ */

/* The part of a reading from its host to the end of one of its paths; readings as in
 * unseen__expressions_read. */
struct prefix {
    struct unseen_bytes text;
    uint16_t readings;
};

static void add_prefix(struct prefix *prefixes, size_t *n, struct unseen_bytes text, size_t reading)
{
    size_t i = 0;
    while (i < *n && (prefixes[i].text.len != text.len ||
                      memcmp(prefixes[i].text.data, text.data, text.len) != 0)) {
        i++;
    }
    if (i == *n) {
        prefixes[(*n)++] = (struct prefix){text, 0};
    }
    prefixes[i].readings = (uint16_t)(prefixes[i].readings | 1u << reading);
}

/* Lists the paths of all readings, each once: first the longest one of each reading, so that no
 * folder stands in front of a page in it. */
static size_t list_prefixes(const struct unseen_bytes *readings, size_t nreadings, size_t host_len,
                            struct prefix prefixes[UNSEEN__READINGS_MAX * PATHS_MAX])
{
    const char *ends[UNSEEN__READINGS_MAX][PATHS_MAX];
    size_t npaths[UNSEEN__READINGS_MAX];
    size_t n = 0;
    for (size_t r = 0; r < nreadings; r++) {
        const char *const text = readings[r].data;
        npaths[r] = find_paths(text + host_len, text + readings[r].len, ends[r]);
    }
    for (size_t p = 0; p < PATHS_MAX; p++) {
        for (size_t r = 0; r < nreadings; r++) {
            if (p < npaths[r]) {
                add_prefix(prefixes, &n, bytes_between(readings[r].data, ends[r][p]), r);
            }
        }
    }
    return n;
}

enum unseen_status unseen__expressions_read(const struct unseen_url *url, struct unseen_bytes in,
                                            char *buf, size_t cap, struct unseen_bytes *expressions,
                                            uint16_t *readings_out, size_t *n_out)
{
    bool is_plain;
    struct unseen_bytes form;
    struct unseen_bytes readings[UNSEEN__READINGS_MAX];
    struct prefix prefixes[UNSEEN__READINGS_MAX * PATHS_MAX];
    const char *starts[LABELS_MAX];
    const enum unseen_status status =
        write_form(unseen__url_safebrowsing_browsed, url, in, buf, cap, &form, &is_plain);
    *n_out = 0;
    if (status != UNSEEN_OK || form.len == 0) {
        return status;
    }
    const char *path;
    const char *const host = find_host(form, &path);
    const size_t host_len = (size_t)(path - host);
    readings[0] = bytes_between(host, form.data + form.len);
    /* The fast path lets nothing pass that is read in several ways but parameters. */
    const bool has_one = is_plain && !memchr(path, ';', (size_t)(form.data + form.len - path));
    const size_t nreadings =
        has_one ? 1
                : unseen__url_readings(in, host_len, buf + unseen_url_bound(in.len, 0), readings);
    if (nreadings == 1) {
        *n_out = list_expressions(form, LABELS_MAX, expressions);
        for (size_t i = 0; i < *n_out; i++) {
            readings_out[i] = 1;
        }
        return UNSEEN_OK;
    }
    const size_t nhosts = find_hosts(host, path, LABELS_MAX, starts);
    const size_t nprefixes = list_prefixes(readings, nreadings, host_len, prefixes);
    for (size_t h = 0; h < nhosts; h++) {
        for (size_t p = 0; p < nprefixes; p++) {
            const char *const text = prefixes[p].text.data;
            expressions[*n_out] =
                bytes_between(text + (starts[h] - host), text + prefixes[p].text.len);
            readings_out[(*n_out)++] = prefixes[p].readings;
        }
    }
    return UNSEEN_OK;
}
