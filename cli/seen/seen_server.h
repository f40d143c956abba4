/* SPDX-License-Identifier: MIT
 *
 * A set that a server keeps, and that this process asks through a socket. The server is `unseen
 * serve`, or Redis or Valkey with our module. */
#ifndef UNSEEN_CLI_SEEN_SERVER_H
#define UNSEEN_CLI_SEEN_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "seen/redis.h"
#include "seen/remote.h"
#include "seen/seen_options.h"

struct server {
    struct remote remote;           /* `unseen serve` */
    struct redis_set_client *redis; /* NULL: it is `unseen serve` */
};

/* Connects to the server that o->path names. Returns false if that failed, which has been reported;
 * server_close follows in either case. */
bool server_open(struct server *s, const struct seen_options *o);

/* The profile of the set; "": it has to be made, which only a server with our module allows. */
const char *server_profile(const struct server *s);

/* As remote_put, remote_ask and remote_stats. */
bool server_put(struct server *s, const struct unseen_bytes *items, size_t n);
bool server_ask(struct server *s, enum server_question question, uint8_t *verdicts);
void server_stats(struct server *s, struct unseen_set_stats *stats_out);

void server_close(struct server *s);

#endif
