/* SPDX-License-Identifier: MIT
 *
 * unseen.Store: a set that outlives the process. */
#include "collection.h"
#include "errors.h"
#include "url.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- Opening --------------------------------------------------------------------------------- */

/* Another process may give a store that is only read a window. */
static void note_window(struct collection *c)
{
    struct unseen_store_info info = {.size = sizeof(info)};
    if (!c->has_window) {                         /* the numbers of a window take longer */
        (void)unseen_store_info(c->store, &info); /* fails for a wrong size only */
        c->has_window = info.window > 0;
    }
}

/* Takes the store, in any case. */
static PyObject *store_wrap(const struct state *state, struct unseen_store *store, PyObject *path)
{
    struct collection *c = collection_new(state->store_type);
    if (!c) {
        (void)unseen_store_close(store, NULL);
        return NULL;
    }
    gate_init(&c->gate, true);
    c->path = Py_NewRef(path);
    c->store = store;
    c->set = unseen_store_set(store);
    c->changes = GATE_ALONE;
    note_window(c);
    return (PyObject *)c;
}

static PyObject *open_path(const struct state *state, PyObject *path,
                           const struct unseen_store_options *options)
{
    struct unseen_store *store;
    struct unseen_error error = {.status = UNSEEN_OK};
    PyThreadState *saved = PyEval_SaveThread();
    const enum unseen_status status =
        unseen_store_open(&store, PyBytes_AsString(path), options, &error);
    PyEval_RestoreThread(saved);
    if (status == UNSEEN_ERR_MISMATCH && error.setting == UNSEEN_SETTING_WINDOW) {
        const size_t len = strlen(error.text);
        (void)snprintf(error.text + len, sizeof(error.text) - len,
                       ": `unseen rewrite --window %.15g` gives it another",
                       (double)options->window / 1000);
    }
    return status == UNSEEN_OK ? store_wrap(state, store, path)
                               : errors_set_file(state, status, &error, PyBytes_AsString(path));
}

/* The mode "r", "w" or "a" (as of files, but "w" does not empty the store). */
static bool mode_of(const struct state *state, const char *text, enum unseen_store_mode *mode_out)
{
    const bool is_one = text[0] != '\0' && text[1] == '\0';
    switch (is_one ? text[0] : '\0') {
    case 'r':
        *mode_out = UNSEEN_STORE_READ;
        return true;
    case 'w':
        *mode_out = UNSEEN_STORE_WRITE;
        return true;
    case 'c':
        *mode_out = UNSEEN_STORE_CREATE;
        return true;
    default:
        PyErr_SetString(state->errors[ERROR_SETTING],
                        "the mode of a store is \"r\" (read), \"w\" (write) or \"c\" (write, and "
                        "make it if it does not exist)");
        return false;
    }
}

/* Warns if the clock of a store with a window is ahead of the time of day, by which keys leave.
 * False: the warning is an error. */
static bool warn_of_clock(const struct collection *c)
{
    struct unseen_store_info info = {.size = sizeof(info)};
    struct timespec t = {0, 0};
    if (!c->has_window || unseen_store_info(c->store, &info) != UNSEEN_OK) {
        return true;
    }
    (void)clock_gettime(CLOCK_REALTIME, &t); /* fails only for an unknown clock */
    const uint64_t now = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
    const uint64_t slack = info.window / 1000 > 1000 ? info.window / 1000 : 1000;
    return info.clock <= now + slack ||
           PyErr_WarnFormat(PyExc_RuntimeWarning, 1,
                            "%s: its clock is %llu s ahead of the time of day: until then nothing "
                            "is forgotten; `unseen rewrite --reset-clock` sets it",
                            PyBytes_AsString(c->path),
                            (unsigned long long)((info.clock - now) / 1000)) == 0;
}

