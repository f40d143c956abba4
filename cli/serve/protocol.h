/* SPDX-License-Identifier: MIT
 *
 * A protocol: how a program's requests and our answers look. Each is a file, NAME.c, and a row of the
 * table in protocol.c. docs/serve.md says how to add one. */
#ifndef UNSEEN_CLI_PROTOCOL_H
#define UNSEEN_CLI_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>

struct connection;

struct protocol {
    const char
        *name; /* of --protocol; NULL: the line protocol, which is spoken without --protocol */

    /* Puts the first line, before any request; NULL: the client speaks first. */
    void (*greet)(struct connection *c);

    /* Takes the first request off c->in and puts its answer. It may take more requests. Returns false
     * if no request is whole yet. */
    bool (*take)(struct connection *c);

    /* Puts the answer to the request that called connection_sync. `durable`: all changes that were
     * answered before are on the disk. NULL: no request does that. */
    void (*synced)(struct connection *c, bool durable);

    size_t longest;    /* the longest request, in bytes; take refuses longer ones */
    unsigned finds;    /* a bit for each enum find_type that it asks for; 0: it changes a store */
    bool has_reply;    /* takes --reply */
    bool has_redirect; /* needs --redirect */
};

/* The protocol of a name (NULL: the line protocol); NULL if there is none. */
const struct protocol *protocol_find(const char *name);

/* Writes the names of all protocols, with commas between them. */
void protocol_names(char *text, size_t cap);

extern const struct protocol line_protocol;
extern const struct protocol squid_protocol;
extern const struct protocol squid_rewrite_protocol;
extern const struct protocol postfix_policy_protocol;
extern const struct protocol tcp_table_protocol;
extern const struct protocol socketmap_protocol;
extern const struct protocol http_auth_protocol;

#endif
