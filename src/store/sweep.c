/* SPDX-License-Identifier: MIT
 *
 * A store whose set is larger than memory. It is opened in parts: the set has the table of the
 * image, a question reads the page of its key, and keys since the image go to a second set, in
 * memory (set/paged.c).
 *
 * Many keys are added by a sweep: the caller sorts his keys by part, and goes from part to part:
 * loads it, adds its keys, saves it. So a new image is written from the old one, and no more than a
 * part is in memory. What the log has behind the old image is added to each part as it is loaded:
 * the log is read for the keys of as many parts as fit. When the second set has become too large,
 * or when there is too much log for it, the store sweeps itself.
 *
 * The log gets the caller's new keys afterwards, in the order and in the commits that he wants. The
 * new image takes its name at close, and only if the log has every key that is in it. Until then
 * the old image and the log are what they were: an image is a cache of what the log says. */
#include "store/store.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/memory.h"
#include "set/set.h"

enum {
    KEY_MEMORY = 8,     /* bytes that a key of the log takes in a set at most, but for odd sizes */
    REPLAYED_SHARE = 8, /* of the limit, for the keys since the image when the store is opened, */
    KEYS_SHARE = 16,    /* and for keys of the log in a sweep */

    /* A set in parts that is empty at first gets room for a key for each so many bytes of memory: a
     * quarter of it. */
    PART_SHARE = 24,

    SLICE = 1024 /* keys */
};

static uint64_t nkeys_in(const struct unseen_store *store, uint64_t log_len)
{
    return log_len / unseen__key_bytes(store->log.header.key_bits);
}

bool unseen__sweep_is_due(const struct unseen_store *store, uint64_t npages, uint64_t len)
{
    return store->sweep.memory > 0 &&
           npages * UNSEEN__IMAGE_PAGE + nkeys_in(store, len) * KEY_MEMORY >=
               store->sweep.memory / 2;
}

uint64_t unseen__sweep_capacity(const struct unseen_store *store)
{
    return store->sweep.memory / PART_SHARE;
}

enum unseen_status unseen__sweep_check(const struct unseen_store *store, struct unseen_error *error)
{
    const struct unseen__sweep *s = &store->sweep;
    const struct unseen__log_header *header = &store->log.header;
    const char *why = strcmp(header->filter, "compact") != 0           ? "its filter has no parts"
                      : header->window > 0                             ? "it has a window"
                      : header->read_features & UNSEEN__FEATURE_NO_LOG ? "it has no log"
                      : unseen__set_nallowed(store->set) > 0 || (s->in_parts && s->is_refused)
                          ? "lines were removed since its image was written, or are allowed"
                          : NULL;
    return why ? unseen__error(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN__NO_OFFSET,
                               "%s cannot be read part by part: %s", store->log.path, why)
               : UNSEEN_OK;
}

/* ---- opening ---- */

/* Two sets are asked. The second one has the longest tags, so the rate stays that of the first. */
static enum unseen_status make_recent(struct unseen_store *store, struct unseen_error *error)
{
    const struct unseen__log_header *header = &store->log.header;
    struct unseen_set_options options = unseen__header_set_options(header);
    options.capacity = 0;
    options.fpr = fmin(options.fpr, unseen__lowest_rate(header->key_bits));
    options.cpu = store->cpu;
    options.allocator = &store->allocator;
    const enum unseen_status status =
        unseen__set_create(&store->set->recent, &options, store->url, &header->secret, NULL, error);
    return unseen__error_prefix(error, status, store->log.path);
}

/* Gives a set in memory many parts. */
static enum unseen_status make_parts(struct unseen_store *store, struct unseen_error *error)
{
    return unseen__error_status(
        error, unseen_set_reserve(store->set, unseen__sweep_capacity(store)), store->log.path);
}

enum unseen_status unseen__sweep_prepare(struct unseen_store *store, uint64_t log_len,
                                         struct unseen_error *error)
{
    struct unseen__sweep *s = &store->sweep;
    const uint64_t len = log_len > store->log.end ? log_len - store->log.end : 0;
    s->from = store->log.end;
    s->number = store->log.number;
    store->info.in_parts = s->in_parts;
    if (!s->in_parts) {
        return UNSEEN_OK;
    }
    if (!store->set->fetches) {
        return make_parts(store, error);
    }
    return nkeys_in(store, len) * KEY_MEMORY <= s->memory / REPLAYED_SHARE
               ? make_recent(store, error)
               : UNSEEN_OK;
}

