/* SPDX-License-Identifier: MIT */
#include "lines/files.h"

#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lines/magic.h"
#include "print/message.h"
#include "print/typed.h"

bool files_is_standard_input(const char *name)
{
    return strcmp(name, "-") == 0;
}

size_t files_count_standard_input(const char *const *names, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        count += files_is_standard_input(names[i]);
    }
    return count;
}

const char *files_shown(const char *name)
{
    return files_is_standard_input(name) ? "standard input" : name;
}

static bool status_of(const char *name, struct stat *st)
{
    return (files_is_standard_input(name) ? fstat(STDIN_FILENO, st) : stat(name, st)) == 0;
}

bool files_is_output(const char *name, const struct output *out)
{
    struct stat a;
    struct stat b;
    return out->is_open && fstat(out->fd, &b) == 0 && S_ISREG(b.st_mode) && status_of(name, &a) &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

const char *files_find_output(const char *const *names, size_t n, const struct output *const *outs,
                              size_t nouts)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < nouts; j++) {
            if (files_is_output(names[i], outs[j])) {
                message_error("%s is both input and output", files_shown(names[i]));
                return files_shown(names[i]);
            }
        }
    }
    return NULL;
}

bool files_check(const char *const *names, size_t n, const struct output *const *outs, size_t nouts)
{
    const char *name = files_find_output(names, n, outs, nouts);
    if (name) {
        const char *command = typed_changed("output repeats tee", "-o NEW");
        if (typed_has("store")) { /* whose output keeps its name */
            message_hint("%s", command);
        } else {
            message_hint("%s && mv NEW %s", command, typed_quoted(name));
        }
    }
    return !name;
}

enum file_end files_end(int fd, char delimiter)
{
    struct stat st;
    char bytes[MAGIC_BYTES];
    char last = delimiter;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
        return FILE_END_LINE;
    }
    const ssize_t n = pread(fd, bytes, sizeof(bytes), 0);
    if (n > 0 && magic_find(bytes, (size_t)n, false)->content != CONTENT_LINES) {
        return FILE_END_CODED;
    }
    return pread(fd, &last, 1, st.st_size - 1) != 1 || last == delimiter ? FILE_END_LINE
                                                                         : FILE_END_OPEN;
}

/* Gives a program that was started at the same moment a little time to write. */
bool files_wait_on_standard_input(void)
{
    enum {
        MOMENT_MS = 10
    };
    struct stat st;
    struct pollfd pfd = {.fd = STDIN_FILENO, .events = POLLIN};
    return fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode) && poll(&pfd, 1, MOMENT_MS) > 0 &&
           (pfd.revents & POLLIN);
}

/* A pipe made by pipe(2) is on a device of its own; a named fifo is on another device. */
static bool is_named_fifo(const char *name)
{
    int ends[2];
    struct stat st;
    struct stat nameless;
    if (!status_of(name, &st) || !S_ISFIFO(st.st_mode) || pipe(ends) != 0) {
        return false;
    }
    bool differs = fstat(ends[0], &nameless) == 0 && nameless.st_dev != st.st_dev;
    (void)close(ends[0]);
    (void)close(ends[1]);
    return differs;
}

bool files_have_fifo(const char *const *names, size_t n)
{
    bool found = false;
    for (size_t i = 0; i < n; i++) {
        found = found || is_named_fifo(names[i]);
    }
    return found;
}
