/* SPDX-License-Identifier: MIT
 *
 * unseen.Set: a set in memory. */
#include "collection.h"
#include "errors.h"
#include "url.h"

#include <limits.h>

#include <unseen.h>

/* ---- Making ---------------------------------------------------------------------------------- */

/* Takes the set, in any case. */
static PyObject *set_wrap(const struct state *state, struct unseen_set *set, unsigned threads)
{
    struct collection *c = collection_new(state->set_type);
    if (!c) {
        unseen_set_free(set);
        return NULL;
    }
    gate_init(&c->gate, false);
    c->own = set;
    c->set = set;
    c->threads = threads;
    c->changes = threads > 1 ? GATE_SHARED : GATE_ALONE;
    return (PyObject *)c;
}

static PyObject *set_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"profile",  "rules", "filter",  "fpr",    "capacity",
                            "key_bits", "seed",  "threads", "hashes", "bits_per_key",
                            "window",   "now",   NULL};
    struct state *state = PyType_GetModuleState(type);
    struct unseen_set_options options = {.size = sizeof(options)};
    struct setting capacity = {state, "capacity", 0, UINT64_MAX, 0};
    struct setting key_bits = {state, "key_bits", 0, UINT_MAX, 0};
    struct setting threads = {state, "threads", 0, UINT_MAX, 1};
    struct setting hashes = {state, "hashes", 0, UINT_MAX, 0};
    struct real_setting fpr = {.name = "fpr"};
    struct real_setting bits_per_key = {.name = "bits_per_key"};
    struct time_setting window = {.state = state, .name = "window"};
    struct time_setting now = {.state = state, .name = "now"};
    PyObject *profile = NULL;
    PyObject *rules = NULL;
    Py_ssize_t seed_len = 0;
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "|O$OzO&O&O&z#O&O&O&O&O&:Set", names, &profile, &rules, &options.filter,
            settings_real, &fpr, settings_number, &capacity, settings_number, &key_bits,
            &options.seed, &seed_len, settings_number, &threads, settings_number, &hashes,
            settings_real, &bits_per_key, settings_window, &window, settings_time, &now)) {
        return NULL;
    }
    if (now.is_given && !window.is_given) {
        PyErr_SetString(state->errors[ERROR_SETTING], "now is the time of a set with a window");
        return NULL;
    }
    if (profile && profile != Py_None && !PyUnicode_Check(profile)) {
        return PyErr_Format(PyExc_TypeError,
                            "Set() begins with the name of a profile, which is str, not %R: make "
                            "an empty set, and add URLs by update()",
                            Py_TYPE(profile));
    }
    PyObject *url = url_find(state, profile, rules);
    if (!url) {
        return NULL;
    }
    options.fpr = fpr.value;
    options.bits_per_key = bits_per_key.value;
    options.capacity = capacity.value;
    options.key_bits = (unsigned)key_bits.value;
    options.threads = (unsigned)threads.value;
    options.hashes = (unsigned)hashes.value;
    options.seed_len = (size_t)seed_len;
    options.window = window.ms;
    options.profile = unseen_url_id(url_of(url));
    struct unseen_set *set;
    struct unseen_error error;
    const enum unseen_status status = unseen_set_create(&set, &options, &error);
    PyObject *made = status == UNSEEN_OK ? set_wrap(state, set, options.threads)
                                         : errors_set(state, status, &error);
    if (made && window.is_given) {
        struct collection *c = (struct collection *)made;
        c->has_window = true;
        collection_begin_time(c, &now);
    }
    Py_DECREF(url);
    return made;
}

static void set_dealloc(PyObject *self)
{
    unseen_set_free(((struct collection *)self)->own);
    collection_free(self);
}

static PyObject *set_repr(PyObject *self)
{
    const Py_ssize_t n = collection_length(self);
    return n < 0 ? NULL
                 : PyUnicode_FromFormat("<unseen.Set of %zd, %s>", n,
                                        unseen_set_profile(((struct collection *)self)->set));
}

/* ---- Saving and loading ---------------------------------------------------------------------- */

/* A set with a window goes by the clock of its object, which a file or another object would not
 * have. True, with an exception, if it has one. */
static bool refuses_window(const struct state *state, bool has_window, const char *what)
{
    if (has_window) {
        PyErr_Format(state->errors[ERROR_UNSUPPORTED], "a set with a window cannot be %s", what);
    }
    return has_window;
}