enum unseen_status unseen__sweep_replayed(struct unseen_store *store, struct unseen_error *error)
{
    enum unseen_status status =
        store->sweep.memory > 0 ? unseen__sweep_check(store, error) : UNSEEN_OK;
    if (status != UNSEEN_OK || !store->sweep.in_parts || store->set->recent) {
        return status;
    }
    if (!store->log.writable) {
        return unseen__error(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN__NO_OFFSET,
                             "%s has too many lines behind its image to be read part by part, "
                             "until it is opened to be written",
                             store->log.path);
    }
    /* An image covers nothing that is not durable. */
    status = unseen__log_settle(&store->log, error);
    return status == UNSEEN_OK ? unseen__sweep_self(store, error) : status;
}

/* ---- the keys since the image ---- */

typedef void take_key(struct unseen__sweep *s, struct unseen_key key, uint64_t part);

struct taking {
    struct unseen__sweep *s;
    take_key *take;
};

static bool take_keys(void *context, const struct unseen_key *keys, size_t n,
                      enum unseen__change change, uint64_t time)
{
    const struct taking *t = context;
    (void)change; /* they are added */
    (void)time;
    for (size_t i = 0; i < n; i++) {
        t->take(t->s, keys[i], keys[i].hi >> (64 - t->s->bits));
    }
    return true;
}

/* Reads all records behind the image. */
static enum unseen_status read_log(struct unseen_store *store, take_key *take,
                                   struct unseen_error *error)
{
    struct unseen__sweep *s = &store->sweep;
    struct taking taking = {s, take};
    struct unseen__scan scan;
    enum unseen__scan_state state = UNSEEN__SCAN_RECORD;
    enum unseen_status status = unseen__scan_init(&scan, &store->log, s->from, s->number, error);
    scan.size = s->end;
    while (status == UNSEEN_OK && state == UNSEEN__SCAN_RECORD) {
        status = unseen__scan_next(&scan, &state, error);
        if (status == UNSEEN_OK && state == UNSEEN__SCAN_RECORD) {
            (void)unseen__record_each(&scan, take_keys, &taking);
        }
    }
    /* All of it was intact when the store was opened. */
    if (status == UNSEEN_OK && scan.offset != s->end) {
        status = unseen__damaged(error, &store->log, scan.offset, s->end);
    }
    unseen__scan_release(&scan);
    return status;
}

static void count_key(struct unseen__sweep *s, struct unseen_key key, uint64_t part)
{
    (void)key;
    s->starts[part + 1]++;
}

static void put_key(struct unseen__sweep *s, struct unseen_key key, uint64_t part)
{
    if (part >= s->first && part < s->first_after) {
        s->keys[s->next[part]++ - s->starts[s->first]] = key;
    }
}

/* Counts the keys of each part. */
static enum unseen_status count_keys(struct unseen_store *store, struct unseen_error *error)
{
    struct unseen__sweep *s = &store->sweep;
    const size_t size = (size_t)(2 * s->nparts + 1) * sizeof(*s->starts);
    s->starts = unseen__alloc_zero(&store->allocator, size, _Alignof(uint64_t));
    if (!s->starts) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, store->log.path);
    }
    s->next = s->starts + s->nparts + 1;
    const enum unseen_status status = read_log(store, count_key, error);
    for (uint64_t i = 0; i < s->nparts; i++) {
        s->starts[i + 1] += s->starts[i];
    }
    return status;
}

/* Takes the keys of this part, and of as many behind it as there is room for. */
static enum unseen_status collect(struct unseen_store *store, uint64_t part,
                                  struct unseen_error *error)
{
    struct unseen__sweep *s = &store->sweep;
    const uint64_t most = s->memory / KEYS_SHARE / sizeof(*s->keys);
    uint64_t after = part + 1;
    while (after < s->nparts && s->starts[after + 1] - s->starts[part] <= most) {
        after++;
    }
    s->first = part;
    s->first_after = after;
    const size_t n = (size_t)(s->starts[after] - s->starts[part]);
    if (n == 0) {
        return UNSEEN_OK;
    }
    if (!array_grow(&store->allocator, &s->keys, &s->keys_cap, n, SLICE, sizeof(*s->keys))) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, store->log.path);
    }
    memcpy(s->next + part, s->starts + part, (size_t)(after - part) * sizeof(*s->next));
    return read_log(store, put_key, error);
}

