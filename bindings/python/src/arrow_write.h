/* SPDX-License-Identifier: MIT
 *
 * Makes Arrow arrays, as the pair of capsules that __arrow_c_array__ returns. */
#ifndef UNSEEN_PYTHON_ARROW_WRITE_H
#define UNSEEN_PYTHON_ARROW_WRITE_H

#include "arrow_texts.h"
#include "state.h"

/* Takes the arguments of __arrow_c_array__. A requested schema is a wish, which need not be met.
 * False with a TypeError. */
bool arrow_write_arguments(PyObject *args, PyObject *kwargs);

/* An array of booleans from the values of a mask. */
PyObject *arrow_write_mask(const uint8_t *values, size_t n);

/* An array of strings, or of bytes, that shares the column. */
PyObject *arrow_write_texts(struct arrow_texts *texts);

#endif
