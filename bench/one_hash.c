/* SPDX-License-Identifier: MIT
 *
 * The bitmap with one hash that looks like the smallest set of URLs there is: one bit for each URL
 * that is expected, set where the line's hash falls. With as many bits as URLs, of the last new
 * lines 63 % find their bit set by another.
 *
 *     one_hash NBITS [FILE] > OUT       prints each line whose bit was not set
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static _Noreturn void die(const char *what)
{
    perror(what);
    exit(2);
}

int main(int argc, char **argv)
{
    const uint64_t nbits = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    if (nbits == 0 || argc > 3) {
        fprintf(stderr, "usage: one_hash NBITS [FILE]\n");
        return 2;
    }
    FILE *in = argc > 2 ? fopen(argv[2], "r") : stdin;
    uint8_t *bits = calloc(nbits / 8 + 1, 1);
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    if (!in || !bits) {
        die(argc > 2 ? argv[2] : "memory");
    }
    while ((len = getline(&line, &cap, in)) > 0) {
        const size_t text = (size_t)len - (line[len - 1] == '\n');
        const uint64_t hash = XXH3_64bits(line, text);
        const uint64_t bit = (uint64_t)((unsigned __int128)hash * nbits >> 64);
        if (!(bits[bit / 8] >> bit % 8 & 1)) {
            bits[bit / 8] = (uint8_t)(bits[bit / 8] | 1u << bit % 8);
            fwrite(line, 1, text, stdout);
            putchar('\n');
        }
    }
    if (ferror(in) || ferror(stdout) || fflush(stdout) != 0) {
        die("one_hash");
    }
    free(line);
    free(bits);
    if (in != stdin) {
        fclose(in);
    }
    return 0;
}
