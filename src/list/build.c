/* SPDX-License-Identifier: MIT
 *
 * Begins a build, adds keys to it, and frees it. builder.h shows the way of the keys. */
#include "base/posix.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/file.h"
#include "base/filename.h"
#include "base/memory.h"
#include "base/sized.h"
#include "list/builder.h"
#include "list/list_key.h"

enum {
    KEYS_BATCH = 256, /* keys made at a time from bytes */
    MEMORY_MIN = 1 << 20,
    PART_KEYS = 1 << 17, /* most keys of a part, which is sorted in the second cache */
    PART_BITS = 10,      /* the fewest bits that say the part of a key */
    PART_BITS_MAX = 14,
    BUFFER_GOOD = 1 << 15, /* bytes of a part's buffer: with fewer, larger parts are better */
    KEY_BITS_MIN = 48,
    SPILL_SHARE = 4 /* the buffers of the first layer's parts take 1 / 4 of the memory */
};

static const uint64_t MEMORY_DEFAULT = UINT64_C(1) << 30;

/* Keys that agree in all kept bits count as one. That may add at most this share to the rate. */
static const double COLLISIONS = 0.006;

/* ---- options ---- */

/* The rate is that of a question. Each of the texts that a question asks for has an equal share of
 * it. */
static enum unseen_status check_rate(const struct unseen_list_build_options *options,
                                     const char *path, struct unseen_error *error)
{
    const double least = UNSEEN__LIST_FPR_MIN * unseen_kind_texts_max(options->kind);
    if (options->fpr > 0 && options->fpr < least) {
        return unseen__error_setting(
            error, UNSEEN_ERR_FPR, UNSEEN_SETTING_FPR,
            "%s: a rate of %g is too low: the least for the kind \"%s\" is %.2g", path,
            options->fpr, unseen_kind_name(options->kind), least);
    }
    return options->fpr > 0 && options->fpr <= UNSEEN__LIST_FPR_MAX
               ? UNSEEN_OK
               : unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_FPR,
                                       "%s: a rate of %g is out of its range, %.2g to %g", path,
                                       options->fpr, least, UNSEEN__LIST_FPR_MAX);
}

static enum unseen_status build_options(const struct unseen_list_build_options *given,
                                        const char *path,
                                        struct unseen_list_build_options *options_out,
                                        struct unseen_error *error)
{
    struct unseen_list_build_options options = {.size = sizeof(options)};
    const enum unseen_status status =
        unseen__sized_take(&options, sizeof(options), given, "unseen_list_build_options", error);
    if (status != UNSEEN_OK) {
        return unseen__error_prefix(error, status, path);
    }
    options.fpr = options.fpr == 0 ? UNSEEN_LIST_FPR_DEFAULT : options.fpr;
    options.memory = options.memory ? options.memory : MEMORY_DEFAULT;
    options.memory = options.memory < MEMORY_MIN ? MEMORY_MIN : options.memory;
    options.memory = options.memory > SIZE_MAX / 4 ? SIZE_MAX / 4 : options.memory;
    options.threads = options.threads ? options.threads : 1;
    *options_out = options;
    if (options.threads > UNSEEN__LIST_THREADS_MAX || !unseen_kind_name(options.kind)) {
        return unseen__error_status(error, UNSEEN_ERR_ARGUMENT, path);
    }
    return check_rate(&options, path, error);
}

/* As many parts as are needed for one to fit in the cache, within limits. */
static unsigned part_bits_for(uint64_t capacity)
{
    unsigned bits = PART_BITS;
    while (bits < PART_BITS_MAX && capacity >> bits > PART_KEYS) {
        bits++;
    }
    return bits;
}

/* The fewest bits of a key that keep the keys apart well enough. Behind the bits of the part they
 * fill whole bytes. */
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

/* ---- beginning ---- */

/* Names the files. */
static enum unseen_status name_files(struct unseen_list_build *b, const char *path,
                                     const struct unseen_list_build_options *options)
{
    b->path = unseen__path_with(&b->allocator, path, "");
    b->new_path = unseen__path_with(&b->allocator, path, ".new");
    b->folder = options->folder ? unseen__path_with(&b->allocator, options->folder, "")
                                : unseen__path_folder(&b->allocator, path);
    return b->path && b->new_path && b->folder ? UNSEEN_OK : UNSEEN_ERR_NOMEM;
}

