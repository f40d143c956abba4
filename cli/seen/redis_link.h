/* SPDX-License-Identifier: MIT
 *
 * Connections to a Redis or Valkey server, or to the nodes of a cluster, and commands to them.
 * Commands are sent together and their replies read in order. A command that the server sends
 * elsewhere (MOVED, ASK) is sent there. hiredis knows the protocol. */
#ifndef UNSEEN_CLI_REDIS_LINK_H
#define UNSEEN_CLI_REDIS_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "redis_url.h"

enum {
    REDIS_NODES_MAX = 256
};

struct redisContext;
struct redisReply;

struct redis_node {
    char host[256]; /* "": the local socket of the address */
    unsigned port;
    struct redisContext *connection; /* NULL: none yet */
    bool is_asked; /* the key is on its way to this node: each command needs ASKING */
    bool is_lost;
};

struct redis_command {
    const char **argv;
    size_t *lens;
    size_t argc;
    size_t *node;             /* of the key; changed if the key has moved */
    struct redisReply *reply; /* owned; NULL after an error, which has been reported */
    bool is_sent;             /* the server may have done it, although there is no reply */
};

struct redis_link {
    const char *shown; /* the address, without the password; borrowed */
    struct redis_url url;
    const char *password; /* NULL: none; borrowed */
    bool is_general;      /* the password is that of the environment */
    const char *hint;     /* how such a server is started, or NULL; borrowed */
    double wait;          /* seconds in which a server may begin to listen */
    struct redis_node nodes[REDIS_NODES_MAX];
    size_t nnodes;
};

/* Connects to the server of the address `shown`. Without a password, takes that of the environment
 * (REDISCLI_AUTH), as redis-cli does. `hint` says how such a server is started; NULL: it is not
 * said. Returns false if that failed, which has been reported;
 * redis_link_close follows in either case. */
bool redis_link_open(struct redis_link *l, const char *shown, const char *password, double wait,
                     const char *hint);

/* Sends n commands and waits for their replies, which may be errors. Returns false if one has none,
 * which has been reported. redis_link_release frees the replies. */
bool redis_link_ask(struct redis_link *l, struct redis_command *commands, size_t n);

void redis_link_release(struct redis_command *commands, size_t n);

/* Reports a reply that is an error or not what was expected, with a way out where there is one.
 * Returns false. */
bool redis_link_report(const struct redis_link *l, const struct redisReply *reply);

/* Whether a reply is an error that begins so. */
bool redis_link_is_error(const struct redisReply *reply, const char *start);

void redis_link_close(struct redis_link *l);

#endif
