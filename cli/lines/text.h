/* SPDX-License-Identifier: MIT
 *
 * A piece of memory that grows, and moves when it does. All zero is an empty one. */
#ifndef UNSEEN_CLI_TEXT_H
#define UNSEEN_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *data;
    size_t len;
    size_t cap;
};

/* Makes room for n bytes behind data[0..len); false without memory, and nothing has changed. */
bool text_reserve(struct text *t, size_t n);

/* Empties it, and gives memory back if that is more than a usual amount. */
void text_clear(struct text *t);

void text_release(struct text *t);

#endif
