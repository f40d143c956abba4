/* SPDX-License-Identifier: MIT
 *
 * The module unseen._unseen: puts the types and functions of the other files together. The package
 * (unseen/__init__.py) has everything that needs no C. */
#include "errors.h"
#include "gate.h"
#include "state.h"

PyObject *state_no_pickle(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return PyErr_Format(PyExc_TypeError,
                        "%R holds C memory, which cannot be pickled or copied: save it to a file, "
                        "or let processes share one through `unseen serve` (unseen.connect)",
                        Py_TYPE(self));
}

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type && PyModule_AddType(module, (PyTypeObject *)type) < 0) {
        Py_CLEAR(type);
    }
    return (PyTypeObject *)type;
}

static int module_exec(PyObject *module)
{
    struct state *state = PyModule_GetState(module);
    if (!gate_setup() || errors_add(module, state) < 0) {
        return -1;
    }
    state->urls = PyDict_New();
    state->set_type = add_type(module, &set_spec);
    state->store_type = add_type(module, &store_spec);
    state->mask_type = add_type(module, &mask_spec);
    if (!state->urls || !state->set_type || !state->store_type || !state->mask_type ||
        PyModule_AddFunctions(module, url_methods) < 0 ||
        PyModule_AddFunctions(module, store_functions) < 0) {
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
    Py_CLEAR(state->set_type);
    Py_CLEAR(state->store_type);
    Py_CLEAR(state->mask_type);
    Py_CLEAR(state->urls);
    return 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    const struct state *state = PyModule_GetState(module);
    for (int i = 0; i < ERROR_KINDS; i++) {
        Py_VISIT(state->errors[i]);
    }
    Py_VISIT((PyObject *)state->set_type);
    Py_VISIT((PyObject *)state->store_type);
    Py_VISIT((PyObject *)state->mask_type);
    Py_VISIT(state->urls);
    return 0;
}

static void module_free(void *module)
{
    struct state *state = PyModule_GetState(module);
    (void)module_clear(module);
    unseen_set_free(state->shards);
    state->shards = NULL;
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
