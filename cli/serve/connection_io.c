/* SPDX-License-Identifier: MIT
 *
 * Standard input and output belong to other programs, too, so they stay blocking and are used only
 * when poll says that they will not block. */
#include "serve/connection_io.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "print/message.h"

enum {
    READ_BYTES = 64 * 1024
};

static bool would_wait(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/* Nothing more can be read or sent. The client of a socket has gone away, which is no error of
 * ours. */
static void break_off(struct connection *c, const char *what)
{
    c->reader_gone = errno == EPIPE;
    if (c->is_standard && !c->reader_gone) {
        message_error("cannot %s: %s", what, strerror(errno));
    }
    c->broken = true;
}

/* ---- Reading --------------------------------------------------------------------------------- */

bool connection_wants_input(const struct connection *c)
{
    const bool waits = !c->is_standard && (connection_waits(c) || c->chokes);
    return !c->in.at_end && !c->has_more && !waits && c->out.len - c->sent < c->ahead;
}

static void read_requests(struct connection *c)
{
    struct text *t = &c->in.text;
    forget_front(t, &c->in.at);
    if (!text_reserve(t, READ_BYTES)) {
        errno = ENOMEM;
        break_off(c, "keep requests");
        return;
    }
    const ssize_t n = read(c->in_fd, t->data + t->len, READ_BYTES);
    if (n >= 0) {
        t->len += (size_t)n;
        c->in.at_end = n == 0;
    } else if (!would_wait()) {
        break_off(c, "read standard input");
    }
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* True if a write of some kilobytes would not wait. */
static bool has_room(const struct connection *c)
{
    struct pollfd pfd = {.fd = c->out_fd, .events = POLLOUT};
    return poll(&pfd, 1, 0) > 0;
}

/* Writes without waiting, unless the output is a file or a terminal. A pipe or a local socket that
 * poll calls writable takes PIPE_BUF bytes. */
static ssize_t write_answers(const struct connection *c, const char *data, size_t len)
{
    if (c->is_shared && !has_room(c)) {
        errno = EAGAIN;
        return -1;
    }
    return write(c->out_fd, data, c->is_shared && len > PIPE_BUF ? PIPE_BUF : len);
}

void connection_flush(struct connection *c)
{
    while (connection_is_behind(c) && !c->broken) {
        const size_t len = c->out.len - c->sent - c->held;
        const ssize_t n = write_answers(c, c->out.data + c->sent, len);
        if (n >= 0) {
            c->sent += (size_t)n;
        } else if (would_wait()) {
            break;
        } else {
            break_off(c, "write standard output");
        }
    }
    const size_t before = c->out.len;
    forget_front(&c->out, &c->sent);
    c->gone += before - c->out.len;
    news_forget(&c->news, c->gone + c->sent);
    if (!c->broken && !c->failed && c->out.len == 0) {
        text_clear(&c->news.items);
    }
}

/* ---- Both ------------------------------------------------------------------------------------ */

/* On a socket requests are answered only if the system takes the answers at once: then a change is
 * never made whose answer has to wait for a client that does not read. */
static bool can_answer(struct connection *c)
{
    c->chokes = !c->is_standard && c->service->may_change &&
                (connection_is_behind(c) || (line_reader_rest(&c->in).len > 0 && !has_room(c)));
    return !c->broken && !connection_waits(c) && !c->chokes;
}

/* The protocol has ended the conversation: nothing more is read. To close a socket while the client
 * still sends would take the last answer away from the client, so it is told that nothing more
 * comes, and closes. */
static void connection_end(struct connection *c)
{
    text_clear(&c->in.text);
    c->in.at = 0;
    c->chokes = false;
    if (c->is_standard) {
        c->in.at_end = true;
    } else if (!connection_is_behind(c) && !c->farewell) {
        c->farewell = true;
        c->broken = c->broken || shutdown(c->out_fd, SHUT_WR) != 0;
    }
}

void connection_serve(struct connection *c, bool is_readable)
{
    if (is_readable) {
        read_requests(c);
    }
    if (c->broken) {
        return;
    }
    connection_flush(c);
    while (can_answer(c) && connection_answer(c)) {
        connection_flush(c);
    }
    c->has_more = !c->over && line_reader_turn_is_over(&c->in);
    if (c->over) {
        connection_end(c);
    }
}

bool connection_is_complete(const struct connection *c)
{
    return c->in.at_end && !c->has_more && !connection_waits(c) && !c->chokes && c->held == 0 &&
           !connection_is_behind(c) && !c->broken && !c->failed;
}
