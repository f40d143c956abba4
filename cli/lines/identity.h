/* SPDX-License-Identifier: MIT
 *
 * What makes two lines the same: the one place where the identity of a line is computed. It is the
 * canonical form, under a URL profile, of the line, of one field or of a value inside JSON. What
 * is no URL keeps its bytes. */
#ifndef UNSEEN_CLI_IDENTITY_H
#define UNSEEN_CLI_IDENTITY_H

#include <stdbool.h>

#include <unseen.h>

#include "lines/batch.h"

enum format {
    FORMAT_AUTO,
    FORMAT_LINES,
    FORMAT_JSONL
};

/* Which part of a line makes its identity, and which lines are handled. */
struct key_options {
    const char *text;      /* of -k; NULL: the whole line */
    size_t field;          /* from 1; 0: none */
    const char *json_path; /* ".a.b"; NULL: none */
    const char *base;      /* references are resolved against it; NULL: none */
    bool has_separator;
    char separator;
    enum format format;
    uint64_t shard; /* from 0; handled if nshards > 0 */
    uint64_t nshards;
};

struct identity {
    /* set by the caller */
    const struct unseen_url *url; /* NULL: the bytes are the identity */
    const struct unseen_set *set; /* made with url, its hash makes the keys; NULL: no keys */
    bool keeps_texts;             /* fill in items and canons of a batch */
    const struct key_options *key;
    char delimiter;

    /* Shares are cut by keys of a fixed, public seed, not by the set's own: processes on many machines
     * must agree on them without sharing a secret. So whoever makes the input can fill one share. */
    struct unseen_set *shard_set; /* NULL: every key is handled */
};

/* Makes what the options take. Errors: of unseen_set_create. */
enum unseen_status identity_init(struct identity *id);
void identity_release(struct identity *id);

/* Lines without the wanted field or value; the whole line is taken then. */
struct identity_misses {
    size_t n;
    struct unseen_bytes first; /* the first of them, if there are any */
};

/* Computes keys and forms of the lines of b, and the texts if they are kept. Lines of other shares
 * are taken out. scratch is memory to be used again. Errors: NOMEM. */
enum unseen_status identity_take(const struct identity *id, struct batch *b, struct text *scratch,
                                 struct identity_misses *misses);

#endif
