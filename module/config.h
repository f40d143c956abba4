/* SPDX-License-Identifier: MIT
 *
 * The module's part of CONFIG GET, SET and REWRITE and of the server's configuration file: the
 * names, ranges and defaults of the dialect. A setting is for keys that are created later. */
#ifndef UNSEEN_MODULE_CONFIG_H
#define UNSEEN_MODULE_CONFIG_H

#include <stdbool.h>

struct server_ctx;

/* Call it once, behind the arguments of the module: they are the defaults. Reads what the
 * configuration file says. Returns false if the server refuses, or the file has a wrong value. */
bool config_init(struct server_ctx *ctx);

#endif
