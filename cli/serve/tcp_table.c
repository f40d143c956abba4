/* SPDX-License-Identifier: MIT
 *
 * Postfix's tcp_table: a table that is asked over a connection, a line each. docs/postfix.md has
 * the configuration.
 *
 *     get jo@evil.example      200 REJECT%20listed
 *     get jo@good.example      500 not%20listed
 *     what                     400 there%20is%20only%20get%20KEY
 *
 * White space, % and all that is not printable is %-escaped on both sides. Postfix asks for whole
 * keys only, so domains above and networks are looked up here. */
#include "serve/connection.h"

#include <stdio.h>
#include <string.h>

static void put_reply_line(struct connection *c, const char *code, const char *text)
{
    connection_puts(c, code);
    for (; *text; text++) {
        const unsigned char byte = (unsigned char)*text;
        char escaped[4];
        if (byte > 0x20 && byte < 0x7f && byte != '%') {
            connection_put(c, text, 1);
        } else {
            snprintf(escaped, sizeof(escaped), "%%%02X", (unsigned)byte);
            connection_puts(c, escaped);
        }
    }
    connection_puts(c, "\n");
}

static void answer_key(struct connection *c, struct unseen_bytes word)
{
    char key[REQUEST_LONGEST];
    size_t len = 0;
    if (!percent_decode(word, key, &len)) {
        put_reply_line(c, "400 ", "a % without two hexadecimal digits");
        return;
    }
    const enum find_answer answer = connection_find(c, FIND_KEY, (struct unseen_bytes){key, len});
    if (answer == FIND_LISTED) {
        put_reply_line(c, "200 ", c->service->reply);
    } else if (answer == FIND_ABSENT) {
        put_reply_line(c, "500 ", "not listed");
    } else {
        put_reply_line(c, "400 ", "the list cannot be read");
    }
}

bool tcp_table_take(struct connection *c)
{
    struct unseen_bytes line;
    const enum reading reading = line_reader_line(&c->in, &line);
    if (reading == READING_LONG) {
        put_reply_line(c, "400 ", "the line is too long");
    } else if (reading == READING_WHOLE && line.len >= 4 && memcmp(line.data, "get ", 4) == 0) {
        answer_key(c, (struct unseen_bytes){line.data + 4, line.len - 4});
    } else if (reading == READING_WHOLE) {
        put_reply_line(c, "400 ", "there is only get KEY");
    }
    return reading != READING_NONE;
}
