/* SPDX-License-Identifier: MIT
 *
 * Keys come in any order and are parted by their top bits (spill.h). Then a layer is built: shard
 * by shard the keys are read back, sorted and made distinct, and as page and row are monotone in
 * the key, each page's keys are a run in the order of rows, and each block's a run in that. What
 * the pages bump goes, with new keys, to another spill, from which the next layer is built in the
 * same way. A layer gets about 4 % of the keys of the one before, so a few of them do; the last few
 * hundred keys are listed.
 *
 * Threads share a layer by taking turns at shards. A shard's pages stand behind those of the shard
 * before, so each waits with its number of pages until it is its turn to say where they are, and
 * then solves and writes them on its own: the bytes are the same for any number of threads. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#include "list/build.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "hash/key.h"
#include "list/page.h"
#include "list/sort.h"
#include "list/spill.h"
#include "list/state.h"

enum {
    SHARD_KEYS = 3 << 19, /* most keys of a shard: with far fewer, whole pages are too coarse */
    PART_KEYS = 1 << 17,  /* of a part, which is sorted in the second cache, */
    PART_BITS = 10,       /* unless there are too many or too few parts then */
    PART_BITS_MAX = 14,
    BUFFER_GOOD = 1 << 15, /* bytes of a part's buffer */
    NEXT_BITS = 8,         /* parts of the layers behind the first */
    KEY_BITS_MIN = 48,
    LEFT_MAX = UNSEEN__LIST_PAGE / 8, /* keys that take no more room in a row than on a page */
    BATCH_PAGES = 64,                 /* written at a time */
    THREADS_MAX = 256,
    NOTE_MAX = 1 << 24,
    SPILL_SHARE = 4, /* of the memory, for the buffers of the first layer's parts */
    NEXT_SHARE = 16,
    LATER_SHARE = 20 /* of the first layer's pages, what the others and the sections add */
};

/* So many keys for each row. Some are bumped, and the others leave fewer rows unused. */
static const double OVERLOAD = 1.045;

/* Keys that agree in all bits that are kept are one: at most this share of the rate. */
static const double COLLISIONS = 0.006;

struct unseen__list_builder {
    struct unseen_allocator allocator;
    struct unseen__list_header header;
    char *path;
    char *new_path;
    char *folder;
    uint64_t capacity;
    unsigned ntexts;
    size_t memory;
    unsigned threads;
    enum unseen_cpu cpu;
    struct unseen__spill *spill; /* of the layer to be built */
    struct unseen__spill *next;  /* of the one behind it */
    int fd;                      /* of new_path, or -1 */
    uint64_t npages;
    uint64_t size;  /* of the list, about */
    uint64_t *sums; /* of the pages */
    size_t sums_cap;
    uint32_t *table; /* numbers of pages of all shards */
    size_t nshards;
    bool (*progress)(void *context, uint64_t ndone, uint64_t n);
    void *context;

    bool keep;
    struct unseen__list_kept kept; /* if so */
    uint8_t *note;                 /* of the last checkpoint */
    size_t note_len;
    bool complete; /* that checkpoint was after the last key */
    bool failed;   /* a key was not taken, or a sync failed, after which another says nothing */
    bool finished;
};

/* ---- creation ---- */

uint32_t unseen__list_npages(const struct unseen__list_shape *shape, uint64_t nkeys)
{
    const double most = UNSEEN__LIST_ROWS * shape->blocks * OVERLOAD;
    const double npages = floor((double)nkeys / most + 0.5);
    return npages < 1 ? 1 : (uint32_t)npages;
}

static char *join(const struct unseen_allocator *allocator, const char *text, const char *suffix)
{
    const size_t len = strlen(text);
    const size_t suffix_len = strlen(suffix);
    char *result = unseen__alloc(allocator, len + suffix_len + 1, 1);
    if (result) {
        memcpy(result, text, len);
        memcpy(result + len, suffix, suffix_len + 1);
    }
    return result;
}

static void drop(const struct unseen_allocator *allocator, char *text)
{
    unseen__free(allocator, text, text ? strlen(text) + 1 : 0);
}

/* As many parts as make them fit the cache. */
static unsigned part_bits_for(uint64_t capacity)
{
    unsigned bits = PART_BITS;
    while (bits < PART_BITS_MAX && capacity >> bits > PART_KEYS) {
        bits++;
    }
    return bits;
}

/* The fewest bits of a key that keep the keys apart well enough, as whole bytes behind the part. */
static unsigned key_bits_for(uint64_t capacity, unsigned part_bits, double fpr)
{
    unsigned bits = 64;
    for (unsigned fewer = part_bits + 56; capacity > 0 && fewer >= KEY_BITS_MIN; fewer -= 8) {
        if (ldexp((double)capacity, -(int)fewer) <= COLLISIONS * fpr && fewer < bits) {
            bits = fewer;
        }
    }
    return bits;
}

