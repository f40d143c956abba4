/* SPDX-License-Identifier: MIT
 *
 * The compact filter as a multiset (counts in the options). Adding a present key adds it once more,
 * its count can be asked, and each removal takes one add back.
 *
 * The first COPIES adds of a key are tags, all alike. Further adds are a number beside the whole
 * key in the stash: a key has only two lines, and without a limit one item that comes often would
 * fill them and make its group grow without end.
 *
 * Why a removal loses no other key. The tags that a key matches lie on its path, as prefixes of
 * each other, and a key in the stash is the longest prefix of all. Every add of a key is a token on
 * its path. Removing the longest token of a key leaves a token for every other add: if another key
 * relied on it, that key also matches the shorter token that the removed key had. So counts are
 * never too small. They are too large at the false-positive rate. */
#include "tags/compact_ops.h"

enum {
    COPIES = 3,
    AHEAD = 32 /* keys whose lines are fetched together */
};

static void locate(const struct compact *c, struct unseen_key key, struct compact_probe *probe)
{
    compact_locate(c, c->layout->width, key, compact_find(c, compact_path(c, key)), probe);
}

/* How many tags of a line match. */
static unsigned count_line(const struct compact *c, const struct compact_probe *probe,
                           const uint8_t *line)
{
    unsigned n = 0;
    for (uint32_t rest = compact_matches(c, probe, line); rest; rest &= rest - 1) {
        const unsigned slot = (unsigned)__builtin_ctz(rest);
        n += compact_low_agrees(c->layout->width, line, slot, probe);
    }
    return n;
}

static unsigned count_tags(const struct compact *c, const struct compact_probe *probe)
{
    return count_line(c, probe, probe->a) + count_line(c, probe, probe->b);
}

static enum unseen_status add_one(struct compact *c, struct unseen_key key, uint8_t *verdict)
{
    struct compact_probe probe;
    enum unseen_status status;
    bool moved;
    locate(c, key, &probe);
    const unsigned ntags = count_tags(c, &probe);
    const bool stashed = c->stash.nkeys > 0 && unseen__stash_contains(&c->stash, key);
    if (ntags >= COPIES || stashed) {
        status = unseen__stash_add_again(&c->stash, key, 1, &c->allocator);
        c->nkeys += status == UNSEEN_OK;
    } else if (unseen__compact_add_plain(c, &probe, c->mark)) {
        status = UNSEEN_OK;
    } else {
        status = unseen__compact_add_full(c, key, &probe, &moved);
    }
    *verdict = ntags > 0 || stashed ? UNSEEN_SEEN : UNSEEN_NEW;
    return status;
}

enum unseen_status unseen__compact_count_add(struct unseen__filter *filter,
                                             const struct unseen_key *keys, size_t n,
                                             uint8_t *verdicts, size_t *ndone_out)
{
    struct compact *c = compact_from(filter);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = i; i % AHEAD == 0 && k < n && k < i + AHEAD; k++) {
            struct compact_probe probe;
            locate(c, keys[k], &probe);
            UNSEEN_PREFETCH_L2(probe.a);
            UNSEEN_PREFETCH_L2(probe.b);
        }
        const enum unseen_status status = add_one(c, keys[i], &verdicts[i]);
        if (status != UNSEEN_OK) {
            *ndone_out = i;
            return status;
        }
    }
    *ndone_out = n;
    return UNSEEN_OK;
}

uint64_t unseen__compact_count(const struct unseen__filter *filter, struct unseen_key key)
{
    const struct compact *c = compact_from_const(filter);
    struct compact_probe probe;
    locate(c, key, &probe);
    return count_tags(c, &probe) + unseen__stash_count(&c->stash, key);
}

enum unseen_status unseen__compact_repeat(struct unseen__filter *filter, struct unseen_key key)
{
    struct compact *c = compact_from(filter);
    const enum unseen_status status = unseen__stash_add_again(&c->stash, key, 1, &c->allocator);
    c->nkeys += status == UNSEEN_OK;
    return status;
}

uint64_t unseen__compact_repeats(const struct unseen__filter *filter, struct unseen_key key)
{
    return unseen__stash_count(&compact_from_const(filter)->stash, key);
}
