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
#include "serve/line_request.h"
#include "serve/service.h"

struct connection {
    struct service *service;
    struct line_reader in;
    struct text out; /* answers; out.data[sent..out.len - held) may be sent */
    size_t sent;     /* bytes at the front of out that the client has been sent */
    size_t ahead;    /* while so many bytes wait in out, no request is answered */
    bool failed;     /* there was no memory for an answer */
    bool over;       /* set by a protocol: the conversation ends when all answers are sent */

    /* the line protocol's own */
    struct line_parser parser;
    bool syncing;      /* before the next request all of out is to be sent and durable */
    uint64_t nchanges; /* changes that out tells of; they are committed when all of out is sent */
    size_t held;       /* bytes at the end of out that wait for the end of a batch */
    uint64_t held_nchanges;

    /* the loop's own */
    int in_fd;
    int out_fd;
    bool is_standard; /* standard input and output */
    bool is_shared;   /* other programs may use out_fd, a pipe or a socket, so it stays blocking */
    bool broken;      /* nothing can be read or sent any more; reported if it is standard */
    bool reader_gone; /* it is broken because nobody reads the answers */
    bool farewell;    /* the last answer was sent; what still comes is thrown away */
    uint64_t spoke;   /* the round of the loop in which the client last did something */
};

/* Answers requests until none is whole, `ahead` is reached, or the protocol syncs or ends. Returns
 * false if there was no request to answer. */
bool connection_answer(struct connection *c);

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

/* Whether the text, or an entry that covers it, is listed. An empty text is never listed. */
static inline enum find_answer connection_find(struct connection *c, enum find_type type,
                                               struct unseen_bytes text)
{
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
