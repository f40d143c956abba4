/* SPDX-License-Identifier: MIT
 *
 * The yardstick of the pipe: what any program must do that reads lines, makes a 128-bit key of
 * each and writes lines. It splits, hashes and writes every line, and remembers nothing. What a
 * tool takes beyond this is the price of its set, and of its care.
 *
 *     floor [FILE] > OUT           the key of the library (docs/decisions/key.md)
 *     floor --xxh3 [FILE] > OUT    XXH3-128, which whoever makes the lines can foresee
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "unseen.h"

enum {
    BLOCK_BYTES = 256 << 10,
    BATCH = 256
};

struct output {
    char *data;
    size_t len;
};

static void die(const char *what)
{
    perror(what);
    exit(2);
}

static void flush(struct output *output)
{
    for (size_t done = 0; done < output->len;) {
        ssize_t n = write(STDOUT_FILENO, output->data + done, output->len - done);
        if (n < 0 && errno != EINTR) {
            die("write");
        }
        done += n > 0 ? (size_t)n : 0;
    }
    output->len = 0;
}

static void put_line(struct output *output, const char *line, size_t len)
{
    if (len + 1 > BLOCK_BYTES - output->len) {
        flush(output);
    }
    if (len + 1 > BLOCK_BYTES) {
        fprintf(stderr, "floor: a line of %zu bytes is too long\n", len);
        exit(2);
    }
    memcpy(output->data + output->len, line, len);
    output->data[output->len + len] = '\n';
    output->len += len + 1;
}

/* Up to len bytes; 0 at the end of input. */
static size_t read_some(int fd, char *data, size_t len)
{
    ssize_t n;
    do {
        n = read(fd, data, len);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        die("read");
    }
    return (size_t)n;
}

/* Keys that are made and not kept: without a use the compiler would drop the hashing. */
struct keys {
    const struct unseen_set *set; /* NULL: XXH3 */
    uint64_t alive;
};

static void hash_and_put(struct keys *keys, const struct unseen_bytes *lines, size_t n,
                         struct output *output)
{
    struct unseen_key made[BATCH];
    if (keys->set) {
        if (unseen_set_keys(keys->set, lines, n, made, NULL) != UNSEEN_OK) {
            die("unseen_set_keys");
        }
        for (size_t i = 0; i < n; i++) {
            keys->alive ^= made[i].lo ^ made[i].hi;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (!keys->set) {
            const XXH128_hash_t key = XXH3_128bits_withSeed(lines[i].data, lines[i].len, 1);
            keys->alive ^= key.low64 ^ key.high64;
        }
        put_line(output, lines[i].data, lines[i].len);
    }
}

/* The lines of a block. Returns where the last, unfinished one begins. */
static const char *take_lines(struct keys *keys, const char *line, const char *end,
                              struct output *output)
{
    struct unseen_bytes lines[BATCH];
    size_t n = 0;
    for (const char *eol; (eol = memchr(line, '\n', (size_t)(end - line))); line = eol + 1) {
        lines[n++] = (struct unseen_bytes){line, (size_t)(eol - line)};
        if (n == BATCH) {
            hash_and_put(keys, lines, n, output);
            n = 0;
        }
    }
    hash_and_put(keys, lines, n, output);
    return line;
}

int main(int argc, char **argv)
{
    struct unseen_set *set = NULL;
    struct keys keys = {NULL, 0};
    if (argc > 1 && strcmp(argv[1], "--xxh3") == 0) {
        argv++;
        argc--;
    } else if (unseen_set_create(&set, NULL, NULL) != UNSEEN_OK) {
        die("unseen_set_create");
    }
    keys.set = set;
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : STDIN_FILENO;
    if (fd < 0) {
        die(argv[1]);
    }
    /* A line that a block cut in two is moved in front of the next block. */
    char *input = malloc(2 * (size_t)BLOCK_BYTES);
    struct output output = {malloc(BLOCK_BYTES), 0};
    if (!input || !output.data) {
        die("malloc");
    }
    size_t rest = 0;
    for (size_t n; (n = read_some(fd, input + rest, BLOCK_BYTES)) > 0;) {
        const char *end = input + rest + n;
        const char *line = take_lines(&keys, input, end, &output);
        rest = (size_t)(end - line);
        if (rest > BLOCK_BYTES) {
            fprintf(stderr, "floor: a line is longer than %d bytes\n", BLOCK_BYTES);
            return 2;
        }
        memmove(input, line, rest);
    }
    if (rest) {
        put_line(&output, input, rest);
    }
    flush(&output);
    fprintf(stderr, "%016llx\n", (unsigned long long)keys.alive);
    unseen_set_free(set);
    free(input);
    free(output.data);
    return 0;
}
