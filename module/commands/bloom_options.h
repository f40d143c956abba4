/* SPDX-License-Identifier: MIT
 *
 * The options of BF.RESERVE and BF.INSERT. */
#ifndef UNSEEN_MODULE_BLOOM_OPTIONS_H
#define UNSEEN_MODULE_BLOOM_OPTIONS_H

#include "commands/items.h"
#include "server/errors.h"

/* Takes the option WINDOW, which is the last one, off the arguments of BF.RESERVE. Returns false
 * after it has replied with an error. */
bool bloom_take_window(struct server_ctx *ctx, struct server_string **argv, int *argc,
                       struct creation *creation);

/* Reads the other arguments of BF.RESERVE behind the key. Returns false after it has replied with
 * an error. */
bool bloom_reserve_options(struct server_ctx *ctx, struct server_string **argv, int argc,
                           struct creation *creation);

/* Reads the options of BF.INSERT behind the key. *first_item_out is the index of the first item;
 * argc if there are none. Returns false after it has replied with an error. */
bool bloom_insert_options(struct server_ctx *ctx, struct server_string **argv, int argc,
                          struct creation *creation, int *first_item_out);

#endif
