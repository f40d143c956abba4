/* SPDX-License-Identifier: MIT
 *
 * unseen.Bitmap: an exact set of integers below 2^40. All calls keep the GIL, so a bitmap needs no
 * gate; a child process has a copy. */
#include "errors.h"
#include "settings.h"
#include "state.h"

#include <stdbool.h>
#include <unseen_bitmap.h>

enum {
    VALUES_BATCH = 1024
};

struct bitmap {
    PyObject_HEAD struct unseen_bitmap *bitmap;
    PyObject *weak_references;
};

/* A bitmap that is read in order, some integers at a time. */
struct iterator {
    PyObject_HEAD PyObject *owner;
    uint64_t values[VALUES_BATCH];
    uint64_t next; /* the integer from which to read on */
    size_t at;
    size_t n;
};

/* ---- Integers -------------------------------------------------------------------------------- */

/* False with an exception set: TypeError, or SettingError for an integer that no bitmap has. */
static bool value_of(const struct state *state, PyObject *object, uint64_t *value_out)
{
    struct setting value = {state, "an integer of a bitmap", 0, UNSEEN_BITMAP_END - 1, 0};
    const bool ok = settings_number(object, &value);
    *value_out = value.value;
    return ok;
}

static bool check(const struct state *state, enum unseen_status status)
{
    if (status != UNSEEN_OK) {
        errors_set(state, status, NULL);
    }
    return status == UNSEEN_OK;
}

/* Adds n integers, and adds to *nnew how many were new. */
static bool add_batch(const struct state *state, struct unseen_bitmap *bitmap,
                      const uint64_t *values, size_t n, uint64_t *nnew)
{
    uint8_t verdicts[VALUES_BATCH];
    size_t ndone = 0;
    const enum unseen_status status = unseen_bitmap_set(bitmap, values, n, verdicts, &ndone);
    for (size_t i = 0; i < ndone; i++) {
        *nnew += verdicts[i] == UNSEEN_NEW;
    }
    return check(state, status);
}

/* Adds the integers of an iterable, VALUES_BATCH at a time. The iterable, or another thread, may
 * change the bitmap meanwhile. */
static bool add_all(const struct state *state, struct unseen_bitmap *bitmap, PyObject *iterable,
                    uint64_t *nnew_out)
{
    PyObject *iterator = PyObject_GetIter(iterable);
    uint64_t values[VALUES_BATCH];
    size_t n = 0;
    *nnew_out = 0;
    PyObject *object = NULL;
    bool ok = iterator;
    while (ok && (object = PyIter_Next(iterator))) {
        ok = value_of(state, object, &values[n++]);
        Py_DECREF(object);
        if (ok && n == VALUES_BATCH) {
            ok = add_batch(state, bitmap, values, n, nnew_out) && PyErr_CheckSignals() == 0;
            n = 0;
        }
    }
    ok = ok && !PyErr_Occurred() && add_batch(state, bitmap, values, n, nnew_out);
    Py_XDECREF(iterator);
    return ok;
}

/* ---- Making ---------------------------------------------------------------------------------- */

/* An empty bitmap. */
static struct bitmap *make(PyTypeObject *type)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct bitmap *b = (struct bitmap *)alloc(type, 0);
    struct unseen_error error;
    const enum unseen_status status =
        b ? unseen_bitmap_create(&b->bitmap, NULL, &error) : UNSEEN_OK;
    if (status != UNSEEN_OK) {
        Py_CLEAR(b);
        errors_set(PyType_GetModuleState(type), status, &error);
    }
    return b;
}

static PyObject *bitmap_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"", NULL};
    PyObject *values = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Bitmap", names, &values)) {
        return NULL;
    }
    struct bitmap *b = make(type);
    uint64_t nnew;
    if (b && values && !add_all(PyType_GetModuleState(type), b->bitmap, values, &nnew)) {
        Py_CLEAR(b);
    }
    return (PyObject *)b;
}

static void bitmap_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_ClearWeakRefs(self);
    unseen_bitmap_free(((struct bitmap *)self)->bitmap);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* ---- Members --------------------------------------------------------------------------------- */

