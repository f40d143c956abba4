/* SPDX-License-Identifier: MIT */
#include "print/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "print/message.h"
#include "print/report.h"

static bool is_standard(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

/* Checks the descriptor, which open has just returned, and makes the buffer. */
static bool opened(struct output *out)
{
    if (out->fd < 0) {
        message_error("cannot open %s: %s", out->name, strerror(errno));
        return false;
    }
    out->is_open = true;
    out->buf = malloc(OUTPUT_BYTES);
    if (!out->buf) {
        message_error("%s: out of memory", out->name);
        return false;
    }
    out->cap = OUTPUT_BYTES;
    return true;
}

const char *output_format_of(const char *name)
{
    static const struct {
        const char *suffix;
        const char *program;
    } formats[] = {
        {".tar.gz", ""},    {".tar.zst", ""},  {".tar.xz", ""},  {".tar.bz2", ""},
        {".tar", ""},       {".tgz", ""},      {".tbz2", ""},    {".tzst", ""},
        {".txz", ""},       {".7z", ""},       {".rar", ""},     {".zip", ""},
        {".gz", "gzip"},    {".zst", "zstd"},  {".xz", "xz"},    {".bz2", "bzip2"},
        {".lz4", "lz4"},    {".br", "brotli"}, {".lz", "lzip"},  {".lzma", "lzma"},
        {".Z", "compress"}, {".sz", ""},       {".lzo", "lzop"},
    };
    const size_t len = strlen(name);
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        const size_t n = strlen(formats[i].suffix);
        if (len > n && strcasecmp(name + len - n, formats[i].suffix) == 0) {
            return formats[i].program;
        }
    }
    return NULL;
}

bool output_open(struct output *out, const char *path)
{
    out->name = is_standard(path) ? "standard output" : path;
    out->fd = is_standard(path) ? STDOUT_FILENO : file_open(path, O_WRONLY | O_CREAT);
    return opened(out);
}

/* poll never says that the descriptor -1 can be written to, so an elastic output keeps all. */
bool output_open_memory(struct output *out, const char *name)
{
    *out = (struct output){
        .fd = -1, .name = name, .elastic = true, .buf = malloc(OUTPUT_BYTES), .cap = OUTPUT_BYTES};
    return out->buf != NULL;
}

void output_sync_name(const struct output *out)
{
    char link[64];
    char path[4096];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", out->fd);
    const ssize_t len = readlink(link, path, sizeof(path) - 1);
    if (len > 0 && path[0] == '/') {
        path[len] = '\0';
        (void)folder_sync(path); /* nothing more can be done */
    }
}

bool output_open_again(struct output *out, const char *path)
{
    struct stat st;
    if (is_standard(path) || (stat(path, &st) == 0 && !S_ISREG(st.st_mode))) {
        return output_open(out, path);
    }
    out->name = path;
    out->fd = file_open(path, O_RDWR | O_CREAT);
    if (!opened(out)) {
        return false;
    }
    /* Sync even if the file was there: its maker may have been killed before the name was
     * synced. */
    if (!folder_sync(path)) {
        message_error("cannot write the folder of %s: %s", path, strerror(errno));
        return false;
    }
    return true;
}

