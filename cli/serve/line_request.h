/* SPDX-License-Identifier: MIT
 *
 * The requests of the line protocol, from the lines of a client. Nothing here asks a store or
 * writes an answer, so that a fuzzer can run it alone. docs/serve.md has the protocol.
 *
 * A line of a batch is a request with in_batch set. Lines that were announced as lines of a batch
 * are never taken for commands, not even when the batch is refused: the lines come from strangers.
 */
#ifndef UNSEEN_CLI_LINE_REQUEST_H
#define UNSEEN_CLI_LINE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include <unseen.h>

#include "serve/line_reader.h"

enum {
    LINE_BATCH_MAX = 1000000, /* lines of a batch on standard input */
    LINE_BATCH_SHARED = 65536 /* on a socket: their answer fits into what the system keeps for it */
};

enum request_type {
    REQUEST_NONE, /* nothing to answer */
    REQUEST_ADD,
    REQUEST_ASK,
    REQUEST_REMOVE,
    REQUEST_BATCH_END, /* all lines of a batch have come, or the input has ended */
    REQUEST_FLUSH,
    REQUEST_INFO,
    REQUEST_STATS,
    REQUEST_OPTION, /* text: the name of an option of this connection */
    REQUEST_TOKEN,  /* text: the token that lets a client change the store */
    REQUEST_LEASE,  /* text: all behind the letter; see line_leases.c */
    REQUEST_DONE,   /* the same, as of those below */
    REQUEST_GIVE_BACK,
    REQUEST_RENEW,
    REQUEST_HAND_OUT,
    REQUEST_WRONG
};

struct request {
    enum request_type type;
    bool in_batch;
    struct unseen_bytes url;  /* of ADD, ASK and REMOVE */
    struct unseen_bytes text; /* of OPTION, TOKEN and the requests about leases */
    const char *wrong;        /* of WRONG: a sentence without a full stop; static text */
};

/* The batch whose lines are coming. All zero but for batch_max: none. */
struct line_parser {
    uint64_t batch_max; /* the most lines of a batch; set by the caller */
    bool in_batch;
    bool refused;           /* the lines have no answers */
    enum request_type each; /* the request that each line is */
    uint64_t left;          /* lines still to come */
};

/* Takes the next request off the front of `in`. Returns false if no request is whole yet. */
bool line_request_next(struct line_parser *p, struct line_reader *in, struct request *request_out);

/* Takes up to max lines of an open batch at once, as far as they are whole and not too long, and up
 * to a costly one; each is a request of the type p->each. Returns how many; 0: line_request_next
 * knows what comes. */
size_t line_request_lines(struct line_parser *p, struct line_reader *in, struct unseen_bytes *lines,
                          size_t max);

#endif
