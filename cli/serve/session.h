/* SPDX-License-Identifier: MIT
 *
 * One conversation, whatever its protocol: read what is there, answer all of it, write the answers,
 * hand the changes they tell of to a commit, and only then wait for more.
 *
 * - The other side may send any number of requests before it reads an answer: what it does not
 *   read yet is kept, so that neither side ever waits for the other in a circle.
 * - A change is handed to a commit when everything answered so far has been written. So what dies
 *   unread in this process was not committed either, and may be asked again.
 * - SIGINT, SIGTERM and SIGHUP end it between two requests: what was written is committed. */
#ifndef UNSEEN_CLI_SESSION_H
#define UNSEEN_CLI_SESSION_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "print/output.h"
#include "serve/served.h"
#include "lines/text.h"

struct session;

/* A protocol: how requests and answers look. */
struct face {
    /* The first line that is said; NULL: none. */
    void (*greet)(struct session *s);

    /* Answers the requests that are whole in data[0..len) and returns how many bytes those are.
     * Stops early after session_sync. at_end: nothing comes behind data. */
    size_t (*take)(struct session *s, const char *data, size_t len, bool at_end);

    /* Answers the request that called session_sync. */
    void (*synced)(struct session *s, bool durable);
};

struct session {
    /* set by the caller */
    const struct face *face;
    void *state;           /* the face's own */
    struct served *served; /* NULL for a face that changes nothing */
    int in;
    struct output out; /* open */

    struct text input; /* input.data[at..input.len) is not answered yet */
    size_t at;
    bool at_end;
    uint64_t nchanges; /* answered, but not handed to a commit yet */
    bool syncing;
    bool failed; /* the input could not be read; reported */
};

/* Prepares for the signals that end a session (stop.h): they are taken where it waits, and nowhere
 * else. To be called before other threads start, so that those leave them alone, too. */
void session_listen(void);

/* The end of that: a second signal ends the process. */
void session_leave(void);

/* Waits as poll does, timeout in milliseconds or -1; a signal that ends a session interrupts it. */
int session_poll(struct pollfd *fds, size_t n, int timeout);

/* Talks until the end of the input, an error, or a signal. True if everything that was asked has
 * been answered and the answers written. Commits may still be on their way. */
bool session_run(struct session *s);

/* For a face: the answer in out tells of n changes; it must be whole. */
static inline void session_answered(struct session *s, uint64_t n)
{
    s->nchanges += n;
}

/* For a face: everything answered so far is to become durable, then synced is called. */
static inline void session_sync(struct session *s)
{
    s->syncing = true;
}

/* For a face: the protocol ends the conversation; nothing more is read. */
static inline void session_end(struct session *s)
{
    s->at_end = true;
}

void session_release(struct session *s);

#endif
