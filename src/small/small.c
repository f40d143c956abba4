/* SPDX-License-Identifier: MIT
 *
 * Small sets (unseen_small.h; docs/format.md, "Small sets"). A value is
 *
 *     byte 0   bits 0-2: layers; bit 3: counts; bits 4-5: form; bit 6: has a mark; bit 7: 0
 *     byte 1   forms LAYERED and SIZED: the code of the rate (parts.h); else log2 of the number of
 *              runs
 *     [2]      the mark, if there is one: only in memory
 *     [1]      form SIZED: the first layer; bits 0-3: log2 of its runs; bits 4-7: (keys of a full
 *              run - 20) / 3
 *     [6]      if it counts: how many keys were removed, 4 bytes; the number of repeats, 2 bytes
 *     then     the parts of each layer
 *     then     the repeats: each a key, hi and lo, and how often it was added beyond its copies, 4
 *              bytes
 *
 * Form LAYERED. A layer keeps a hash of each of its keys. Layer i has 4^i runs, and is full with 64
 * keys for each run; then it is frozen, and layer i + 1 begins. A key is added to the last layer if
 * no layer has it. The hashes are so long that the full layers give the shares below of the rate.
 * Most small sets stay in the first layer, whose share is largest: it decides how many bytes 50
 * keys take. The others share what is left nearly evenly. (With a share that halves from layer to
 * layer, as in a chain without an end, the fifth layer would take 2.3 bits more for each key. Here
 * the chain has an end: unseen_small_grow goes on behind the last layer.)
 *
 * Form SIZED is form LAYERED with a first layer for as many keys as are reserved; layer i has 2^i
 * times its runs, and the shares are those of a set that may be filled a few times over.
 *
 * A value that counts is a multiset. A key that is added again gets a copy of its hash, in the same
 * layer; beyond COPIES the whole key stands among the repeats. Why a removal loses no other key: a
 * key is added to a layer only if no older layer has its hash, and an older layer never gets a new
 * hash. So the oldest layer that has the hash is the one the key is in, and in one layer equal
 * hashes stand for each other. A removal takes a repeat of that very key first. A key may have
 * nothing but repeats: the copies that were there when it came were of another key.
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
    COUNTS_BIT = 8,
    LATER_BITS = 0xc0, /* 0 in a saved value of this version */
    MARK_LEN = 2,
    FORM_SHIFT = 4,
    HEAD = 2,
    KEYS_PER_RUN = 64,       /* of a full layer, */
    TIGHT_KEYS_PER_RUN = 40, /* and where hashes are so long that 64 often have no room in a run */
    SIZED_LEN = 1,
    SIZED_KEYS_MIN = 20, /* of a run of the first layer, and the steps above it */
    SIZED_KEYS_STEP = 3,
    SIZED_KEYS_MAX = 62, /* that are chosen, so that few runs are longer than PARTS_RUN_BYTES */
    COUNTS_LEN = 6,
    COPIES = 3, /* as in compact_count.c */
    REPEAT_LEN = 20,
    REPEATS_MAX = 100,
    SIZED_CAPACITY_MIN = 192,
    SIZED_LOG_RUNS_MAX = 9,
    PREFIXES_PER_RUN = 24, /* of forms NARROW and WIDE: more runs are made */
    PREFIXES_LOG_RUNS_MAX = 9
};

/* 64 / share: the shares are 0.667, 0.130 and 3 times 0.067, in all 0.997. */
static const uint16_t inverse_shares[SMALL_LAYERS_MAX] = {96, 493, 958, 958, 958};

/* Of form SIZED: 0.640, 0.240, 0.070 and 2 times 0.025. */
static const uint16_t sized_inverse_shares[SMALL_LAYERS_MAX] = {100, 267, 914, 2560, 2560};

/* ---- the parts of a value ---- */

static unsigned prefix_bits_of(unsigned form)
{
    return form == SMALL_NARROW ? 40 : 47;
}

static bool is_layered(unsigned form)
{
    return form == SMALL_LAYERED || form == SMALL_SIZED;
}

/* log2 of the runs of layer i. */
static unsigned log_runs_of(const struct small *small, unsigned i)
{
    return small->form == SMALL_SIZED ? (small->sized & 15) + i : 2 * i;
}

