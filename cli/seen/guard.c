/* SPDX-License-Identifier: MIT */
#include "seen/guard.h"

#include <setjmp.h>
#include <signal.h>

/* A handler can reach nothing but globals. */
static volatile sig_atomic_t asks;
static sigjmp_buf back;

/* The signal comes from the very instruction that reads, so it is as if that had jumped. Anywhere
 * else it is what it always is: the instruction is run again, and ends the process. */
static void leave(int signal_number)
{
    if (asks) {
        siglongjmp(back, 1);
    }
    signal(signal_number, SIG_DFL);
}

void guard_start(void)
{
    /* The signal is not blocked while it is handled: the mask need not be restored. */
    struct sigaction action = {.sa_handler = leave, .sa_flags = SA_NODEFER};
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGBUS, &action, NULL); /* fails for a wrong number only */
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
