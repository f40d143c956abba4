/* SPDX-License-Identifier: MIT
 *
 * Postfix's tcp_table: a table that is asked over a connection, a line each. docs/postfix.md has the
 * configuration.
 *
 *     get jo@evil.example      200 REJECT%20listed
 *     get jo@good.example      500 not%20listed
 *     what                     400 there%20is%20only%20get%20KEY
 *
 * White space, % and all that is not printable is %-escaped on both sides. Postfix asks for whole
 * keys only, so domains above and networks are looked up here. */
#include "serve/talk.h"

#include <stdio.h>
#include <string.h>

enum {
    LINE_BYTES = 4096 /* tcp_table(5): both ways */
};

static void put(struct talk *t, const char *code, const char *text)
{
    talk_puts(t, code);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        char escaped[4];
        if (c > 0x20 && c < 0x7f && c != '%') {
            talk_put(t, text, 1);
        } else {
            snprintf(escaped, sizeof(escaped), "%%%02X", (unsigned)c);
            talk_puts(t, escaped);
        }
    }
    talk_puts(t, "\n");
}

static void answer_key(struct talk *t, struct unseen_bytes word)
{
    char key[LINE_BYTES];
    size_t len = 0;
    if (!talk_unescape(word, key, &len)) {
        put(t, "400 ", "a % without two hexadecimal digits");
        return;
    }
    switch (lookup(t->lookup, LOOKUP_KEY, (struct unseen_bytes){key, len})) {
    case LOOKUP_LISTED:
        put(t, "200 ", t->reply ? t->reply : "REJECT listed");
        break;
    case LOOKUP_ABSENT:
        put(t, "500 ", "not listed");
        break;
    case LOOKUP_TROUBLE:
        put(t, "400 ", "the list cannot be read");
    }
}

static size_t take(struct talk *t, const char *data, size_t len, bool at_end)
{
    struct unseen_bytes line;
    size_t used = 0;
    const enum talk_line kind = talk_line(t, data, len, at_end, &line, &used);
    if (kind == TALK_NONE || kind == TALK_SKIPPED) {
        return used;
    }
    const bool too_long = kind == TALK_LONG || line.len > LINE_BYTES;
    if (too_long) {
        put(t, "400 ", "the line is too long");
    } else if (line.len >= 4 && memcmp(line.data, "get ", 4) == 0) {
        answer_key(t, (struct unseen_bytes){line.data + 4, line.len - 4});
    } else {
        put(t, "400 ", "there is only get KEY");
    }
    return used;
}

const struct dialect tcp_table_dialect = {
    .name = "tcp-table", .take = take, .asks = 1u << LOOKUP_KEY, .has_reply = true};
