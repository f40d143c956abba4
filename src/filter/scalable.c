/* SPDX-License-Identifier: MIT
 *
 * A filter that grows, made of filters that do not grow [Almeida07]: a chain of links. Each link is
 * for twice as many keys as the link before, and for a lower rate. New keys go to the newest link
 * until it has as many keys as it was made for; then a new link is made. The false-positive rate of
 * the chain is at most the sum of the rates of its links. That sum stays below the promise p,
 * however long the chain gets:
 *
 *     link          0           1             2               i
 *     keys          c           2 c           4 c             2^i c
 *     rate          s           r s           r^2 s           r^i s    s = r (1 - r) p, sum < r p
 *
 * The tenth of p that is left over is for chance: the first links have so few blocks that one link
 * in twenty has 1.6 times its rate.
 *
 * r is 0.9: of 0.5, 0.7, 0.8, 0.85, 0.9, 0.95 and (i + 1)^-2 it takes the fewest bits for 10^6 to
 * 10^8 keys. At p = 1e-4, from 1024 keys to 10^8 in links of "block": 63.9, 41.1, 35.1, 33.0, 31.5,
 * 31.2 and 39.0 bits per key; to 10^6: 40.0, 32.1, 30.0, 29.4, 29.3, 30.1 and 34.8 (with links that
 * use all of p).
 *
 * The newest link has half of the keys, so a question goes to it first and then to older and older
 * links. An absent key costs a question to every link. In a batch, a link is asked about all keys
 * that are still open at once, so that its memory is fetched ahead.
 *
 * Links of "block" and "counting" choose the block of a key by its top bits, which must be random.
 * If keys come sorted, the first links, for a thousand or two, would have all their keys in a few
 * full blocks, and each new key in that range would be taken for seen. So links see keys multiplied
 * by an odd number: the top bits of the product depend on every bit of the key.
 *
 * Links of "counting" count how often a key was added: a key that is added again is counted by the
 * link that has it (add_absent does not count it again). A key is removed from the one link that
 * has it. If several links seem to have it, the right link is unknown, and removing the key from a
 * wrong link would lose another key. The key then stays and is wrongly seen, which the other links
 * would have answered anyway. */
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/memory.h"
#include "filter/filter.h"
#include "filter/open_keys.h"
#include "filter/tally.h"

enum {
    LINKS_MAX = UNSEEN__TALLY_PARTS,
    BATCH = OPEN_KEYS_MAX,
    FIRST_CAPACITY = 1024,
    SHARD_BITS_MAX = 8,
    SAVED_KIND = 1,
    PIECE_LINK = 1,
    LINK_POSITION_BITS = 43 /* low bits of a position: position in the link; high bits: the link */
};

static const double tightening = 0.9;

/* A multiplier of splitmix64 [Steele14]; not that of unseen__key_narrow. */
static const uint64_t spreading = 0xbf58476d1ce4e5b9u;

/* The keys to which a new chain can grow, whatever its rate. */
#define FAR 1e9

/* The most bits of a plan: the link after them can be planned, too. */
#define PLANNED_MAX 1e17

struct link {
    struct unseen__filter *filter;
    uint64_t capacity;
    uint64_t nkeys;
};

struct scalable {
    struct unseen__filter filter;
    const struct unseen__filter_ops *link_ops;
    struct link links[LINKS_MAX];
    unsigned nlinks;
    bool has_spare;    /* links[nlinks] is made, and empty */
    uint64_t nsecured; /* keys for which room is secured */
    uint64_t first_capacity;
    double fpr;
    uint64_t saved_max; /* while loading: the most bytes of all pieces */
    unsigned prefix_bits;
    uint64_t prefix;
    enum unseen_cpu cpu;
    struct unseen_allocator allocator;
};

static struct scalable *scalable_from(struct unseen__filter *filter)
{
    return (struct scalable *)(void *)filter;
}

static const struct scalable *scalable_from_const(const struct unseen__filter *filter)
{
    return (const struct scalable *)(const void *)filter;
}

static double link_rate(double fpr, unsigned i)
{
    return fpr * (1 - tightening) * pow(tightening, i + 1);
}

