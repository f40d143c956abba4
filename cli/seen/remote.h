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
#include "seen/server_question.h"

enum {
    REMOTE_PIECES = 16,
    REMOTE_NO_ANSWER = 0xff /* in place of a verdict: the server could not take the line */
};

/* Lines with their newlines: data[0..len), or, if data is NULL, out.data[at..at + len). */
struct remote_piece {
    const char *data;
    size_t at;
    size_t len;
};

struct remote {
    const char *address;
    int fd;                                    /* -1: not connected */
    struct remote_piece pieces[REMOTE_PIECES]; /* the lines of the next question, */
    size_t npieces;
    size_t nitems;   /* and how many lines they are */
    struct text out; /* the pieces that had to be copied */
    struct text in;  /* what has come and was not used yet: in.data[at..in.len) */
    size_t at;
    enum server_question question; /* the one that was asked last */
    bool is_gone;                  /* which has been reported */
    char profile[4200];            /* of the store; empty: the server has not said */
    char filter[20];
};

/* Connects, and sends the token (NULL: none). Tries again for `wait` seconds if there is no server.
 * Returns false if that failed, which has been reported; remote_close follows in either case. */
bool remote_open(struct remote *r, const char *address, const char *token, double wait);

/* Puts n items into the next question, which takes REMOTE_PIECES calls. The bytes of the items,
 * and the byte behind each, must stay until it is asked. Returns false, which has been reported,
 * without memory or if an item contains a newline. */
bool remote_put(struct remote *r, const struct unseen_bytes *items, size_t n);

/* Asks the question for all items that were put. Writes a verdict for each: SEEN, NEW or
 * REMOTE_NO_ANSWER. Returns false if an item has none, which has been reported; if the server has
 * gone away, no verdict is written. */
bool remote_ask(struct remote *r, enum server_question question, uint8_t *verdicts);

/* Asks for what `unseen info --json` says of the store or list, which stays until the next call.
 * Returns false if that failed, which has been reported. */
bool remote_info(struct remote *r, struct unseen_bytes *json_out);

/* Fills in the keys, the filter, the memory and the rates of the server's store, as far as the
 * server says them; the filter's name lasts as long as r. */
void remote_stats(struct remote *r, struct unseen_set_stats *stats_out);

void remote_close(struct remote *r);

#endif