static PyObject *store_open(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path",   "profile",  "rules",    "mode", "filter",
                            "fpr",    "capacity", "key_bits", "seed", "file_mode",
                            "window", "now",      "memory",   NULL};
    struct state *state = PyModule_GetState(module);
    struct unseen_store_options options = {.size = sizeof(options)};
    const char *mode = "c";
    PyObject *path;
    PyObject *profile = NULL;
    PyObject *rules = NULL;
    Py_ssize_t seed_len = 0;
    struct setting capacity = {state, "capacity", 0, UINT64_MAX, 0};
    struct setting key_bits = {state, "key_bits", 0, UINT_MAX, 0};
    struct setting file_mode = {state, "file_mode", 0, UINT_MAX, 0};
    struct real_setting fpr = {.name = "fpr"};
    struct setting memory = {state, "memory", 0, UINT64_MAX, 0};
    struct time_setting window = {.state = state, .name = "window"};
    struct time_setting now = {.state = state, .name = "now", .is_of_day = true};
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "O&|O$OszO&O&O&z#O&O&O&O&:open", names, PyUnicode_FSConverter, &path,
            &profile, &rules, &mode, &options.filter, settings_real, &fpr, settings_number,
            &capacity, settings_number, &key_bits, &options.seed, &seed_len, settings_number,
            &file_mode, settings_window, &window, settings_time, &now, settings_size, &memory)) {
        return NULL;
    }
    const bool is_named = (profile && profile != Py_None) || (rules && rules != Py_None);
    PyObject *url = is_named ? url_find(state, profile, rules) : NULL;
    PyObject *store = NULL;
    if (mode_of(state, mode, &options.mode) && (url || !is_named)) {
        options.fpr = fpr.value;
        options.capacity = capacity.value;
        options.key_bits = (unsigned)key_bits.value;
        options.file_mode = (unsigned)file_mode.value;
        options.seed_len = (size_t)seed_len;
        options.window = window.ms;
        options.memory = memory.value;
        options.profile = url ? unseen_url_id(url_of(url)) : NULL;
        store = open_path(state, path, &options);
    }
    if (store) {
        collection_begin_time((struct collection *)store, &now);
        if (!now.is_given && !warn_of_clock((struct collection *)store)) {
            Py_CLEAR(store);
        }
    }
    Py_XDECREF(url);
    Py_DECREF(path);
    return store;
}

/* ---- Commits and the end --------------------------------------------------------------------- */

/* Runs `run` alone and without the GIL, if the store is open. */
static PyObject *run_alone(struct collection *c,
                           enum unseen_status (*run)(struct collection *, struct unseen_error *))
{
    if (!gate_enter(&c->gate, GATE_ALONE)) {
        return NULL;
    }
    struct unseen_error error = {.status = UNSEEN_OK};
    PyThreadState *saved = PyEval_SaveThread();
    const enum unseen_status status = c->store ? run(c, &error) : STATUS_CLOSED;
    PyEval_RestoreThread(saved);
    gate_leave(&c->gate, GATE_ALONE);
    return status == UNSEEN_OK ? Py_NewRef(Py_None)
                               : errors_set_file(state_of((PyObject *)c), status, &error,
                                                 PyBytes_AsString(c->path));
}

static enum unseen_status commit(struct collection *c, struct unseen_error *error)
{
    const enum unseen_status status = unseen_store_commit(c->store, error);
    c->has_changed = c->has_changed && status != UNSEEN_OK;
    return status;
}

/* Once it is begun, a commit is waited for when the store is closed. */
static enum unseen_status commit_begin(struct collection *c, struct unseen_error *error)
{
    const enum unseen_status status = unseen_store_commit_begin(c->store, UINT64_MAX, 0, error);
    c->has_changed = c->has_changed && status != UNSEEN_OK;
    return status;
}

static enum unseen_status forget(struct collection *c, struct unseen_error *error)
{
    const enum unseen_status status = unseen_store_close(c->store, error);
    c->store = NULL;
    c->set = NULL;
    return status;
}

/* Closes the store also if the commit failed, and says that the commit did. */
static enum unseen_status commit_and_close(struct collection *c, struct unseen_error *error)
{
    struct unseen_error of_close;
    const enum unseen_status status = unseen_store_commit(c->store, error);
    /* A store that is only read has nothing to commit. */
    return status == UNSEEN_OK || status == UNSEEN_ERR_READONLY ? forget(c, error)
                                                                : (forget(c, &of_close), status);
}

static bool take_flag(PyObject *args, PyObject *kwargs, const char *format, const char *name,
                      int *flag)
{
    char *names[] = {(char *)(uintptr_t)name, NULL};
    return PyArg_ParseTupleAndKeywords(args, kwargs, format, names, flag);
}

static PyObject *store_commit(PyObject *self, PyObject *args, PyObject *kwargs)
{
    int wait = 1;
    if (!take_flag(args, kwargs, "|$p:commit", "wait", &wait)) {
        return NULL;
    }
    return run_alone((struct collection *)self, wait ? commit : commit_begin);
}

static PyObject *close_it(struct collection *c, bool with_commit)
{
    return c->store ? run_alone(c, with_commit ? commit_and_close : forget) : Py_NewRef(Py_None);
}

static PyObject *store_close(PyObject *self, PyObject *args, PyObject *kwargs)
{
    int with_commit = 1;
    if (!take_flag(args, kwargs, "|$p:close", "commit", &with_commit)) {
        return NULL;
    }
    return close_it((struct collection *)self, with_commit);
}

