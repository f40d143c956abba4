/* SPDX-License-Identifier: MIT
 *
 * Small sets (unseen_small.h; docs/format.md, "Small sets"). A value is
 *
 *     byte 0   bits 0-2: layers; bit 3: 0; bits 4-5: form; bit 6: has a mark; bit 7: 0
 *     byte 1   form LAYERED: the code of the rate (parts.h); else log2 of the number of runs
 *     [2]      the mark, if there is one: only in memory
 *     then     the parts of each layer
 *
 * Form LAYERED. A layer keeps a hash of each of its keys. Layer i has 4^i runs, and is full with 64
 * keys for each run; then it is frozen, and layer i + 1 begins. A key is added to the last layer if
 * no layer has it. The hashes are so long that the full layers give the shares below of the rate.
 * Most small sets stay in the first layer, whose share is largest: it decides how many bytes 50
 * keys take. The others share what is left nearly evenly. (With a share that halves from layer to
 * layer, as in a chain without an end, the fifth layer would take 2.3 bits more for each key. Here
 * the chain has an end: unseen_small_grow goes on behind the last layer.)
 *
 * Forms NARROW and WIDE, for low rates. There is one layer, and it keeps as many bits of a key as
 * the compact filter has use for: a full layer is replayed into a compact set, and nothing is left
 * of the small one. The layer doubles its runs as it grows; no bit is lost by that. */
#include "small/small.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"

enum {
    LAYER_BITS = 7,
    MARK_BIT = 64,
    LATER_BITS = 0xc8, /* 0 in a saved value of this version */
    MARK_LEN = 2,
    FORM_SHIFT = 4,
    HEAD = 2,
    KEYS_PER_RUN = 64,     /* of a full layer */
    PREFIXES_PER_RUN = 24, /* of forms NARROW and WIDE: more runs are made */
    PREFIXES_LOG_RUNS_MAX = 9
};

/* 64 / share: the shares are 0.667, 0.130 and 3 times 0.067, in all 0.997. */
static const uint16_t inverse_shares[SMALL_LAYERS_MAX] = {96, 493, 958, 958, 958};

/* ---- the parts of a value ---- */

static unsigned prefix_bits_of(unsigned form)
{
    return form == SMALL_NARROW ? 40 : 47;
}

/* Sets the parts of layer i, whose bytes begin at start. */
static void set_parts(struct small *small, unsigned i, const uint8_t *start)
{
    struct parts *parts = &small->layers[i];
    parts->start = start;
    if (small->form == SMALL_LAYERED) {
        parts->log_runs = 2 * i;
        parts->universe = unseen__rate_universe(small->code, inverse_shares[i]);
    } else {
        parts->log_runs = small->code;
        parts->universe = (uint64_t)1 << (prefix_bits_of(small->form) - small->code);
    }
}

/* The bytes of the mark that a value has. */
static size_t mark_len(const uint8_t *bytes)
{
    return bytes[0] & MARK_BIT ? MARK_LEN : 0;
}

static void read_head(struct small *small, const uint8_t *bytes)
{
    small->nlayers = bytes[0] & LAYER_BITS;
    small->form = bytes[0] >> FORM_SHIFT & 3;
    small->code = bytes[1];
    small->len = HEAD + mark_len(bytes);
}

/* The size of the block of a value of len bytes. */
static size_t small_memory(size_t len)
{
    size_t step = 16;
    while (step * 32 <= len) {
        step *= 2;
    }
    return (len + step - 1) & ~(step - 1);
}

void unseen__small_read(struct small *small, const void *value)
{
    const uint8_t *bytes = value;
    read_head(small, bytes);
    for (unsigned i = 0; i < small->nlayers; i++) {
        set_parts(small, i, bytes + small->len);
        small->len += parts_len(&small->layers[i]);
    }
    small->end = bytes + small_memory(small->len);
}

/* The bits of a key's lo that forms NARROW and WIDE keep; the other bits are of hi. */
static unsigned low_bits_of(unsigned form)
{
    return form == SMALL_NARROW ? 17 : 16;
}

/* The number of a key in its run. */
static uint64_t number_of(const struct small *small, const struct parts *parts,
                          struct unseen_key key)
{
    if (small->form == SMALL_LAYERED) {
        return mul_high(key.hi << parts->log_runs, parts->universe);
    }
    const unsigned low = low_bits_of(small->form);
    const unsigned high = prefix_bits_of(small->form) - low;
    return ((key.hi >> (64 - high) << low) | (key.lo & (((uint64_t)1 << low) - 1))) &
           (parts->universe - 1);
}

