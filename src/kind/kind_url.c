/* SPDX-License-Identifier: MIT
 *
 * The kind "url": an entry is one URL in its canonical form and covers only that URL. A text that
 * is not a URL is taken byte by byte, as everywhere; so is every text without a canonicaliser or
 * under the profile "none".
 *
 * Two mistakes are looked for. "/", or a scheme with nothing but slashes behind it, remains of an
 * entry when a program cuts off its host. A bare top-level domain, such as "com", is not a URL and
 * would never be found, but whoever writes it means far more than one page. Words with digits pass:
 * lists of identifiers are not suspected. */
#include "kind/kind.h"

#include <string.h>

#include "url/ascii.h"
#include "url/url.h"

/* Stores the canonical form; without a canonicaliser, the text as it is. */
static enum unseen_status canonical(const struct unseen_url *url, struct unseen_bytes in, char *buf,
                                    size_t cap, struct unseen_bytes *out)
{
    struct unseen_canon canon = {UNSEEN_URL_UNCHANGED, in};
    const enum unseen_status status =
        url ? unseen_url_canon(url, in.data, in.len, NULL, buf, cap, &canon) : UNSEEN_OK;
    if (status == UNSEEN_OK) {
        *out = canon.bytes;
    }
    return status;
}

/* "/", "//", "http://" and the like. */
static bool is_bare_root(struct unseen_bytes in)
{
    size_t at = 0;
    while (at < in.len && is_ascii_letter(in.data[at])) {
        at++;
    }
    at = at > 0 && at < in.len && in.data[at] == ':' ? at + 1 : 0;
    size_t nslashes = 0;
    while (at + nslashes < in.len && in.data[at + nslashes] == '/') {
        nslashes++;
    }
    return nslashes > 0 && at + nslashes == in.len;
}

/* "com", ".com", "*.com", "com." or "com/": one label of letters only, or of Punycode. */
static bool is_bare_domain(struct unseen_bytes in)
{
    if (in.len > 0 && in.data[0] == '*') {
        in = without_first(in, 1);
    }
    if (in.len > 0 && in.data[0] == '.') {
        in = without_first(in, 1);
    }
    in.len -= in.len > 0 && in.data[in.len - 1] == '/';
    in.len -= in.len > 0 && in.data[in.len - 1] == '.';
    if (in.len > 4 && memcmp(in.data, "xn--", 4) == 0) {
        return !has_byte(in, '.') && !has_byte(in, '/');
    }
    for (size_t i = 0; i < in.len; i++) {
        if (!is_ascii_letter(in.data[i]) && (unsigned char)in.data[i] < 0x80) {
            return false;
        }
    }
    return in.len > 1;
}

static bool is_plain(const struct unseen_url *url)
{
    return !url || url->slow == unseen__url_none;
}

/* Does the URL begin with a scheme and a host? Nearly all entries do, and need no other check. */
static bool has_host(struct unseen_bytes in)
{
    return in.len > 8 && ((memcmp(in.data, "http://", 7) == 0 && in.data[7] != '/') ||
                          (memcmp(in.data, "https://", 8) == 0 && in.data[8] != '/'));
}

static bool is_dangerous(const struct unseen_url *url, struct unseen_bytes in)
{
    if (has_host(in)) {
        return false;
    }
    in = without_blanks(in);
    return is_bare_root(in) || (!is_plain(url) && is_bare_domain(in));
}

static enum unseen_status url_entry(const struct unseen_url *url, struct unseen_bytes in, char *buf,
                                    size_t cap, struct unseen_bytes *entry_out,
                                    enum unseen_entry *fitness_out)
{
    struct unseen_bytes text;
    const enum unseen_status status = canonical(url, in, buf, cap, &text);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (without_blanks(text).len == 0) { /* of "#top" some profiles leave nothing */
        return refuse_entry(UNSEEN_ENTRY_EMPTY, entry_out, fitness_out);
    }
    const bool dangerous = is_dangerous(url, in) || is_dangerous(url, text);
    *fitness_out = dangerous ? UNSEEN_ENTRY_DANGEROUS : UNSEEN_ENTRY_FINE;
    *entry_out = text;
    return UNSEEN_OK;
}

static enum unseen_status url_texts(const struct unseen_url *url, struct unseen_bytes in, char *buf,
                                    size_t cap, struct unseen_bytes *texts_out,
                                    uint16_t *readings_out, size_t *n_out)
{
    struct unseen_bytes text;
    const enum unseen_status status = canonical(url, in, buf, cap, &text);
    if (status == UNSEEN_OK) {
        texts_out[0] = text;
        readings_out[0] = 1;
        *n_out = text.len > 0;
    }
    return status;
}

const struct unseen__kind unseen__kind_url = {
    .name = "url",
    .id = "url/1",
    .texts_max = 1,
    .bound_factor = UNSEEN__URL_BOUND_FACTOR,
    .bound_extra = UNSEEN__URL_BOUND_EXTRA,
    .invalid = "is not a URL",
    .dangerous = "is the root of everything or a bare top-level domain, not a page",
    .entry = url_entry,
    .texts = url_texts,
};