static bool set_has_window(const struct unseen_set *set)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    return unseen_set_stats(set, &stats) == UNSEEN_OK && stats.window > 0;
}

static PyObject *set_save(PyObject *self, PyObject *file)
{
    struct collection *c = (struct collection *)self;
    PyObject *path;
    if (refuses_window(state_of(self), c->has_window, "saved") ||
        !PyUnicode_FSConverter(file, &path)) {
        return NULL;
    }
    if (!gate_enter(&c->gate, GATE_ALONE)) {
        Py_DECREF(path);
        return NULL;
    }
    struct unseen_error error;
    PyThreadState *saved = PyEval_SaveThread();
    const enum unseen_status status = unseen_set_save(c->own, PyBytes_AsString(path), &error);
    PyEval_RestoreThread(saved);
    gate_leave(&c->gate, GATE_ALONE);
    if (status != UNSEEN_OK) {
        errors_set_file(state_of(self), status, &error, PyBytes_AsString(path));
    }
    Py_DECREF(path);
    return status == UNSEEN_OK ? Py_NewRef(Py_None) : NULL;
}

/* url is the URL identity that the set must have; NULL: any. */
static PyObject *load_file(struct state *state, PyObject *path, PyObject *url, unsigned threads)
{
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .profile = url ? unseen_url_id(url_of(url)) : NULL,
                                               .threads = threads};
    struct unseen_set *set;
    struct unseen_error error;
    PyThreadState *saved = PyEval_SaveThread();
    const enum unseen_status status =
        unseen_set_load(&set, PyBytes_AsString(path), &options, &error);
    PyEval_RestoreThread(saved);
    if (status == UNSEEN_OK && refuses_window(state, set_has_window(set), "loaded")) {
        unseen_set_free(set);
        return NULL;
    }
    return status == UNSEEN_OK ? set_wrap(state, set, threads)
                               : errors_set_file(state, status, &error, PyBytes_AsString(path));
}

static PyObject *set_load(PyObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"file", "profile", "rules", "threads", NULL};
    struct state *state = PyType_GetModuleState((PyTypeObject *)type);
    PyObject *path;
    PyObject *profile = NULL;
    PyObject *rules = NULL;
    struct setting threads = {state, "threads", 0, UINT_MAX, 1};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|O$OO&:load", names, PyUnicode_FSConverter,
                                     &path, &profile, &rules, settings_number, &threads)) {
        return NULL;
    }
    const bool is_checked = (profile && profile != Py_None) || (rules && PyObject_IsTrue(rules));
    PyObject *url = is_checked ? url_find(state, profile, rules) : NULL;
    PyObject *made =
        url || !is_checked ? load_file(state, path, url, (unsigned)threads.value) : NULL;
    Py_XDECREF(url);
    Py_DECREF(path);
    return made;
}

/* ---- Union ----------------------------------------------------------------------------------- */

/* A copy of a with the keys of b, without the GIL. */
static enum unseen_status unite(const struct collection *a, const struct collection *b,
                                struct unseen_set **both_out, struct unseen_error *error)
{
    enum unseen_status status = unseen_set_copy(both_out, a->own, error);
    if (status == UNSEEN_OK && a != b) {
        status = unseen_set_merge(*both_out, b->own, NULL, error);
        if (status != UNSEEN_OK) {
            unseen_set_free(*both_out);
        }
    }
    return status;
}

/* Enters both gates, in an order that all threads agree on. */
static bool enter_both(struct collection *a, struct collection *b)
{
    struct collection *first = a < b ? a : b;
    struct collection *second = a < b ? b : a;
    if (!gate_enter(&first->gate, GATE_ALONE)) {
        return false;
    }
    if (first != second && !gate_enter(&second->gate, GATE_ALONE)) {
        gate_leave(&first->gate, GATE_ALONE);
        return false;
    }
    return true;
}

