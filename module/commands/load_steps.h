/* SPDX-License-Identifier: MIT
 *
 * The end of a load that a command would take too long for, in steps (server/steps.h): the frames
 * of a BF.LOAD are taken, and a value is sent whole. If a child is forked or a replica comes
 * between two steps, the sending begins again with the first frame. The key appears when the last
 * frame is sent. */
#ifndef UNSEEN_MODULE_LOAD_STEPS_H
#define UNSEEN_MODULE_LOAD_STEPS_H

#include "keys/loads.h"

enum {
    LOAD_STEP_BYTES = 4 * DUMP_FRAME_MAX /* in one step */
};

/* Takes load->data, if there are some, and sends the value. The steps are taken at once if nbytes,
 * of the data or else of the value, are few. Returns what a command returns. */
int load_run_steps(struct server_ctx *ctx, struct load *load, struct server_string *key,
                   size_t nbytes);

/* Puts the complete value into its key. A load of a replica replaces the value that the key has,
 * and the key keeps its time to live, as on the primary. A load of a client needs a missing key.
 * Returns false if the key has another value. */
bool load_show(struct server_ctx *ctx, struct server_string *name, struct load *load);

/* Counts the load, signals that the key was changed, and raises its event. */
void load_announce(struct server_ctx *ctx, struct server_string *name);

#endif
