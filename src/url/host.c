/* SPDX-License-Identifier: MIT
 *
 * Hosts (WHATWG URL standard, section 3.5): the host parser and the host serialiser. A special
 * URL has a domain, an IPv4 or an IPv6 address; any other URL an IPv6 address or an opaque host. */
#include "url/host.h"

#include <string.h>

#include "url/percent.h"
#include "url/whatwg.h"

static bool has_class(const char *in, size_t len, unsigned mask)
{
    unsigned all = 0;
    for (size_t i = 0; i < len; i++) {
        all |= unseen__url_class[(unsigned char)in[i]];
    }
    return (all & mask) != 0;
}

static bool append_ipv6(struct unseen__url_record *url, const char *in, size_t len)
{
    uint16_t pieces[8];
    if (len < 2 || in[len - 1] != ']' || !unseen__ipv6_parse(in + 1, len - 2, pieces)) {
        return false;
    }
    unseen__put(url, '[');
    url->len += unseen__ipv6_write(pieces, url->text + url->len);
    unseen__put(url, ']');
    return true;
}

static bool append_opaque(struct unseen__url_record *url, const char *in, size_t len)
{
    if (has_class(in, len, UNSEEN__FORBIDDEN_HOST)) {
        return false;
    }
    char *const out = url->text + url->len;
    url->len = (size_t)(unseen__percent_encode(in, len, UNSEEN__SET_C0, out) - url->text);
    return true;
}

static bool append_domain(struct unseen__url_parser *p, const char *in, size_t len)
{
    struct unseen__url_record *url = p->url;
    if (memchr(in, '%', len)) {
        len = (size_t)(unseen__percent_decode(in, len, p->scratch) - p->scratch);
        in = p->scratch;
    }
    char *const out = url->text + url->len;
    size_t out_len;
    if (!unseen__idna_to_ascii(in, len, out, 3 * len + UNSEEN__HOST_EXTRA, &out_len) ||
        out_len == 0 || has_class(out, out_len, UNSEEN__FORBIDDEN_DOMAIN)) {
        return false;
    }
    if (unseen__ipv4_wanted(out, out_len)) {
        uint32_t address;
        if (!unseen__ipv4_parse(out, out_len, &address)) {
            return false;
        }
        out_len = unseen__ipv4_write(address, out);
    }
    url->len += out_len;
    return true;
}

/* The rule a trace names for a host that changed. */
static const char *host_rule(const char *in, size_t len, const char *out, size_t out_len)
{
    if (in[0] == '[') {
        return "ipv6";
    }
    if (has_class(in, len, UNSEEN__SET_C0)) {
        return "idna";
    }
    if (memchr(in, '%', len)) {
        return "host-escape";
    }
    return unseen__ipv4_wanted(out, out_len) ? "ipv4" : "host-case";
}

bool unseen__host_append(struct unseen__url_parser *p, const char *in, size_t len)
{
    struct unseen__url_record *url = p->url;
    url->host_start = url->len;
    bool valid;
    if (len > 0 && in[0] == '[') {
        valid = append_ipv6(url, in, len);
    } else if (!unseen__is_special(url)) {
        valid = append_opaque(url, in, len);
    } else {
        valid = append_domain(p, in, len);
    }
    url->host_end = url->len;
    if (valid && p->trace && len > 0) {
        const char *const out = url->text + url->host_start;
        const size_t out_len = url->len - url->host_start;
        unseen__url_note(p->trace, host_rule(in, len, out, out_len), in, len, out, out_len);
    }
    return valid;
}
