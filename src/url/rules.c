/* SPDX-License-Identifier: MIT
 *
 * The rules that go beyond the WHATWG standard: guesses, each of them often right, that two URLs
 * are the same page. They work on a URL that is canonical already, and only on http, https, ws, wss
 * and ftp. The rules of a path are in rules_path.c, those of a query in rules_query.c.
 *
 * Each rule rewrites its part in place and never makes it longer. No rule undoes the work of an
 * earlier rule or makes new work for it, so applying all rules twice gives the same as once.
 * Comments mark the special cases that this needs. */
#include "url/rules.h"

#include <string.h>

/* ---- Scheme and host --------------------------------------------------------------------------*/

/* Only if no port is written: with a port, http and https cannot be the same server. */
static void fold_scheme(struct unseen__url_record *url)
{
    if (url->scheme == UNSEEN__SCHEME_HTTPS && url->authority_end == url->host_end) {
        memmove(url->text + 4, url->text + 5, url->len - 5);
        url->len--;
        url->scheme = UNSEEN__SCHEME_HTTP;
        url->scheme_end--;
        url->host_start--;
        url->host_end--;
        url->authority_end--;
        url->path_start--;
        url->path_end--;
        url->query_end--;
    }
}

/* Two dots at the end stay: without them the name could be another host, such as an IPv4
 * address. */
static size_t strip_dot(const struct unseen__rule_context *context, char *s, size_t len)
{
    (void)context;
    return len > 1 && s[len - 1] == '.' && s[len - 2] != '.' ? len - 1 : len;
}

/* The length of "www", digits and a dot in front of a name that still has a dot inside; else 0. */
static size_t www_len(const char *host, size_t len)
{
    if (len < 3 || memcmp(host, "www", 3) != 0) {
        return 0;
    }
    size_t i = 3;
    while (i < len && is_ascii_digit(host[i])) {
        i++;
    }
    if (i + 2 >= len || host[i] != '.' || host[i + 1] == '.') {
        return 0;
    }
    i++;
    return memchr(host + i, '.', len - i - 1) ? i : 0;
}

size_t unseen__www_len(const char *host, size_t len)
{
    size_t start = 0;
    for (size_t n; (n = www_len(host + start, len - start)) > 0;) {
        start += n;
    }
    return start;
}

static size_t strip_www(const struct unseen__rule_context *context, char *s, size_t len)
{
    (void)context;
    const size_t start = unseen__www_len(s, len);
    if (start > 0) {
        memmove(s, s + start, len - start);
    }
    return len - start;
}

static size_t drop_userinfo(const struct unseen__rule_context *context, char *s, size_t len)
{
    (void)context;
    (void)s;
    (void)len;
    return 0;
}

/* ---- The order --------------------------------------------------------------------------------*/

/* A rule rewrites its part by `fn`, or it says by `drop` which pieces of a query go. */
struct part_rule {
    uint32_t rule;
    const char *name;
    unseen__part_fn *fn;
    unseen__drop_fn *drop;
};

static const struct part_rule userinfo_rules[] = {
    {UNSEEN__RULE_DROP_USERINFO, "drop-userinfo", drop_userinfo, NULL},
};
static const struct part_rule host_rules[] = {
    {UNSEEN__RULE_STRIP_DOT, "strip-dot", strip_dot, NULL},
    {UNSEEN__RULE_STRIP_WWW, "strip-www", strip_www, NULL},
};
static const struct part_rule path_rules[] = {
    {UNSEEN__RULE_UPPER_ESCAPES, "upper-escapes", unseen__upper_escapes, NULL},
    {UNSEEN__RULE_DECODE_UNRESERVED, "decode-unreserved", unseen__decode_unreserved, NULL},
    {UNSEEN__RULE_DECODE_RESERVED, "decode-reserved", unseen__decode_reserved, NULL},
    {UNSEEN__RULE_STRIP_SESSIONS, "strip-sessions", unseen__strip_path_sessions, NULL},
    {UNSEEN__RULE_COLLAPSE_SLASHES, "collapse-slashes", unseen__collapse_slashes, NULL},
};
#define RULES_OF_PATH                                                                              \
    ((uint32_t)(UNSEEN__RULE_UPPER_ESCAPES | UNSEEN__RULE_DECODE_UNRESERVED |                      \
                UNSEEN__RULE_DECODE_RESERVED | UNSEEN__RULE_STRIP_SESSIONS |                       \
                UNSEEN__RULE_COLLAPSE_SLASHES))

