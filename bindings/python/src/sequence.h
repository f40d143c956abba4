/* SPDX-License-Identifier: MIT
 *
 * What collections.abc.Sequence has beside a length, items and iteration: for types that make a
 * list of themselves. */
#ifndef UNSEEN_PYTHON_SEQUENCE_H
#define UNSEEN_PYTHON_SEQUENCE_H

#include "python.h"

PyObject *sequence_index(PyObject *self, PyObject *args);
PyObject *sequence_reversed(PyObject *self, PyObject *ignored);

#define SEQUENCE_METHODS                                                                           \
    {"index", sequence_index, METH_VARARGS,                                                        \
     PyDoc_STR("index($self, value, start=0, stop=9223372036854775807, /)\n--\n\n"                 \
               "The place of the first value from start on and before stop; ValueError if there "  \
               "is none.")},                                                                       \
    {                                                                                              \
        "__reversed__", sequence_reversed, METH_NOARGS,                                            \
            PyDoc_STR(                                                                             \
                "__reversed__($self, /)\n--\n\nAn iterator from the last item to the first.")      \
    }

#endif
