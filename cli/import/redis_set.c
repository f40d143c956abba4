/* SPDX-License-Identifier: MIT */
#include "import/redis_set.h"

#include <string.h>

#include "characters.h"

/* Reads a decimal number at text[0..len). Returns how many bytes it takes; 0 if there is no number,
 * or a number too large to count bytes. */
static size_t redis_set_number(const char *text, size_t len, uint64_t *out)
{
    return read_decimal(text, len < 18 ? len : 18, out);
}

/* Reads the number of a line such as "$14\r"; false if it is not such a line. */
static bool redis_set_header(struct unseen_bytes line, const char *marks, uint64_t *out)
{
    return line.len >= 3 && strchr(marks, line.data[0]) && line.data[0] != '\0' &&
           redis_set_number(line.data + 1, line.len - 2, out) == line.len - 2 &&
           line.data[line.len - 1] == '\r';
}

/* ---- The protocol ---------------------------------------------------------------------------- */

/* Skips the bytes of a member that is too long. */
static enum redis_result skip_bytes(struct redis_set *r, struct unseen_bytes line)
{
    r->nskipped += line.len + 1;
    r->in_member = r->nskipped < (uint64_t)r->len + 2;
    if (r->in_member) {
        return REDIS_NOTHING;
    }
    const bool is_whole = r->nskipped == (uint64_t)r->len + 2;
    return is_whole && line.len > 0 && line.data[line.len - 1] == '\r' ? REDIS_LONG : REDIS_WRONG;
}

/* Collects a member, which may contain line ends. It ends with its announced bytes and "\r\n". */
static enum redis_result redis_set_bytes(struct redis_set *r, struct unseen_bytes line,
                                         struct unseen_bytes *member_out)
{
    if (r->max_len > 0 && r->len > r->max_len) {
        return skip_bytes(r, line);
    }
    if (!text_append(&r->text, line.data, line.len) || !text_append(&r->text, "\n", 1)) {
        return REDIS_NOMEM;
    }
    if (r->text.len < r->len + 2) {
        return REDIS_NOTHING;
    }
    r->in_member = false;
    if (r->text.len > r->len + 2 || r->text.data[r->len] != '\r') {
        return REDIS_WRONG;
    }
    *member_out = (struct unseen_bytes){r->text.data, r->len};
    return REDIS_MEMBER;
}

static enum redis_result take_protocol(struct redis_set *r, struct unseen_bytes line,
                                       struct unseen_bytes *member_out)
{
    uint64_t len = 0;
    if (r->in_member) {
        return redis_set_bytes(r, line, member_out);
    }
    if (r->nmembers == r->nannounced || !redis_set_header(line, "$", &len) || len > SIZE_MAX / 2) {
        return REDIS_WRONG;
    }
    r->in_member = true;
    r->nmembers++;
    r->len = (size_t)len;
    r->nskipped = 0;
    text_clear(&r->text);
    return REDIS_NOTHING;
}

/* ---- Quoted ---------------------------------------------------------------------------------- */

/* Reads the escape at *s and moves *s behind it. Returns the byte that it stands for, -1 if it is
 * not an escape. */
static int read_escape(const char **s, const char *end)
{
    static const char letters[] = "nrtab\"\\";
    static const char meanings[] = "\n\r\t\a\b\"\\";
    const char *p = *s;
    if (end - p >= 4 && p[1] == 'x') {
        *s = p + 4;
        return hex_byte(p + 2);
    }
    const char *at = end - p >= 2 && p[1] ? strchr(letters, p[1]) : NULL;
    *s = p + 2;
    return at ? meanings[at - letters] : -1;
}

/* Unquotes [s, end), the text between the quotes, to r->text; false if it is not well formed. */
static bool unquote(struct redis_set *r, const char *s, const char *end)
{
    if (end - s < 2 || *s != '"' || end[-1] != '"') {
        return false;
    }
    for (s++, end--; s < end;) {
        int c = (unsigned char)*s;
        if (c == '"') {
            return false;
        }
        if (c == '\\') {
            c = read_escape(&s, end);
        } else {
            s++;
        }
        if (c < 0) {
            return false;
        }
        r->text.data[r->text.len++] = (char)c; /* never longer than its quoted form */
    }
    return s == end;
}

/* The number in front and its ") "; 0 if the line has none. */
static size_t quoted_prefix(struct unseen_bytes line, uint64_t *number)
{
    size_t at = 0;
    while (at < line.len && line.data[at] == ' ') {
        at++;
    }
    const size_t ndigits = redis_set_number(line.data + at, line.len - at, number);
    at += ndigits;
    return ndigits > 0 && line.len - at >= 3 && memcmp(line.data + at, ") \"", 3) == 0 ? at + 2 : 0;
}

static enum redis_result take_quoted(struct redis_set *r, struct unseen_bytes line,
                                     struct unseen_bytes *member_out)
{
    uint64_t number = 0;
    const size_t prefix = quoted_prefix(line, &number);
    text_clear(&r->text);
    if (!text_reserve(&r->text, line.len + 1)) {
        return REDIS_NOMEM;
    }
    if (prefix == 0 || number != r->nmembers + 1 ||
        !unquote(r, line.data + prefix, line.data + line.len)) {
        return REDIS_WRONG;
    }
    r->nmembers = number;
    *member_out = (struct unseen_bytes){r->text.data, r->text.len};
    return REDIS_MEMBER;
}

/* ---- All ------------------------------------------------------------------------------------- */

static bool is_empty_reply(struct unseen_bytes line)
{
    static const char *const texts[] = {"(empty array)", "(empty set)", "(empty list or set)"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (line.len == strlen(texts[i]) && memcmp(line.data, texts[i], line.len) == 0) {
            return true;
        }
    }
    return false;
}

/* Decides the shape by the first line; true if the line is only a header. */
static bool redis_start(struct redis_set *r, struct unseen_bytes line)
{
    uint64_t number = 0;
    r->shape = REDIS_RAW;
    if (redis_set_header(line, "*~", &r->nannounced)) {
        r->shape = REDIS_PROTOCOL;
        return true;
    }
    if (is_empty_reply(line)) {
        r->shape = REDIS_QUOTED;
        return true;
    }
    if (quoted_prefix(line, &number) > 0 && number == 1) {
        r->shape = REDIS_QUOTED;
    }
    return false;
}

enum redis_result redis_set_take(struct redis_set *r, struct unseen_bytes line,
                                 struct unseen_bytes *member_out)
{
    if (r->shape == REDIS_UNKNOWN && redis_start(r, line)) {
        return REDIS_NOTHING;
    }
    switch (r->shape) {
    case REDIS_QUOTED:
        return take_quoted(r, line, member_out);
    case REDIS_PROTOCOL:
        return take_protocol(r, line, member_out);
    default:
        *member_out = line;
        return REDIS_MEMBER;
    }
}

bool redis_set_is_whole(const struct redis_set *r)
{
    return r->shape != REDIS_PROTOCOL || (!r->in_member && r->nmembers == r->nannounced);
}

void redis_set_release(struct redis_set *r)
{
    text_release(&r->text);
    *r = (struct redis_set){.shape = REDIS_UNKNOWN};
}
