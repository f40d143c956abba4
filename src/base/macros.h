/* SPDX-License-Identifier: MIT
 *
 * The few compiler attributes the library uses, in one place. */
#ifndef UNSEEN_BASE_MACROS_H
#define UNSEEN_BASE_MACROS_H

#if defined(__GNUC__)
#define UNSEEN_LIKELY(x)        __builtin_expect(!!(x), 1)
#define UNSEEN_UNLIKELY(x)      __builtin_expect(!!(x), 0)
#define UNSEEN_INLINE           static inline __attribute__((always_inline))
#define UNSEEN_NOINLINE         __attribute__((noinline))
#define UNSEEN_PREFETCH(p)      __builtin_prefetch((p), 1, 3)
#define UNSEEN_PREFETCH_READ(p) __builtin_prefetch((p), 0, 3)
/* Fetches into the second-level cache only: the processor can have more such fetches under way. */
#define UNSEEN_PREFETCH_L2(p) __builtin_prefetch((p), 0, 2)
#define UNSEEN_TARGET(isa)    __attribute__((target(isa)))
#else
#define UNSEEN_LIKELY(x)   (x)
#define UNSEEN_UNLIKELY(x) (x)
#define UNSEEN_INLINE      static inline
#define UNSEEN_NOINLINE
#define UNSEEN_PREFETCH(p)      ((void)(p))
#define UNSEEN_PREFETCH_READ(p) ((void)(p))
#define UNSEEN_PREFETCH_L2(p)   ((void)(p))
#define UNSEEN_TARGET(isa)
#endif

/* 1 where the x86-64 kernels can be compiled. base/cpu.h decides at run time which kernels run. */
#if defined(__x86_64__) && defined(__GNUC__)
#define UNSEEN_X86 1
#else
#define UNSEEN_X86 0
#endif

#endif
