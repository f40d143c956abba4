/* SPDX-License-Identifier: MIT
 *
 * What Set and Store share: a set that is asked and changed, in memory or in a store. */
#ifndef UNSEEN_PYTHON_COLLECTION_H
#define UNSEEN_PYTHON_COLLECTION_H

#include "gate.h"
#include "items.h"
#include "settings.h"
#include "state.h"

struct collection {
    PyObject_HEAD struct gate gate;
    struct unseen_set *own; /* of a set */
    struct unseen_store *store;
    const struct unseen_set *set; /* of either; NULL: closed */
    PyObject *path;               /* bytes, of a store */
    PyObject *weak_references;
    bool has_changed; /* a store, since its last commit */
    bool has_window;
    bool reads_clock;      /* a store, or a set with a window; its time is that of the machine */
    unsigned threads;      /* that a set is for */
    enum gate_use changes; /* a set for many threads is shared by those that change it */
};

/* An empty object of that type. NULL with an exception set. */
struct collection *collection_new(PyTypeObject *type);

/* The methods of both types; add them to those of the type. */
PyObject *collection_add(PyObject *self, PyObject *item);
PyObject *collection_contains(PyObject *self, PyObject *item);
PyObject *collection_remove(PyObject *self, PyObject *item);
PyObject *collection_add_many(PyObject *self, PyObject *iterable);
PyObject *collection_update(PyObject *self, PyObject *iterable);
PyObject *collection_discard(PyObject *self, PyObject *item);
PyObject *collection_contains_many(PyObject *self, PyObject *iterable);
PyObject *collection_remove_many(PyObject *self, PyObject *iterable);
PyObject *collection_expire(PyObject *self, PyObject *args);
int collection_has(PyObject *self, PyObject *item);
Py_ssize_t collection_length(PyObject *self);
PyObject *collection_profile(PyObject *self, void *unused);

extern PyMemberDef collection_members[];

/* tp_dealloc, once the set or the store is freed. */
void collection_free(PyObject *self);

/* True if the object may be used now, with the GIL. False with an exception set. */
bool collection_is_open(struct collection *c);

/* Tells a set with a window, or a store, that was just made its time, or lets it read a clock from
 * now on. */
void collection_begin_time(struct collection *c, const struct time_setting *now);

/* A dict of the statistics, by the names that `unseen info --json` prints. */
PyObject *collection_info(struct collection *c);

/* The dict with what `more` has, which it takes. NULL, and the dict is gone, if either is NULL. */
PyObject *collection_info_with(PyObject *dict, PyObject *more);

#define COLLECTION_METHODS                                                                         \
    {"add", collection_add, METH_O,                                                                \
     PyDoc_STR("add($self, url, /)\n--\n\nAdds the URL, str or bytes. True if it is new.")},       \
        {"contains", collection_contains, METH_O,                                                  \
         PyDoc_STR("contains($self, url, /)\n--\n\nTrue if the URL is in the set; as `in`.")},     \
        {"remove", collection_remove, METH_O,                                                      \
         PyDoc_STR("remove($self, url, /)\n--\n\nRemoves the URL. True if it was there; a URL "    \
                   "that was not there raises nothing.")},                                         \
        {"add_many", collection_add_many, METH_O,                                                  \
         PyDoc_STR("add_many($self, urls, /)\n--\n\n"                                              \
                   "Adds the URLs of an iterable, or of an Arrow array or stream. The mask is "    \
                   "True for each that is new, and None for a null of an array.\n\nIf the "        \
                   "iterable raises, or an item is not a URL (TypeError, which names its place), " \
                   "the whole batches of 1,024 before are added, and no more.")},                  \
        {"contains_many", collection_contains_many, METH_O,                                        \
         PyDoc_STR("contains_many($self, urls, /)\n--\n\n"                                         \
                   "The mask is True for each of the URLs that is in the set.")},                  \
        {"remove_many", collection_remove_many, METH_O,                                            \
         PyDoc_STR("remove_many($self, urls, /)\n--\n\n"                                           \
                   "Removes the URLs. The mask is True for each that was there.")},                \
        {"expire", collection_expire, METH_VARARGS,                                                \
         PyDoc_STR("expire($self, now=None, /)\n--\n\nForgets what has left the window. now is "   \
                   "the time in seconds, if there was a now= at the beginning; the latest time "   \
                   "counts. Otherwise each call reads a clock, and expire() gives back memory "    \
                   "while nothing is added.")},                                                    \
        {"update", collection_update, METH_O,                                                      \
         PyDoc_STR("update($self, urls, /)\n--\n\nadd_many(urls) without an answer, as of a "      \
                   "Python set.")},                                                                \
        {"discard", collection_discard, METH_O,                                                    \
         PyDoc_STR("discard($self, url, /)\n--\n\nremove(url) without an answer, as of a Python "  \
                   "set.")},                                                                       \
        STATE_NO_PICKLE

#endif
