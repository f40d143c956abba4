/* SPDX-License-Identifier: MIT */
#include "url.h"

#include "column.h"
#include "errors.h"
#include "items.h"
#include "settings.h"

#include <stdlib.h>
#include <string.h>

/* ---- Canonicalisers -------------------------------------------------------------------------- */

static const char capsule_name[] = "unseen_url";

enum {
    RULES_MAX = 256,
    URLS_MAX = 64 /* canonicalisers that are kept; a program that needs more makes them again */
};

const struct unseen_url *url_of(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, capsule_name);
}

static void free_capsule(PyObject *capsule)
{
    unseen_url_free(PyCapsule_GetPointer(capsule, capsule_name));
}

/* The name of a profile or rule, as long as the object lives. NULL with an exception set. */
static const char *name_of(const struct state *state, PyObject *object)
{
    Py_ssize_t len;
    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "the name of a profile or rule is str, not %R",
                     Py_TYPE(object));
        return NULL;
    }
    const char *name = PyUnicode_AsUTF8AndSize(object, &len);
    if (name && strlen(name) != (size_t)len) {
        PyErr_SetString(state->errors[ERROR_SETTING], "there is a NUL in the name of a profile");
        return NULL;
    }
    return name;
}

/* Makes a canonicaliser. rules is a tuple. */
static PyObject *make_url(struct state *state, const char *profile, PyObject *rules)
{
    const char *names[RULES_MAX];
    const Py_ssize_t nrules = rules ? PyTuple_Size(rules) : 0;
    if (nrules > RULES_MAX) {
        PyErr_SetString(state->errors[ERROR_SETTING], "there are not so many rules");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < nrules; i++) {
        names[i] = name_of(state, PyTuple_GetItem(rules, i));
        if (!names[i]) {
            return NULL;
        }
    }
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = profile, .rules = names, .nrules = (size_t)nrules};
    struct unseen_url *url;
    struct unseen_error error;
    const enum unseen_status status = unseen_url_create(&url, &options, &error);
    if (status != UNSEEN_OK) {
        return errors_set(state, status, &error);
    }
    PyObject *capsule = PyCapsule_New(url, capsule_name, free_capsule);
    if (!capsule) {
        unseen_url_free(url);
    }
    return capsule;
}

/* Returns the canonicaliser of the key, and makes it at the first call. */
static PyObject *find_key(struct state *state, PyObject *key, const char *profile, PyObject *rules)
{
    PyObject *found = PyDict_GetItemWithError(state->urls, key);
    if (found || PyErr_Occurred()) {
        return Py_XNewRef(found);
    }
    PyObject *made = make_url(state, profile, rules);
    if (made && PyDict_Size(state->urls) >= URLS_MAX) {
        PyDict_Clear(state->urls);
    }
    if (made && PyDict_SetItem(state->urls, key, made) < 0) {
        Py_CLEAR(made);
    }
    return made;
}

static PyObject *find_with_rules(struct state *state, PyObject *profile, const char *name,
                                 PyObject *rules)
{
    if (PyUnicode_Check(rules) || PyBytes_Check(rules)) {
        PyErr_SetString(PyExc_TypeError, "rules are a list of names, not one string");
        return NULL;
    }
    PyObject *names = PySequence_Tuple(rules);
    PyObject *key = names ? PyTuple_Pack(2, profile ? profile : Py_None, names) : NULL;
    PyObject *url = key ? find_key(state, key, name, names) : NULL;
    Py_XDECREF(names);
    Py_XDECREF(key);
    return url;
}

PyObject *url_find(struct state *state, PyObject *profile, PyObject *rules)
{
    const char *name = NULL;
    if (profile && profile != Py_None) {
        name = name_of(state, profile);
        if (!name) {
            return NULL;
        }
    }
    if (rules && rules != Py_None) {
        return find_with_rules(state, profile, name, rules);
    }
    return find_key(state, name ? profile : Py_None, name, NULL);
}

/* ---- Arguments ------------------------------------------------------------------------------- */

/* The arguments of a function of one URL (or more) with profile= and rules= behind. By hand,
 * because a general parser takes as long as the library takes for a URL. */
struct arguments {
    PyObject *values[2]; /* by position; the second may be NULL */
    PyObject *profile;
    PyObject *rules;
};

