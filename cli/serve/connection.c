/* SPDX-License-Identifier: MIT */
#include "serve/connection.h"

#include <string.h>

#include "characters.h"

bool connection_answer(struct connection *c)
{
    bool any = false;
    while (!c->over && !c->failed && !connection_waits(c) && c->out.len - c->sent < c->ahead &&
           !line_reader_turn_is_over(&c->in) && c->service->protocol->take(c)) {
        any = true;
    }
    return any;
}

void connection_release(struct connection *c)
{
    if (c->state) {
        c->service->protocol->end(c);
    }
    text_release(&c->in.text);
    text_release(&c->out);
    text_release(&c->news.items);
}

/* Moving the rest only when it is the smaller half keeps the work in proportion to the bytes
 * forgotten. */
void forget_front(struct text *text, size_t *at)
{
    if (*at == text->len) {
        text_clear(text);
        *at = 0;
    } else if (*at > text->len / 2) {
        memmove(text->data, text->data + *at, text->len - *at);
        text->len -= *at;
        *at = 0;
    }
}

/* ---- For protocols ----------------------------------------------------------------------- */

void connection_put(struct connection *c, const char *data, size_t len)
{
    c->failed = c->failed || !text_append(&c->out, data, len);
}

void connection_puts(struct connection *c, const char *text)
{
    connection_put(c, text, strlen(text));
}

void connection_put_error(struct connection *c, const char *sentence)
{
    connection_puts(c, "E ");
    connection_puts(c, sentence);
    connection_puts(c, "\n");
}

struct unseen_bytes cut_word(struct unseen_bytes *text, char at)
{
    const char *end = text->len > 0 ? memchr(text->data, at, text->len) : NULL;
    const struct unseen_bytes word = {text->data, end ? (size_t)(end - text->data) : text->len};
    const size_t used = word.len + (end != NULL);
    *text = (struct unseen_bytes){text->data + used, text->len - used};
    return word;
}

bool is_word(struct unseen_bytes text, const char *word)
{
    const size_t len = strlen(word);
    return text.len == len && memcmp(text.data, word, len) == 0;
}

bool percent_decode(struct unseen_bytes text, char *out, size_t *len_out)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        int byte = (unsigned char)text.data[i];
        if (byte == '%') {
            byte = text.len - i > 2 ? hex_byte(text.data + i + 1) : -1;
            if (byte < 0) {
                return false;
            }
            i += 2;
        }
        out[n++] = (char)byte;
    }
    *len_out = n;
    return true;
}
