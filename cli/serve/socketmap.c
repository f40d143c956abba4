/* SPDX-License-Identifier: MIT
 *
 * Sendmail's socketmap, which Postfix speaks, too: netstrings "LENGTH:MAP KEY,", answered by
 * netstrings. docs/postfix.md has the configuration.
 *
 *     17:x jo@evil.example,    16:OK REJECT listed,
 *     17:x jo@good.example,     9:NOTFOUND ,
 *     3:abc,                   PERM and why
 *
 * The name of the map does not matter. Keys come whole, so domains above and networks are looked up
 * here. A broken netstring ends the conversation, as nobody knows where the next one starts. */
#include "characters.h"
#include "serve/connection.h"

#include <stdio.h>
#include <string.h>

enum {
    LENGTH_DIGITS = 6
};

static void put_netstring(struct connection *c, const char *word, const char *text)
{
    char length[32];
    snprintf(length, sizeof(length), "%zu:", strlen(word) + strlen(text));
    connection_puts(c, length);
    connection_puts(c, word);
    connection_puts(c, text);
    connection_puts(c, ",");
}

static void answer_map(struct connection *c, struct unseen_bytes request)
{
    if (request.len == 0 || !memchr(request.data, ' ', request.len)) {
        put_netstring(c, "PERM ", "a request is the name of a map, a space and a key");
        return;
    }
    (void)cut_word(&request, ' ');
    const enum find_answer answer = connection_find(c, FIND_KEY, request);
    if (answer == FIND_LISTED) {
        put_netstring(c, "OK ", c->service->reply);
    } else if (answer == FIND_ABSENT) {
        put_netstring(c, "NOTFOUND ", "");
    } else {
        put_netstring(c, "TEMP ", "the list cannot be read");
    }
}

static bool end_broken(struct connection *c, const char *sentence)
{
    put_netstring(c, "PERM ", sentence);
    c->over = true;
    return true;
}

bool socketmap_take(struct connection *c)
{
    const struct unseen_bytes text = line_reader_rest(&c->in);
    size_t size = 0;
    size_t i = 0;
    for (; i < text.len && i < LENGTH_DIGITS && is_digit(text.data[i]); i++) {
        size = size * 10 + (size_t)(text.data[i] - '0');
    }
    if (i == text.len) {
        return false;
    }
    if (i == 0 || text.data[i] != ':') {
        return end_broken(c, "not a netstring");
    }
    if (size > c->in.longest) {
        return end_broken(c, "the request is too long");
    }
    const size_t begin = i + 1;
    if (text.len - begin < size + 1) {
        return false;
    }
    if (text.data[begin + size] != ',') {
        return end_broken(c, "a netstring ends in a comma");
    }
    line_reader_take(&c->in, begin + size + 1);
    answer_map(c, (struct unseen_bytes){text.data + begin, size});
    return true;
}
