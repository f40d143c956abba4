/* SPDX-License-Identifier: MIT
 *
 * Seconds since some moment in the past. The clock runs on when the time of day is set. */
#ifndef UNSEEN_CLI_CLOCK_H
#define UNSEEN_CLI_CLOCK_H

#include <time.h>

static inline double clock_now(void)
{
    struct timespec t = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* fails only for an unknown clock */
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
