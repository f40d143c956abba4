/* SPDX-License-Identifier: MIT
 *
 * The rules for queries. They see the pieces of a query, which stand between two &. Most rules only
 * say which pieces go, so one pass over the query can ask them all. */
#include <string.h>

#include "url/pieces.h"
#include "url/rules.h"

/* The piece at the start of s[0..len). */
static struct unseen__piece read_piece(const char *s, size_t len)
{
    size_t name_len = 0;
    while (name_len < len && s[name_len] != '=' && s[name_len] != '&') {
        name_len++;
    }
    const char *amp = name_len < len ? memchr(s + name_len, '&', len - name_len) : NULL;
    return (struct unseen__piece){s, amp ? (size_t)(amp - s) : len, name_len};
}

size_t unseen__filter_query(const struct unseen__rule_context *context,
                            unseen__drop_fn *const *drops, size_t ndrops, char *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len;) {
        const struct unseen__piece piece = read_piece(s + i + 1, len - i - 1);
        bool drop = false;
        for (size_t k = 0; k < ndrops && !drop; k++) {
            drop = drops[k](context, &piece);
        }
        if (!drop) {
            const char separator = n == 0 ? '?' : '&';
            if (n != i) {
                memmove(s + n + 1, piece.text, piece.len);
            }
            s[n] = separator;
            n += 1 + piece.len;
        }
        i += 1 + piece.len;
    }
    return n;
}

/* ---- Names ------------------------------------------------------------------------------------*/

bool unseen__drops_param(const struct unseen__rule_context *context,
                         const struct unseen__piece *piece)
{
    return unseen__params_match(context->url->drop_params, context->drop_site, piece->text,
                                piece->name_len);
}

/* On a host that no pattern is for, every parameter counts. */
bool unseen__drops_other_param(const struct unseen__rule_context *context,
                               const struct unseen__piece *piece)
{
    const struct unseen__params *params = context->url->only_params;
    return (params->has_everywhere || context->only_site) &&
           !unseen__params_match(params, context->only_site, piece->text, piece->name_len);
}

bool unseen__drops_any(const struct unseen__rule_context *context,
                       const struct unseen__piece *piece)
{
    (void)context;
    (void)piece;
    return true;
}

/* ---- Trackers ---------------------------------------------------------------------------------*/

#define NAME(text)                                                                                 \
    {                                                                                              \
        (text), sizeof(text) - 1, false                                                            \
    }
#define START(text)                                                                                \
    {                                                                                              \
        (text), sizeof(text) - 1, true                                                             \
    }

/* Names are compared without case and percent-decoded. Of the families pk_ and itm_ only the names
 * of campaigns are here: pk_id may say which page. */
void unseen__trackers_init(struct unseen__patterns *list)
{
    /* clang-format off */
    static const struct unseen__pattern names[] = {
        NAME("_branch_match_id"),
        NAME("_ga"),
        NAME("_gl"),
        NAME("_hsenc"),
        NAME("_hsmi"),
        NAME("_kx"),
        NAME("dclid"),
        NAME("epik"),
        NAME("fbclid"),
        NAME("gad_campaignid"),
        NAME("gad_source"),
        NAME("gbraid"),
        NAME("gclid"),
        NAME("gclsrc"),
        NAME("hsctatracking"),
        NAME("igsh"),
        NAME("igshid"),
        NAME("itm_campaign"),
        NAME("itm_content"),
        NAME("itm_medium"),
        NAME("itm_source"),
        NAME("itm_term"),
        NAME("li_fat_id"),
        NAME("mc_cid"),
        NAME("mc_eid"),
        NAME("mkt_tok"),
        NAME("msclkid"),
        START("mtm_"),
        NAME("oly_enc_id"),
        NAME("pk_campaign"),
        NAME("pk_cid"),
        NAME("pk_content"),
        NAME("pk_keyword"),
        NAME("pk_kwd"),
        NAME("pk_medium"),
        NAME("pk_source"),
        NAME("s_cid"),
        NAME("srsltid"),
        NAME("ttclid"),
        NAME("twclid"),
        START("utm_"),
        NAME("vero_id"),
        NAME("wbraid"),
        NAME("yclid"),
        NAME("ysclid"),
    };
    /* clang-format on */
    unseen__patterns_init(list, names, sizeof(names) / sizeof(names[0]), true);
}

bool unseen__drops_tracker(const struct unseen__rule_context *context,
                           const struct unseen__piece *piece)
{
    return unseen__patterns_find(&context->url->trackers, piece->text, piece->name_len) != NULL;
}

/* ---- Sessions ---------------------------------------------------------------------------------*/

/* The names of sessions, and the lengths of the values that are taken for sessions. */
static const struct unseen__pattern session_names[] = {
    START("aspsessionid"), NAME("cfid"),      NAME("cftoken"),   NAME("jsessionid"),
    NAME("oscsid"),        NAME("phpsessid"), NAME("sessionid"), NAME("sid"),
};
static const struct {
    size_t min;
    size_t max;
} session_values[] = {
    {24, 24}, {0, SIZE_MAX}, {0, SIZE_MAX}, {16, 256}, {16, 256}, {16, 256}, {16, 256}, {32, 32},
};

