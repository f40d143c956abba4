/* SPDX-License-Identifier: MIT
 *
 * Takes Arrow arrays out of Python objects. */
#ifndef UNSEEN_PYTHON_ARROW_H
#define UNSEEN_PYTHON_ARROW_H

#include "arrow_read.h"
#include "state.h"

enum {
    ARROW_ROWS_BETWEEN_SIGNALS = 65536 /* a multiple of ITEMS_BATCH */
};

/* The function that handles each array. It returns false with an exception set. */
struct arrow_taker {
    bool (*take)(struct arrow_taker *taker, const struct arrow_strings *strings);
};

/* Takes each array that an object with __arrow_c_stream__ or __arrow_c_array__ stands for, after a
 * check. False with an exception set. */
bool arrow_take(struct arrow_taker *taker, PyObject *object);

#endif
