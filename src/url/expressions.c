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
 *            ^ ^  ^ ^     ^         ends:   5         a.b.c/, a.b.c/1/, b.c/1/2.html?x=1, ... */
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

enum unseen_status unseen__expressions_find(unseen__url_slow_fn *slow, unsigned nlabels,
                                            const struct unseen_url *url, struct unseen_bytes in,
                                            char *buf, size_t cap, struct unseen_bytes *expressions,
                                            size_t *n_out)
{
    const size_t bound = unseen_url_bound(in.len, 0);
    if (bound == 0 || cap < bound) {
        return UNSEEN_ERR_SPACE;
    }
    struct unseen_canon canon;
    if (!unseen__fast_browsed(url, in.data, in.len, buf, cap, &canon)) {
        slow(url, in.data, in.len, buf, cap, &canon);
    }
    *n_out = 0;
    if (canon.form == UNSEEN_URL_FAILED) {
        return UNSEEN_OK;
    }
    if (canon.bytes.data != buf) {
        memcpy(buf, canon.bytes.data, canon.bytes.len);
    }
    const char *const text = buf;
    const char *const end = text + canon.bytes.len;
    const char *const host = (const char *)memchr(text, ':', canon.bytes.len) + 3;
    const char *const path = memchr(host, '/', (size_t)(end - host));
    const char *starts[LABELS_MAX];
    const char *ends[PATHS_MAX];
    const size_t nhosts = find_hosts(host, path, nlabels, starts);
    const size_t npaths = find_paths(path, end, ends);
    for (size_t h = 0; h < nhosts; h++) {
        for (size_t p = 0; p < npaths; p++) {
            expressions[(*n_out)++] =
                (struct unseen_bytes){starts[h], (size_t)(ends[p] - starts[h])};
        }
    }
    return UNSEEN_OK;
}

enum unseen_status unseen_url_expressions(const struct unseen_url *url, const void *data,
                                          size_t len, void *buf, size_t cap,
                                          struct unseen_bytes expressions[UNSEEN_EXPRESSIONS_MAX],
                                          size_t *n_out)
{
    const struct unseen_bytes in = {data, len};
    return unseen__expressions_find(unseen__url_safebrowsing_browsed, LABELS_PUBLISHED, url, in,
                                    buf, cap, expressions, n_out);
}
