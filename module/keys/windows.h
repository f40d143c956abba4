/* SPDX-License-Identifier: MIT
 *
 * Keys that leave values with a window while no command adds any. The primary looks at the clock
 * ten times a second, lets keys leave in slices, and replicates each slice:
 *
 *     UNSEEN.TICK upto       value_tick_all, for all databases
 *
 * A replica never looks at a clock. */
#ifndef UNSEEN_MODULE_WINDOWS_H
#define UNSEEN_MODULE_WINDOWS_H

#include "server/server.h"

/* Call it at each cron event: it starts the timer if there are values with a window. */
void windows_cron(struct server_ctx *ctx);

/* Takes a slice, and replicates it. */
void windows_tick(struct server_ctx *ctx, uint64_t upto);

#endif
