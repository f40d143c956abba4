/* SPDX-License-Identifier: MIT
 *
 * Splits bytes into lines: the first step of the pipeline, before any URL is looked at.
 *
 * A line of a URL list has about 60 bytes. A call of memchr for each line spends most of its time
 * on starting and ending, and the processor cannot predict where its loop ends. Here 64 bytes are
 * compared at once into a 64-bit mask of delimiters, as in [Langdale19]. The mask is turned into
 * lines without asking how many bits it has: the first two bits are always stored, and counted only
 * if they are there. Only a third bit in 64 bytes costs a branch.
 *
 * SSE2 is part of every x86-64, so nothing is chosen at run time. Elsewhere the mask of 8 bytes
 * comes from one 64-bit word [Warren12, sec. 6-1], in its exact form: the shorter form can report a
 * byte above a true match. */
#include "unseen.h"

#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"

#if defined(__SSE2__) && defined(__GNUC__)
#include <emmintrin.h>
#define SPLIT_SSE2 1
#else
#define SPLIT_SSE2 0
#endif

enum {
    STEP = 64
};

#if SPLIT_SSE2

static inline uint64_t mask16(const char *p, __m128i wanted)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted));
}

/* Bit i says that p[i] is the delimiter. */
static inline uint64_t mask64(const char *p, char delimiter)
{
    __m128i wanted = _mm_set1_epi8(delimiter);
    return mask16(p, wanted) | mask16(p + 16, wanted) << 16 | mask16(p + 32, wanted) << 32 |
           mask16(p + 48, wanted) << 48;
}

#else

static inline uint64_t mask8(const char *p, uint64_t wanted)
{
    const uint64_t low7 = 0x7f7f7f7f7f7f7f7fu;
    uint64_t diff = load_le64(p) ^ wanted;
    uint64_t equal = ~(((diff & low7) + low7) | diff | low7); /* 0x80 in each equal byte */
    return ((equal >> 7) * 0x0102040810204080u) >> 56;
}

static inline uint64_t mask64(const char *p, char delimiter)
{
    uint64_t wanted = (uint64_t)(unsigned char)delimiter * 0x0101010101010101u;
    uint64_t mask = 0;
    for (unsigned i = 0; i < STEP / 8; i++) {
        mask |= mask8(p + (size_t)i * 8, wanted) << (8 * i);
    }
    return mask;
}

#endif

size_t unseen_lines_split(const void *data, size_t len, char delimiter, struct unseen_bytes *lines,
                          size_t max, size_t *consumed_out)
{
    const uint64_t top = (uint64_t)1 << 63; /* keeps lowest_bit defined for an empty mask */
    const char *base = data;
    size_t start = 0;
    size_t n = 0;
    size_t at = 0;
    for (; len - at >= STEP && max - n >= 2; at += STEP) {
        uint64_t mask = mask64(base + at, delimiter);
        for (int i = 0; i < 2; i++) {
            size_t end = at + lowest_bit(mask | top);
            lines[n].data = base + start;
            lines[n].len = end - start;
            size_t found = mask != 0;
            n += found;
            start += (end + 1 - start) & (0 - found); /* as arithmetic: ?: becomes a branch */
            mask &= mask - 1;
        }
        for (; UNSEEN_UNLIKELY(mask); mask &= mask - 1) {
            if (n == max) {
                *consumed_out = start;
                return n;
            }
            size_t end = at + lowest_bit(mask);
            lines[n].data = base + start;
            lines[n++].len = end - start;
            start = end + 1;
        }
    }
    for (const char *end; n < max && at < len; at = start) {
        end = memchr(base + at, delimiter, len - at);
        if (!end) {
            break;
        }
        lines[n].data = base + start;
        lines[n++].len = (size_t)(end - base) - start;
        start = (size_t)(end - base) + 1;
    }
    *consumed_out = start;
    return n;
}
