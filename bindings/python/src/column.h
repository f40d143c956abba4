/* SPDX-License-Identifier: MIT
 *
 * unseen.Strings: a column of canonical forms, which is a sequence of Python and an Arrow array. */
#ifndef UNSEEN_PYTHON_COLUMN_H
#define UNSEEN_PYTHON_COLUMN_H

#include "state.h"

/* The canonical forms of the rows of an object with __arrow_c_stream__ or __arrow_c_array__. NULL
 * with an exception set. */
PyObject *column_of_forms(const struct state *state, const struct unseen_url *url,
                          PyObject *object);

#endif
