/* SPDX-License-Identifier: MIT
 *
 * The module unseen._unseen: puts the types and functions of the other files together. The package
 * (unseen/__init__.py) has everything that needs no C. */
#include "errors.h"
#include "gate.h"
#include "state.h"

#include <stdbool.h>

PyObject *state_no_pickle(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return PyErr_Format(PyExc_TypeError,
                        "%R holds C memory, which cannot be pickled or copied: save it to a file, "
                        "or let processes share one through `unseen serve` (unseen.connect)",
                        Py_TYPE(self));
}

/* A type, and where the state has it. */
struct type_row {
    PyType_Spec *spec;
    PyTypeObject **place;
};

enum {
    TYPES = 7
};

static void type_rows(struct state *state, struct type_row rows[TYPES])
{
    rows[0] = (struct type_row){&set_spec, &state->set_type};
    rows[1] = (struct type_row){&store_spec, &state->store_type};
    rows[2] = (struct type_row){&list_spec, &state->list_type};
    rows[3] = (struct type_row){&bitmap_spec, &state->bitmap_type};
    rows[4] = (struct type_row){&bitmap_iterator_spec, &state->bitmap_iterator_type};
    rows[5] = (struct type_row){&mask_spec, &state->mask_type};
    rows[6] = (struct type_row){&strings_spec, &state->strings_type};
}

static bool add_types(PyObject *module, struct state *state)
{
    struct type_row rows[TYPES];
    type_rows(state, rows);
    for (int i = 0; i < TYPES; i++) {
        PyObject *type = PyType_FromModuleAndSpec(module, rows[i].spec, NULL);
        *rows[i].place = (PyTypeObject *)type;
        if (!type || PyModule_AddType(module, (PyTypeObject *)type) < 0) {
            return false;
        }
    }
    return true;
}

static int module_exec(PyObject *module)
{
    struct state *state = PyModule_GetState(module);
    if (!gate_setup() || errors_add(module, state) < 0) {
        return -1;
    }
    state->urls = PyDict_New();
    if (!state->urls || !add_types(module, state) ||
        PyModule_AddFunctions(module, url_methods) < 0 ||
        PyModule_AddFunctions(module, store_functions) < 0 ||
        PyModule_AddFunctions(module, mask_functions) < 0 ||
        PyModule_AddFunctions(module, arrow_functions) < 0) {
        return -1;
    }
    return PyModule_AddStringConstant(module, "__version__", unseen_version());
}

static int module_clear(PyObject *module)
{
    struct state *state = PyModule_GetState(module);
    for (int i = 0; i < ERROR_KINDS; i++) {
        Py_CLEAR(state->errors[i]);
    }
    struct type_row rows[TYPES];
    type_rows(state, rows);
    for (int i = 0; i < TYPES; i++) {
        Py_CLEAR(*rows[i].place);
    }
    Py_CLEAR(state->urls);
    return 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    struct state *state = PyModule_GetState(module);
    for (int i = 0; i < ERROR_KINDS; i++) {
        Py_VISIT(state->errors[i]);
    }
    struct type_row rows[TYPES];
    type_rows(state, rows);
    for (int i = 0; i < TYPES; i++) {
        Py_VISIT((PyObject *)*rows[i].place);
    }
    Py_VISIT(state->urls);
    return 0;
}

static void module_free(void *module)
{
    (void)module_clear(module);
}

/* A PyModuleDef_Slot has a void pointer for a function. */
static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "unseen._unseen",
    .m_doc = PyDoc_STR("The C part of the package unseen."),
    .m_size = sizeof(struct state),
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__unseen(void)
{
    return PyModuleDef_Init(&module_def);
}
