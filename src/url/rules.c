/* SPDX-License-Identifier: MIT
 *
 * The rules that go beyond the WHATWG standard: guesses, each of them often right, that two URLs
 * are the same page. They work on a URL that is canonical already, and only on http, https, ws, wss
 * and ftp. No rule lower-cases anything in a path.
 *
 * Each rule rewrites its part in place and never makes it longer. No rule undoes the work of an
 * earlier rule or makes new work for it, so applying all rules twice gives the same as once.
 * Comments mark the special cases that this needs. */
#include <string.h>

#include "url/ascii.h"
#include "url/patterns.h"
#include "url/percent.h"
#include "url/whatwg.h"

/* Rewrites s[0..len) and returns the new length. */
typedef size_t part_fn(char *s, size_t len);

static bool is_unreserved(int c)
{
    return c >= 0 && (is_ascii_alnum((char)c) || c == '-' || c == '.' || c == '_' || c == '~');
}

/* Does s start with the lower-case prefix, in any case? */
static bool has_prefix(const char *s, size_t len, const char *prefix)
{
    for (size_t i = 0; prefix[i]; i++) {
        if (i == len || ascii_lower(s[i]) != prefix[i]) {
            return false;
        }
    }
    return true;
}

/* ---- Escapes ----------------------------------------------------------------------------------*/

static size_t upper_escapes(char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const int value = unseen__percent_value(s + i, s + len);
        if (value >= 0) {
            unseen__percent_write(s + i, (unsigned char)value);
            i += 2;
        }
    }
    return len;
}

/* Would c, written after out[0..n), complete an escape that the input does not have, as the 1 does
 * in "%4%31"? Such a byte stays escaped. */
static bool completes_escape(const char *out, size_t n, char c)
{
    if (unseen__hex_value(c) < 0) {
        return false;
    }
    return (n >= 1 && out[n - 1] == '%') ||
           (n >= 2 && out[n - 2] == '%' && unseen__hex_value(out[n - 1]) >= 0);
}

static size_t decode_unreserved(char *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len;) {
        const int value = unseen__percent_value(s + i, s + len);
        if (is_unreserved(value) && !completes_escape(s, n, (char)value)) {
            s[n++] = (char)value;
            i += 3;
        } else {
            const size_t step = value < 0 ? 1 : 3;
            memmove(s + n, s + i, step);
            n += step;
            i += step;
        }
    }
    return n;
}

/* ---- Path -------------------------------------------------------------------------------------*/

static size_t collapse_slashes(char *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (s[i] != '/' || n == 0 || s[n - 1] != '/') {
            s[n++] = s[i];
        }
    }
    return n;
}

/* Is the segment that ends at s[n) . or .. in some spelling? Cutting a parameter off such a segment
 * would turn it into a step through the tree. */
static bool ends_in_dots(const char *s, size_t n)
{
    size_t ndots = 0;
    while (n > 0 && s[n - 1] != '/' && ndots < 3) {
        const bool escaped = n >= 3 && unseen__percent_value(s + n - 3, s + n) == '.';
        if (!escaped && s[n - 1] != '.') {
            return false;
        }
        n -= escaped ? 3 : 1;
        ndots++;
    }
    return ndots == 1 || ndots == 2;
}

/* Drops ;jsessionid=... up to the end of its segment or the next parameter. */
static size_t strip_path_sessions(char *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len;) {
        if (s[i] == ';' && has_prefix(s + i, len - i, ";jsessionid=") && !ends_in_dots(s, n)) {
            i++;
            while (i < len && s[i] != ';' && s[i] != '/') {
                i++;
            }
        } else {
            s[n++] = s[i++];
        }
    }
    return n;
}

/* Drops a last segment index.* or default.*, with an ending of 1 to 4 letters and digits. */
static size_t strip_index(char *s, size_t len)
{
    size_t start = len;
    while (start > 0 && s[start - 1] != '/') {
        start--;
    }
    const char *const name = s + start;
    const size_t name_len = len - start;
    const size_t stem = has_prefix(name, name_len, "index.")     ? 6
                        : has_prefix(name, name_len, "default.") ? 8
                                                                 : 0;
    if (stem == 0 || name_len == stem || name_len > stem + 4) {
        return len;
    }
    for (size_t i = stem; i < name_len; i++) {
        if (!is_ascii_alnum(name[i])) {
            return len;
        }
    }
    return start;
}

