/* SPDX-License-Identifier: MIT
 *
 * The parts of the scheme "scrapy" (scrapy.c, scrapy_path.c, scrapy_fast.c): which bytes stand
 * unescaped where, how a path is written, and how the pieces of a query are ordered and written. */
#ifndef UNSEEN_URL_SCRAPY_H
#define UNSEEN_URL_SCRAPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "url/url.h"

/* Predicates as macros, so that tables can be made of them at compile time. The names are those
 * of RFC 3986; a path may hold any reserved byte but '#', and '|' and a bare '%' besides. */
#define SCRAPY_LOWER(c) ((c) >= 'a' && (c) <= 'z')
#define SCRAPY_DIGIT(c) ((c) >= '0' && (c) <= '9')
#define SCRAPY_UNRESERVED(c)                                                                       \
    (SCRAPY_LOWER(c) || ((c) >= 'A' && (c) <= 'Z') || SCRAPY_DIGIT(c) || (c) == '-' ||             \
     (c) == '.' || (c) == '_' || (c) == '~')
#define SCRAPY_USERINFO(c)                                                                         \
    (SCRAPY_UNRESERVED(c) || (c) == '!' || (c) == '$' || ((c) >= '&' && (c) <= ','))
#define SCRAPY_PARAMS(c)                                                                           \
    (SCRAPY_USERINFO(c) || (c) == '/' || (c) == ':' || (c) == ';' || (c) == '=' || (c) == '?' ||   \
     (c) == '@' || (c) == '%')
#define SCRAPY_PATH(c) (SCRAPY_PARAMS(c) || (c) == '[' || (c) == ']' || (c) == '|')
#define SCRAPY_PLAIN_HOST(c)                                                                       \
    (SCRAPY_LOWER(c) || SCRAPY_DIGIT(c) || (c) == '-' || (c) == '.' || (c) == '_')
#define SCRAPY_PLAIN_PATH(c)                                                                       \
    (SCRAPY_PATH(c) && (c) != '%' && (c) != ';' && (c) != '?' && (c) != '.')

/* Bits of unseen__scrapy_class[byte]: the byte stands as it is in that part of a URL. */
enum {
    SCRAPY__UNRESERVED = 1u << 0,
    SCRAPY__USERINFO = 1u << 1,
    SCRAPY__PARAMS = 1u << 2, /* and in the fragment */
    SCRAPY__PATH = 1u << 3,
    SCRAPY__SCHEME = 1u << 4,
    SCRAPY__PLAIN_HOST = 1u << 5, /* and means nothing there: the fast path passes over it */
    SCRAPY__PLAIN_PATH = 1u << 6
};

extern const uint8_t unseen__scrapy_class[256];

static inline bool scrapy_is(char c, unsigned set)
{
    return (unseen__scrapy_class[(unsigned char)c] & set) != 0;
}

/* Would the escape of byte, standing in a path, be written again as it is? */
static inline bool scrapy_path_keeps_escape(int byte)
{
    return byte == '/' || byte == '?' || byte == '%' || byte == ';' ||
           !scrapy_is((char)byte, SCRAPY__PATH);
}

/* The end of a scheme, where its ':' is or would be; NULL if [in, end) does not start with a
 * scheme. */
const char *unseen__scrapy_scheme_end(const char *in, const char *end);

/* Writes a path that is not empty, and returns its end. may_be_scheme: nothing stands before the
 * path, so a colon in it may end a scheme the next time that the URL is read. */
char *unseen__scrapy_write_path(struct unseen_bytes path, bool may_be_scheme, char *out);

/* The order of two pieces of a query by (key, value), both as decoded bytes: < 0, 0 or > 0. A piece
 * ends at the next separator, or at its end. */
int unseen__scrapy_compare(const char *a, const char *a_end, const char *b, const char *b_end,
                           char separator);

/* Writes ? and the pieces of the query in order, or nothing if there are none. Returns the end;
 * NULL if the query has a tab or the end of a line, which the slow path removes first. The pieces
 * are listed at the end of the room, which is out to room_end: 3 bytes for each byte of the query
 * and 4 for the list, less than unseen_url_bound gives. */
char *unseen__scrapy_write_query(const struct unseen_url *url, struct unseen_bytes query, char *out,
                                 char *room_end);

#endif
