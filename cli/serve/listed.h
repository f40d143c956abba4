/* SPDX-License-Identifier: MIT
 *
 * A list or a store as those who only ask see it (lookup.h): what is in it is listed.
 *
 * Another file of the same name, put there by rename, is taken up within a second: the old one
 * answers until the new one is open, and goes on if that cannot be opened. Changes of the list that
 * is open are taken up likewise. Who writes over that list in place, instead, gets errors until it is
 * whole again. */
#ifndef UNSEEN_CLI_LISTED_H
#define UNSEEN_CLI_LISTED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include <unseen_list.h>

#include "lines/text.h"
#include "seen/lists.h"
#include "commands/commands.h"
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
    bool lost;              /* the list that is open was written over or cut short */
    bool in_trouble;        /* that was reported */
    uint64_t looked;        /* when it was last looked for another file, in nanoseconds */
    struct stat file;       /* the file that is open */
    struct stat refused;    /* one that could not be opened, and when */
    uint64_t refused_at;
};

/* Opens what the options name; false if that failed, which has been reported. */
bool listed_open(struct listed *l);

/* The question to it. */
struct lookup listed_lookup(struct listed *l);

/* Looks for another file of the same name and for changes, at most once a second. To be called
 * between questions. */
void listed_refresh(struct listed *l);

void listed_close(struct listed *l);

/* Asks the list that is open for n items; IO while it is lost. */
enum unseen_status listed_covers(struct listed *l, const struct unseen_bytes *items, size_t n,
                                 uint8_t *verdicts);

/* The list that is open has no answers any more: until its name stands for one that has, there are
 * none. */
void listed_lose(struct listed *l);

/* Whether a list of this kind can answer one of the questions in asks. */
bool listed_suits(unsigned asks, enum unseen_kind kind);

#endif
