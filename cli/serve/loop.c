/* SPDX-License-Identifier: MIT
 *
 * Standard input and output belong to other programs, too, so they stay blocking and are used only
 * when poll says that they will not block. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "serve/loop.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "print/message.h"
#include "stop.h"

enum {
    CONNECTIONS = 1000,
    READ_BYTES = 16 * 1024,
    STANDARD_READ_BYTES = 64 * 1024,
    AHEAD_BYTES = 256 * 1024, /* of answers that the client of a socket may leave unread */
    PAUSE = 100,   /* milliseconds without new connections, when one failed for lack of room */
    GOODBYE = 1000 /* milliseconds at the end for clients that still read their answers */
};

struct loop {
    struct service *service;
    struct listener listener;
    struct connection *connections[CONNECTIONS];
    size_t n;
    uint64_t round;
    bool pauses; /* no descriptor or memory is left for another connection */
    bool failed; /* standard input and output ended early, or poll has failed */
    bool reader_gone;
};

/* ---- Signals --------------------------------------------------------------------------------- */

/* How signals were blocked at the start, and are while the loop waits. A signal that came between
 * the question whether one has come and the wait would be missed, so they are blocked at all other
 * times. */
static sigset_t waiting_mask;

void loop_block_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, &waiting_mask);
    stop_listen();
}

/* ---- A connection ---------------------------------------------------------------------------- */

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

static void read_requests(struct connection *c)
{
    struct text *t = &c->in.text;
    forget_front(t, &c->in.at);
    if (!text_reserve(t, c->is_standard ? STANDARD_READ_BYTES : READ_BYTES)) {
        errno = ENOMEM;
        break_off(c, "keep requests");
        return;
    }
    const ssize_t n = read(c->in_fd, t->data + t->len, t->cap - t->len);
    if (n >= 0) {
        t->len += (size_t)n;
        c->in.at_end = n == 0;
    } else if (!would_wait()) {
        break_off(c, "read standard input");
    }
}

/* Writes without waiting, unless the output is a file or a terminal. A pipe or a local socket that
 * poll calls writable takes PIPE_BUF bytes. */
static ssize_t write_answers(const struct connection *c, const char *data, size_t len)
{
    struct pollfd pfd = {.fd = c->out_fd, .events = POLLOUT};
    if (c->is_shared && poll(&pfd, 1, 0) <= 0) {
        errno = EAGAIN;
        return -1;
    }
    return write(c->out_fd, data, c->is_shared && len > PIPE_BUF ? PIPE_BUF : len);
}

/* Writes what the client takes now. When that is everything, the changes are handed to a commit,
 * and it returns true. */
static bool flush_answers(struct connection *c)
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
    forget_front(&c->out, &c->sent);
    if (c->broken || c->failed || connection_is_behind(c)) {
        return false;
    }
    if (c->nchanges > 0) {
        service_commit_begin(c->service, c->nchanges);
        c->nchanges = 0;
    }
    return true;
}

/* Answers what is there until that is all, or until the client has to read answers first. */
static void answer_requests(struct connection *c)
{
    do {
        const bool all_written = flush_answers(c);
        if (c->syncing) {
            if (!all_written) {
                return;
            }
            c->syncing = false;
            c->service->protocol->synced(c, service_commit_wait(c->service));
        }
    } while (!c->broken && connection_answer(c));
    (void)flush_answers(c);
}

/* The protocol has ended the conversation. To close a socket while the client still sends would
 * take the last answer away from the client, so it is told that nothing more comes, and closes. */
static void end_conversation(struct connection *c)
{
    text_clear(&c->in.text);
    c->in.at = 0;
    if (c->is_standard) {
        c->in.at_end = true;
    } else if (!connection_is_behind(c) && !c->farewell) {
        c->farewell = true;
        c->broken = c->broken || shutdown(c->out_fd, SHUT_WR) != 0;
    }
}

static bool wants_input(const struct connection *c)
{
    return !c->in.at_end && c->out.len - c->sent < c->ahead;
}

static bool is_complete(const struct connection *c)
{
    return c->in.at_end && !c->syncing && !connection_is_behind(c) && !c->broken && !c->failed;
}

static bool is_done(const struct connection *c)
{
    return c->broken || c->failed || is_complete(c);
}

/* Reads first, so that requests that came together with the end of a connection are answered. */
static void serve_connection(struct connection *c, bool is_readable)
{
    if (is_readable) {
        read_requests(c);
    }
    if (!c->broken) {
        answer_requests(c);
    }
    if (c->over) {
        end_conversation(c);
    }
}

/* ---- All connections ------------------------------------------------------------------------- */

static void drop_connection(struct loop *l, size_t i)
{
    struct connection *c = l->connections[i];
    if (!c->is_standard) {
        (void)close(c->in_fd); /* the answers that were sent are on their way */
    } else if (!is_complete(c)) {
        l->failed = true;
        l->reader_gone = c->reader_gone;
        if (c->failed) {
            message_error("out of memory for answers");
        }
    }
    text_release(&c->in.text);
    text_release(&c->out);
    free(c);
    l->connections[i] = l->connections[--l->n];
}

