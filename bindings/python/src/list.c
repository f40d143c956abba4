/* SPDX-License-Identifier: MIT
 *
 * unseen.List: a static list, such as a blacklist, that `unseen build` made. */
#include "errors.h"
#include "gate.h"
#include "items.h"

#include <unseen_list.h>

struct list {
    PyObject_HEAD struct gate gate;
    struct unseen_list *list; /* NULL: closed */
    PyObject *path;           /* bytes */
    PyObject *weak_references;
};

/* ---- Opening and closing --------------------------------------------------------------------- */

static bool open_path(struct state *state, struct list *l)
{
    const char *path = PyBytes_AsString(l->path);
    struct unseen_error error;
    PyThreadState *saved = PyEval_SaveThread();
    const enum unseen_status status = unseen_list_open(&l->list, path, NULL, &error);
    PyEval_RestoreThread(saved);
    if (status != UNSEEN_OK) {
        errors_set_file(state, status, &error, path);
    }
    return status == UNSEEN_OK;
}

static PyObject *list_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path", NULL};
    PyObject *path;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&:List", names, PyUnicode_FSConverter,
                                     &path)) {
        return NULL;
    }
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct list *l = (struct list *)alloc(type, 0);
    if (!l) {
        Py_DECREF(path);
        return NULL;
    }
    gate_init(&l->gate, false);
    l->path = path;
    if (!open_path(PyType_GetModuleState(type), l)) {
        Py_CLEAR(l);
    }
    return (PyObject *)l;
}

