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
 * here. A netstring that is none ends the conversation, as nobody knows where the next one starts. */
#include "serve/talk.h"

#include <stdio.h>
#include <string.h>

enum {
    MESSAGE_BYTES = 100000, /* socketmap_table(5) */
    LENGTH_DIGITS = 6
};

static void put(struct talk *t, const char *word, const char *text)
{
    char length[32];
    snprintf(length, sizeof(length), "%zu:", strlen(word) + strlen(text));
    talk_puts(t, length);
    talk_puts(t, word);
    talk_puts(t, text);
    talk_puts(t, ",");
}

static void answer_request(struct talk *t, struct unseen_bytes request)
{
    if (request.len == 0 || !memchr(request.data, ' ', request.len)) {
        put(t, "PERM ", "a request is the name of a map, a space and a key");
        return;
    }
    (void)talk_word(&request, ' ');
    switch (lookup(t->lookup, LOOKUP_KEY, request)) {
    case LOOKUP_LISTED:
        put(t, "OK ", t->reply ? t->reply : "REJECT listed");
        break;
    case LOOKUP_ABSENT:
        put(t, "NOTFOUND ", "");
        break;
    case LOOKUP_TROUBLE:
        put(t, "TEMP ", "the list cannot be read");
    }
}

static size_t end_talk(struct talk *t, size_t len, const char *sentence)
{
    put(t, "PERM ", sentence);
    t->over = true;
    return len;
}

static size_t take(struct talk *t, const char *data, size_t len, bool at_end)
{
    size_t size = 0;
    size_t i = 0;
    (void)at_end;
    for (; i < len && i < LENGTH_DIGITS && data[i] >= '0' && data[i] <= '9'; i++) {
        size = size * 10 + (size_t)(data[i] - '0');
    }
    if (i == len) {
        return 0;
    }
    if (i == 0 || data[i] != ':') {
        return end_talk(t, len, "not a netstring");
    }
    if (size > MESSAGE_BYTES) {
        return end_talk(t, len, "the request is too long");
    }
    if (len - i - 1 < size + 1) {
        return 0;
    }
    const char *begin = data + i + 1;
    if (begin[size] != ',') {
        return end_talk(t, len, "a netstring ends in a comma");
    }
    answer_request(t, (struct unseen_bytes){begin, size});
    return i + 1 + size + 1;
}

const struct dialect socketmap_dialect = {
    .name = "socketmap", .take = take, .asks = 1u << LOOKUP_KEY, .has_reply = true};