struct unseen_key unseen__small_key(const struct small *small, size_t run, uint64_t number)
{
    const unsigned low = low_bits_of(small->form);
    const unsigned high = prefix_bits_of(small->form) - low;
    const uint64_t prefix = (uint64_t)run << (low + high - small->layers[0].log_runs) | number;
    return (struct unseen_key){.lo = prefix & (((uint64_t)1 << low) - 1),
                               .hi = prefix >> low << (64 - high)};
}

bool unseen__small_has(const struct small *small, struct unseen_key key)
{
    for (unsigned i = small->nlayers; i-- > 0;) {
        const struct parts *parts = &small->layers[i];
        if (parts_run_has(parts, parts_run_of(parts, key.hi), number_of(small, parts, key),
                          small->end)) {
            return true;
        }
    }
    return false;
}

/* ---- change ---- */

/* Replaces `old` bytes at `at` by new_len others, in a larger or smaller block if need be. */
static enum unseen_status splice(void **value, const struct small *small, size_t at, size_t old,
                                 const uint8_t *bytes, size_t new_len,
                                 const struct unseen_allocator *allocator)
{
    uint8_t *from = *value;
    uint8_t *to = from;
    const size_t tail = small->len - at - old;
    const size_t memory = small_memory(small->len);
    const size_t new_memory = small_memory(small->len - old + new_len);
    if (small->len - old + new_len > UNSEEN_SMALL_LEN_MAX + mark_len(from)) {
        return UNSEEN_ERR_SPACE; /* too long to be saved, and a mark is not saved */
    }
    if (new_memory != memory) {
        to = unseen__alloc(allocator, new_memory, UNSEEN_SMALL_ALIGN);
        if (!to) {
            return UNSEEN_ERR_NOMEM;
        }
        memcpy(to, from, at);
    }
    memmove(to + at + new_len, from + at + old, tail);
    if (new_len > 0) {
        memcpy(to + at, bytes, new_len);
    }
    if (to != from) {
        unseen__free(allocator, from, memory);
        *value = to;
    }
    return UNSEEN_OK;
}

/* A run with one number more, ready to be written. */
struct new_run {
    uint8_t bytes[RUN_BYTES + RUN_PAD];
    size_t len;
    unsigned n;
};

/* Returns false if the run cannot hold one number more. */
static bool make_run(struct new_run *made, const struct parts *parts, size_t run, uint64_t x,
                     const uint8_t *end)
{
    const unsigned n = parts->start[run];
    uint8_t copy[PARTS_RUN_BYTES + 1 + RUN_PAD];
    if (n == RUN_MAX) {
        return false;
    }
    made->n = n + 1;
    made->len = unseen__run_insert(made->bytes, parts_run_padded(parts, run, end, copy),
                                   parts_lens(parts)[run], n, parts->universe, x);
    return made->len <= PARTS_RUN_BYTES;
}

/* Adds a key to the last layer. *fits_out is false if its run has no room. */
static enum unseen_status add_to_layer(void **value, const struct small *small,
                                       struct unseen_key key, bool *fits_out,
                                       const struct unseen_allocator *allocator)
{
    const struct parts *parts = &small->layers[small->nlayers - 1];
    const size_t run = parts_run_of(parts, key.hi);
    struct new_run made;
    *fits_out = make_run(&made, parts, run, number_of(small, parts, key), small->end);
    if (!*fits_out) {
        return UNSEEN_OK;
    }
    const uint8_t *const before = *value;
    const size_t count_at = (size_t)(parts->start - before) + run;
    const size_t len_at = (size_t)(parts_lens(parts) - before) + run;
    const enum unseen_status status =
        splice(value, small, (size_t)(parts_run(parts, run) - before), parts_lens(parts)[run],
               made.bytes, made.len, allocator);
    if (status == UNSEEN_OK) {
        uint8_t *after = *value;
        after[count_at] = (uint8_t)made.n;
        after[len_at] = (uint8_t)made.len;
    }
    return status;
}

/* Begins the next layer with this key. */
static enum unseen_status begin_layer(void **value, const struct small *small,
                                      struct unseen_key key,
                                      const struct unseen_allocator *allocator)
{
    uint8_t bytes[2 * SMALL_RUNS_MAX + PARTS_RUN_BYTES] = {0};
    struct small next = *small;
    if (small->nlayers == SMALL_LAYERS_MAX) {
        return UNSEEN_ERR_SPACE;
    }
    set_parts(&next, small->nlayers, bytes);
    const struct parts *parts = &next.layers[small->nlayers];
    const size_t nruns = parts_runs(parts);
    const size_t run = parts_run_of(parts, key.hi);
    struct new_run made;
    if (!make_run(&made, parts, run, number_of(small, parts, key), bytes + sizeof(bytes))) {
        return UNSEEN_ERR_SPACE; /* an empty run has room for one number */
    }
    bytes[run] = 1;
    bytes[nruns + run] = (uint8_t)made.len;
    memcpy(bytes + 2 * nruns, made.bytes, made.len);
    const enum unseen_status status =
        splice(value, small, small->len, 0, bytes, 2 * nruns + made.len, allocator);
    if (status == UNSEEN_OK) {
        (*(uint8_t **)value)[0]++;
    }
    return status;
}

