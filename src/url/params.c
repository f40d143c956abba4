/* SPDX-License-Identifier: MIT
 *
 * A list is read into entries, one for each pattern, in the text of the caller or in memory of the
 * object. The entries are sorted by host and name, so that the patterns of a host stand together;
 * then covered patterns go. What is left is the object and the spelling of the list. */
#include "url/params.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/heapsort.h"
#include "base/memory.h"
#include "url/ascii.h"
#include "url/percent.h"
#include "url/whatwg.h"

struct entry {
    const char *host; /* canonical; empty: every host */
    size_t host_len;
    struct unseen__pattern pattern;
};

/* What a list is read into. */
struct reading {
    const char *rule;
    struct unseen_error *error;
    struct entry *entries;
    size_t n;
    char *text; /* the texts of hosts and names */
    size_t text_len;
    size_t hosts_end; /* a host may end here at most, which leaves room for all names */
    char *buf;        /* for the parser */
};

static enum unseen_status pattern_error(const struct reading *r, const char *pattern, size_t len,
                                        const char *reason)
{
    return unseen__error_setting(r->error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_RULES,
                                 "%s: \"%.*s\" is not a pattern: %s", r->rule,
                                 (int)(len < 60 ? len : 60), pattern, reason);
}

/* ---- Reading ----------------------------------------------------------------------------------*/

/* Writes the canonical form of a host into the text: the host of the URL http://HOST/. Returns
 * false if HOST is not a host, or is too long. */
static bool read_host(struct reading *r, const char *host, size_t len, struct entry *entry)
{
    struct unseen__url_record url;
    char *const in = r->buf;
    char *const room = in + len + 8;
    memcpy(in, "http://", 7);
    memcpy(in + 7, host, len);
    in[7 + len] = '/';
    if ((memchr(host, ':', len) && (host[0] != '[' || host[len - 1] != ']')) ||
        !unseen__url_parse(in, len + 8, NULL, 0, room, unseen_url_bound(len + 8, 0), NULL, &url) ||
        url.host_start != 7 || url.authority_end != url.host_end || url.path_end != url.len ||
        url.path_end != url.path_start + 1) {
        return false;
    }
    size_t host_len = url.host_end - url.host_start;
    host_len -= url.text[url.host_end - 1] == '.';
    const char *const name = url.text + url.host_start;
    if (host_len == 0 || host_len > r->hosts_end - r->text_len || name[0] == '.' ||
        name[host_len - 1] == '.') {
        return false;
    }
    /* The standard allows these in a host, but they divide the spelling of lists and rules. */
    for (size_t i = 0; i < host_len; i++) {
        if (strchr("*,()+", name[i])) {
            return false;
        }
    }
    entry->host = memcpy(r->text + r->text_len, name, host_len);
    entry->host_len = host_len;
    r->text_len += host_len;
    return true;
}

static enum unseen_status read_name(struct reading *r, const char *pattern, size_t pattern_len,
                                    const char *name, size_t len, struct entry *entry)
{
    const bool is_start = len > 0 && name[len - 1] == '*';
    len -= is_start;
    if (len == 0 && !is_start) {
        return pattern_error(r, pattern, pattern_len, "it names no parameter");
    }
    for (size_t i = 0; i < len; i++) {
        if (name[i] == '*') {
            return pattern_error(r, pattern, pattern_len,
                                 "* may stand only at its end, write %2A for the character");
        }
        if (strchr("=&?#() \t\r\n", name[i])) {
            return pattern_error(r, pattern, pattern_len,
                                 "it is the name of a parameter, other characters as escapes");
        }
    }
    char *const start = r->text + r->text_len;
    const size_t decoded_len = (size_t)(unseen__percent_decode(name, len, start) - start);
    entry->pattern = (struct unseen__pattern){start, decoded_len, is_start};
    r->text_len += decoded_len;
    return UNSEEN_OK;
}