static size_t strip_slash(char *s, size_t len)
{
    while (len > 1 && s[len - 1] == '/') {
        len--;
    }
    return len;
}

/* ---- Query ------------------------------------------------------------------------------------*/

/* Drops the pieces between & of the query s[0..len), which starts with its ?, for which `drop`
 * returns true. If no piece remains, the ? goes, too. */
static size_t filter_query(char *s, size_t len, bool (*drop)(const char *piece, size_t len))
{
    size_t n = 0;
    for (size_t i = 0; i < len;) {
        const char *const piece = s + i + 1;
        const char *amp = memchr(piece, '&', len - i - 1);
        const size_t piece_len = amp ? (size_t)(amp - piece) : len - i - 1;
        i += 1 + piece_len;
        if (!drop(piece, piece_len)) {
            const char separator = n == 0 ? '?' : '&';
            memmove(s + n + 1, piece, piece_len);
            s[n] = separator;
            n += 1 + piece_len;
        }
    }
    return n;
}

static size_t name_len(const char *piece, size_t len)
{
    const char *equals = memchr(piece, '=', len);
    return equals ? (size_t)(equals - piece) : len;
}

struct name {
    const char *text;
    size_t len;
};
#define NAME(text)                                                                                 \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }

/* Version 1 of strip-trackers compares names with case. */
static bool is_tracker_1(const char *piece, size_t len)
{
    static const struct name names[] = {
        NAME("gclid"), NAME("dclid"),  NAME("gbraid"), NAME("wbraid"), NAME("fbclid"),
        NAME("yclid"), NAME("mc_cid"), NAME("mc_eid"), NAME("_ga"),    NAME("msclkid"),
        NAME("_hsmi"), NAME("_hsenc"), NAME("igshid"),
    };
    len = name_len(piece, len);
    if (len > 4 && memcmp(piece, "utm_", 4) == 0) {
        return true;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].len == len && memcmp(names[i].text, piece, len) == 0) {
            return true;
        }
    }
    return false;
}

static size_t strip_trackers_1(char *s, size_t len)
{
    return filter_query(s, len, is_tracker_1);
}

/* Version 2 has more names, and compares them without case and percent-decoded. Of the families
 * pk_ and itm_ only the names are here that Matomo and its like set: pk_id may say which page. */