/* What a list's header says from the beginning, and how the list will be found. */
static enum unseen_status take_plan(struct unseen__list_builder *b,
                                    const struct unseen__list_plan *plan)
{
    struct unseen__list_header *h = &b->header;
    b->allocator = plan->allocator;
    b->capacity = plan->capacity;
    b->ntexts = plan->ntexts;
    b->memory = plan->memory;
    b->threads = plan->threads;
    b->cpu = plan->cpu;
    b->keep = plan->keep;
    b->kept.keys = -1;
    b->fd = -1;
    h->seed = plan->seed ? *plan->seed : 0;
    h->fpr = plan->fpr;
    memcpy(h->profile, plan->profile, strlen(plan->profile));
    memcpy(h->kind, plan->kind, strlen(plan->kind));
    b->path = join(&b->allocator, plan->path, "");
    b->new_path = join(&b->allocator, plan->path, ".new");
    b->folder = join(&b->allocator, plan->folder, "");
    return b->path && b->new_path && b->folder ? UNSEEN_OK : UNSEEN_ERR_NOMEM;
}

/* Errors: NOMEM. */
static enum unseen_status new_builder(struct unseen__list_builder **builder_out,
                                      const struct unseen__list_plan *plan,
                                      struct unseen_error *error)
{
    struct unseen__list_builder *b =
        unseen__alloc_zero(&plan->allocator, sizeof(*b), _Alignof(max_align_t));
    const enum unseen_status status = b ? take_plan(b, plan) : UNSEEN_ERR_NOMEM;
    if (status != UNSEEN_OK) {
        unseen__list_builder_free(b);
        return unseen__error_status(error, status, plan->path);
    }
    *builder_out = b;
    return UNSEEN_OK;
}

/* The shape, and the spill of the first layer with buffers of memory bytes in all. */
static enum unseen_status prepare(struct unseen__list_builder *b, unsigned key_bits,
                                  unsigned part_bits, size_t memory, struct unseen_error *error)
{
    struct unseen__list_header *h = &b->header;
    h->key_bits = key_bits;
    enum unseen_status status = unseen__list_shape_for(
        h->fpr / b->ntexts - ldexp((double)b->capacity, -(int)key_bits), &h->shape);
    if (status == UNSEEN_OK) {
        status =
            unseen__spill_create(&b->spill, part_bits, key_bits, memory, b->folder, &b->allocator);
    }
    if (status == UNSEEN_OK) {
        unseen__spill_expect(b->spill, b->capacity);
    }
    return unseen__error_status(error, status, b->path);
}

static enum unseen_status begin(struct unseen__list_builder *b, struct unseen_error *error)
{
    unsigned part_bits = part_bits_for(b->capacity);
    const unsigned key_bits = key_bits_for(b->capacity, part_bits, b->header.fpr / b->ntexts);
    /* Writing and reading the disk in small pieces costs more than sorting in large ones. */
    const size_t buffers = b->memory / SPILL_SHARE;
    while (part_bits > PART_BITS && buffers >> part_bits < BUFFER_GOOD) {
        part_bits--;
    }
    enum unseen_status status = prepare(b, key_bits, part_bits, buffers, error);
    if (status == UNSEEN_OK && b->keep) {
        status = unseen__list_kept_open(&b->kept, b->folder, true, &b->allocator, error);
        unseen__spill_keep(b->spill, b->kept.keys);
    }
    return status;
}

enum unseen_status unseen__list_builder_create(struct unseen__list_builder **builder_out,
                                               const struct unseen__list_plan *plan,
                                               struct unseen_error *error)
{
    struct unseen__list_builder *b = NULL;
    enum unseen_status status = new_builder(&b, plan, error);
    if (status == UNSEEN_OK && (status = begin(b, error)) != UNSEEN_OK) {
        unseen__list_builder_free(b);
    }
    if (status == UNSEEN_OK) {
        *builder_out = b;
    }
    return status;
}

void unseen__list_builder_keep(struct unseen__list_builder *b)
{
    b->finished = false;
}

void unseen__list_builder_free(struct unseen__list_builder *b)
{
    if (!b) {
        return;
    }
    const struct unseen_allocator allocator = b->allocator;
    if (b->fd >= 0) {
        (void)unlink(b->new_path); /* before it is closed, so that the lock still holds */
        (void)close(b->fd);
    }
    unseen__spill_free(b->spill);
    unseen__spill_free(b->next);
    if (b->keep && b->kept.keys >= 0) {
        if (b->finished) {
            unseen__list_kept_remove(&b->kept);
        }
        unseen__list_kept_release(&b->kept);
    }
    unseen__free(&allocator, b->note, b->note_len);
    unseen__free(&allocator, b->sums, b->sums_cap * sizeof(*b->sums));
    unseen__free(&allocator, b->table, b->nshards * sizeof(*b->table));
    drop(&allocator, b->path);
    drop(&allocator, b->new_path);
    drop(&allocator, b->folder);
    unseen__free(&allocator, b, sizeof(*b));
}

uint64_t unseen__list_builder_seed(const struct unseen__list_builder *b)
{
    return b->header.seed;
}

