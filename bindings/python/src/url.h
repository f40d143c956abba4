/* SPDX-License-Identifier: MIT
 *
 * URL identity: canonicalisers by profile and rules, each made once. A canonicaliser is a capsule
 * around a struct unseen_url; whoever uses it holds a reference to the capsule. */
#ifndef UNSEEN_PYTHON_URL_H
#define UNSEEN_PYTHON_URL_H

#include "state.h"

/* A new reference to the canonicaliser of a profile and rules. profile may be NULL or None:
 * "crawl". rules may be NULL: none. NULL with an exception set. */
PyObject *url_find(struct state *state, PyObject *profile, PyObject *rules);

const struct unseen_url *url_of(PyObject *capsule);

#endif
