/* SPDX-License-Identifier: MIT
 *
 * The yardstick of `unseen sort`: a radix sort in memory. Integers below 2^32, three passes of 11
 * bits each from the lowest, between the same parser and the same printer as the tool has.
 *
 *     radix_sort [-u] < IN > OUT
 */
#include "bench.h"

#include "lines/integers.h"

enum {
    BLOCK = 256 << 10,
    FRONT = 16,
    LINES = 512,
    DIGIT_BITS = 11,
    DIGITS = 1 << DIGIT_BITS,
    PASSES = 3
};

struct array {
    uint32_t *items;
    size_t n;
    size_t cap;
};

/* Grows by mremap inside realloc: nothing is copied. */
static void append(struct array *a, const struct unseen_bytes *lines, size_t n)
{
    if (a->n + n > a->cap) {
        a->cap = a->cap ? a->cap * 2 : 1 << 20;
        a->items = realloc(a->items, a->cap * sizeof(*a->items));
        if (!a->items) {
            bench_die("memory");
        }
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t value;
        if (!integer_parse(lines[i].data, lines[i].len, &value) || value > UINT32_MAX) {
            bench_die("not an integer below 2^32");
        }
        a->items[a->n++] = (uint32_t)value;
    }
}

static void read_all(struct array *a)
{
    static char buffer[FRONT + BLOCK];
    struct unseen_bytes lines[LINES];
    size_t filled = 0;
    ssize_t got;
    while ((got = read(STDIN_FILENO, buffer + FRONT + filled, BLOCK - filled)) > 0) {
        size_t at = 0;
        size_t used;
        size_t n;
        filled += (size_t)got;
        while ((n = unseen_lines_split(buffer + FRONT + at, filled - at, '\n', lines, LINES,
                                       &used)) > 0) {
            append(a, lines, n);
            at += used;
        }
        memmove(buffer + FRONT, buffer + FRONT + at, filled - at);
        filled -= at;
    }
    if (got < 0 || filled > 0) {
        bench_die("read");
    }
}

static void sort(struct array *a)
{
    static size_t starts[PASSES][DIGITS];
    uint32_t *from = a->items;
    uint32_t *to = malloc((a->n ? a->n : 1) * sizeof(*to));
    if (!to) {
        bench_die("memory");
    }
    for (size_t i = 0; i < a->n; i++) {
        for (int pass = 0; pass < PASSES; pass++) {
            starts[pass][from[i] >> (pass * DIGIT_BITS) & (DIGITS - 1)]++;
        }
    }
    for (int pass = 0; pass < PASSES; pass++) {
        size_t sum = 0;
        for (size_t d = 0; d < DIGITS; d++) {
            const size_t count = starts[pass][d];
            starts[pass][d] = sum;
            sum += count;
        }
        for (size_t i = 0; i < a->n; i++) {
            to[starts[pass][from[i] >> (pass * DIGIT_BITS) & (DIGITS - 1)]++] = from[i];
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    free(to);
    a->items = from;
}

static void flush(const char *buffer, size_t len)
{
    for (size_t done = 0; done < len;) {
        const ssize_t n = write(STDOUT_FILENO, buffer + done, len - done);
        if (n < 0) {
            bench_die("write");
        }
        done += (size_t)n;
    }
}

static void print_all(const struct array *a, bool unique)
{
    static struct integers_printer printer;
    static char buffer[BLOCK];
    char *to = buffer;
    integers_start(&printer);
    for (size_t i = 0; i < a->n; i++) {
        if (unique && i > 0 && a->items[i] == a->items[i - 1]) {
            continue;
        }
        if (buffer + sizeof(buffer) - to < INTEGER_TEXT_MAX) {
            flush(buffer, (size_t)(to - buffer));
            to = buffer;
        }
        to = integers_print(&printer, a->items[i], to);
        *to++ = '\n';
    }
    flush(buffer, (size_t)(to - buffer));
}

int main(int argc, char **argv)
{
    struct array a = {NULL, 0, 0};
    read_all(&a);
    sort(&a);
    print_all(&a, argc > 1 && strcmp(argv[1], "-u") == 0);
    free(a.items);
    return 0;
}
