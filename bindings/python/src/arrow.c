/* SPDX-License-Identifier: MIT
 *
 * Questions about Arrow arrays and streams, which come as capsules (the Arrow PyCapsule interface):
 * from pyarrow, polars, DuckDB and others, without copying a string. */
#include "arrow.h"

#include "arrow_abi.h"
#include "errors.h"
#include "items.h"
#include "mask.h"

#include <string.h>

bool arrow_is_array(PyObject *object)
{
    if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) {
        return false;
    }
    return PyObject_HasAttrString(object, "__arrow_c_stream__") ||
           PyObject_HasAttrString(object, "__arrow_c_array__");
}

/* ---- One array ------------------------------------------------------------------------------- */

/* Rows of an array as a question: the gate is entered, and the GIL released, for many batches at a
 * time. */
struct rows {
    const struct question *question;
    const struct arrow_strings *strings;
    size_t first;
};

/* Asks the items of up to ITEMS_BATCH rows. */
static enum unseen_status ask_batch(const struct rows *rows, size_t first, size_t n,
                                    uint8_t *verdicts)
{
    struct unseen_bytes items[ITEMS_BATCH];
    uint16_t numbers[ITEMS_BATCH];
    const size_t nitems = arrow_read_items(rows->strings, first, n, items, numbers);
    if (nitems == n) {
        return rows->question->ask(rows->question->object, items, n, verdicts);
    }
    uint8_t of_items[ITEMS_BATCH];
    const enum unseen_status status =
        rows->question->ask(rows->question->object, items, nitems, of_items);
    memset(verdicts, MASK_NULL, n);
    for (size_t i = 0; i < nitems && status == UNSEEN_OK; i++) {
        verdicts[numbers[i]] = of_items[i];
    }
    return status;
}

static enum unseen_status ask_rows(void *object, const struct unseen_bytes *unused, size_t n,
                                   uint8_t *verdicts)
{
    const struct rows *rows = object;
    enum unseen_status status = UNSEEN_OK;
    (void)unused;
    for (size_t at = 0; at < n && status == UNSEEN_OK; at += ITEMS_BATCH) {
        const size_t count = n - at < ITEMS_BATCH ? n - at : ITEMS_BATCH;
        status = ask_batch(rows, rows->first + at, count, verdicts + at);
    }
    return status;
}

struct asker {
    struct arrow_taker taker;
    const struct state *state;
    const struct question *question;
    struct mask_buffer answers;
};

static bool ask_array(struct arrow_taker *taker, const struct arrow_strings *strings)
{
    struct asker *a = (struct asker *)taker;
    if (!mask_reserve(&a->answers, strings->n)) {
        return false;
    }
    struct rows rows = {a->question, strings, 0};
    const struct question all = {a->question->gate, a->question->use, &rows, ask_rows};
    for (; rows.first < strings->n; rows.first += ARROW_ROWS_BETWEEN_SIGNALS) {
        const size_t left = strings->n - rows.first;
        const size_t n = left < ARROW_ROWS_BETWEEN_SIGNALS ? left : ARROW_ROWS_BETWEEN_SIGNALS;
        if (!items_ask_run(a->state, &all, NULL, n, a->answers.values + a->answers.n)) {
            return false;
        }
        a->answers.n += n;
    }
    return true;
}

/* Checks an array and takes it. */
static bool take_array(struct arrow_taker *taker, const struct ArrowSchema *schema,
                       const struct ArrowArray *array)
{
    struct arrow_strings strings;
    const char *wrong = arrow_read_open(&strings, schema, array);
    if (wrong) {
        PyErr_Format(PyExc_ValueError, "the Arrow array (format %.20s) %s",
                     schema->format ? schema->format : "?", wrong);
        return false;
    }
    return taker->take(taker, &strings);
}

/* ---- Capsules -------------------------------------------------------------------------------- */

/* What a capsule of that name points to, unless it was released. */
static void *pointer_of(PyObject *capsule, const char *name)
{
    return PyCapsule_IsValid(capsule, name) ? PyCapsule_GetPointer(capsule, name) : NULL;
}

static bool take_pair(struct arrow_taker *taker, PyObject *pair)
{
    const bool is_pair = PyTuple_Check(pair) && PyTuple_Size(pair) == 2;
    const struct ArrowSchema *schema =
        is_pair ? pointer_of(PyTuple_GetItem(pair, 0), "arrow_schema") : NULL;
    const struct ArrowArray *array =
        is_pair ? pointer_of(PyTuple_GetItem(pair, 1), "arrow_array") : NULL;
    if (!schema || !array || !schema->release || !array->release) {
        PyErr_SetString(PyExc_ValueError, "__arrow_c_array__ gave no Arrow array");
        return false;
    }
    return take_array(taker, schema, array);
}

