/* SPDX-License-Identifier: MIT
 *
 * A list or a store as those who only ask see it (lookup.h): what is in it is listed.
 *
 * Another file of the same name, put there by rename, is taken up within a second: the old one
 * answers until the new one is open, and goes on if that cannot be opened. Changes of the list that
 * is open are taken up likewise. */
#ifndef UNSEEN_CLI_LISTED_H
#define UNSEEN_CLI_LISTED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <unseen.h>

#include "lines/text.h"
#include "memory/lists.h"
#include "options.h"
#include "serve/lookup.h"

struct listed {
    /* set by the caller */
    const struct options *o; /* name the file */
    enum unseen_cpu cpu;
    unsigned asks; /* bits of enum lookup_kind: a list must be able to answer one of them; 0: any */
    bool lists_only; /* no store will do */

    struct unseen_store *store; /* one of these is open */
    struct opened_list list;
    struct unseen_url *url; /* makes the expressions for a store; NULL if they are not asked for */
    struct text room;       /* where they lie */
    uint64_t looked;        /* when it was last looked for another file, in nanoseconds */
    dev_t device;           /* the file that is open, or that could not be opened */
    ino_t inode;
    bool in_trouble; /* that was reported */
};

/* Opens what the options name; false if that failed, which has been reported. */
bool listed_open(struct listed *l);

/* The question to it. */
struct lookup listed_lookup(struct listed *l);

/* Looks for another file of the same name and for changes, at most once a second. To be called
 * between questions. */
void listed_refresh(struct listed *l);

void listed_close(struct listed *l);

/* Whether a list of this kind can answer one of the questions in asks. */
bool listed_suits(unsigned asks, enum unseen_kind kind);

#endif
