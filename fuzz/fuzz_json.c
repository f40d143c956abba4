/* SPDX-License-Identifier: MIT
 *
 * Values inside JSON lines, compared with jansson. The first line of the input is a key as -k takes
 * it, the rest is a record. Where jansson accepts the record, both find the same text or none, and
 * a record that was cut has no key. Where jansson refuses it, a key may be found for the reasons in
 * may_answer only. */
#include "../cli/lines/key_option.h"
#include "target.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* ---- What jansson finds ---------------------------------------------------------------------- */

/* What the name of a step means; NULL: jansson does not take it as a string. */
static json_t *name_of(const struct json_step *step)
{
    char *quoted = malloc(step->name.len + 2);
    require(quoted != NULL);
    quoted[0] = '"';
    memcpy(quoted + 1, step->name.data, step->name.len);
    quoted[step->name.len + 1] = '"';
    json_t *name = json_loadb(quoted, step->name.len + 2, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    free(quoted);
    return name;
}

/* Goes a step from `at`, which may be NULL. *known_out becomes false if jansson cannot tell. */
static json_t *follow(json_t *at, const struct json_step *step, bool *known_out)
{
    if (json_is_array(at)) {
        return step->index == SIZE_MAX ? NULL : json_array_get(at, step->index);
    }
    if (!json_is_object(at) || !step->name.data) {
        return NULL;
    }
    json_t *name = name_of(step);
    *known_out = *known_out && name;
    json_t *next = NULL;
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(at, key, value)
    {
        if (name && strlen(key) == json_string_length(name) &&
            memcmp(key, json_string_value(name), strlen(key)) == 0) {
            next = value;
        }
    }
    json_decref(name);
    return next;
}

/* The text of a value as it is compared; NULL: none. The caller frees it. */
static char *text_of(const json_t *value, size_t *len_out)
{
    if (!value || json_is_null(value) || json_is_object(value) || json_is_array(value)) {
        return NULL;
    }
    if (!json_is_string(value)) {
        char *text = json_dumps(value, JSON_ENCODE_ANY);
        require(text != NULL);
        *len_out = strlen(text);
        return text;
    }
    *len_out = json_string_length(value);
    char *text = malloc(*len_out + 1);
    require(text != NULL);
    memcpy(text, json_string_value(value), *len_out);
    return text;
}

/* ---- The comparison -------------------------------------------------------------------------- */

/* True if a key may be found in a record that jansson refuses for this reason. */
static bool may_answer(enum json_error_code reason)
{
    switch (reason) {
    case json_error_invalid_utf8:     /* a byte that is no UTF-8 */
    case json_error_invalid_syntax:   /* in a value off the path, or a lone surrogate, a control
                                         character, a byte order mark, NaN */
    case json_error_numeric_overflow: /* an integer above 64 bits, 1e400 */
    case json_error_null_byte_in_key: /* a name with \u0000 */
    case json_error_stack_overflow:   /* nested deeper than jansson goes */
        return true;
    default: /* the record ends early, or something stands behind it */
        return false;
    }
}

static struct unseen_bytes find(const struct key *key, size_t part, struct unseen_bytes record,
                                struct text *room)
{
    struct unseen_bytes text = {NULL, 0};
    text_clear(room);
    require(key_find(key, part, '\t', record, room, &text) == UNSEEN_OK);
    require(text.len == 0 || text.data);
    return text;
}

/* The message about a line without the key says whether an object or an array is the reason. */
static void check_container(const struct key *key, size_t part, struct unseen_bytes record,
                            bool wanted)
{
    struct key one = *key;
    struct unseen_bytes value = {NULL, 0};
    one.parts[0] = key->parts[part];
    one.nparts = 1;
    require((key_find_container(&one, '\t', record, &value) != NULL) == wanted);
}

static void check_cut(const struct key *key, size_t part, struct unseen_bytes record,
                      struct text *room)
{
    while (record.len > 0 && strchr(" \t\r\n", record.data[record.len - 1])) {
        record.len--;
    }
    for (size_t step = 1; record.len > 0; step *= 2) {
        record.len -= record.len < step ? record.len : step;
        require(!find(key, part, record, room).data);
    }
}

static void check_part(const struct key *key, size_t part, struct unseen_bytes record,
                       struct text *room)
{
    const struct key_part *p = &key->parts[part];
    const struct unseen_bytes text = find(key, part, record, room);
    if (record.len > 0 && memchr(record.data, 0, record.len)) {
        return; /* jansson drops a byte 0, or takes it for the end */
    }
    json_error_t error;
    json_t *root = json_loadb(record.data, record.len, JSON_ALLOW_NUL, &error);
    if (!root) {
        require(!text.data || may_answer(json_error_code(&error)));
        return;
    }
    bool is_known = true;
    json_t *at = root;
    for (size_t i = 0; i < p->nsteps; i++) {
        at = follow(at, &key->steps[p->first + i], &is_known);
    }
    size_t len = 0;
    char *wanted = text_of(at, &len);
    if (is_known) {
        check_container(key, part, record, json_is_object(at) || json_is_array(at));
        require(!text.data == !wanted && (!wanted || text.len == len));
        require(len == 0 || memcmp(text.data, wanted, len) == 0);
    }
    free(wanted);
    json_decref(root);
    check_cut(key, part, record, room);
}

/* A field lies between two separators, and the last one ends the record. */
static void check_field(const struct key *key, size_t part, struct unseen_bytes record,
                        struct text *room)
{
    const struct unseen_bytes text = find(key, part, record, room);
    size_t nbefore = 0;
    size_t nfields = 1;
    for (size_t i = 0; i < record.len; i++) {
        nbefore += text.data && record.data + i < text.data && record.data[i] == '\t';
        nfields += record.data[i] == '\t';
    }
    require(!text.data == (key->parts[part].field > nfields));
    if (text.data) {
        const char *end = text.data + text.len;
        require(nbefore + 1 == key->parts[part].field);
        require(text.len == 0 || !memchr(text.data, '\t', text.len));
        require(end == record.data + record.len || *end == '\t');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct text room;
    const char *text = (const char *)data;
    const char *end = len > 0 ? memchr(text, '\n', len) : NULL;
    char name[200] = "";
    struct key key;
    if (!end || end - text >= (ptrdiff_t)sizeof(name)) {
        return 0;
    }
    memcpy(name, text, (size_t)(end - text));
    char hint[64];
    require(!key_suggest(name, hint, sizeof(hint)) || key_parse(&key, hint));
    if (!key_parse(&key, name)) {
        return 0;
    }
    const struct unseen_bytes record = {end + 1, len - (size_t)(end + 1 - text)};
    for (size_t i = 0; i < key.nparts; i++) {
        if (key.parts[i].nsteps > 0 && key.parts[i].field == 0) {
            check_part(&key, i, record, &room);
        } else if (key.parts[i].nsteps == 0) {
            check_field(&key, i, record, &room);
        } else {
            (void)find(&key, i, record, &room);
        }
    }
    return 0;
}
