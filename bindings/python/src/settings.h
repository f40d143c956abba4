/* SPDX-License-Identifier: MIT
 *
 * Whole numbers as arguments, which "K" and "I" of PyArg_Parse would cut. */
#ifndef UNSEEN_PYTHON_SETTINGS_H
#define UNSEEN_PYTHON_SETTINGS_H

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

#endif
