/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "collection.h"

#include "errors.h"

#include <string.h>
#include <time.h>

enum {
    LEAVING = 8 * ITEMS_BATCH /* keys that may leave a window with each batch */
};

struct collection *collection_new(PyTypeObject *type)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return (struct collection *)alloc(type, 0);
}

PyMemberDef collection_members[] = STATE_WEAK_MEMBERS(struct collection);

void collection_free(PyObject *self)
{
    struct collection *c = (struct collection *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_ClearWeakRefs(self);
    Py_CLEAR(c->path);
    gate_release(&c->gate);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* The clock goes on while the machine sleeps, and does not move when the time of day is set. */
void collection_pass_time(struct collection *c, size_t max)
{
    struct timespec t = {0, 0};
    if (c->reads_clock) {
        (void)clock_gettime(CLOCK_BOOTTIME, &t); /* fails only for an unknown clock */
        (void)unseen_set_expire(c->own,
                                (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 + 1, max,
                                NULL); /* it has a window */
    }
}

/* ---- One item -------------------------------------------------------------------------------- */

/* Notes whether the store has changed: whether one of the n verdicts tells of a change. */
static void note_changes(struct collection *c, const uint8_t *verdicts, size_t n,
                         enum unseen_verdict change)
{
    c->has_changed = c->has_changed || memchr(verdicts, change, n);
}

static enum unseen_status add(struct collection *c, const struct unseen_bytes *items, size_t n,
                              uint8_t *verdicts)
{
    if (!c->store) {
        collection_pass_time(c, LEAVING);
        return unseen_set_add(c->own, items, n, verdicts, NULL);
    }
    size_t ndone = 0;
    const enum unseen_status status = unseen_store_add(c->store, items, n, verdicts, &ndone);
    note_changes(c, verdicts, ndone, UNSEEN_NEW);
    return status;
}

static enum unseen_status remove_items(struct collection *c, const struct unseen_bytes *items,
                                       size_t n, uint8_t *verdicts)
{
    if (!c->store) {
        collection_pass_time(c, LEAVING);
        return unseen_set_remove(c->own, items, n, verdicts, NULL);
    }
    size_t ndone = 0;
    const enum unseen_status status = unseen_store_remove(c->store, items, n, verdicts, &ndone);
    note_changes(c, verdicts, ndone, UNSEEN_SEEN);
    return status;
}

static enum unseen_status contains(struct collection *c, const struct unseen_bytes *items, size_t n,
                                   uint8_t *verdicts)
{
    collection_pass_time(c, LEAVING);
    return unseen_set_contains(c->set, items, n, verdicts, NULL);
}

/* The verdict about one item, with the GIL: no other thread of Python is in the library. -1 with an
 * exception set. */
static int verdict_of(struct collection *c, PyObject *object,
                      enum unseen_status (*run)(struct collection *, const struct unseen_bytes *,
                                                size_t, uint8_t *))
{
    struct unseen_bytes item;
    uint8_t verdict;
    if (!items_bytes(object, &item) || !gate_pass(&c->gate)) {
        return -1;
    }
    const enum unseen_status status = c->set ? run(c, &item, 1, &verdict) : STATUS_CLOSED;
    if (status != UNSEEN_OK) {
        errors_set(state_of((PyObject *)c), status, NULL);
        return -1;
    }
    return verdict;
}

static PyObject *answer(int verdict, int yes)
{
    return verdict < 0 ? NULL : Py_NewRef(verdict == yes ? Py_True : Py_False);
}

PyObject *collection_add(PyObject *self, PyObject *item)
{
    return answer(verdict_of((struct collection *)self, item, add), UNSEEN_NEW);
}

PyObject *collection_contains(PyObject *self, PyObject *item)
{
    return answer(verdict_of((struct collection *)self, item, contains), UNSEEN_SEEN);
}

PyObject *collection_remove(PyObject *self, PyObject *item)
{
    return answer(verdict_of((struct collection *)self, item, remove_items), UNSEEN_SEEN);
}

int collection_has(PyObject *self, PyObject *item)
{
    const int verdict = verdict_of((struct collection *)self, item, contains);
    return verdict < 0 ? -1 : verdict == UNSEEN_SEEN;
}

/* ---- Many items ------------------------------------------------------------------------------ */

/* SEEN and NEW become 1 and 0. */
static void invert(uint8_t *verdicts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        verdicts[i] ^= 1;
    }
}

static enum unseen_status ask_add(void *object, const struct unseen_bytes *items, size_t n,
                                  uint8_t *verdicts)
{
    struct collection *c = object;
    return c->set ? add(c, items, n, verdicts) : STATUS_CLOSED;
}

static enum unseen_status ask_contains(void *object, const struct unseen_bytes *items, size_t n,
                                       uint8_t *verdicts)
{
    struct collection *c = object;
    const enum unseen_status status = c->set ? contains(c, items, n, verdicts) : STATUS_CLOSED;
    if (status == UNSEEN_OK) {
        invert(verdicts, n);
    }
    return status;
}

static enum unseen_status ask_remove(void *object, const struct unseen_bytes *items, size_t n,
                                     uint8_t *verdicts)
{
    struct collection *c = object;
    const enum unseen_status status = c->set ? remove_items(c, items, n, verdicts) : STATUS_CLOSED;
    if (status == UNSEEN_OK) {
        invert(verdicts, n);
    }
    return status;
}

PyObject *collection_add_many(PyObject *self, PyObject *iterable)
{
    struct collection *c = (struct collection *)self;
    const struct question question = {&c->gate, c->changes, c, ask_add};
    return items_ask(state_of(self), &question, iterable);
}

PyObject *collection_contains_many(PyObject *self, PyObject *iterable)
{
    struct collection *c = (struct collection *)self;
    /* A question to a set with a window lets keys leave: it is a change. */
    const enum gate_use use = c->reads_clock ? c->changes : GATE_SHARED;
    const struct question question = {&c->gate, use, c, ask_contains};
    return items_ask(state_of(self), &question, iterable);
}

/* Of a mask that only had to be made: None, or NULL. */
static PyObject *without_answer(PyObject *answer)
{
    Py_XDECREF(answer);
    return answer ? Py_NewRef(Py_None) : NULL;
}

PyObject *collection_update(PyObject *self, PyObject *iterable)
{
    return without_answer(collection_add_many(self, iterable));
}

PyObject *collection_discard(PyObject *self, PyObject *item)
{
    return without_answer(collection_remove(self, item));
}

PyObject *collection_remove_many(PyObject *self, PyObject *iterable)
{
    struct collection *c = (struct collection *)self;
    const struct question question = {&c->gate, c->changes, c, ask_remove};
    return items_ask(state_of(self), &question, iterable);
}

/* ---- State ----------------------------------------------------------------------------------- */

bool collection_is_open(struct collection *c)
{
    if (!gate_pass(&c->gate)) {
        return false;
    }
    if (!c->set) {
        errors_closed(state_of((PyObject *)c));
    }
    return c->set;
}

static struct unseen_set_stats stats_of(const struct collection *c)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    (void)unseen_set_stats(c->set, &stats); /* fails for a wrong size only */
    return stats;
}

Py_ssize_t collection_length(PyObject *self)
{
    struct collection *c = (struct collection *)self;
    if (!collection_is_open(c)) {
        return -1;
    }
    collection_pass_time(c, LEAVING);
    return (Py_ssize_t)stats_of(c).nkeys;
}

PyObject *collection_profile(PyObject *self, void *Py_UNUSED(unused))
{
    struct collection *c = (struct collection *)self;
    return collection_is_open(c) ? PyUnicode_FromString(unseen_set_profile(c->set)) : NULL;
}

PyObject *collection_info(struct collection *c)
{
    if (!collection_is_open(c)) {
        return NULL;
    }
    collection_pass_time(c, LEAVING);
    const struct unseen_set_stats stats = stats_of(c);
    const double nkeys = (double)stats.nkeys;
    PyObject *dict = Py_BuildValue(
        "{s:K,s:s,s:d,s:d,s:d,s:d,s:K,s:s}", "keys", (unsigned long long)stats.nkeys, "filter",
        stats.filter, "fpr_promise", stats.fpr_promise, "fpr_estimate", stats.fpr_estimate, "fill",
        stats.fill, "bits_per_key", nkeys > 0 ? 8 * (double)stats.memory / nkeys : 0.0,
        "memory_bytes", (unsigned long long)stats.memory, "profile", unseen_set_profile(c->set));
    PyObject *window = dict && c->has_window
                           ? Py_BuildValue("{s:d,s:K}", "window", (double)stats.window / 1000,
                                           "leaving", (unsigned long long)stats.nleaving)
                           : NULL;
    if (dict && c->has_window && (!window || PyDict_Update(dict, window) != 0)) {
        Py_CLEAR(dict);
    }
    Py_XDECREF(window);
    return dict;
}
