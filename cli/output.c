/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

bool output_open(struct output *out, const char *path)
{
    bool standard = !path || strcmp(path, "-") == 0;
    out->name = standard ? "standard output" : path;
    out->fd = STDOUT_FILENO;
    if (!standard) {
        out->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
        if (out->fd < 0) {
            message_error("cannot open %s: %s", path, strerror(errno));
            return false;
        }
    }
    out->is_open = true;
    out->buf = malloc(OUTPUT_BYTES);
    if (!out->buf) {
        message_error("%s: out of memory", out->name);
        return false;
    }
    return true;
}

bool output_truncate(struct output *out)
{
    struct stat st;
    if (out->fd == STDOUT_FILENO || (fstat(out->fd, &st) == 0 && !S_ISREG(st.st_mode))) {
        return true;
    }
    if (ftruncate(out->fd, 0) != 0) {
        message_error("cannot write %s: %s", out->name, strerror(errno));
        return false;
    }
    return true;
}

static void fail(struct output *out)
{
    if (errno != EPIPE) {
        message_error("cannot write %s: %s", out->name, strerror(errno));
    }
    out->failed = true;
}

static void write_all(struct output *out, const char *data, size_t len)
{
    while (len > 0 && !out->failed) {
        ssize_t n = write(out->fd, data, len);
        if (n >= 0) {
            data += n;
            len -= (size_t)n;
        } else if (errno == EAGAIN) {
            struct pollfd pfd = {.fd = out->fd, .events = POLLOUT};
            (void)poll(&pfd, 1, -1); /* whatever it says, write will say it better */
        } else if (errno != EINTR) {
            fail(out);
        } else if (out->interrupted) {
            out->interrupted(out->context);
        }
    }
}

bool output_flush(struct output *out)
{
    write_all(out, out->buf, out->len);
    out->len = 0;
    return !out->failed;
}

void output_write_large(struct output *out, const char *data, size_t len)
{
    (void)output_flush(out); /* remembered in out */
    if (len >= OUTPUT_BYTES) {
        write_all(out, data, len);
    } else {
        memcpy(out->buf, data, len);
        out->len = len;
    }
}

/* Some file systems report a failed write only when the file is closed. */
bool output_close(struct output *out)
{
    if (!out->is_open) {
        return true;
    }
    if (out->buf) {
        (void)output_flush(out);
    }
    if (close(out->fd) != 0 && !out->failed && errno != EINTR) {
        fail(out);
    }
    free(out->buf);
    out->buf = NULL;
    out->is_open = false;
    return !out->failed;
}
