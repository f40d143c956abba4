/* SPDX-License-Identifier: MIT
 *
 * Keys come in any order and are parted by their top bits (spill.h). Then layers are built from them
 * (layer.c). A layer gets about 4 % of the keys of the one before, so a few of them do; the last few
 * hundred keys are listed. */
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
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/own.h"
#include "hash/checksum.h"
#include "list/builder.h"
#include "list/page.h"
#include "list/sort.h"

enum {
    PART_KEYS = 1 << 17, /* of a part, which is sorted in the second cache, */
    PART_BITS = 10,      /* unless there are too many or too few parts then */
    PART_BITS_MAX = 14,
    BUFFER_GOOD = 1 << 15, /* bytes of a part's buffer */
    KEY_BITS_MIN = 48,
    LEFT_MAX = UNSEEN__LIST_PAGE / 8, /* keys that take no more room in a row than on a page */
    NOTE_MAX = 1 << 24,
    SPILL_SHARE = 4 /* of the memory, for the buffers of the first layer's parts */
};

/* Keys that agree in all bits that are kept are one: at most this share of the rate. */
static const double COLLISIONS = 0.006;

/* ---- creation ---- */

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
    b->kept.folder = -1;
    b->kept.keys = -1;
    b->at = -1;
    b->fd = -1;
    if (plan->secret) {
        h->secret = *plan->secret;
    }
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

/* Whether the list is made in the folder of what is kept. */
static bool is_in_folder(const struct unseen__list_builder *b)
{
    const size_t len = strlen(b->folder);
    return b->keep && strncmp(b->path, b->folder, len) == 0 &&
           unseen__file_name(b->path) == b->path + len + 1;
}

/* The folder that the list goes to is opened early: whoever gives its name to another is too late. If
 * that fails, it is tried again when the list is made. */
static int open_at(struct unseen__list_builder *b)
{
    if (b->at >= 0) {
        return 0;
    }
    return is_in_folder(b)
               ? unseen__file_open_in(b->kept.folder, ".", O_RDONLY | O_DIRECTORY, &b->at)
               : unseen__file_open_folder(b->path, &b->at);
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
        (void)open_at(b);
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
        /* before it is closed, so that the lock still holds */
        (void)unlinkat(b->at, unseen__file_name(b->new_path), 0);
        (void)close(b->fd);
    }
    if (b->at >= 0) {
        (void)close(b->at); /* nothing was written through it */
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
    unseen__secret_forget(&b->header.secret);
    unseen__free(&allocator, b, sizeof(*b));
}

const struct unseen__secret *unseen__list_builder_secret(const struct unseen__list_builder *b)
{
    return &b->header.secret;
}

enum unseen_status unseen__list_builder_add(struct unseen__list_builder *b, const uint64_t *keys,
                                            size_t n, struct unseen_error *error)
{
    if (b->complete) {
        return unseen__error(error, UNSEEN_ERR_ARGUMENT, UNSEEN__NO_OFFSET,
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
        .secret = h->secret,
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
           : plan->secret && !unseen__secret_equals(plan->secret, &state->secret) ? "seed"
                                                                                  : NULL;
}

static enum unseen_status take_state(struct unseen__list_builder *b,
                                     const struct unseen__list_plan *plan,
                                     const struct unseen__list_state *state,
                                     struct unseen_error *error)
{
    const char *other = other_option(state, plan);
    if (other) {
        return unseen__error(error, UNSEEN_ERR_MISMATCH, UNSEEN__NO_OFFSET,
                             "%s was begun with another %s", b->folder, other);
    }
    b->header.secret = state->secret;
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
        (void)open_at(b);
        *builder_out = b;
    }
    return status;
}

/* ---- the file ---- */

/* What a list is for its readers, less what the umask takes. */
static const mode_t MODE = 0644;
static const mode_t MODE_AT_WORK = 0600;

/* Makes PATH.new, locked: a second builder would write to it, too, and the first put half of that in
 * place. Only a file that is made can say what the umask leaves of its mode. */
static enum unseen_status open_new(struct unseen__list_builder *b, struct unseen_error *error)
{
    struct stat st;
    int code = open_at(b);
    if (code != 0) {
        return unseen__error_io(error, "open the folder of", b->path, code);
    }
    const enum unseen_status status =
        unseen__own_make(b->at, unseen__file_name(b->new_path), b->new_path, MODE, &b->fd, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    code = fstat(b->fd, &st) != 0 ? errno : 0;
    b->mode = code ? MODE_AT_WORK : st.st_mode & 07777;
    code = code == 0 && fchmod(b->fd, MODE_AT_WORK) != 0 ? errno : code;
    return code ? unseen__error_io(error, "write", b->new_path, code) : UNSEEN_OK;
}

enum unseen_status unseen__list_write_error(const struct unseen__list_builder *b, int code,
                                            struct unseen_error *error)
{
    return code == ENOSPC || code == EDQUOT
               ? unseen__error(error, UNSEEN_ERR_IO, UNSEEN__NO_OFFSET,
                               "cannot write %s: no space: the list needs about %llu MiB",
                               b->new_path, (unsigned long long)((b->size >> 20) + 1))
               : unseen__error_io(error, "write", b->new_path, code);
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
    code = code == 0 && fchmod(b->fd, b->mode) != 0 ? errno : code;
    code = code ? code : unseen__file_sync(b->fd);
    code = code ? code
                : unseen__file_replace_in(b->at, unseen__file_name(b->new_path),
                                          unseen__file_name(b->path));
    unseen__free(&b->allocator, bytes, len);
    return code ? unseen__list_write_error(b, code, error) : UNSEEN_OK;
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
        status = unseen__list_layer_make(b, error);
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
