/* SPDX-License-Identifier: MIT
 *
 * Converters for PyArg_Parse ("O&") that refuse numbers outside the C type, which its own "K" and
 * "I" cut. Negative and too large numbers raise OverflowError. */
#ifndef UNSEEN_PYTHON_SETTINGS_H
#define UNSEEN_PYTHON_SETTINGS_H

#include "python.h"

/* Into a uint64_t. */
int settings_u64(PyObject *object, void *out);

/* Into an unsigned. */
int settings_unsigned(PyObject *object, void *out);

#endif