/* Whether links can have the rates of a chain that grows to FAR keys. At a lower rate there would
 * be no next link in the midst of the keys. */
static bool can_grow_far(double fpr, const struct unseen__filter_ops *link_ops)
{
    unsigned last = 0;
    for (double keys = FIRST_CAPACITY; keys < FAR; keys = 2 * keys + FIRST_CAPACITY) {
        last++;
    }
    struct unseen_plan link = {.fpr = link_rate(fpr, last)};
    return link_ops->plan(&link) == UNSEEN_OK;
}

/* ---- links ---- */

static struct unseen__filter_params link_params(const struct scalable *s)
{
    return (struct unseen__filter_params){.cpu = s->cpu, .allocator = s->allocator};
}

static struct link *newest(struct scalable *s)
{
    return &s->links[s->nlinks - 1];
}

static uint64_t room_of(const struct link *link)
{
    return link->nkeys < link->capacity ? link->capacity - link->nkeys : 0;
}

/* Makes a spare link, to come after the newest, for at least nkeys keys. Frees a smaller spare
 * link. */
static enum unseen_status make_spare(struct scalable *s, uint64_t nkeys)
{
    struct link *spare = &s->links[s->nlinks];
    uint64_t capacity = s->nlinks ? 2 * newest(s)->capacity : s->first_capacity;
    capacity = nkeys > capacity ? nkeys : capacity;
    if (s->nlinks == LINKS_MAX) {
        return UNSEEN_ERR_NOMEM;
    }
    struct unseen__filter_params params = link_params(s);
    params.fpr = link_rate(s->fpr, s->nlinks);
    params.capacity = capacity;
    struct unseen__filter *filter;
    enum unseen_status status = s->link_ops->create(&filter, &params);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (s->has_spare) {
        s->link_ops->free(spare->filter);
    }
    *spare = (struct link){.filter = filter, .capacity = capacity};
    s->has_spare = true;
    return UNSEEN_OK;
}

static enum unseen_status append_link(struct scalable *s)
{
    enum unseen_status status = s->has_spare ? UNSEEN_OK : make_spare(s, 0);
    if (status == UNSEEN_OK) {
        s->nlinks++;
        s->has_spare = false;
    }
    return status;
}

static enum unseen_status scalable_secure(struct unseen__filter *filter, ptrdiff_t n)
{
    struct scalable *s = scalable_from(filter);
    if (n < 0) {
        s->nsecured -= (uint64_t)-n;
        return UNSEEN_OK;
    }
    const uint64_t wanted = s->nsecured + (uint64_t)n;
    const uint64_t room = room_of(newest(s));
    const uint64_t spare_room = s->has_spare ? s->links[s->nlinks].capacity : 0;
    if (wanted > room + spare_room) {
        enum unseen_status status = make_spare(s, wanted - room);
        if (status != UNSEEN_OK) {
            return status;
        }
    }
    s->nsecured = wanted;
    return UNSEEN_OK;
}

/* ---- creation ---- */

static void scalable_free(struct unseen__filter *filter)
{
    struct scalable *s = scalable_from(filter);
    for (unsigned i = 0; i < LINKS_MAX; i++) {
        if (s->links[i].filter) {
            s->link_ops->free(s->links[i].filter);
        }
    }
    struct unseen_allocator allocator = s->allocator;
    unseen__free(&allocator, s, sizeof(*s));
}

static void scalable_save_params(const struct unseen__filter *filter, uint8_t *params)
{
    const struct scalable *s = scalable_from_const(filter);
    params[0] = SAVED_KIND;
    params[1] = (uint8_t)s->prefix_bits;
    store_le64(params + 16, s->first_capacity);
    store_le_double(params + 24, s->fpr);
}

