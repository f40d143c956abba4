/* SPDX-License-Identifier: MIT
 *
 * Lets the threads of a process into an object while the library works on it without the GIL. Some
 * calls share the object, others have it alone.
 *
 * The gate changes only under the GIL. So a call that keeps the GIL need not enter: it asks
 * gate_pass, which waits until nobody is inside.
 *
 * A child that fork makes has no other threads. If one was inside at the fork, it never comes out,
 * and the object is in the middle of a change: the gate then stays shut. */
#ifndef UNSEEN_PYTHON_GATE_H
#define UNSEEN_PYTHON_GATE_H

#include "python.h"

#include <pthread.h>
#include <stdbool.h>

struct gate {
    bool is_ready;    /* gate_init was called */
    bool is_bound;    /* to the process that made the object: a child must not use it */
    bool is_alone;    /* a call inside has the object alone */
    unsigned nshared; /* calls inside that share the object */
    unsigned nwaiting;
    unsigned next_ticket; /* of those who wait, who come in in the order of their tickets */
    unsigned serving;     /* the ticket of the next of them */
    unsigned npassed;     /* calls that have come in past the next of them */
    unsigned process;     /* gate_process of the process that used the object last */
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    unsigned turn; /* under the mutex: counts the calls that came out while others were waiting */
};

enum gate_use {
    GATE_SHARED,
    GATE_ALONE
};

/* How many forks lie between the first process of the program and this one. */
extern unsigned gate_process;

/* Makes gate_process count. Call it once before any gate is made; false with an exception set. */
bool gate_setup(void);

void gate_init(struct gate *gate, bool is_bound);
void gate_release(struct gate *gate);

/* Waits as long as another call is in the way, without the GIL. False with an exception set, if the
 * object cannot be used after a fork. */
bool gate_enter(struct gate *gate, enum gate_use use);
void gate_leave(struct gate *gate, enum gate_use use);

/* True if the object may not be touched at all, because it belongs to the parent process. */
bool gate_is_foreign(const struct gate *gate);

/* gate_pass when somebody is inside, or the process is another one. */
bool gate_wait(struct gate *gate);

/* Waits until nobody is inside. The object stays free until the GIL is released. */
static inline bool gate_pass(struct gate *gate)
{
    return (!gate->is_alone && gate->nshared == 0 && gate->process == gate_process) ||
           gate_wait(gate);
}

#endif
