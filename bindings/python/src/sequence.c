/* SPDX-License-Identifier: MIT */
#include "sequence.h"

PyObject *sequence_index(PyObject *self, PyObject *args)
{
    PyObject *list = PySequence_List(self);
    PyObject *index = list ? PyObject_GetAttrString(list, "index") : NULL;
    PyObject *place = index ? PyObject_CallObject(index, args) : NULL;
    Py_XDECREF(index);
    Py_XDECREF(list);
    return place;
}

PyObject *sequence_reversed(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    PyObject *list = PySequence_List(self);
    PyObject *iterator = list ? PyObject_CallMethod(list, "__reversed__", NULL) : NULL;
    Py_XDECREF(list);
    return iterator;
}
