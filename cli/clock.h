/* SPDX-License-Identifier: MIT
 *
 * Time since some moment in the past. The clock runs on when the time of day is set. */
#ifndef UNSEEN_CLI_CLOCK_H
#define UNSEEN_CLI_CLOCK_H

#include <stdint.h>
#include <time.h>

/* In seconds. */
static inline double clock_now(void)
{
    struct timespec t = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* fails only for an unknown clock */
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Never 0. */
static inline uint64_t clock_milliseconds(void)
{
    return (uint64_t)(clock_now() * 1000) + 1;
}

#endif
