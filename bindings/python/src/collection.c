/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "collection.h"

#include "errors.h"

#include <string.h>
#include <time.h>

enum {
    LEAVING = 2 * ITEMS_BATCH /* keys that may leave a window with each batch */
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

/* ---- Time ------------------------------------------------------------------------------------ */

/* At most `max` keys leave, and those that would leave too late. The clock of a store is the time
 * of day, which the next run has, too. That of a set goes on while the machine sleeps, and does not
 * move when the time of day is set. */
static enum unseen_status pass_time(struct collection *c, const struct time_setting *now,
                                    size_t max)
{
    uint64_t ms = now->ms;
    if (!now->is_given) {
        struct timespec t = {0, 0};
        /* fails only for an unknown clock */
        (void)clock_gettime(c->store ? CLOCK_REALTIME : CLOCK_BOOTTIME, &t);
        ms = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
    }
    return c->store ? unseen_store_expire(c->store, ms, max, NULL)
                    : unseen_set_expire(c->own, ms + 1, max, NULL); /* which takes no time 0 */
}

/* Before a change. A store keeps the times also if it has no window. */
static enum unseen_status read_clock(struct collection *c)
{
    const struct time_setting now = {.is_given = false};
    return c->reads_clock ? pass_time(c, &now, LEAVING) : UNSEEN_OK;
}

/* Before a question, with the GIL or with the object alone: keys that leave are a change. */
static enum unseen_status read_clock_to_ask(struct collection *c)
{
    return c->has_window ? read_clock(c) : UNSEEN_OK;
}

void collection_begin_time(struct collection *c, const struct time_setting *now)
{
    c->reads_clock = !now->is_given;
    PyThreadState *saved = PyEval_SaveThread();
    (void)pass_time(c, now, SIZE_MAX); /* the next call fails as well */
    PyEval_RestoreThread(saved);
}

PyObject *collection_expire(PyObject *self, PyObject *args)
{
    struct collection *c = (struct collection *)self;
    struct state *state = state_of(self);
    struct time_setting now = {.state = state, .name = "now", .is_of_day = !c->own};
    if (!PyArg_ParseTuple(args, "|O&:expire", settings_time, &now)) {
        return NULL;
    }
    if (c->own && !c->has_window) {
        return errors_set(state, UNSEEN_ERR_UNSUPPORTED, NULL);
    }
    if (c->reads_clock == now.is_given) {
        PyErr_SetString(state->errors[ERROR_SETTING],
                        c->reads_clock ? "it reads a clock: give the time to one that was made "
                                         "with now="
                                       : "it was made with now=, and reads no clock: expire(now)");
        return NULL;
    }
    if (!gate_enter(&c->gate, GATE_ALONE)) {
        return NULL;
    }
    PyThreadState *saved = PyEval_SaveThread();
    const enum unseen_status status = c->set ? pass_time(c, &now, SIZE_MAX) : STATUS_CLOSED;
    PyEval_RestoreThread(saved);
    gate_leave(&c->gate, GATE_ALONE);
    return status == UNSEEN_OK ? Py_NewRef(Py_None) : errors_set(state, status, NULL);
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
    enum unseen_status status = read_clock(c);
    if (status != UNSEEN_OK || !c->store) {
        return status == UNSEEN_OK ? unseen_set_add(c->own, items, n, verdicts, NULL) : status;
    }
    size_t ndone = 0;
    status = unseen_store_add(c->store, items, n, verdicts, &ndone);
    note_changes(c, verdicts, ndone, UNSEEN_NEW);
    return status;
}

static enum unseen_status remove_items(struct collection *c, const struct unseen_bytes *items,
                                       size_t n, uint8_t *verdicts)
{
    enum unseen_status status = read_clock(c);
    if (status != UNSEEN_OK || !c->store) {
        return status == UNSEEN_OK ? unseen_set_remove(c->own, items, n, verdicts, NULL) : status;
    }
    size_t ndone = 0;
    status = unseen_store_remove(c->store, items, n, verdicts, &ndone);
    note_changes(c, verdicts, ndone, UNSEEN_SEEN);
    return status;
}

static enum unseen_status contains(struct collection *c, const struct unseen_bytes *items, size_t n,
                                   uint8_t *verdicts)
{
    const enum unseen_status status = read_clock_to_ask(c);
    return status == UNSEEN_OK ? unseen_set_contains(c->set, items, n, verdicts, NULL) : status;
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
    const enum unseen_status status =
        c->set ? unseen_set_contains(c->set, items, n, verdicts, NULL) : STATUS_CLOSED;
    if (status == UNSEEN_OK) {
        invert(verdicts, n);
    }
    return status;
}

static enum unseen_status ask_contains_now(void *object, const struct unseen_bytes *items, size_t n,
                                           uint8_t *verdicts)
{
    struct collection *c = object;
    const enum unseen_status status = c->set ? read_clock(c) : STATUS_CLOSED;
    return status == UNSEEN_OK ? ask_contains(object, items, n, verdicts) : status;
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
    const struct question asks = {&c->gate, GATE_SHARED, c, ask_contains};
    const struct question changes = {&c->gate, c->changes, c, ask_contains_now};
    return items_ask(state_of(self), c->has_window && c->reads_clock ? &changes : &asks, iterable);
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
    (void)read_clock_to_ask(c); /* if it fails, so does the next question */
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
    (void)read_clock_to_ask(c); /* as above */
    const struct unseen_set_stats stats = stats_of(c);
    const double nkeys = (double)stats.nkeys;
    PyObject *dict = Py_BuildValue(
        "{s:K,s:s,s:d,s:d,s:d,s:d,s:K,s:s}", "keys", (unsigned long long)stats.nkeys, "filter",
        stats.filter, "fpr_promise", stats.fpr_promise, "fpr_estimate", stats.fpr_estimate, "fill",
        stats.fill, "bits_per_key", nkeys > 0 ? 8 * (double)stats.memory / nkeys : 0.0,
        "memory_bytes", (unsigned long long)stats.memory, "profile", unseen_set_profile(c->set));
    return c->own && c->has_window
               ? collection_info_with(dict, Py_BuildValue("{s:d,s:K}", "window",
                                                          (double)stats.window / 1000, "leaving",
                                                          (unsigned long long)stats.nleaving))
               : dict;
}

PyObject *collection_info_with(PyObject *dict, PyObject *more)
{
    if (dict && (!more || PyDict_Update(dict, more) != 0)) {
        Py_CLEAR(dict);
    }
    Py_XDECREF(more);
    return dict;
}