static bool is_tracker_2(const char *piece, size_t len)
{
#define START(text)                                                                                \
    {                                                                                              \
        (text), sizeof(text) - 1, true                                                             \
    }
#define EXACT(text)                                                                                \
    {                                                                                              \
        (text), sizeof(text) - 1, false                                                            \
    }
    static const struct unseen__pattern names[] = {EXACT("_branch_match_id"),
                                                   EXACT("_ga"),
                                                   EXACT("_gl"),
                                                   EXACT("_hsenc"),
                                                   EXACT("_hsmi"),
                                                   EXACT("_kx"),
                                                   EXACT("dclid"),
                                                   EXACT("epik"),
                                                   EXACT("fbclid"),
                                                   EXACT("gad_campaignid"),
                                                   EXACT("gad_source"),
                                                   EXACT("gbraid"),
                                                   EXACT("gclid"),
                                                   EXACT("gclsrc"),
                                                   EXACT("hsctatracking"),
                                                   EXACT("igsh"),
                                                   EXACT("igshid"),
                                                   EXACT("itm_campaign"),
                                                   EXACT("itm_content"),
                                                   EXACT("itm_medium"),
                                                   EXACT("itm_source"),
                                                   EXACT("itm_term"),
                                                   EXACT("li_fat_id"),
                                                   EXACT("mc_cid"),
                                                   EXACT("mc_eid"),
                                                   EXACT("mkt_tok"),
                                                   EXACT("msclkid"),
                                                   START("mtm_"),
                                                   EXACT("oly_enc_id"),
                                                   EXACT("pk_campaign"),
                                                   EXACT("pk_cid"),
                                                   EXACT("pk_content"),
                                                   EXACT("pk_keyword"),
                                                   EXACT("pk_kwd"),
                                                   EXACT("pk_medium"),
                                                   EXACT("pk_source"),
                                                   EXACT("s_cid"),
                                                   EXACT("srsltid"),
                                                   EXACT("ttclid"),
                                                   EXACT("twclid"),
                                                   START("utm_"),
                                                   EXACT("vero_id"),
                                                   EXACT("wbraid"),
                                                   EXACT("yclid"),
                                                   EXACT("ysclid")};
    static const struct unseen__patterns trackers = {
        .at = names,
        .n = sizeof(names) / sizeof(names[0]),
        .first = UNSEEN__PATTERN_BIT('_') | UNSEEN__PATTERN_BIT('d') | UNSEEN__PATTERN_BIT('e') |
                 UNSEEN__PATTERN_BIT('f') | UNSEEN__PATTERN_BIT('g') | UNSEEN__PATTERN_BIT('h') |
                 UNSEEN__PATTERN_BIT('i') | UNSEEN__PATTERN_BIT('l') | UNSEEN__PATTERN_BIT('m') |
                 UNSEEN__PATTERN_BIT('o') | UNSEEN__PATTERN_BIT('p') | UNSEEN__PATTERN_BIT('s') |
                 UNSEEN__PATTERN_BIT('t') | UNSEEN__PATTERN_BIT('u') | UNSEEN__PATTERN_BIT('v') |
                 UNSEEN__PATTERN_BIT('w') | UNSEEN__PATTERN_BIT('y'),
        .folds = true,
    };
#undef START
#undef EXACT
    return unseen__patterns_match(&trackers, piece, name_len(piece, len));
}

static size_t strip_trackers_2(char *s, size_t len)
{
    return filter_query(s, len, is_tracker_2);
}

static bool all_alnum(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (!is_ascii_alnum(s[i])) {
            return false;
        }
    }
    return true;
}

/* jsessionid, phpsessid and sid with 32 letters and digits, aspsessionid and 8 more with 24, and
 * ColdFusion's pair with any. */
static bool is_session(const char *piece, size_t len)
{
    static const struct {
        struct name name;
        size_t nmore;
        size_t value_len; /* 0: any */
    } sessions[] = {
        {NAME("jsessionid"), 0, 32},   {NAME("phpsessid"), 0, 32}, {NAME("sid"), 0, 32},
        {NAME("aspsessionid"), 8, 24}, {NAME("cfid"), 0, 0},       {NAME("cftoken"), 0, 0},
    };
    const size_t n = name_len(piece, len);
    const char *const value = piece + n + 1;
    for (size_t i = 0; i < sizeof(sessions) / sizeof(sessions[0]); i++) {
        if (n < len && n == sessions[i].name.len + sessions[i].nmore &&
            has_prefix(piece, n, sessions[i].name.text) && all_alnum(piece, n)) {
            const size_t value_len = len - n - 1;
            return sessions[i].value_len == 0 ||
                   (value_len == sessions[i].value_len && all_alnum(value, value_len));
        }
    }
    return false;
}

static size_t strip_query_sessions(char *s, size_t len)
{
    return filter_query(s, len, is_session);
}

static size_t drop_empty_query(char *s, size_t len)
{
    (void)s;
    return len == 1 ? 0 : len;
}

/* The length of the piece at s, which ends at an & or at end. */
static size_t piece_len(const char *s, const char *end)
{
    const char *amp = memchr(s, '&', (size_t)(end - s));
    return (size_t)((amp ? amp : end) - s);
}

/* Does the piece b come before the piece a? Stops at the first difference, so a merge takes time
 * linear in the bytes that it moves. */
static bool comes_before(const char *b, const char *a, const char *end)
{
    for (;; a++, b++) {
        const bool a_ends = a == end || *a == '&';
        const bool b_ends = b == end || *b == '&';
        if (a_ends || b_ends || *a != *b) {
            return !a_ends && (b_ends || (unsigned char)*b < (unsigned char)*a);
        }
    }
}

