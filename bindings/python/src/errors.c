/* SPDX-License-Identifier: MIT */
#include "errors.h"

#include <errno.h>
#include <string.h>

struct error_class {
    const char *name; /* in the module unseen */
    const char *doc;
    PyObject **builtin; /* a second base, so that the usual except clauses work; NULL: none */
};

static const struct error_class *classes(void)
{
    static struct error_class table[ERROR_KINDS];
    table[ERROR_ANY] =
        (struct error_class){"unseen.Error", "What went wrong, in a sentence.", NULL};
    table[ERROR_SETTING] = (struct error_class){
        "unseen.SettingError", "A setting is unknown or out of its range.", &PyExc_ValueError};
    table[ERROR_UNSUPPORTED] = (struct error_class){"unseen.UnsupportedError",
                                                    "This filter or build cannot do that.", NULL};
    table[ERROR_READ_ONLY] =
        (struct error_class){"unseen.ReadOnlyError", "The store is open to be read only.", NULL};
    table[ERROR_BUSY] = (struct error_class){
        "unseen.BusyError", "Another process is writing to the file.", &PyExc_BlockingIOError};
    table[ERROR_DAMAGED] = (struct error_class){
        "unseen.DamagedError",
        "The data is damaged, of another version, or not what it claims to be.", NULL};
    table[ERROR_MISMATCH] = (struct error_class){
        "unseen.MismatchError", "Two things were made with different settings.", NULL};
    table[ERROR_FILE] = (struct error_class){
        "unseen.FileError", "A file could not be read or written.", &PyExc_OSError};
    table[ERROR_MISSING] = (struct error_class){"unseen.MissingError", "There is no such file.",
                                                &PyExc_FileNotFoundError};
    table[ERROR_STOPPED] = (struct error_class){
        "unseen.StoppedError", "An earlier error has stopped the object: open it again.", NULL};
    table[ERROR_CLOSED] =
        (struct error_class){"unseen.ClosedError", "The object is closed.", &PyExc_ValueError};
    return table;
}

/* __str__ of an OSError: the sentence alone, as of the other errors. */
static PyObject *sentence_of(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    PyObject *sentence = PyObject_GetAttrString(self, "strerror");
    if (sentence && !PyUnicode_Check(sentence)) {
        Py_DECREF(sentence);
        sentence = PyObject_CallMethod(PyExc_OSError, "__str__", "O", self);
    }
    return sentence;
}

static bool set_str(PyObject *class)
{
    static PyMethodDef method = {"__str__", sentence_of, METH_NOARGS, NULL};
    PyObject *str = PyDescr_NewMethod((PyTypeObject *)class, &method);
    const int failed = str ? PyObject_SetAttrString(class, "__str__", str) : -1;
    Py_XDECREF(str);
    return !failed;
}

/* The errno number of an error; 0: it is no OSError. */
static int code_of(enum error_kind kind, const struct unseen_error *error)
{
    switch (kind) {
    case ERROR_BUSY:
        return EAGAIN;
    case ERROR_MISSING:
        return ENOENT;
    case ERROR_FILE:
        return error && error->code ? error->code : EIO;
    default:
        return 0;
    }
}

static PyObject *make_class(const struct state *state, const struct error_class *class)
{
    PyObject *base = state->errors[ERROR_ANY];
    PyObject *bases = NULL;
    if (base) {
        bases = class->builtin ? PyTuple_Pack(2, base, *class->builtin) : PyTuple_Pack(1, base);
        if (!bases) {
            return NULL;
        }
    }
    PyObject *made = PyErr_NewExceptionWithDoc(class->name, class->doc, bases, NULL);
    Py_XDECREF(bases);
    if (made && code_of((enum error_kind)(class - classes()), NULL) && !set_str(made)) {
        Py_CLEAR(made);
    }
    return made;
}

int errors_add(PyObject *module, struct state *state)
{
    for (int i = 0; i < ERROR_KINDS; i++) {
        const struct error_class *class = &classes()[i];
        state->errors[i] = make_class(state, class);
        if (!state->errors[i] ||
            PyModule_AddObjectRef(module, strchr(class->name, '.') + 1, state->errors[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static enum error_kind kind_of(enum unseen_status status)
{
    switch (status) {
    case UNSEEN_ERR_ARGUMENT:
    case UNSEEN_ERR_FPR:
    case UNSEEN_ERR_NAME:
    case UNSEEN_ERR_SIZE:
        return ERROR_SETTING;
    case UNSEEN_ERR_UNSUPPORTED:
        return ERROR_UNSUPPORTED;
    case UNSEEN_ERR_READONLY:
        return ERROR_READ_ONLY;
    case UNSEEN_ERR_BUSY:
        return ERROR_BUSY;
    case UNSEEN_ERR_CORRUPT:
    case UNSEEN_ERR_VERSION:
    case UNSEEN_ERR_FOREIGN:
        return ERROR_DAMAGED;
    case UNSEEN_ERR_MISMATCH:
        return ERROR_MISMATCH;
    case UNSEEN_ERR_IO:
    case UNSEEN_ERR_IMAGE:
    case UNSEEN_ERR_RANDOM:
        return ERROR_FILE;
    case UNSEEN_ERR_MISSING:
        return ERROR_MISSING;
    case UNSEEN_ERR_STOPPED:
        return ERROR_STOPPED;
    default:
        return ERROR_ANY;
    }
}

PyObject *errors_closed(const struct state *state)
{
    PyErr_SetString(state->errors[ERROR_CLOSED], "it is closed");
    return NULL;
}

PyObject *errors_set(const struct state *state, enum unseen_status status,
                     const struct unseen_error *error)
{
    return errors_set_file(state, status, error, NULL);
}

PyObject *errors_set_file(const struct state *state, enum unseen_status status,
                          const struct unseen_error *error, const char *path)
{
    if (status == STATUS_CLOSED) {
        return errors_closed(state);
    }
    if (status == UNSEEN_ERR_NOMEM) {
        return PyErr_NoMemory();
    }
    const char *sentence = error ? error->text : unseen_status_string(status);
    /* File names need not be UTF-8, and a long sentence is cut. */
    PyObject *text = PyUnicode_DecodeUTF8(sentence, (Py_ssize_t)strlen(sentence), "replace");
    const enum error_kind kind = kind_of(status);
    const int code = code_of(kind, error);
    PyObject *value =
        !text || !code ? Py_XNewRef(text)
                       : Py_BuildValue("iON", code, text,
                                       path ? PyUnicode_DecodeFSDefault(path) : Py_NewRef(Py_None));
    if (value) {
        PyErr_SetObject(state->errors[kind], value);
    }
    Py_XDECREF(value);
    Py_XDECREF(text);
    return NULL;
}
