/* SPDX-License-Identifier: MIT
 *
 * The fast path of the WHATWG profiles: proves in one scan that a URL is its own canonical form,
 * which 94 to 100 of 100 real URLs are. It may decline, but it never lies: for a URL that it
 * accepts it gives exactly the answer of the slow path. Two cheap repairs are part of it, because
 * most of the other URLs need them: the missing / after a host, and cutting the fragment off.
 *
 * What makes a URL canonical, and how it is checked here:
 *
 *     http:// or https://, lower case
 *     a host of a-z 0-9 . - _, whose last label does not start with a digit (else it may be an
 *         IPv4 address) and is not empty; an ASCII host needs no IDNA
 *     no port, or one without leading zeros that is not the scheme's own
 *     then /, or ?, # or the end, where a / is put in
 *     no byte that has to be escaped in its part of the URL, and no segment made of dots
 *
 * The scan looks for suspect bytes: bytes that must be escaped in some part of a URL, #, and a dot
 * or % that starts a segment. Real URLs have few suspects, and each is judged by itself.
 *
 * This file has the functions that the kernels share, and the portable kernel, which is the
 * specification. */
#include "url/fast.h"

#include <string.h>

#include "base/macros.h"
#include "url/ascii.h"
#include "url/percent.h"
#include "url/whatwg.h"

/* Does the name in[start..end) certainly stand in a URL as it is? Its bytes are known to be a-z 0-9
 * . - _. */
static bool is_plain_host(const char *in, size_t start, size_t end)
{
    if (end == start) {
        return false;
    }
    size_t label = end;
    while (label > start && in[label - 1] != '.') {
        label--;
    }
    return label < end && !is_ascii_digit(in[label]);
}

/* The end of the port that follows in[at] == ':'; 0 if it is not canonical. */
static size_t port_end(const char *in, size_t at, size_t len)
{
    uint32_t port = 0;
    size_t i = at + 1;
    if (i == len || in[i] < '1' || in[i] > '9') {
        return 0;
    }
    for (; i < len && i <= at + 5 && is_ascii_digit(in[i]); i++) {
        port = port * 10 + (uint32_t)(in[i] - '0');
    }
    const uint32_t standard = in[4] == 's' ? 443 : 80;
    return port == standard || port > 65535 ? 0 : i;
}

size_t unseen__fast_authority_end(const char *in, size_t host_end, size_t len)
{
    const bool has_port = host_end < len && in[host_end] == ':';
    const size_t end = has_port ? port_end(in, host_end, len) : host_end;
    return end == len || in[end] == '/' || in[end] == '?' || in[end] == '#' ? end : 0;
}

/* Is the segment that starts at in[at] . or .. in some spelling? */
static bool is_dot_segment(const char *in, size_t at, size_t len)
{
    while (at < len) {
        if (in[at] == '.') {
            at++;
        } else if (unseen__percent_value(in + at, in + len) == '.') {
            at += 3;
        } else {
            break;
        }
    }
    return at == len || in[at] == '/' || in[at] == '\\' || in[at] == '?' || in[at] == '#';
}

static bool is_clean_fragment(const char *in, size_t at, size_t len)
{
    for (; at < len; at++) {
        if (unseen__url_class[(unsigned char)in[at]] & UNSEEN__SET_FRAGMENT) {
            return false;
        }
    }
    return true;
}

/* Tabs and newlines do not count, so the first character of a fragment may stand behind them. */
static enum unseen__fast_verdict judge_fragment(uint32_t rules, const char *in, size_t at,
                                                size_t len, size_t *cut_out)
{
    const char first = at + 1 < len ? in[at + 1] : '\0';
    if (rules & UNSEEN__RULE_UNESCAPE_AMP) {
        return UNSEEN__FAST_DECLINE; /* it may be the # of &#38; */
    }
    if (unseen__keeps_fragment(rules, first)) {
        *cut_out = len;
        return is_clean_fragment(in, at + 1, len) ? UNSEEN__FAST_CUT : UNSEEN__FAST_DECLINE;
    }
    if ((rules & (UNSEEN__RULE_KEEP_HASHBANG | UNSEEN__RULE_KEEP_ROUTES)) &&
        (first == '\t' || first == '\n' || first == '\r')) {
        return UNSEEN__FAST_DECLINE;
    }
    *cut_out = at;
    return UNSEEN__FAST_CUT;
}