static PyObject *change(PyObject *self, PyObject *object, bool is_added)
{
    const struct state *state = state_of(self);
    struct bitmap *b = (struct bitmap *)self;
    uint64_t value;
    uint8_t verdict;
    if (!value_of(state, object, &value) ||
        !check(state, is_added ? unseen_bitmap_set(b->bitmap, &value, 1, &verdict, NULL)
                               : unseen_bitmap_clear(b->bitmap, &value, 1, &verdict, NULL))) {
        return NULL;
    }
    return PyBool_FromLong(verdict == (is_added ? UNSEEN_NEW : UNSEEN_SEEN));
}

static PyObject *bitmap_add(PyObject *self, PyObject *object)
{
    return change(self, object, true);
}

static PyObject *bitmap_remove(PyObject *self, PyObject *object)
{
    return change(self, object, false);
}

static PyObject *bitmap_add_many(PyObject *self, PyObject *iterable)
{
    uint64_t nnew;
    if (!add_all(state_of(self), ((struct bitmap *)self)->bitmap, iterable, &nnew)) {
        return NULL;
    }
    return PyLong_FromUnsignedLongLong(nnew);
}

static PyObject *bitmap_add_range(PyObject *self, PyObject *args)
{
    const struct state *state = state_of(self);
    struct setting first = {state, "first", 0, UNSEEN_BITMAP_END, 0};
    struct setting end = {state, "end", 0, UNSEEN_BITMAP_END, 0};
    if (!PyArg_ParseTuple(args, "O&O&:add_range", settings_number, &first, settings_number, &end) ||
        !check(state, unseen_bitmap_set_range(((struct bitmap *)self)->bitmap, first.value,
                                              end.value, true))) {
        return NULL;
    }
    return Py_NewRef(Py_None);
}

/* An integer that no bitmap has is not a member. */
static int bitmap_has(PyObject *self, PyObject *object)
{
    uint64_t value;
    uint8_t verdict;
    if (!value_of(state_of(self), object, &value)) {
        if (!PyErr_ExceptionMatches(state_of(self)->errors[ERROR_SETTING])) {
            return -1;
        }
        PyErr_Clear();
        return 0;
    }
    unseen_bitmap_get(((struct bitmap *)self)->bitmap, &value, 1, &verdict);
    return verdict == UNSEEN_SEEN;
}

static Py_ssize_t bitmap_length(PyObject *self)
{
    return (Py_ssize_t)unseen_bitmap_count(((struct bitmap *)self)->bitmap, 0, UNSEEN_BITMAP_END);
}

static PyObject *bitmap_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<unseen.Bitmap of %zd>", bitmap_length(self));
}

/* ---- Iteration ------------------------------------------------------------------------------- */

static PyObject *bitmap_iter(PyObject *self)
{
    PyTypeObject *type = state_of(self)->bitmap_iterator_type;
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct iterator *iterator = (struct iterator *)alloc(type, 0);
    if (iterator) {
        iterator->owner = Py_NewRef(self);
    }
    return (PyObject *)iterator;
}

static PyObject *iterator_next(PyObject *self)
{
    struct iterator *it = (struct iterator *)self;
    if (it->at == it->n) {
        it->n = unseen_bitmap_next(((struct bitmap *)it->owner)->bitmap, it->next, it->values,
                                   VALUES_BATCH);
        it->at = 0;
        if (it->n == 0) {
            return NULL;
        }
        it->next = it->values[it->n - 1] + 1;
    }
    return PyLong_FromUnsignedLongLong(it->values[it->at++]);
}

static void iterator_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((struct iterator *)self)->owner);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* ---- Algebra --------------------------------------------------------------------------------- */

