/* SPDX-License-Identifier: MIT
 *
 * A set that a server keeps, and that this process asks through a socket. The server is `unseen
 * serve`, or Redis or Valkey with our module. */
#ifndef UNSEEN_CLI_SERVER_H
#define UNSEEN_CLI_SERVER_H

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
    enum server_question question;  /* that the run asks */
};

/* Connects to the server that o->path names. Returns false if that failed, which has been reported;
 * server_close follows in either case. */
bool server_open(struct server *s, const struct seen_options *o, enum server_question question);

void server_close(struct server *s);

#endif