enum unseen_status unseen__list_builder_add(struct unseen__list_builder *b, const uint64_t *keys,
                                            size_t n, struct unseen_error *error)
{
    if (b->complete) {
        return unseen__error(error, UNSEEN_ERR_ARGUMENT, UNSEEN__NO_PLACE,
                             "%s: nothing can be added to a list that is being finished", b->path);
    }
    if (b->failed) {
        return unseen__error_status(error, UNSEEN_ERR_STOPPED, b->path);
    }
    const enum unseen_status status = unseen__spill_add(b->spill, keys, n, error);
    b->header.ngiven += n;
    b->failed = status != UNSEEN_OK;
    return status;
}

/* ---- checkpoints ---- */

struct unseen_bytes unseen__list_builder_note(const struct unseen__list_builder *b)
{
    return (struct unseen_bytes){(const char *)b->note, b->note_len};
}

bool unseen__list_builder_is_complete(const struct unseen__list_builder *b)
{
    return b->complete;
}

/* Keeps a copy of the note, which may be the copy itself. */
static enum unseen_status take_note(struct unseen__list_builder *b, const void *note, size_t len)
{
    uint8_t *copy = len ? unseen__alloc(&b->allocator, len, 1) : NULL;
    if (len && !copy) {
        return UNSEEN_ERR_NOMEM;
    }
    if (len) {
        memcpy(copy, note, len);
    }
    unseen__free(&b->allocator, b->note, b->note_len);
    b->note = copy;
    b->note_len = len;
    return UNSEEN_OK;
}

static enum unseen_status save_state(struct unseen__list_builder *b, bool complete,
                                     struct unseen_error *error)
{
    const struct unseen__list_header *h = &b->header;
    struct unseen__list_state state = {
        .complete = complete,
        .fpr = h->fpr,
        .seed = h->seed,
        .capacity = b->capacity,
        .ngiven = h->ngiven,
        .key_bits = h->key_bits,
        .part_bits = unseen__spill_part_bits(b->spill),
        .stride = (unsigned)unseen__spill_stride(b->spill),
        .ntexts = b->ntexts,
        .note = b->note,
        .note_len = b->note_len,
        .table_len = unseen__spill_table_len(b->spill),
    };
    memcpy(state.profile, h->profile, sizeof(state.profile));
    memcpy(state.kind, h->kind, sizeof(state.kind));
    uint8_t *table = unseen__alloc(&b->allocator, state.table_len + 1, 64);
    if (!table) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, b->folder);
    }
    unseen__spill_table(b->spill, table);
    state.table = table;
    const enum unseen_status status = unseen__list_kept_save(&b->kept, &state, error);
    unseen__free(&b->allocator, table, state.table_len + 1);
    return status;
}

/* First the keys, then the state that speaks of them. */
static enum unseen_status save(struct unseen__list_builder *b, const void *note, size_t note_len,
                               bool complete, struct unseen_error *error)
{
    enum unseen_status status = unseen__spill_save(b->spill, error);
    if (status == UNSEEN_OK) {
        status = unseen__error_status(error, take_note(b, note, note_len), b->folder);
    }
    if (status == UNSEEN_OK) {
        status = save_state(b, complete, error);
    }
    b->complete = status == UNSEEN_OK && complete;
    b->failed = status != UNSEEN_OK;
    return status;
}

enum unseen_status unseen__list_builder_checkpoint(struct unseen__list_builder *b, const void *note,
                                                   size_t note_len, struct unseen_error *error)
{
    if (!b->keep || b->complete || note_len > NOTE_MAX) {
        return unseen__error_status(error, UNSEEN_ERR_ARGUMENT, b->path);
    }
    return b->failed ? unseen__error_status(error, UNSEEN_ERR_STOPPED, b->path)
                     : save(b, note, note_len, false, error);
}

/* The option that is not as it was; NULL: none. */
static const char *other_option(const struct unseen__list_state *state,
                                const struct unseen__list_plan *plan)
{
    return state->fpr != plan->fpr || state->ntexts != plan->ntexts ? "rate"
           : state->capacity != plan->capacity                      ? "capacity"
           : strcmp(state->profile, plan->profile) != 0             ? "profile"
           : strcmp(state->kind, plan->kind) != 0                   ? "kind of entries"
           : plan->seed && *plan->seed != state->seed               ? "seed"
                                                                    : NULL;
}

static enum unseen_status take_state(struct unseen__list_builder *b,
                                     const struct unseen__list_plan *plan,
                                     const struct unseen__list_state *state,
                                     struct unseen_error *error)
{
    const char *other = other_option(state, plan);
    if (other) {
        return unseen__error(error, UNSEEN_ERR_MISMATCH, UNSEEN__NO_PLACE,
                             "%s was begun with another %s", b->folder, other);
    }
    b->header.seed = state->seed;
    b->header.ngiven = state->ngiven;
    b->complete = state->complete;
    enum unseen_status status = take_note(b, state->note, state->note_len);
    if (status != UNSEEN_OK) {
        return unseen__error_status(error, status, b->folder);
    }
    status = prepare(b, state->key_bits, state->part_bits,
                     (size_t)state->stride << state->part_bits, error);
    return status == UNSEEN_OK
               ? unseen__spill_resume(b->spill, b->kept.keys, state->table, state->table_len, error)
               : status;
}