static enum unseen_status refresh(struct collection *c, struct unseen_error *error)
{
    return unseen_store_refresh(c->store, error);
}

static PyObject *store_refresh(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    struct collection *c = (struct collection *)self;
    PyObject *done = run_alone(c, refresh);
    if (done && collection_is_open(c)) {
        note_window(c);
        return done;
    }
    Py_XDECREF(done);
    return NULL;
}

static PyObject *store_enter(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return collection_is_open((struct collection *)self) ? Py_NewRef(self) : NULL;
}

static PyObject *store_exit(PyObject *self, PyObject *args)
{
    PyObject *type = NULL;
    PyObject *value = NULL;
    PyObject *traceback = NULL;
    if (!PyArg_UnpackTuple(args, "__exit__", 0, 3, &type, &value, &traceback)) {
        return NULL;
    }
    return close_it((struct collection *)self, !type || type == Py_None);
}

static PyObject *path_of(const struct collection *c)
{
    return PyUnicode_DecodeFSDefault(PyBytes_AsString(c->path));
}

/* Warns that changes are lost, as Python's files warn that they were not closed. */
static void warn_of_loss(struct collection *c)
{
    PyObject *type;
    PyObject *value;
    PyObject *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *path = path_of(c);
    if (!path || PyErr_WarnFormat(PyExc_ResourceWarning, 1,
                                  "the store %R was not closed: what was added and removed since "
                                  "its last commit is forgotten",
                                  path) < 0) {
        PyErr_WriteUnraisable((PyObject *)Py_TYPE(c)); /* such as the warning, if it is an error */
    }
    Py_XDECREF(path);
    PyErr_Restore(type, value, traceback);
}

/* Forgets all that was not committed. A child process only forgets the object: the store, its files
 * and its thread are the parent's. */
static void store_dealloc(PyObject *self)
{
    struct collection *c = (struct collection *)self;
    if (c->store && !gate_is_foreign(&c->gate)) {
        if (c->has_changed) {
            warn_of_loss(c);
        }
        PyThreadState *saved = PyEval_SaveThread();
        (void)unseen_store_close(c->store, NULL); /* nobody to tell */
        PyEval_RestoreThread(saved);
    }
    collection_free(self);
}

static PyObject *store_repr(PyObject *self)
{
    struct collection *c = (struct collection *)self;
    const bool is_foreign = gate_is_foreign(&c->gate);
    const Py_ssize_t n = c->store && !is_foreign ? collection_length(self) : 0;
    PyObject *path = n < 0 ? NULL : path_of(c);
    PyObject *repr = NULL;
    if (path && c->store && !is_foreign) {
        repr = PyUnicode_FromFormat("<unseen.Store %R of %zd, %s>", path, n,
                                    unseen_set_profile(c->set));
    } else if (path) {
        repr = PyUnicode_FromFormat("<unseen.Store %R, %s>", path,
                                    c->store ? "of the parent process" : "closed");
    }
    Py_XDECREF(path);
    return repr;
}

/* ---- State ----------------------------------------------------------------------------------- */

/* Adds what the store knows to the dict of the set. */
static PyObject *store_info(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    struct collection *c = (struct collection *)self;
    PyObject *dict = collection_info(c);
    struct unseen_store_info info = {.size = sizeof(info)};
    if (!dict) {
        return NULL;
    }
    (void)unseen_store_info(c->store, &info); /* fails for a wrong size only */
    PyObject *more = Py_BuildValue(
        "{s:d,s:K,s:K,s:K,s:K,s:I,s:O,s:K,s:O}", "fpr", info.fpr, "log_bytes",
        (unsigned long long)info.log_bytes, "dead_bytes", (unsigned long long)info.dead_bytes,
        "image_bytes", (unsigned long long)info.image_bytes, "allowed",
        (unsigned long long)info.nallowed, "key_bits", info.key_bits, "log",
        info.no_log ? Py_False : Py_True, "torn_bytes", (unsigned long long)info.torn_bytes,
        "in_parts", info.in_parts ? Py_True : Py_False);
    dict = collection_info_with(dict, more);
    if (info.window > 0) {
        dict = collection_info_with(
            dict, Py_BuildValue("{s:d,s:N}", "window", (double)info.window / 1000, "oldest",
                                info.oldest > 0 ? PyFloat_FromDouble((double)info.oldest / 1000)
                                                : Py_NewRef(Py_None)));
    }
    uint64_t nleaving;
    if (unseen_store_leaving(c->store, &nleaving, NULL) == UNSEEN_OK) {
        dict = collection_info_with(
            dict, Py_BuildValue("{s:K}", "leaving", (unsigned long long)nleaving));
    }
    return dict;
}