/* Makes a build that has not begun: it has no spill and no open file. */
static enum unseen_status new_build(struct unseen_list_build **build_out, const char *path,
                                    const struct unseen_list_build_options *options,
                                    struct unseen_error *error)
{
    const struct unseen_allocator allocator = unseen__allocator(options->allocator);
    enum unseen_cpu cpu;
    enum unseen_status status = unseen__cpu_select(options->cpu, &cpu, error);
    if (status != UNSEEN_OK) {
        return unseen__error_prefix(error, status, path);
    }
    struct unseen_list_build *b = unseen__alloc_zero(&allocator, sizeof(*b), _Alignof(max_align_t));
    if (!b) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, path);
    }
    b->allocator = allocator;
    b->options = *options;
    b->header.fpr = options->fpr;
    b->ntexts = unseen_kind_texts_max(options->kind);
    b->cpu = cpu;
    b->folder_fd = -1;
    b->fd = -1;
    status = name_files(b, path, options);
    if (status != UNSEEN_OK) {
        unseen_list_build_free(b);
        return unseen__error_status(error, status, path);
    }
    *build_out = b;
    return UNSEEN_OK;
}

/* The folder is opened early, so that the list goes there even if the name of the folder is given
 * to another meanwhile. */
int unseen__list_build_open_folder(struct unseen_list_build *b)
{
    return b->folder_fd >= 0 ? 0 : unseen__file_open_folder(b->path, &b->folder_fd);
}

/* Chooses the number of key bits and the geometry, and makes the spill of the first layer. */
static enum unseen_status begin_spill(struct unseen_list_build *b)
{
    struct unseen__list_header *h = &b->header;
    unsigned part_bits = part_bits_for(b->options.capacity);
    h->key_bits = key_bits_for(b->options.capacity, part_bits, h->fpr / b->ntexts);
    /* Writing and reading the disk in small pieces costs more than sorting in large ones. */
    const size_t buffers = (size_t)b->options.memory / SPILL_SHARE;
    while (part_bits > PART_BITS && buffers >> part_bits < BUFFER_GOOD) {
        part_bits--;
    }
    enum unseen_status status = unseen__list_geometry_for(
        h->fpr / b->ntexts - ldexp((double)b->options.capacity, -(int)h->key_bits), &h->geometry);
    if (status == UNSEEN_OK) {
        status = unseen__spill_create(&b->spill, part_bits, h->key_bits, buffers,
                                      b->options.capacity, b->folder, &b->allocator);
    }
    return status;
}

/* Begins the build under its identity and its secret. */
static enum unseen_status begin(struct unseen_list_build *b, struct unseen_error *error)
{
    enum unseen_status status =
        unseen__list_identity_make(&b->identity, b->options.kind, b->options.profile, b->cpu,
                                   &b->allocator, &b->header, error);
    if (status == UNSEEN_OK) {
        status =
            unseen__secret_make(b->options.seed, b->options.seed_len, &b->header.secret, error);
    }
    if (status != UNSEEN_OK) {
        return unseen__error_prefix(error, status, b->path);
    }
    status = unseen__error_status(error, begin_spill(b), b->path);
    if (status == UNSEEN_OK) {
        (void)unseen__list_build_open_folder(b); /* _finish reports it */
        unseen__hasher_init(&b->hasher, &b->header.secret, b->cpu);
    }
    return status;
}