/* One connection more than there is room for takes the place of the one that has been silent the
 * longest. */
static void evict_silent(struct loop *l)
{
    size_t silent = 0;
    if (l->n < CONNECTIONS) {
        return;
    }
    for (size_t i = 1; i < l->n; i++) {
        if (l->connections[i]->spoke < l->connections[silent]->spoke) {
            silent = i;
        }
    }
    drop_connection(l, silent);
}

/* Adds a connection and greets. Returns false without memory. */
static bool add_connection(struct loop *l, int in_fd, int out_fd)
{
    struct connection *c = malloc(sizeof(*c));
    struct stat st;
    if (!c) {
        return false;
    }
    const bool is_standard = in_fd != out_fd;
    *c = (struct connection){.service = l->service,
                             .in = {.longest = l->service->protocol->longest},
                             .ahead = is_standard ? SIZE_MAX : AHEAD_BYTES,
                             .in_fd = in_fd,
                             .out_fd = out_fd,
                             .is_standard = is_standard,
                             .spoke = l->round};
    c->is_shared =
        is_standard && fstat(out_fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
    evict_silent(l);
    l->connections[l->n++] = c;
    if (l->service->protocol->greet) {
        l->service->protocol->greet(c);
        (void)flush_answers(c);
    }
    return true;
}

static void accept_connections(struct loop *l)
{
    const int on = 1;
    int fd;
    while ((fd = accept4(l->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        /* Answers are short and must not wait for each other. A local socket does not know the
         * option. */
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        if (!add_connection(l, fd, fd)) {
            (void)close(fd); /* nothing was said */
            l->pauses = true;
            return;
        }
    }
    l->pauses = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
}

/* ---- The loop -------------------------------------------------------------------------------- */

static void drop_done(struct loop *l)
{
    for (size_t i = l->n; i-- > 0;) { /* from the end, as drop_connection moves the last */
        if (is_done(l->connections[i])) {
            drop_connection(l, i);
        }
    }
}

/* Waits, and serves every connection that has something to read or takes answers. */
static void run_round(struct loop *l, bool accepts, int timeout)
{
    struct pollfd fds[1 + 2 * CONNECTIONS];
    const struct timespec time = {timeout / 1000, timeout % 1000 * 1000000L};
    const size_t n = l->n;
    fds[0] = (struct pollfd){.fd = accepts && !l->pauses ? l->listener.fd : -1, .events = POLLIN};
    for (size_t i = 0; i < n; i++) {
        const struct connection *c = l->connections[i];
        fds[1 + 2 * i] = (struct pollfd){.fd = wants_input(c) ? c->in_fd : -1, .events = POLLIN};
        fds[2 + 2 * i] =
            (struct pollfd){.fd = connection_is_behind(c) ? c->out_fd : -1, .events = POLLOUT};
    }
    l->round++;
    const int nready = ppoll(fds, 1 + 2 * n, timeout < 0 ? NULL : &time, &waiting_mask);
    if (nready < 0 && errno != EINTR) {
        message_error("cannot wait for requests: %s", strerror(errno));
        l->failed = true;
    }
    l->pauses = false;
    if (nready <= 0) {
        return;
    }
    service_refresh(l->service);
    for (size_t i = n; i-- > 0;) {
        if (fds[1 + 2 * i].revents || fds[2 + 2 * i].revents) {
            l->connections[i]->spoke = l->round;
            serve_connection(l->connections[i], fds[1 + 2 * i].revents != 0);
        }
    }
    drop_done(l);
    if (fds[0].revents) {
        accept_connections(l);
    }
}

/* Clients of a socket that have not taken all answers yet get a moment for it. */
static void say_goodbye(struct loop *l)
{
    for (size_t i = 0; i < l->n; i++) {
        l->connections[i]->in.at_end = true;
    }
    drop_done(l);
    for (int waited = 0; l->n > 0 && !l->failed && waited < GOODBYE; waited += PAUSE) {
        run_round(l, false, PAUSE);
    }
}

bool loop_run(struct service *service, const char *where, bool *reader_gone_out)
{
    struct loop l = {.service = service, .listener = {.fd = -1}};
    if (where) {
        l.failed = !listener_open(&l.listener, where);
    } else if (!add_connection(&l, STDIN_FILENO, STDOUT_FILENO)) {
        message_error("out of memory");
        l.failed = true;
    }
    drop_done(&l);
    while (!l.failed && (where || l.n > 0) && !stop_is_wanted()) {
        run_round(&l, true, l.pauses ? PAUSE : -1);
    }
    pthread_sigmask(SIG_SETMASK, &waiting_mask, NULL); /* a second signal ends the process */
    if (where) {
        say_goodbye(&l);
    }
    while (l.n > 0) {
        drop_connection(&l, l.n - 1);
    }
    listener_close(&l.listener);
    *reader_gone_out = l.reader_gone;
    return !l.failed;
}
