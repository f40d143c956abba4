/* SPDX-License-Identifier: MIT
 *
 * Plain input is read straight into the caller's buffer. The first bytes go there, too. If they
 * turn out to be compressed, they are moved to a buffer of compressed bytes. */
#include "lines/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "print/message.h"

enum {
    RAW_BYTES = 128 * 1024,
    GZIP_ONLY = 15 + 16,
    WINDOW_LOG = 27, /* the limit of zstd -d without --long */
    WAKE_MS = 1000
};

enum coding {
    CODING_UNKNOWN,
    CODING_PLAIN,
    CODING_GZIP,
    CODING_ZSTD
};

struct input {
    const char *name;
    int fd;
    bool can_wait;
    bool long_window;
    enum coding coding;
    struct input_wait wait;
    unsigned char *raw; /* compressed bytes not decoded yet: raw[raw_at..raw_len) */
    size_t raw_at;
    size_t raw_len;
    uint64_t nread; /* bytes read from the file so far */
    bool raw_end;
    bool unfinished; /* inside a gzip member or a zstd frame */
    bool holds_more; /* the decoder has more output, for which there was no room */
    bool failed;
    bool gzip_ready;
    z_stream gzip;
    ZSTD_DStream *zstd;
};

/* Calls `before` first if the file is a fifo: opening it waits for a writer. */
static int open_named(const struct input *in)
{
    struct stat st;
    bool waits = in->wait.before && stat(in->name, &st) == 0 && S_ISFIFO(st.st_mode);
    for (;;) {
        if (waits && in->wait.before(in->wait.context) == INPUT_STOP) {
            errno = ECANCELED;
            return -1;
        }
        int fd = open(in->name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (fd >= 0 || errno != EINTR) {
            return fd;
        }
    }
}

struct input *input_open(const char *name, struct input_wait wait, bool long_window)
{
    struct input *in = calloc(1, sizeof(*in));
    if (!in) {
        message_error("%s: out of memory", name);
        return NULL;
    }
    bool standard = strcmp(name, "-") == 0;
    in->name = standard ? "standard input" : name;
    in->wait = wait;
    in->long_window = long_window;
    in->fd = standard ? STDIN_FILENO : open_named(in);
    if (in->fd < 0) {
        if (errno != ECANCELED) {
            message_error("cannot open %s: %s", in->name, strerror(errno));
        }
        free(in);
        return NULL;
    }
    struct stat st;
    bool regular = fstat(in->fd, &st) == 0 && S_ISREG(st.st_mode);
    in->can_wait = !regular;
    if (regular) {
        (void)posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* advice only */
    }
    return in;
}

const char *input_name(const struct input *in)
{
    return in->name;
}

void input_close(struct input *in)
{
    if (!in) {
        return;
    }
    if (in->gzip_ready) {
        inflateEnd(&in->gzip);
    }
    ZSTD_freeDStream(in->zstd);
    if (in->fd != STDIN_FILENO) {
        (void)close(in->fd); /* was only read */
    }
    free(in->raw);
    free(in);
}

/* Returns true when a read will not block, false to stop. Calls `before` before each wait. Without
 * `before` it returns at once, and read itself may wait. */
static bool wait_readable(const struct input *in)
{
    struct pollfd pfds[2] = {{.fd = in->fd, .events = POLLIN}, {.fd = -1, .events = POLLOUT}};
    if (!in->can_wait || !in->wait.before) {
        return true;
    }
    for (int timeout = 0;; timeout = timeout ? 0 : WAKE_MS) {
        if (timeout) {
            pfds[1].fd = in->wait.before(in->wait.context);
            if (pfds[1].fd == INPUT_STOP) {
                return false;
            }
        }
        int n = poll(pfds, timeout ? 2 : 1, timeout); /* poll ignores the descriptor -1 */
        if ((n > 0 && pfds[0].revents) || (n < 0 && errno != EINTR)) {
            return true;
        }
    }
}

/* read(2), tried again when a signal interrupts it. */
static ssize_t read_raw(struct input *in, void *buf, size_t cap)
{
    while (wait_readable(in)) {
        ssize_t n = read(in->fd, buf, cap);
        if (n >= 0) {
            in->nread += (uint64_t)n;
            return n;
        }
        if (errno == EAGAIN) {
            struct pollfd pfd = {.fd = in->fd, .events = POLLIN};
            (void)poll(&pfd, 1, WAKE_MS); /* read reports any error */
        } else if (errno != EINTR) {
            message_error("cannot read %s: %s", in->name, strerror(errno));
            return -1;
        }
    }
    return INPUT_STOP;
}

/* The coding that starts with these bytes; UNKNOWN if it takes more bytes to decide. A zstd file
 * may start with skippable frames (0x184D2A50 to 5F), which parallel compressors write. */
static enum coding sniff(const unsigned char *p, size_t len)
{
    static const struct {
        enum coding coding;
        unsigned char first_low;
        unsigned char first_high;
        size_t nrest;
        unsigned char rest[3];
    } magics[] = {
        {CODING_GZIP, 0x1f, 0x1f, 2, {0x8b, 0x08}},
        {CODING_ZSTD, 0x28, 0x28, 3, {0xb5, 0x2f, 0xfd}},
        {CODING_ZSTD, 0x50, 0x5f, 3, {0x2a, 0x4d, 0x18}},
    };
    for (size_t i = 0; len > 0 && i < sizeof(magics) / sizeof(magics[0]); i++) {
        size_t known = len - 1 < magics[i].nrest ? len - 1 : magics[i].nrest;
        if (p[0] >= magics[i].first_low && p[0] <= magics[i].first_high &&
            memcmp(p + 1, magics[i].rest, known) == 0) {
            return known == magics[i].nrest ? magics[i].coding : CODING_UNKNOWN;
        }
    }
    return len > 0 ? CODING_PLAIN : CODING_UNKNOWN;
}

static ZSTD_DStream *start_zstd(bool long_window)
{
    ZSTD_DStream *zstd = ZSTD_createDStream();
    const ZSTD_bounds bounds = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
    const int most = long_window && !ZSTD_isError(bounds.error) ? bounds.upperBound : WINDOW_LOG;
    if (zstd && ZSTD_isError(ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, most))) {
        ZSTD_freeDStream(zstd);
        return NULL;
    }
    return zstd;
}

