/* SPDX-License-Identifier: MIT
 *
 * The data type: how the server saves, loads, copies, measures and frees our values. */
#ifndef UNSEEN_MODULE_TYPE_H
#define UNSEEN_MODULE_TYPE_H

#include "server/server.h"

/* Registers the type. Returns NULL if the server refuses. */
struct server_type *type_create(struct server_ctx *ctx);

/* All values of the server. */
struct type_totals {
    uint64_t nvalues;
    uint64_t memory;   /* bytes */
    uint64_t nrefused; /* payloads that were damaged or forged */
    uint64_t nmoved;   /* small sets that active defragmentation has moved */
};

struct type_totals type_totals(void);

#endif
