/* SPDX-License-Identifier: MIT
 *
 * Plain input is read straight into the caller's buffer. The first bytes go there, too. If they
 * have to be decoded, they are moved to a stage, which then is the source of the bytes. Its first
 * bytes are looked at again: text in UTF-16 may be compressed.
 *
 * A thread may do all that ahead (ahead.h). If it fails, the file is read again from its beginning,
 * without a thread, and without the bytes that were given before. So every message about a file
 * comes when it is the turn of the file, and only a file that is being read takes more than 32 MiB
 * for its decoder. */
#include "lines/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lines/ahead.h"
#include "lines/decoder.h"
#include "lines/magic.h"
#include "lines/reread.h"
#include "lines/stage.h"
#include "print/message.h"
#include "print/typed.h"
#include "stop.h"

enum {
    STAGES_MAX = 2, /* decompression, then UTF-16 */
    WAKE_MS = 1000
};

struct input {
    const char *name;
    int fd; /* -1: its bytes were kept */
    bool can_wait;
    struct reread *reread;          /* see struct input_options */
    const struct reread_file *file; /* in the second reading */
    struct input_wait wait;
    char delimiter;
    unsigned window_log_most; /* of the options; the thread of `ahead` may have less */
    unsigned window_log;
    bool has_own_place;  /* opened ahead: nread says where to read, not the descriptor */
    struct stat st;      /* of the file, when it was opened ahead */
    uint64_t given;      /* bytes that a thread gave; or, without it, that are to be passed over */
    struct ahead *ahead; /* NULL, or the thread that uses what follows */
    uint64_t nread;      /* bytes read from the file so far */
    bool ended;          /* a read has met the end; a terminal could go on behind it */
    bool failed;         /* a read has failed */
    bool begun;          /* the first bytes have been looked at */
    struct source top;
    size_t nstages;
    struct stage stages[STAGES_MAX];
};

/* ---- The file -------------------------------------------------------------------------------- */

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

/* read(2), tried again when a signal interrupts it. The source of the coded or plain bytes. */
static ssize_t read_raw(void *context, void *buf, size_t cap)
{
    struct input *in = context;
    while (!in->ended && !in->failed && wait_readable(in)) {
        ssize_t n =
            in->has_own_place ? pread(in->fd, buf, cap, (off_t)in->nread) : read(in->fd, buf, cap);
        if (n >= 0) {
            in->nread += (uint64_t)n;
            in->ended = n == 0;
            return n;
        }
        if (errno == EAGAIN) {
            struct pollfd pfd = {.fd = in->fd, .events = POLLIN};
            (void)poll(&pfd, 1, WAKE_MS); /* read reports any error */
        } else if (errno != EINTR) {
            message_error("cannot read %s: %s", in->name, strerror(errno));
            in->failed = true;
        }
    }
    return in->ended ? 0 : in->failed ? -1 : INPUT_STOP;
}

static void end_ahead(struct input *in)
{
    ahead_stop(in->ahead);
    in->ahead = NULL;
}

/* Goes back in a regular file. */
static bool back_raw(void *context, uint64_t n)
{
    struct input *in = context;
    if (!in->has_own_place && lseek(in->fd, -(off_t)n, SEEK_CUR) < 0) {
        message_error("cannot read %s: %s", in->name, strerror(errno));
        return false;
    }
    in->nread -= n;
    in->ended = false;
    return true;
}

/* The source of bytes that were kept. The error behind them has been reported. */
static ssize_t read_kept(void *context, void *buf, size_t cap)
{
    struct input *in = context;
    const ssize_t n = reread_take(in->reread, in->file, buf, cap);
    if (n < 0) {
        message_error("cannot read a temporary file in %s: %s", temporary_folder(),
                      strerror(errno));
        return -1;
    }
    in->nread += (uint64_t)n;
    return n == 0 && in->file->has_failed ? -1 : n;
}

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

/* Opens the file; false if that failed, which has been reported. */
static bool open_file(struct input *in, bool standard)
{
    in->fd = standard ? STDIN_FILENO : open_named(in);
    const int code = errno;
    if (in->reread) {
        reread_note(in->reread, in->fd);
    }
    if (in->fd < 0 && code != ECANCELED) {
        message_error("cannot open %s: %s", in->name, strerror(code));
    }
    return in->fd >= 0;
}

/* The same in the second reading. A file that could not be opened in the first has been
 * reported. */
static bool open_again(struct input *in, bool standard)
{
    in->file = reread_next(in->reread);
    if (!in->file || !in->file->is_open) {
        return false;
    }
    if (in->file->is_kept) {
        end_ahead(in);
        in->top = (struct source){.read = read_kept, .context = in};
        in->begun = true; /* it has been decoded */
        return true;
    }
    if (!in->ahead) {
        in->fd = standard ? STDIN_FILENO : open_named(in);
    }
    if (!reread_check(in->reread, in->file, in->fd)) {
        message_error("%s has changed: it must stay as it is while it is read twice", in->name);
        return false;
    }
    return true;
}