/* The keys of a run of layer i, on average, when the layer is full. */
static unsigned keys_per_run(const struct small *small, unsigned i)
{
    if (i == 0 && small->form == SMALL_SIZED) {
        return SIZED_KEYS_MIN + SIZED_KEYS_STEP * (small->sized >> 4);
    }
    return i > 0 && small->code >= SMALL_TIGHT_CODE ? TIGHT_KEYS_PER_RUN : KEYS_PER_RUN;
}

/* Sets the parts of layer i, whose bytes begin at start. */
static void set_parts(struct small *small, unsigned i, const uint8_t *start)
{
    struct parts *parts = &small->layers[i];
    parts->start = start;
    if (is_layered(small->form)) {
        const uint16_t *shares = small->form == SMALL_SIZED ? sized_inverse_shares : inverse_shares;
        const unsigned inverse = shares[i] * keys_per_run(small, i) + KEYS_PER_RUN - 1;
        parts->log_runs = log_runs_of(small, i);
        parts->universe = unseen__rate_universe(small->code, inverse / KEYS_PER_RUN);
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

/* The length of the head with these first bytes. */
static size_t head_len(const uint8_t *bytes)
{
    const bool is_sized = (bytes[0] >> FORM_SHIFT & 3) == SMALL_SIZED;
    return HEAD + mark_len(bytes) + (is_sized ? SIZED_LEN : 0) +
           (bytes[0] & COUNTS_BIT ? COUNTS_LEN : 0);
}

/* All bytes of the head are there. */
static void read_head(struct small *small, const uint8_t *bytes)
{
    small->nlayers = bytes[0] & LAYER_BITS;
    small->form = bytes[0] >> FORM_SHIFT & 3;
    small->code = bytes[1];
    small->sized = small->form == SMALL_SIZED ? bytes[HEAD + mark_len(bytes)] : 0;
    small->len = head_len(bytes);
    small->counts = (bytes[0] & COUNTS_BIT) != 0;
    small->nremoved = small->counts ? load_le32(bytes + small->len - COUNTS_LEN) : 0;
    small->nrepeats = small->counts ? load_le16(bytes + small->len - 2) : 0;
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
    small->repeats = bytes + small->len;
    small->len += (size_t)REPEAT_LEN * small->nrepeats;
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
    if (is_layered(small->form)) {
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

static bool layer_has(const struct small *small, unsigned i, struct unseen_key key)
{
    const struct parts *parts = &small->layers[i];
    return parts_run_has(parts, parts_run_of(parts, key.hi), number_of(small, parts, key),
                         small->end);
}

/* The repeat of a key; NULL: there is none. */
static const uint8_t *repeat_of(const struct small *small, struct unseen_key key)
{
    for (unsigned i = 0; i < small->nrepeats; i++) {
        const uint8_t *repeat = small->repeats + (size_t)REPEAT_LEN * i;
        if (load_le64(repeat) == key.hi && load_le64(repeat + 8) == key.lo) {
            return repeat;
        }
    }
    return NULL;
}

bool unseen__small_has(const struct small *small, struct unseen_key key)
{
    for (unsigned i = small->nlayers; i-- > 0;) {
        if (layer_has(small, i, key)) {
            return true;
        }
    }
    return repeat_of(small, key) != NULL;
}

/* The oldest layer that has a key; nlayers: none has it. */
static unsigned oldest_layer(const struct small *small, struct unseen_key key)
{
    unsigned i = 0;
    while (i < small->nlayers && !layer_has(small, i, key)) {
        i++;
    }
    return i;
}

/* The numbers of a key's run. Returns how many there are; *at_out is the first that is the key's,
 * and *copies_out how many are. */
static unsigned read_run(const struct small *small, const struct parts *parts,
                         struct unseen_key key, uint64_t *numbers, unsigned *at_out,
                         unsigned *copies_out)
{
    const size_t run = parts_run_of(parts, key.hi);
    const uint64_t number = number_of(small, parts, key);
    const unsigned n = parts->start[run];
    (void)unseen__parts_decode(parts, run, numbers);
    *at_out = *copies_out = 0;
    for (unsigned i = 0; i < n; i++) {
        *at_out += numbers[i] < number;
        *copies_out += numbers[i] == number;
    }
    return n;
}

static unsigned copies_in(const struct small *small, unsigned layer, struct unseen_key key)
{
    uint64_t numbers[RUN_MAX];
    unsigned at;
    unsigned copies;
    (void)read_run(small, &small->layers[layer], key, numbers, &at, &copies);
    return copies;
}

struct unseen_key unseen__small_repeat(const struct small *small, unsigned i, uint32_t *count_out)
{
    const uint8_t *repeat = small->repeats + (size_t)REPEAT_LEN * i;
    *count_out = load_le32(repeat + 16);
    return (struct unseen_key){.hi = load_le64(repeat), .lo = load_le64(repeat + 8)};
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

/* Puts a run in the place of another. */
static enum unseen_status put_run(void **value, const struct small *small,
                                  const struct parts *parts, size_t run, const struct new_run *made,
                                  const struct unseen_allocator *allocator)
{
    const uint8_t *const before = *value;
    const size_t count_at = (size_t)(parts->start - before) + run;
    const size_t len_at = (size_t)(parts_lens(parts) - before) + run;
    const enum unseen_status status =
        splice(value, small, (size_t)(parts_run(parts, run) - before), parts_lens(parts)[run],
               made->bytes, made->len, allocator);
    if (status == UNSEEN_OK) {
        uint8_t *after = *value;
        after[count_at] = (uint8_t)made->n;
        after[len_at] = (uint8_t)made->len;
    }
    return status;
}

/* Adds a key to a layer. *fits_out is false if its run has no room. */
static enum unseen_status add_to_layer(void **value, const struct small *small, unsigned layer,
                                       struct unseen_key key, bool *fits_out,
                                       const struct unseen_allocator *allocator)
{
    const struct parts *parts = &small->layers[layer];
    const size_t run = parts_run_of(parts, key.hi);
    struct new_run made;
    *fits_out = make_run(&made, parts, run, number_of(small, parts, key), small->end);
    return *fits_out ? put_run(value, small, parts, run, &made, allocator) : UNSEEN_OK;
}

/* Begins the next layer with this key. */
static enum unseen_status begin_layer(void **value, const struct small *small,
                                      struct unseen_key key,
                                      const struct unseen_allocator *allocator)
{
    uint8_t bytes[2 * SMALL_RUNS_MAX + PARTS_RUN_BYTES] = {0};
    struct small next = *small;
    if (small->nlayers == SMALL_LAYERS_MAX ||
        (size_t)1 << log_runs_of(small, small->nlayers) > SMALL_RUNS_MAX) {
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
        splice(value, small, (size_t)(small->repeats - (const uint8_t *)*value), 0, bytes,
               2 * nruns + made.len, allocator);
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
            status = add_to_layer(value, small, 0, key, &fits, allocator);
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
    bool fits = parts_count(last) < parts_runs(last) * keys_per_run(small, small->nlayers - 1);
    if (!is_layered(small->form)) {
        return add_prefix(value, small, key, allocator);
    }
    if (fits) {
        status = add_to_layer(value, small, small->nlayers - 1, key, &fits, allocator);
    }
    return fits ? status : begin_layer(value, small, key, allocator);
}

/* ---- values that count ---- */

static uint8_t *counts_of(void *value)
{
    return (uint8_t *)value + head_len(value) - COUNTS_LEN;
}

/* Adds a key once more, beyond its copies. */
static enum unseen_status add_repeat(void **value, const struct small *small, struct unseen_key key,
                                     const struct unseen_allocator *allocator)
{
    uint8_t bytes[REPEAT_LEN];
    const uint8_t *repeat = repeat_of(small, key);
    if (repeat) {
        uint8_t *count = (uint8_t *)*value + (repeat + 16 - (const uint8_t *)*value);
        const uint32_t n = load_le32(count);
        store_le32(count, n + (n < UINT32_MAX));
        return n < UINT32_MAX ? UNSEEN_OK : UNSEEN_ERR_SPACE;
    }
    if (small->nrepeats == REPEATS_MAX) {
        return UNSEEN_ERR_SPACE;
    }
    store_le64(bytes, key.hi);
    store_le64(bytes + 8, key.lo);
    store_le32(bytes + 16, 1);
    const enum unseen_status status =
        splice(value, small, small->len, 0, bytes, sizeof(bytes), allocator);
    if (status == UNSEEN_OK) {
        store_le16(counts_of(*value) + 4, (uint16_t)(small->nrepeats + 1));
    }
    return status;
}

/* Adds a key that is there once more. */
static enum unseen_status add_again(void **value, const struct small *small, struct unseen_key key,
                                    const struct unseen_allocator *allocator)
{
    const unsigned layer = oldest_layer(small, key);
    enum unseen_status status = UNSEEN_OK;
    bool fits =
        layer < small->nlayers && !repeat_of(small, key) && copies_in(small, layer, key) < COPIES;
    if (fits) {
        status = add_to_layer(value, small, layer, key, &fits, allocator);
    }
    return fits ? status : add_repeat(value, small, key, allocator);
}

/* Takes back one add of the repeat of a key. */
static enum unseen_status remove_repeat(void **value, const struct small *small,
                                        const uint8_t *repeat,
                                        const struct unseen_allocator *allocator)
{
    const size_t at = (size_t)(repeat - (const uint8_t *)*value);
    const uint32_t count = load_le32(repeat + 16);
    if (count > 1) {
        store_le32((uint8_t *)*value + at + 16, count - 1);
        return UNSEEN_OK;
    }
    const enum unseen_status status = splice(value, small, at, REPEAT_LEN, NULL, 0, allocator);
    if (status == UNSEEN_OK) {
        store_le16(counts_of(*value) + 4, (uint16_t)(small->nrepeats - 1));
    }
    return status;
}

/* Makes a value empty: its layers leave, but for one without keys. */
static enum unseen_status clear(void **value, const struct small *small,
                                const struct unseen_allocator *allocator)
{
    uint8_t *bytes = *value;
    struct small one = *small;
    const size_t at = head_len(bytes);
    const unsigned code = is_layered(small->form) ? small->code : 0;
    one.code = code;
    set_parts(&one, 0, bytes + at);
    const size_t nbytes = 2 * parts_runs(&one.layers[0]);
    static const uint8_t zeros[2 * SMALL_RUNS_MAX];
    const enum unseen_status status =
        splice(value, small, at, small->len - at, zeros, nbytes, allocator);
    if (status == UNSEEN_OK) {
        bytes = *value;
        bytes[0] = (uint8_t)((bytes[0] & ~LAYER_BITS) | 1);
        bytes[1] = (uint8_t)code;
    }
    return status;
}

/* Takes one hash of a key out of a layer. */
static enum unseen_status remove_from_layer(void **value, const struct small *small, unsigned layer,
                                            struct unseen_key key,
                                            const struct unseen_allocator *allocator)
{
    const struct parts *parts = &small->layers[layer];
    uint64_t numbers[RUN_MAX];
    struct new_run made;
    unsigned at;
    unsigned copies;
    made.n = read_run(small, parts, key, numbers, &at, &copies) - 1;
    memmove(numbers + at, numbers + at + 1, (made.n - at) * sizeof(*numbers));
    made.len = unseen__run_len(numbers, made.n, parts->universe);
    if (made.len > PARTS_RUN_BYTES) {
        return UNSEEN_ERR_SPACE; /* crowded numbers, which no hashes are: fewer take longer codes */
    }
    unseen__run_encode(made.bytes, made.len, numbers, made.n, parts->universe);
    return put_run(value, small, parts, parts_run_of(parts, key.hi), &made, allocator);
}

static size_t count_layers(const struct small *small)
{
    size_t n = 0;
    for (unsigned i = 0; i < small->nlayers; i++) {
        n += parts_count(&small->layers[i]);
    }
    return n;
}

enum unseen_status unseen_small_remove(void **value, struct unseen_key key, uint8_t *verdict,
                                       const struct unseen_allocator *given)
{
    const struct unseen_allocator allocator = unseen__allocator(given);
    struct small small;
    enum unseen_status status;
    unseen__small_read(&small, *value);
    const unsigned layer = oldest_layer(&small, key);
    const uint8_t *repeat = repeat_of(&small, key);
    if (is_layered(small.form) && !small.counts) {
        return UNSEEN_ERR_UNSUPPORTED;
    }
    if (layer == small.nlayers && !repeat) {
        *verdict = UNSEEN_NEW;
        return UNSEEN_OK;
    }
    if (repeat) {
        status = remove_repeat(value, &small, repeat, &allocator);
    } else if (count_layers(&small) == 1 && small.nrepeats == 0) {
        status = clear(value, &small, &allocator);
    } else {
        status = remove_from_layer(value, &small, layer, key, &allocator);
    }
    if (status == UNSEEN_OK) {
        *verdict = UNSEEN_SEEN;
        if (small.counts) {
            store_le32(counts_of(*value), small.nremoved + (small.nremoved < UINT32_MAX));
        }
    }
    return status;
}

uint64_t unseen_small_count(const void *value, struct unseen_key key)
{
    struct small small;
    unseen__small_read(&small, value);
    const unsigned layer = oldest_layer(&small, key);
    const uint8_t *repeat = repeat_of(&small, key);
    unsigned copies = layer < small.nlayers;
    if (copies && small.counts) {
        copies = copies_in(&small, layer, key);
    }
    return copies + (repeat ? load_le32(repeat + 16) : 0);
}

/* ---- the rate ---- */

/* The promise of a value with layers, whose own rate has this code, and with what follows them. The
 * promises of SMALL_LINKS_CODE_MAX and of the code behind it are 9.7e-4 and 8.2e-4. */
static double promise_of(unsigned code, bool counts)
{
    const double rate = unseen__rate_of_code(code);
    if (code >= SMALL_TIGHT_CODE) {
        return rate + UNSEEN_FPR_DEFAULT;
    }
    return code <= SMALL_LINKS_CODE_MAX && !counts ? rate / (1 - SMALL_LINKS_SHARE)
                                                   : rate + SMALL_REST;
}

/* The code of the layers for a promise. */
static unsigned code_of(double promise, bool counts)
{
    const unsigned code = unseen__rate_code(promise * (1 - SMALL_LINKS_SHARE));
    const unsigned alone = unseen__rate_code(promise - small_rest_of(promise));
    if (promise < SMALL_LAYERED_RATE_MIN) {
        return alone > SMALL_TIGHT_CODE ? alone : SMALL_TIGHT_CODE;
    }
    if (code <= SMALL_LINKS_CODE_MAX && !counts) {
        return code;
    }
    return counts || alone > SMALL_LINKS_CODE_MAX ? alone : SMALL_LINKS_CODE_MAX + 1;
}

/* ---- the interface ---- */

/* The first layer for a capacity, as byte 2 of form SIZED; 0: for so few keys form LAYERED is as
 * good. */
static unsigned sized_of(uint64_t capacity)
{
    unsigned log_runs = 0;
    if (capacity < SIZED_CAPACITY_MIN) {
        return 0;
    }
    while (log_runs < SIZED_LOG_RUNS_MAX && capacity > (uint64_t)SIZED_KEYS_MAX << log_runs) {
        log_runs++;
    }
    unsigned step = 0;
    while (SIZED_KEYS_MIN + SIZED_KEYS_STEP * step < SIZED_KEYS_MAX &&
           (uint64_t)(SIZED_KEYS_MIN + SIZED_KEYS_STEP * step) << log_runs < capacity) {
        step++;
    }
    return step << 4 | log_runs;
}

static enum unseen_status choose_form(const struct unseen_small_options *options, double rate,
                                      struct small *small)
{
    *small = (struct small){.form = SMALL_LAYERED, .nlayers = 1, .counts = options->counts};
    if (rate >= (options->capacity ? SMALL_SIZED_RATE_MIN : SMALL_LAYERED_RATE_MIN)) {
        small->code = code_of(rate, options->counts);
        small->sized = sized_of(options->capacity);
        small->form = small->sized ? SMALL_SIZED : SMALL_LAYERED;
        return UNSEEN_OK;
    }
    small->form = rate >= SMALL_REST ? SMALL_NARROW : SMALL_WIDE;
    return options->counts ? UNSEEN_ERR_UNSUPPORTED : UNSEEN_OK;
}

enum unseen_status unseen_small_create_with(void **value_out,
                                            const struct unseen_small_options *given)
{
    struct unseen_small_options options = {0};
    struct small small;
    if (unseen__sized_take(&options, sizeof(options), given, "unseen_small_options", NULL) !=
        UNSEEN_OK) {
        return UNSEEN_ERR_SIZE;
    }
    const struct unseen_allocator allocator = unseen__allocator(options.allocator);
    const double rate = options.fpr == 0 ? UNSEEN_FPR_DEFAULT : options.fpr;
    if (!(rate > 0 && rate < 1)) {
        return UNSEEN_ERR_ARGUMENT;
    }
    if (rate < UNSEEN_FPR_DEFAULT) {
        return UNSEEN_ERR_FPR;
    }
    const enum unseen_status status = choose_form(&options, rate, &small);
    if (status != UNSEEN_OK) {
        return status;
    }
    uint8_t head[HEAD + SIZED_LEN] = {
        (uint8_t)(small.form << FORM_SHIFT | 1 | (small.counts ? COUNTS_BIT : 0)),
        (uint8_t)small.code, (uint8_t)small.sized};
    const size_t len = head_len(head) + ((size_t)2 << (small.sized & 15));
    uint8_t *bytes = unseen__alloc(&allocator, small_memory(len), UNSEEN_SMALL_ALIGN);
    if (!bytes) {
        return UNSEEN_ERR_NOMEM;
    }
    memset(bytes, 0, len);
    memcpy(bytes, head, small.form == SMALL_SIZED ? HEAD + SIZED_LEN : HEAD);
    *value_out = bytes;
    return UNSEEN_OK;
}

enum unseen_status unseen_small_create(void **value_out, double fpr,
                                       const struct unseen_allocator *allocator)
{
    const struct unseen_small_options options = {
        .size = sizeof(options), .fpr = fpr, .allocator = allocator};
    return unseen_small_create_with(value_out, &options);
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
        if (!is_seen || small.counts) {
            status = is_seen ? add_again(value, &small, keys[done], &allocator)
                             : add_new(value, &small, keys[done], &allocator);
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

static bool repeats_are_sound(const uint8_t *repeats, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (load_le32(repeats + (size_t)REPEAT_LEN * i + 16) == 0) {
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
    if (head_len(bytes) > len) {
        return UNSEEN_ERR_CORRUPT;
    }
    read_head(&small, bytes);
    const bool has_layers = is_layered(small.form);
    if (small.nlayers == 0 || small.nlayers > (has_layers ? SMALL_LAYERS_MAX : 1) ||
        (has_layers && !(promise_of(small.code, small.counts) < 1)) ||
        small.code > (has_layers ? SMALL_CODE_MAX : PREFIXES_LOG_RUNS_MAX) ||
        (has_layers && (size_t)1 << log_runs_of(&small, small.nlayers - 1) > SMALL_RUNS_MAX) ||
        (small.counts && !has_layers) || small.nrepeats > REPEATS_MAX) {
        return UNSEEN_ERR_CORRUPT;
    }
    for (unsigned i = 0; i < small.nlayers; i++) {
        set_parts(&small, i, bytes + small.len);
        if (!parts_are_sound(&small.layers[i], len - small.len)) {
            return UNSEEN_ERR_CORRUPT;
        }
        small.len += parts_len(&small.layers[i]);
    }
    return len - small.len == (size_t)REPEAT_LEN * small.nrepeats &&
                   repeats_are_sound(bytes + small.len, small.nrepeats)
               ? UNSEEN_OK
               : UNSEEN_ERR_CORRUPT;
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
    case SMALL_SIZED:
        return promise_of(small->code, small->counts);
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
                                       .nlayers = small.nlayers,
                                       .nremoved = small.nremoved,
                                       .counts = small.counts};
    for (unsigned i = 0; i < small.nlayers; i++) {
        const struct parts *parts = &small.layers[i];
        const size_t count = parts_count(parts);
        stats.nkeys += count;
        stats.fpr_estimate += (double)count / (double)parts_runs(parts) / (double)parts->universe;
    }
    for (unsigned i = 0; i < small.nrepeats; i++) {
        uint32_t count;
        (void)unseen__small_repeat(&small, i, &count);
        stats.nkeys += count;
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
