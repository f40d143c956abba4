/* SPDX-License-Identifier: MIT
 *
 * Which part of a line is its key: the value of -k. A key has parts, separated by commas; a part is
 * a field, a path into JSON, or a field that JSON begins in, with a path:
 *
 *     2    .link.url    .links[0].href    ."a.b"    3.url    1,3    .user,.url */
#ifndef UNSEEN_CLI_KEY_OPTION_H
#define UNSEEN_CLI_KEY_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include <unseen.h>

#include "lines/json_scan.h"
#include "lines/text.h"

enum {
    KEY_PARTS_MAX = 16,
    KEY_STEPS_MAX = 64 /* of all paths */
};

struct key_part {
    const char *text; /* as it stands in the text of the key */
    size_t len;
    size_t field;  /* from 1; 0: the whole line */
    size_t first;  /* of the steps */
    size_t nsteps; /* 0: no path */
};

struct key {
    struct key_part parts[KEY_PARTS_MAX];
    size_t nparts; /* 0: the whole line is the key */
    struct json_step steps[KEY_STEPS_MAX];
    size_t nsteps;
};

/* Parses text, which must outlive the key. False if it is not a key. */
bool key_parse(struct key *key, const char *text);

/* Writes what was probably meant by a text that is not a key, for a hint, into `size` bytes. False
 * if that is not known. */
bool key_suggest(const char *text, char *hint, size_t size);

/* True if a part is a path into JSON; true if a part is a field. */
bool key_has_path(const struct key *key);
bool key_has_field(const struct key *key);

/* The part whose value in the line is an object or an array, which has no text; NULL: none.
 * *value_out is the value. */
const struct key_part *key_find_container(const struct key *key, char separator,
                                          struct unseen_bytes line, struct unseen_bytes *value_out);

/* Finds a part in a line. *text_out is a part of the line, or stands at the end of `room` and is
 * valid until room grows; its data is NULL if the line has no such part. Errors: NOMEM. */
enum unseen_status key_find(const struct key *key, size_t part, char separator,
                            struct unseen_bytes line, struct text *room,
                            struct unseen_bytes *text_out);

#endif