static enum unseen_status read_pattern(struct reading *r, const char *pattern, size_t len)
{
    struct entry *entry = &r->entries[r->n++];
    size_t host_len = len;
    while (host_len > 0 && pattern[host_len - 1] != ':') {
        host_len--;
    }
    *entry = (struct entry){.host = ""};
    if (host_len > 0 && !read_host(r, pattern, host_len - 1, entry)) {
        return pattern_error(r, pattern, len, "what stands before the : is not a host");
    }
    return read_name(r, pattern, len, pattern + host_len, len - host_len, entry);
}

static enum unseen_status read_list(struct reading *r, const char *list)
{
    for (;;) {
        const size_t len = strcspn(list, ",");
        const enum unseen_status status = read_pattern(r, list, len);
        if (status != UNSEEN_OK || list[len] == '\0') {
            return status;
        }
        list += len + 1;
    }
}

/* ---- Order ------------------------------------------------------------------------------------*/

static int compare_hosts(const char *a, size_t a_len, const char *b, size_t b_len)
{
    return a_len != b_len ? (a_len < b_len ? -1 : 1) : a_len ? memcmp(a, b, a_len) : 0;
}

/* By host, then by the bytes of the name. Of a name and the names that start with it, the latter
 * come first. */
static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;
    const int hosts = compare_hosts(x->host, x->host_len, y->host, y->host_len);
    if (hosts != 0) {
        return hosts;
    }
    const size_t x_len = x->pattern.len;
    const size_t y_len = y->pattern.len;
    const size_t both = x_len < y_len ? x_len : y_len;
    const int names = both ? memcmp(x->pattern.text, y->pattern.text, both) : 0;
    if (names != 0 || x_len != y_len) {
        return names != 0 ? names : x_len < y_len ? -1 : 1;
    }
    return (int)y->pattern.is_start - (int)x->pattern.is_start;
}

/* Does the pattern a match every name that the pattern b matches? */
static bool covers(const struct unseen__pattern *a, const struct unseen__pattern *b)
{
    const bool begins = a->len <= b->len && (a->len == 0 || memcmp(a->text, b->text, a->len) == 0);
    return begins && (a->is_start || (a->len == b->len && !b->is_start));
}

/* Drops entries that another entry of the same host covers. A pattern that covers others stands in
 * front of them, and patterns that nothing covers are not between them. */
static void drop_covered(struct reading *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        const struct entry *last = n > 0 ? &r->entries[n - 1] : NULL;
        const struct entry *entry = &r->entries[i];
        const bool same_host =
            last && compare_hosts(last->host, last->host_len, entry->host, entry->host_len) == 0;
        if (!same_host || !covers(&last->pattern, &entry->pattern)) {
            r->entries[n++] = *entry;
        }
    }
    r->n = n;
}

/* ---- Spelling ---------------------------------------------------------------------------------*/

static bool is_plain(char c)
{
    return is_ascii_alnum(c) || (c && strchr("_.-~[]$!@;", c));
}

static char *write_pattern(char *out, const struct unseen__pattern *pattern)
{
    for (size_t i = 0; i < pattern->len; i++) {
        if (is_plain(pattern->text[i])) {
            *out++ = pattern->text[i];
        } else {
            out = unseen__percent_write(out, (unsigned char)pattern->text[i]);
        }
    }
    if (pattern->is_start) {
        *out++ = '*';
    }
    return out;
}

/* Returns false if the list is longer than UNSEEN_URL_ID_MAX. */
static bool write_list(const struct reading *r, char text_out[UNSEEN_URL_ID_MAX + 1])
{
    char *out = text_out;
    for (size_t i = 0; i < r->n; i++) {
        const struct entry *entry = &r->entries[i];
        const size_t need = entry->host_len + 3 * entry->pattern.len + 4;
        if (need > (size_t)(text_out + UNSEEN_URL_ID_MAX - out)) {
            return false;
        }
        if (i > 0) {
            *out++ = ',';
        }
        if (entry->host_len > 0) {
            memcpy(out, entry->host, entry->host_len);
            out += entry->host_len;
            *out++ = ':';
        }
        out = write_pattern(out, &entry->pattern);
    }
    *out = '\0';
    return true;
}