static PyObject *store_closed(PyObject *self, void *Py_UNUSED(unused))
{
    return Py_NewRef(((struct collection *)self)->store ? Py_False : Py_True);
}

/* ---- The type -------------------------------------------------------------------------------- */

static PyMethodDef store_methods[] = {
    COLLECTION_METHODS,
    {"info", store_info, METH_NOARGS,
     PyDoc_STR("info($self, /)\n--\n\nA dict of statistics: those of Set.info, and fpr, key_bits, "
               "log_bytes, dead_bytes, image_bytes, allowed (by `unseen allow`), torn_bytes (cut "
               "from the end at open) and log (whether there is one). With a window: window, "
               "oldest (when the oldest key came; None: there is none) and, in mode 'r', leaving "
               "(keys that leave within the next tenth of the window); times are in seconds.")},
    {"commit", (PyCFunction)(void (*)(void))store_commit, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("commit($self, *, wait=True)\n--\n\n"
               "Makes everything added and removed so far durable. Hand the new URLs over first: "
               "a crash before the commit makes them new again. With wait=False the store commits "
               "on a thread of its own, within some 50 ms. FileError, such as on a full disk: the "
               "store takes no more changes before it is opened again.")},
    {"close", (PyCFunction)(void (*)(void))store_close, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("close($self, *, commit=True)\n--\n\n"
               "Commits and closes the store; with commit=False what was not committed is "
               "forgotten. The store is closed also if the commit fails. A store that is dropped "
               "with changes that were not committed raises a ResourceWarning.")},
    {"refresh", store_refresh, METH_NOARGS,
     PyDoc_STR("refresh($self, /)\n--\n\n"
               "Of a store that is open to be read: takes over what others have committed since.")},
    {"__enter__", store_enter, METH_NOARGS, PyDoc_STR("__enter__($self, /)\n--\n\nThe store.")},
    {"__exit__", store_exit, METH_VARARGS,
     PyDoc_STR("__exit__($self, type=None, value=None, traceback=None, /)\n--\n\n"
               "Commits and closes; after an exception closes without a commit, so that the URLs "
               "since the last one are new again.")},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef store_getters[] = {
    {"profile", collection_profile, NULL, PyDoc_STR("The URL identity, as crawl/1."), NULL},
    {"closed", store_closed, NULL, PyDoc_STR("Whether the store is closed."), NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot store_slots[] = {
    {Py_tp_doc, "A set of URLs that outlives the process; made by unseen.open().\n\n"
                "What was committed is remembered after kill -9 and power cuts. One process writes "
                "to a store\nat a time; threads may share it. A child process made by fork must "
                "open its own."},
    {Py_tp_dealloc, store_dealloc},
    {Py_tp_methods, store_methods},
    {Py_tp_members, collection_members},
    {Py_tp_repr, store_repr},
    {Py_tp_getset, store_getters},
    {Py_sq_contains, collection_has},
    {Py_sq_length, collection_length},
    {0, NULL}};

PyType_Spec store_spec = {
    .name = "unseen.Store",
    .basicsize = sizeof(struct collection),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = store_slots,
};

PyMethodDef store_functions[] = {
    {"open", (PyCFunction)(void (*)(void))store_open, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR(
         "open(path, profile=None, *, rules=None, mode='c', filter=None, fpr=0, capacity=0, "
         "key_bits=0, seed=None, file_mode=0, window=0, now=None, memory=0)\n--\n\n"
         "Opens the store at path (str, bytes or a path).\n\n"
         "mode: 'c' makes it if it does not exist; 'w': MissingError if it does not; 'r': only "
         "to ask. BusyError: another process writes to it.\n\n"
         "The other arguments are settings of a new store, and a check of one that exists: "
         "MismatchError. None and 0 are the defaults of a new store, and the settings that an "
         "old one has.\n\n"
         "profile, rules, filter, fpr, capacity, seed: as of Set().\n"
         "key_bits: 64, 96 or 128 bits of each key are kept, 8 to 16 bytes in the file; 0 "
         "makes 64, or 96 if fpr needs them.\n"
         "file_mode: who may open the store, as of os.chmod: 0o600 (the default) and any of "
         "0o066.\n"
         "window: as of Set(). `unseen rewrite --window` gives a store another window.\n"
         "now: the time in seconds since 1970: the store then reads no clock, and expire(now) "
         "tells the time. Otherwise it has the time of day.\n"
         "memory: the set takes at most so many bytes ('2G', '512M'), and may be larger: then a "
         "question reads one page of the image, and nothing can be removed; 0: no limit.")},
    {NULL, NULL, 0, NULL}};
