/* SPDX-License-Identifier: MIT
 *
 * What people use as a list of lines that is built once and asked often, as a yardstick for one: a
 * Bloom filter of the textbook, or a library's.
 *
 *     list_peers textbook|libbloom build FILE N < LINES      a filter for N lines at a rate of 1e-4
 *     list_peers textbook|libbloom check FILE N < LINES      prints those that it takes for members
 *
 * textbook: textbook_bloom.h, k = 13 at 19.17 bits a key (what 1e-4 takes), over XXH3-128.
 * libbloom: Debian's libbloom-dev, where it was installed when this was built. Its version there
 * keeps filters in memory only, so FILE is its array as it is. Neither knows URLs. */
#include "bench.h"

#include <math.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "textbook_bloom.h"
#ifdef HAVE_LIBBLOOM
#include <bloom.h>
#endif

static const double rate = 1e-4;

/* One kind of filter: an array of bytes, and how a line is put in and asked for. */
struct peer {
    const char *name;
    void (*create)(uint64_t n, void **array_out, size_t *nbytes_out);
    void (*add)(const char *line, size_t len);
    bool (*contains)(const char *line, size_t len);
};

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(2);
}

static struct textbook_bloom textbook;

static void create_textbook(uint64_t n, void **array_out, size_t *nbytes_out)
{
    textbook.m = ((uint64_t)((double)n * -log(rate) / (M_LN2 * M_LN2)) / 64 + 1) * 64;
    textbook.k = (unsigned)(log2(1 / rate) + 0.5);
    *nbytes_out = textbook.m / 8;
    textbook.words = calloc(*nbytes_out, 1);
    *array_out = textbook.words;
}

static void add_textbook(const char *line, size_t len)
{
    const XXH128_hash_t hash = XXH3_128bits(line, len);
    textbook_bloom_add(&textbook, hash.low64, hash.high64);
}

static bool textbook_contains(const char *line, size_t len)
{
    const XXH128_hash_t hash = XXH3_128bits(line, len);
    return textbook_bloom_contains(&textbook, hash.low64, hash.high64);
}

#ifdef HAVE_LIBBLOOM
static struct bloom libbloom;

static void create_libbloom(uint64_t n, void **array_out, size_t *nbytes_out)
{
    *array_out = bloom_init(&libbloom, (int)n, rate) == 0 ? libbloom.bf : NULL;
    *nbytes_out = (size_t)libbloom.bytes;
}

static void add_libbloom(const char *line, size_t len)
{
    bloom_add(&libbloom, line, (int)len);
}

static bool libbloom_contains(const char *line, size_t len)
{
    return bloom_check(&libbloom, line, (int)len) == 1;
}
#endif

static const struct peer peers[] = {
    {"textbook", create_textbook, add_textbook, textbook_contains},
#ifdef HAVE_LIBBLOOM
    {"libbloom", create_libbloom, add_libbloom, libbloom_contains},
#endif
};

static void run(const struct peer *peer, bool building)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t got;
    while ((got = getline(&line, &cap, stdin)) > 0) {
        const size_t len = (size_t)got - (line[got - 1] == '\n');
        if (building) {
            peer->add(line, len);
        } else if (peer->contains(line, len)) {
            fwrite(line, 1, (size_t)got, stdout);
        }
    }
    if (ferror(stdin) || fflush(stdout) != 0 || ferror(stdout)) {
        fail("list_peers");
    }
    free(line);
}

int main(int argc, char **argv)
{
    const struct peer *peer = NULL;
    for (size_t i = 0; argc > 1 && i < sizeof(peers) / sizeof(*peers); i++) {
        peer = strcmp(argv[1], peers[i].name) == 0 ? &peers[i] : peer;
    }
    const bool building = argc == 5 && strcmp(argv[2], "build") == 0;
    const uint64_t n = argc == 5 ? strtoull(argv[4], NULL, 10) : 0;
    if (!peer || n == 0 || n > INT32_MAX || (!building && strcmp(argv[2], "check") != 0)) {
        fprintf(stderr, "usage: list_peers NAME build|check FILE N < LINES\nnames:");
        for (size_t i = 0; i < sizeof(peers) / sizeof(*peers); i++) {
            fprintf(stderr, " %s", peers[i].name);
        }
        fprintf(stderr, "\n");
        return 2;
    }
    void *array;
    size_t nbytes;
    peer->create(n, &array, &nbytes);
    FILE *file = fopen(argv[3], building ? "wb" : "rb");
    if (!array || !file) {
        fail(argv[3]);
    }
    if (!building && fread(array, 1, nbytes, file) != nbytes) {
        fail(argv[3]);
    }
    run(peer, building);
    if (building && fwrite(array, 1, nbytes, file) != nbytes) {
        fail(argv[3]);
    }
    if (fclose(file) != 0) {
        fail(argv[3]);
    }
    free(array);
    return 0;
}
