/* SPDX-License-Identifier: MIT
 *
 * Room in the set of a run for the keys that are likely to come. */
#ifndef UNSEEN_CLI_ROOM_H
#define UNSEEN_CLI_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include <unseen.h>

/* How far a run was, and what it had found. */
struct room_look {
    double share; /* of the input; 0: at the beginning */
    uint64_t nnew;
    uint64_t nlines;
};

struct room {
    struct unseen_set *set;     /* a set that grows, */
    struct unseen_store *store; /* or a store with such a set; both NULL: neither gets room */
    struct room_look last;
    unsigned nlooks;
    uint64_t next; /* the number of lines at which to look again */
};

/* True from time to time: a look costs a few system calls. */
static inline bool room_is_due(const struct room *room, uint64_t nlines)
{
    return (room->set || room->store) && nlines >= room->next;
}

/* Makes room if it is time for it; share is -1 if it is not known. */
void room_look(struct room *room, struct room_look now);

#endif
