/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "serve/session.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "print/message.h"
#include "stop.h"

enum {
    READ_BYTES = 64 * 1024
};

/* How signals are blocked while a session waits: as they were at the start. */
static sigset_t waiting_mask;

/* Between the question whether a signal has come and the wait, one could come unseen: so they stay
 * blocked but during the wait. */
void session_listen(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, &waiting_mask);
    stop_listen();
}

void session_leave(void)
{
    pthread_sigmask(SIG_SETMASK, &waiting_mask, NULL);
}

int session_poll(struct pollfd *fds, size_t n, int timeout)
{
    const struct timespec time = {timeout / 1000, timeout % 1000 * 1000000L};
    return ppoll(fds, (nfds_t)n, timeout < 0 ? NULL : &time, &waiting_mask);
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* Writes what can be written without waiting. When that was all, the changes are handed over. */
static bool hand_over(struct session *s)
{
    if (!output_flush(&s->out) || output_is_behind(&s->out)) {
        return false;
    }
    if (s->nchanges > 0) {
        served_commit_begin(s->served, s->nchanges);
        s->nchanges = 0;
    }
    return true;
}

/* Answers everything that is there, or as much as stands before a sync for which the other side
 * has to read first. */
static void answer(struct session *s)
{
    for (;;) {
        if (s->syncing) {
            if (!hand_over(s)) {
                return;
            }
            s->syncing = false;
            s->face->synced(s, served_commit_wait(s->served));
        }
        const size_t rest = s->input.len - s->at;
        s->at += s->face->take(s, s->input.data + s->at, rest, s->at_end);
        if (!s->syncing) {
            (void)hand_over(s); /* if not now, then when there is room */
            return;
        }
    }
}

/* ---- Input ----------------------------------------------------------------------------------- */

/* Room for a read behind what is not answered yet. */
static bool make_room(struct session *s)
{
    struct text *t = &s->input;
    if (s->at > 0) {
        memmove(t->data, t->data + s->at, t->len - s->at);
        t->len -= s->at;
        s->at = 0;
    }
    if (!text_reserve(t, READ_BYTES)) {
        message_error("out of memory for %zu bytes of requests", t->len);
        s->failed = true;
    }
    return !s->failed;
}

static void read_more(struct session *s)
{
    if (!make_room(s)) {
        return;
    }
    const ssize_t n = read(s->in, s->input.data + s->input.len, s->input.cap - s->input.len);
    if (n >= 0) {
        s->input.len += (size_t)n;
        s->at_end = n == 0;
    } else if (errno != EAGAIN && errno != EINTR) {
        message_error("cannot read standard input: %s", strerror(errno));
        s->failed = true;
    }
}

/* Waits until there is something to read, or room for what is still to be written. Only here is a
 * signal taken. */
static void wait_for_more(struct session *s)
{
    struct pollfd fds[] = {
        {.fd = s->at_end ? -1 : s->in, .events = POLLIN},
        {.fd = output_is_behind(&s->out) ? s->out.fd : -1, .events = POLLOUT},
    };
    if (session_poll(fds, 2, -1) < 0) {
        if (errno != EINTR) {
            message_error("cannot wait for standard input: %s", strerror(errno));
            s->failed = true;
        }
    } else if (fds[0].revents) {
        read_more(s);
    }
}

/* ---- The loop -------------------------------------------------------------------------------- */

static bool all_is_said(const struct session *s)
{
    return s->at_end && !s->syncing && !output_is_behind(&s->out) && !s->out.failed;
}

bool session_run(struct session *s)
{
    output_make_elastic(&s->out);
    if (s->face->greet) {
        s->face->greet(s);
    }
    answer(s);
    while (!all_is_said(s) && !s->failed && !s->out.failed && !stop_is_wanted()) {
        wait_for_more(s);
        answer(s);
    }
    session_leave();
    return all_is_said(s);
}

void session_release(struct session *s)
{
    text_release(&s->input);
}
