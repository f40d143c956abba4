/* SPDX-License-Identifier: MIT
 *
 * Makes Arrow arrays, as the pair of capsules that __arrow_c_array__ returns. */
#ifndef UNSEEN_PYTHON_ARROW_WRITE_H
#define UNSEEN_PYTHON_ARROW_WRITE_H

#include "state.h"

#include <stdbool.h>

/* Takes the arguments of __arrow_c_array__. A requested schema is a wish, which need not be met. False
 * with a TypeError. */
bool arrow_write_arguments(PyObject *args, PyObject *kwargs);

/* An array of booleans from the values of a mask. */
PyObject *arrow_write_mask(const uint8_t *values, size_t n);

/* An array of strings. Item i is data[offsets[i]..offsets[i + 1]), and null if validity, unless it is
 * NULL, has no bit i. Takes the three blocks, which malloc made, in any case. */
PyObject *arrow_write_texts(size_t n, char *data, int64_t *offsets, uint8_t *validity,
                            bool is_bytes);

#endif
