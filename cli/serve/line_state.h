/* SPDX-License-Identifier: MIT
 *
 * What the line protocol keeps for a client. */
#ifndef UNSEEN_CLI_LINE_STATE_H
#define UNSEEN_CLI_LINE_STATE_H

#include "serve/connection.h"
#include "serve/line_request.h"

/* The lines of a batch that have come, as keys. They are asked and changed when the batch is whole,
 * so a batch that is cut short by a crash has changed nothing. */
struct line_batch {
    enum request_type type;
    struct text keys;  /* a struct unseen_key for each line */
    struct text marks; /* a byte for each line: its mark, or 0 if the key is still to be asked */
};

struct line_state {
    struct line_parser parser;
    struct line_batch batch;
    bool has_spoken; /* a request has come */
    bool may_change; /* the client may change the store */
    bool syncing;    /* an F: before the next request everything is to be sent and durable */
    bool has_leased; /* since the last pass, answers in out tell of leases */
    size_t lease_at; /* where in out the first of them begins */
};

/* Answers a request of type LEASE, DONE, GIVE_BACK, RENEW or HAND_OUT from a client that may change
 * the store (line_leases.c). */
void line_lease_request(struct connection *c, const struct request *r);

static inline struct line_state *line_state(const struct connection *c)
{
    return c->state;
}

#endif
