/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "system_limits.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

enum {
    STACK_BYTES = 1024 * 1024 /* four times what the deepest call takes */
};

/* The soft limit is low for the sake of programs that use select(2), which this one does not. */
static void raise_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit); /* if not, the tool lives with what it has */
    }
}

/* The stack of the main thread grows up to the limit of the moment. The stacks of other threads get
 * the size that the limit had when the program was started. */
static bool raise_stack(void)
{
    struct rlimit limit;
    pthread_attr_t attributes;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= STACK_BYTES) {
        return true;
    }
    limit.rlim_cur = STACK_BYTES;
    if (setrlimit(RLIMIT_STACK, &limit) != 0 || pthread_attr_init(&attributes) != 0) {
        return false;
    }
    const bool raised = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
                        pthread_setattr_default_np(&attributes) == 0;
    (void)pthread_attr_destroy(&attributes);
    return raised;
}

bool system_limits_prepare(void)
{
    signal(SIGXFSZ, SIG_IGN);
    raise_files();
    return raise_stack();
}