static enum unseen_status resume(struct unseen__list_builder *b,
                                 const struct unseen__list_plan *plan, struct unseen_error *error)
{
    struct unseen__list_state state;
    uint8_t *bytes = NULL;
    size_t len = 0;
    enum unseen_status status =
        unseen__list_kept_open(&b->kept, b->folder, false, &b->allocator, error);
    if (status == UNSEEN_OK) {
        status = unseen__list_kept_load(&b->kept, &state, &bytes, &len, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    status = take_state(b, plan, &state, error);
    unseen__free(&b->allocator, bytes, len);
    return status;
}

enum unseen_status unseen__list_builder_resume(struct unseen__list_builder **builder_out,
                                               const struct unseen__list_plan *plan,
                                               struct unseen_error *error)
{
    struct unseen__list_builder *b = NULL;
    enum unseen_status status = new_builder(&b, plan, error);
    if (status == UNSEEN_OK && (status = resume(b, plan, error)) != UNSEEN_OK) {
        unseen__list_builder_free(b);
    }
    if (status == UNSEEN_OK) {
        *builder_out = b;
    }
    return status;
}

/* ---- a layer ---- */

/* What the threads share that build a layer. A unit is a shard, or some in a row: what has the keys
 * of one or several whole parts. */
struct run {
    struct unseen__list_builder *builder;
    unsigned shard_bits;
    unsigned unit_bits;
    uint32_t *table; /* of this layer */
    uint64_t nkeys;  /* in the spill */

    pthread_mutex_t lock;
    pthread_cond_t placed;
    size_t next_unit;
    size_t nplaced; /* units that have their place */
    uint64_t ndone;
    uint64_t ndistinct;
    enum unseen_status status;
    struct unseen_error error;
};

/* What a thread has of its own. */
struct worker {
    struct run *run;
    struct unseen__list_solver *solver;
    size_t cap; /* of both arrays */
    uint64_t *keys;
    uint64_t *other; /* for sorting, then for what is bumped */
    size_t nbumped;
    size_t page_cap; /* keys of a page that is worth solving */
    uint32_t *bumped;
    uint8_t *pages; /* BATCH_PAGES of them */
};

static enum unseen_status fail_run(struct run *run, enum unseen_status status,
                                   const struct unseen_error *error)
{
    pthread_mutex_lock(&run->lock);
    if (run->status == UNSEEN_OK) {
        run->status = status;
        run->error = *error;
    }
    pthread_cond_broadcast(&run->placed);
    pthread_mutex_unlock(&run->lock);
    return status;
}

/* Memory for keys, in huge pages if it is as large as some. */
static uint64_t *take_keys(const struct unseen_allocator *allocator, size_t cap)
{
    uint64_t *keys = unseen__alloc(allocator, cap * sizeof(*keys), 64);
    const size_t len = cap * sizeof(*keys);
    for (size_t at = 0; keys && len % UNSEEN__HUGE_PAGE == 0 && at < len; at += UNSEEN__HUGE_PAGE) {
        unseen__memory_large(allocator, (uint8_t *)keys + at);
    }
    return keys;
}

/* Room for n keys in both arrays. */
static enum unseen_status make_room(struct worker *w, size_t n)
{
    const struct unseen_allocator *allocator = &w->run->builder->allocator;
    const size_t huge = UNSEEN__HUGE_PAGE / sizeof(uint64_t);
    if (n < w->cap) {
        return UNSEEN_OK;
    }
    unseen__free(allocator, w->keys, w->cap * sizeof(*w->keys));
    unseen__free(allocator, w->other, w->cap * sizeof(*w->other));
    const size_t cap = n < huge ? n + 1 : (n + n / 16 + huge) / huge * huge;
    w->cap = 0;
    w->keys = take_keys(allocator, cap);
    w->other = take_keys(allocator, cap);
    if (!w->keys || !w->other) {
        unseen__free(allocator, w->keys, cap * sizeof(*w->keys));
        unseen__free(allocator, w->other, cap * sizeof(*w->other));
        w->keys = NULL;
        w->other = NULL;
        return UNSEEN_ERR_NOMEM;
    }
    w->cap = cap;
    return UNSEEN_OK;
}

/* Reads the unit's parts, and sorts each: they are in order. */
static enum unseen_status read_unit(struct worker *w, size_t unit, size_t *n_out,
                                    struct unseen_error *error)
{
    struct unseen__list_builder *b = w->run->builder;
    const unsigned more_bits = unseen__spill_part_bits(b->spill) - w->run->unit_bits;
    const size_t first = unit << more_bits;
    const size_t end = (unit + 1) << more_bits;
    uint64_t n = 0;
    for (size_t part = first; part < end; part++) {
        n += unseen__spill_count(b->spill, part);
    }
    enum unseen_status status = n < UINT32_MAX ? make_room(w, (size_t)n) : UNSEEN_ERR_NOMEM;
    if (status != UNSEEN_OK) {
        return unseen__error_status(error, status, b->path);
    }
    uint64_t *keys = w->keys;
    for (size_t part = first; part < end && status == UNSEEN_OK; part++) {
        const size_t count = (size_t)unseen__spill_count(b->spill, part);
        status = unseen__spill_read(b->spill, part, keys, error);
        if (status == UNSEEN_OK) {
            keys += unseen__sort_distinct(keys, w->other, count, unseen__spill_part_bits(b->spill));
        }
    }
    *n_out = (size_t)(keys - w->keys);
    pthread_mutex_lock(&w->run->lock);
    w->run->ndone += n;
    pthread_mutex_unlock(&w->run->lock);
    return status;
}

/* Where the keys of a shard end that begins at `from`. */
static size_t shard_end(const uint64_t *keys, size_t from, size_t n, unsigned shard_bits,
                        size_t shard)
{
    if (shard_bits == 0) {
        return n;
    }
    size_t low = from;
    size_t high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (keys[middle] >> (64 - shard_bits) <= shard) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Waits for the unit's turn, and says which pages are its shards'. */
static enum unseen_status place_unit(struct worker *w, size_t unit, size_t n, uint64_t *first_out)
{
    struct run *run = w->run;
    struct unseen__list_builder *b = run->builder;
    const unsigned more_bits = run->shard_bits - run->unit_bits;
    size_t at = 0;
    pthread_mutex_lock(&run->lock);
    while (run->status == UNSEEN_OK && run->nplaced != unit) {
        pthread_cond_wait(&run->placed, &run->lock);
    }
    const enum unseen_status status = run->status;
    *first_out = b->npages;
    for (size_t s = unit << more_bits; status == UNSEEN_OK && s < (unit + 1) << more_bits; s++) {
        const size_t end = shard_end(w->keys, at, n, run->shard_bits, s);
        run->table[s] = unseen__list_npages(&b->header.shape, end - at);
        b->npages += run->table[s];
        at = end;
    }
    run->ndistinct += n;
    run->nplaced++;
    pthread_cond_broadcast(&run->placed);
    pthread_mutex_unlock(&run->lock);
    return status;
}

/* Makes the page of keys whose blocks end there. */
static void make_page(struct worker *w, const uint64_t *keys, const uint32_t *ends, uint8_t *page)
{
    const struct unseen__list_shape *shape = &w->run->builder->header.shape;
    const size_t n = ends[shape->blocks - 1];
    if (n > w->page_cap) {
        unseen__list_page_bump_all(shape, page);
        for (size_t i = 0; i < n; i++) {
            w->other[w->nbumped++] = unseen__list_next_key(keys[i]);
        }
        return;
    }
    size_t nbumped = 0;
    unseen__list_solve(w->solver, keys, ends, page, w->bumped, &nbumped);
    for (size_t i = 0; i < nbumped; i++) {
        w->other[w->nbumped++] = unseen__list_next_key(keys[w->bumped[i]]);
    }
}

/* Of the list: on a full disk with the size that it would have had. */
static enum unseen_status write_error(const struct unseen__list_builder *b, int code,
                                      struct unseen_error *error)
{
    return code == ENOSPC || code == EDQUOT
               ? unseen__error(error, UNSEEN_ERR_IO, UNSEEN__NO_PLACE,
                               "cannot write %s: no space: the list needs about %llu MiB",
                               b->new_path, (unsigned long long)((b->size >> 20) + 1))
               : unseen__error_io(error, "write", b->new_path, code);
}

static enum unseen_status write_pages(struct worker *w, uint64_t first, size_t n,
                                      struct unseen_error *error)
{
    struct unseen__list_builder *b = w->run->builder;
    for (size_t i = 0; i < n; i++) {
        b->sums[first + i] = unseen__checksum(w->pages + i * UNSEEN__LIST_PAGE, UNSEEN__LIST_PAGE);
    }
    const int code = unseen__file_write(b->fd, UNSEEN__LIST_HEADER_LEN + first * UNSEEN__LIST_PAGE,
                                        w->pages, n * UNSEEN__LIST_PAGE);
    return code ? write_error(b, code, error) : UNSEEN_OK;
}

/* Makes a shard's pages, from page `first` of the file on, and writes them. */
static enum unseen_status make_shard(struct worker *w, const uint64_t *keys, size_t n,
                                     uint32_t npages, uint64_t first, struct unseen_error *error)
{
    const struct unseen__list_shape *shape = &w->run->builder->header.shape;
    size_t at = 0;
    for (uint32_t page = 0; page < npages; page++) {
        uint32_t ends[UNSEEN__LIST_BLOCKS_MAX];
        const size_t slot = page % BATCH_PAGES;
        unseen__list_part(shape, keys + at, n - at, w->run->shard_bits, npages, page, ends);
        make_page(w, keys + at, ends, w->pages + slot * UNSEEN__LIST_PAGE);
        at += ends[shape->blocks - 1];
        if (slot == BATCH_PAGES - 1 || page == npages - 1) {
            const enum unseen_status status = write_pages(w, first + page - slot, slot + 1, error);
            if (status != UNSEEN_OK) {
                return status;
            }
        }
    }
    return UNSEEN_OK;
}

/* Hands on what the unit's pages have bumped, and says how far things are. */
static enum unseen_status end_unit(struct worker *w, struct unseen_error *error)
{
    struct run *run = w->run;
    struct unseen__list_builder *b = run->builder;
    pthread_mutex_lock(&run->lock);
    enum unseen_status status = unseen__spill_add(b->next, w->other, w->nbumped, error);
    if (status == UNSEEN_OK && b->progress && b->header.nlayers == 0 &&
        !b->progress(b->context, run->ndone, run->nkeys)) {
        status = unseen__error(error, UNSEEN_ERR_STOPPED, UNSEEN__NO_PLACE,
                               "%s: stopped before it was done", b->path);
    }
    pthread_mutex_unlock(&run->lock);
    return status;
}

static enum unseen_status make_unit(struct worker *w, size_t unit, struct unseen_error *error)
{
    struct run *run = w->run;
    const unsigned more_bits = run->shard_bits - run->unit_bits;
    size_t n = 0;
    uint64_t first = 0;
    enum unseen_status status = read_unit(w, unit, &n, error);
    if (status != UNSEEN_OK || (status = place_unit(w, unit, n, &first)) != UNSEEN_OK) {
        return status;
    }
    size_t at = 0;
    w->nbumped = 0;
    for (size_t s = unit << more_bits; s < (unit + 1) << more_bits; s++) {
        const size_t end = shard_end(w->keys, at, n, run->shard_bits, s);
        status = make_shard(w, w->keys + at, end - at, run->table[s], first, error);
        if (status != UNSEEN_OK) {
            return status;
        }
        first += run->table[s];
        at = end;
    }
    return end_unit(w, error);
}

static void worker_release(struct worker *w)
{
    const struct unseen_allocator *allocator = &w->run->builder->allocator;
    unseen__list_solver_free(w->solver);
    unseen__free(allocator, w->keys, w->cap * sizeof(*w->keys));
    unseen__free(allocator, w->other, w->cap * sizeof(*w->other));
    unseen__free(allocator, w->bumped, (w->page_cap + 1) * sizeof(*w->bumped));
    unseen__free(allocator, w->pages, (size_t)BATCH_PAGES * UNSEEN__LIST_PAGE);
}

static enum unseen_status worker_init(struct worker *w, struct run *run)
{
    const struct unseen__list_builder *b = run->builder;
    *w = (struct worker){.run = run};
    w->page_cap = (size_t)UNSEEN__LIST_ROWS * b->header.shape.blocks * 2;
    w->bumped = unseen__alloc(&b->allocator, (w->page_cap + 1) * sizeof(*w->bumped), 64);
    w->pages = unseen__alloc(&b->allocator, (size_t)BATCH_PAGES * UNSEEN__LIST_PAGE, 64);
    if (!w->bumped || !w->pages) {
        return UNSEEN_ERR_NOMEM;
    }
    return unseen__list_solver_create(&w->solver, &b->header.shape, w->page_cap, b->cpu,
                                      &b->allocator);
}

static void *work(void *context)
{
    struct run *run = context;
    struct worker w;
    struct unseen_error error;
    enum unseen_status status =
        unseen__error_status(&error, worker_init(&w, run), run->builder->path);
    while (status == UNSEEN_OK) {
        pthread_mutex_lock(&run->lock);
        const size_t unit = run->next_unit++;
        status = run->status;
        pthread_mutex_unlock(&run->lock);
        if (status != UNSEEN_OK || unit >> run->unit_bits != 0) {
            break;
        }
        status = make_unit(&w, unit, &error);
    }
    if (status != UNSEEN_OK) {
        (void)fail_run(run, status, &error); /* keeps the first one */
    }
    worker_release(&w);
    return NULL;
}

/* As many threads as there is memory for the keys of the largest unit. */
static unsigned threads_for(const struct run *run)
{
    const struct unseen__list_builder *b = run->builder;
    const size_t nunits = (size_t)1 << run->unit_bits;
    const uint64_t unit_bytes = (run->nkeys / nunits + 1) * 2 * sizeof(uint64_t);
    uint64_t most = b->memory / 2 / unit_bytes;
    most = most < b->threads ? most : b->threads;
    most = most < nunits ? most : nunits;
    return most < 1 ? 1 : (unsigned)most;
}

/* Runs the threads; this one is the first of them. */
static void run_threads(struct run *run)
{
    pthread_t threads[THREADS_MAX];
    const unsigned wanted = threads_for(run);
    unsigned n = 0;
    /* A thread that cannot be made is one less. */
    while (n + 1 < wanted && pthread_create(&threads[n], NULL, work, run) == 0) {
        n++;
    }
    (void)work(run);
    for (unsigned i = 0; i < n; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

/* Grows an array of *cap elements of some size to hold new_cap, if that is more. */
static bool grow(const struct unseen_allocator *allocator, void **array, size_t *cap,
                 size_t new_cap, size_t size)
{
    if (new_cap <= *cap) {
        return true;
    }
    void *grown = unseen__alloc(allocator, new_cap * size, 64);
    if (!grown) {
        return false;
    }
    if (*cap) {
        memcpy(grown, *array, *cap * size);
    }
    unseen__free(allocator, *array, *cap * size);
    *array = grown;
    *cap = new_cap;
    return true;
}

/* Prepares what the threads fill in: numbers of pages, checksums, what is bumped. */
static enum unseen_status prepare_run(struct run *run)
{
    struct unseen__list_builder *b = run->builder;
    const size_t nshards = (size_t)1 << run->shard_bits;
    const size_t before = b->nshards;
    const uint64_t most = b->npages + nshards + unseen__list_npages(&b->header.shape, run->nkeys) +
                          nshards / 2; /* each shard rounds up by half a page at most */
    if (most > UINT32_MAX) {
        return UNSEEN_ERR_ARGUMENT;
    }
    void *sums = b->sums;
    void *table = b->table;
    const bool has_sums = grow(&b->allocator, &sums, &b->sums_cap, (size_t)most, sizeof(*b->sums));
    b->sums = sums;
    const bool has_table =
        has_sums && grow(&b->allocator, &table, &b->nshards, before + nshards, sizeof(*b->table));
    b->table = table;
    if (!has_table) {
        return UNSEEN_ERR_NOMEM;
    }
    run->table = b->table + before;
    return unseen__spill_create(&b->next, NEXT_BITS, 64, b->memory / NEXT_SHARE, b->folder,
                                &b->allocator);
}

static enum unseen_status make_layer(struct unseen__list_builder *b, struct unseen_error *error)
{
    struct run run = {.builder = b, .nkeys = unseen__spill_total(b->spill)};
    while (run.shard_bits < UNSEEN__LIST_SHARD_BITS_MAX &&
           run.nkeys >> run.shard_bits > SHARD_KEYS) {
        run.shard_bits++;
    }
    const unsigned part_bits = unseen__spill_part_bits(b->spill);
    run.unit_bits = run.shard_bits < part_bits ? run.shard_bits : part_bits;
    const uint64_t before = b->npages;
    if (b->header.nlayers == 0) {
        const uint64_t bytes =
            (uint64_t)unseen__list_npages(&b->header.shape, run.nkeys) * UNSEEN__LIST_PAGE;
        b->size = bytes + bytes / LATER_SHARE;
    }
    enum unseen_status status = unseen__error_status(error, prepare_run(&run), b->path);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (pthread_mutex_init(&run.lock, NULL) != 0) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, b->path);
    }
    if (pthread_cond_init(&run.placed, NULL) != 0) {
        pthread_mutex_destroy(&run.lock);
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, b->path);
    }
    run_threads(&run);
    pthread_cond_destroy(&run.placed);
    pthread_mutex_destroy(&run.lock);
    if (run.status != UNSEEN_OK) {
        if (error) {
            *error = run.error;
        }
        return run.status;
    }
    if (b->header.nlayers == 0) {
        b->header.ndistinct = run.ndistinct;
    }
    b->header.layers[b->header.nlayers++] =
        (struct unseen__list_layer_info){run.shard_bits, b->npages - before, run.ndistinct};
    unseen__spill_free(b->spill);
    b->spill = b->next;
    b->next = NULL;
    return UNSEEN_OK;
}

/* ---- the file ---- */

/* Makes PATH.new ours: a second builder would write to it, too, and the first put half of that in
 * place. */
static enum unseen_status open_new(struct unseen__list_builder *b, struct unseen_error *error)
{
    for (;;) {
        struct stat ours;
        struct stat named;
        int code = unseen__file_open(b->new_path, O_RDWR | O_CREAT, &b->fd);
        if (code != 0) {
            return unseen__error_io(error, "create", b->new_path, code);
        }
        if (flock(b->fd, LOCK_EX | LOCK_NB) != 0) {
            code = errno;
            (void)close(b->fd);
            b->fd = -1;
            return code == EWOULDBLOCK ? unseen__error(error, UNSEEN_ERR_BUSY, UNSEEN__NO_PLACE,
                                                       "another process is writing %s", b->new_path)
                                       : unseen__error_io(error, "lock", b->new_path, code);
        }
        if (fstat(b->fd, &ours) == 0 && stat(b->new_path, &named) == 0 &&
            ours.st_ino == named.st_ino && ours.st_dev == named.st_dev) {
            code = unseen__file_truncate(b->fd, 0);
            return code ? unseen__error_io(error, "write", b->new_path, code) : UNSEEN_OK;
        }
        (void)close(b->fd); /* it was renamed or removed since it was opened */
        b->fd = -1;
    }
}

/* The keys that no layer has: sorted, in memory of *cap_out keys. */
static enum unseen_status take_left(struct unseen__list_builder *b, uint64_t **keys_out,
                                    size_t *cap_out)
{
    const size_t cap = (size_t)unseen__spill_total(b->spill) + 1;
    uint64_t *keys = unseen__alloc(&b->allocator, 2 * cap * sizeof(*keys), 64);
    if (!keys) {
        return UNSEEN_ERR_NOMEM;
    }
    uint64_t *to = keys;
    *keys_out = keys;
    *cap_out = 2 * cap;
    for (size_t part = 0; part >> unseen__spill_part_bits(b->spill) == 0; part++) {
        const uint64_t n = unseen__spill_count(b->spill, part);
        const enum unseen_status status = unseen__spill_read(b->spill, part, to, NULL);
        if (status != UNSEEN_OK) {
            return status;
        }
        to += n;
    }
    b->header.nleft = unseen__sort_distinct(keys, keys + cap, (size_t)(to - keys), 0);
    if (b->header.nlayers == 0) {
        b->header.ndistinct = b->header.nleft;
    }
    return UNSEEN_OK;
}

/* The sections behind the pages, in *len_out bytes of memory. */
static uint8_t *make_sections(struct unseen__list_builder *b, const uint64_t *left,
                              const struct unseen__list_places *p, size_t *len_out)
{
    struct unseen__list_header *h = &b->header;
    const size_t len = (size_t)(p->end - p->table);
    const size_t left_at = (size_t)(p->left - p->table);
    const size_t groups_at = (size_t)(p->groups - p->table);
    uint8_t *bytes = unseen__alloc_zero(&b->allocator, len + 1, 64);
    if (!bytes) {
        return NULL;
    }
    for (size_t i = 0; i < p->nshards; i++) {
        store_le32(bytes + 4 * i, b->table[i]);
    }
    for (size_t i = 0; i < h->nleft; i++) {
        store_le64(bytes + left_at + 8 * i, left[i]);
    }
    for (size_t i = 0; i < p->ngroups; i++) {
        const uint64_t first = i * UNSEEN__LIST_GROUP;
        const uint64_t rest = p->npages - first;
        uint8_t sums[8 * UNSEEN__LIST_GROUP];
        const size_t n = rest < UNSEEN__LIST_GROUP ? (size_t)rest : UNSEEN__LIST_GROUP;
        for (size_t k = 0; k < n; k++) {
            store_le64(sums + 8 * k, b->sums[first + k]);
        }
        store_le64(bytes + groups_at + 8 * i, unseen__checksum(sums, 8 * n));
    }
    h->table_sum = unseen__checksum(bytes, left_at);
    h->left_sum = unseen__checksum(bytes + left_at, groups_at - left_at);
    h->group_sum = unseen__checksum(bytes + groups_at, len - groups_at);
    *len_out = len + 1;
    return bytes;
}

static enum unseen_status write_rest(struct unseen__list_builder *b, const uint64_t *left,
                                     struct unseen_error *error)
{
    uint8_t header[UNSEEN__LIST_HEADER_LEN];
    struct unseen__list_places places;
    size_t len = 0;
    uint8_t *bytes =
        unseen__list_places(&b->header, &places) ? make_sections(b, left, &places, &len) : NULL;
    if (!bytes) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, b->path);
    }
    unseen__list_header_encode(&b->header, header);
    int code = unseen__file_write(b->fd, places.table, bytes, len - 1);
    code = code ? code : unseen__file_write(b->fd, 0, header, sizeof(header));
    code = code ? code : unseen__file_sync(b->fd);
    code = code ? code : unseen__file_replace(b->new_path, b->path);
    unseen__free(&b->allocator, bytes, len);
    return code ? write_error(b, code, error) : UNSEEN_OK;
}

