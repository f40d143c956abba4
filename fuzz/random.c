/* SPDX-License-Identifier: MIT
 *
 * Random numbers that are the same in every run of a fuzz target: what a run has found, the next
 * one finds again. These functions take the place of the C library's. */
#include <sys/random.h>
#include <unistd.h>

#include "target.h"
#include "test.h"

int getentropy(void *buf, size_t len)
{
    static uint64_t state;
    uint8_t *bytes = buf;
    for (size_t i = 0; i < len; i++) {
        bytes[i] = (uint8_t)test_random(&state);
    }
    return 0;
}

ssize_t getrandom(void *buf, size_t len, unsigned flags)
{
    (void)flags;
    return getentropy(buf, len) == 0 ? (ssize_t)len : -1;
}
