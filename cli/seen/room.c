/* SPDX-License-Identifier: MIT
 *
 * Makes room in the set of a run for the keys that are likely to come. A set that grows step by
 * step moves each of its keys several times. If the input is files, their sizes say how much is
 * still to come, and the share of new lines so far says how many keys that will be. So the run
 * makes room in the set twice: early, and once more when it knows better.
 *
 * The further a run has read, the fewer lines are new. The number of distinct items in n lines of
 * text is n to a power below 1 [Heaps78], and URLs of crawls and logs behave like that. Two counts
 * give the power. In most inputs the power falls on the way, so the guess is too high rather than
 * too low. Therefore the run makes room for SAFE of the guess, and for ROOM_TIMES the keys that are
 * there at most. If that is too little, the set grows by itself. */
#include "seen/room.h"

#include <math.h>

#include <unseen.h>

#define ROOM_TIMES 8.0
#define SAFE       0.9

enum {
    LINES_STEP = 1 << 12, /* between two looks, at least */
    LOOKS = 4
};

/* Shares of the input at which a run looks; at every other look it makes room. */
static const double looks_at[LOOKS] = {1.0 / 128, 1.0 / 64, 1.0 / 16, 1.0 / 8};

/* The number of keys that a run is likely to have at its end, judged by two looks. */
static double room_guess(const struct room_look *before, const struct room_look *now)
{
    const double power = before->nnew > 0 && before->nlines < now->nlines
                             ? log((double)now->nnew / (double)before->nnew) /
                                   log((double)now->nlines / (double)before->nlines)
                             : 1;
    return (double)now->nnew * pow(1 / now->share, fmin(power, 1));
}

/* Room for a few keys more would cost as much as it saves. Without memory for it the set grows as
 * ever. */
static void room_make(struct room *room, uint64_t nkeys, uint64_t nnow)
{
    if (nkeys < nnow + nnow / 2) {
        return;
    }
    if (room->store) {
        (void)unseen_store_reserve(room->store, nkeys);
    } else {
        (void)unseen_set_reserve(room->set, nkeys);
    }
}

void room_look(struct room *room, struct room_look now)
{
    room->next = now.nlines + LINES_STEP;
    if (now.share < 0 || room->nlooks == LOOKS) {
        room->set = NULL;
        room->store = NULL;
        return;
    }
    if (now.share < looks_at[room->nlooks]) {
        return;
    }
    if (room->nlooks % 2 == 1) {
        const double guess = fmin(room_guess(&room->last, &now), ROOM_TIMES * (double)now.nnew);
        room_make(room, (uint64_t)(SAFE * guess), now.nnew);
    }
    room->last = now;
    room->nlooks++;
}
