/* SPDX-License-Identifier: MIT */
#include "gate.h"

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

/* Waits until a call comes out. The mutex is never held while the GIL is waited for. */
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

bool gate_wait(struct gate *gate)
{
    if (gate->process != gate_process && !adopt(gate)) {
        return false;
    }
    while (is_in_the_way(gate, GATE_ALONE)) {
        wait_turn(gate);
    }
    return true;
}

bool gate_enter(struct gate *gate, enum gate_use use)
{
    if (gate->process != gate_process && !adopt(gate)) {
        return false;
    }
    while (is_in_the_way(gate, use)) {
        wait_turn(gate);
    }
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
    if (gate->nwaiting > 0) {
        pthread_mutex_lock(&gate->mutex);
        gate->turn++;
        pthread_cond_broadcast(&gate->cond);
        pthread_mutex_unlock(&gate->mutex);
    }
}