enum unseen_status unseen__list_builder_finish(struct unseen__list_builder *b,
                                               bool (*progress)(void *context, uint64_t ndone,
                                                                uint64_t n),
                                               void *context, struct unseen_error *error)
{
    b->progress = progress;
    b->context = context;
    enum unseen_status status =
        b->failed ? unseen__error_status(error, UNSEEN_ERR_STOPPED, b->path) : UNSEEN_OK;
    if (status == UNSEEN_OK && b->keep && !b->complete) {
        status = save(b, b->note, b->note_len, true, error);
    }
    if (status == UNSEEN_OK) {
        status = open_new(b, error);
    }
    while (status == UNSEEN_OK && unseen__spill_total(b->spill) > LEFT_MAX &&
           b->header.nlayers < UNSEEN__LIST_LAYERS_MAX) {
        status = make_layer(b, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    uint64_t *left = NULL;
    size_t left_cap = 0;
    status = unseen__error_status(error, take_left(b, &left, &left_cap), b->path);
    if (status == UNSEEN_OK) {
        status = write_rest(b, left, error);
    }
    unseen__free(&b->allocator, left, left_cap * sizeof(*left));
    if (status == UNSEEN_OK) {
        (void)close(b->fd); /* synced, and in place: there is nothing to unlink */
        b->fd = -1;
        b->finished = true;
    }
    return status;
}
