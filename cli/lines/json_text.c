/* SPDX-License-Identifier: MIT
 *
 * Keys are in the stores of users: a value must have the same text in each version. Objects and
 * arrays are rare keys. They are parsed into a row of nodes in the order of the text, so that the
 * members of an object can be sorted; a node says where its subtree ends. */
#include "lines/json_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines/json_scan.h"

enum {
    DEPTH_MAX = 2048,       /* of nested objects and arrays, */
    NODES_BYTES = 64 << 20, /* memory for the nodes of any value, */
    NODES_EACH = 16         /* and for each of its bytes */
};

static bool append(struct text *room, const char *data, size_t len)
{
    if (!text_reserve(room, len)) {
        return false;
    }
    if (len > 0) {
        memcpy(room->data + room->len, data, len);
    }
    room->len += len;
    return true;
}

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
        return append(room, buf, strlen(buf)) && (strchr(buf, '.') || append(room, ".0", 2));
    }
    const char *digits = exponent + 1;
    const bool is_negative = *digits == '-';
    digits += *digits == '-' || *digits == '+';
    digits += strspn(digits, "0");
    return append(room, buf, (size_t)(exponent + 1 - buf)) &&
           append(room, "-", is_negative ? 1 : 0) && append(room, digits, strlen(digits));
}

static bool put_real(struct text *room, struct unseen_bytes text)
{
    const size_t at = room->len;
    if (!append(room, text.data, text.len) || !append(room, "", 1)) {
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
           : is_rewritten(text, bare) ? append(room, "0", 1)
                                      : append(room, text.data, text.len);
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
        return append(room, sequence, 2);
    }
    if ((unsigned char)c >= 0x20) {
        return append(room, &c, 1);
    }
    (void)snprintf(sequence, sizeof(sequence), "\\u%04X", (unsigned)(unsigned char)c);
    return append(room, sequence, 6);
}

/* Puts the string between quotes with as few escapes as JSON allows. */
static bool put_string(struct text *room, struct unseen_bytes text)
{
    const char *at = text.data;
    const char *end = at + text.len;
    bool good = append(room, "\"", 1);
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
    return good && append(room, "\"", 1);
}

/* ---- Objects and arrays: parsing ------------------------------------------------------------- */

struct node {
    struct unseen_bytes name; /* between quotes; data NULL: not a member */
    struct unseen_bytes text; /* a string without its quotes; of a container its bracket */
    size_t next;              /* the node behind the subtree; while that is open, its parent */
    char kind;                /* { [ " or, for numbers and words, 0 */
};

struct tree {
    const char *at;
    const char *end;
    struct node *nodes;
    size_t n;
    size_t cap;
    size_t max;
    size_t open; /* the innermost open container; SIZE_MAX: none */
    size_t depth;
    enum unseen_status status;
};

static bool add_node(struct tree *t, struct node node)
{
    if (t->n == t->max) {
        return false;
    }
    if (t->n == t->cap) {
        size_t cap = t->cap > 0 ? t->cap * 2 : 64;
        cap = cap < t->max ? cap : t->max;
        struct node *nodes = realloc(t->nodes, cap * sizeof(*nodes));
        if (!nodes) {
            t->status = UNSEEN_ERR_NOMEM;
            return false;
        }
        t->nodes = nodes;
        t->cap = cap;
    }
    t->nodes[t->n++] = node;
    return true;
}

/* Takes the string in front. */
static bool take_string(struct tree *t, struct unseen_bytes *text_out)
{
    const char *begin = t->at + 1;
    const char *quote = t->at < t->end && *t->at == '"' ? json_string_end(begin, t->end) : NULL;
    if (!quote) {
        return false;
    }
    *text_out = (struct unseen_bytes){begin, (size_t)(quote - begin)};
    t->at = json_skip_space(quote + 1, t->end);
    return has_valid_escapes(*text_out);
}

/* Takes the name of a member and its colon. */
static bool take_name(struct tree *t, struct unseen_bytes *name_out)
{
    if (!take_string(t, name_out) || t->at == t->end || *t->at != ':') {
        return false;
    }
    t->at = json_skip_space(t->at + 1, t->end);
    return true;
}

static bool take_scalar(struct tree *t, struct node node)
{
    if (*t->at == '"') {
        node.kind = '"';
        if (!take_string(t, &node.text)) {
            return false;
        }
    } else {
        const char *end = json_bare_end(t->at, t->end);
        node.text = (struct unseen_bytes){t->at, (size_t)(end - t->at)};
        if (bare_of(node.text) == BARE_OTHER) {
            return false;
        }
        t->at = json_skip_space(end, t->end);
    }
    node.next = t->n + 1;
    return add_node(t, node);
}