/* Takes npositional values, then a profile by position or by name, and rules by name. */
static bool take_arguments(struct arguments *a, const char *function, PyObject *const *args,
                           Py_ssize_t nargs, PyObject *kwnames, Py_ssize_t npositional)
{
    *a = (struct arguments){0};
    if (nargs < npositional || nargs > npositional + 1) {
        PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments, and profile= and rules=", function,
                     npositional);
        return false;
    }
    for (Py_ssize_t i = 0; i < npositional; i++) {
        a->values[i] = args[i];
    }
    a->profile = nargs > npositional ? args[npositional] : NULL;
    const Py_ssize_t nnamed = kwnames ? PyTuple_Size(kwnames) : 0;
    for (Py_ssize_t i = 0; i < nnamed; i++) {
        PyObject *name = PyTuple_GetItem(kwnames, i);
        if (PyUnicode_CompareWithASCIIString(name, "profile") == 0 && !a->profile) {
            a->profile = args[nargs + i];
        } else if (PyUnicode_CompareWithASCIIString(name, "rules") == 0) {
            a->rules = args[nargs + i];
        } else {
            PyErr_Format(PyExc_TypeError, "%s() takes no argument %R here", function, name);
            return false;
        }
    }
    return true;
}

#define FAST_METHOD(function) ((PyCFunction)(void (*)(void))(function))

/* ---- Canonical forms ------------------------------------------------------------------------- */

enum {
    BUF_LEN = 16384 /* a canonical form that fits needs no allocation */
};

/* Text of the kind of `like`, str or bytes. */
static PyObject *text_like(PyObject *like, struct unseen_bytes bytes)
{
    return items_text(bytes, PyBytes_Check(like));
}

/* The canonical form as a new object, or the input itself. */
static PyObject *form_of(PyObject *input, const struct unseen_canon *canon)
{
    return canon->form == UNSEEN_URL_REWRITTEN ? text_like(input, canon->bytes) : Py_NewRef(input);
}

static PyObject *canonicalize_long(const struct unseen_url *url, PyObject *input,
                                   struct unseen_bytes item)
{
    const size_t cap = unseen_url_bound(item.len, 0);
    char *buf = cap ? PyMem_Malloc(cap) : NULL;
    if (!buf) {
        return PyErr_NoMemory();
    }
    struct unseen_canon canon;
    (void)unseen_url_canon(url, item.data, item.len, NULL, buf, cap, &canon); /* never SPACE */
    PyObject *form = form_of(input, &canon);
    PyMem_Free(buf);
    return form;
}

static PyObject *canonicalize_with(const struct unseen_url *url, PyObject *input)
{
    struct unseen_bytes item;
    struct unseen_canon canon;
    char buf[BUF_LEN];
    if (!items_bytes(input, &item)) {
        return NULL;
    }
    return unseen_url_canon(url, item.data, item.len, NULL, buf, sizeof(buf), &canon) == UNSEEN_OK
               ? form_of(input, &canon)
               : canonicalize_long(url, input, item);
}

/* Calls `with` with the URL identity that the arguments name, and the argument in front of them. */
static PyObject *call_with_url(PyObject *module, const char *function, PyObject *const *args,
                               Py_ssize_t nargs, PyObject *kwnames,
                               PyObject *(*with)(const struct unseen_url *url, PyObject *input))
{
    struct arguments a;
    if (!take_arguments(&a, function, args, nargs, kwnames, 1)) {
        return NULL;
    }
    PyObject *url = url_find(PyModule_GetState(module), a.profile, a.rules);
    PyObject *answer = url ? with(url_of(url), a.values[0]) : NULL;
    Py_XDECREF(url);
    return answer;
}

static PyObject *canonicalize_one(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                  PyObject *kwnames)
{
    return call_with_url(module, "canonicalize", args, nargs, kwnames, canonicalize_with);
}

/* ---- Many canonical forms -------------------------------------------------------------------- */

/* The canonical forms of a run of items. A form that does not fit into buf is made again alone. */
struct forms {
    struct items run;
    struct unseen_canon canons[ITEMS_BATCH];
    bool is_long[ITEMS_BATCH];
    char buf[ITEMS_BATCH * 256];
};