/* Merges the sorted runs of starts [0, middle) and [middle, n) of pieces of text into out. */
static void merge_pieces(const char *text, const char *end, const uint32_t *starts, size_t middle,
                         size_t n, uint32_t *out)
{
    size_t i = 0;
    size_t j = middle;
    for (size_t k = 0; k < n; k++) {
        const bool second =
            j < n && (i == middle || comes_before(text + starts[j], text + starts[i], end));
        out[k] = starts[second ? j++ : i++];
    }
}

/* Merge sort from runs of one piece up: n log n on any input. Returns the sorted starts, which are
 * in starts or in spare. */
static const uint32_t *sort_pieces(const char *text, const char *end, uint32_t *starts,
                                   uint32_t *spare, size_t n)
{
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t i = 0; i < n; i += 2 * run) {
            const size_t left = n - i;
            merge_pieces(text, end, starts + i, left < run ? left : run,
                         left < 2 * run ? left : 2 * run, spare + i);
        }
        uint32_t *const sorted = spare;
        spare = starts;
        starts = sorted;
    }
    return starts;
}

/* The first address behind at that suits an array of uint32_t. */
static uint32_t *align_starts(char *at)
{
    return (uint32_t *)(void *)(at + (sizeof(uint32_t) - (uintptr_t)at % sizeof(uint32_t)));
}

/* Sorts the pieces as bytes and drops empty pieces. Offsets are 32 bits wide, so a query of 4 GiB
 * and more stays as it is. scratch gets a copy of the text, the start of each piece, and room for
 * all starts again. */
static size_t sort_query(char *s, size_t len, char *scratch)
{
    if (len > UINT32_MAX) {
        return len;
    }
    const char *const text = scratch;
    const char *const end = scratch + len - 1;
    uint32_t *const starts = align_starts(scratch + len);
    memcpy(scratch, s + 1, len - 1);
    size_t npieces = 0;
    bool sorted = true;
    for (size_t i = 0; i < len - 1; i++) {
        if (text[i] != '&' && (i == 0 || text[i - 1] == '&')) {
            sorted = sorted &&
                     (npieces == 0 || !comes_before(text + i, text + starts[npieces - 1], end));
            starts[npieces++] = (uint32_t)i;
        }
    }
    const uint32_t *const order =
        sorted ? starts : sort_pieces(text, end, starts, starts + npieces, npieces);
    size_t n = 1;
    for (size_t i = 0; i < npieces; i++) {
        if (i > 0) {
            s[n++] = '&';
        }
        const char *const piece = text + order[i];
        const size_t piece_nbytes = piece_len(piece, end);
        memcpy(s + n, piece, piece_nbytes);
        n += piece_nbytes;
    }
    return n;
}

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

static size_t strip_www(char *s, size_t len)
{
    size_t start = 0;
    for (size_t n; (n = www_len(s + start, len - start)) > 0;) {
        start += n;
    }
    memmove(s, s + start, len - start);
    return len - start;
}

static size_t drop_userinfo(char *s, size_t len)
{
    (void)s;
    (void)len;
    return 0;
}

/* ---- All of them ------------------------------------------------------------------------------*/

struct part_rule {
    uint32_t rule;
    const char *name;
    part_fn *fn; /* NULL: sort_query, which alone needs the scratch */
};

static const struct part_rule userinfo_rules[] = {
    {UNSEEN__RULE_DROP_USERINFO, "drop-userinfo", drop_userinfo},
};
static const struct part_rule host_rules[] = {
    {UNSEEN__RULE_STRIP_WWW, "strip-www", strip_www},
};
static const struct part_rule path_rules[] = {
    {UNSEEN__RULE_UPPER_ESCAPES, "upper-escapes", upper_escapes},
    {UNSEEN__RULE_DECODE_UNRESERVED, "decode-unreserved", decode_unreserved},
    {UNSEEN__RULE_STRIP_SESSIONS, "strip-sessions", strip_path_sessions},
    {UNSEEN__RULE_COLLAPSE_SLASHES, "collapse-slashes", collapse_slashes},
};
/* Each of these two can uncover work for the other. */
static const struct part_rule path_end_rules[] = {
    {UNSEEN__RULE_STRIP_INDEX, "strip-index", strip_index},
    {UNSEEN__RULE_STRIP_SLASH, "strip-slash", strip_slash},
};
static const struct part_rule query_rules[] = {
    {UNSEEN__RULE_UPPER_ESCAPES, "upper-escapes", upper_escapes},
    {UNSEEN__RULE_DECODE_UNRESERVED, "decode-unreserved", decode_unreserved},
    {UNSEEN__RULE_STRIP_SESSIONS, "strip-sessions", strip_query_sessions},
    {UNSEEN__RULE_STRIP_TRACKERS, "strip-trackers", strip_trackers_1},
    {UNSEEN__RULE_STRIP_TRACKERS_2, "strip-trackers", strip_trackers_2},
    {UNSEEN__RULE_SORT_QUERY, "sort-query", NULL},
    {UNSEEN__RULE_DROP_EMPTY_QUERY, "drop-empty-query", drop_empty_query},
};

