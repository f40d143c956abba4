/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <unseen.h>

static const double TIME_OF_2100 = 4102444800;

/* bool is a number for Python; nobody means it. True, with a TypeError, if the object is one. */
static bool refuses_bool(const char *name, PyObject *object)
{
    if (PyBool_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s is a number, not %R", name, object);
    }
    return PyBool_Check(object);
}

int settings_number(PyObject *object, void *out)
{
    struct setting *setting = out;
    if (refuses_bool(setting->name, object)) {
        return 0;
    }
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

/* Says that a time is out of its bounds. Returns 0. */
static int is_no_time(const struct time_setting *setting, const char *bounds, PyObject *object)
{
    PyErr_Format(setting->state->errors[ERROR_SETTING], "%s is %s, not %R", setting->name, bounds,
                 object);
    return 0;
}

int settings_size(PyObject *object, void *out)
{
    static const char units[] = "KMGT";
    struct setting *setting = out;
    if (!PyUnicode_Check(object)) {
        return settings_number(object, out);
    }
    Py_ssize_t len = 0;
    const char *text = PyUnicode_AsUTF8AndSize(object, &len);
    char *end = NULL;
    errno = 0;
    const unsigned long long value = text ? strtoull(text, &end, 10) : 0;
    const char *unit = end && *end ? strchr(units, *end) : NULL;
    const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (!text || errno != 0 || *text < '0' || *text > '9' || end + (unit ? 1 : 0) != text + len ||
        value > UINT64_MAX >> shift) {
        PyErr_Clear();
        PyErr_Format(setting->state->errors[ERROR_SETTING],
                     "%s is a number of bytes, or one as '512M' or '2G', not %R", setting->name,
                     object);
        return 0;
    }
    setting->value = (uint64_t)value << shift;
    return 1;
}

int settings_real(PyObject *object, void *out)
{
    struct real_setting *setting = out;
    if (refuses_bool(setting->name, object)) {
        return 0;
    }
    setting->value = PyFloat_AsDouble(object);
    return setting->value != -1 || !PyErr_Occurred();
}

int settings_window(PyObject *object, void *out)
{
    static const char bounds[] = "a time from a second to 100 years, in seconds or as '90s', "
                                 "'10m', '1.5h', '30d', '2w' or '1y'";
    struct time_setting *setting = out;
    if (object == Py_None) {
        return 1;
    }
    setting->is_given = true;
    if (PyUnicode_Check(object)) {
        Py_ssize_t len = 0;
        const char *text = PyUnicode_AsUTF8AndSize(object, &len);
        if (text && strlen(text) == (size_t)len &&
            unseen_window_parse(text, &setting->ms) == UNSEEN_OK) {
            return 1;
        }
        PyErr_Clear();
        return is_no_time(setting, bounds, object);
    }
    if (refuses_bool(setting->name, object)) {
        return 0;
    }
    const double seconds = PyFloat_AsDouble(object);
    if (seconds == -1 && PyErr_Occurred()) {
        return 0;
    }
    setting->is_given = seconds != 0;
    if (seconds != 0 && !(seconds >= 1 && seconds <= 100.0 * 365 * 86400)) {
        return is_no_time(setting, bounds, object);
    }
    setting->ms = (uint64_t)(seconds * 1000 + 0.5);
    return 1;
}

int settings_time(PyObject *object, void *out)
{
    struct time_setting *setting = out;
    if (object == Py_None) {
        return 1;
    }
    if (refuses_bool(setting->name, object)) {
        return 0;
    }
    const double seconds = PyFloat_AsDouble(object);
    if (seconds == -1 && PyErr_Occurred()) {
        return 0;
    }
    if (setting->is_of_day && !(seconds >= 0.001 && seconds < TIME_OF_2100)) {
        return is_no_time(setting, "a number of seconds since 1970, above 0 and before 2100",
                          object);
    }
    if (!(seconds >= 0 && seconds <= 9007199254740992.0 / 1000)) {
        return is_no_time(setting, "a number of seconds from 0 to 2**53 / 1000", object);
    }
    setting->is_given = true;
    setting->ms = (uint64_t)(seconds * 1000 + 0.5);
    return 1;
}
