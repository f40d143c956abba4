/* SPDX-License-Identifier: MIT
 *
 * Makes one layer of a list. Shard by shard, the keys are read back from the spill, sorted and made
 * distinct. Page and row rise with the key, so the keys of a page are one run of the sorted keys,
 * and the keys of a block one run of these. Keys that the pages bump get new values and go to
 * another spill; the next layer is built from that spill in the same way.
 *
 * Threads share a layer by taking turns at shards. The pages of a shard stand behind those of the
 * shard before. So a thread counts the pages of its shards, waits for its turn to place them in the
 * file, and then solves and writes them on its own. The bytes are the same for any number of
 * threads. */
#include "base/posix.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "hash/checksum.h"
#include "list/builder.h"
#include "list/page.h"
#include "list/sort.h"

enum {
    SHARD_KEYS = 3 << 19, /* most keys of a shard: with far fewer, whole pages are too coarse */
    NEXT_BITS = 8,        /* part bits of the spills behind the first */
    BATCH_PAGES = 64,     /* pages written at a time */
    NEXT_SHARE = 16,      /* the buffers of the next layer's parts take 1 / 16 of the memory */
    LATER_SHARE = 20      /* later layers and the sections add 1 / 20 to the first layer's pages */
};

/* What all threads of a layer share. A thread works on one unit at a time: a shard with one or more
 * parts of the spill, or a part with several shards. */
struct run {
    struct unseen_list_build *builder;
    unsigned shard_bits;
    unsigned unit_bits;
    uint32_t *table; /* the number of pages of each shard of this layer */
    uint64_t nkeys;  /* in the spill, repeated ones, too */

    pthread_mutex_t lock;
    pthread_cond_t placed;
    size_t next_unit;
    size_t nplaced; /* units whose pages have their place in the file */
    uint64_t ndone;
    uint64_t ndistinct;
    enum unseen_status status;
    struct unseen_error error;
};

/* What each thread has for itself. */
struct worker {
    struct run *run;
    struct unseen__list_solver *solver;
    size_t cap; /* of both arrays */
    uint64_t *keys;
    uint64_t *other; /* for sorting, then for bumped keys */
    size_t nbumped;
    size_t page_cap; /* a page with more keys bumps them all */
    uint32_t *bumped;
    uint8_t *pages; /* BATCH_PAGES pages */
};

static void fail_run(struct run *run, enum unseen_status status, const struct unseen_error *error)
{
    pthread_mutex_lock(&run->lock);
    if (run->status == UNSEEN_OK) {
        run->status = status;
        run->error = *error;
    }
    pthread_cond_broadcast(&run->placed);
    pthread_mutex_unlock(&run->lock);
}

/* Allocates room for keys, in huge pages if it is a whole number of them. */
static uint64_t *take_keys(const struct unseen_allocator *allocator, size_t cap)
{
    uint64_t *keys = unseen__alloc(allocator, cap * sizeof(*keys), 64);
    const size_t len = cap * sizeof(*keys);
    if (keys && len % UNSEEN__HUGE_PAGE == 0) {
        unseen__memory_large(allocator, keys, len);
    }
    return keys;
}

/* Makes room for n keys in both arrays. */
static enum unseen_status layer_make_room(struct worker *w, size_t n)
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

/* Reads the parts of a unit in order, and sorts each. */
static enum unseen_status read_unit(struct worker *w, size_t unit, size_t *n_out,
                                    struct unseen_error *error)
{
    struct unseen_list_build *b = w->run->builder;
    const unsigned more_bits = unseen__spill_part_bits(b->spill) - w->run->unit_bits;
    const size_t first = unit << more_bits;
    const size_t end = (unit + 1) << more_bits;
    uint64_t n = 0;
    for (size_t part = first; part < end; part++) {
        n += unseen__spill_count(b->spill, part);
    }
    enum unseen_status status = n < UINT32_MAX ? layer_make_room(w, (size_t)n) : UNSEEN_ERR_NOMEM;
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

/* The index at which the keys of a shard end; they begin at `from`. */
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

/* Waits for the turn of the unit, counts the pages of its shards, and stores the first page. */
static enum unseen_status place_unit(struct worker *w, size_t unit, size_t n, uint64_t *first_out)
{
    struct run *run = w->run;
    struct unseen_list_build *b = run->builder;
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
        run->table[s] = unseen__list_npages(&b->header.geometry, end - at);
        b->npages += run->table[s];
        at = end;
    }
    run->ndistinct += n;
    run->nplaced++;
    pthread_cond_broadcast(&run->placed);
    pthread_mutex_unlock(&run->lock);
    return status;
}

