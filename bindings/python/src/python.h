/* SPDX-License-Identifier: MIT
 *
 * The C interface of Python, in the form that every file here needs: with the lengths of "s#" as
 * Py_ssize_t. Py_LIMITED_API comes from setup.py. */
#ifndef UNSEEN_PYTHON_PYTHON_H
#define UNSEEN_PYTHON_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#endif