enum unseen_status unseen_list_build_create(struct unseen_list_build **build_out, const char *path,
                                            const struct unseen_list_build_options *given,
                                            struct unseen_error *error)
{
    struct unseen_list_build_options options;
    struct unseen_list_build *b = NULL;
    enum unseen_status status = build_options(given, path, &options, error);
    if (status == UNSEEN_OK) {
        status = new_build(&b, path, &options, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    status = begin(b, error);
    if (status != UNSEEN_OK) {
        unseen_list_build_free(b);
        return status;
    }
    *build_out = b;
    return UNSEEN_OK;
}

/* ---- adding ---- */

enum unseen_status unseen_list_build_entry(const struct unseen_list_build *b, const void *data,
                                           size_t len, void *buf, size_t cap,
                                           struct unseen_list_entry *entry_out)
{
    const struct unseen__list_identity *identity = &b->identity;
    struct unseen_list_entry entry = {.key = 0};
    const enum unseen_status status = unseen_kind_entry(identity->kind, identity->url, data, len,
                                                        buf, cap, &entry.text, &entry.fitness);
    if (status == UNSEEN_OK) {
        entry.key = unseen__list_key(&b->hasher, entry.text.data, entry.text.len);
        *entry_out = entry;
    }
    return status;
}

/* Makes the key of an entry. If the entry is not fine there is none: that is noted in *fitness, or
 * is an error if fitness is NULL. */
static enum unseen_status make_key(struct unseen_list_build *b, const struct unseen_bytes *item,
                                   uint64_t *key_out, uint8_t *fitness, bool *made_out,
                                   struct unseen_error *error)
{
    struct unseen_bytes text;
    enum unseen_entry fit;
    const enum unseen_status status =
        unseen__list_identity_entry(&b->identity, item, &b->room, &b->allocator, &text, &fit);
    if (status != UNSEEN_OK) {
        b->failed = true;
        return unseen__error_status(error, status, b->path);
    }
    *made_out = fit == UNSEEN_ENTRY_FINE;
    if (*made_out) {
        *key_out = unseen__list_key(&b->hasher, text.data, text.len);
    }
    if (fitness) {
        *fitness = (uint8_t)fit;
    }
    return *made_out || fitness
               ? UNSEEN_OK
               : unseen__list_identity_refuse(&b->identity, b->path, item, fit, error);
}

enum unseen_status unseen_list_build_add(struct unseen_list_build *b,
                                         const struct unseen_bytes *entries, size_t n,
                                         uint8_t *fitness, struct unseen_error *error)
{
    uint64_t keys[KEYS_BATCH];
    size_t nkeys = 0;
    enum unseen_status status = UNSEEN_OK;
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        bool made = false;
        status = make_key(b, &entries[i], &keys[nkeys], fitness ? &fitness[i] : NULL, &made, error);
        nkeys += made;
        if (nkeys == KEYS_BATCH && status == UNSEEN_OK) {
            status = unseen_list_build_add_keys(b, keys, nkeys, error);
            nkeys = 0;
        }
    }
    return status == UNSEEN_OK ? unseen_list_build_add_keys(b, keys, nkeys, error) : status;
}

enum unseen_status unseen_list_build_add_texts(struct unseen_list_build *b,
                                               const struct unseen_bytes *texts, size_t n,
                                               struct unseen_error *error)
{
    uint64_t keys[KEYS_BATCH];
    enum unseen_status status = UNSEEN_OK;
    for (size_t at = 0; at < n && status == UNSEEN_OK; at += KEYS_BATCH) {
        const size_t count = n - at < KEYS_BATCH ? n - at : KEYS_BATCH;
        unseen__list_keys(&b->hasher, texts + at, count, keys);
        status = unseen_list_build_add_keys(b, keys, count, error);
    }
    return status;
}

enum unseen_status unseen_list_build_add_keys(struct unseen_list_build *b, const uint64_t *keys,
                                              size_t n, struct unseen_error *error)
{
    if (b->failed) {
        return unseen__error_status(error, UNSEEN_ERR_STOPPED, b->path);
    }
    const enum unseen_status status = unseen__spill_add(b->spill, keys, n, error);
    b->header.ngiven += n;
    b->failed = status != UNSEEN_OK;
    return status;
}

/* ---- ending ---- */

void unseen_list_build_free(struct unseen_list_build *b)
{
    if (!b) {
        return;
    }
    const struct unseen_allocator allocator = b->allocator;
    if (b->fd >= 0) {
        /* before fd is closed, so that the lock still holds */
        (void)unlinkat(b->folder_fd, unseen__file_name(b->new_path), 0);
        (void)close(b->fd);
    }
    if (b->folder_fd >= 0) {
        (void)close(b->folder_fd); /* nothing was written through it */
    }
    unseen__spill_free(b->spill);
    unseen__spill_free(b->next);
    unseen__free(&allocator, b->checksums, b->checksums_cap * sizeof(*b->checksums));
    unseen__free(&allocator, b->table, b->nshards * sizeof(*b->table));
    unseen__list_identity_release(&b->identity);
    array_free(&allocator, &b->room.data, &b->room.cap, 1);
    unseen__path_free(&allocator, b->path);
    unseen__path_free(&allocator, b->new_path);
    unseen__path_free(&allocator, b->folder);
    unseen__hasher_release(&b->hasher);
    unseen__secret_forget(&b->header.secret);
    unseen__free(&allocator, b, sizeof(*b));
}
