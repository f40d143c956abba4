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
 * All letters of ASCII become small, also before the @. Only the receiving host may tell Jo from jo
 * (RFC 5321, section 2.4), but hardly any host does, and a sender must not get past a list by a
 * capital. Names that are not ASCII become A-labels as in URLs, so that both spellings of an
 * internationalised domain meet. Tags (jo+tag@) are kept: their meaning is up to the host.
 *
 * A bare top-level domain is refused as an entry. Questions ask for it all the same, so that it
 * works if the user insists. If a name has more than eight labels, a question asks for the whole
 * name and for its last eight labels down to one: whoever controls a domain can make names below it
 * as deep as he likes. */
#include "kind/kind.h"

#include <string.h>

#include "url/ascii.h"
#include "url/name.h"

enum {
    LABELS_MAX = 8,       /* domains above the whole one that are asked for */
    DOMAIN_LONGEST = 253, /* as text: RFC 1035, section 2.3.4 */
    LABEL_LONGEST = 63,
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

/* Reads an address or a domain. *is_mail is false if there is no domain. */
static enum unseen_status read_mail(struct unseen_bytes in, char *buf, size_t cap,
                                    struct mail *mail, bool *is_mail)
{
    struct unseen_bytes domain;
    in = without_blanks(in);
    split_address(&in, &mail->local, &domain);
    const size_t need =
        in.len + (is_ascii_text(domain.data, domain.len) ? 0 : 2 * domain.len + NAME_EXTRA);
    if (cap < need) {
        return UNSEEN_ERR_SPACE;
    }
    char *end = buf;
    if (mail->local.data) {
        end = ascii_copy_lower(mail->local.data, mail->local.len, buf);
        mail->local.data = buf;
        *end++ = '@';
    }
    mail->domain = write_domain(domain, end, &mail->good_name);
    mail->whole = (struct unseen_bytes){buf, (size_t)(end - buf) + mail->domain.len};
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

/* Host names have no underscore, but domains that send mail have. */
static bool is_name_byte(char c)
{
    return is_ascii_alnum(c) || c == '-' || c == '_';
}

/* Is it a name of labels, and not an IPv4 address? That would be an entry of another kind. */
static bool is_domain(struct unseen_bytes domain)
{
    size_t label_len = 0;
    if (domain.len > DOMAIN_LONGEST || unseen__ipv4_wanted(domain.data, domain.len)) {
        return false;
    }
    for (size_t i = 0; i < domain.len; i++) {
        const bool dot = domain.data[i] == '.';
        if (dot ? label_len == 0 : !is_name_byte(domain.data[i]) || label_len == LABEL_LONGEST) {
            return false;
        }
        label_len = dot ? 0 : label_len + 1;
    }
    return label_len > 0;
}

/* Is it atoms and dots, or a quoted string (RFC 5321, section 4.1.2)? Bytes above ASCII may be in
 * both. */
static bool is_local(struct unseen_bytes local)
{
    const bool quoted = local.len > 2 && local.data[0] == '"' && local.data[local.len - 1] == '"';
    for (size_t i = quoted; i + quoted < local.len; i++) {
        const char c = local.data[i];
        if ((unsigned char)c < ' ' || c == 0x7f ||
            (!quoted && memchr(" ()<>[]:;@\\,\"", c, 13) != NULL)) {
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

static enum unseen_status mail_entry(const struct unseen__kind *kind, const struct unseen_url *url,
                                     struct unseen_bytes in, char *buf, size_t cap,
                                     struct unseen_bytes *entry_out, enum unseen_entry *fitness_out)
{
    (void)kind;
    (void)url;
    struct mail mail;
    bool is_mail;
    const enum unseen_status status = read_mail(in, buf, cap, &mail, &is_mail);
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

static enum unseen_status mail_texts(const struct unseen__kind *kind, const struct unseen_url *url,
                                     struct unseen_bytes in, char *buf, size_t cap,
                                     struct unseen_bytes *texts_out, size_t *n_out)
{
    (void)kind;
    (void)url;
    struct mail mail;
    bool is_mail;
    const enum unseen_status status = read_mail(in, buf, cap, &mail, &is_mail);
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
    *n_out = n;
    return UNSEEN_OK;
}

const struct unseen__kind unseen__kind_mail = {
    .name = "mail",
    .id = "mail",
    .newest = UNSEEN_KIND_MAIL,
    .version = 1,
    .texts_max = 2 + LABELS_MAX,
    .bound_factor = 3,
    .bound_extra = NAME_EXTRA,
    .invalid = "is not an e-mail address or a domain",
    .dangerous = "is a bare top-level domain or a name without a dot",
    .entry = mail_entry,
    .texts = mail_texts,
};