static struct input *create(const char *name, const struct input_options *o)
{
    struct input *in = calloc(1, sizeof(*in));
    if (in) {
        in->name = name;
        in->fd = -1;
        in->delimiter = o->delimiter;
        in->window_log_most = o->window_log ? o->window_log : WINDOW_LOG_DEFAULT;
        in->window_log = in->window_log_most;
        in->reread = o->reread;
        in->top = (struct source){.read = read_raw, .context = in};
    }
    return in;
}

struct input *input_open(const char *name, struct input_wait wait, const struct input_options *o)
{
    const bool standard = strcmp(name, "-") == 0;
    struct input *in = create(standard ? "standard input" : name, o);
    if (!in) {
        message_error("%s: out of memory", name);
        if (o->reread) {
            reread_skip(o->reread);
        }
        return NULL;
    }
    in->wait = wait;
    const bool is_again = in->reread && in->reread->is_again;
    if (!(is_again ? open_again(in, standard) : open_file(in, standard))) {
        input_close(in);
        return NULL;
    }
    struct stat st;
    bool regular = in->fd < 0 || (fstat(in->fd, &st) == 0 && S_ISREG(st.st_mode));
    in->can_wait = !regular;
    if (regular && in->top.read == read_raw && lseek(in->fd, 0, SEEK_CUR) >= 0) {
        in->top.back = back_raw;
    }
    if (regular && in->fd >= 0) {
        (void)posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* advice only */
    }
    return in;
}

const char *input_name(const struct input *in)
{
    return in->name;
}

static void release_stages(struct input *in)
{
    for (size_t i = 0; i < in->nstages; i++) {
        stage_release(&in->stages[i]);
    }
    in->nstages = 0;
}

void input_close(struct input *in)
{
    if (!in) {
        return;
    }
    end_ahead(in);
    release_stages(in);
    if (in->fd >= 0 && in->fd != STDIN_FILENO) {
        (void)close(in->fd); /* was only read */
    }
    free(in);
}

/* ---- The first bytes ------------------------------------------------------------------------- */

/* Reads until the bytes tell what they are. A delimiter ends that, too: the line in front of it
 * must not wait. Returns the number of bytes, or a negative value as input_read does. */
static ssize_t read_head(struct input *in, char *buf, size_t cap, const struct magic **magic_out)
{
    size_t len = 0;
    do {
        const ssize_t n = in->top.read(in->top.context, buf + len, cap - len);
        if (n == INPUT_STOP || (n < 0 && len == 0)) {
            return n;
        }
        len += n > 0 ? (size_t)n : 0; /* an error comes again behind the bytes in front of it */
        *magic_out = magic_find(buf, len, n > 0 && !memchr(buf, in->delimiter, len));
    } while ((*magic_out)->content == CONTENT_OPEN);
    return (ssize_t)len;
}

/* Says what the file holds in place of lines, and which command prints them. */
static void report_foreign(const struct input *in, const struct magic *m)
{
    const struct decoder_format *outer = in->nstages > 0 ? in->stages[0].format : NULL;
    const char *what = m->content == CONTENT_CODED ? m->decoder->name : m->name;
    const char *file = in->fd == STDIN_FILENO ? "FILE" : typed_quoted(in->name);
    const char *piped = typed_piped(in->name);
    message_error("%s is %s%s%s, not lines that can be read", in->name, what, outer ? " in " : "",
                  outer ? outer->name : "");
    if (outer && !m->decodes) {
        message_hint("%s %s | %s", outer->command, file, piped);
    } else if (m->before) {
        message_hint("%s%s%s | %s", m->before, file, m->after, piped);
    } else {
        message_hint("%s%s", m->after, file);
    }
}

/* Puts a stage on top of the source. */
static bool push_stage(struct input *in, const struct decoder_format *format, const char *head,
                       size_t len)
{
    struct stage *s = &in->stages[in->nstages];
    *s = (struct stage){
        .name = in->name, .format = format, .window_log = in->window_log, .from = in->top};
    if (!stage_start(s, head, len)) {
        return false;
    }
    in->nstages++;
    in->top = stage_source(s);
    return true;
}

/* Reads the first bytes, and puts stages on the source until it gives plain lines. Returns the
 * number of their bytes that it has read, which may be 0 in front of the end, or a negative value
 * as input_read does. */