/* Makes one page; ends[i] is the index at which the keys of its block i end. */
static void make_page(struct worker *w, const uint64_t *keys, const uint32_t *ends, uint8_t *page)
{
    const struct unseen__list_geometry *geometry = &w->run->builder->header.geometry;
    const size_t n = ends[geometry->blocks - 1];
    if (n > w->page_cap) {
        unseen__list_page_bump_all(geometry, page);
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

static enum unseen_status write_pages(struct worker *w, uint64_t first, size_t n,
                                      struct unseen_error *error)
{
    struct unseen_list_build *b = w->run->builder;
    for (size_t i = 0; i < n; i++) {
        b->checksums[first + i] =
            unseen__checksum(w->pages + i * UNSEEN__LIST_PAGE, UNSEEN__LIST_PAGE);
    }
    const int code = unseen__file_write(b->fd, UNSEEN__LIST_HEADER_LEN + first * UNSEEN__LIST_PAGE,
                                        w->pages, n * UNSEEN__LIST_PAGE);
    return code ? unseen__list_write_error(b, code, error) : UNSEEN_OK;
}

/* Makes a shard's pages, from page `first` of the file on, and writes them. */
static enum unseen_status make_shard(struct worker *w, const uint64_t *keys, size_t n,
                                     uint32_t npages, uint64_t first, struct unseen_error *error)
{
    const struct unseen__list_geometry *geometry = &w->run->builder->header.geometry;
    size_t at = 0;
    for (uint32_t page = 0; page < npages; page++) {
        uint32_t ends[UNSEEN__LIST_BLOCKS_MAX];
        const size_t slot = page % BATCH_PAGES;
        unseen__list_part(geometry, keys + at, n - at, w->run->shard_bits, npages, page, ends);
        make_page(w, keys + at, ends, w->pages + slot * UNSEEN__LIST_PAGE);
        at += ends[geometry->blocks - 1];
        if (slot == BATCH_PAGES - 1 || page == npages - 1) {
            const enum unseen_status status = write_pages(w, first + page - slot, slot + 1, error);
            if (status != UNSEEN_OK) {
                return status;
            }
        }
    }
    return UNSEEN_OK;
}

/* Hands the bumped keys of the unit to the next spill, and reports the progress. */
static enum unseen_status end_unit(struct worker *w, struct unseen_error *error)
{
    struct run *run = w->run;
    struct unseen_list_build *b = run->builder;
    pthread_mutex_lock(&run->lock);
    enum unseen_status status = unseen__spill_add(b->next, w->other, w->nbumped, error);
    if (status == UNSEEN_OK && b->progress && b->header.nlayers == 0 &&
        !b->progress(b->context, run->ndone, run->nkeys)) {
        status = unseen__error(error, UNSEEN_ERR_STOPPED, UNSEEN__NO_OFFSET,
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
    if (status == UNSEEN_OK) {
        status = place_unit(w, unit, n, &first);
    }
    if (status != UNSEEN_OK) {
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
    const struct unseen_list_build *b = run->builder;
    *w = (struct worker){.run = run};
    w->page_cap = (size_t)UNSEEN__LIST_ROWS * b->header.geometry.blocks * 2;
    w->bumped = unseen__alloc(&b->allocator, (w->page_cap + 1) * sizeof(*w->bumped), 64);
    w->pages = unseen__alloc(&b->allocator, (size_t)BATCH_PAGES * UNSEEN__LIST_PAGE, 64);
    if (!w->bumped || !w->pages) {
        return UNSEEN_ERR_NOMEM;
    }
    return unseen__list_solver_create(&w->solver, &b->header.geometry, w->page_cap, b->cpu,
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
        fail_run(run, status, &error); /* the run keeps the first error */
    }
    worker_release(&w);
    return NULL;
}

/* As many threads as there is memory for the keys of a unit each, within limits. */
static unsigned threads_for(const struct run *run)
{
    const struct unseen_list_build *b = run->builder;
    const size_t nunits = (size_t)1 << run->unit_bits;
    const uint64_t unit_bytes = (run->nkeys / nunits + 1) * 2 * sizeof(uint64_t);
    uint64_t most = b->options.memory / 2 / unit_bytes;
    most = most < b->options.threads ? most : b->options.threads;
    most = most < nunits ? most : nunits;
    return most < 1 ? 1 : (unsigned)most;
}

/* Runs the threads. The calling thread is one of them. */
static void run_threads(struct run *run)
{
    pthread_t threads[UNSEEN__LIST_THREADS_MAX];
    const unsigned wanted = threads_for(run);
    unsigned n = 0;
    /* If a thread cannot be made, the others do its work. */
    while (n + 1 < wanted && pthread_create(&threads[n], NULL, work, run) == 0) {
        n++;
    }
    (void)work(run);
    for (unsigned i = 0; i < n; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

/* Makes room for the results of the threads: numbers of pages, checksums, bumped keys. */
static enum unseen_status prepare_run(struct run *run)
{
    struct unseen_list_build *b = run->builder;
    const size_t nshards = (size_t)1 << run->shard_bits;
    const size_t before = b->nshards;
    const uint64_t most = b->npages + nshards +
                          unseen__list_npages(&b->header.geometry, run->nkeys) +
                          nshards / 2; /* each shard rounds up by half a page at most */
    if (most > UINT32_MAX) {
        return UNSEEN_ERR_ARGUMENT;
    }
    if (!array_resize(&b->allocator, &b->checksums, &b->checksums_cap, (size_t)most,
                      sizeof(*b->checksums)) ||
        !array_resize(&b->allocator, &b->table, &b->nshards, before + nshards, sizeof(*b->table))) {
        return UNSEEN_ERR_NOMEM;
    }
    run->table = b->table + before;
    return unseen__spill_create(&b->next, NEXT_BITS, 64, (size_t)b->options.memory / NEXT_SHARE, 0,
                                b->folder, &b->allocator);
}

enum unseen_status unseen__list_layer_make(struct unseen_list_build *b, struct unseen_error *error)
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
            (uint64_t)unseen__list_npages(&b->header.geometry, run.nkeys) * UNSEEN__LIST_PAGE;
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
