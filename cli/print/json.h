/* SPDX-License-Identifier: MIT
 *
 * JSON text. */
#ifndef UNSEEN_CLI_JSON_H
#define UNSEEN_CLI_JSON_H

#include <unseen.h>

#include "print/output.h"

/* Writes bytes as a JSON string from which they can be had back: a byte XX that is not part of
 * UTF-8 is written as \udcXX, as Python's error handler "surrogateescape" maps it. */
void json_write_string(struct output *out, struct unseen_bytes bytes);

/* The same for a C string. */
static inline void json_write_text(struct output *out, const char *text)
{
    json_write_string(out, (struct unseen_bytes){text, strlen(text)});
}

/* Writes a text as a JSON string, or null if the data of the text is NULL. NULL means that there is
 * no text. An empty text has data, too, and is written as "". */
static inline void json_write_string_or_null(struct output *out, struct unseen_bytes bytes)
{
    if (bytes.data) {
        json_write_string(out, bytes);
    } else {
        output_write(out, "null", 4);
    }
}

/* Writes JSON that is made already. */
static inline void json_write(struct output *out, const char *text)
{
    output_write(out, text, strlen(text));
}

/* Puts {"count":N} and a newline, or without is_json N and the delimiter. */
void json_put_count(struct output *out, bool is_json, uint64_t n, char delimiter);

#endif
