/* SPDX-License-Identifier: MIT
 *
 * The feature macro, in one place. A file that needs more than ISO C (POSIX, mmap, fallocate,
 * Linux' own calls) includes this header before any other, because the C library reads the macro
 * when its first header is included. The build needs no -D flag for it. Only base/error.c is
 * different: it asks for POSIX alone, whose strerror_r returns a number. */
#ifndef UNSEEN_BASE_POSIX_H
#define UNSEEN_BASE_POSIX_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#endif
