/* SPDX-License-Identifier: MIT
 *
 * Keys are in the stores of users: a value must have the same text in each version. Objects and
 * arrays are rare keys. The first pass checks one, and notes in the order of the text where each
 * object and array in it ends. The second pass prints the text. It finds the members of an object
 * without looking into their values, and sorts them. A note has 8 bytes, and its text at least 3. A
 * member has 12 bytes, in glibc twice that while they are sorted, and its text at least 5. So the
 * memory is at most 5 times the text, however it is made. */
#include "lines/json_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines/json_scan.h"

enum {
    DEPTH_MAX = 2048 /* of nested objects and arrays */
};

/* ---- Numbers and words ----------------------------------------------------------------------- */

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9') {
        at++;
    }
    return at;
}

enum bare {
    BARE_INTEGER,
    BARE_REAL,
    BARE_BOOL,
    BARE_NULL,
    BARE_NAN, /* not in JSON, but what some programs write for a number */
    BARE_OTHER
};

static bool is_word(struct unseen_bytes text, const char *word)
{
    return text.len == strlen(word) && memcmp(text.data, word, text.len) == 0;
}

static enum bare word_of(struct unseen_bytes text)
{
    return is_word(text, "true") || is_word(text, "false") ? BARE_BOOL
           : is_word(text, "null")                         ? BARE_NULL
           : is_word(text, "NaN") || is_word(text, "Infinity") || is_word(text, "-Infinity")
               ? BARE_NAN
               : BARE_OTHER;
}

static enum bare bare_of(struct unseen_bytes text)
{
    const char *end = text.data + text.len;
    const char *at = text.data + (text.len > 0 && text.data[0] == '-');
    const char *digits = at;
    at = skip_digits(at, end);
    if (at == digits) {
        return word_of(text);
    }
    if (*digits == '0' && at - digits > 1) {
        return BARE_OTHER;
    }
    if (at == end) {
        return BARE_INTEGER;
    }
    if (*at == '.') {
        digits = at + 1;
        at = skip_digits(digits, end);
        if (at == digits) {
            return BARE_OTHER;
        }
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        digits = at;
        at = skip_digits(at, end);
        if (at == digits) {
            return BARE_OTHER;
        }
    }
    return at == end ? BARE_REAL : BARE_OTHER;
}

/* Puts 17 digits, ".0" if they look like an integer, and no '+' and leading zeros in the
 * exponent. */
static bool put_double(struct text *room, double value)
{
    char buf[40];
    (void)snprintf(buf, sizeof(buf), "%.17g", value);
    const char *exponent = strchr(buf, 'e');
    if (!exponent) {
        return text_append(room, buf, strlen(buf)) &&
               (strchr(buf, '.') || text_append(room, ".0", 2));
    }
    const char *digits = exponent + 1;
    const bool is_negative = *digits == '-';
    digits += *digits == '-' || *digits == '+';
    digits += strspn(digits, "0");
    return text_append(room, buf, (size_t)(exponent + 1 - buf)) &&
           text_append(room, "-", is_negative ? 1 : 0) && text_append(room, digits, strlen(digits));
}

static bool put_real(struct text *room, struct unseen_bytes text)
{
    const size_t at = room->len;
    if (!text_append(room, text.data, text.len) || !text_append(room, "", 1)) {
        return false;
    }
    const double value = strtod(room->data + at, NULL);
    room->len = at + (isinf(value) ? text.len : 0);
    return isinf(value) || put_double(room, value);
}

/* True if the text of the number or word is not as it is written. */
static bool is_rewritten(struct unseen_bytes text, enum bare bare)
{
    return bare == BARE_REAL || (bare == BARE_INTEGER && is_word(text, "-0"));
}

static bool put_bare(struct text *room, struct unseen_bytes text)
{
    const enum bare bare = bare_of(text);
    return bare == BARE_REAL          ? put_real(room, text)
           : is_rewritten(text, bare) ? text_append(room, "0", 1)
                                      : text_append(room, text.data, text.len);
}

/* ---- Strings --------------------------------------------------------------------------------- */

/* Appends what the text between quotes means. False without memory, or, with *valid_out false, if
 * an escape sequence is not valid. */
static bool put_decoded(struct text *room, struct unseen_bytes text, bool *valid_out)
{
    const char *at = text.data;
    const char *end = at + text.len;
    *valid_out = true;
    if (!text_reserve(room, text.len)) { /* decoding makes nothing longer */
        return false;
    }
    while (at < end) {
        const char *slash = memchr(at, '\\', (size_t)(end - at));
        const size_t plain = (size_t)((slash ? slash : end) - at);
        memcpy(room->data + room->len, at, plain);
        room->len += plain;
        at += plain;
        if (slash) {
            char bytes[JSON_BYTES_MAX];
            const size_t n = json_unescape(&at, end, bytes);
            if (n == 0) {
                *valid_out = false;
                return false;
            }
            memcpy(room->data + room->len, bytes, n);
            room->len += n;
        }
    }
    return true;
}

