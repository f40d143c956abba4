/* SPDX-License-Identifier: MIT */
#include "seen/map_guard.h"

#include <setjmp.h>
#include <signal.h>

/* A signal handler can reach only globals. */
static volatile sig_atomic_t asks;
static sigjmp_buf back;

/* The signal comes from the instruction that reads, so the jump is as if that instruction had
 * jumped. Outside of guard_call the default action is restored: the instruction runs again and ends
 * the process. */
static void leave(int signal_number)
{
    if (asks) {
        siglongjmp(back, 1);
    }
    signal(signal_number, SIG_DFL);
}

void guard_start(void)
{
    /* SA_NODEFER: the signal is not blocked in the handler, so the jump need not restore the
     * mask. */
    struct sigaction action = {.sa_handler = leave, .sa_flags = SA_NODEFER};
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGBUS, &action, NULL); /* fails only for an unknown signal */
}

bool guard_call(void (*ask)(void *context), void *context)
{
    if (sigsetjmp(back, 0) != 0) {
        asks = 0;
        return false;
    }
    asks = 1;
    ask(context);
    asks = 0;
    return true;
}
