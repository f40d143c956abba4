/* SPDX-License-Identifier: MIT */
#include "mask.h"

#include "arrow_write.h"
#include "sequence.h"

struct mask {
    PyObject_HEAD uint8_t *values;
    size_t n;
};

/* ---- Making ---------------------------------------------------------------------------------- */

bool mask_reserve(struct mask_buffer *buffer, size_t n)
{
    if (n <= buffer->cap - buffer->n) {
        return true;
    }
    size_t cap = buffer->cap > SIZE_MAX / 2 ? SIZE_MAX : 2 * buffer->cap;
    if (n > SIZE_MAX - buffer->n) {
        PyErr_NoMemory();
        return false;
    }
    cap = cap < buffer->n + n ? buffer->n + n : cap;
    uint8_t *values = PyMem_Realloc(buffer->values, cap);
    if (!values) {
        PyErr_NoMemory();
        return false;
    }
    buffer->values = values;
    buffer->cap = cap;
    return true;
}

void mask_release(struct mask_buffer *buffer)
{
    PyMem_Free(buffer->values);
    *buffer = (struct mask_buffer){0};
}

PyObject *mask_take(const struct state *state, struct mask_buffer *buffer)
{
    struct mask *mask = PyObject_New(struct mask, state->mask_type);
    if (!mask) {
        return NULL;
    }
    mask->values = buffer->values;
    mask->n = buffer->n;
    *buffer = (struct mask_buffer){0};
    return (PyObject *)mask;
}

static void mask_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyMem_Free(((struct mask *)self)->values);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* ---- As a sequence --------------------------------------------------------------------------- */

static PyObject *answer_of(uint8_t value)
{
    return Py_NewRef(value == MASK_NULL ? Py_None : value ? Py_True : Py_False);
}

static Py_ssize_t mask_length(PyObject *self)
{
    return (Py_ssize_t)((struct mask *)self)->n;
}

static PyObject *mask_item(PyObject *self, Py_ssize_t i)
{
    const struct mask *mask = (const struct mask *)self;
    if (i < 0 || (size_t)i >= mask->n) {
        PyErr_SetString(PyExc_IndexError, "the mask is shorter");
        return NULL;
    }
    return answer_of(mask->values[i]);
}

static PyObject *mask_slice(PyObject *self, PyObject *slice)
{
    const struct mask *mask = (const struct mask *)self;
    struct mask_buffer buffer = {0};
    Py_ssize_t start;
    Py_ssize_t stop;
    Py_ssize_t step;
    if (PySlice_Unpack(slice, &start, &stop, &step) < 0) {
        return NULL;
    }
    const Py_ssize_t n = PySlice_AdjustIndices((Py_ssize_t)mask->n, &start, &stop, step);
    if (!mask_reserve(&buffer, (size_t)n)) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        buffer.values[buffer.n++] = mask->values[start + i * step];
    }
    PyObject *part = mask_take(state_of(self), &buffer);
    mask_release(&buffer);
    return part;
}

static PyObject *mask_subscript(PyObject *self, PyObject *key)
{
    if (PySlice_Check(key)) {
        return mask_slice(self, key);
    }
    const Py_ssize_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);
    return i == -1 && PyErr_Occurred() ? NULL : mask_item(self, i < 0 ? i + mask_length(self) : i);
}

static PyObject *mask_invert(PyObject *self)
{
    const struct mask *mask = (const struct mask *)self;
    struct mask_buffer buffer = {0};
    if (!mask_reserve(&buffer, mask->n)) {
        return NULL;
    }
    for (size_t i = 0; i < mask->n; i++) {
        buffer.values[i] = mask->values[i] == MASK_NULL ? MASK_NULL : !mask->values[i];
    }
    buffer.n = mask->n;
    PyObject *inverse = mask_take(state_of(self), &buffer);
    mask_release(&buffer);
    return inverse;
}

/* A list, for loops in C such as those of itertools.compress: seven times as fast as mask_item. */
static PyObject *mask_tolist(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    const struct mask *mask = (const struct mask *)self;
    PyObject *list = PyList_New((Py_ssize_t)mask->n);
    for (size_t i = 0; list && i < mask->n; i++) {
        PyList_SetItem(list, (Py_ssize_t)i, answer_of(mask->values[i]));
    }
    return list;
}

static PyObject *mask_iter(PyObject *self)
{
    PyObject *list = mask_tolist(self, NULL);
    PyObject *iterator = list ? PyObject_GetIter(list) : NULL;
    Py_XDECREF(list);
    return iterator;
}