/* Sets the error of a stream, which may be NULL. */
static bool stream_failed(struct ArrowArrayStream *stream)
{
    const char *sentence = stream->get_last_error ? stream->get_last_error(stream) : NULL;
    if (!PyErr_Occurred()) {
        PyErr_Format(PyExc_ValueError, "the Arrow stream failed: %s",
                     sentence ? sentence : "it does not say why");
    }
    return false;
}

/* Asks the arrays of a stream. The producer may take long for each, and may want the GIL. */
static bool take_arrays(struct arrow_taker *taker, struct ArrowArrayStream *stream,
                        const struct ArrowSchema *schema)
{
    for (;;) {
        struct ArrowArray array = {0};
        PyThreadState *saved = PyEval_SaveThread();
        const int failed = stream->get_next(stream, &array);
        PyEval_RestoreThread(saved);
        if (failed) {
            return stream_failed(stream);
        }
        if (!array.release) {
            return true;
        }
        const bool ok = take_array(taker, schema, &array);
        array.release(&array);
        if (!ok) {
            return false;
        }
    }
}

static bool take_stream(struct arrow_taker *taker, PyObject *capsule)
{
    struct ArrowArrayStream *stream = pointer_of(capsule, "arrow_array_stream");
    if (!stream || !stream->release) {
        PyErr_SetString(PyExc_ValueError, "__arrow_c_stream__ gave no Arrow stream");
        return false;
    }
    struct ArrowSchema schema = {0};
    if (stream->get_schema(stream, &schema)) {
        return stream_failed(stream);
    }
    const bool ok = take_arrays(taker, stream, &schema);
    if (schema.release) {
        schema.release(&schema);
    }
    return ok;
}

bool arrow_take(struct arrow_taker *taker, PyObject *object)
{
    /* An array is preferred: pyarrow's has both, and a stream of it is a copy of the structs. */
    const bool is_array = PyObject_HasAttrString(object, "__arrow_c_array__");
    PyObject *capsules =
        PyObject_CallMethod(object, is_array ? "__arrow_c_array__" : "__arrow_c_stream__", NULL);
    const bool ok =
        capsules && (is_array ? take_pair(taker, capsules) : take_stream(taker, capsules));
    Py_XDECREF(capsules);
    return ok;
}

PyObject *arrow_ask(const struct state *state, const struct question *question, PyObject *object)
{
    struct asker asker = {{ask_array}, state, question, {0}};
    PyObject *mask = arrow_take(&asker.taker, object) ? mask_take(state, &asker.answers) : NULL;
    mask_release(&asker.answers);
    return mask;
}

/* ---- Strings --------------------------------------------------------------------------------- */

struct lister {
    struct arrow_taker taker;
    PyObject *list;
};

/* Appends the rows to the list. */
static bool list_array(struct arrow_taker *taker, const struct arrow_strings *strings)
{
    PyObject *list = ((struct lister *)taker)->list;
    for (size_t row = 0; row < strings->n; row++) {
        struct unseen_bytes item;
        uint16_t number;
        const bool has_item = arrow_read_items(strings, row, 1, &item, &number) == 1;
        PyObject *object = has_item ? PyBytes_FromStringAndSize(item.data, (Py_ssize_t)item.len)
                                    : Py_NewRef(Py_None);
        const int failed = object ? PyList_Append(list, object) : -1;
        Py_XDECREF(object);
        if (failed) {
            return false;
        }
    }
    return true;
}

/* What to iterate over for the strings of an iterable, or of an Arrow array. */
static PyObject *arrow_strings(PyObject *Py_UNUSED(module), PyObject *object)
{
    if (!arrow_is_array(object)) {
        struct items_source source;
        PyObject *same = items_open(&source, object) ? Py_NewRef(object) : NULL;
        if (same && source.iterator) {
            Py_DECREF(same);
            same = Py_NewRef(source.iterator);
        }
        items_close(&source);
        return same;
    }
    struct lister lister = {{list_array}, PyList_New(0)};
    if (lister.list && !arrow_take(&lister.taker, object)) {
        Py_CLEAR(lister.list);
    }
    return lister.list;
}

PyMethodDef arrow_functions[] = {{"_strings", arrow_strings, METH_O, NULL}, {NULL, NULL, 0, NULL}};
