/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include <limits.h>
#include <stdint.h>

int settings_u64(PyObject *object, void *out)
{
    PyObject *number = PyNumber_Index(object);
    if (!number) {
        return 0;
    }
    *(uint64_t *)out = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    return PyErr_Occurred() ? 0 : 1;
}

int settings_unsigned(PyObject *object, void *out)
{
    uint64_t value;
    if (!settings_u64(object, &value)) {
        return 0;
    }
    if (value > UINT_MAX) {
        PyErr_Format(PyExc_OverflowError, "%R is too large", object);
        return 0;
    }
    *(unsigned *)out = (unsigned)value;
    return 1;
}
