/* SPDX-License-Identifier: MIT
 *
 * A conversation with one client, in memory: bytes come in, in any pieces, and answers go out. A
 * protocol takes requests from c->in and puts answers. The loop (loop.h) reads and writes the
 * client's descriptors. Nothing here knows descriptors or files, so that a fuzzer can be the
 * client. */
#ifndef UNSEEN_CLI_CONNECTION_H
#define UNSEEN_CLI_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "lines/text.h"
#include "serve/line_reader.h"
#include "serve/news.h"
#include "serve/service.h"

struct connection {
    struct service *service;
    struct line_reader in;
    struct text out; /* answers; out.data[sent..out.len - held) may be sent */
    size_t sent;     /* bytes at the front of out that the client has been sent */
    uint64_t gone;   /* bytes that were in front of out, and are forgotten */
    size_t held;     /* bytes at the end of out that wait for a commit */
    size_t ahead;    /* while so many bytes wait in out, no request is answered */
    bool failed;     /* there was no memory for an answer */
    bool over;       /* set by a protocol: the conversation ends when all answers are sent */

    /* answers that tell of changes */
    bool is_durable;  /* they are sent when the changes are durable */
    bool has_changed; /* since the last commit was begun, answers in out tell of changes */
    struct news news; /* on sockets, and where is_durable */

    void *state; /* what the protocol's begin has made */

    /* the loop's own */
    int in_fd;
    int out_fd;
    bool is_standard;  /* standard input and output */
    bool is_shared;    /* other programs may use out_fd, a pipe or a socket, so it stays blocking */
    bool broken;       /* nothing can be read or sent any more; reported if it is standard */
    bool reader_gone;  /* it is broken because nobody reads the answers */
    bool farewell;     /* the last answer was sent; what still comes is thrown away */
    bool has_more;     /* its turn is over: requests may be left */
    bool chokes;       /* the system has no room for more answers, so requests wait */
    bool needs_commit; /* set by a protocol: go on when all changes so far are durable, */
    bool needs_sync;   /* and when all leases so far are */
    bool awaits_commit; /* nothing is answered before `until` changes are durable, */
    bool awaits_sync;   /* and before `until_lease` records of leases are */
    uint64_t until;
    uint64_t until_lease;
    uint64_t spoke;      /* the round of the loop in which the client last did something */
    uint64_t slow_since; /* when it began to hold up others, in milliseconds; 0: it does not */
};

/* Answers requests until none is whole, the turn is over, `ahead` is reached, the protocol ends, or
 * an answer waits for a commit. Returns false if there was no request to answer. */
bool connection_answer(struct connection *c);

/* Frees its memory. */
void connection_release(struct connection *c);

/* Whether something has to become durable before the next request. */
static inline bool connection_waits(const struct connection *c)
{
    return c->needs_commit || c->needs_sync || c->awaits_commit || c->awaits_sync;
}

/* Whether answers wait to be sent. */
static inline bool connection_is_behind(const struct connection *c)
{
    return c->out.len - c->sent > c->held;
}

/* Forgets the first *at bytes of a text, now or when more can be forgotten with the same work. */
void forget_front(struct text *text, size_t *at);

/* ---- For protocols ----------------------------------------------------------------------- */

/* Put a part of an answer. Without memory for it the connection has failed. */
void connection_put(struct connection *c, const char *data, size_t len);
void connection_puts(struct connection *c, const char *text);

/* Puts the error answer of the line protocol: E and a sentence. */
void connection_put_error(struct connection *c, const char *sentence);

/* Whether the text, or an entry that covers it, is listed. An empty text is never listed. */
static inline enum find_answer connection_find(struct connection *c, enum find_type type,
                                               struct unseen_bytes text)
{
    line_reader_weigh(&c->in, text);
    return text.len > 0 ? c->service->find(c->service, type, text) : FIND_ABSENT;
}

/* Cuts off the text up to the first byte `at`, and that byte; all of the text if it has no such
 * byte. */
struct unseen_bytes cut_word(struct unseen_bytes *text, char at);

/* Whether the text is this word. */
bool is_word(struct unseen_bytes text, const char *word);

/* Undoes %41 into out, which has room for text.len bytes. Returns false at a % without two
 * hexadecimal digits. */
bool percent_decode(struct unseen_bytes text, char *out, size_t *len_out);

#endif