/* Is there a ? before in[at]? All calls together search each byte once. */
static bool is_in_query(struct unseen__fast_state *state, const char *in, size_t at)
{
    if (state->query == SIZE_MAX && state->searched < at) {
        const char *question = memchr(in + state->searched, '?', at - state->searched);
        state->query = question ? (size_t)(question - in) : SIZE_MAX;
        state->searched = at;
    }
    return state->query < at;
}

/* Judges the suspect byte in[at]. */
static enum unseen__fast_verdict judge(uint32_t rules, const char *in, size_t at, size_t len,
                                       struct unseen__fast_state *state, size_t *cut_out)
{
    const char c = in[at];
    bool harmless;
    if (c == '#') {
        return judge_fragment(rules, in, at, len, cut_out);
    }
    const bool in_query = is_in_query(state, in, at);
    if (c == '.' || c == '%') {
        harmless = in_query || !is_dot_segment(in, at, len);
    } else if (c == '\\') {
        harmless = in_query;
    } else {
        const unsigned set = in_query ? UNSEEN__SET_SPECIAL_QUERY : UNSEEN__SET_PATH;
        harmless = !(unseen__url_class[(unsigned char)c] & set);
    }
    return harmless ? UNSEEN__FAST_GO_ON : UNSEEN__FAST_DECLINE;
}

enum unseen__fast_verdict unseen__fast_judge_all(uint32_t rules, const char *in, size_t at,
                                                 uint64_t suspects, size_t len,
                                                 struct unseen__fast_state *state, size_t *cut_out)
{
    for (; suspects; suspects >>= 1, at++) {
        if (suspects & 1) {
            const enum unseen__fast_verdict verdict = judge(rules, in, at, len, state, cut_out);
            if (verdict != UNSEEN__FAST_GO_ON) {
                return verdict;
            }
        }
    }
    return UNSEEN__FAST_GO_ON;
}

bool unseen__fast_insert_slash(const char *in, size_t host_end, size_t cut, char *buf, size_t cap,
                               struct unseen_canon *out)
{
    if (cap <= cut) {
        return false;
    }
    memcpy(buf, in, host_end);
    buf[host_end] = '/';
    memcpy(buf + host_end + 1, in + host_end, cut - host_end);
    *out = (struct unseen_canon){UNSEEN_URL_REWRITTEN, {buf, cut + 1}};
    return true;
}

/* ---- The portable kernel ----------------------------------------------------------------------*/

/* SLASH is chosen so that SLASH << 1 is DOT: a dot or % after a slash is found by one shift. */
enum {
    SUSPECT = 1,
    NO_HOST = 2,
    SLASH = 0x40,
    DOT = 0x80
};

#define IS_SUSPECT(c)                                                                              \
    ((c) <= 0x20 || (c) >= 0x7f || (c) == '"' || (c) == '#' || (c) == '\'' || (c) == '<' ||        \
     (c) == '>' || (c) == '\\' || (c) == '^' || (c) == '`' || (c) == '{' || (c) == '}')
#define IS_HOST(c)                                                                                 \
    (((c) >= 'a' && (c) <= 'z') || ((c) >= '0' && (c) <= '9') || (c) == '.' || (c) == '-' ||       \
     (c) == '_')
#define CLASS(c)                                                                                   \
    ((IS_SUSPECT(c) ? SUSPECT : 0) | (IS_HOST(c) ? 0 : NO_HOST) | ((c) == '/' ? SLASH : 0) |       \
     ((c) == '.' || (c) == '%' ? DOT : 0))

static const uint8_t classes[256] = {ASCII_TABLE(CLASS)};

static unsigned class_of(char c)
{
    return classes[(unsigned char)c];
}

/* The reasons to judge in[at]: its class, where DOT counts only after a slash. */
static unsigned findings(const char *in, size_t at)
{
    const unsigned c = class_of(in[at]);
    return (c & SUSPECT) | (c & class_of(in[at - 1]) << 1 & DOT);
}

/* The first byte from at on that has to be judged, or len. Eight bytes are tested at a time,
 * because most need no judging. */