/* Each of these can uncover work for the others. */
static const struct part_rule path_end_rules[] = {
    {UNSEEN__RULE_STRIP_INDEX, "strip-index", unseen__strip_index, NULL},
    {UNSEEN__RULE_STRIP_SLASH, "strip-slash", unseen__strip_slash, NULL},
};
static const struct part_rule query_escape_rules[] = {
    {UNSEEN__RULE_UPPER_ESCAPES, "upper-escapes", unseen__upper_escapes, NULL},
    {UNSEEN__RULE_DECODE_UNRESERVED, "decode-unreserved", unseen__decode_unreserved, NULL},
};
static const struct part_rule query_rules[] = {
    {UNSEEN__RULE_UNESCAPE_AMP, "unescape-amp", unseen__unescape_amp, NULL},
    {UNSEEN__RULE_STRIP_QUERY, "strip-query", NULL, unseen__drops_any},
    {UNSEEN__RULE_DROP_PARAMS, "drop-params", NULL, unseen__drops_param},
    {UNSEEN__RULE_ONLY_PARAMS, "only-params", NULL, unseen__drops_other_param},
    {UNSEEN__RULE_STRIP_SESSIONS, "strip-sessions", NULL, unseen__drops_session},
    {UNSEEN__RULE_STRIP_TRACKERS, "strip-trackers", NULL, unseen__drops_tracker},
    {UNSEEN__RULE_NAMES_ONLY, "names-only", unseen__names_only, NULL},
    {UNSEEN__RULE_SORT_QUERY, "sort-query", unseen__sort_query, NULL},
    {UNSEEN__RULE_DROP_EMPTY_QUERY, "drop-empty-query", unseen__drop_empty_query, NULL},
};

static bool is_on(const struct unseen__rule_context *context, const struct part_rule *rule)
{
    return (context->url->rules & rule->rule) != 0;
}

/* Applies the rules from rules[*i] on that drop pieces, in one pass, and moves *i behind them. With
 * a trace each of them is a pass of its own, so that its name stands beside what it did. */
static size_t apply_drops(const struct unseen__rule_context *context, const struct part_rule *rules,
                          size_t nrules, size_t *i, char *s, size_t len)
{
    unseen__drop_fn *drops[UNSEEN__DROPS_MAX];
    size_t ndrops = 0;
    const size_t max = context->trace ? 1 : UNSEEN__DROPS_MAX;
    for (; *i < nrules && rules[*i].drop && ndrops < max; ++*i) {
        if (is_on(context, &rules[*i])) {
            drops[ndrops++] = rules[*i].drop;
        }
    }
    return unseen__filter_query(context, drops, ndrops, s, len);
}

/* Applies the rule rules[*i], which is on, and perhaps some behind it; moves *i behind them. */
static size_t apply_next(const struct unseen__rule_context *context, const struct part_rule *rules,
                         size_t nrules, size_t *i, char *s, size_t len)
{
    if (rules[*i].drop) {
        return apply_drops(context, rules, nrules, i, s, len);
    }
    return rules[(*i)++].fn(context, s, len);
}

static size_t apply_traced(const struct unseen__rule_context *context,
                           const struct part_rule *rules, size_t nrules, size_t *i, char *s,
                           size_t len)
{
    const char *const before = memcpy(context->scratch, s, len);
    struct unseen__rule_context moved = *context;
    moved.scratch += len;
    const size_t new_len = apply_next(&moved, rules, nrules, i, s, len);
    unseen__url_note(context->trace, rules[*i - 1].name, before, len, s, new_len);
    return new_len;
}

/* Applies the rules that are on to the part s[0..len); returns its new length. */
static size_t apply(const struct unseen__rule_context *context, const struct part_rule *rules,
                    size_t nrules, char *s, size_t len)
{
    for (size_t i = 0; i < nrules && len > 0;) {
        if (!is_on(context, &rules[i])) {
            i++;
        } else if (context->trace) {
            len = apply_traced(context, rules, nrules, &i, s, len);
        } else {
            len = apply_next(context, rules, nrules, &i, s, len);
        }
    }
    return len;
}

#define APPLY(context, rules, s, len)                                                              \
    apply((context), (rules), sizeof(rules) / sizeof((rules)[0]), (s), (len))

#define IS_INNER(c) ((c) == '%' || (c) == ';' || (c) == '(' ? 1 : (c) == '/' ? 2 : 0)

/* True if no rule for the inside of a path has anything to do: there is no escape, no parameter of
 * a segment, no parenthesis and no slash behind a slash. */
static bool is_plain_path(const char *s, size_t len)
{
    static const uint8_t classes[256] = {ASCII_TABLE(IS_INNER)};
    unsigned found = 0;
    unsigned last = 0;
    for (size_t i = 0; i < len; i++) {
        const unsigned class = classes[(unsigned char)s[i]];
        found |= class | (class & last) << 1;
        last = class;
    }
    return (found & ~2u) == 0;
}

