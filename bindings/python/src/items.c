/* SPDX-License-Identifier: MIT */
#include "items.h"

#include "errors.h"
#include "mask.h"

enum {
    ITEMS_AHEAD = 32 /* strings whose memory is asked for before they are read */
};

/* ---- One item -------------------------------------------------------------------------------- */

static bool text_bytes(PyObject *text, struct unseen_bytes *item_out)
{
    Py_ssize_t len;
    item_out->data = PyUnicode_AsUTF8AndSize(text, &len);
    item_out->len = (size_t)len;
    return item_out->data;
}

static bool raw_bytes(PyObject *bytes, struct unseen_bytes *item_out)
{
    char *data;
    Py_ssize_t len;
    if (PyBytes_AsStringAndSize(bytes, &data, &len) < 0) {
        return false;
    }
    *item_out = (struct unseen_bytes){data, (size_t)len};
    return true;
}

bool items_bytes(PyObject *object, struct unseen_bytes *item_out)
{
    if (PyUnicode_CheckExact(object) || PyUnicode_Check(object)) {
        return text_bytes(object, item_out);
    }
    if (PyBytes_Check(object)) {
        return raw_bytes(object, item_out);
    }
    const bool is_buffer = PyByteArray_Check(object) || PyMemoryView_Check(object);
    PyErr_Format(PyExc_TypeError, "a URL is str or bytes, not %R%s", Py_TYPE(object),
                 is_buffer ? ": bytes(url) makes a copy that stays as it is" : "");
    return false;
}

/* Puts the place of the item into the sentence, if items_bytes has set a TypeError. */
static void name_place(Py_ssize_t at)
{
    PyObject *type;
    PyObject *value;
    PyObject *traceback;
    if (PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Fetch(&type, &value, &traceback);
        PyErr_Format(PyExc_TypeError, "item %zd: %S", at, value);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
    }
}

PyObject *items_text(struct unseen_bytes bytes, bool is_binary)
{
    const char *data = bytes.data ? bytes.data : "";
    return is_binary ? PyBytes_FromStringAndSize(data, (Py_ssize_t)bytes.len)
                     : PyUnicode_DecodeUTF8(data, (Py_ssize_t)bytes.len, "surrogateescape");
}

/* ---- Runs of items --------------------------------------------------------------------------- */

bool items_open(struct items_source *source, PyObject *iterable)
{
    *source = (struct items_source){0};
    if (PyUnicode_Check(iterable) || PyBytes_Check(iterable)) {
        PyErr_SetString(PyExc_TypeError, "this takes many URLs: put the one URL into a list");
        return false;
    }
    if (PyList_CheckExact(iterable) || PyTuple_CheckExact(iterable)) {
        source->sequence = Py_NewRef(iterable);
        return true;
    }
    source->iterator = PyObject_GetIter(iterable);
    return source->iterator;
}

void items_close(struct items_source *source)
{
    Py_CLEAR(source->sequence);
    Py_CLEAR(source->iterator);
}

Py_ssize_t items_expected(const struct items_source *source)
{
    if (!source->sequence) {
        return ITEMS_BATCH;
    }
    return PyList_CheckExact(source->sequence) ? PyList_Size(source->sequence)
                                               : PyTuple_Size(source->sequence);
}

/* Puts objects of the iterator into the run, until it is full, or at the end, or with an exception
 * set. */
static void iterate(struct items_source *source, struct items *run)
{
    while (run->n < ITEMS_BATCH) {
        PyObject *object = PyIter_Next(source->iterator);
        if (!object) {
            break;
        }
        run->owners[run->n] = object;
        if (!items_bytes(object, &run->items[run->n++])) {
            name_place(source->at);
            break;
        }
        source->at++;
    }
}

/* Asks for the header of a string and the text behind it: most strings of a long list are in no
 * cache. */
static void prefetch(const PyObject *object)
{
    __builtin_prefetch(object, 1);
    __builtin_prefetch((const char *)object + 64);
}

/* As iterate, for a list or tuple from source->at on. No code of Python runs before an exception is
 * set, so the list does not change meanwhile; between two runs it may. */
static void read_in_place(struct items_source *source, struct items *run)
{
    PyObject *(*get)(PyObject *, Py_ssize_t) =
        PyList_CheckExact(source->sequence) ? PyList_GetItem : PyTuple_GetItem;
    const Py_ssize_t begin = source->at;
    const Py_ssize_t left = items_expected(source) - source->at;
    const size_t n = left < 0 ? 0 : left < ITEMS_BATCH ? (size_t)left : ITEMS_BATCH;
    for (size_t i = 0; i < n + ITEMS_AHEAD; i++) {
        if (i < n) {
            run->owners[i] = get(source->sequence, begin + (Py_ssize_t)i);
            prefetch(run->owners[i]);
        }
        if (i >= ITEMS_AHEAD) {
            struct unseen_bytes *item = &run->items[run->n];
            PyObject *object = Py_NewRef(run->owners[run->n++]);
            if (!items_bytes(object, item)) {
                name_place(source->at);
                break;
            }
            source->at++;
        }
    }
}

bool items_next(struct items_source *source, struct items *run)
{
    run->n = 0;
    if (source->iterator) {
        iterate(source, run);
    } else {
        read_in_place(source, run);
    }
    if (PyErr_Occurred()) {
        items_clear(run);
        return false;
    }
    return true;
}

void items_clear(struct items *run)
{
    for (size_t i = 0; i < run->n; i++) {
        Py_DECREF(run->owners[i]);
    }
    run->n = 0;
}

/* ---- Questions ------------------------------------------------------------------------------- */

bool items_ask_run(const struct state *state, const struct question *question,
                   const struct unseen_bytes *items, size_t n, uint8_t *verdicts)
{
    if (!gate_enter(question->gate, question->use)) {
        return false;
    }
    PyThreadState *saved = PyEval_SaveThread();
    const enum unseen_status status = question->ask(question->object, items, n, verdicts);
    PyEval_RestoreThread(saved);
    gate_leave(question->gate, question->use);
    if (status != UNSEEN_OK) {
        errors_set(state, status, NULL);
        return false;
    }
    return PyErr_CheckSignals() == 0;
}

/* Asks all items of the source. */
static bool ask_all(const struct state *state, const struct question *question,
                    struct items_source *source, struct items *run, struct mask_buffer *answers)
{
    if (!mask_reserve(answers, (size_t)items_expected(source))) {
        return false;
    }
    while (items_next(source, run)) {
        if (run->n == 0) {
            return true;
        }
        const size_t n = run->n;
        const bool ok = mask_reserve(answers, n) &&
                        items_ask_run(state, question, run->items, n, answers->values + answers->n);
        items_clear(run);
        if (!ok) {
            return false;
        }
        answers->n += n;
    }
    return false;
}

PyObject *items_ask(const struct state *state, const struct question *question, PyObject *iterable)
{
    if (arrow_is_array(iterable)) {
        return arrow_ask(state, question, iterable);
    }
    struct items_source source;
    if (!items_open(&source, iterable)) {
        return NULL;
    }
    struct mask_buffer answers = {0};
    PyObject *mask = NULL;
    struct items *run = PyMem_Malloc(sizeof(*run));
    if (!run) {
        PyErr_NoMemory();
    } else if (ask_all(state, question, &source, run, &answers)) {
        mask = mask_take(state, &answers);
    }
    PyMem_Free(run);
    mask_release(&answers);
    items_close(&source);
    return mask;
}
