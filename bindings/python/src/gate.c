/* SPDX-License-Identifier: MIT */
#include "gate.h"

enum {
    PASSES_MAX = 32
};

unsigned gate_process;

static void count_process(void)
{
    gate_process++;
}

bool gate_setup(void)
{
    static bool is_done;
    if (!is_done && pthread_atfork(NULL, NULL, count_process) != 0) {
        PyErr_NoMemory();
        return false;
    }
    is_done = true;
    return true;
}

static void init_waiting(struct gate *gate)
{
    gate->nwaiting = 0;
    gate->next_ticket = 0;
    gate->serving = 0;
    gate->npassed = 0;
    pthread_mutex_init(&gate->mutex, NULL);
    pthread_cond_init(&gate->cond, NULL);
}

void gate_init(struct gate *gate, bool is_bound)
{
    *gate = (struct gate){.is_ready = true, .is_bound = is_bound, .process = gate_process};
    init_waiting(gate);
}

void gate_release(struct gate *gate)
{
    if (gate->is_ready) {
        pthread_cond_destroy(&gate->cond);
        pthread_mutex_destroy(&gate->mutex);
        gate->is_ready = false;
    }
}

bool gate_is_foreign(const struct gate *gate)
{
    return gate->is_ready && gate->process != gate_process &&
           (gate->is_bound || gate->is_alone || gate->nshared > 0);
}

/* Takes the object over into a child process. */
static bool adopt(struct gate *gate)
{
    if (gate->is_bound) {
        PyErr_SetString(PyExc_RuntimeError,
                        "it belongs to the parent process: open it after the fork");
        return false;
    }
    if (gate_is_foreign(gate)) {
        PyErr_SetString(PyExc_RuntimeError,
                        "another thread was using it when the process was forked");
        return false;
    }
    gate->process = gate_process;
    init_waiting(gate); /* a thread of the parent may have held the mutex */
    return true;
}

static bool is_in_the_way(const struct gate *gate, enum gate_use use)
{
    return gate->is_alone || (use == GATE_ALONE && gate->nshared > 0);
}

/* Lets all that wait look again. */
static void wake(struct gate *gate)
{
    if (gate->nwaiting > 0) {
        pthread_mutex_lock(&gate->mutex);
        gate->turn++;
        pthread_cond_broadcast(&gate->cond);
        pthread_mutex_unlock(&gate->mutex);
    }
}

/* Waits until wake. The mutex is never held while the GIL is waited for. */
static void wait_turn(struct gate *gate)
{
    gate->nwaiting++;
    pthread_mutex_lock(&gate->mutex);
    const unsigned turn = gate->turn;
    PyThreadState *saved = PyEval_SaveThread();
    while (gate->turn == turn) {
        pthread_cond_wait(&gate->cond, &gate->mutex);
    }
    pthread_mutex_unlock(&gate->mutex);
    PyEval_RestoreThread(saved);
    gate->nwaiting--;
}

/* Waits until the object is free for this call. Without an order a thread that adds without end
 * would keep all others out: it comes in again before it gives up the GIL. With a strict order each
 * call would wait for a thread to wake up. So some calls may pass those who wait, and then no
 * more. */
static void queue_up(struct gate *gate, enum gate_use use)
{
    const bool is_queue = gate->serving != gate->next_ticket;
    if (!is_in_the_way(gate, use) && (!is_queue || gate->npassed < PASSES_MAX)) {
        gate->npassed += is_queue;
        return;
    }
    const unsigned ticket = gate->next_ticket++;
    while (gate->serving != ticket || is_in_the_way(gate, use)) {
        wait_turn(gate);
    }
    gate->serving++;
    gate->npassed = 0;
    wake(gate); /* the next one may share the object, and comes when this call gives up the GIL */
}

bool gate_wait(struct gate *gate)
{
    if (gate->process != gate_process && !adopt(gate)) {
        return false;
    }
    queue_up(gate, GATE_ALONE);
    return true;
}

bool gate_enter(struct gate *gate, enum gate_use use)
{
    if (gate->process != gate_process && !adopt(gate)) {
        return false;
    }
    queue_up(gate, use);
    if (use == GATE_ALONE) {
        gate->is_alone = true;
    } else {
        gate->nshared++;
    }
    return true;
}

void gate_leave(struct gate *gate, enum gate_use use)
{
    if (use == GATE_ALONE) {
        gate->is_alone = false;
    } else {
        gate->nshared--;
    }
    wake(gate);
}
