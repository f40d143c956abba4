/* SPDX-License-Identifier: MIT */
#include "stop.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

/* A signal handler can reach only globals. Any thread may look at `wanted`. */
static atomic_int wanted;
static volatile sig_atomic_t pipe_kills;

static void want(int signal_number)
{
    wanted = signal_number;
}

static bool is_ignored(int signal_number)
{
    struct sigaction old;
    return sigaction(signal_number, NULL, &old) == 0 && old.sa_handler == SIG_IGN;
}

void stop_listen(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    /* Without SA_RESTART a signal interrupts a wait for input. */
    struct sigaction action = {.sa_handler = want, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (!is_ignored(signals[i])) {
            sigaction(signals[i], &action, NULL);
        }
    }
    if (!is_ignored(SIGPIPE)) {
        signal(SIGPIPE, SIG_IGN);
        pipe_kills = 1;
    }
}

bool stop_is_wanted(void)
{
    return wanted != 0;
}

void stop_die(bool reader_gone)
{
    int signal_number = wanted;
    if (!signal_number && reader_gone && pipe_kills) {
        signal_number = SIGPIPE;
    }
    if (signal_number) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
}
