/* SPDX-License-Identifier: MIT
 *
 * A mask: the answers to many questions, True, False or None (for a null of an Arrow array). */
#ifndef UNSEEN_PYTHON_MASK_H
#define UNSEEN_PYTHON_MASK_H

#include "state.h"

#include <stdbool.h>

enum {
    MASK_NULL = 2 /* beside 0 and 1 */
};

/* The values of a mask that is being made. */
struct mask_buffer {
    uint8_t *values;
    size_t n;
    size_t cap;
};

/* Makes room for n more values behind the first buffer->n. False with a MemoryError. */
bool mask_reserve(struct mask_buffer *buffer, size_t n);

/* Makes a mask of the buffer, which is then empty. NULL with an exception set. */
PyObject *mask_take(const struct state *state, struct mask_buffer *buffer);
void mask_release(struct mask_buffer *buffer);

#endif
