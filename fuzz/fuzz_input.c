/* SPDX-License-Identifier: MIT
 *
 * Files as they come. The first byte chooses what is done with the bytes behind the second, which
 * is a size:
 *
 *   - read as a file. Nothing crashes, and bytes and ending are the same whatever the sizes of the
 *     blocks are, if a thread decodes ahead, and from a pipe, which has another decoder of gzip.
 *     Bytes that are not coded come back as they are.
 *   - written in UTF-16 first: comes back as the same text, or as an error if it is not Unicode.
 *
 * Messages are not looked at, and not printed. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lines/input.h"
#include "lines/magic.h"
#include "print/message.h"
#include "target.h"

enum {
    READ_MAX = 1 << 20, /* decoded bytes that are looked at */
    HEAD = 1024
};

static size_t nerrors;
static _Thread_local bool is_mute;

void message_mute(void)
{
    is_mute = true;
}

void message_say(enum message_level kind, const char *format, ...)
{
    (void)format;
    if (!is_mute) {
        nerrors += kind == MESSAGE_ERROR;
    }
}

struct outcome {
    char *data;
    size_t len;
    bool failed;
};

/* Reads the file behind a descriptor, in blocks of `piece` bytes after the first. */
static struct outcome read_all(int fd, char delimiter, size_t piece, bool is_ahead)
{
    char name[64];
    const struct input_options options = {.delimiter = delimiter, .window_log = 20};
    struct outcome o = {.data = malloc(2 * READ_MAX)};
    require(o.data != NULL);
    (void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    nerrors = 0;
    struct input *in = is_ahead ? input_open_ahead(name, &options) : NULL;
    require(!in || input_begin_turn(in));
    if (!in) {
        in = input_open(name, (struct input_wait){.before = NULL}, &options);
    }
    require(in != NULL);
    ssize_t n = 1;
    while (n > 0 && o.len < READ_MAX) {
        n = input_read(in, o.data + o.len, o.len == 0 ? HEAD : piece);
        require(n <= (ssize_t)(o.len == 0 ? HEAD : piece));
        o.len += n > 0 ? (size_t)n : 0;
        o.failed = n < 0;
    }
    require(o.failed == (nerrors > 0));
    input_close(in);
    return o;
}

static int file_of(const void *data, size_t size)
{
    const int fd = memfd_create("fuzz_input", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    return fd;
}

static int pipe_of(const void *data, size_t size)
{
    int fds[2];
    require(pipe2(fds, O_CLOEXEC) == 0 && fcntl(fds[1], F_SETPIPE_SZ, READ_MAX) >= 0);
    require(write(fds[1], data, size) == (ssize_t)size);
    (void)close(fds[1]);
    return fds[0];
}

static void require_same(const struct outcome *a, const struct outcome *b)
{
    require(a->failed == b->failed || a->len >= READ_MAX || b->len >= READ_MAX);
    const size_t both = a->len < b->len ? a->len : b->len;
    /* libbz2 does not count all bytes that it writes in front of damage */
    require(a->len == b->len || both >= READ_MAX || a->failed);
    require(memcmp(a->data, b->data, both) == 0);
}

static void check_file(const uint8_t *data, size_t size, size_t piece)
{
    const int fd = file_of(data, size);
    struct outcome whole = read_all(fd, '\n', READ_MAX, false);
    struct outcome pieces = read_all(fd, '\n', piece, false);
    const int pipe_fd = pipe_of(data, size);
    struct outcome piped = read_all(pipe_fd, '\n', piece, false);
    struct outcome ahead = read_all(fd, '\n', piece, true);
    require_same(&whole, &pieces);
    require_same(&ahead, &pieces);
    require_same(&piped, &pieces);
    const struct magic *m = magic_find(data, size, false);
    if (m->content == CONTENT_LINES) {
        const size_t len = size - m->mark;
        require(!whole.failed && whole.len == len && memcmp(whole.data, data + m->mark, len) == 0);
    } else if (m->content == CONTENT_FOREIGN) {
        require(whole.failed && whole.len == 0);
    }
    free(whole.data);
    free(pieces.data);
    free(piped.data);
    free(ahead.data);
    (void)close(pipe_fd);
    (void)close(fd);
}

/* ---- UTF-16 ---------------------------------------------------------------------------------- */

/* The units of data as code points, the plain way. Returns the length of the text in UTF-8 up to
 * the first unit that is half a pair; *whole_out is false if there is one or the last is cut. */
static size_t model(const uint8_t *data, size_t size, bool is_big, char *text, bool *whole_out)
{
    char *to = text;
    *whole_out = size % 2 == 0;
    for (size_t i = 0; i + 1 < size; i += 2) {
        uint32_t c = is_big ? (uint32_t)(data[i] << 8 | data[i + 1])
                            : (uint32_t)(data[i + 1] << 8 | data[i]);
        if (c >= 0xd800 && c < 0xe000) {
            const bool has_more = i + 3 < size;
            const uint32_t d = !has_more ? 0
                               : is_big  ? (uint32_t)(data[i + 2] << 8 | data[i + 3])
                                         : (uint32_t)(data[i + 3] << 8 | data[i + 2]);
            if (c >= 0xdc00 || d < 0xdc00 || d > 0xdfff) {
                *whole_out = false;
                return (size_t)(to - text);
            }
            c = 0x10000 + (c - 0xd800) * 0x400 + (d - 0xdc00);
            i += 2;
        }
        if (c < 0x80) {
            *to++ = (char)c;
        } else if (c < 0x800) {
            *to++ = (char)(0xc0 | c >> 6);
            *to++ = (char)(0x80 | c % 64);
        } else if (c < 0x10000) {
            *to++ = (char)(0xe0 | c >> 12);
            *to++ = (char)(0x80 | c / 64 % 64);
            *to++ = (char)(0x80 | c % 64);
        } else {
            *to++ = (char)(0xf0 | c >> 18);
            *to++ = (char)(0x80 | c / 4096 % 64);
            *to++ = (char)(0x80 | c / 64 % 64);
            *to++ = (char)(0x80 | c % 64);
        }
    }
    return (size_t)(to - text);
}

static void check_utf16(const uint8_t *data, size_t size, bool is_big, size_t piece)
{
    uint8_t *marked = malloc(size + 2);
    char *text = malloc(2 * size + 4);
    require(marked && text);
    memcpy(marked, is_big ? "\xfe\xff" : "\xff\xfe", 2);
    if (size > 0) {
        memcpy(marked + 2, data, size);
    }
    bool whole = false;
    const size_t len = model(data, size, is_big, text, &whole);
    const int fd = file_of(marked, size + 2);
    struct outcome got = read_all(fd, '\n', piece, false);
    const bool is_utf32 = !is_big && size >= 2 && data[0] == 0 && data[1] == 0;
    if (is_utf32) {
        require(got.failed && got.len == 0);
    } else {
        require(got.failed == !whole && got.len == len && memcmp(got.data, text, len) == 0);
    }
    (void)close(fd);
    free(got.data);
    free(marked);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > READ_MAX / 8) {
        return 0;
    }
    const size_t piece = 16 + data[1];
    if (data[0] % 4 == 0) {
        check_utf16(data + 2, size - 2, data[0] & 4, piece);
    } else {
        check_file(data + 2, size - 2, piece);
    }
    return 0;
}
