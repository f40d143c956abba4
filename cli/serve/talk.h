/* SPDX-License-Identifier: MIT
 *
 * One side of a conversation in another program's protocol: bytes in, in any pieces, and answers
 * out. It knows neither sockets nor stores, so that standard input, a socket and a fuzzer can each
 * be the other end. A protocol is a row of talk.c and a function that answers one request. */
#ifndef UNSEEN_CLI_TALK_H
#define UNSEEN_CLI_TALK_H

#include <stdbool.h>
#include <stddef.h>

#include <unseen.h>

#include "serve/lookup.h"
#include "lines/text.h"

enum {
    TALK_LINE = 64 * 1024,  /* the longest line or message of most protocols */
    TALK_AHEAD = 256 * 1024 /* bytes of answers after which it waits for them to be taken */
};

struct talk;

struct dialect {
    const char *name;

    /* Answers the first request in data[0..len), len > 0, if it is whole, and returns how many bytes
     * it has; 0 if more must come first. at_end: nothing comes. */
    size_t (*take)(struct talk *t, const char *data, size_t len, bool at_end);

    unsigned asks;     /* bits of enum lookup_kind */
    bool has_reply;    /* --reply */
    bool has_redirect; /* --redirect */
};

struct talk {
    /* set by the caller */
    const struct dialect *dialect;
    const struct lookup *lookup;
    const char *reply;    /* what is said of what is listed */
    const char *redirect; /* where to send who asks for it */

    struct text out; /* answers; the caller takes them away */
    bool over;       /* the protocol ends the conversation here */
    bool failed;     /* no memory for an answer: end it, too */

    size_t known; /* bytes at the front of what is given that hold no end of a request */
    bool skips;   /* the rest of a line that was too long */
};

/* The protocol called name, or NULL. */
const struct dialect *talk_dialect(const char *name);

/* Answers all whole requests in data[0..len), or as many as TALK_AHEAD has room for, and returns how
 * many bytes those have. The rest must be given again, with more behind it. */
size_t talk_take(struct talk *t, const char *data, size_t len, bool at_end);

void talk_release(struct talk *t);

/* ---- For protocols ---------------------------------------------------------------------------- */

enum talk_line {
    TALK_NONE, /* not whole yet */
    TALK_WHOLE,
    TALK_LONG, /* the front of a line that is too long; what comes of it is skipped */
    TALK_SKIPPED
};

/* Cuts the first line off; *used_out is what it takes, with its end. */
enum talk_line talk_line(struct talk *t, const char *data, size_t len, bool at_end,
                         struct unseen_bytes *line_out, size_t *used_out);

void talk_put(struct talk *t, const char *data, size_t len);
void talk_puts(struct talk *t, const char *text);

/* Cuts off what stands in front of the first of the bytes `at`, and that byte; all if there is
 * none. */
struct unseen_bytes talk_word(struct unseen_bytes *text, char at);

bool talk_is(struct unseen_bytes text, const char *word);

/* Undoes %41 into out, which has room for text.len bytes; false if there is a % without two
 * hexadecimal digits. */
bool talk_unescape(struct unseen_bytes text, char *out, size_t *len_out);

/* The protocols. */
extern const struct dialect squid_dialect;
extern const struct dialect squid_rewrite_dialect;
extern const struct dialect policy_dialect;
extern const struct dialect tcp_table_dialect;
extern const struct dialect socketmap_dialect;
extern const struct dialect http_auth_dialect;

#endif