static PyObject *set_or(PyObject *self, PyObject *other)
{
    struct collection *a = (struct collection *)self;
    struct collection *b = (struct collection *)other;
    if (Py_TYPE(self) != Py_TYPE(other)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    if (refuses_window(state_of(self), a->has_window, "copied") || !enter_both(a, b)) {
        return NULL;
    }
    struct unseen_set *both = NULL;
    struct unseen_error error;
    PyThreadState *saved = PyEval_SaveThread();
    const enum unseen_status status = unite(a, b, &both, &error);
    PyEval_RestoreThread(saved);
    gate_leave(&a->gate, GATE_ALONE);
    if (a != b) {
        gate_leave(&b->gate, GATE_ALONE);
    }
    return status == UNSEEN_OK ? set_wrap(state_of(self), both, a->threads)
                               : errors_set(state_of(self), status, &error);
}

/* ---- The type -------------------------------------------------------------------------------- */

static PyObject *set_info(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return collection_info((struct collection *)self);
}

static PyMethodDef set_methods[] = {
    COLLECTION_METHODS,
    {"info", set_info, METH_NOARGS,
     PyDoc_STR("info($self, /)\n--\n\nA dict of statistics: keys, filter, profile, memory_bytes, "
               "bits_per_key, fill (0 to 1), fpr_promise and fpr_estimate (as the set is now).")},
    {"save", set_save, METH_O,
     PyDoc_STR("save($self, file, /)\n--\n\nWrites the set to a file (str, bytes or a path), in "
               "one step, for Set.load. Only the owner may read the file, because it holds the "
               "secret of the keys. FileError: the old file stays as it was.")},
    {"load", (PyCFunction)(void (*)(void))set_load, METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     PyDoc_STR("load($type, file, profile=None, *, rules=(), threads=1)\n--\n\n"
               "The set that save() wrote to the file.\n\nprofile and rules are a check: "
               "MismatchError if the set was made with others. threads is as of Set(). "
               "DamagedError: the file is not a whole set.")},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef set_getters[] = {
    {"profile", collection_profile, NULL, PyDoc_STR("The URL identity, as crawl/1."), NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot set_slots[] = {
    {Py_tp_doc,
     "Set(profile='crawl', *, rules=(), filter='compact', fpr=5e-9, capacity=0, key_bits=128,\n"
     "    seed=None, threads=1, hashes=0, bits_per_key=0, window=0, now=None)\n--\n\n"
     "A set of URLs in memory, in 4 to 6 bytes each. It never takes a seen URL for new, and a new\n"
     "URL for seen with a probability of at most fpr. a | b is the union of two sets that were "
     "made\nwith one seed. SettingError: a setting is unknown or out of its range.\n\n"
     "profile: which spellings are one URL: 'crawl', 'whatwg', 'scrapy', 'safebrowsing',\n"
     "    'aggressive', or 'none': the bytes decide.\n"
     "rules: names of rules that the profile does not have, such as 'strip-trackers'.\n"
     "filter: 'compact' grows and removes; 'exact' is compact with a rate of 1e-12. 'block', "
     "'bloom'\n    and 'counting' need a capacity; the first two cannot remove.\n"
     "fpr: above 0 and below 1. compact promises 1.5e-6, 5e-9 or 1e-12, the first that is low "
     "enough, in\n    about 4.5, 5.6 or 7.4 bytes per URL; the others promise fpr at their "
     "capacity.\n"
     "capacity: the number of URLs to make room for; 0: unknown.\n"
     "key_bits: 64, 96 or 128 bits of a key are kept. A set of n URLs is wrong n / 2**key_bits "
     "more\n    often; compact with a rate below 5.5e-10 needs 96. With a window so few are the "
     "default.\n"
     "seed: str or bytes from which the secret of the keys is derived; None: a random secret. "
     "Whoever\n    knows the seed can make URLs that hide others.\n"
     "threads: so many threads can change the set at once; others wait.\n"
     "hashes, bits_per_key: the shape of a 'bloom' filter in place of fpr: it has bits_per_key * "
     "capacity\n    bits, and a URL sets so many of them. 0: what fits the other.\n"
     "window: a URL is new again so many seconds after it was last new ('90s', '10m', '24h' or "
     "'30d' as\n"
     "    text). A repeat does not prolong it. 8 bytes more for each URL; such a set is not saved, "
     "and "
     "has\n    no union.\n"
     "now: the time, in seconds since any moment: the set then reads no clock, and expire(now) "
     "tells "
     "the\n    time."},
    {Py_tp_new, set_new},
    {Py_tp_dealloc, set_dealloc},
    {Py_tp_methods, set_methods},
    {Py_tp_members, collection_members},
    {Py_tp_repr, set_repr},
    {Py_tp_getset, set_getters},
    {Py_sq_contains, collection_has},
    {Py_sq_length, collection_length},
    {Py_nb_or, set_or},
    {0, NULL}};

PyType_Spec set_spec = {
    .name = "unseen.Set",
    .basicsize = sizeof(struct collection),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = set_slots,
};
