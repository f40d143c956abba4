/* SPDX-License-Identifier: MIT
 *
 * From the library's errors to Python's exceptions. */
#ifndef UNSEEN_PYTHON_ERRORS_H
#define UNSEEN_PYTHON_ERRORS_H

#include "state.h"

/* A status of this module's own: the object is closed. */
#define STATUS_CLOSED ((enum unseen_status)(-1))

/* Makes the exceptions and adds them to the module. 0, or -1 with an exception set. */
int errors_add(PyObject *module, struct state *state);

/* Sets the exception of a status, with the sentence of error, or of the status if error is NULL.
 * Returns NULL. */
PyObject *errors_set(const struct state *state, enum unseen_status status,
                     const struct unseen_error *error);

/* The same about a file: an OSError gets the path, which may be NULL, and the errno number. */
PyObject *errors_set_file(const struct state *state, enum unseen_status status,
                          const struct unseen_error *error, const char *path);

/* Sets ClosedError. Returns NULL. */
PyObject *errors_closed(const struct state *state);

#endif
