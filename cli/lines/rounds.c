/* SPDX-License-Identifier: MIT
 *
 * The main thread reads blocks, splits them into lines, has batches answered and writes: what
 * has to be done in order. The team makes the keys of a round of batches, one batch at a time,
 * and then asks the set, one part at a time (set_parts.h).
 *
 *   main thread | fill round 3, have round 1 answered | fill round 4, have round 2 answered | ...
 *   team        |              round 2                |              round 3                | ...
 *
 * Between two rounds nobody else uses the set. Before each wait for input, all lines that have
 * arrived are answered. The main thread waits for the team only, and the team for nothing: so
 * signals need no care here. */
#include "lines/loops.h"

#include <stdlib.h>

#include "lines/team.h"

enum {
    ROUND_BATCHES = 16,
    ROUND_BLOCKS = 3, /* the blocks of two rounds and the next block are at most BLOCKS_MAX */
    BATCHES = 2 * ROUND_BATCHES + 1
};

struct round {
    struct batch *batches[ROUND_BATCHES];
    enum unseen_status statuses[ROUND_BATCHES]; /* of their keys */
    size_t n;
};

struct rounds {
    struct feed *feed;
    struct reader *reader;
    struct team team;
    struct text scratch[TEAM_MAX]; /* of each member */
    struct batch *batches;         /* BATCHES of them */
    struct batch_parts *parts;     /* of each batch; NULL: the set is not asked in parts */

    struct round rounds[2];
    struct round *filling;
    struct round *working; /* the round of the team */
    struct batch *next;    /* is being filled, and in no round yet */
    uint64_t ntaken;       /* batches that were answered */
    size_t nblocks;        /* begun since the round that is being filled */
    enum feed_state state;
};

/* ---- In the team ----------------------------------------------------------------------------- */

static void make_keys(struct rounds *r, size_t member, size_t i)
{
    struct batch *b = r->working->batches[i];
    enum unseen_status *status = &r->working->statuses[i];
    *status = identity_take(r->feed->identity, b, &r->scratch[member]);
    if (*status != UNSEEN_OK) {
        b->n = 0; /* has no keys */
    }
    if (b->parts) {
        parts_sort(b);
    }
}

static void work(void *context, size_t member, size_t piece)
{
    struct rounds *r = context;
    const struct round *round = r->working;
    if (piece < round->n) {
        make_keys(r, member, piece);
    } else {
        parts_ask(r->feed->parts, round->batches, round->n, piece - round->n);
    }
}

/* ---- In the main thread ---------------------------------------------------------------------- */

static void take(struct rounds *r, struct round *round)
{
    for (size_t i = 0; i < round->n && r->state == FEED_RUNS; i++) {
        r->state = feed_answer(r->feed, r->reader, round->batches[i], round->statuses[i]);
        r->ntaken++;
    }
    round->n = 0;
}

/* Ends the round of the team, gives it the one that is filled, and has the ended one answered. */
static void advance(struct rounds *r)
{
    struct round *ended = r->working;
    team_end(&r->team);
    if (r->feed->between && r->state == FEED_RUNS) {
        r->feed->between(r->feed->context);
    }
    r->working = r->filling;
    r->filling = ended;
    r->nblocks = 0;
    if (r->working->n > 0 && r->state == FEED_RUNS) {
        team_begin(&r->team, r->working->n, r->parts ? PARTS : 0);
    }
    take(r, ended);
}

/* Has all batches answered. */
static void settle(struct rounds *r)
{
    advance(r);
    advance(r);
}

static int settle_before_wait(void *context)
{
    struct rounds *r = context;
    settle(r);
    return r->state == FEED_RUNS ? feed_before_wait(r->feed) : INPUT_STOP;
}

/* Called once for each block that is begun. */
static bool settle_used(void *context, uint64_t n)
{
    struct rounds *r = context;
    for (int i = 0; i < 2 && r->ntaken < n; i++) {
        advance(r);
    }
    r->nblocks++;
    return r->state == FEED_RUNS;
}

/* Fills rounds until the input ends or the run is to stop. */
static void fill(struct rounds *r)
{
    while (r->state == FEED_RUNS && reader_next(r->reader, r->next, true)) {
        struct batch **slot = &r->filling->batches[r->filling->n++];
        struct batch *empty = *slot;
        *slot = r->next;
        r->next = empty;
        if (r->filling->n == ROUND_BATCHES || r->nblocks >= ROUND_BLOCKS) {
            advance(r);
        }
    }
}

static bool make_batches(struct rounds *r)
{
    const bool asks_parts = r->feed->parts && r->feed->parts->set;
    r->batches = calloc(BATCHES, sizeof(*r->batches));
    r->parts = asks_parts ? calloc(BATCHES, sizeof(*r->parts)) : NULL;
    if (!r->batches || (asks_parts && !r->parts)) {
        return false;
    }
    for (size_t i = 0; i < BATCHES; i++) {
        r->batches[i].parts = r->parts ? &r->parts[i] : NULL;
    }
    for (size_t i = 0; i < ROUND_BATCHES; i++) {
        r->rounds[0].batches[i] = &r->batches[i];
        r->rounds[1].batches[i] = &r->batches[ROUND_BATCHES + i];
    }
    r->next = &r->batches[BATCHES - 1];
    r->filling = &r->rounds[0];
    r->working = &r->rounds[1];
    return true;
}

static void free_batches(struct rounds *r)
{
    for (size_t i = 0; r->batches && i < BATCHES; i++) {
        text_release(&r->batches[i].text);
    }
    for (size_t i = 0; i < TEAM_MAX; i++) {
        text_release(&r->scratch[i]);
    }
    free(r->batches);
    free(r->parts);
    free(r);
}

bool rounds_run(struct feed *f, struct reader *reader)
{
    struct rounds *r = calloc(1, sizeof(*r));
    if (!r) {
        return false;
    }
    r->feed = f;
    r->reader = reader;
    r->team.work = work;
    r->team.context = r;
    if (!make_batches(r) || !team_start(&r->team, f->input->threads - 1)) {
        free_batches(r);
        return false;
    }
    reader->splits_only = true;
    reader->nblocks = BLOCKS_MAX;
    reader->wait = (struct input_wait){settle_before_wait, settle_used, r};
    fill(r);
    settle(r);
    team_stop(&r->team);
    feed_end(f, reader, r->state);
    free_batches(r);
    return true;
}