static bool has_valid_escapes(struct unseen_bytes text)
{
    const char *at = text.data;
    const char *end = at + text.len;
    char bytes[JSON_BYTES_MAX];
    while (at < end && (at = memchr(at, '\\', (size_t)(end - at)))) {
        if (json_unescape(&at, end, bytes) == 0) {
            return false;
        }
    }
    return true;
}

/* Puts a byte of a string as JSON has it. */
static bool put_escaped_byte(struct text *room, char c)
{
    static const char bytes[] = "\"\\\b\f\n\r\t";
    static const char letters[] = "\"\\bfnrt";
    const char *found = memchr(bytes, c, sizeof(bytes) - 1);
    char sequence[8];
    if (found) {
        sequence[0] = '\\';
        sequence[1] = letters[found - bytes];
        return text_append(room, sequence, 2);
    }
    if ((unsigned char)c >= 0x20) {
        return text_append(room, &c, 1);
    }
    (void)snprintf(sequence, sizeof(sequence), "\\u%04X", (unsigned)(unsigned char)c);
    return text_append(room, sequence, 6);
}

/* Puts the string between quotes with as few escapes as JSON allows. */
static bool put_string(struct text *room, struct unseen_bytes text)
{
    const char *at = text.data;
    const char *end = at + text.len;
    bool good = text_append(room, "\"", 1);
    while (good && at < end) {
        char bytes[JSON_BYTES_MAX] = {*at};
        size_t n = 1;
        if (*at == '\\') {
            n = json_unescape(&at, end, bytes); /* is valid: the parser has looked */
        } else {
            at++;
        }
        for (size_t i = 0; i < n && good; i++) {
            good = put_escaped_byte(room, bytes[i]);
        }
    }
    return good && text_append(room, "\"", 1);
}

/* ---- Objects and arrays: checking ------------------------------------------------------------ */

/* An object or array. While it is open: the offset of its bracket, and the node around it. */
struct node {
    uint32_t end;  /* the offset behind it */
    uint32_t next; /* the first node that begins behind it */
};

#define NO_NODE UINT32_MAX

struct tree {
    const char *begin;
    const char *at;
    const char *end;
    struct node *nodes;
    size_t n;
    size_t cap;
    uint32_t open; /* the innermost open node, or NO_NODE */
    size_t depth;
    enum unseen_status status;
};

static char bracket_of_open(const struct tree *t)
{
    return t->open == NO_NODE ? '\0' : t->begin[t->nodes[t->open].end];
}

static bool open_node(struct tree *t)
{
    if (t->depth++ == DEPTH_MAX) {
        return false;
    }
    if (t->n == t->cap) {
        const size_t cap = t->cap > 0 ? t->cap * 2 : 64;
        struct node *nodes = realloc(t->nodes, cap * sizeof(*nodes));
        if (!nodes) {
            t->status = UNSEEN_ERR_NOMEM;
            return false;
        }
        t->nodes = nodes;
        t->cap = cap;
    }
    t->nodes[t->n] = (struct node){(uint32_t)(t->at - t->begin), t->open};
    t->open = (uint32_t)t->n++;
    t->at = json_skip_space(t->at + 1, t->end);
    return true;
}

static bool closes(const struct tree *t)
{
    const char bracket = bracket_of_open(t);
    return t->at < t->end && *t->at == (bracket == '{' ? '}' : ']') && bracket;
}

static void close_node(struct tree *t)
{
    struct node *node = &t->nodes[t->open];
    t->open = node->next;
    *node = (struct node){(uint32_t)(t->at + 1 - t->begin), (uint32_t)t->n};
    t->depth--;
    t->at = json_skip_space(t->at + 1, t->end);
}

static bool check_string(struct tree *t)
{
    const char *begin = t->at + 1;
    const char *quote = t->at < t->end && *t->at == '"' ? json_string_end(begin, t->end) : NULL;
    if (!quote) {
        return false;
    }
    t->at = json_skip_space(quote + 1, t->end);
    return has_valid_escapes((struct unseen_bytes){begin, (size_t)(quote - begin)});
}

/* Checks the name of a member and its colon. */
static bool check_name(struct tree *t)
{
    if (!check_string(t) || t->at == t->end || *t->at != ':') {
        return false;
    }
    t->at = json_skip_space(t->at + 1, t->end);
    return true;
}

