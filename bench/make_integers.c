/* SPDX-License-Identifier: MIT
 *
 * Made-up integers, one a line: N of them, uniform from 1 to MAX, the same each time.
 *
 *     make_integers N MAX [SEED] > OUT
 */
#include "bench.h"

enum {
    BLOCK = 1 << 16
};

int main(int argc, char **argv)
{
    static char text[BLOCK];
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: make_integers N MAX [SEED]\n");
        return 2;
    }
    const double n = strtod(argv[1], NULL);
    const uint64_t max = (uint64_t)strtod(argv[2], NULL);
    uint64_t state = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    size_t len = 0;
    for (double i = 0; i < n; i++) {
        char digits[32];
        size_t at = sizeof(digits);
        digits[--at] = '\n';
        for (uint64_t v = 1 + test_random(&state) % max; v > 0; v /= 10) {
            digits[--at] = (char)('0' + v % 10);
        }
        if (len + sizeof(digits) > BLOCK) {
            fwrite(text, 1, len, stdout);
            len = 0;
        }
        memcpy(text + len, digits + at, sizeof(digits) - at);
        len += sizeof(digits) - at;
    }
    fwrite(text, 1, len, stdout);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 2;
}