/* A copy of a, with the operation of b on it. */
static PyObject *combine(PyObject *a, PyObject *b, enum unseen_bitmap_operation operation)
{
    if (Py_TYPE(a) != Py_TYPE(b)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    const struct unseen_bitmap *right = ((struct bitmap *)b)->bitmap;
    struct bitmap *made = make(Py_TYPE(a));
    if (!made || !check(state_of(a), unseen_bitmap_combine(made->bitmap, UNSEEN_BITMAP_OR,
                                                           ((struct bitmap *)a)->bitmap))) {
        Py_XDECREF(made);
        return NULL;
    }
    if (!check(state_of(a), unseen_bitmap_combine(made->bitmap, operation, right))) {
        Py_CLEAR(made);
    }
    return (PyObject *)made;
}

static PyObject *bitmap_or(PyObject *a, PyObject *b)
{
    return combine(a, b, UNSEEN_BITMAP_OR);
}

static PyObject *bitmap_and(PyObject *a, PyObject *b)
{
    return combine(a, b, UNSEEN_BITMAP_AND);
}

static PyObject *bitmap_subtract(PyObject *a, PyObject *b)
{
    return combine(a, b, UNSEEN_BITMAP_ANDNOT);
}

/* ---- The types ------------------------------------------------------------------------------- */

static PyObject *bitmap_memory(PyObject *self, void *Py_UNUSED(unused))
{
    return PyLong_FromUnsignedLongLong(unseen_bitmap_memory(((struct bitmap *)self)->bitmap));
}

static PyMethodDef bitmap_methods[] = {
    {"add", bitmap_add, METH_O,
     PyDoc_STR("add($self, value, /)\n--\n\nAdds the integer value. True if it is new.")},
    {"remove", bitmap_remove, METH_O,
     PyDoc_STR("remove($self, value, /)\n--\n\nRemoves the integer value. True if it was there.")},
    {"add_many", bitmap_add_many, METH_O,
     PyDoc_STR("add_many($self, values, /)\n--\n\n"
               "Adds the values, the integers of an iterable. How many were new. If the iterable "
               "raises, those of whole batches of 1,024 are added.")},
    {"add_range", bitmap_add_range, METH_VARARGS,
     PyDoc_STR("add_range($self, first, end, /)\n--\n\nAdds all integers from first to end - 1.")},
    STATE_NO_PICKLE,
    {NULL, NULL, 0, NULL}};

static PyGetSetDef bitmap_getters[] = {
    {"memory_bytes", bitmap_memory, NULL, PyDoc_STR("The memory that it takes."), NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMemberDef bitmap_members[] = STATE_WEAK_MEMBERS(struct bitmap);

static PyType_Slot bitmap_slots[] = {
    {Py_tp_doc, "Bitmap(values=(), /)\n--\n\n"
                "An exact set of integers from 0 to 2**40 - 1, a bit each where they are dense; "
                "values is an\niterable of the first ones. Iterates in order; |, & and - make new "
                "bitmaps. SettingError: an integer\nis out of that range."},
    {Py_tp_new, bitmap_new},
    {Py_tp_dealloc, bitmap_dealloc},
    {Py_tp_methods, bitmap_methods},
    {Py_tp_members, bitmap_members},
    {Py_tp_getset, bitmap_getters},
    {Py_tp_iter, bitmap_iter},
    {Py_tp_repr, bitmap_repr},
    {Py_sq_contains, bitmap_has},
    {Py_sq_length, bitmap_length},
    {Py_nb_or, bitmap_or},
    {Py_nb_and, bitmap_and},
    {Py_nb_subtract, bitmap_subtract},
    {0, NULL}};

PyType_Spec bitmap_spec = {
    .name = "unseen.Bitmap",
    .basicsize = sizeof(struct bitmap),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = bitmap_slots,
};

static PyMethodDef iterator_methods[] = {STATE_NO_PICKLE, {NULL, NULL, 0, NULL}};

static PyType_Slot iterator_slots[] = {{Py_tp_dealloc, iterator_dealloc},
                                       {Py_tp_methods, iterator_methods},
                                       {Py_tp_iter, PyObject_SelfIter},
                                       {Py_tp_iternext, iterator_next},
                                       {0, NULL}};

PyType_Spec bitmap_iterator_spec = {
    .name = "unseen.BitmapIterator",
    .basicsize = sizeof(struct iterator),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = iterator_slots,
};
