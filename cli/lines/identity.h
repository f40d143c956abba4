/* SPDX-License-Identifier: MIT
 *
 * The identity of a line, which decides whether two lines are the same. It is the canonical form,
 * under a URL profile, of the line, of one field or of a value inside JSON. A text that is not a
 * URL keeps its bytes. Every command computes identities here.
 *
 * If the key has several parts, the identity is the canonical form of each part, in order, each
 * with its length in bytes in decimal digits and a colon in front: "3:bob14:http://e.com/a". So
 * two different rows of parts never have the same identity. */
#ifndef UNSEEN_CLI_IDENTITY_H
#define UNSEEN_CLI_IDENTITY_H

#include <stdbool.h>

#include <unseen.h>

#include "lines/batch.h"
#include "lines/key_option.h"

enum format {
    FORMAT_AUTO,
    FORMAT_LINES,
    FORMAT_JSONL
};

/* What becomes of a line without the key. */
enum missing {
    MISSING_USUAL, /* the user has not said: FAIL for commands that keep keys, WHOLE for others */
    MISSING_WHOLE, /* the whole line is its key */
    MISSING_SKIP,  /* the line is left out */
    MISSING_FAIL,  /* the run ends */
    MISSING_EMPTY  /* as USUAL, but of a key of several parts some may be missing */
};

/* Which part of a line makes its identity, and which lines are handled. */
struct key_options {
    const char *text; /* the value of -k; NULL: the whole line */
    struct key key;
    const char *time_text; /* the value of --time; NULL: lines have no times */
    struct key time;       /* of one part */
    const char *base;      /* references are resolved against it; NULL: none */
    bool has_separator;
    char separator;
    enum format format;
    enum missing missing; /* once the options are parsed, neither USUAL nor EMPTY */
    bool takes_empty;     /* a part that is missing beside others is an empty text */
    uint64_t shard;       /* the share of lines to handle, from 0, unless the shares are told */
    uint64_t nshards;     /* 0: not asked for */
};

struct identity {
    /* set by the caller */
    const struct unseen_url *url; /* NULL: the bytes are the identity */
    const struct unseen_set *set; /* made with url; makes the keys; NULL: no keys */
    bool keeps_texts;             /* fill in items and canons of each batch */
    bool tells_shares;            /* handle the lines of all shares, and fill in shares */
    const struct key_options *key;
    char delimiter;
};

/* Computes the keys and forms of the lines of b, and the texts if they are kept. Leaves out lines
 * of other shares, and with MISSING_SKIP lines without the key or the time; with MISSING_FAIL the
 * batch ends in front of such a line. Sets nother, nmisses, missing and time_lacks of the batch.
 * Does nothing if id is NULL or b has no lines. `scratch` is memory that is used again. Errors:
 * NOMEM. */
enum unseen_status identity_take(const struct identity *id, struct batch *b, struct text *scratch);

#endif