/* Writes the parts of `from` with each run cut into two. Returns their length; writes nothing if
 * `to` is NULL. The universe is a power of two. Returns 0 if a half has no room in a run: if all
 * numbers are in one half, it is up to a bit for two numbers longer than the whole. Random numbers
 * never are, but those of a value that was loaded may be. */
static size_t halve_runs(const struct parts *from, uint8_t *to)
{
    const size_t nruns = parts_runs(from);
    const uint64_t half = from->universe / 2;
    size_t at = 4 * nruns;
    for (size_t run = 0; run < nruns; run++) {
        uint64_t numbers[RUN_MAX];
        const unsigned n = from->start[run];
        (void)unseen__parts_decode(from, run, numbers);
        unsigned cut = 0;
        while (cut < n && numbers[cut] < half) {
            cut++;
        }
        for (unsigned i = cut; i < n; i++) {
            numbers[i] -= half;
        }
        for (unsigned side = 0; side < 2; side++) {
            const uint64_t *mine = numbers + (side ? cut : 0);
            const unsigned count = side ? n - cut : cut;
            const size_t len = unseen__run_len(mine, count, half);
            if (len > PARTS_RUN_BYTES) {
                return 0;
            }
            if (to) {
                to[2 * run + side] = (uint8_t)count;
                to[2 * nruns + 2 * run + side] = (uint8_t)len;
                unseen__run_encode(to + at, len, mine, count, half);
            }
            at += len;
        }
    }
    return at;
}

/* Doubles the number of runs of a value with prefixes. The old value stays, beside the new one. */
static enum unseen_status double_runs(void **value, const struct small *small,
                                      const struct unseen_allocator *allocator)
{
    const struct parts *parts = &small->layers[0];
    if (parts->log_runs == PREFIXES_LOG_RUNS_MAX) {
        return UNSEEN_ERR_SPACE;
    }
    const uint8_t *before = *value;
    const size_t head = (size_t)(parts->start - before);
    const size_t new_parts = halve_runs(parts, NULL);
    const size_t len = head + new_parts;
    if (new_parts == 0 || len > UNSEEN_SMALL_LEN_MAX + mark_len(before)) {
        return UNSEEN_ERR_SPACE;
    }
    const size_t memory = small_memory(len);
    uint8_t *to = unseen__alloc(allocator, memory, UNSEEN_SMALL_ALIGN);
    if (!to) {
        return UNSEEN_ERR_NOMEM;
    }
    memcpy(to, before, head);
    to[1]++;
    (void)halve_runs(parts, to + head);
    *value = to;
    return UNSEEN_OK;
}

/* Adds a key to a value with prefixes. Doubles the runs until the key fits. An error leaves the
 * value as it was, because a copy that never gets the key must have the same bytes. */
static enum unseen_status add_prefix(void **value, struct small *small, struct unseen_key key,
                                     const struct unseen_allocator *allocator)
{
    void *const before = *value;
    const size_t before_memory = small_memory(small->len);
    enum unseen_status status = UNSEEN_OK;
    bool is_doubled = false;
    bool fits = false;
    if (parts_count(&small->layers[0]) >= SMALL_PREFIXES_MAX) {
        return UNSEEN_ERR_SPACE;
    }
    while (status == UNSEEN_OK && !fits) {
        const struct parts *parts = &small->layers[0];
        fits = parts_count(parts) < parts_runs(parts) * PREFIXES_PER_RUN;
        if (fits) {
            status = add_to_layer(value, small, key, &fits, allocator);
        }
        if (!fits) {
            void *const last = *value;
            const size_t last_memory = small_memory(small->len);
            status = double_runs(value, small, allocator);
            if (status == UNSEEN_OK && last != before) {
                unseen__free(allocator, last, last_memory);
            }
            is_doubled = is_doubled || status == UNSEEN_OK;
            unseen__small_read(small, *value);
        }
    }
    if (is_doubled && status == UNSEEN_OK) {
        unseen__free(allocator, before, before_memory);
    } else if (is_doubled) {
        unseen__free(allocator, *value, small_memory(small->len));
        *value = before;
    }
    return status;
}