static enum unseen_status scalable_load_params(struct scalable *s, const uint8_t *saved)
{
    s->first_capacity = load_le64(saved + 16);
    s->fpr = load_le_double(saved + 24);
    bool ok = saved[0] == SAVED_KIND && saved[1] == s->prefix_bits && load_le64(saved) >> 16 == 0 &&
              load_le64(saved + 8) == 0 && s->first_capacity > 0 && s->fpr > 0 && s->fpr < 1;
    return ok ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

/* A chain cannot be cut in two: a loaded set has as many chains as the saved set. */
static enum unseen_status scalable_shard_bits(const struct unseen__filter_params *params,
                                              unsigned wanted, unsigned *shard_bits_out)
{
    *shard_bits_out = params->saved ? params->saved[1] : wanted;
    return *shard_bits_out <= SHARD_BITS_MAX ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

static enum unseen_status scalable_start(struct scalable *s,
                                         const struct unseen__filter_params *params)
{
    if (params->saved) {
        s->saved_max = params->saved_max;
        return scalable_load_params(s, params->saved);
    }
    const uint64_t whole = params->capacity >> s->prefix_bits;
    const uint64_t share = whole < UINT64_MAX ? whole + 1 : whole;
    s->first_capacity = share > FIRST_CAPACITY ? share : FIRST_CAPACITY;
    s->fpr = params->fpr;
    return append_link(s);
}

static enum unseen_status scalable_create(struct unseen__filter **filter_out,
                                          const struct unseen__filter_params *params,
                                          const struct unseen__filter_ops *ops,
                                          const struct unseen__filter_ops *link_ops)
{
    struct scalable *s = unseen__alloc(&params->allocator, sizeof(*s), _Alignof(struct scalable));
    if (!s) {
        return UNSEEN_ERR_NOMEM;
    }
    *s = (struct scalable){
        .filter.ops = ops,
        .link_ops = link_ops,
        .prefix_bits = params->prefix_bits,
        .prefix = params->prefix,
        .cpu = params->cpu,
        .allocator = params->allocator,
    };
    enum unseen_status status = scalable_start(s, params);
    if (status != UNSEEN_OK) {
        scalable_free(&s->filter);
        return status;
    }
    *filter_out = &s->filter;
    return UNSEEN_OK;
}

/* ---- keys ---- */

/* A key as links see it: without the prefix that all keys of this filter share. */
static struct unseen_key link_key(const struct scalable *s, struct unseen_key key)
{
    return (struct unseen_key){key.lo, (key.hi << s->prefix_bits) * spreading};
}

static void open_batch(const struct scalable *s, const struct unseen_key *keys, size_t n,
                       struct open_keys *open)
{
    open_keys_begin(open, keys, n);
    for (size_t i = 0; i < n; i++) {
        open->keys[i] = link_key(s, open->keys[i]);
    }
}

/* Asks one link about all open keys. Keys that the link has are answered, and copied to `had`
 * unless it is NULL; the others stay open. Returns the number of keys that the link has. */
static size_t ask_link(const struct scalable *s, unsigned link, struct open_keys *open,
                       uint8_t *verdicts, struct unseen_key *had)
{
    s->link_ops->contains(s->links[link].filter, open->keys, open->n, open->verdicts);
    return open_keys_close(open, verdicts, had);
}

static void scalable_contains(const struct unseen__filter *filter, const struct unseen_key *keys,
                              size_t n, uint8_t *verdicts)
{
    const struct scalable *s = scalable_from_const(filter);
    struct open_keys open;
    for (size_t done = 0; done < n; done += BATCH) {
        open_batch(s, keys + done, n - done < BATCH ? n - done : BATCH, &open);
        for (unsigned link = s->nlinks; link-- > 0 && open.n > 0;) {
            (void)ask_link(s, link, &open, verdicts + done, NULL);
        }
    }
}

/* Asks an older link while adding. A link that counts adds 1 for each key that it has, which cannot
 * fail; with absent_only it does not. */
static enum unseen_status pass_link(struct scalable *s, unsigned link, bool absent_only,
                                    struct open_keys *open, uint8_t *verdicts)
{
    struct unseen_key had[BATCH];
    uint8_t again[BATCH];
    size_t ndone;
    const bool counts = s->link_ops->remove != NULL && !absent_only;
    const size_t nhad = ask_link(s, link, open, verdicts, counts ? had : NULL);
    return counts && nhad ? s->link_ops->add(s->links[link].filter, had, nhad, again, &ndone)
                          : UNSEEN_OK;
}

/* Adds a batch for which the newest link has room: it gets the keys that no older link has. */
static enum unseen_status scalable_add_batch(struct scalable *s, bool absent_only,
                                             const struct unseen_key *keys, size_t n,
                                             uint8_t *verdicts)
{
    struct open_keys open;
    struct link *link = newest(s);
    size_t ndone;
    open_batch(s, keys, n, &open);
    enum unseen_status status = UNSEEN_OK;
    for (unsigned older = s->nlinks - 1; older-- > 0 && open.n > 0 && status == UNSEEN_OK;) {
        status = pass_link(s, older, absent_only, &open, verdicts);
    }
    if (status == UNSEEN_OK) {
        status = (absent_only ? s->link_ops->add_absent : s->link_ops->add)(
            link->filter, open.keys, open.n, open.verdicts, &ndone);
    }
    for (size_t i = 0; status == UNSEEN_OK && i < open.n; i++) {
        verdicts[open.at[i]] = open.verdicts[i];
        link->nkeys += open.verdicts[i] == UNSEEN_NEW;
    }
    return status;
}

static enum unseen_status add_batches(struct scalable *s, bool absent_only,
                                      const struct unseen_key *keys, size_t n, uint8_t *verdicts,
                                      size_t *ndone_out)
{
    enum unseen_status status = UNSEEN_OK;
    size_t done = 0;
    while (done < n && status == UNSEEN_OK) {
        if (room_of(newest(s)) == 0 && (status = append_link(s)) != UNSEEN_OK) {
            break;
        }
        const uint64_t room = room_of(newest(s));
        size_t count = n - done < BATCH ? n - done : BATCH;
        count = count < room ? count : (size_t)room;
        status = scalable_add_batch(s, absent_only, keys + done, count, verdicts + done);
        done += status == UNSEEN_OK ? count : 0;
    }
    s->nsecured -= n < s->nsecured ? n : s->nsecured;
    *ndone_out = done;
    return status;
}

static enum unseen_status scalable_add(struct unseen__filter *filter, const struct unseen_key *keys,
                                       size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    return add_batches(scalable_from(filter), false, keys, n, verdicts, ndone_out);
}

static enum unseen_status scalable_add_absent(struct unseen__filter *filter,
                                              const struct unseen_key *keys, size_t n,
                                              uint8_t *verdicts, size_t *ndone_out)
{
    return add_batches(scalable_from(filter), true, keys, n, verdicts, ndone_out);
}

/* The one link that has a key; NULL if no link or several links seem to have it. *is_seen_out is
 * true if any does. */
static struct link *holder_of(struct scalable *s, struct unseen_key key, bool *is_seen_out)
{
    struct link *holder = NULL;
    unsigned nholders = 0;
    for (unsigned i = s->nlinks; i-- > 0;) {
        uint8_t verdict;
        s->link_ops->contains(s->links[i].filter, &key, 1, &verdict);
        if (verdict == UNSEEN_SEEN) {
            holder = &s->links[i];
            nholders++;
        }
    }
    *is_seen_out = nholders > 0;
    return nholders == 1 ? holder : NULL;
}

static void scalable_remove(struct unseen__filter *filter, const struct unseen_key *keys, size_t n,
                            uint8_t *verdicts)
{
    struct scalable *s = scalable_from(filter);
    for (size_t i = 0; i < n; i++) {
        const struct unseen_key key = link_key(s, keys[i]);
        bool is_seen;
        struct link *holder = holder_of(s, key, &is_seen);
        verdicts[i] = is_seen ? UNSEEN_SEEN : UNSEEN_NEW;
        if (holder) {
            uint8_t after;
            s->link_ops->remove(holder->filter, &key, 1, &verdicts[i]);
            s->link_ops->contains(holder->filter, &key, 1, &after);
            holder->nkeys -= after == UNSEEN_NEW && holder->nkeys > 0;
        }
    }
}

/* ---- numbers ---- */

static uint64_t scalable_nkeys(const struct unseen__filter *filter)
{
    const struct scalable *s = scalable_from_const(filter);
    uint64_t n = 0;
    for (unsigned i = 0; i < s->nlinks; i++) {
        n += s->links[i].nkeys;
    }
    return n;
}

static void scalable_stats(const struct unseen__filter *filter, struct unseen_set_stats *stats)
{
    const struct scalable *s = scalable_from_const(filter);
    stats->memory += sizeof(*s);
    for (unsigned i = 0; i < s->nlinks + s->has_spare; i++) {
        struct unseen_set_stats link = {0};
        s->link_ops->stats(s->links[i].filter, &link);
        stats->nkeys += s->links[i].nkeys;
        stats->nslots += link.nslots;
        stats->memory += link.memory;
        stats->fill += link.fill;
        stats->hashes = link.hashes;
    }
    stats->fpr_promise = s->fpr;
}

/* Link i of each chain of a set is part i. */
static void scalable_tally(const struct unseen__filter *filter, struct unseen__tally_part *parts)
{
    const struct scalable *s = scalable_from_const(filter);
    for (unsigned i = 0; i < s->nlinks; i++) {
        s->link_ops->tally(s->links[i].filter, &parts[i]);
    }
}

/* Plans the links of a chain that has grown to nkeys keys. Returns their number, or 0 if a link
 * cannot be planned. */
static unsigned plan_links(const struct unseen_plan *plan,
                           const struct unseen__filter_ops *link_ops, double nkeys,
                           struct unseen_plan *links)
{
    double before = 0;
    unsigned n = 0;
    for (uint64_t capacity = FIRST_CAPACITY; n < LINKS_MAX && (n == 0 || before < nkeys);
         capacity *= 2) {
        links[n] = (struct unseen_plan){.fpr = link_rate(plan->fpr, n), .capacity = capacity};
        if (link_ops->plan(&links[n]) != UNSEEN_OK) {
            return 0;
        }
        if (links[n].bits == 0) {
            break; /* too large for a plan */
        }
        before += (double)capacity;
        n++;
    }
    return n;
}

static enum unseen_status scalable_plan(struct unseen_plan *plan,
                                        const struct unseen__filter_ops *link_ops)
{
    struct unseen_plan links[LINKS_MAX];
    const double nkeys = plan->capacity ? (double)plan->capacity : FAR;
    double bits = 0;
    double room = 0;
    if (plan->bits_per_key > 0 || plan->bits || plan->hashes || plan->lines) {
        return UNSEEN_ERR_UNSUPPORTED;
    }
    const unsigned n = plan_links(plan, link_ops, nkeys, links);
    if (n == 0 || !can_grow_far(plan->fpr, link_ops)) {
        return UNSEEN_ERR_FPR;
    }
    for (unsigned i = 0; i < n; i++) {
        bits += (double)links[i].bits;
        room += (double)links[i].capacity;
    }
    if (room < nkeys || bits > PLANNED_MAX) {
        return UNSEEN_ERR_ARGUMENT;
    }
    plan->hashes = links[n - 1].hashes;
    plan->lines = links[n - 1].lines;
    /* Without a number of keys, all links count as full; else the last may be half empty. */
    plan->bits_per_key = bits / (plan->capacity ? nkeys : room);
    plan->bits = plan->capacity ? (uint64_t)bits : 0;
    return UNSEEN_OK;
}

/* The number n of keys that come to this link until it is full. The link counts only the keys that
 * it takes for new; of each next key it takes a share, its rate, for seen. So n - (integral of rate
 * over 0..n) = capacity. Solved by one step of Newton's method from n = capacity, with Simpson's
 * rule. */
static double keys_to_fill(const struct unseen_plan *link,
                           const struct unseen__filter_ops *link_ops)
{
    static const double weights[] = {0, 4, 2, 4, 1};
    const double capacity = (double)link->capacity;
    double rate = 0;
    double sum = 0;
    for (int i = 1; i <= 4; i++) {
        rate = link_ops->plan_rate(link, capacity * i / 4);
        sum += weights[i] * rate;
    }
    return capacity + capacity * sum / 12 / (1 - rate);
}

/* A key that an older link takes for seen does not come to the newest link. So the more keys the
 * chain has, the slower it fills. */
static double scalable_plan_rate(const struct unseen_plan *plan, double nkeys,
                                 const struct unseen__filter_ops *link_ops)
{
    struct unseen_plan links[LINKS_MAX];
    const unsigned n = plan_links(plan, link_ops, nkeys, links);
    double right = 1; /* the probability that no older link answers wrong */
    double wrong = 0; /* that one does */
    for (unsigned i = 0; i < n && nkeys > 0; i++) {
        const double most = keys_to_fill(&links[i], link_ops);
        const double coming = fmin(nkeys * right, most);
        const double rate = link_ops->plan_rate(&links[i], coming);
        nkeys -= most / right;
        wrong += right * rate;
        right *= 1 - rate;
    }
    return wrong;
}

/* ---- pieces ----
 *
 * A piece of a link, after a head that names the filter and the link and has the parameters of the
 * link.
 *
 *     0  1  kind: 1            16  8  keys in the link
 *     1  1  link, from 0       24  8  reserved: 0
 *     2  6  reserved: 0        32 32  the link's parameters
 *     8  8  prefix             64     a piece of the link */

static size_t scalable_save_piece(const struct unseen__filter *filter, uint64_t *position,
                                  uint8_t *buf)
{
    const struct scalable *s = scalable_from_const(filter);
    uint64_t link = *position >> LINK_POSITION_BITS;
    uint64_t at = *position & (((uint64_t)1 << LINK_POSITION_BITS) - 1);
    for (; link < s->nlinks; link++, at = 0) {
        const struct link *l = &s->links[link];
        const size_t len = s->link_ops->save_piece(l->filter, &at, buf + UNSEEN__LINK_HEAD);
        *position = link << LINK_POSITION_BITS | at;
        if (len) {
            memset(buf, 0, UNSEEN__LINK_HEAD);
            buf[0] = PIECE_LINK;
            buf[1] = (uint8_t)link;
            store_le64(buf + 8, s->prefix);
            store_le64(buf + 16, l->nkeys);
            s->link_ops->save_params(l->filter, buf + 32);
            return UNSEEN__LINK_HEAD + len;
        }
    }
    return 0;
}

static bool scalable_owns_piece(const struct unseen__filter *filter, const uint8_t *piece,
                                size_t len)
{
    return len > UNSEEN__LINK_HEAD && load_le64(piece + 8) == scalable_from_const(filter)->prefix;
}

/* Finds the link of a piece. The first piece of a link makes the link; the others must have the
 * same parameters. */
static enum unseen_status find_link(struct scalable *s, const uint8_t *piece,
                                    struct link **link_out)
{
    if (piece[0] != PIECE_LINK || piece[1] >= LINKS_MAX || load_le64(piece) >> 16 != 0 ||
        load_le64(piece + 24) != 0) {
        return UNSEEN_ERR_CORRUPT;
    }
    struct link *link = &s->links[piece[1]];
    struct unseen__filter_params params = link_params(s);
    params.saved = piece + 32;
    params.saved_nkeys = load_le64(piece + 16);
    params.saved_max = s->saved_max;
    if (!link->filter) {
        enum unseen_status status = s->link_ops->create(&link->filter, &params);
        if (status != UNSEEN_OK) {
            return status;
        }
        link->nkeys = params.saved_nkeys;
        s->nlinks = piece[1] >= s->nlinks ? piece[1] + 1u : s->nlinks;
    }
    uint8_t same[UNSEEN__PARAMS_LEN] = {0};
    s->link_ops->save_params(link->filter, same);
    *link_out = link;
    return memcmp(same, params.saved, sizeof(same)) == 0 && link->nkeys == params.saved_nkeys
               ? UNSEEN_OK
               : UNSEEN_ERR_CORRUPT;
}

static enum unseen_status scalable_load_piece(struct unseen__filter *filter, const uint8_t *piece,
                                              size_t len)
{
    struct scalable *s = scalable_from(filter);
    struct link *link;
    enum unseen_status status = find_link(s, piece, &link);
    piece += UNSEEN__LINK_HEAD;
    len -= UNSEEN__LINK_HEAD;
    if (status != UNSEEN_OK) {
        return status;
    }
    return s->link_ops->owns_piece(link->filter, piece, len)
               ? s->link_ops->load_piece(link->filter, piece, len)
               : UNSEEN_ERR_CORRUPT;
}

/* A link has at least the slots that any filter with its rate needs for its capacity: the next link
 * is made for twice as many keys, so a capacity that a file made up would decide its memory. */
static bool is_link(const struct scalable *s, unsigned i)
{
    struct unseen_set_stats numbers = {0};
    s->link_ops->stats(s->links[i].filter, &numbers);
    return (double)numbers.nslots >= -log2(link_rate(s->fpr, i)) * (double)numbers.capacity;
}

static enum unseen_status scalable_load_finish(struct unseen__filter *filter)
{
    struct scalable *s = scalable_from(filter);
    for (unsigned i = 0; i < s->nlinks; i++) {
        struct link *link = &s->links[i];
        const enum unseen_status status =
            link->filter ? s->link_ops->load_finish(link->filter) : UNSEEN_ERR_CORRUPT;
        if (status != UNSEEN_OK) {
            return status;
        }
        if (!is_link(s, i)) {
            return UNSEEN_ERR_CORRUPT;
        }
        struct unseen_set_stats numbers = {0};
        s->link_ops->stats(link->filter, &numbers);
        link->capacity = numbers.capacity;
    }
    return s->nlinks > 0 ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

/* ---- one table of operations for each kind of link ---- */

#define SCALABLE(ops_name, text, abilities_, link_ops_, remove_, add_absent_)                      \
    static enum unseen_status create_##ops_name(struct unseen__filter **filter_out,                \
                                                const struct unseen__filter_params *params)        \
    {                                                                                              \
        return scalable_create(filter_out, params, &unseen__##ops_name##_ops, &link_ops_);         \
    }                                                                                              \
    static bool takes_##ops_name(double fpr)                                                       \
    {                                                                                              \
        return can_grow_far(fpr, &link_ops_);                                                      \
    }                                                                                              \
    static enum unseen_status plan_##ops_name(struct unseen_plan *p)                               \
    {                                                                                              \
        return scalable_plan(p, &link_ops_);                                                       \
    }                                                                                              \
    static double rate_##ops_name(const struct unseen_plan *p, double nkeys)                       \
    {                                                                                              \
        return scalable_plan_rate(p, nkeys, &link_ops_);                                           \
    }                                                                                              \
    const struct unseen__filter_ops unseen__##ops_name##_ops = {                                   \
        .name = text,                                                                              \
        .abilities = abilities_,                                                                   \
        .takes_rate = takes_##ops_name,                                                            \
        .shard_bits = scalable_shard_bits,                                                         \
        .create = create_##ops_name,                                                               \
        .free = scalable_free,                                                                     \
        .add = scalable_add,                                                                       \
        .add_absent = add_absent_,                                                                 \
        .contains = scalable_contains,                                                             \
        .remove = remove_,                                                                         \
        .secure = scalable_secure,                                                                 \
        .nkeys = scalable_nkeys,                                                                   \
        .stats = scalable_stats,                                                                   \
        .tally = scalable_tally,                                                                   \
        .save_params = scalable_save_params,                                                       \
        .save_piece = scalable_save_piece,                                                         \
        .owns_piece = scalable_owns_piece,                                                         \
        .load_piece = scalable_load_piece,                                                         \
        .load_finish = scalable_load_finish,                                                       \
        .plan = plan_##ops_name,                                                                   \
        .plan_rate = rate_##ops_name,                                                              \
    };

SCALABLE(scalable, "scalable", UNSEEN_CAN_GROW, unseen__block_ops, NULL, NULL)
SCALABLE(scalable_bloom, "scalable-bloom", UNSEEN_CAN_GROW, unseen__bloom_ops, NULL, NULL)
SCALABLE(scalable_counting, "scalable-count", UNSEEN_CAN_GROW | UNSEEN_CAN_REMOVE,
         unseen__counting_ops, scalable_remove, scalable_add_absent)