static bool closes(const struct tree *t)
{
    return t->open != SIZE_MAX && t->at < t->end &&
           *t->at == (t->nodes[t->open].kind == '{' ? '}' : ']');
}

static void close_container(struct tree *t)
{
    struct node *container = &t->nodes[t->open];
    t->open = container->next;
    container->next = t->n;
    t->depth--;
    t->at = json_skip_space(t->at + 1, t->end);
}

/* Takes a scalar, or opens a container. */
static bool take_value(struct tree *t, bool *opened_out)
{
    struct node node = {.next = t->open};
    *opened_out = false;
    if (t->open != SIZE_MAX && t->nodes[t->open].kind == '{' && !take_name(t, &node.name)) {
        return false;
    }
    if (t->at == t->end) {
        return false;
    }
    if (*t->at != '{' && *t->at != '[') {
        return take_scalar(t, node);
    }
    node.kind = *t->at;
    if (t->depth++ == DEPTH_MAX || !add_node(t, node)) {
        return false;
    }
    t->open = t->n - 1;
    t->at = json_skip_space(t->at + 1, t->end);
    *opened_out = !closes(t); /* an empty one is closed below */
    return true;
}

static bool parse(struct tree *t)
{
    bool opened = true;
    for (;;) {
        if (!take_value(t, &opened)) {
            return false;
        }
        if (opened) {
            continue;
        }
        while (closes(t)) {
            close_container(t);
        }
        if (t->open == SIZE_MAX) {
            return t->at == t->end;
        }
        if (t->at == t->end || *t->at != ',') {
            return false;
        }
        t->at = json_skip_space(t->at + 1, t->end);
    }
}

/* ---- Objects and arrays: printing ------------------------------------------------------------ */

struct member {
    struct unseen_bytes name;
    size_t node;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a;
    const struct member *y = b;
    const int order = json_compare(x->name, y->name);
    return order != 0 ? order : (x->node > y->node) - (x->node < y->node);
}

static bool put_node(const struct tree *t, size_t i, struct text *room);

static bool put_array(const struct tree *t, size_t i, struct text *room)
{
    bool good = append(room, "[", 1);
    for (size_t child = i + 1; good && child < t->nodes[i].next; child = t->nodes[child].next) {
        good = append(room, ",", child > i + 1 ? 1 : 0) && put_node(t, child, room);
    }
    return good && append(room, "]", 1);
}

static bool put_members(const struct tree *t, const struct member *members, size_t n,
                        struct text *room)
{
    bool good = append(room, "{", 1);
    bool is_first = true;
    for (size_t i = 0; i < n && good; i++) {
        if (i + 1 < n && json_compare(members[i].name, members[i + 1].name) == 0) {
            continue; /* a later one counts */
        }
        good = append(room, ",", is_first ? 0 : 1) && put_string(room, members[i].name) &&
               append(room, ":", 1) && put_node(t, members[i].node, room);
        is_first = false;
    }
    return good && append(room, "}", 1);
}

static bool put_object(const struct tree *t, size_t i, struct text *room)
{
    size_t n = 0;
    for (size_t child = i + 1; child < t->nodes[i].next; child = t->nodes[child].next) {
        n++;
    }
    struct member *members = malloc((n > 0 ? n : 1) * sizeof(*members));
    if (!members) {
        return false;
    }
    n = 0;
    for (size_t child = i + 1; child < t->nodes[i].next; child = t->nodes[child].next) {
        members[n++] = (struct member){t->nodes[child].name, child};
    }
    qsort(members, n, sizeof(*members), compare_members);
    const bool good = put_members(t, members, n, room);
    free(members);
    return good;
}

/* It calls itself for each level, of which there are DEPTH_MAX at most. */
static bool put_node(const struct tree *t, size_t i, struct text *room)
{
    const struct node *node = &t->nodes[i];
    return node->kind == '{'   ? put_object(t, i, room)
           : node->kind == '[' ? put_array(t, i, room)
           : node->kind == '"' ? put_string(room, node->text)
                               : put_bare(room, node->text);
}

/* ---- Any value ------------------------------------------------------------------------------- */

static enum unseen_status container_text(struct unseen_bytes value, struct text *room,
                                         struct unseen_bytes *text_out)
{
    const size_t each = value.len < (SIZE_MAX - NODES_BYTES) / NODES_EACH ? value.len * NODES_EACH
                                                                          : SIZE_MAX - NODES_BYTES;
    struct tree t = {
        .at = value.data,
        .end = value.data + value.len,
        .max = (NODES_BYTES + each) / sizeof(struct node),
        .open = SIZE_MAX,
    };
    const size_t at = room->len;
    if (parse(&t)) {
        if (put_node(&t, 0, room)) {
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
