/* SPDX-License-Identifier: MIT
 *
 * Work of one client that takes longer than a command may. A timer takes a step of it each
 * millisecond, other clients are served between the steps, and the client waits. Keys may be
 * changed, moved or deleted between two steps, so each step opens its keys anew. */
#ifndef UNSEEN_MODULE_STEPS_H
#define UNSEEN_MODULE_STEPS_H

#include "server/errors.h"
#include "server/server.h"

struct steps;

struct steps_work {
    /* Takes the next step. Returns false behind the last step, or after an error, which it
     * stores in steps->error. */
    bool (*take)(struct server_ctx *ctx, struct steps *steps);

    /* Called once, before the client gets its reply. */
    void (*end)(struct server_ctx *ctx, struct steps *steps);

    void (*free)(struct steps *steps);
};

/* The first member of a struct with the state of the work. */
struct steps {
    const struct steps_work *work;
    struct server_client *client; /* who waits */
    enum error error;             /* of the reply; ERROR_NONE: OK */
};

void steps_init(struct steps *steps, const struct steps_work *work);

/* Takes the steps while the client waits, and replies OK or the error. All steps are taken at
 * once if is_short, and in transactions and scripts, which cannot wait. steps belongs to the
 * callee. Returns what a command returns. */
int steps_run(struct server_ctx *ctx, struct steps *steps, bool is_short);

#endif
