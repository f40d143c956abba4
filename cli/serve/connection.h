/* SPDX-License-Identifier: MIT
 *
 * A conversation with one client, in memory: bytes come in, in any pieces, and answers go out. A
 * protocol takes requests from c->in and puts answers. The loop (loop.h) reads and writes the client's
 * descriptors. Nothing here knows descriptors or files, so that a fuzzer can be the client. */
#ifndef UNSEEN_CLI_CONNECTION_H
#define UNSEEN_CLI_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "lines/text.h"
#include "serve/find.h"
#include "serve/line_reader.h"
#include "serve/line_request.h"
#include "serve/protocol.h"

enum {
    CONNECTION_LINE = 64 * 1024 /* the longest request of most protocols */
};

struct list_service;
struct store_service;

/* What all connections of a server share. */
struct service {
    const struct protocol *protocol;
    struct list_service *list;   /* NULL: the line protocol on a store */
    struct store_service *store; /* NULL: any other protocol */
    struct finder finder;        /* for the other protocols */
    const char *reply;           /* what is said of a text that is listed */
    const char *redirect;        /* the page for who asks for a listed URL */
};

struct connection {
    const struct service *service;
    struct line_reader in;
    struct text out;   /* answers; out.data[sent..out.len - held) may be sent */
    size_t sent;       /* bytes at the front of out that the client has been sent */
    size_t ahead;      /* no request is answered while out is this long */
    bool over;         /* the protocol has ended the conversation */
    bool failed;       /* there was no memory for an answer */
    bool syncing;      /* all answers are to be sent and their changes to be durable next */
    uint64_t nchanges; /* changes of a store that were answered, but not committed yet */
    size_t held;       /* bytes at the end of out that wait for the end of a batch */
    uint64_t held_nchanges;
    struct line_parser parser; /* of the line protocol */

    /* the loop's own */
    int in_fd;
    int out_fd;
    bool is_standard; /* standard input and output */
    bool is_pipe;     /* out_fd is a pipe: a write to it may block */
    bool is_socket;
    bool broken;      /* nothing can be read or sent any more; reported if it is standard */
    bool reader_gone; /* it is broken because nobody reads the answers */
    bool farewell;    /* the last answer was sent; what still comes is thrown away */
    uint64_t spoke;   /* the round of the loop in which the client last did something */
};

/* A connection to read `service` by: all zero but for these. */
void connection_init(struct connection *c, const struct service *service, size_t ahead);
void connection_release(struct connection *c);

/* Answers requests until none is whole, `ahead` is reached, or the protocol syncs or ends. Returns false
 * if there was no request to answer. */
bool connection_answer(struct connection *c);

/* Whether answers wait to be sent. */
static inline bool connection_is_behind(const struct connection *c)
{
    return c->out.len - c->sent > c->held;
}

/* Gives back the memory of answers that have been sent. */
void connection_forget_sent(struct connection *c);

/* ---- For protocols ---------------------------------------------------------------------------- */

/* Put a part of an answer. Without memory for it the connection has failed. */
void connection_put(struct connection *c, const char *data, size_t len);
void connection_puts(struct connection *c, const char *text);

/* From now on the store has n more changes that a sent answer tells of. A change is committed only when
 * everything that was put before this call has been sent. */
static inline void connection_changed(struct connection *c, uint64_t n)
{
    c->nchanges += n;
}

/* Asks for everything answered so far to become durable; then the protocol's `synced` is called. */
static inline void connection_sync(struct connection *c)
{
    c->syncing = true;
}

/* Ends the conversation when the answers are sent. */
static inline void connection_end(struct connection *c)
{
    c->over = true;
}

/* Cuts off the text up to the first byte `at`, and that byte; all of the text if it has no such byte. */
struct unseen_bytes cut_word(struct unseen_bytes *text, char at);

/* Whether the text is this word. */
bool is_word(struct unseen_bytes text, const char *word);

/* Undoes %41 into out, which has room for text.len bytes. Returns false at a % without two hexadecimal
 * digits. */
bool percent_decode(struct unseen_bytes text, char *out, size_t *len_out);

#endif