static size_t cut_path_end(const struct unseen__rule_context *context, char *s, size_t len)
{
    for (size_t before = len + 1; before != len;) {
        before = len;
        len = APPLY(context, path_end_rules, s, len);
    }
    return len;
}

/* Notes each rule once, however often the two take turns: the first one's first cut, and as the
 * second one's all that follows. The rules only cut, so what they cut off still stands in s. */
static size_t cut_path_end_traced(const struct unseen__rule_context *context, char *s, size_t len)
{
    const size_t nrules = sizeof(path_end_rules) / sizeof(path_end_rules[0]);
    struct unseen__rule_context untraced = *context;
    untraced.trace = NULL;
    const size_t end = cut_path_end(&untraced, s, len);
    bool is_second = false;
    for (size_t i = 0; len > end; i = (i + 1) % nrules) {
        const struct part_rule *const rule = &path_end_rules[i];
        size_t cut = is_on(context, rule) ? rule->fn(&untraced, s, len) : len;
        if (cut < len) {
            cut = is_second ? end : cut;
            unseen__url_note(context->trace, rule->name, s, len, s, cut);
            len = cut;
            is_second = true;
        }
    }
    return len;
}

static size_t apply_path_rules(const struct unseen__rule_context *context, char *s, size_t len)
{
    if ((context->url->rules & RULES_OF_PATH) && !is_plain_path(s, len)) {
        len = APPLY(context, path_rules, s, len);
    }
    return context->trace ? cut_path_end_traced(context, s, len) : cut_path_end(context, s, len);
}

static size_t apply_query_rules(const struct unseen__rule_context *context, char *s, size_t len)
{
    if (len > 0 && memchr(s, '%', len)) {
        len = APPLY(context, query_escape_rules, s, len);
    }
    return APPLY(context, query_rules, s, len);
}

static size_t move_to(char *out, const char *s, size_t len)
{
    if (out != s) {
        memmove(out, s, len);
    }
    return len;
}

static void fold_traced(struct unseen__url_record *url, const struct unseen__url_trace *trace)
{
    const bool https = url->scheme == UNSEEN__SCHEME_HTTPS;
    fold_scheme(url);
    if (https) {
        unseen__url_note(trace, "fold-scheme", "https", 5, url->text, url->scheme_end - 1);
    }
}

/* The sites of the patterns are looked for before a rule changes the host. So the canonical form
 * may have fewer sites than the URL. It has lost what they drop, and profiles.c sees to it that
 * only-params has no site that is only in the URL. */
static void find_sites(struct unseen__rule_context *context,
                       const struct unseen__url_record *record)
{
    const struct unseen_url *url = context->url;
    const char *const host = record->text + record->host_start;
    const size_t len = record->host_end - record->host_start;
    if (url->drop_params) {
        context->drop_site = unseen__params_site(url->drop_params, host, len);
    }
    if (url->only_params) {
        context->only_site = unseen__params_site(url->only_params, host, len);
    }
}

void unseen__url_apply_rules(struct unseen__url_record *record, const struct unseen_url *url,
                             char *scratch, const struct unseen__url_trace *trace)
{
    if (!(url->rules & UNSEEN__RULES_BEYOND) || record->scheme == UNSEEN__SCHEME_OTHER ||
        record->scheme == UNSEEN__SCHEME_FILE) {
        return;
    }
    if (url->rules & UNSEEN__RULE_FOLD_SCHEME) {
        fold_traced(record, trace);
    }
    struct unseen__rule_context context = {.url = url, .scratch = scratch, .trace = trace};
    find_sites(&context, record);
    char *const text = record->text;
    const size_t user_start = record->scheme_end + 2;
    size_t n = user_start;
    n += APPLY(&context, userinfo_rules, text + n, record->host_start - user_start);
    size_t len = APPLY(&context, host_rules, text + record->host_start,
                       record->host_end - record->host_start);
    n += move_to(text + n, text + record->host_start, len);
    n += move_to(text + n, text + record->host_end, record->authority_end - record->host_end);
    len = apply_path_rules(&context, text + record->path_start,
                           record->path_end - record->path_start);
    n += move_to(text + n, text + record->path_start, len);
    len =
        apply_query_rules(&context, text + record->path_end, record->query_end - record->path_end);
    n += move_to(text + n, text + record->path_end, len);
    n += move_to(text + n, text + record->query_end, record->len - record->query_end);
    record->len = n;
}