/* ---- The object -------------------------------------------------------------------------------*/

/* Finds the site of host[0..len), exactly. */
static const struct unseen__param_site *find_site(const struct unseen__params *params,
                                                  const char *host, size_t len)
{
    size_t low = 0;
    size_t high = params->nsites;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct unseen__param_site *site = &params->sites[middle];
        const int order = compare_hosts(site->host, site->len, host, len);
        if (order == 0) {
            return site;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

/* The lowest site that host is or is below. Suffixes that are longer than every site are left out,
 * so a long host costs no more than the sites' texts. */
static const struct unseen__param_site *find_above(const struct unseen__params *params,
                                                   const char *host, size_t len)
{
    const size_t longest = params->nsites ? params->sites[params->nsites - 1].len : 0;
    for (size_t start = len > longest ? len - longest : 0; start < len; start++) {
        if (start == 0 || host[start - 1] == '.') {
            const struct unseen__param_site *site = find_site(params, host + start, len - start);
            if (site) {
                return site;
            }
        }
    }
    return NULL;
}

/* Makes the sites and lists of patterns from sorted entries. patterns has room for all. */
static void make_sites(struct unseen__params *params, const struct reading *r,
                       struct unseen__pattern *patterns)
{
    for (size_t i = 0; i < r->n;) {
        const struct entry *first = &r->entries[i];
        const size_t start = i;
        while (i < r->n && compare_hosts(first->host, first->host_len, r->entries[i].host,
                                         r->entries[i].host_len) == 0) {
            patterns[i] = r->entries[i].pattern;
            i++;
        }
        struct unseen__patterns *list = &params->everywhere;
        if (first->host_len > 0) {
            struct unseen__param_site *site = &params->sites[params->nsites++];
            site->host = first->host;
            site->len = first->host_len;
            list = &site->patterns;
        } else {
            params->has_everywhere = true;
        }
        unseen__patterns_init(list, patterns + start, i - start, false);
    }
    for (size_t i = 0; i < params->nsites; i++) {
        struct unseen__param_site *site = &params->sites[i];
        const char *dot = memchr(site->host, '.', site->len);
        const size_t skip = dot ? (size_t)(dot + 1 - site->host) : site->len;
        site->above = find_above(params, site->host + skip, site->len - skip);
    }
}

static size_t count_char(const char *text, char c)
{
    size_t n = 0;
    for (; (text = strchr(text, c)); text++) {
        n++;
    }
    return n;
}

/* Reads the list into r, sorts it and makes its spelling. */
static enum unseen_status read_all(struct reading *r, const char *list,
                                   char text_out[UNSEEN_URL_ID_MAX + 1])
{
    const enum unseen_status status = read_list(r, list);
    if (status != UNSEEN_OK) {
        return status;
    }
    heap_sort(r->entries, r->n, sizeof(*r->entries), compare_entries);
    drop_covered(r);
    return write_list(r, text_out)
               ? UNSEEN_OK
               : unseen__error_setting(r->error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_RULES,
                                       "the patterns of %s make a text of more than %d bytes",
                                       r->rule, UNSEEN_URL_ID_MAX);
}

enum unseen_status unseen__params_create(struct unseen__params **params_out, const char *rule,
                                         const char *list, const struct unseen_allocator *allocator,
                                         char text_out[UNSEEN_URL_ID_MAX + 1],
                                         struct unseen_error *error)
{
    const size_t len = strlen(list);
    const size_t npatterns = count_char(list, ',') + 1;
    const size_t nsites = count_char(list, ':');
    const size_t text_nbytes = 2 * len + UNSEEN_URL_ID_MAX;
    const size_t entries_nbytes = npatterns * sizeof(struct entry);
    const size_t work_nbytes = entries_nbytes + len + 8 + unseen_url_bound(len + 8, 0);
    const size_t nbytes = sizeof(struct unseen__params) +
                          nsites * sizeof(struct unseen__param_site) +
                          npatterns * sizeof(struct unseen__pattern) + text_nbytes;
    struct reading r = {.rule = rule, .error = error, .hosts_end = text_nbytes - len};
    struct unseen__params *params = unseen__alloc_zero(allocator, nbytes, _Alignof(max_align_t));
    char *work = unseen__alloc(allocator, work_nbytes, _Alignof(max_align_t));
    enum unseen_status status = UNSEEN_ERR_NOMEM;
    if (params && work) {
        params->nbytes = nbytes;
        params->sites = (struct unseen__param_site *)(params + 1);
        struct unseen__pattern *patterns = (struct unseen__pattern *)(params->sites + nsites);
        r.text = (char *)(patterns + npatterns);
        r.entries = (struct entry *)(void *)work;
        r.buf = work + entries_nbytes;
        status = read_all(&r, list, text_out);
        if (status == UNSEEN_OK) {
            make_sites(params, &r, patterns);
        }
    } else {
        (void)unseen__error_plain(error, status);
    }
    unseen__free(allocator, work, work_nbytes);
    if (status != UNSEEN_OK) {
        unseen__free(allocator, params, nbytes);
        return status;
    }
    *params_out = params;
    return UNSEEN_OK;
}

void unseen__params_free(struct unseen__params *params, const struct unseen_allocator *allocator)
{
    if (params) {
        unseen__free(allocator, params, params->nbytes);
    }
}

/* ---- Asking -----------------------------------------------------------------------------------*/

const struct unseen__param_site *unseen__params_site(const struct unseen__params *params,
                                                     const char *host, size_t len)
{
    if (params->nsites == 0) {
        return NULL;
    }
    len -= len > 0 && host[len - 1] == '.';
    return find_above(params, host, len);
}

bool unseen__params_match(const struct unseen__params *params,
                          const struct unseen__param_site *site, const char *name, size_t len)
{
    if (params->has_everywhere && unseen__patterns_find(&params->everywhere, name, len)) {
        return true;
    }
    for (; site; site = site->above) {
        if (unseen__patterns_find(&site->patterns, name, len)) {
            return true;
        }
    }
    return false;
}

/* ---- Contradictions ---------------------------------------------------------------------------*/

static bool list_covers(const struct unseen__patterns *list, const struct unseen__pattern *pattern)
{
    const size_t n = list->matches_all ? 1 : list->start[256];
    for (size_t i = 0; i < n; i++) {
        if (covers(&list->at[i], pattern)) {
            return true;
        }
    }
    return false;
}

/* The first pattern of the list that `dropped` covers on the host; NULL if there is none. */
static const struct unseen__pattern *find_covered(const struct unseen__params *dropped,
                                                  const char *host, size_t len,
                                                  const struct unseen__patterns *list)
{
    const size_t n = list->matches_all ? 1 : list->start[256];
    for (size_t i = 0; i < n; i++) {
        bool covered = dropped->has_everywhere && list_covers(&dropped->everywhere, &list->at[i]);
        const struct unseen__param_site *site = find_above(dropped, host, len);
        for (; site && !covered; site = site->above) {
            covered = list_covers(&site->patterns, &list->at[i]);
        }
        if (covered) {
            return &list->at[i];
        }
    }
    return NULL;
}

bool unseen__params_contradict(const struct unseen__params *dropped,
                               const struct unseen__params *kept,
                               char text_out[UNSEEN_URL_ID_MAX + 1])
{
    const struct unseen__pattern *found =
        kept->has_everywhere ? find_covered(dropped, "", 0, &kept->everywhere) : NULL;
    for (size_t i = 0; !found && i < kept->nsites; i++) {
        const struct unseen__param_site *site = &kept->sites[i];
        found = find_covered(dropped, site->host, site->len, &site->patterns);
    }
    if (found) {
        *write_pattern(text_out, found) = '\0';
    }
    return found != NULL;
}