static void list_dealloc(PyObject *self)
{
    struct list *l = (struct list *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_ClearWeakRefs(self);
    unseen_list_close(l->list);
    Py_CLEAR(l->path);
    gate_release(&l->gate);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *list_close(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    struct list *l = (struct list *)self;
    if (!gate_pass(&l->gate)) {
        return NULL;
    }
    unseen_list_close(l->list);
    l->list = NULL;
    Py_RETURN_NONE;
}

/* True if the list may be used now, with the GIL. False with an exception set. */
static bool is_open(struct list *l)
{
    if (!gate_pass(&l->gate)) {
        return false;
    }
    if (!l->list) {
        errors_closed(state_of((PyObject *)l));
    }
    return l->list;
}

static PyObject *list_enter(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return is_open((struct list *)self) ? Py_NewRef(self) : NULL;
}

static PyObject *list_exit(PyObject *self, PyObject *Py_UNUSED(args))
{
    return list_close(self, NULL);
}

/* ---- Questions ------------------------------------------------------------------------------- */

/* An allowed item is not covered. */
static enum unseen_status ask_covers(void *object, const struct unseen_bytes *items, size_t n,
                                     uint8_t *verdicts)
{
    const struct list *l = object;
    if (!l->list) {
        return STATUS_CLOSED;
    }
    const enum unseen_status status = unseen_list_covers(l->list, items, n, verdicts);
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        verdicts[i] = verdicts[i] == UNSEEN_SEEN;
    }
    return status;
}

static int covers_one(struct list *l, PyObject *object)
{
    struct unseen_bytes item;
    uint8_t verdict;
    if (!items_bytes(object, &item) || !gate_pass(&l->gate)) {
        return -1;
    }
    const enum unseen_status status = ask_covers(l, &item, 1, &verdict);
    if (status != UNSEEN_OK) {
        errors_set(state_of((PyObject *)l), status, NULL);
        return -1;
    }
    return verdict;
}

static int list_has(PyObject *self, PyObject *item)
{
    return covers_one((struct list *)self, item);
}

static PyObject *list_covers(PyObject *self, PyObject *object)
{
    struct list *l = (struct list *)self;
    if (PyUnicode_Check(object) || PyBytes_Check(object)) {
        const int covered = covers_one(l, object);
        return covered < 0 ? NULL : PyBool_FromLong(covered);
    }
    const struct question question = {&l->gate, GATE_SHARED, l, ask_covers};
    return items_ask(state_of(self), &question, object);
}

/* ---- State ----------------------------------------------------------------------------------- */

static PyObject *list_info(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    struct list *l = (struct list *)self;
    struct unseen_list_info info = {.size = sizeof(info)};
    if (!is_open(l)) {
        return NULL;
    }
    (void)unseen_list_info(l->list, &info); /* fails for a wrong size only */
    return Py_BuildValue("{s:s,s:s,s:K,s:K,s:K,s:K,s:d,s:d,s:K,s:K,s:I}", "kind",
                         unseen_kind_name(info.kind), "profile", info.profile, "entries",
                         (unsigned long long)info.nkeys, "added", (unsigned long long)info.nadded,
                         "removed", (unsigned long long)info.nremoved, "allowed",
                         (unsigned long long)info.nallowed, "fpr", info.fpr, "fpr_estimate",
                         info.rate, "bytes", (unsigned long long)info.bytes, "changes_bytes",
                         (unsigned long long)info.changes_bytes, "key_bits", info.key_bits);
}

static Py_ssize_t list_length(PyObject *self)
{
    struct list *l = (struct list *)self;
    struct unseen_list_info info = {.size = sizeof(info)};
    if (!is_open(l)) {
        return -1;
    }
    (void)unseen_list_info(l->list, &info); /* fails for a wrong size only */
    return (Py_ssize_t)info.nkeys;
}

static PyObject *list_repr(PyObject *self)
{
    struct list *l = (struct list *)self;
    const Py_ssize_t n = l->list ? list_length(self) : 0;
    PyObject *path = n < 0 ? NULL : PyUnicode_DecodeFSDefault(PyBytes_AsString(l->path));
    PyObject *repr = !path     ? NULL
                     : l->list ? PyUnicode_FromFormat("<unseen.List %R of %zd>", path, n)
                               : PyUnicode_FromFormat("<unseen.List %R, closed>", path);
    Py_XDECREF(path);
    return repr;
}

static enum unseen_status refresh(struct list *l, bool *changed, struct unseen_error *error)
{
    return unseen_list_refresh(l->list, changed, error);
}

static enum unseen_status verify(struct list *l, bool *unused, struct unseen_error *error)
{
    (void)unused;
    return unseen_list_verify(l->list, error);
}

/* Runs `run` within the gate and without the GIL. False with an exception set. */
static bool run_on(struct list *l, enum gate_use use,
                   enum unseen_status (*run)(struct list *, bool *, struct unseen_error *),
                   bool *flag)
{
    if (!gate_enter(&l->gate, use)) {
        return false;
    }
    struct unseen_error error;
    PyThreadState *saved = PyEval_SaveThread();
    const enum unseen_status status = l->list ? run(l, flag, &error) : STATUS_CLOSED;
    PyEval_RestoreThread(saved);
    gate_leave(&l->gate, use);
    if (status != UNSEEN_OK) {
        errors_set_file(state_of((PyObject *)l), status, &error, PyBytes_AsString(l->path));
    }
    return status == UNSEEN_OK;
}

static PyObject *list_refresh(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    bool changed = false;
    return run_on((struct list *)self, GATE_ALONE, refresh, &changed) ? PyBool_FromLong(changed)
                                                                      : NULL;
}

static PyObject *list_verify(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    bool unused;
    return run_on((struct list *)self, GATE_SHARED, verify, &unused) ? Py_NewRef(Py_None) : NULL;
}

/* ---- The type -------------------------------------------------------------------------------- */

static PyMethodDef list_methods[] = {
    {"covers", list_covers, METH_O,
     PyDoc_STR("covers($self, items, /)\n--\n\n"
               "items is one str or bytes: whether an entry of the list covers it; or an iterable, "
               "or an Arrow array or stream: the mask of all. An allowed item is not covered.")},
    {"info", list_info, METH_NOARGS,
     PyDoc_STR(
         "info($self, /)\n--\n\nA dict of statistics: entries, kind, profile, added, removed, "
         "allowed, fpr, fpr_estimate (with the changes), bytes, changes_bytes, key_bits.")},
    {"refresh", list_refresh, METH_NOARGS,
     PyDoc_STR("refresh($self, /)\n--\n\n"
               "Takes up the changes that others appended to the file; True if there were any. A "
               "list that was replaced is another file: open it.")},
    {"verify", list_verify, METH_NOARGS,
     PyDoc_STR("verify($self, /)\n--\n\nReads all of the file; DamagedError if it is damaged.")},
    {"close", list_close, METH_NOARGS, PyDoc_STR("close($self, /)\n--\n\nCloses the list.")},
    {"__enter__", list_enter, METH_NOARGS, PyDoc_STR("__enter__($self, /)\n--\n\nThe list.")},
    {"__exit__", list_exit, METH_VARARGS,
     PyDoc_STR("__exit__($self, type=None, value=None, traceback=None, /)\n--\n\nCloses it.")},
    STATE_NO_PICKLE,
    {NULL, NULL, 0, NULL}};

static PyMemberDef list_members[] = STATE_WEAK_MEMBERS(struct list);

static PyType_Slot list_slots[] = {
    {Py_tp_doc,
     "List(path)\n--\n\n"
     "A static list, such as a blacklist, that `unseen build` made; path is str, bytes or a path. "
     "What an\nitem is, and which entries cover it, is up to the kind of the list: a URL under a "
     "site, an address in\na network. MissingError, DamagedError: there is no such list, or it is "
     "damaged."},
    {Py_tp_new, list_new},
    {Py_tp_dealloc, list_dealloc},
    {Py_tp_methods, list_methods},
    {Py_tp_members, list_members},
    {Py_tp_repr, list_repr},
    {Py_sq_contains, list_has},
    {Py_sq_length, list_length},
    {0, NULL}};

PyType_Spec list_spec = {
    .name = "unseen.List",
    .basicsize = sizeof(struct list),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = list_slots,
};
