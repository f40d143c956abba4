/* SPDX-License-Identifier: MIT
 *
 * A program on the library with the least limit of memory, where the tool's least limit would take
 * a store of 16 MB in each case. It adds the lines of a file to a store and appends the new ones to
 * an output, exactly once. Beside them it adds as many other keys as make the store sweep itself.
 *
 *     crash_parts_tool STORE OUT LINES NKEYS FIRST
 *
 * NKEYS other keys come with each 50 lines, from number FIRST on. */
#include "parts.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum {
    CHUNK = 50,
    LINES_MAX = 1000
};

__attribute__((noreturn)) static void fail(const char *text)
{
    fprintf(stderr, "unseen: error: %s\n", text);
    exit(2);
}

static void check(enum unseen_status status, const struct unseen_error *error)
{
    if (status != UNSEEN_OK) {
        fail(error && error->text[0] != '\0' ? error->text : unseen_status_string(status));
    }
}

static void write_out(int fd, const char *text, size_t len)
{
    while (len > 0) {
        const ssize_t n = write(fd, text, len);
        if (n < 0 && errno != EINTR) {
            fail("cannot write the output");
        }
        text += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
}

/* Reads the file, and returns its length. */
static size_t read_lines(const char *path, char *text, size_t cap)
{
    const int fd = open(path, O_RDONLY);
    size_t len = 0;
    ssize_t n = fd < 0 ? -1 : 1;
    while (n > 0 || (fd >= 0 && n < 0 && errno == EINTR)) {
        n = read(fd, text + len, cap - len);
        len += n > 0 ? (size_t)n : 0;
    }
    if (n < 0) {
        fail("cannot read the lines");
    }
    (void)close(fd); /* was only read */
    return len;
}

static void add_others(struct unseen_store *store, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i += PARTS_BATCH) {
        size_t ndone;
        check(parts_add(store, i, i + PARTS_BATCH < end ? i + PARTS_BATCH : end, &ndone), NULL);
    }
}

static bool is_in_parts(struct unseen_store *store)
{
    struct unseen_store_info info = {.size = sizeof(info)};
    check(unseen_store_info(store, &info), NULL);
    return info.in_parts;
}

int main(int argc, char **argv)
{
    static char text[LINES_MAX * CRASH_URL_MAX];
    struct unseen_store *store = NULL;
    struct unseen_error error = {.status = UNSEEN_OK};
    uint64_t len = 0;
    if (argc != 6) {
        fail("five arguments");
    }
    const uint64_t nkeys = strtoull(argv[4], NULL, 10);
    uint64_t first = strtoull(argv[5], NULL, 10);
    const char *line = text;
    const char *end = text + read_lines(argv[3], text, sizeof(text));
    const int out = open(argv[2], O_RDWR | O_CREAT, 0600);
    if (out < 0) {
        fail("cannot open the output");
    }
    check(parts_open(&store, argv[1], UNSEEN_STORE_CREATE, &error), &error);
    check(unseen_store_output(store, out, argv[2], &len, &error), &error);
    if (lseek(out, (off_t)len, SEEK_SET) < 0) {
        fail("cannot seek in the output");
    }
    while (line < end) {
        for (unsigned i = 0; i < CHUNK && line < end; i++) {
            const char *stop = memchr(line, '\n', (size_t)(end - line));
            const struct unseen_bytes item = {line, (size_t)(stop - line)};
            uint8_t verdict;
            check(unseen_store_add(store, &item, 1, &verdict, NULL), NULL);
            if (verdict == UNSEEN_NEW) {
                write_out(out, line, item.len + 1);
                len += item.len + 1;
            }
            line = stop + 1;
        }
        if (!is_in_parts(store)) { /* afterwards each key would read a page */
            add_others(store, first, first + nkeys);
        }
        first += nkeys;
        check(unseen_store_commit_begin(store, UINT64_MAX, len, &error), &error);
        check(unseen_store_commit_poll(store, true, NULL, &error), &error);
    }
    check(unseen_store_close(store, &error), &error);
    return 0;
}
