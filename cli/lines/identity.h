/* SPDX-License-Identifier: MIT
 *
 * The identity of a line, which decides whether two lines are the same. It is the canonical form,
 * under a URL profile, of the line, of one field or of a value inside JSON. A text that is not a
 * URL keeps its bytes. Every command computes identities here. */
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
    const char *text;      /* the value of -k; NULL: the whole line */
    size_t field;          /* from 1; 0: none */
    const char *json_path; /* ".a.b"; NULL: none */
    const char *base;      /* references are resolved against it; NULL: none */
    bool has_separator;
    char separator;
    enum format format;
    uint64_t shard; /* the share of lines to handle, from 0 */
    uint64_t nshards;
};

struct identity {
    /* set by the caller */
    const struct unseen_url *url; /* NULL: the bytes are the identity */
    const struct unseen_set *set; /* made with url; makes the keys; NULL: no keys */
    bool keeps_texts;             /* fill in items and canons of each batch */
    const struct key_options *key;
    char delimiter;

    /* Makes keys under a fixed, public seed, which decide the share of a line: processes on many
     * machines must agree on shares without sharing a secret. So whoever makes the input can fill
     * one share with lines. */
    struct unseen_set *shard_set; /* NULL: all lines are handled */
};

/* Makes shard_set if the options ask for a share. Errors: those of unseen_set_create. */
enum unseen_status identity_init(struct identity *id);
void identity_release(struct identity *id);

/* Lines without the wanted field or value. The whole line is their key. */
struct identity_misses {
    size_t n;
    struct unseen_bytes first; /* the first such line */
};

/* Computes the keys and forms of the lines of b, and the texts if they are kept. Leaves out lines
 * of other shares. `scratch` is memory that is used again. Errors: NOMEM. */
enum unseen_status identity_take(const struct identity *id, struct batch *b, struct text *scratch,
                                 struct identity_misses *misses);

#endif
