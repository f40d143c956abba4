/* SPDX-License-Identifier: MIT */
#include "lines/key_option.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "characters.h"
#include "lines/json_text.h"

/* ---- Parsing --------------------------------------------------------------------------------- */

/* Reads digits; false if there are none, or if they are not a size_t. Moves *at behind them. */
static bool parse_digits(const char **at, size_t *number_out)
{
    uint64_t number;
    const size_t ndigits = read_decimal(*at, strlen(*at), &number);
    if (ndigits == 0 || number >= SIZE_MAX) {
        return false;
    }
    *number_out = (size_t)number;
    *at += ndigits;
    return true;
}

/* Parses a name in quotes, which may have the escapes of a JSON string. */
static bool parse_quoted(const char **at, struct unseen_bytes *name_out)
{
    const char *begin = *at + 1;
    const char *quote = json_string_end(begin, begin + strlen(begin));
    if (!quote) {
        return false;
    }
    *name_out = (struct unseen_bytes){begin, (size_t)(quote - begin)};
    *at = quote + 1;
    char bytes[JSON_BYTES_MAX];
    for (const char *p = begin; (p = memchr(p, '\\', (size_t)(quote - p)));) {
        if (json_unescape(&p, quote, bytes) == 0) {
            return false;
        }
    }
    return true;
}

/* Parses ".name" or ".7", which is a name or an index. */
static bool parse_plain(const char **at, struct json_step *step)
{
    const size_t len = strcspn(*at, ".[],\"\\");
    const char *digits = *at;
    step->name = (struct unseen_bytes){*at, len};
    if (!parse_digits(&digits, &step->index) || digits != *at + len) {
        step->index = SIZE_MAX;
    }
    *at += len;
    return len > 0;
}

/* Parses "[7]" or "["name"]". */
static bool parse_bracket(const char **at, struct json_step *step)
{
    (*at)++;
    const bool good = **at == '"' ? parse_quoted(at, &step->name) : parse_digits(at, &step->index);
    return good && *(*at)++ == ']';
}

static bool parse_step(const char **at, struct json_step *step)
{
    *step = (struct json_step){{NULL, 0}, SIZE_MAX};
    if (**at == '.') {
        (*at)++;
        if (**at == '[') {
            return parse_bracket(at, step);
        }
        return **at == '"' ? parse_quoted(at, &step->name) : parse_plain(at, step);
    }
    return **at == '[' && parse_bracket(at, step);
}

static bool parse_part(struct key *key, const char **at)
{
    struct key_part *part = &key->parts[key->nparts];
    *part = (struct key_part){.text = *at, .first = key->nsteps};
    if (**at != '.' && (!parse_digits(at, &part->field) || part->field == 0)) {
        return false;
    }
    while (**at == '.' || **at == '[') {
        if (key->nsteps == KEY_STEPS_MAX || !parse_step(at, &key->steps[key->nsteps])) {
            return false;
        }
        key->nsteps++;
        part->nsteps++;
    }
    part->len = (size_t)(*at - part->text);
    key->nparts++;
    return true;
}

bool key_parse(struct key *key, const char *text)
{
    key->nparts = 0;
    key->nsteps = 0;
    for (;;) {
        if (key->nparts == KEY_PARTS_MAX || !parse_part(key, &text)) {
            return false;
        }
        if (*text == '\0') {
            return true;
        }
        if (*text++ != ',') {
            return false;
        }
    }
}

/* $.url, url and jq's .[].url and .a[] have a form that is taken here. */
bool key_suggest(const char *text, char *hint, size_t size)
{
    struct key key;
    const char *brackets = strstr(text, "[]");
    if (text[0] == '$' && (text[1] == '.' || text[1] == '[')) {
        (void)snprintf(hint, size, "%s%s", text[1] == '[' ? "." : "", text + 1);
    } else if (brackets) {
        const bool is_first = brackets == text + 1 && text[0] == '.';
        (void)snprintf(hint, size, "%.*s%s%s", (int)(brackets - text) - is_first, text,
                       is_first ? "" : "[0]", brackets + 2);
    } else {
        const bool is_name = strcspn(text, "0123456789-.") > 0;
        (void)snprintf(hint, size, "%s%s", is_name ? "." : "", text);
    }
    return strlen(hint) + 1 < size && key_parse(&key, hint);
}

bool key_has_path(const struct key *key)
{
    return key->nsteps > 0;
}

bool key_has_field(const struct key *key)
{
    for (size_t i = 0; i < key->nparts; i++) {
        if (key->parts[i].field > 0) {
            return true;
        }
    }
    return false;
}

/* ---- Finding --------------------------------------------------------------------------------- */

/* The field'th field, from 1, of a line; its data is NULL if the line has fewer. Separators are
 * single bytes and never quoted, as for cut(1). */
static struct unseen_bytes find_field(struct unseen_bytes line, char separator, size_t field)
{
    const char *at = line.data;
    size_t left = line.len;
    for (;;) {
        const char *end = left ? memchr(at, separator, left) : NULL;
        if (--field == 0) {
            return (struct unseen_bytes){at, end ? (size_t)(end - at) : left};
        }
        if (!end) {
            return (struct unseen_bytes){NULL, 0};
        }
        left -= (size_t)(end - at) + 1;
        at = end + 1;
    }
}

/* Finds the field of a part, and the value at its path. The data is NULL if there is no such
 * part. */
static struct unseen_bytes find_value(const struct key *key, const struct key_part *p,
                                      char separator, struct unseen_bytes line)
{
    const struct unseen_bytes none = {NULL, 0};
    struct unseen_bytes text = line;
    struct unseen_bytes value = none;
    if (p->field > 0) {
        text = find_field(line, separator, p->field);
    }
    if (p->nsteps == 0 || !text.data) {
        return text;
    }
    /* JSON may hold the separator, so the field ends where the JSON does. */
    const int behind = p->field > 0 ? (unsigned char)separator : JSON_NO_BYTE;
    text.len = line.len - (size_t)(text.data - line.data);
    return json_find(text, key->steps + p->first, p->nsteps, behind, &value) ? value : none;
}

const struct key_part *key_find_container(const struct key *key, char separator,
                                          struct unseen_bytes line, struct unseen_bytes *value_out)
{
    for (size_t i = 0; i < key->nparts; i++) {
        const struct key_part *p = &key->parts[i];
        *value_out = find_value(key, p, separator, line);
        if (p->nsteps > 0 && value_out->data && json_is_container(*value_out)) {
            return p;
        }
    }
    return NULL;
}

enum unseen_status key_find(const struct key *key, size_t part, char separator,
                            struct unseen_bytes line, struct text *room,
                            struct unseen_bytes *text_out)
{
    const struct key_part *p = &key->parts[part];
    *text_out = find_value(key, p, separator, line);
    return p->nsteps > 0 && text_out->data ? json_text(*text_out, room, text_out) : UNSEEN_OK;
}
