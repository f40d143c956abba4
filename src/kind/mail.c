/* SPDX-License-Identifier: MIT
 *
 * The kind "mail": an entry is an e-mail address; or a domain, which covers its addresses and those
 * of all domains below it.
 *
 *     Jo@Mail.Evil.example                        jo@mail.evil.example
 *     evil.example, @evil.example, *@evil.example,
 *     .evil.example, *.evil.example               evil.example
 *
 *     asked for Jo@Mail.Evil.example              jo@mail.evil.example, mail.evil.example,
 *                                                 evil.example, example
 *
 * ASCII letters are put into lower case, also before the @. Only the receiving host may tell Jo
 * from jo (RFC 5321, section 2.4), but hardly any host does, and a sender must not get past a list
 * by a capital. Names that are not ASCII become A-labels as in URLs, so that both spellings of an
 * internationalised domain meet. Tags (jo+tag@) are kept: their meaning is up to the host.
 *
 * A bare top-level domain is refused as an entry. Questions ask for it all the same, so that it
 * works if the user insists. If a name has more than eight labels, a question asks for the whole
 * name and for its last eight labels down to one: whoever controls a domain can make names below it
 * as deep as he likes.
 *
 * One mailbox has many spellings (RFC 5321, section 4.1.2; RFC 5322, section 3.2). Entries and
 * questions have one spelling of quotes and of addresses in brackets:
 *
 *     "jo"@evil.example, "j\o"@evil.example       jo@evil.example
 *     jo@[IPv6:2001:DB8:0::7]                      jo@[ipv6:2001:db8::7]
 *     jo@[IPv6:::ffff:192.0.2.7]                   jo@[192.0.2.7]
 *
 * And what stands around an address in headers, logs and links is dropped from questions: a name
 * and angle brackets, comments in parentheses, blanks at @ and dots, "mailto:", and a source route
 * (@a.example,@b.example:). */
#include "kind/kind.h"

#include <string.h>

#include "url/ascii.h"
#include "url/name.h"
#include "url/percent.h"

enum {
    LABELS_MAX = 8,       /* domains above the whole one that are asked for */
    LITERAL_EXTRA = 2,    /* bytes by which an address can become longer */
    ADDRESS_LONGEST = 254 /* RFC 5321, section 4.5.3.1.3, without the brackets */
};

/* An address or a domain in canonical form; its parts stand in the buffer one after the other. */
struct mail {
    struct unseen_bytes whole;
    struct unseen_bytes local; /* before the @; NULL: there is only a domain */
    struct unseen_bytes domain;
    bool good_name; /* IDNA accepts the domain */
};

static struct unseen_bytes without_final_dots(struct unseen_bytes in)
{
    while (in.len > 0 && in.data[in.len - 1] == '.') {
        in.len--;
    }
    return in;
}

/* The bytes before the last @, without it; NULL if there is none. */
static struct unseen_bytes local_of(struct unseen_bytes in)
{
    for (size_t i = in.len; i > 0; i--) {
        if (in.data[i - 1] == '@') {
            return (struct unseen_bytes){in.data, i - 1};
        }
    }
    return (struct unseen_bytes){NULL, 0};
}

/* Writes a domain as ASCII. If IDNA refuses the domain, it stays as it is, in small letters. */
static struct unseen_bytes write_domain(struct unseen_bytes in, char *out, bool *good)
{
    size_t len;
    in = without_final_dots(in);
    *good = true;
    if (!is_ascii_text(in.data, in.len)) {
        *good = name_to_ascii(in.data, in.len, out, &len);
        if (*good) {
            return without_final_dots((struct unseen_bytes){out, len});
        }
    }
    return (struct unseen_bytes){out, (size_t)(ascii_copy_lower(in.data, in.len, out) - out)};
}

/* Drops a "*." or "." in front, which says "all below". */
static struct unseen_bytes without_wildcard(struct unseen_bytes in)
{
    const bool star = in.len > 1 && in.data[0] == '*' && in.data[1] == '.';
    return without_first(in, star ? 2 : in.len > 0 && in.data[0] == '.');
}

/* Splits the input at its last @. "@evil.com" and "*@evil.com" are domains. */
static void split_address(struct unseen_bytes *in, struct unseen_bytes *local,
                          struct unseen_bytes *domain)
{
    *local = local_of(*in);
    if (local->len == 0 || (local->len == 1 && local->data[0] == '*')) {
        *in = without_wildcard(local->data ? without_first(*in, local->len + 1) : *in);
        *local = (struct unseen_bytes){NULL, 0};
    }
    *domain = local->data ? without_first(*in, local->len + 1) : *in;
}

