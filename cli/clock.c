/* SPDX-License-Identifier: MIT */
#include "clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const double LATEST = 1e9; /* the milliseconds fit into 64 bits */

/* The test renames each new file over the old one, so that half a number is never read. Whatever
 * is not a number up to LATEST is 0, and a fifo is not waited for. */
static double time_in(const char *name)
{
    char text[32] = "";
    const int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) {
        const ssize_t len = read(fd, text, sizeof(text) - 1);
        text[len > 0 ? len : 0] = '\0';
        (void)close(fd); /* was only read */
    }
    const double seconds = strtod(text, NULL);
    return seconds >= 0 && seconds <= LATEST ? seconds : 0;
}

double clock_now(void)
{
    const char *test_clock = getenv("UNSEEN_TEST_CLOCK");
    struct timespec t = {0, 0};
    if (test_clock) {
        return time_in(test_clock);
    }
    (void)clock_gettime(CLOCK_BOOTTIME, &t); /* fails only for an unknown clock */
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

uint64_t clock_milliseconds(void)
{
    return (uint64_t)(clock_now() * 1000) + 1;
}

uint64_t clock_since_1970(void)
{
    struct timespec t = {0, 0};
    if (getenv("UNSEEN_TEST_CLOCK")) {
        return clock_milliseconds();
    }
    (void)clock_gettime(CLOCK_REALTIME, &t); /* as above */
    if (t.tv_sec < CLOCK_EARLIEST / 1000) {
        return CLOCK_EARLIEST;
    }
    const uint64_t now = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
    return now < CLOCK_LATEST ? now : CLOCK_LATEST;
}
