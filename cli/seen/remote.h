/* SPDX-License-Identifier: MIT
 *
 * A store that another process serves (unseen serve --listen), asked through its socket.
 * docs/serve.md has the protocol. */
#ifndef UNSEEN_CLI_REMOTE_H
#define UNSEEN_CLI_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "lines/text.h"

struct remote {
    const char *address;
    int fd;          /* -1: not connected */
    struct text out; /* a batch */
    struct text in;  /* what has come and was not used yet: in.data[at..in.len) */
    size_t at;
    bool is_gone;       /* which has been reported */
    char profile[4200]; /* of the store; empty: the server has not said */
    char filter[20];
};

/* Connects, and sends the token (NULL: none). Tries again for `wait` seconds if there is no server.
 * Returns false if that failed, which has been reported; remote_close follows in either case. */
bool remote_open(struct remote *r, const char *address, const char *token, double wait);

/* Adds n items, or only asks for them. Writes a verdict for each: SEEN or NEW. Returns false if the
 * server could not do that, which has been reported; no verdict means anything then. An item must
 * not contain a newline. */
bool remote_ask(struct remote *r, bool adds, const struct unseen_bytes *items, size_t n,
                uint8_t *verdicts);

/* Fills in the keys, the filter, the memory and the rates of the server's store, as far as the server
 * says them; the filter's name lasts as long as r. */
void remote_stats(struct remote *r, struct unseen_set_stats *stats_out);

void remote_close(struct remote *r);

#endif