/* Writes an address or a domain, split as `mail` says, to buf. mail->local.data is NULL for a
 * domain. */
static void write_mail(struct unseen_bytes domain, char *buf, struct mail *mail)
{
    char *end = buf;
    if (mail->local.data) {
        end = ascii_copy_lower(mail->local.data, mail->local.len, buf);
        mail->local.data = buf;
        *end++ = '@';
    }
    mail->domain = write_domain(domain, end, &mail->good_name);
    mail->whole = (struct unseen_bytes){buf, (size_t)(end - buf) + mail->domain.len};
}

static bool is_local(struct unseen_bytes local);

/* Is it a quoted string: a quote or a backslash in it stands behind a backslash? */
static bool is_quoted_string(struct unseen_bytes in)
{
    size_t at = 1;
    if (in.len < 3 || in.data[0] != '"') {
        return false;
    }
    while (at < in.len && in.data[at] != '"') {
        at += in.data[at] == '\\' ? 2 : 1;
    }
    return at + 1 == in.len;
}

/* Gives a quoted local part its one spelling: without quotes if it needs none, else with a
 * backslash before quotes and backslashes only. It becomes no longer. */
static void tidy_quotes(struct mail *mail)
{
    char *const local = (char *)mail->local.data;
    const size_t len = mail->local.len;
    size_t n = 0;
    if (!is_quoted_string(mail->local)) {
        return;
    }
    for (size_t i = 1; i + 1 < len; i++) {
        i += local[i] == '\\';
        local[++n] = local[i];
    }
    const bool is_all = n == 1 && local[1] == '*'; /* without quotes: a domain */
    if (is_local((struct unseen_bytes){local + 1, n}) && local[1] != '"' && !is_all) {
        memmove(local, local + 1, n);
        mail->local.len = n;
        return;
    }
    size_t nescapes = 0;
    for (size_t i = 1; i <= n; i++) {
        nescapes += local[i] == '"' || local[i] == '\\';
    }
    size_t out = n + nescapes + 1;
    mail->local.len = out + 1;
    local[out] = '"';
    for (size_t i = n; i > 0; i--) {
        local[--out] = local[i];
        if (local[out] == '"' || local[out] == '\\') {
            local[--out] = '\\';
        }
    }
}

/* Gives an address in brackets its one spelling. */
static void tidy_literal(struct mail *mail)
{
    static const uint16_t mapped[6] = {[5] = 0xffff};
    static const char prefix[] = "[ipv6:";
    const size_t prefix_len = sizeof(prefix) - 1;
    char *const domain = (char *)mail->domain.data;
    const size_t len = mail->domain.len;
    uint16_t pieces[8];
    if (len <= prefix_len || memcmp(domain, prefix, prefix_len) != 0 || domain[len - 1] != ']' ||
        !unseen__ipv6_parse(domain + prefix_len, len - prefix_len - 1, pieces)) {
        return;
    }
    char *end = domain + 1;
    if (memcmp(pieces, mapped, sizeof(mapped)) == 0) {
        end += unseen__ipv4_write((uint32_t)pieces[6] << 16 | pieces[7], end);
    } else {
        end = domain + prefix_len;
        end += unseen__ipv6_write(pieces, end);
    }
    *end++ = ']';
    mail->whole.len += (size_t)(end - domain) - len;
    mail->domain.len = (size_t)(end - domain);
}

/* Returns the text between the angle brackets at the end; the whole text without them. A bracket
 * that nothing opens is dropped: it would hide the domain. */
static struct unseen_bytes without_name(struct unseen_bytes in)
{
    size_t open = in.len;
    bool quoted = false;
    if (in.len == 0 || in.data[in.len - 1] != '>') {
        return in;
    }
    for (size_t i = 0; i < in.len; i++) {
        i += quoted && in.data[i] == '\\';
        if (i < in.len && in.data[i] == '"') {
            quoted = !quoted;
        } else if (i < in.len && in.data[i] == '<' && !quoted) {
            open = i;
        }
    }
    const size_t start = open < in.len ? open + 1 : 0;
    return (struct unseen_bytes){in.data + start, in.len - 1 - start};
}

/* The place behind the comment that begins at in[at]; at if the comment does not end. */
static size_t skip_comment(struct unseen_bytes in, size_t at)
{
    size_t depth = 0;
    for (size_t i = at; i < in.len; i++) {
        if (in.data[i] == '\\') {
            i++;
        } else if (in.data[i] == '(') {
            depth++;
        } else if (in.data[i] == ')' && --depth == 0) {
            return i + 1;
        }
    }
    return at;
}

