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

/* A batch of the line protocol: the lines that have come, as keys. They are asked and changed when
 * the batch is whole, so a batch that is cut short by a crash has changed nothing. */
struct line_batch {
    enum request_type type;
    struct text keys;  /* a struct unseen_key for each line */
    struct text marks; /* a byte for each line: its mark, or 0 if the key is still to be asked */
};

/* A key that was new. If the client goes away before the answer was sent, the key is new again. */
struct line_news {
    struct unseen_key key;
    uint64_t end; /* of the answer, in all bytes for this client; UINT64_MAX: it was not put yet */
};

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

    /* the line protocol's own */
    struct line_parser parser;
    struct line_batch batch;
    bool has_spoken;  /* a request has come */
    bool may_change;  /* the client may change the store */
    bool is_durable;  /* answers that tell of changes are sent when those are durable */
    bool has_changed; /* since the last commit was begun, answers in out tell of changes */
    size_t lease_at;  /* where in out the first of them begins */
    bool has_leased;  /* since the last pass, answers in out tell of leases */
    bool syncing;     /* an F: before the next request everything is to be sent and durable */
    struct text
        news; /* a struct line_news for each key that was new and whose answer may not have been
                       * sent yet; on sockets, and behind O durable */
    uint64_t changed_at; /* at least so many changes of the service were made before the first of
                          * news: exactly so many when news were empty the last time */

    /* the loop's own */
    int in_fd;
    int out_fd;
    bool is_standard;  /* standard input and output */
    bool is_shared;    /* other programs may use out_fd, a pipe or a socket, so it stays blocking */
    bool broken;       /* nothing can be read or sent any more; reported if it is standard */
    bool reader_gone;  /* it is broken because nobody reads the answers */
    bool farewell;     /* the last answer was sent; what still comes is thrown away */
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

/* Answers requests until none is whole, `ahead` is reached, the protocol ends, or an answer waits
 * for a commit. Returns false if there was no request to answer. */
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
