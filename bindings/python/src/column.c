/* SPDX-License-Identifier: MIT */
#include "column.h"

#include "arrow.h"
#include "arrow_write.h"
#include "items.h"
#include "sequence.h"

struct strings {
    PyObject_HEAD struct arrow_texts *texts;
};

/* ---- Making ---------------------------------------------------------------------------------- */

struct former {
    struct arrow_taker taker;
    const struct unseen_url *url;
    struct arrow_texts *texts;
};

static bool add_forms(struct arrow_taker *taker, const struct arrow_strings *strings)
{
    const struct former *former = (const struct former *)taker;
    for (size_t first = 0; first < strings->n; first += ARROW_ROWS_BETWEEN_SIGNALS) {
        const size_t left = strings->n - first;
        const size_t n = left < ARROW_ROWS_BETWEEN_SIGNALS ? left : ARROW_ROWS_BETWEEN_SIGNALS;
        PyThreadState *saved = PyEval_SaveThread();
        const bool ok = arrow_texts_add(former->texts, former->url, strings, first, n);
        PyEval_RestoreThread(saved);
        if (!ok) {
            PyErr_NoMemory();
            return false;
        }
        if (PyErr_CheckSignals() != 0) {
            return false;
        }
    }
    return true;
}

PyObject *column_of_forms(const struct state *state, const struct unseen_url *url, PyObject *object)
{
    struct former former = {{add_forms}, url, arrow_texts_create()};
    if (!former.texts) {
        return PyErr_NoMemory();
    }
    struct strings *made = arrow_take(&former.taker, object)
                               ? PyObject_New(struct strings, state->strings_type)
                               : NULL;
    if (!made) {
        arrow_texts_drop(former.texts);
        return NULL;
    }
    made->texts = former.texts;
    return (PyObject *)made;
}

static void strings_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    arrow_texts_drop(((struct strings *)self)->texts);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* ---- As a sequence --------------------------------------------------------------------------- */

static Py_ssize_t strings_length(PyObject *self)
{
    return (Py_ssize_t)((struct strings *)self)->texts->n;
}

static PyObject *text_at(const struct arrow_texts *texts, size_t row)
{
    struct unseen_bytes text;
    if (!arrow_texts_get(texts, row, &text)) {
        return Py_NewRef(Py_None);
    }
    return items_text(text, texts->is_binary);
}

static PyObject *strings_item(PyObject *self, Py_ssize_t i)
{
    const struct arrow_texts *texts = ((struct strings *)self)->texts;
    if (i < 0 || (size_t)i >= texts->n) {
        PyErr_SetString(PyExc_IndexError, "the column is shorter");
        return NULL;
    }
    return text_at(texts, (size_t)i);
}

static PyObject *strings_tolist(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    const struct arrow_texts *texts = ((struct strings *)self)->texts;
    PyObject *list = PyList_New((Py_ssize_t)texts->n);
    for (size_t i = 0; list && i < texts->n; i++) {
        PyObject *text = text_at(texts, i);
        if (!text) {
            Py_CLEAR(list);
        } else {
            PyList_SetItem(list, (Py_ssize_t)i, text);
        }
    }
    return list;
}

/* A slice is a list. */
static PyObject *strings_subscript(PyObject *self, PyObject *key)
{
    if (PySlice_Check(key)) {
        PyObject *list = strings_tolist(self, NULL);
        PyObject *part = list ? PyObject_GetItem(list, key) : NULL;
        Py_XDECREF(list);
        return part;
    }
    const Py_ssize_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);
    return i == -1 && PyErr_Occurred() ? NULL
                                       : strings_item(self, i < 0 ? i + strings_length(self) : i);
}

static PyObject *strings_iter(PyObject *self)
{
    return PySeqIter_New(self);
}

static PyObject *strings_count(PyObject *self, PyObject *value)
{
    const Py_ssize_t n = PySequence_Count(self, value);
    return n < 0 ? NULL : PyLong_FromSsize_t(n);
}

static PyObject *strings_repr(PyObject *self)
{
    const struct arrow_texts *texts = ((struct strings *)self)->texts;
    return PyUnicode_FromFormat("<unseen.Strings of %zu, %zu of them None>", texts->n,
                                texts->nnulls);
}

static PyObject *strings_arrow(PyObject *self, PyObject *args, PyObject *kwargs)
{
    return arrow_write_arguments(args, kwargs) ? arrow_write_texts(((struct strings *)self)->texts)
                                               : NULL;
}

static PyMethodDef strings_methods[] = {
    {"count", strings_count, METH_O,
     PyDoc_STR("count($self, value, /)\n--\n\nHow many strings are equal to the value.")},
    SEQUENCE_METHODS,
    {"tolist", strings_tolist, METH_NOARGS,
     PyDoc_STR("tolist($self, /)\n--\n\nA list of str (or bytes) and None.")},
    {"__arrow_c_array__", (PyCFunction)(void (*)(void))strings_arrow, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR(
         "__arrow_c_array__($self, requested_schema=None)\n--\n\nThe strings as an Arrow "
         "array of type large_string or large_binary, without a copy: pyarrow.array(strings).")},
    STATE_NO_PICKLE,
    {NULL, NULL, 0, NULL}};

static PyType_Slot strings_slots[] = {
    {Py_tp_doc, "The canonical forms of an Arrow array, with None where the array has a null. A "
                "collections.abc.Sequence, whose slices are lists, and an Arrow array of strings."},
    {Py_tp_dealloc, strings_dealloc},
    {Py_tp_methods, strings_methods},
    {Py_tp_repr, strings_repr},
    {Py_tp_iter, strings_iter},
    {Py_sq_length, strings_length},
    {Py_sq_item, strings_item},
    {Py_mp_length, strings_length},
    {Py_mp_subscript, strings_subscript},
    {0, NULL}};

PyType_Spec strings_spec = {
    .name = "unseen.Strings",
    .basicsize = sizeof(struct strings),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = strings_slots,
};