/* Copies the text without comments, and without blanks beside @ and dots. out may be in.data. */
static struct unseen_bytes copy_bare(struct unseen_bytes in, char *out)
{
    size_t n = 0;
    bool quoted = false;
    bool ends = true; /* all comments so far: behind one that does not end, none is looked for */
    for (size_t i = 0; i < in.len; i++) {
        const char c = in.data[i];
        if (quoted && c == '\\' && i + 1 < in.len) {
            out[n++] = c;
            out[n++] = in.data[++i];
            continue;
        }
        quoted = quoted != (c == '"');
        const size_t after = !quoted && c == '(' && ends ? skip_comment(in, i) : i;
        if (after > i) {
            i = after - 1;
            continue;
        }
        ends = ends && (quoted || c != '(');
        const bool joins = n == 0 || out[n - 1] == '@' || out[n - 1] == '.';
        if (!quoted && is_ascii_space(c) && joins) {
            continue;
        }
        while (!quoted && (c == '@' || c == '.') && n > 0 && is_ascii_space(out[n - 1])) {
            n--;
        }
        out[n++] = c;
    }
    return (struct unseen_bytes){out, n};
}

/* Drops "mailto:" and what follows the address in such a link. The text is rewritten where it
 * stands. */
static struct unseen_bytes without_link(struct unseen_bytes in)
{
    static const char scheme[] = "mailto:";
    const size_t len = sizeof(scheme) - 1;
    char lower[sizeof(scheme)];
    if (in.len < len) {
        return in;
    }
    (void)ascii_copy_lower(in.data, len, lower);
    if (memcmp(lower, scheme, len) != 0) {
        return in;
    }
    in = without_first(in, len);
    size_t end = 0;
    while (end < in.len && in.data[end] != '?' && in.data[end] != '#') {
        end++;
    }
    char *const text = (char *)in.data;
    in.len = (size_t)(unseen__percent_decode(in.data, end, text) - text);
    return in;
}

/* Drops "@a.example,@b.example:", the way that a mail was once told to go. */
static struct unseen_bytes without_route(struct unseen_bytes in)
{
    const char *const colon = in.len > 0 && *in.data == '@' ? memchr(in.data, ':', in.len) : NULL;
    if (!colon) {
        return in;
    }
    const struct unseen_bytes rest = without_first(in, (size_t)(colon + 1 - in.data));
    return has_byte(rest, '@') ? rest : in;
}

/* Copies a question without what stands around its address. Comments go before the name: one may
 * stand behind the brackets, or have brackets and quotes in it. They go once more afterwards: a
 * parenthesis in the name that nothing closes hides the comments behind it. */
static struct unseen_bytes copy_question(struct unseen_bytes in, char *copy)
{
    in = without_blanks(copy_bare(in, copy));
    in = without_blanks(without_name(in));
    in = without_blanks(copy_bare(in, (char *)in.data));
    return without_blanks(without_route(without_link(in)));
}

/* Reads an address or a domain. *is_mail is false if there is no domain. The buffer: the text, and
 * at its end a copy of the input that may be rewritten. */
