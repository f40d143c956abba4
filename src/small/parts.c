/* SPDX-License-Identifier: MIT
 *
 * Rates as one byte, and the runs of parts: see parts.h. */
#include "small/parts.h"

#include <math.h>

/* 2^(i / 12) * 2^32, rounded up. Made by
 * python3 -c "from decimal import *; getcontext().prec=40
 * print([int(Decimal(2)**(Decimal(i)/12)*2**32)+(i>0) for i in range(12)])" */
static const uint64_t roots[RATE_STEPS] = {
    UINT64_C(4294967296), UINT64_C(4550359342), UINT64_C(4820937789), UINT64_C(5107605668),
    UINT64_C(5411319705), UINT64_C(5733093520), UINT64_C(6074001000), UINT64_C(6435179895),
    UINT64_C(6817835604), UINT64_C(7223245206), UINT64_C(7652761717), UINT64_C(8107818610)};

double unseen__rate_of_code(unsigned code)
{
    return exp2(-(double)code / RATE_STEPS);
}

unsigned unseen__rate_code(double rate)
{
    const double code = ceil(-RATE_STEPS * log2(rate));
    return code > RATE_CODE_MAX ? RATE_CODE_MAX + 1 : (unsigned)code;
}

uint64_t unseen__rate_universe(unsigned code, unsigned inverse)
{
    /* The root is less than 2^33, the power of two less than 2^22; 8 bits are cut off to make room
     * for the inverse. */
    const uint64_t product = roots[code % RATE_STEPS] << code / RATE_STEPS;
    return ((product >> 8) * inverse >> 24) + 1;
}

bool unseen__parts_decode(const struct parts *parts, size_t run, uint64_t *numbers)
{
    const size_t len = parts_lens(parts)[run];
    const unsigned n = parts->start[run];
    uint8_t copy[PARTS_RUN_BYTES + 1 + RUN_PAD] = {0};
    if (n > RUN_MAX) {
        return false;
    }
    memcpy(copy, parts_run(parts, run), len);
    return unseen__run_decode(copy, len, n, parts->universe, numbers);
}