bool output_is_file(const struct output *out)
{
    struct stat st;
    return fstat(out->fd, &st) == 0 && S_ISREG(st.st_mode);
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

/* A pipe or a terminal cannot be moved in (ESPIPE). */
bool output_seek(struct output *out, uint64_t offset, int whence)
{
    if (out->fd != STDOUT_FILENO && lseek(out->fd, (off_t)offset, whence) < 0 && errno != ESPIPE) {
        message_error("cannot write %s: %s", out->name, strerror(errno));
        return false;
    }
    return true;
}

static void output_fail(struct output *out)
{
    out->reader_gone = errno == EPIPE;
    if (!out->reader_gone) {
        message_error("cannot write %s: %s", out->name, strerror(errno));
    }
    out->failed = true;
}

/* Hands bytes on at once: they are printed before their lines count as written. */
static void write_tee(struct output *out, const char *data, size_t len)
{
    if (out->tee && !out->failed) {
        output_write(out->tee, data, len);
        out->failed = !output_flush(out->tee);
    }
}

/* Writes bytes, until all are written or an error comes. */
static void write_all(struct output *out, const char *data, size_t len)
{
    const char *const begin = data;
    while (len > 0 && !out->failed) {
        ssize_t n = write(out->fd, data, len);
        if (n >= 0) {
            data += n;
            len -= (size_t)n;
            out->written += (uint64_t)n;
        } else if (errno == EAGAIN) {
            struct pollfd pfd = {.fd = out->fd, .events = POLLOUT};
            (void)poll(&pfd, 1, -1); /* write reports any error */
        } else if (errno != EINTR) {
            output_fail(out);
        }
        /* A signal shows as EINTR, or as a short write if some bytes were written. */
        if (len > 0) {
            report_poll();
        }
    }
    write_tee(out, begin, (size_t)(data - begin));
}

void output_make_elastic(struct output *out)
{
    struct stat st;
    if (out->tee) {
        output_make_elastic(out->tee);
    }
    out->elastic = fstat(out->fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

/* Writes as long as that does not block. A pipe that poll calls writable takes PIPE_BUF bytes
 * without blocking, and so does a local socket, which some programs use as a pipe. O_NONBLOCK would
 * disturb other programs that use the same pipe. */
static void write_some(struct output *out)
{
    struct pollfd pfd = {.fd = out->fd, .events = POLLOUT};
    while (out->sent < out->len && !out->failed && poll(&pfd, 1, 0) > 0) {
        size_t rest = out->len - out->sent;
        size_t n = rest < PIPE_BUF ? rest : PIPE_BUF;
        write_all(out, out->buf + out->sent, n);
        out->sent += n;
    }
}

/* Makes room for len more bytes in the buffer. Without memory, waits until the buffer is
 * written. */
static void keep_room(struct output *out, size_t len)
{
    if (out->sent > 0) {
        memmove(out->buf, out->buf + out->sent, out->len - out->sent);
        out->len -= out->sent;
        out->sent = 0;
    }
    size_t cap = out->cap;
    while (cap - out->len < len && cap <= SIZE_MAX / 2) {
        cap *= 2;
    }
    if (cap == out->cap) {
        return;
    }
    char *buf = cap - out->len >= len ? realloc(out->buf, cap) : NULL;
    if (buf) {
        out->buf = buf;
        out->cap = cap;
    } else if (out->fd < 0) {
        message_error("%s: out of memory", out->name);
        out->failed = true;
    } else {
        write_all(out, out->buf, out->len);
        out->len = 0;
    }
}

static void reset(struct output *out)
{
    out->len = 0;
    out->sent = 0;
    if (out->cap > OUTPUT_BYTES) {
        char *buf = realloc(out->buf, OUTPUT_BYTES);
        out->cap = buf ? OUTPUT_BYTES : out->cap;
        out->buf = buf ? buf : out->buf;
    }
}

bool output_flush(struct output *out)
{
    if (out->elastic) {
        write_some(out);
    } else if (out->len > out->sent) {
        write_all(out, out->buf + out->sent, out->len - out->sent);
        out->sent = out->len;
    }
    if (out->sent == out->len || out->failed) {
        reset(out);
    }
    if (out->tee && !output_flush(out->tee)) {
        out->failed = true;
    }
    return !out->failed;
}

void output_write_large(struct output *out, const char *data, size_t len)
{
    out->put += len;
    (void)output_flush(out); /* remembered in out */
    if (out->elastic && !out->failed) {
        keep_room(out, len);
    }
    if (len <= out->cap - out->len) {
        memcpy(out->buf + out->len, data, len);
        out->len += len;
    } else {
        write_all(out, data, len);
    }
}

void output_print(struct output *out, const char *format, ...)
{
    char text[8192];
    va_list args;
    va_start(args, format);
    const int len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    output_write(out, text, len < (int)sizeof(text) ? (size_t)len : sizeof(text) - 1);
}

bool output_finish(struct output *out)
{
    out->elastic = false;
    if (out->tee) {
        out->tee->elastic = false;
    }
    return output_flush(out);
}

static void output_release(struct output *out)
{
    free(out->buf);
    out->buf = NULL;
    out->is_open = false;
}

/* Some file systems report a failed write only when the file is closed. */
bool output_close(struct output *out)
{
    if (!out->is_open) {
        return true;
    }
    if (out->buf) {
        (void)output_finish(out); /* remembered in out */
    }
    if (close(out->fd) != 0 && !out->failed && errno != EINTR) {
        output_fail(out);
    }
    output_release(out);
    return !out->failed;
}

void output_abandon(struct output *out)
{
    if (out->is_open && out->fd != STDOUT_FILENO) {
        (void)close(out->fd); /* nothing was written */
    }
    output_release(out);
}
