/* SPDX-License-Identifier: MIT
 *
 * A protocol: how a program's requests and our answers look. Each has a file, NAME.c, with a
 * function that answers one request, and a row in the table of protocol.c. docs/serve.md says how
 * to add one. */
#ifndef UNSEEN_CLI_PROTOCOL_H
#define UNSEEN_CLI_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct connection;

enum {
    REQUEST_LONGEST = 64 * 1024 /* bytes of the longest request of most protocols */
};

/* What sort of text a protocol looks up. A list whose entries are of another kind does not have
 * it. */
enum find_type {
    FIND_URL = 1,    /* a URL, in any form */
    FIND_HOST = 2,   /* in place of a URL: host:port, or an IP address */
    FIND_SENDER = 4, /* an e-mail address */
    FIND_CLIENT = 8, /* an IP address, or what a server has in its place */
    FIND_KEY = 16    /* anything: the kind of the list, or the shape of the text, says what it is */
};

enum find_answer {
    FIND_ABSENT,
    FIND_LISTED,
    FIND_TROUBLE /* the list cannot be read; reported */
};

struct protocol {
    const char *name; /* of --protocol; NULL: the line protocol, spoken without --protocol */

    /* Takes the first request off the input of c and puts its answer (connection.h). It may take
     * more requests. Returns false if no request is whole yet. */
    bool (*take)(struct connection *c);

    /* Prepares a conversation, before any request: sets c->state, and puts the first line. Returns
     * false without memory. NULL: the protocol keeps nothing, and the client speaks first. */
    bool (*begin)(struct connection *c);

    /* Frees c->state. */
    void (*end)(struct connection *c);

    /* What the protocol let wait (needs_commit, needs_sync) is on the disk, or, if not `durable`,
     * never will be. NULL: nothing waits. */
    void (*synced)(struct connection *c, bool durable);

    /* With as many clients as there may be, the one that has been silent the longest makes room for
     * a newcomer: of those for whom this is true. NULL: of all. */
    bool (*may_be_evicted)(const struct connection *c);

    size_t longest;    /* the longest request, in bytes; take refuses longer ones */
    unsigned finds;    /* bits of enum find_type: what it asks for; 0: it may change a store */
    bool has_reply;    /* takes --reply */
    bool has_redirect; /* needs --redirect */
};

/* The protocol of a name (NULL: the line protocol); NULL if there is none. */
const struct protocol *protocol_find(const char *name);

/* The i'th protocol, the line protocol first; NULL past the last. */
const struct protocol *protocol_at(size_t i);

/* All names, for a message. */
extern const char protocol_names[];

/* The functions of the table. */
bool line_take(struct connection *c);
bool line_begin(struct connection *c);
void line_end(struct connection *c);
void line_synced(struct connection *c, bool durable);
bool line_may_be_evicted(const struct connection *c);
bool squid_take(struct connection *c);
bool postfix_policy_take(struct connection *c);
bool tcp_table_take(struct connection *c);
bool socketmap_take(struct connection *c);
bool http_auth_take(struct connection *c);

#endif