/* Also for 1, numpy.True_ and others that are equal to an answer. */
static PyObject *mask_count(PyObject *self, PyObject *answer)
{
    PyObject *answers[] = {Py_False, Py_True, Py_None};
    const struct mask *mask = (const struct mask *)self;
    size_t n = 0;
    for (int value = 0; value <= MASK_NULL; value++) {
        const int is_equal = PyObject_RichCompareBool(answers[value], answer, Py_EQ);
        if (is_equal < 0) {
            return NULL;
        }
        for (size_t i = 0; is_equal && i < mask->n; i++) {
            n += mask->values[i] == value;
        }
    }
    return PyLong_FromSize_t(n);
}

static PyObject *mask_bytes(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    const struct mask *mask = (const struct mask *)self;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)mask->n);
    if (bytes) {
        char *at = PyBytes_AsString(bytes);
        for (size_t i = 0; i < mask->n; i++) {
            at[i] = mask->values[i] == 1;
        }
    }
    return bytes;
}

static PyObject *mask_compare(PyObject *self, PyObject *other, int op)
{
    if (op != Py_EQ && op != Py_NE) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    PyObject *mine = mask_tolist(self, NULL);
    PyObject *others =
        Py_TYPE(other) == Py_TYPE(self) ? mask_tolist(other, NULL) : Py_NewRef(other);
    PyObject *answer = mine && others ? PyObject_RichCompare(mine, others, op) : NULL;
    Py_XDECREF(mine);
    Py_XDECREF(others);
    return answer;
}

static PyObject *mask_repr(PyObject *self)
{
    const struct mask *mask = (const struct mask *)self;
    size_t counts[3] = {0};
    for (size_t i = 0; i < mask->n; i++) {
        counts[mask->values[i]]++;
    }
    return PyUnicode_FromFormat("<unseen.Mask of %zu: %zu True, %zu False, %zu None>", mask->n,
                                counts[1], counts[0], counts[MASK_NULL]);
}

static PyObject *mask_arrow(PyObject *self, PyObject *args, PyObject *kwargs)
{
    const struct mask *mask = (const struct mask *)self;
    if (!arrow_write_arguments(args, kwargs)) {
        return NULL;
    }
    return arrow_write_mask(mask->values, mask->n);
}

/* _mask(values): a mask of bytes 0, 1 and 2. */
static PyObject *mask_make(PyObject *module, PyObject *object)
{
    struct mask_buffer buffer = {0};
    char *values;
    Py_ssize_t n;
    if (PyBytes_AsStringAndSize(object, &values, &n) < 0 || !mask_reserve(&buffer, (size_t)n)) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        buffer.values[i] = (uint8_t)values[i] < MASK_NULL ? (uint8_t)values[i] : MASK_NULL;
    }
    buffer.n = (size_t)n;
    PyObject *mask = mask_take(PyModule_GetState(module), &buffer);
    mask_release(&buffer);
    return mask;
}

PyMethodDef mask_functions[] = {{"_mask", mask_make, METH_O, NULL}, {NULL, NULL, 0, NULL}};

static PyMethodDef mask_methods[] = {
    {"count", mask_count, METH_O,
     PyDoc_STR("count($self, value, /)\n--\n\nHow many answers are equal to the value: True, False "
               "or None.")},
    SEQUENCE_METHODS,
    {"tolist", mask_tolist, METH_NOARGS,
     PyDoc_STR("tolist($self, /)\n--\n\nA list of True, False and None.")},
    {"__bytes__", mask_bytes, METH_NOARGS,
     PyDoc_STR("__bytes__($self, /)\n--\n\nA byte for each answer: 1 for True, otherwise 0. "
               "numpy.frombuffer(bytes(mask), bool) makes an array of it.")},
    {"__arrow_c_array__", (PyCFunction)(void (*)(void))mask_arrow, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("__arrow_c_array__($self, requested_schema=None)\n--\n\nThe mask as an Arrow array "
               "of booleans: pyarrow.array(mask).")},
    STATE_NO_PICKLE,
    {NULL, NULL, 0, NULL}};

static PyType_Slot mask_slots[] = {
    {Py_tp_doc,
     "The answers to many questions: True, False, or None where an Arrow array has a "
     "null. A collections.abc.Sequence, and an Arrow array of booleans; ~mask is True where the "
     "mask is False."},
    {Py_tp_dealloc, mask_dealloc},
    {Py_tp_methods, mask_methods},
    {Py_tp_iter, mask_iter},
    {Py_tp_repr, mask_repr},
    {Py_tp_richcompare, mask_compare},
    {Py_sq_length, mask_length},
    {Py_sq_item, mask_item},
    {Py_mp_length, mask_length},
    {Py_mp_subscript, mask_subscript},
    {Py_nb_invert, mask_invert},
    {0, NULL}};

PyType_Spec mask_spec = {
    .name = "unseen.Mask",
    .basicsize = sizeof(struct mask),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = mask_slots,
};