static bool check_scalar(struct tree *t)
{
    if (*t->at == '"') {
        return check_string(t);
    }
    const char *begin = t->at;
    const char *end = json_bare_end(begin, t->end);
    t->at = json_skip_space(end, t->end);
    return bare_of((struct unseen_bytes){begin, (size_t)(end - begin)}) != BARE_OTHER;
}

/* Checks a scalar, or opens a container. */
static bool check_value(struct tree *t, bool *opened_out)
{
    *opened_out = false;
    if ((bracket_of_open(t) == '{' && !check_name(t)) || t->at == t->end) {
        return false;
    }
    if (*t->at != '{' && *t->at != '[') {
        return check_scalar(t);
    }
    if (!open_node(t)) {
        return false;
    }
    *opened_out = !closes(t); /* an empty one is closed below */
    return true;
}

static bool check_tree(struct tree *t)
{
    bool opened = true;
    for (;;) {
        if (!check_value(t, &opened)) {
            return false;
        }
        if (opened) {
            continue;
        }
        while (closes(t)) {
            close_node(t);
        }
        if (t->open == NO_NODE) {
            return t->at == t->end;
        }
        if (t->at == t->end || *t->at != ',') {
            return false;
        }
        t->at = json_skip_space(t->at + 1, t->end);
    }
}

/* ---- Objects and arrays: printing ------------------------------------------------------------ */

/* A place in a text that has been checked. */
struct place {
    const char *at;
    uint32_t node; /* the first node that begins at `at` or behind it */
};

struct member {
    uint32_t name; /* the offset of the first byte between its quotes */
    uint32_t name_len;
    uint32_t node; /* the first one in the value or behind it */
};

static const char *skip_space(const struct tree *t, const char *at)
{
    return json_skip_space(at, t->end);
}

/* Takes the string in front. */
static struct unseen_bytes take_string(const struct tree *t, struct place *p)
{
    const char *begin = p->at + 1;
    const char *quote = json_string_end(begin, t->end);
    p->at = skip_space(t, quote + 1);
    return (struct unseen_bytes){begin, (size_t)(quote - begin)};
}

static struct unseen_bytes take_bare(const struct tree *t, struct place *p)
{
    const char *begin = p->at;
    const char *end = json_bare_end(begin, t->end);
    p->at = skip_space(t, end);
    return (struct unseen_bytes){begin, (size_t)(end - begin)};
}

static void skip_node(const struct tree *t, struct place *p)
{
    const struct node node = t->nodes[p->node];
    *p = (struct place){skip_space(t, t->begin + node.end), node.next};
}

/* The place of the first value or name in the container in front. */
static struct place inside(const struct tree *t, const struct place *p)
{
    return (struct place){skip_space(t, p->at + 1), p->node + 1};
}

/* Moves from behind a value to the next one. */
static void skip_comma(const struct tree *t, struct place *p)
{
    if (*p->at == ',') {
        p->at = skip_space(t, p->at + 1);
    }
}

/* Takes the name of a member and its colon. */
static struct unseen_bytes take_name(const struct tree *t, struct place *p)
{
    const struct unseen_bytes name = take_string(t, p);
    p->at = skip_space(t, p->at + 1);
    return name;
}

/* The next member of an object. False at the end. */
static bool next_member(const struct tree *t, struct place *p, struct member *member_out)
{
    if (*p->at == '}') {
        return false;
    }
    const struct unseen_bytes name = take_name(t, p);
    *member_out = (struct member){(uint32_t)(name.data - t->begin), (uint32_t)name.len, p->node};
    if (*p->at == '{' || *p->at == '[') {
        skip_node(t, p);
    } else if (*p->at == '"') {
        (void)take_string(t, p);
    } else {
        (void)take_bare(t, p);
    }
    skip_comma(t, p);
    return true;
}

static int compare_names(const struct tree *t, const struct member *x, const struct member *y)
{
    return json_compare((struct unseen_bytes){t->begin + x->name, x->name_len},
                        (struct unseen_bytes){t->begin + y->name, y->name_len});
}

/* For qsort_r: a member that comes later in the text is larger than one of the same name. */
static int compare_members(const void *a, const void *b, void *tree)
{
    const struct member *x = a;
    const struct member *y = b;
    const int order = compare_names(tree, x, y);
    return order != 0 ? order : (x->name > y->name) - (x->name < y->name);
}

static bool put_value(const struct tree *t, struct place *p, struct text *room);

