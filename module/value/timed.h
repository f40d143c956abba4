/* SPDX-License-Identifier: MIT
 *
 * The values with a window, in the order in which keys leave them: a heap. Values are freed by
 * another thread of the server, too, so the heap has a lock. Threads: any. */
#ifndef UNSEEN_MODULE_TIMED_H
#define UNSEEN_MODULE_TIMED_H

#include <unseen.h>

/* What a value has for the heap. */
struct timed {
    uint64_t due; /* when its next key leaves; UINT64_MAX: it has none */
    /* The next two are of timed.c. */
    size_t place;
    struct timed *next;
};

/* Puts *timed into the heap, with `due` UINT64_MAX. Errors: NOMEM. */
enum unseen_status timed_insert(struct timed *timed);
void timed_remove(struct timed *timed);
void timed_update(struct timed *timed, uint64_t due);

/* The least `due` of all; UINT64_MAX: nothing is due ever. *n_out is the number of values. */
uint64_t timed_first(size_t *n_out);

/* Calls run once for each that is due at `upto`, with the lock. run returns when the next key of
 * the value leaves; one that is still due stays for the next call. */
void timed_run(uint64_t upto, uint64_t (*run)(struct timed *timed, uint64_t upto));

#endif