static size_t next_finding(const char *in, size_t at, size_t len)
{
    for (; at + 8 <= len; at += 8) {
        unsigned all = 0;
        for (size_t i = 0; i < 8; i++) {
            all |= findings(in, at + i);
        }
        if (all) {
            break;
        }
    }
    while (at < len && !findings(in, at)) {
        at++;
    }
    return at;
}

bool unseen__fast_portable(const struct unseen_url *url, const char *in, size_t len, char *buf,
                           size_t cap, struct unseen_canon *out)
{
    const size_t host = unseen__fast_scheme(in, len);
    if (host == 0) {
        return false;
    }
    size_t host_end = host;
    while (host_end < len && !(class_of(in[host_end]) & NO_HOST)) {
        host_end++;
    }
    if (!is_plain_host(in, host, host_end)) {
        return false;
    }
    const size_t path = unseen__fast_authority_end(in, host_end, len);
    if (path == 0) {
        return false;
    }
    const bool slash = path == len || in[path] != '/';
    struct unseen__fast_state state = {.query = SIZE_MAX, .searched = path};
    size_t cut = len;
    for (size_t at = path; (at = next_finding(in, at, len)) < len; at++) {
        const enum unseen__fast_verdict verdict = judge(url->rules, in, at, len, &state, &cut);
        if (verdict == UNSEEN__FAST_DECLINE) {
            return false;
        }
        if (verdict == UNSEEN__FAST_CUT) {
            break;
        }
    }
    return unseen__fast_answer(in, len, path, slash, cut, buf, cap, out);
}

/* ---- Rules behind the scan --------------------------------------------------------------------*/

/* Describes a text that the scan has accepted: http or https, a host without userinfo, a path. */
static struct unseen__url_record describe(char *text, size_t len)
{
    const bool https = text[4] == 's';
    struct unseen__url_record url = {
        .text = text,
        .len = len,
        .scheme = https ? UNSEEN__SCHEME_HTTPS : UNSEEN__SCHEME_HTTP,
        .has_host = true,
        .scheme_end = https ? 6 : 5,
        .host_start = https ? 8 : 7,
    };
    size_t at = url.host_start;
    while (text[at] != '/' && text[at] != ':') {
        at++;
    }
    url.host_end = at;
    while (text[at] != '/') {
        at++;
    }
    url.authority_end = url.path_start = at;
    const char *hash = memchr(text + at, '#', len - at);
    url.query_end = hash ? (size_t)(hash - text) : len;
    const char *question = memchr(text + at, '?', url.query_end - at);
    url.path_end = question ? (size_t)(question - text) : url.query_end;
    return url;
}

/* Asks url->scan, and applies the rules of rules.c to its answer. */
static bool ruled_fast(const struct unseen_url *url, const char *in, size_t len, char *buf,
                       size_t cap, struct unseen_canon *out)
{
    struct unseen_canon plain;
    const size_t bound = unseen_url_bound(len, 0);
    if (bound == 0 || cap < bound || !url->scan(url, in, len, buf, cap, &plain)) {
        return false;
    }
    if (plain.bytes.data != buf) {
        memcpy(buf, plain.bytes.data, plain.bytes.len);
    }
    struct unseen__url_record record = describe(buf, plain.bytes.len);
    unseen__url_apply_rules(&record, url, buf + record.len, NULL);
    unseen__url_answer(out, in, len, record.text, record.len);
    return true;
}

/* ---- Choice -----------------------------------------------------------------------------------*/

unseen__url_fast_fn *unseen__url_whatwg_scan(enum unseen_cpu cpu)
{
#if UNSEEN_X86
    if (cpu == UNSEEN_CPU_AVX512) {
        return unseen__fast_avx512;
    }
    return cpu == UNSEEN_CPU_AVX2 ? unseen__fast_avx2 : unseen__fast_portable;
#else
    (void)cpu;
    return unseen__fast_portable;
#endif
}

/* default-scheme never applies to a URL that starts with http:// or https://. */
unseen__url_fast_fn *unseen__url_whatwg_fast(enum unseen_cpu cpu, uint32_t rules)
{
    return rules & UNSEEN__RULES_BEYOND ? ruled_fast : unseen__url_whatwg_scan(cpu);
}
