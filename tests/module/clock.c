/* SPDX-License-Identifier: MIT
 *
 * For LD_PRELOAD: the time of day is off by as many seconds as the file CLOCK_SHIFT says, a number
 * of 8 bytes. Other clocks are as they are. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile long long *shift;

__attribute__((constructor)) static void map_shift(void)
{
    const int fd = open(getenv("CLOCK_SHIFT"), O_RDONLY);
    void *map = mmap(NULL, sizeof(*shift), PROT_READ, MAP_SHARED, fd, 0);
    shift = map == MAP_FAILED ? NULL : map;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    const long status = syscall(SYS_clock_gettime, id, now);
    now->tv_sec += id == CLOCK_REALTIME && shift ? *shift : 0;
    return (int)status;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec exact;
    (void)zone;
    const int status = clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return status;
}
