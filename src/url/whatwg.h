/* SPDX-License-Identifier: MIT
 *
 * A parsed URL, and the functions of the WHATWG parser that several files share.
 *
 * The record is the serialised URL itself and the offsets at which its components end; a component
 * that is missing has no bytes. The parser writes it from left to right:
 *
 *     https://user:pass@example.com:1234/foo/bar?baz#quux
 *           |                           |       |   |    |
 *           scheme_end      authority_end path_end  |    len
 *                                    = path_start   query_end
 *
 * path_start is authority_end + 2 if the serialiser had to put "/." in front of a path that begins
 * with "//" and has no authority before it. */
#ifndef UNSEEN_URL_WHATWG_H
#define UNSEEN_URL_WHATWG_H

#include "url/url.h"

enum unseen__scheme {
    UNSEEN__SCHEME_OTHER, /* not special */
    UNSEEN__SCHEME_FILE,
    UNSEEN__SCHEME_HTTP,
    UNSEEN__SCHEME_HTTPS,
    UNSEEN__SCHEME_WS,
    UNSEEN__SCHEME_WSS,
    UNSEEN__SCHEME_FTP
};

struct unseen__url_record {
    char *text;
    size_t len;
    enum unseen__scheme scheme;
    bool has_host;    /* an authority is written, "//" at least */
    bool opaque_path; /* such as that of mailto:a@b */
    size_t scheme_end;
    size_t host_start;
    size_t host_end;
    size_t authority_end;
    size_t path_start;
    size_t path_end;
    size_t query_end;
};

/* The receiver of each change, for unseen_url_explain. A pointer to it is NULL if nobody asks. */
struct unseen__url_trace {
    void (*step)(void *context, const struct unseen_url_step *step);
    void *context;
};

struct unseen__url_parser {
    const char *at;
    const char *end;
    const struct unseen__url_record *base; /* or NULL */
    struct unseen__url_record *url;
    uint32_t rules;
    char *scratch; /* room for the longest host */
    const struct unseen__url_trace *trace;
};

static inline bool unseen__is_special(const struct unseen__url_record *url)
{
    return url->scheme != UNSEEN__SCHEME_OTHER;
}

static inline void unseen__put(struct unseen__url_record *url, char c)
{
    url->text[url->len++] = c;
}

/* Tells the trace about a change, if there is a trace and the part did change. */
void unseen__url_note(const struct unseen__url_trace *trace, const char *rule, const char *before,
                      size_t before_len, const char *after, size_t after_len);

/* Tells the trace why a text is not a URL, if there is a trace. `in` is the part that is wrong. */
void unseen__url_refuse(const struct unseen__url_trace *trace, const char *reason, const char *in,
                        size_t len);

/* Room for a host beyond three times its length, and for a scheme and a slash. */
enum {
    UNSEEN__HOST_EXTRA = 256,
    UNSEEN__TEXT_EXTRA = UNSEEN__HOST_EXTRA + 64
};

/* The host parser and serialiser: appends the host in[0..len) to the URL. Returns false if the host
 * is invalid. */
bool unseen__host_append(struct unseen__url_parser *p, const char *in, size_t len);

/* Two letters such as C: or C|, or (normalised) C: only. */
bool unseen__is_drive_letter(const char *in, size_t len);
bool unseen__is_normalized_drive_letter(const char *in); /* of 2 bytes */
bool unseen__starts_with_drive_letter(const char *in, const char *end);

/* 1 for a segment that is ".", 2 for "..", with %2e for a dot as well; 0 for any other. */
int unseen__count_dots(const char *in, size_t len);

/* The first / ? # or, if special, \ in a part of a URL; the end if there is none. */
const char *unseen__find_delimiter(const char *in, const char *end, bool special);

/* The standard's states "path start" and "path": consume the path. */
void unseen__path_start(struct unseen__url_parser *p);
void unseen__path(struct unseen__url_parser *p);
void unseen__path_shorten(struct unseen__url_record *url);

/* Takes out each segment "." of a path, and each ".." with the segment before it, also at the end
 * of the path, as [Berners-Lee05], section 5.2.4, does. The path is empty or starts with a slash,
 * and its escapes are not looked at. Returns its new end. */
char *unseen__resolve_dots(char *start, char *end);

/* Parses in[0..len), against base unless that is NULL, into *record. Let n be len and the length of
 * the base: buf has unseen_url_bound(n, 0) bytes, and the first 3 n + UNSEEN__TEXT_EXTRA get the
 * text. */
bool unseen__url_parse(const char *in, size_t len, const struct unseen__url_record *base,
                       uint32_t rules, char *buf, size_t cap, const struct unseen__url_trace *trace,
                       struct unseen__url_record *record);

/* Applies the rules that go beyond the standard (rules.c). scratch has the room that the text
 * leaves of a buffer of the bound. */
void unseen__url_apply_rules(struct unseen__url_record *record, const struct unseen_url *url,
                             char *scratch, const struct unseen__url_trace *trace);

/* Reads a text as browsers do, and stores scheme, host, path and query of the URL. buf has
 * unseen_url_bound(in.len, 0) bytes; the text stands at its start. Returns false if browsers see no
 * URL with a host. */
bool unseen__url_browsed(struct unseen_bytes in, char *buf, size_t cap,
                         struct unseen_bytes *text_out);

/* The standard's first steps: C0 controls and spaces at both ends go, tabs and newlines go
 * everywhere. The cleaned text is a part of the input, or is at copy, which has len bytes, if it
 * had to be rewritten. */
struct unseen_bytes unseen__url_clean(const char *in, size_t len, char *copy,
                                      const struct unseen__url_trace *trace);

/* Explains a scheme that has no trace. copy has len bytes. */
void unseen__url_explain_parts(const struct unseen_url *url, const char *in, size_t len,
                               struct unseen_bytes canon, char *copy,
                               const struct unseen__url_trace *trace);

/* The slow path with a trace, which may be NULL. */
void unseen__url_whatwg_traced(const struct unseen_url *url, const char *in, size_t len, char *buf,
                               size_t cap, const struct unseen__url_trace *trace,
                               struct unseen_canon *out);

#endif