static ssize_t begin(struct input *in, char *buf, size_t cap)
{
    cap = cap < STAGE_RAW_BYTES ? cap : STAGE_RAW_BYTES;
    in->begun = true;
    for (;;) {
        const struct magic *m = NULL;
        const ssize_t n = read_head(in, buf, cap, &m);
        if (n < 0) {
            return n;
        }
        const size_t len = (size_t)n - m->mark;
        if (m->content == CONTENT_LINES) {
            memmove(buf, buf + m->mark, len);
            return (ssize_t)len;
        }
        if (m->content == CONTENT_FOREIGN || (in->nstages > 0 && !m->decoder->is_text)) {
            report_foreign(in, m);
            return -1;
        }
        if (!push_stage(in, m->decoder, buf + m->mark, len)) {
            return -1;
        }
        if (m->decoder->is_text) {
            return 0;
        }
    }
}

/* In the thread that decodes ahead, if there is one. */
static ssize_t read_here(void *context, void *buf, size_t cap)
{
    struct input *in = context;
    const ssize_t n = in->begun ? 0 : begin(in, buf, cap);
    return n != 0 ? n : in->top.read(in->top.context, buf, cap);
}

static uint64_t offset_here(const void *context)
{
    const struct input *in = context;
    return in->nread - (in->stages[0].len - in->stages[0].at); /* both 0 without a stage */
}

/* ---- Decoded ahead --------------------------------------------------------------------------- */

static bool is_coded(int fd)
{
    char head[MAGIC_BYTES];
    const ssize_t n = pread(fd, head, sizeof(head), 0);
    return n > 0 && magic_find(head, (size_t)n, false)->content == CONTENT_CODED;
}

struct input *input_open_ahead(const char *name, const struct input_options *o)
{
    struct stat st;
    if (strcmp(name, "-") == 0 || stat(name, &st) != 0 || !S_ISREG(st.st_mode)) {
        return NULL;
    }
    struct input *in = create(name, o);
    if (!in) {
        return NULL;
    }
    in->fd = open_named(in);
    if (in->fd < 0 || fstat(in->fd, &in->st) != 0 || !is_coded(in->fd)) {
        input_close(in);
        return NULL;
    }
    in->has_own_place = true;
    in->top.back = back_raw;
    if (in->window_log > AHEAD_WINDOW_LOG) {
        in->window_log = AHEAD_WINDOW_LOG;
    }
    (void)posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* advice only */
    in->ahead = ahead_start((struct source){.read = read_here, .context = in}, offset_here);
    if (!in->ahead) {
        input_close(in);
        return NULL;
    }
    return in;
}

bool input_is_current(const struct input *in)
{
    struct stat st;
    return stat(in->name, &st) == 0 && st.st_dev == in->st.st_dev && st.st_ino == in->st.st_ino &&
           st.st_size == in->st.st_size && st.st_mtim.tv_sec == in->st.st_mtim.tv_sec &&
           st.st_mtim.tv_nsec == in->st.st_mtim.tv_nsec;
}

bool input_begin_turn(struct input *in)
{
    if (reread_is_again(in->reread)) {
        return open_again(in, false);
    }
    if (in->reread) {
        reread_note(in->reread, in->fd);
    }
    return true;
}

/* The thread has failed: reads the file again. Returns a negative value as input_read does, or
 * 0. */
static ssize_t begin_again(struct input *in)
{
    char head[2 * MAGIC_BYTES];
    end_ahead(in);
    release_stages(in);
    in->window_log = in->window_log_most;
    in->top = (struct source){.read = read_raw, .context = in, .back = back_raw};
    in->nread = 0;
    in->ended = false;
    in->failed = false;
    in->begun = false;
    const ssize_t n = in->given > 0 ? begin(in, head, sizeof(head)) : 0;
    in->given -= n > 0 ? (uint64_t)n : 0;
    return n < 0 ? n : 0;
}

ssize_t input_read(struct input *in, void *buf, size_t cap)
{
    char *bytes = buf;
    if (in->ahead) {
        const ssize_t n = ahead_take(in->ahead, buf, cap);
        in->given += n > 0 ? (uint64_t)n : 0;
        if (n >= 0) {
            return n;
        }
        const ssize_t status = begin_again(in);
        if (status < 0) {
            return status;
        }
    }
    ssize_t n;
    while ((n = read_here(in, buf, cap)) > 0 && in->given > 0) {
        const size_t known = in->given < (uint64_t)n ? (size_t)in->given : (size_t)n;
        in->given -= known;
        if (known < (size_t)n) {
            memmove(bytes, bytes + known, (size_t)n - known);
            return n - (ssize_t)known;
        }
        if (stop_is_wanted()) {
            return INPUT_STOP;
        }
    }
    return n;
}

uint64_t input_offset(const struct input *in)
{
    return in->ahead ? ahead_offset(in->ahead) : offset_here(in);
}
