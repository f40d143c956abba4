/* SPDX-License-Identifier: MIT
 *
 * Numbers as arguments, of which "K" and "I" of PyArg_Parse would cut whole ones, and "d" would
 * take True; and times. */
#ifndef UNSEEN_PYTHON_SETTINGS_H
#define UNSEEN_PYTHON_SETTINGS_H

#include <stdbool.h>

#include "state.h"

/* A number, and its bounds. */
struct setting {
    const struct state *state;
    const char *name;
    uint64_t min;
    uint64_t max;
    uint64_t value;
};

/* A converter ("O&") into a struct setting: TypeError, or SettingError for a number out of its
 * bounds. */
int settings_number(PyObject *object, void *setting);

/* The same for a number of bytes, which may be text with a K, M, G or T. */
int settings_size(PyObject *object, void *setting);

/* The same for a number that need not be whole, without bounds. */
struct real_setting {
    const char *name;
    double value;
};

int settings_real(PyObject *object, void *setting);

/* A number of seconds, and what it is called. */
struct time_setting {
    const struct state *state;
    const char *name;
    uint64_t ms;
    bool is_given;
    bool is_of_day; /* since 1970 */
};

/* Converters into a struct time_setting: TypeError, or SettingError. The first takes a window: a
 * number of seconds, or text such as '10m'; 0 and None mean that there is none. The second takes a
 * time in seconds. */
int settings_window(PyObject *object, void *setting);
int settings_time(PyObject *object, void *setting);

#endif
