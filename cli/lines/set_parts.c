/* SPDX-License-Identifier: MIT
 *
 * Keys and verdicts are stored part by part, so that threads write to different cache lines. */
#include "lines/set_parts.h"

#include <string.h>

enum {
    ASK_KEYS = 1024, /* at once, */
    RUNS = 64,       /* of so many batches */
    UNANSWERED = 0xff
};

static inline size_t part_of(struct unseen_key key)
{
    return key.hi >> 60;
}

_Static_assert(PARTS == 1 << (64 - 60), "a key has one part");

void parts_sort(const struct batch *b)
{
    struct batch_parts *to = b->parts;
    uint16_t next[PARTS];
    memset(to->start, 0, sizeof(to->start));
    for (size_t i = 0; i < b->n; i++) {
        to->start[part_of(b->keys[i]) + 1]++;
    }
    for (size_t k = 0; k < PARTS; k++) {
        to->start[k + 1] = (uint16_t)(to->start[k + 1] + to->start[k]);
    }
    memcpy(next, to->start, sizeof(next));
    for (size_t i = 0; i < b->n; i++) {
        const size_t at = next[part_of(b->keys[i])]++;
        to->keys[at] = b->keys[i];
        to->lines[at] = (uint16_t)i;
    }
    memset(to->verdicts, UNANSWERED, b->n);
}

/* Keys of one part that are asked for at once, and where the verdicts of each batch go. */
struct gathered {
    struct unseen_key keys[ASK_KEYS];
    uint8_t verdicts[ASK_KEYS];
    size_t n;
    struct run {
        uint8_t *to;
        size_t n;
    } runs[RUNS];
    size_t nruns;
};

static void ask_gathered(struct parts *p, struct gathered *g, size_t part)
{
    size_t ndone = 0;
    if (!p->full[part]) {
        p->full[part] =
            unseen_set_add_keys(p->set, g->keys, g->n, g->verdicts, &ndone) != UNSEEN_OK;
    }
    const uint8_t *from = g->verdicts;
    for (size_t i = 0; i < g->nruns && ndone > 0; i++) {
        const size_t n = g->runs[i].n < ndone ? g->runs[i].n : ndone;
        memcpy(g->runs[i].to, from, n);
        from += n;
        ndone -= n;
    }
    g->n = 0;
    g->nruns = 0;
}

void parts_ask(struct parts *p, struct batch *const *batches, size_t n, size_t part)
{
    struct gathered g;
    g.n = 0;
    g.nruns = 0;
    for (size_t i = 0; i < n; i++) {
        struct batch_parts *b = batches[i]->parts;
        const size_t first = b->start[part];
        const size_t count = b->start[part + 1] - first;
        if (g.n + count > ASK_KEYS || g.nruns == RUNS) {
            ask_gathered(p, &g, part);
        }
        memcpy(g.keys + g.n, b->keys + first, count * sizeof(g.keys[0]));
        g.runs[g.nruns].to = b->verdicts + first;
        g.runs[g.nruns++].n = count;
        g.n += count;
    }
    if (g.n > 0) {
        ask_gathered(p, &g, part);
    }
}

size_t parts_answers(const struct batch *b, uint8_t *verdicts)
{
    const struct batch_parts *from = b->parts;
    for (size_t i = 0; i < b->n; i++) {
        verdicts[from->lines[i]] = from->verdicts[i];
    }
    const uint8_t *first = b->n > 0 ? memchr(verdicts, UNANSWERED, b->n) : NULL;
    return first ? (size_t)(first - verdicts) : b->n;
}
