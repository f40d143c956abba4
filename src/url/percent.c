/* SPDX-License-Identifier: MIT
 *
 * Percent-encoding (WHATWG URL standard, section 1.3). Each encode set contains the one before it,
 * give or take a few characters; bytes above 0x7E are in every set, so that text in UTF-8 and bytes
 * that are not text are escaped one by one and stay distinct. */
#include "url/percent.h"

#include <string.h>

#include "url/ascii.h"

#define IN_C0(c)       ((c) < 0x20 || (c) > 0x7e)
#define IN_QUOTES(c)   (IN_C0(c) || (c) == ' ' || (c) == '"' || (c) == '<' || (c) == '>')
#define IN_FRAGMENT(c) (IN_QUOTES(c) || (c) == '`')
#define IN_QUERY(c)    (IN_QUOTES(c) || (c) == '#')
#define IN_SPECIAL(c)  (IN_QUERY(c) || (c) == '\'')
#define IN_PATH(c)                                                                                 \
    (IN_QUERY(c) || (c) == '?' || (c) == '^' || (c) == '`' || (c) == '{' || (c) == '}')
#define IN_USERINFO(c)                                                                             \
    (IN_PATH(c) || (c) == '/' || (c) == ':' || (c) == ';' || (c) == '=' || (c) == '@' ||           \
     ((c) >= '[' && (c) <= '^') || (c) == '|')
#define IN_HOST(c)                                                                                 \
    ((c) == 0 || (c) == '\t' || (c) == '\n' || (c) == '\r' || (c) == ' ' || (c) == '#' ||          \
     (c) == '/' || (c) == ':' || (c) == '<' || (c) == '>' || (c) == '?' || (c) == '@' ||           \
     ((c) >= '[' && (c) <= '^') || (c) == '|')
#define IN_DOMAIN(c) (IN_HOST(c) || (c) < 0x20 || (c) == '%' || (c) == 0x7f)

#define CLASS(c)                                                                                   \
    ((IN_C0(c) ? UNSEEN__SET_C0 : 0) | (IN_FRAGMENT(c) ? UNSEEN__SET_FRAGMENT : 0) |               \
     (IN_QUERY(c) ? UNSEEN__SET_QUERY : 0) | (IN_SPECIAL(c) ? UNSEEN__SET_SPECIAL_QUERY : 0) |     \
     (IN_PATH(c) ? UNSEEN__SET_PATH : 0) | (IN_USERINFO(c) ? UNSEEN__SET_USERINFO : 0) |           \
     (IN_HOST(c) ? UNSEEN__FORBIDDEN_HOST : 0) | (IN_DOMAIN(c) ? UNSEEN__FORBIDDEN_DOMAIN : 0))

const uint8_t unseen__url_class[256] = {ASCII_TABLE(CLASS)};

/* Copies whole groups of eight bytes as long as none has to be escaped: most text is clean. */
static size_t copy_clean(const char *in, size_t len, unsigned mask, char *out)
{
    size_t n = 0;
    for (; n + 8 <= len; n += 8) {
        unsigned all = 0;
        for (size_t i = 0; i < 8; i++) {
            all |= unseen__url_class[(unsigned char)in[n + i]];
        }
        if (all & mask) {
            break;
        }
        memcpy(out + n, in + n, 8);
    }
    return n;
}

char *unseen__percent_encode(const char *in, size_t len, unsigned mask, char *out)
{
    const char *const end = in + len;
    const size_t nclean = copy_clean(in, len, mask, out);
    out += nclean;
    for (in += nclean; in < end; in++) {
        const unsigned char byte = (unsigned char)*in;
        if (unseen__url_class[byte] & mask) {
            out = unseen__percent_write(out, byte);
        } else {
            *out++ = *in;
        }
    }
    return out;
}

char *unseen__percent_decode(const char *in, size_t len, char *out)
{
    const char *const end = in + len;
    while (in < end) {
        const int value = unseen__percent_value(in, end);
        *out++ = value < 0 ? *in : (char)value;
        in += value < 0 ? 1 : 3;
    }
    return out;
}
