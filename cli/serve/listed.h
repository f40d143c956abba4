/* SPDX-License-Identifier: MIT
 *
 * A store as those who only ask see it (lookup.h): what is in it is listed.
 *
 * Another file of the same name, put there by rename, is taken up within a second: the old one
 * answers until the new one is open, and goes on if that cannot be opened. */
#ifndef UNSEEN_CLI_LISTED_H
#define UNSEEN_CLI_LISTED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <unseen.h>

#include "serve/lookup.h"
#include "options.h"
#include "lines/text.h"

struct listed {
    const struct options *o; /* name the store */
    enum unseen_cpu cpu;
    struct unseen_store *store;
    struct unseen_url *url; /* makes expressions; NULL if they are not asked for */
    struct text room;       /* where they lie */
    uint64_t looked;        /* when it was last looked for another file, in nanoseconds */
    dev_t device;           /* the file that is open, or that could not be opened */
    ino_t inode;
    bool in_trouble; /* that was reported */
};

/* Opens the store that the options name; false if that failed, which has been reported. */
bool listed_open(struct listed *l, const struct options *o, enum unseen_cpu cpu);

/* The question to it. */
struct lookup listed_lookup(struct listed *l);

/* Looks for another file of the same name, at most once a second. To be called between questions. */
void listed_refresh(struct listed *l);

void listed_close(struct listed *l);

#endif