/* Adds a key that no layer has. */
static enum unseen_status add_new(void **value, struct small *small, struct unseen_key key,
                                  const struct unseen_allocator *allocator)
{
    const struct parts *last = &small->layers[small->nlayers - 1];
    enum unseen_status status = UNSEEN_OK;
    bool fits = parts_count(last) < parts_runs(last) * KEYS_PER_RUN;
    if (small->form != SMALL_LAYERED) {
        return add_prefix(value, small, key, allocator);
    }
    if (fits) {
        status = add_to_layer(value, small, key, &fits, allocator);
    }
    return fits ? status : begin_layer(value, small, key, allocator);
}

/* ---- the rate ---- */

/* The promise of a value with layers, whose own rate has this code, and with what follows them. The
 * promises of SMALL_LINKS_CODE_MAX and of the code behind it are 9.7e-4 and 8.2e-4. */
static double promise_of(unsigned code)
{
    const double rate = unseen__rate_of_code(code);
    return code <= SMALL_LINKS_CODE_MAX ? rate / (1 - SMALL_LINKS_SHARE) : rate + SMALL_REST;
}

/* The code of the layers for a promise. */
static unsigned code_of(double promise)
{
    const unsigned code = unseen__rate_code(promise * (1 - SMALL_LINKS_SHARE));
    if (code <= SMALL_LINKS_CODE_MAX) {
        return code;
    }
    const unsigned alone = unseen__rate_code(promise - SMALL_REST);
    return alone > SMALL_LINKS_CODE_MAX ? alone : SMALL_LINKS_CODE_MAX + 1;
}

/* ---- the interface ---- */

enum unseen_status unseen_small_create(void **value_out, double fpr,
                                       const struct unseen_allocator *given)
{
    const struct unseen_allocator allocator = unseen__allocator(given);
    const double rate = fpr == 0 ? UNSEEN_FPR_DEFAULT : fpr;
    if (!(rate > 0 && rate < 1)) {
        return UNSEEN_ERR_ARGUMENT;
    }
    if (rate < UNSEEN_FPR_DEFAULT) {
        return UNSEEN_ERR_FPR;
    }
    uint8_t *bytes = unseen__alloc(&allocator, small_memory(HEAD + 2), UNSEEN_SMALL_ALIGN);
    if (!bytes) {
        return UNSEEN_ERR_NOMEM;
    }
    unsigned form = SMALL_LAYERED;
    unsigned code = 0;
    if (rate >= SMALL_LAYERED_RATE_MIN) {
        code = code_of(rate);
    } else {
        form = rate >= SMALL_REST ? SMALL_NARROW : SMALL_WIDE;
    }
    memset(bytes, 0, HEAD + 2);
    bytes[0] = (uint8_t)(form << FORM_SHIFT | 1);
    bytes[1] = (uint8_t)code;
    *value_out = bytes;
    return UNSEEN_OK;
}

void unseen_small_free(void *value, const struct unseen_allocator *given)
{
    if (value) {
        const struct unseen_allocator allocator = unseen__allocator(given);
        unseen__free(&allocator, value, small_memory(unseen_small_len(value)));
    }
}

enum unseen_status unseen_small_add(void **value, const struct unseen_key *keys, size_t n,
                                    uint8_t *verdicts, size_t *ndone_out,
                                    const struct unseen_allocator *given)
{
    const struct unseen_allocator allocator = unseen__allocator(given);
    enum unseen_status status = UNSEEN_OK;
    struct small small;
    size_t done = 0;
    unseen__small_read(&small, *value);
    while (done < n) {
        const bool is_seen = unseen__small_has(&small, keys[done]);
        if (!is_seen) {
            status = add_new(value, &small, keys[done], &allocator);
            if (status != UNSEEN_OK) {
                break;
            }
            unseen__small_read(&small, *value);
        }
        verdicts[done++] = is_seen ? UNSEEN_SEEN : UNSEEN_NEW;
    }
    if (ndone_out) {
        *ndone_out = done;
    }
    return status;
}

void unseen_small_contains(const void *value, const struct unseen_key *keys, size_t n,
                           uint8_t *verdicts)
{
    struct small small;
    unseen__small_read(&small, value);
    for (size_t i = 0; i < n; i++) {
        verdicts[i] = unseen__small_has(&small, keys[i]) ? UNSEEN_SEEN : UNSEEN_NEW;
    }
}

size_t unseen_small_len(const void *value)
{
    struct small small;
    unseen__small_read(&small, value);
    return small.len;
}

