/* SPDX-License-Identifier: MIT
 *
 * Time since some moment in the past. The clock runs on when the time of day is set, and while the
 * machine sleeps.
 *
 * All that waits for a time asks this clock: progress lines, leases, the window of a set in memory,
 * looks at a file that may have changed, the patience with a client or a lock. A test drives it: if
 * UNSEEN_TEST_CLOCK names a file, the time is the number of seconds in that file, and stands still
 * until the test writes another one. */
#ifndef UNSEEN_CLI_CLOCK_H
#define UNSEEN_CLI_CLOCK_H

#include <stdint.h>

/* In seconds. */
double clock_now(void);

/* Never 0, which callers use for "not yet". */
uint64_t clock_milliseconds(void);

/* The time of day, which a store keeps: milliseconds since 1970. With UNSEEN_TEST_CLOCK it
 * is the second number in the file, or the same as above. */
uint64_t clock_since_1970(void);

#endif
