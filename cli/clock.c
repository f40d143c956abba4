/* SPDX-License-Identifier: MIT */
#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The test renames each new file over the old one, so that half a number is never read. */
static double time_in(const char *name)
{
    FILE *file = fopen(name, "r");
    double seconds = 0;
    if (!file || fscanf(file, "%lf", &seconds) != 1) {
        seconds = 0;
    }
    if (file) {
        fclose(file);
    }
    return seconds;
}

double clock_now(void)
{
    const char *test_clock = getenv("UNSEEN_TEST_CLOCK");
    struct timespec t = {0, 0};
    if (test_clock) {
        return time_in(test_clock);
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* fails only for an unknown clock */
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

uint64_t clock_milliseconds(void)
{
    return (uint64_t)(clock_now() * 1000) + 1;
}
