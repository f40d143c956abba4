/* SPDX-License-Identifier: MIT
 *
 * What the module keeps: one struct for each interpreter that imports it. */
#ifndef UNSEEN_PYTHON_STATE_H
#define UNSEEN_PYTHON_STATE_H

#include "python.h"

#include <stddef.h>
#include <structmember.h>
#include <unseen.h>

enum error_kind {
    ERROR_ANY,
    ERROR_SETTING,
    ERROR_UNSUPPORTED,
    ERROR_READ_ONLY,
    ERROR_BUSY,
    ERROR_DAMAGED,
    ERROR_MISMATCH,
    ERROR_FILE,
    ERROR_MISSING,
    ERROR_STOPPED,
    ERROR_CLOSED,
    ERROR_KINDS
};

struct state {
    PyObject *errors[ERROR_KINDS];
    PyTypeObject *set_type;
    PyTypeObject *store_type;
    PyTypeObject *list_type;
    PyTypeObject *bitmap_type;
    PyTypeObject *bitmap_iterator_type;
    PyTypeObject *mask_type;
    PyTypeObject *strings_type;
    PyObject *urls; /* dict: the canonicalisers in use, see url.h */
};

/* The state behind an object of one of the module's types, which have no subclasses. */
static inline struct state *state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

/* The functions of the concepts, to be added to the module. Each array ends with an empty entry. */
extern PyMethodDef url_methods[];
extern PyMethodDef store_functions[];
extern PyMethodDef mask_functions[];
extern PyMethodDef arrow_functions[];

extern PyType_Spec set_spec;
extern PyType_Spec store_spec;
extern PyType_Spec list_spec;
extern PyType_Spec bitmap_spec;
extern PyType_Spec mask_spec;
extern PyType_Spec strings_spec;
extern PyType_Spec bitmap_iterator_spec;

/* __reduce__ of every type: refuses to be pickled or copied. */
PyObject *state_no_pickle(PyObject *self, PyObject *ignored);
#define STATE_NO_PICKLE                                                                            \
    {                                                                                              \
        "__reduce__", state_no_pickle, METH_NOARGS, NULL                                           \
    }

/* The members of a type whose objects can be referred to weakly: PyObject *weak_references in
 * struct `object`, and PyObject_ClearWeakRefs in tp_dealloc. */
#define STATE_WEAK_MEMBERS(object)                                                                 \
    {                                                                                              \
        {"__weaklistoffset__", T_PYSSIZET, offsetof(object, weak_references), READONLY, NULL},     \
        {                                                                                          \
            NULL, 0, 0, 0, NULL                                                                    \
        }                                                                                          \
    }

#endif