static bool put_array(const struct tree *t, struct place p, struct text *room)
{
    bool good = text_append(room, "[", 1);
    bool is_first = true;
    for (p = inside(t, &p); good && *p.at != ']'; skip_comma(t, &p)) {
        good = text_append(room, ",", is_first ? 0 : 1) && put_value(t, &p, room);
        is_first = false;
    }
    return good && text_append(room, "]", 1);
}

static bool put_members(const struct tree *t, const struct member *members, size_t n,
                        struct text *room)
{
    bool good = text_append(room, "{", 1);
    bool is_first = true;
    for (size_t i = 0; i < n && good; i++) {
        if (i + 1 < n && compare_names(t, &members[i], &members[i + 1]) == 0) {
            continue; /* a later one counts */
        }
        struct place p = {t->begin + members[i].name - 1, members[i].node};
        good = text_append(room, ",", is_first ? 0 : 1) && put_string(room, take_name(t, &p)) &&
               text_append(room, ":", 1) && put_value(t, &p, room);
        is_first = false;
    }
    return good && text_append(room, "}", 1);
}

static bool put_object(const struct tree *t, const struct place *p, struct text *room)
{
    struct member member;
    size_t n = 0;
    for (struct place at = inside(t, p); next_member(t, &at, &member);) {
        n++;
    }
    struct member *members = malloc((n > 0 ? n : 1) * sizeof(*members));
    if (!members) {
        return false;
    }
    n = 0;
    for (struct place at = inside(t, p); next_member(t, &at, &member);) {
        members[n++] = member;
    }
    qsort_r(members, n, sizeof(*members), compare_members, (void *)(uintptr_t)t);
    const bool good = put_members(t, members, n, room);
    free(members);
    return good;
}

/* Puts the value in front, and moves behind it. It calls itself for each level, of which there are
 * DEPTH_MAX at most. */
static bool put_value(const struct tree *t, struct place *p, struct text *room)
{
    if (*p->at == '"') {
        return put_string(room, take_string(t, p));
    }
    if (*p->at != '{' && *p->at != '[') {
        return put_bare(room, take_bare(t, p));
    }
    const bool good = *p->at == '{' ? put_object(t, p, room) : put_array(t, *p, room);
    skip_node(t, p);
    return good;
}

/* ---- Any value ------------------------------------------------------------------------------- */

static enum unseen_status container_text(struct unseen_bytes value, struct text *room,
                                         struct unseen_bytes *text_out)
{
    struct tree t = {
        .begin = value.data, .at = value.data, .end = value.data + value.len, .open = NO_NODE};
    const size_t at = room->len;
    if (value.len < UINT32_MAX && check_tree(&t) && t.nodes) {
        struct place p = {value.data, 0};
        if (put_value(&t, &p, room)) {
            *text_out = (struct unseen_bytes){room->data + at, room->len - at};
        } else {
            t.status = UNSEEN_ERR_NOMEM;
        }
    }
    free(t.nodes);
    return t.status;
}

static enum unseen_status string_text(struct unseen_bytes value, struct text *room,
                                      struct unseen_bytes *text_out)
{
    const struct unseen_bytes text = {value.data + 1, value.len - 2};
    const size_t at = room->len;
    bool is_valid = true;
    if (text.len == 0 || !memchr(text.data, '\\', text.len)) {
        *text_out = text;
        return UNSEEN_OK;
    }
    if (put_decoded(room, text, &is_valid)) {
        *text_out = (struct unseen_bytes){room->data + at, room->len - at};
        return UNSEEN_OK;
    }
    room->len = at;
    return is_valid ? UNSEEN_ERR_NOMEM : UNSEEN_OK;
}

static enum unseen_status bare_text(struct unseen_bytes value, struct text *room,
                                    struct unseen_bytes *text_out)
{
    const size_t at = room->len;
    const enum bare bare = bare_of(value);
    if (bare == BARE_NULL || bare == BARE_NAN || bare == BARE_OTHER) {
        return UNSEEN_OK;
    }
    if (!is_rewritten(value, bare)) {
        *text_out = value;
        return UNSEEN_OK;
    }
    if (!put_bare(room, value)) {
        return UNSEEN_ERR_NOMEM;
    }
    *text_out = (struct unseen_bytes){room->data + at, room->len - at};
    return UNSEEN_OK;
}

enum unseen_status json_text(struct unseen_bytes value, struct text *room,
                             struct unseen_bytes *text_out)
{
    *text_out = (struct unseen_bytes){NULL, 0};
    return value.data[0] == '"'                           ? string_text(value, room, text_out)
           : value.data[0] == '{' || value.data[0] == '[' ? container_text(value, room, text_out)
                                                          : bare_text(value, room, text_out);
}
