/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include <stdbool.h>

int settings_number(PyObject *object, void *out)
{
    struct setting *setting = out;
    PyObject *number = PyNumber_Index(object);
    if (!number) {
        return 0;
    }
    setting->value = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    const bool is_outside = PyErr_Occurred();
    if (is_outside && !PyErr_ExceptionMatches(PyExc_OverflowError)) {
        return 0;
    }
    if (is_outside || setting->value < setting->min || setting->value > setting->max) {
        PyErr_Clear();
        PyErr_Format(setting->state->errors[ERROR_SETTING],
                     "%s is a number from %llu to %llu, not %R", setting->name,
                     (unsigned long long)setting->min, (unsigned long long)setting->max, object);
        return 0;
    }
    return 1;
}