struct context {
    uint32_t rules;
    char *scratch;
    const struct unseen__url_trace *trace;
};

static size_t apply_rule(const struct part_rule *rule, char *s, size_t len, char *scratch)
{
    return rule->fn ? rule->fn(s, len) : sort_query(s, len, scratch);
}

/* Applies the rules that are on to the part s[0..len); returns its new length. */
static size_t apply(const struct context *context, const struct part_rule *rules, size_t nrules,
                    char *s, size_t len)
{
    for (size_t i = 0; i < nrules && len > 0; i++) {
        if (!(context->rules & rules[i].rule)) {
            continue;
        }
        if (!context->trace) {
            len = apply_rule(&rules[i], s, len, context->scratch);
            continue;
        }
        const size_t before_len = len;
        memcpy(context->scratch, s, len);
        len = apply_rule(&rules[i], s, len, context->scratch + before_len);
        unseen__url_note(context->trace, rules[i].name, context->scratch, before_len, s, len);
    }
    return len;
}

#define APPLY(context, rules, s, len)                                                              \
    apply((context), (rules), sizeof(rules) / sizeof((rules)[0]), (s), (len))

static size_t apply_path_rules(const struct context *context, char *s, size_t len)
{
    len = APPLY(context, path_rules, s, len);
    for (size_t before = len + 1; before != len;) {
        before = len;
        len = APPLY(context, path_end_rules, s, len);
    }
    return len;
}

static size_t move_to(char *out, const char *s, size_t len)
{
    memmove(out, s, len);
    return len;
}

void unseen__url_apply_rules(struct unseen__url_record *url, uint32_t rules, char *scratch,
                             const struct unseen__url_trace *trace)
{
    const uint32_t here =
        rules & ~(uint32_t)(UNSEEN__RULE_KEEP_FRAGMENT | UNSEEN__RULE_KEEP_HASHBANG |
                            UNSEEN__RULE_DEFAULT_SCHEME);
    if (!here || url->scheme == UNSEEN__SCHEME_OTHER || url->scheme == UNSEEN__SCHEME_FILE) {
        return;
    }
    if (rules & UNSEEN__RULE_FOLD_SCHEME) {
        const bool https = url->scheme == UNSEEN__SCHEME_HTTPS;
        fold_scheme(url);
        if (https) {
            unseen__url_note(trace, "fold-scheme", "https", 5, url->text, url->scheme_end - 1);
        }
    }
    const struct context context = {here, scratch, trace};
    char *const text = url->text;
    const size_t user_start = url->scheme_end + 2;
    size_t n = user_start;
    n += APPLY(&context, userinfo_rules, text + n, url->host_start - user_start);
    size_t len =
        APPLY(&context, host_rules, text + url->host_start, url->host_end - url->host_start);
    n += move_to(text + n, text + url->host_start, len);
    n += move_to(text + n, text + url->host_end, url->authority_end - url->host_end);
    len = apply_path_rules(&context, text + url->path_start, url->path_end - url->path_start);
    n += move_to(text + n, text + url->path_start, len);
    len = APPLY(&context, query_rules, text + url->path_end, url->query_end - url->path_end);
    n += move_to(text + n, text + url->path_end, len);
    n += move_to(text + n, text + url->query_end, url->len - url->query_end);
    url->len = n;
}
