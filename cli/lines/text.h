/* SPDX-License-Identifier: MIT
 *
 * Memory that grows, and moves when it does. All zero is an empty text. */
#ifndef UNSEEN_CLI_TEXT_H
#define UNSEEN_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct text {
    char *data;
    size_t len;
    size_t cap;
};

/* Makes room for n bytes behind data[0..len). False without memory; nothing has changed then. */
bool text_reserve(struct text *t, size_t n);

/* Appends n bytes, which are not bytes of the text. False without memory; nothing has changed
 * then. */
static inline bool text_append(struct text *t, const void *data, size_t n)
{
    if (!text_reserve(t, n)) {
        return false;
    }
    if (n > 0) {
        memcpy(t->data + t->len, data, n);
    }
    t->len += n;
    return true;
}

/* Empties the text, and frees its memory if that is unusually large. */
void text_clear(struct text *t);

void text_release(struct text *t);

#endif
