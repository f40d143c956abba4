/* SPDX-License-Identifier: MIT
 *
 * Runs a fuzz target over every file of a corpus folder, and over many deterministic mutations of
 * each file (200 if no number is given). So the normal test suite replays the findings of fuzzing,
 * with any compiler. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1
#endif
#include <dirent.h>

#include "target.h"
#include "test.h"

enum {
    MUTATIONS_USUAL = 200,
    FILE_MAX_BYTES = 1 << 20
};

/* Every mutation runs on an exact-size heap block, so that a sanitizer sees a read past it. */
static void run_exact(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) {
        abort();
    }
    if (size) {
        memcpy(copy, data, size);
    }
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void run_mutations(const uint8_t *data, size_t size, unsigned long n, uint64_t seed)
{
    static uint8_t work[FILE_MAX_BYTES];
    run_exact(data, size);
    for (unsigned long i = 0; i < n; i++) {
        memcpy(work, data, size);
        size_t len = size;
        for (uint64_t edits = 1 + test_random(&seed) % 4; edits && len; edits--) {
            uint64_t r = test_random(&seed);
            size_t at = (size_t)(r >> 16) % len;
            switch (r % 5) {
            case 0:
                work[at] ^= (uint8_t)(1u << (r >> 8) % 8);
                break;
            case 1:
                work[at] = (uint8_t)(r >> 8);
                break;
            case 2:
                len = at;
                break;
            case 3:
                memmove(work + at, work + at + 1, len - at - 1);
                len--;
                break;
            default:
                work[at] = (uint8_t) "\0\n/?#%:@.\xff"[(r >> 8) % 10];
            }
        }
        run_exact(work, len);
    }
}

int main(int argc, char **argv)
{
    static uint8_t data[FILE_MAX_BYTES];
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: %s CORPUS [MUTATIONS]\n", argv[0]);
        return 2;
    }
    const unsigned long nmutations = argc == 3 ? strtoul(argv[2], NULL, 10) : MUTATIONS_USUAL;
    DIR *dir = opendir(argv[1]);
    if (!dir) {
        perror(argv[1]);
        return 2;
    }
    unsigned long nfiles = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
        FILE *file = fopen(path, "rb");
        if (!file) {
            perror(path);
            return 2;
        }
        size_t size = fread(data, 1, sizeof(data), file);
        fclose(file);
        run_mutations(data, size, nmutations, 1);
        nfiles++;
    }
    closedir(dir);
    run_mutations(data, 0, nmutations, 1);
    printf("%lu corpus files, %lu mutations each, 0 failed\n", nfiles, nmutations);
    return nfiles ? 0 : 1;
}