/* Without the GIL. */
static void make_forms(const struct unseen_url *url, struct forms *f)
{
    size_t at = 0;
    for (size_t i = 0; i < f->run.n; i++) {
        const struct unseen_bytes item = f->run.items[i];
        struct unseen_canon *canon = &f->canons[i];
        f->is_long[i] = unseen_url_canon(url, item.data, item.len, NULL, f->buf + at,
                                         sizeof(f->buf) - at, canon) != UNSEEN_OK;
        if (!f->is_long[i] && canon->form == UNSEEN_URL_REWRITTEN) {
            /* The bytes may be a part of the input. */
            const uintptr_t end = (uintptr_t)canon->bytes.data + canon->bytes.len;
            const uintptr_t begin = (uintptr_t)f->buf;
            at = end >= begin + at && end <= begin + sizeof(f->buf) ? end - begin : at;
        }
    }
}

/* Appends the forms to the list. */
static bool append_forms(const struct unseen_url *url, const struct forms *f, PyObject *list)
{
    for (size_t i = 0; i < f->run.n; i++) {
        PyObject *input = f->run.owners[i];
        PyObject *form = f->is_long[i] ? canonicalize_long(url, input, f->run.items[i])
                                       : form_of(input, &f->canons[i]);
        const int failed = form ? PyList_Append(list, form) : -1;
        Py_XDECREF(form);
        if (failed) {
            return false;
        }
    }
    return true;
}

static bool forms_of_all(const struct unseen_url *url, struct items_source *source, struct forms *f,
                         PyObject *list)
{
    while (items_next(source, &f->run)) {
        if (f->run.n == 0) {
            return true;
        }
        PyThreadState *saved = PyEval_SaveThread();
        make_forms(url, f);
        PyEval_RestoreThread(saved);
        const bool ok = append_forms(url, f, list);
        items_clear(&f->run);
        if (!ok || PyErr_CheckSignals() != 0) {
            return false;
        }
    }
    return false;
}

static PyObject *list_of_forms(const struct unseen_url *url, PyObject *iterable)
{
    struct items_source source;
    if (!items_open(&source, iterable)) {
        return NULL;
    }
    PyObject *list = PyList_New(0);
    struct forms *f = list ? PyMem_Malloc(sizeof(*f)) : NULL;
    if (list && !f) {
        PyErr_NoMemory();
    }
    if (!f || !forms_of_all(url, &source, f, list)) {
        Py_CLEAR(list);
    }
    PyMem_Free(f);
    items_close(&source);
    return list;
}

static PyObject *canonicalize_many(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                   PyObject *kwnames)
{
    struct arguments a;
    if (!take_arguments(&a, "canonicalize_many", args, nargs, kwnames, 1)) {
        return NULL;
    }
    struct state *state = PyModule_GetState(module);
    PyObject *url = url_find(state, a.profile, a.rules);
    PyObject *forms = !url ? NULL
                      : arrow_is_array(a.values[0])
                          ? column_of_forms(state, url_of(url), a.values[0])
                          : list_of_forms(url_of(url), a.values[0]);
    Py_XDECREF(url);
    return forms;
}

/* ---- Explanations ---------------------------------------------------------------------------- */

struct steps {
    PyObject *list; /* NULL after an error */
    PyObject *like;
};

static void take_step(void *context, const struct unseen_url_step *step)
{
    struct steps *steps = context;
    if (!steps->list) {
        return;
    }
    PyObject *before = text_like(steps->like, step->before);
    PyObject *after = text_like(steps->like, step->after);
    PyObject *tuple =
        before && after ? Py_BuildValue("ssOO", step->rule, step->sentence, before, after) : NULL;
    if (!tuple || PyList_Append(steps->list, tuple) < 0) {
        Py_CLEAR(steps->list);
    }
    Py_XDECREF(tuple);
    Py_XDECREF(before);
    Py_XDECREF(after);
}