/* Whether the parts of a layer end within `room` bytes, and each run is sound. */
static bool parts_are_sound(const struct parts *parts, size_t room)
{
    if (room < 2 * parts_runs(parts) || room < parts_len(parts)) {
        return false;
    }
    for (size_t run = 0; run < parts_runs(parts); run++) {
        uint64_t numbers[RUN_MAX];
        if (!unseen__parts_decode(parts, run, numbers)) {
            return false;
        }
    }
    return true;
}

/* Whether the bytes are a value: what unseen__small_read takes for granted. */
static enum unseen_status check_value(const uint8_t *bytes, size_t len)
{
    struct small small;
    if (len < HEAD || len > UNSEEN_SMALL_LEN_MAX) {
        return UNSEEN_ERR_CORRUPT;
    }
    if (bytes[0] & LATER_BITS) {
        return UNSEEN_ERR_VERSION;
    }
    read_head(&small, bytes);
    const bool is_layered = small.form == SMALL_LAYERED;
    if (small.form > SMALL_WIDE || small.nlayers == 0 || small.len > len ||
        small.nlayers > (is_layered ? SMALL_LAYERS_MAX : 1) ||
        small.code < (is_layered ? 2 : 0) || /* a promise of 1 or more */
        small.code > (is_layered ? SMALL_CODE_MAX : PREFIXES_LOG_RUNS_MAX)) {
        return UNSEEN_ERR_CORRUPT;
    }
    for (unsigned i = 0; i < small.nlayers; i++) {
        set_parts(&small, i, bytes + small.len);
        if (!parts_are_sound(&small.layers[i], len - small.len)) {
            return UNSEEN_ERR_CORRUPT;
        }
        small.len += parts_len(&small.layers[i]);
    }
    return small.len == len ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

enum unseen_status unseen_small_load(void **value_out, const void *data, size_t len,
                                     const struct unseen_allocator *given)
{
    const struct unseen_allocator allocator = unseen__allocator(given);
    const enum unseen_status status = check_value(data, len);
    if (status != UNSEEN_OK) {
        return status;
    }
    void *value = unseen__alloc(&allocator, small_memory(len), UNSEEN_SMALL_ALIGN);
    if (!value) {
        return UNSEEN_ERR_NOMEM;
    }
    memcpy(value, data, len);
    *value_out = value;
    return UNSEEN_OK;
}

static double fpr_promise(const struct small *small)
{
    switch (small->form) {
    case SMALL_LAYERED:
        return promise_of(small->code);
    case SMALL_NARROW:
        return SMALL_REST;
    default:
        return UNSEEN_FPR_DEFAULT;
    }
}

enum unseen_status unseen_small_stats(const void *value, struct unseen_small_stats *stats_out)
{
    struct small small;
    unseen__small_read(&small, value);
    struct unseen_small_stats stats = {.size = sizeof(stats),
                                       .len = small.len,
                                       .memory = small_memory(small.len),
                                       .fpr_promise = fpr_promise(&small),
                                       .nlayers = small.nlayers};
    for (unsigned i = 0; i < small.nlayers; i++) {
        const struct parts *parts = &small.layers[i];
        const size_t count = parts_count(parts);
        stats.nkeys += count;
        stats.fpr_estimate += (double)count / (double)parts_runs(parts) / (double)parts->universe;
    }
    return unseen__sized_give(stats_out, &stats, sizeof(stats));
}

enum unseen_status unseen_small_set_mark(void **value, uint16_t mark,
                                         const struct unseen_allocator *given)
{
    const struct unseen_allocator allocator = unseen__allocator(given);
    uint8_t bytes[MARK_LEN];
    struct small small;
    unseen__small_read(&small, *value);
    store_le16(bytes, mark);
    const enum unseen_status status =
        splice(value, &small, HEAD, mark_len(*value), bytes, mark ? MARK_LEN : 0, &allocator);
    if (status == UNSEEN_OK) {
        uint8_t *head = *value;
        head[0] = (uint8_t)((head[0] & ~MARK_BIT) | (mark ? MARK_BIT : 0));
    }
    return status;
}

uint16_t unseen_small_mark(const void *value)
{
    const uint8_t *bytes = value;
    return mark_len(bytes) ? load_le16(bytes + HEAD) : 0;
}

size_t unseen_small_save(const void *value, void *buf)
{
    const uint8_t *from = value;
    uint8_t *to = buf;
    const size_t mark = mark_len(from);
    const size_t len = unseen_small_len(from) - mark;
    to[0] = (uint8_t)(from[0] & ~MARK_BIT);
    to[1] = from[1];
    memcpy(to + HEAD, from + HEAD + mark, len - HEAD);
    return len;
}