/* Sets up the decoder, with the bytes read so far as its first input. */
static bool start_decoder(struct input *in, const void *head, size_t len)
{
    in->raw = malloc(RAW_BYTES);
    if (!in->raw) {
        message_error("%s: out of memory", in->name);
        return false;
    }
    memcpy(in->raw, head, len);
    in->raw_len = len;
    if (in->coding == CODING_ZSTD) {
        in->zstd = start_zstd(in->long_window);
    }
    in->gzip_ready = in->coding == CODING_GZIP && inflateInit2(&in->gzip, GZIP_ONLY) == Z_OK;
    if (!in->zstd && !in->gzip_ready) {
        message_error("%s: out of memory for the decompressor", in->name);
        return false;
    }
    in->unfinished = true;
    return true;
}

/* Reads the first bytes and decides the coding. Returns the length of plain bytes, 0 for an empty
 * file or if the bytes have to be decoded, -1 for an error, or INPUT_STOP. */
static ssize_t read_head(struct input *in, void *buf, size_t cap)
{
    size_t len = 0;
    cap = cap < RAW_BYTES ? cap : RAW_BYTES;
    do {
        ssize_t n = read_raw(in, (char *)buf + len, cap - len);
        if (n < 0) {
            return n;
        }
        len += (size_t)n;
        in->coding = n == 0 ? CODING_PLAIN : sniff(buf, len);
    } while (in->coding == CODING_UNKNOWN);
    if (in->coding == CODING_PLAIN) {
        return (ssize_t)len;
    }
    return start_decoder(in, buf, len) ? 0 : -1;
}

/* Reads compressed bytes if all have been decoded; sets raw_end if the file has no more. Returns a
 * negative value as input_read does. */
static ssize_t fill_raw(struct input *in)
{
    if (in->raw_at < in->raw_len || in->raw_end) {
        return 0;
    }
    ssize_t n = read_raw(in, in->raw, RAW_BYTES);
    if (n >= 0) {
        in->raw_at = 0;
        in->raw_len = (size_t)n;
        in->raw_end = n == 0;
    }
    return n;
}

/* Looks at the bytes behind a member. Returns 1 for another member, 0 for the end of the file
 * (zeros are padding, as for gzip), -1 for garbage, which has been reported. */
static int next_member(struct input *in)
{
    while (in->raw_at < in->raw_len && in->raw[in->raw_at] == 0) {
        in->raw_at++;
    }
    if (in->raw_at == in->raw_len) {
        return 0;
    }
    if (in->raw[in->raw_at] != 0x1f || inflateReset(&in->gzip) != Z_OK) {
        message_error("%s: garbage after the gzip data", in->name);
        return -1;
    }
    in->unfinished = true;
    return 1;
}

