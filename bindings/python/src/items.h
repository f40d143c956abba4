/* SPDX-License-Identifier: MIT
 *
 * Many items, asked 1,024 at a time: from the strings of an iterable, or from Arrow arrays, to a
 * mask. One mechanism for everything that answers questions. */
#ifndef UNSEEN_PYTHON_ITEMS_H
#define UNSEEN_PYTHON_ITEMS_H

#include "gate.h"
#include "state.h"

enum {
    ITEMS_BATCH = 1024
};

/* The bytes of a str (as UTF-8) or of a bytes object, valid as long as the object. False with a
 * TypeError or UnicodeEncodeError. */
bool items_bytes(PyObject *object, struct unseen_bytes *item_out);

/* A str, or a bytes object. In a str, bytes that are not UTF-8 become surrogates, as in file
 * names. */
PyObject *items_text(struct unseen_bytes bytes, bool is_binary);

/* A run of items with the objects that own their bytes. */
struct items {
    struct unseen_bytes items[ITEMS_BATCH];
    PyObject *owners[ITEMS_BATCH];
    size_t n;
};

/* Where items come from. A list or tuple is read in place. */
struct items_source {
    PyObject *sequence; /* a list or tuple; NULL: an iterator */
    PyObject *iterator;
    Py_ssize_t at; /* how many items have been read */
};

/* False with a TypeError if the object is one string, or cannot be iterated. */
bool items_open(struct items_source *source, PyObject *iterable);
void items_close(struct items_source *source);

/* How many items there are, as far as that is known. */
Py_ssize_t items_expected(const struct items_source *source);

/* Gathers the next items; n is 0 at the end. False with an exception set if the iterable raised, or
 * an item is not a string: the run is then empty. */
bool items_next(struct items_source *source, struct items *run);
void items_clear(struct items *run);

/* A question that a batch of items is asked. */
struct question {
    struct gate *gate;
    enum gate_use use;
    void *object;
    /* Called within the gate and without the GIL. Each verdict becomes 1 or 0. */
    enum unseen_status (*ask)(void *object, const struct unseen_bytes *items, size_t n,
                              uint8_t *verdicts);
};

/* The mask of all items of an iterable of strings, or of an Arrow array or stream. NULL with an
 * exception set: then the question was asked for whole batches before the exception. */
PyObject *items_ask(const struct state *state, const struct question *question, PyObject *iterable);

/* Asks n items without the GIL. False with an exception set. */
bool items_ask_run(const struct state *state, const struct question *question,
                   const struct unseen_bytes *items, size_t n, uint8_t *verdicts);

/* As items_ask, for an object with __arrow_c_stream__ or __arrow_c_array__ (arrow.c). */
bool arrow_is_array(PyObject *object);
PyObject *arrow_ask(const struct state *state, const struct question *question, PyObject *array);

#endif