static enum unseen_status read_mail(bool is_question, struct unseen_bytes in, char *buf, size_t cap,
                                    struct mail *mail, bool *is_mail)
{
    struct unseen_bytes domain;
    in = without_blanks(in);
    const size_t room =
        is_ascii_text(in.data, in.len) ? in.len + LITERAL_EXTRA : 3 * in.len + NAME_EXTRA;
    if (cap < room || cap - room < in.len) {
        return UNSEEN_ERR_SPACE;
    }
    char *const copy = buf + cap - in.len;
    in = is_question ? copy_question(in, copy)
                     : (struct unseen_bytes){memcpy(copy, in.data, in.len), in.len};
    split_address(&in, &mail->local, &domain);
    if (mail->local.data) {
        tidy_quotes(mail);
    }
    write_mail(domain, buf, mail);
    tidy_literal(mail);
    *is_mail = mail->domain.len > 0;
    return UNSEEN_OK;
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* "[192.0.2.7]" or "[ipv6:2001:db8::7]", which only stands behind an @. */
static bool is_address_literal(struct unseen_bytes domain)
{
    if (domain.len < 3 || domain.data[0] != '[' || domain.data[domain.len - 1] != ']') {
        return false;
    }
    for (size_t i = 1; i + 1 < domain.len; i++) {
        const char c = domain.data[i];
        if (!is_ascii_alnum(c) && c != '.' && c != ':') {
            return false;
        }
    }
    return true;
}

/* Is it a name, and not an IPv4 address? That would be an entry of another kind. */
static bool is_domain(struct unseen_bytes domain)
{
    return unseen__is_domain(domain) && !unseen__ipv4_wanted(domain.data, domain.len);
}

/* Is it atoms and dots, or a quoted string (RFC 5321, section 4.1.2)? Bytes above ASCII may be in
 * both. */
static bool is_local(struct unseen_bytes local)
{
    const bool quoted = local.len > 2 && local.data[0] == '"' && local.data[local.len - 1] == '"';
    const bool is_string = quoted && is_quoted_string(local);
    for (size_t i = quoted; i + quoted < local.len; i++) {
        const char c = local.data[i];
        if ((unsigned char)c < ' ' || c == 0x7f ||
            (!quoted && memchr(" ()<>[]:;@\\,\"", c, 13) != NULL) ||
            (quoted && !is_string && memchr(" ()<>[]:;@,", c, 11) != NULL)) {
            return false;
        }
    }
    return local.len > 0;
}

static enum unseen_entry judge_mail(const struct mail *mail)
{
    if (!mail->good_name || mail->whole.len > ADDRESS_LONGEST) {
        return UNSEEN_ENTRY_INVALID;
    }
    if (mail->local.data) {
        return is_local(mail->local) &&
                       (is_domain(mail->domain) || is_address_literal(mail->domain))
                   ? UNSEEN_ENTRY_FINE
                   : UNSEEN_ENTRY_INVALID;
    }
    if (!is_domain(mail->domain)) {
        return UNSEEN_ENTRY_INVALID;
    }
    return has_byte(mail->domain, '.') ? UNSEEN_ENTRY_FINE : UNSEEN_ENTRY_DANGEROUS;
}

static enum unseen_status mail_entry(const struct unseen_url *url, struct unseen_bytes in,
                                     char *buf, size_t cap, struct unseen_bytes *entry_out,
                                     enum unseen_entry *fitness_out)
{
    (void)url;
    struct mail mail;
    bool is_mail;
    const enum unseen_status status = read_mail(false, in, buf, cap, &mail, &is_mail);
    if (status != UNSEEN_OK) {
        return status;
    }
    const enum unseen_entry fitness = is_mail ? judge_mail(&mail) : UNSEEN_ENTRY_INVALID;
    if (fitness == UNSEEN_ENTRY_INVALID) {
        return refuse_entry(fitness, entry_out, fitness_out);
    }
    *entry_out = mail.whole;
    *fitness_out = fitness;
    return UNSEEN_OK;
}

/* ---- Questions ------------------------------------------------------------------------------- */

/* Stores the domain and the domains above it. */
static size_t add_domains(struct unseen_bytes domain, struct unseen_bytes *texts)
{
    size_t starts[LABELS_MAX]; /* of the last labels, from the last one on */
    size_t nstarts = 0;
    size_t n = 0;
    for (size_t i = domain.len; i > 0 && nstarts < LABELS_MAX && domain.data[0] != '['; i--) {
        if (domain.data[i - 1] == '.') {
            starts[nstarts++] = i;
        }
    }
    texts[n++] = domain;
    while (nstarts > 0) {
        texts[n++] = without_first(domain, starts[--nstarts]);
    }
    return n;
}

static enum unseen_status mail_texts(const struct unseen_url *url, struct unseen_bytes in,
                                     char *buf, size_t cap, struct unseen_bytes *texts_out,
                                     uint16_t *readings_out, size_t *n_out)
{
    (void)url;
    struct mail mail;
    bool is_mail;
    const enum unseen_status status = read_mail(true, in, buf, cap, &mail, &is_mail);
    if (status != UNSEEN_OK) {
        return status;
    }
    size_t n = 0;
    if (is_mail && mail.local.data) {
        texts_out[n++] = mail.whole;
    }
    if (is_mail) {
        n += add_domains(mail.domain, texts_out + n);
    }
    for (size_t i = 0; i < n; i++) {
        readings_out[i] = 1;
    }
    *n_out = n;
    return UNSEEN_OK;
}

const struct unseen__kind unseen__kind_mail = {
    .name = "mail",
    .id = "mail/1",
    .texts_max = 2 + LABELS_MAX,
    .bound_factor = 4,
    .bound_extra = NAME_EXTRA,
    .invalid = "is not an e-mail address or a domain",
    .dangerous = "is a bare top-level domain or a name without a dot",
    .entry = mail_entry,
    .texts = mail_texts,
};