/* Decodes some of raw; *len_out bytes go to buf. False after an error that has been reported. */
static bool gzip_step(struct input *in, void *buf, size_t cap, size_t *len_out)
{
    *len_out = 0;
    if (!in->unfinished) {
        return next_member(in) >= 0;
    }
    in->gzip.next_in = in->raw + in->raw_at;
    in->gzip.avail_in = (uInt)(in->raw_len - in->raw_at);
    in->gzip.next_out = buf;
    in->gzip.avail_out = (uInt)cap;
    int status = inflate(&in->gzip, Z_NO_FLUSH);
    in->raw_at = in->raw_len - in->gzip.avail_in;
    *len_out = cap - in->gzip.avail_out;
    if (status == Z_STREAM_END) {
        in->unfinished = false;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
        message_error("%s: damaged gzip data: %s", in->name,
                      in->gzip.msg ? in->gzip.msg : zError(status));
        return false;
    }
    return true;
}

static bool zstd_step(struct input *in, void *buf, size_t cap, size_t *len_out)
{
    ZSTD_inBuffer from = {in->raw, in->raw_len, in->raw_at};
    ZSTD_outBuffer to = {buf, cap, 0};
    size_t status = ZSTD_decompressStream(in->zstd, &to, &from);
    in->raw_at = from.pos;
    *len_out = to.pos;
    if (ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge) {
        message_error("%s: this zstd data takes a window of more than %s of memory", in->name,
                      in->long_window ? "2 GiB" : "128 MiB");
        if (!in->long_window) {
            message_hint("--long allows windows of up to 2 GiB");
        }
        return false;
    }
    if (ZSTD_isError(status)) {
        message_error("%s: damaged zstd data: %s", in->name, ZSTD_getErrorName(status));
        return false;
    }
    in->unfinished = status != 0;
    return true;
}

/* Returns the bytes that were decoded before some damage first, and the error at the next call. */
static ssize_t read_decoded(struct input *in, void *buf, size_t cap)
{
    cap = cap < (1u << 30) ? cap : (1u << 30); /* zlib counts in unsigned int */
    while (!in->failed) {
        ssize_t status = in->holds_more ? 0 : fill_raw(in);
        if (status < 0) {
            return status;
        }
        if (in->raw_end && !in->unfinished) {
            return 0;
        }
        size_t len = 0;
        in->failed = !(in->zstd ? zstd_step : gzip_step)(in, buf, cap, &len);
        /* At the end of a frame the decoder holds nothing back; another call would begin the next
         * one. */
        in->holds_more = len == cap && in->unfinished;
        if (len > 0) {
            return (ssize_t)len;
        }
        if (in->raw_end && in->unfinished && !in->failed) {
            message_error("%s: the compressed data ends too early", in->name);
            in->failed = true;
        }
    }
    return -1;
}

ssize_t input_read(struct input *in, void *buf, size_t cap)
{
    if (in->coding == CODING_PLAIN) {
        return read_raw(in, buf, cap);
    }
    if (in->coding == CODING_UNKNOWN) {
        ssize_t n = read_head(in, buf, cap);
        if (n != 0 || in->coding == CODING_PLAIN) {
            return n;
        }
    }
    return read_decoded(in, buf, cap);
}

/* Decodes n bytes and drops them. */
static bool skip_decoded(struct input *in, uint64_t n, char *room)
{
    while (n > 0) {
        const ssize_t len = read_decoded(in, room, n < RAW_BYTES ? (size_t)n : RAW_BYTES);
        if (len <= 0) {
            return len == 0;
        }
        n -= (uint64_t)len;
    }
    return true;
}

static bool skip_plain(struct input *in, uint64_t n)
{
    if (n > INT64_MAX || lseek(in->fd, (off_t)n, SEEK_SET) < 0) {
        message_error("cannot go on in %s: %s", in->name, strerror(n > INT64_MAX ? EINVAL : errno));
        return false;
    }
    in->nread = n;
    return true;
}

bool input_skip(struct input *in, uint64_t n)
{
    char *room = malloc(RAW_BYTES);
    if (!room) {
        message_error("%s: out of memory", in->name);
        return false;
    }
    const bool skipped =
        read_head(in, room, RAW_BYTES) >= 0 &&
        (in->coding == CODING_PLAIN ? skip_plain(in, n) : skip_decoded(in, n, room));
    free(room);
    return skipped;
}

uint64_t input_offset(const struct input *in)
{
    return in->nread - (in->raw_len - in->raw_at);
}