void unseen__sessions_init(struct unseen__patterns *list)
{
    unseen__patterns_init(list, session_names, sizeof(session_names) / sizeof(session_names[0]),
                          true);
}

/* A session has 16 characters or more: PHP writes 26 or 32, and Java may add the name of a server.
 * A short value may be the number of a page. */
bool unseen__drops_session(const struct unseen__rule_context *context,
                           const struct unseen__piece *piece)
{
    const struct unseen__pattern *found =
        unseen__patterns_find(&context->url->sessions, piece->text, piece->name_len);
    if (!found || piece->name_len == piece->len) {
        return false;
    }
    const char *const value = piece->text + piece->name_len + 1;
    const size_t value_len = piece->len - piece->name_len - 1;
    const size_t i = (size_t)(found - session_names);
    if (value_len < session_values[i].min || value_len > session_values[i].max) {
        return false;
    }
    for (size_t k = 0; k < value_len && session_values[i].min > 0; k++) {
        if (!is_ascii_alnum(value[k]) && !strchr("-_.!~,", value[k])) {
            return false;
        }
    }
    return true;
}

#undef NAME
#undef START

/* ---- Order ------------------------------------------------------------------------------------*/

/* The length of the piece at s, which ends at an & or at end. */
static size_t piece_len(const char *s, const char *end)
{
    const char *amp = memchr(s, '&', (size_t)(end - s));
    return (size_t)((amp ? amp : end) - s);
}

/* The first address behind at that suits an array of uint32_t. */
static uint32_t *align_starts(char *at)
{
    return (uint32_t *)(void *)(at + (sizeof(uint32_t) - (uintptr_t)at % sizeof(uint32_t)));
}

/* Writes where the pieces start, but not empty ones. *done_out: there are no empty pieces, and the
 * others are sorted. */
static size_t find_pieces(const struct unseen__pieces *p, uint32_t *starts, bool *done_out)
{
    size_t n = 0;
    bool done = true;
    for (const char *at = p->text; at < p->end;) {
        const size_t len = piece_len(at, p->end);
        if (len == 0) {
            done = false;
        } else {
            starts[n++] = (uint32_t)(at - p->text);
            done = done && !(n > 1 && unseen__piece_before(p, starts[n - 1], starts[n - 2], 0));
        }
        at += len + 1;
    }
    *done_out = done && !(p->end > p->text && p->end[-1] == '&');
    return n;
}

/* Sorts the pieces as bytes and drops empty pieces. Offsets are 32 bits wide, so a query of 4 GiB
 * and more stays as it is. The scratch gets a copy of the text, the start of each piece, and room
 * for all starts again. */
size_t unseen__sort_query(const struct unseen__rule_context *context, char *s, size_t len)
{
    if (len > UINT32_MAX) {
        return len;
    }
    uint32_t *const starts = align_starts(context->scratch + len);
    struct unseen__pieces p = {s + 1, s + len};
    bool done;
    const size_t npieces = find_pieces(&p, starts, &done);
    if (done) {
        return len;
    }
    p.text = memcpy(context->scratch, s + 1, len - 1);
    p.end = p.text + len - 1;
    unseen__sort_pieces(&p, starts, starts + npieces, npieces);
    size_t n = 1;
    for (size_t i = 0; i < npieces; i++) {
        if (i > 0) {
            s[n++] = '&';
        }
        const char *const piece = p.text + starts[i];
        const size_t nbytes = piece_len(piece, p.end);
        memcpy(s + n, piece, nbytes);
        n += nbytes;
    }
    return n;
}

/* Also behind the ?: a rule that moves pieces could put an & in front of that one. */
size_t unseen__unescape_amp(const struct unseen__rule_context *context, char *s, size_t len)
{
    static const char amp[] = {'a', 'm', 'p', ';'};
    size_t n = 0;
    (void)context;
    for (size_t i = 0; i < len;) {
        const bool starts_piece = i == 0 || s[i] == '&';
        s[n++] = s[i++];
        while (starts_piece && len - i >= sizeof(amp) && memcmp(s + i, amp, sizeof(amp)) == 0) {
            i += sizeof(amp);
        }
    }
    return n;
}

/* Cuts off the values, sorts the names, and drops each name that is there already. */
size_t unseen__names_only(const struct unseen__rule_context *context, char *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len;) {
        const struct unseen__piece piece = read_piece(s + i + 1, len - i - 1);
        memmove(s + n, s + i, 1 + piece.name_len);
        n += 1 + piece.name_len;
        i += 1 + piece.len;
    }
    len = unseen__sort_query(context, s, n);
    if (len > UINT32_MAX) {
        return len;
    }
    struct unseen__piece last = {NULL, 0, 0};
    n = 1;
    for (size_t i = 1; i < len;) {
        const struct unseen__piece piece = read_piece(s + i, len - i);
        if (!last.text || last.len != piece.len || memcmp(last.text, piece.text, last.len) != 0) {
            if (last.text) {
                s[n++] = '&';
            }
            last = (struct unseen__piece){memmove(s + n, piece.text, piece.len), piece.len, 0};
            n += piece.len;
        }
        i += piece.len + 1;
    }
    return n;
}

size_t unseen__drop_empty_query(const struct unseen__rule_context *context, char *s, size_t len)
{
    (void)context;
    (void)s;
    return len == 1 ? 0 : len;
}
