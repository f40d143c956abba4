/* SPDX-License-Identifier: MIT
 *
 * What src/set takes from POSIX threads, for a system without threads: nothing ever waits. */
#ifndef PLANNER_WASI_PTHREAD_H
#define PLANNER_WASI_PTHREAD_H

typedef int pthread_mutex_t;

static inline int pthread_mutex_init(pthread_mutex_t *mutex, const void *attributes)
{
    (void)attributes;
    *mutex = 0;
    return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    *mutex = 0;
    return 0;
}

static inline int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    *mutex = 1;
    return 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    *mutex = 0;
    return 0;
}

#endif
