/* SPDX-License-Identifier: MIT
 *
 * The data type: how the server saves, loads, copies, measures and frees our values. */
#ifndef UNSEEN_MODULE_TYPE_H
#define UNSEEN_MODULE_TYPE_H

#include <unseen.h>

#include "server/server.h"

/* Registers the type. Returns NULL if the server refuses. */
struct server_type *type_create(struct server_ctx *ctx);

/* Payloads of RDB files, RESTORE and loads that were refused, by the reason. */
struct type_refusals {
    uint64_t ndamaged; /* or forged, or not complete */
    uint64_t nother_version;
    uint64_t nwithout_memory;
};

/* Counts a refusal; OK: the payload is not complete. Threads: that of the server. */
void type_note_refusal(enum unseen_status status);

/* All values of the server. */
struct type_totals {
    uint64_t nvalues;
    uint64_t memory; /* bytes */
    struct type_refusals refusals;
    uint64_t nmoved; /* small sets that active defragmentation has moved */
};

struct type_totals type_totals(void);

#endif