static PyObject *explain_with(const struct unseen_url *url, PyObject *input)
{
    static const char *const forms[] = {"unchanged", "rewritten", "failed"};
    struct unseen_bytes item;
    if (!items_bytes(input, &item)) {
        return NULL;
    }
    const size_t cap = item.len <= SIZE_MAX / 2 ? unseen_url_bound(2 * item.len, 0) : 0;
    char *buf = cap ? PyMem_Malloc(cap) : NULL;
    if (!buf) {
        return PyErr_NoMemory();
    }
    struct steps steps = {PyList_New(0), input};
    struct unseen_canon canon;
    PyObject *explanation = NULL;
    if (unseen_url_explain(url, item.data, item.len, buf, cap, take_step, &steps, &canon) ==
            UNSEEN_OK &&
        steps.list) {
        PyObject *form = form_of(input, &canon);
        explanation =
            form ? Py_BuildValue("NsOs", form, forms[canon.form], steps.list, unseen_url_id(url))
                 : NULL;
    }
    Py_XDECREF(steps.list);
    PyMem_Free(buf);
    return explanation;
}

static PyObject *explain_one(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                             PyObject *kwnames)
{
    return call_with_url(module, "_explain", args, nargs, kwnames, explain_with);
}

/* ---- Expressions ----------------------------------------------------------------------------- */

static PyObject *list_of_texts(PyObject *like, const struct unseen_bytes *texts, size_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++) {
        PyObject *text = text_like(like, texts[i]);
        if (!text) {
            Py_CLEAR(list);
        } else {
            PyList_SetItem(list, (Py_ssize_t)i, text);
        }
    }
    return list;
}

static PyObject *expressions(PyObject *module, PyObject *input)
{
    struct unseen_bytes item;
    struct unseen_bytes texts[UNSEEN_EXPRESSIONS_MAX];
    if (!items_bytes(input, &item)) {
        return NULL;
    }
    PyObject *url = url_find(PyModule_GetState(module), NULL, NULL);
    const size_t cap = url ? unseen_url_bound(item.len, 0) : 0;
    char *buf = cap ? PyMem_Malloc(cap) : NULL;
    PyObject *list = NULL;
    size_t n;
    if (url && !buf) {
        PyErr_NoMemory();
    } else if (url) {
        (void)unseen_url_expressions(url_of(url), item.data, item.len, buf, cap, texts, &n);
        list = list_of_texts(input, texts, n);
    }
    PyMem_Free(buf);
    Py_XDECREF(url);
    return list;
}

/* ---- Shares ---------------------------------------------------------------------------------- */

static PyObject *shard(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    struct state *state = PyModule_GetState(module);
    struct arguments a;
    if (!take_arguments(&a, "shard", args, nargs, kwnames, 2)) {
        return NULL;
    }
    struct setting n = {state, "n", 1, UINT32_MAX, 0};
    if (!settings_number(a.values[1], &n)) {
        return NULL;
    }
    PyObject *url = url_find(state, a.profile, a.rules);
    PyObject *form = url ? canonicalize_with(url_of(url), a.values[0]) : NULL;
    struct unseen_bytes identity;
    PyObject *share =
        form && items_bytes(form, &identity)
            ? PyLong_FromUnsignedLong(unseen_shard(identity.data, identity.len, (uint32_t)n.value))
            : NULL;
    Py_XDECREF(form);
    Py_XDECREF(url);
    return share;
}

PyMethodDef url_methods[] = {
    {"canonicalize", FAST_METHOD(canonicalize_one), METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("canonicalize(url, profile='crawl', *, rules=())\n--\n\n"
               "The canonical form of the url, str or bytes, under the profile and the names of "
               "rules that the profile does not have; a text that is not a URL comes back as it "
               "is.")},
    {"canonicalize_many", FAST_METHOD(canonicalize_many), METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("canonicalize_many(urls, profile='crawl', *, rules=())\n--\n\n"
               "The canonical forms of urls: of an iterable as a list; of an Arrow array or stream "
               "as Strings, which are an Arrow array. profile and rules are as of "
               "canonicalize().")},
    {"_explain", FAST_METHOD(explain_one), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"expressions", expressions, METH_O,
     PyDoc_STR(
         "expressions(url, /)\n--\n\n"
         "The host-suffix/path-prefix expressions of the URL, by which lists of sites are "
         "asked (Safe Browsing v4); most specific first, empty for a text that is not a URL.")},
    {"shard", FAST_METHOD(shard), METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR(
         "shard(url, n, profile='crawl', *, rules=())\n--\n\n"
         "Which of n shares (1 to 2**32 - 1) the URL belongs to, 0 to n - 1: the same for all "
         "its spellings under the profile and the rules, and that of `unseen --shard I/N` "
         "less 1.")},
    {NULL, NULL, 0, NULL}};
