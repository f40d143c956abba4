/* SPDX-License-Identifier: MIT */
#include "lines/text.h"

#include <stdint.h>
#include <stdlib.h>

enum {
    FIRST_BYTES = 16 * 1024,
    USUAL_BYTES = 1024 * 1024
};

bool text_reserve(struct text *t, size_t n)
{
    if (n <= t->cap - t->len) {
        return true;
    }
    if (n > SIZE_MAX - t->len) {
        return false;
    }
    const size_t need = t->len + n;
    size_t cap = t->cap <= SIZE_MAX / 2 ? t->cap * 2 : SIZE_MAX;
    cap = cap > FIRST_BYTES ? cap : FIRST_BYTES;
    cap = cap > need ? cap : need;
    char *data = realloc(t->data, cap);
    if (!data) {
        return false;
    }
    t->data = data;
    t->cap = cap;
    return true;
}

void text_clear(struct text *t)
{
    t->len = 0;
    if (t->cap > USUAL_BYTES) {
        text_release(t);
    }
}

void text_release(struct text *t)
{
    free(t->data);
    *t = (struct text){NULL, 0, 0};
}