static enum unseen_status add_since(struct unseen_store *store, uint64_t part,
                                    struct unseen_error *error)
{
    struct unseen__sweep *s = &store->sweep;
    uint8_t verdicts[SLICE];
    enum unseen_status status = UNSEEN_OK;
    if (!s->in_parts) {
        return UNSEEN_OK; /* the set has them */
    }
    if (!s->starts) {
        status = count_keys(store, error);
    }
    if (status == UNSEEN_OK && part >= s->first_after) {
        status = collect(store, part, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    for (uint64_t i = s->starts[part]; i < s->starts[part + 1] && status == UNSEEN_OK; i += SLICE) {
        const uint64_t left = s->starts[part + 1] - i;
        status = unseen_set_add_keys(store->set, s->keys + (i - s->starts[s->first]),
                                     left < SLICE ? (size_t)left : SLICE, verdicts, NULL);
    }
    return unseen__error_status(error, status, store->log.path);
}

/* ---- parts ---- */

/* The image says how long the output is, which the run has told the log only. */
static void follow_output(struct unseen_store *store)
{
    const struct unseen__committer *c = &store->committer;
    if (c->output_name && c->durable_len != UNSEEN__NO_OUTPUT && !store->output.closed) {
        store->output.len = c->durable_len;
        store->output.checksum = c->durable_checksum;
    }
}

static enum unseen_status begin(struct unseen_store *store, unsigned bits,
                                struct unseen_error *error)
{
    struct unseen__sweep *s = &store->sweep;
    enum unseen_status status = unseen__sweep_check(store, error);
    if (status == UNSEEN_OK) {
        status = unseen__image_start(&s->image, &store->log, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    unseen_set_free(store->set->recent);
    store->set->recent = NULL;
    follow_output(store);
    s->has_image = true;
    s->end = store->log.end;
    s->bits = bits;
    s->nparts = (uint64_t)1 << bits;
    return UNSEEN_OK;
}

/* The set has been taken apart, and is not put together again: it answers nothing, and there will
 * be no image of it. Returns the status. */
static enum unseen_status give_up(struct unseen_store *store, enum unseen_status status)
{
    store->sweep.is_broken = true;
    store->set->fetches = true;
    store->set->is_lost = true;
    return status;
}

static enum unseen_status load_part(struct unseen_store *store, struct unseen_error *error)
{
    struct unseen__sweep *s = &store->sweep;
    const struct unseen__part loaded = {store->set, s->bits, s->ndropped};
    enum unseen_status status = unseen__set_load_part(&loaded);
    if (status == UNSEEN_ERR_CORRUPT || status == UNSEEN_ERR_IO) {
        unseen__image_report_unread(store, status, error);
    } else {
        status = status == UNSEEN_OK ? add_since(store, s->ndropped, error)
                                     : unseen__error_status(error, status, store->log.path);
    }
    s->is_loaded = status == UNSEEN_OK;
    return status == UNSEEN_OK ? UNSEEN_OK : give_up(store, status);
}

static enum unseen_status save_part(struct unseen_store *store, struct unseen_error *error)
{
    struct unseen__sweep *s = &store->sweep;
    const struct unseen__part saved = {store->set, s->bits, s->ndropped};
    enum unseen_status status =
        unseen__image_put_pages(&s->image, unseen__set_next_of_part, &saved, error);
    if (status != UNSEEN_OK) {
        return give_up(store, status);
    }
    status = unseen__set_keep_part(&saved);
    if (status == UNSEEN_OK) {
        status = unseen__set_drop_part(&saved);
    }
    if (status != UNSEEN_OK) {
        return give_up(store, unseen__error_status(error, status, store->log.path));
    }
    s->is_loaded = false;
    s->ndropped++;
    return UNSEEN_OK;
}

enum unseen_status unseen_store_load_part(struct unseen_store *store, unsigned bits, uint64_t part,
                                          struct unseen_error *error)
{
    const struct unseen__sweep *s = &store->sweep;
    const bool is_first = s->nparts == 0 && bits >= 1 && bits <= unseen_set_part_bits(store->set) &&
                          store->committer.waiting.n == 0;
    enum unseen_status status = UNSEEN_OK;
    if (!store->log.writable) {
        return unseen__store_not_writable(store, error);
    }
    if ((!is_first && (s->nparts == 0 || bits != s->bits)) || part != s->ndropped || s->is_loaded ||
        s->is_broken) {
        return unseen__error_plain(error, UNSEEN_ERR_ARGUMENT);
    }
    if (is_first) {
        status = unseen__committer_poll(&store->committer, true, NULL, error);
        status = status == UNSEEN_OK ? begin(store, bits, error) : status;
    }
    return status == UNSEEN_OK ? load_part(store, error) : status;
}

enum unseen_status unseen_store_add_to_part(struct unseen_store *store,
                                            const struct unseen_key *keys, size_t n,
                                            uint8_t *verdicts)
{
    size_t ndone = 0;
    const enum unseen_status status = unseen_set_add_keys(store->set, keys, n, verdicts, &ndone);
    for (size_t i = 0; i < ndone; i++) {
        store->sweep.nnew += verdicts[i] == UNSEEN_NEW;
    }
    return status;
}

enum unseen_status unseen_store_save_part(struct unseen_store *store, unsigned bits, uint64_t part,
                                          struct unseen_error *error)
{
    const struct unseen__sweep *s = &store->sweep;
    return !s->is_loaded || bits != s->bits || part != s->ndropped || s->is_broken
               ? unseen__error_plain(error, UNSEEN_ERR_ARGUMENT)
               : save_part(store, error);
}

enum unseen_status unseen_store_note_keys(struct unseen_store *store, const struct unseen_key *keys,
                                          size_t n)
{
    enum unseen_status status = unseen__committer_status(&store->committer);
    if (status == UNSEEN_OK) {
        status = unseen__committer_reserve(&store->committer, n);
    }
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        unseen__committer_note(&store->committer, keys[i], false, store->clock);
        store->sweep.nnoted++;
    }
    return status;
}

/* ---- the new image ---- */

enum unseen_status unseen__sweep_finish(struct unseen_store *store, bool all_committed,
                                        struct unseen_error *error)
{
    const struct unseen__sweep *s = &store->sweep;
    const bool knows_output = !store->committer.output_name || store->output.closed;
    const bool is_whole =
        s->has_image && !s->is_broken && s->ndropped == s->nparts && s->nnew == s->nnoted;
    return is_whole && all_committed && knows_output ? unseen__image_save_swept(store, error)
                                                     : UNSEEN_OK;
}

void unseen__sweep_release(struct unseen_store *store)
{
    struct unseen__sweep *s = &store->sweep;
    if (s->has_image) {
        unseen__image_abandon(&s->image);
    }
    unseen__free(&store->allocator, s->starts, (size_t)(2 * s->nparts + 1) * sizeof(*s->starts));
    array_free(&store->allocator, &s->keys, &s->keys_cap, sizeof(*s->keys));
    *s = (struct unseen__sweep){
        .memory = s->memory, .in_parts = s->in_parts, .is_broken = s->is_broken};
}

/* ---- a sweep of its own ---- */

static uint64_t memory_of(const struct unseen_set *set)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    (void)unseen_set_stats(set, &stats); /* fails for a wrong size only */
    return stats.memory;
}

bool unseen__sweep_is_full(const struct unseen_store *store, unsigned share)
{
    const struct unseen__sweep *s = &store->sweep;
    if (s->memory == 0 || unseen__sweep_has_begun(store)) {
        return false;
    }
    return s->in_parts ? memory_of(store->set->recent) > s->memory / share
                       : memory_of(store->set) > s->memory / 8 * 5 && !s->is_refused &&
                             unseen__set_nallowed(store->set) == 0;
}

/* Takes the set from the new image. */
static enum unseen_status use_image(struct unseen_store *store, struct unseen_error *error)
{
    struct unseen__image image;
    struct unseen__output output = {0};
    struct unseen_set *set = NULL;
    bool log_is_damaged = false;
    enum unseen_status status = unseen__image_find(store, &image, &output, &log_is_damaged, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    const struct unseen__image_header header = image.header;
    store->info.image_bytes = image.size;
    status = unseen__image_load(store, &image, &set, error);
    unseen__image_release(&image);
    if (status != UNSEEN_OK) {
        return status;
    }
    unseen__set_swap_filters(store->set, set);
    unseen_set_free(set);
    store->info.image_covers = header.log_end;
    store->image_nchanges = header.nchanges;
    store->sweep.from = header.log_end;
    store->sweep.number = header.number;
    return store->set->fetches ? make_recent(store, error) : UNSEEN_OK;
}

/* The changes that wait are in no image. */
static enum unseen_status add_waiting(struct unseen_store *store, struct unseen_error *error)
{
    const struct unseen__changes *waiting = &store->committer.waiting;
    const unsigned key_bits = store->log.header.key_bits;
    const size_t step = unseen__key_bytes(key_bits);
    enum unseen_status status = UNSEEN_OK;
    for (size_t i = waiting->start; i < waiting->start + waiting->n && status == UNSEEN_OK; i++) {
        struct unseen_key key;
        uint8_t verdict;
        unseen__keys_unpack(waiting->keys + i * step, 1, key_bits, &key);
        status = unseen_set_add_keys(store->set->recent, &key, 1, &verdict, NULL);
    }
    return unseen__error_status(error, status, store->log.path);
}

/* Makes the set of a store that has grown too large one in parts: that of the last image. */
static enum unseen_status leave_memory(struct unseen_store *store, struct unseen_error *error)
{
    struct unseen_set_options options = unseen__header_set_options(&store->log.header);
    struct unseen_set *set = NULL;
    options.capacity = 0; /* the old set is still there: memory has no room for two */
    options.cpu = store->cpu;
    options.allocator = &store->allocator;
    enum unseen_status status =
        unseen__set_create(&set, &options, store->url, &store->log.header.secret, NULL, error);
    if (status != UNSEEN_OK) {
        return unseen__error_prefix(error, status, store->log.path);
    }
    unseen__set_swap_filters(store->set, set);
    unseen_set_free(set);
    store->sweep.in_parts = true;
    store->info.in_parts = true;
    status = store->info.image_covers > 0 ? use_image(store, error) : UNSEEN_OK;
    if (status == UNSEEN_ERR_MISSING) { /* removed since: the log has all */
        store->sweep.from = UNSEEN__RECORDS_OFFSET;
        store->sweep.number = 0;
        status = UNSEEN_OK;
    }
    return status == UNSEEN_OK && !store->set->fetches ? make_parts(store, error) : status;
}

/* Part after part to a new image, which the set is taken from then. */
static enum unseen_status sweep_all(struct unseen_store *store, struct unseen_error *error)
{
    const struct unseen__sweep *s = &store->sweep;
    enum unseen_status status = UNSEEN_OK;
    while (status == UNSEEN_OK && s->ndropped < s->nparts) {
        status = load_part(store, error);
        status = status == UNSEEN_OK ? save_part(store, error) : status;
    }
    if (status == UNSEEN_OK) {
        status = unseen__image_save_swept(store, error);
    }
    if (status == UNSEEN_OK) {
        unseen__sweep_release(store);
        status = use_image(store, error);
    }
    return status == UNSEEN_OK ? add_waiting(store, error) : status;
}

/* If it fails before the set is taken apart, nothing has changed. */
enum unseen_status unseen__sweep_self(struct unseen_store *store, struct unseen_error *error)
{
    const bool leaves = !store->sweep.in_parts;
    enum unseen_status status = unseen__sweep_check(store, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = leaves ? leave_memory(store, error) : UNSEEN_OK;
    const unsigned bits = unseen_set_part_bits(store->set);
    if (status == UNSEEN_OK) {
        status = begin(store, bits < UNSEEN__PART_BITS_MAX ? bits : UNSEEN__PART_BITS_MAX, error);
    }
    if (status != UNSEEN_OK) {
        return leaves ? give_up(store, status) : status;
    }
    status = sweep_all(store, error);
    return status == UNSEEN_OK ? UNSEEN_OK : give_up(store, status);
}
