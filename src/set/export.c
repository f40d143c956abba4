/* SPDX-License-Identifier: MIT
 *
 * Export and import: a set as a row of chunks, and back (docs/format.md, "Chunks"); and files of
 * such chunks. hash/chunk.h has the frame of a chunk; the filter makes and reads the piece inside.
 *
 * The position of a piece is filter << 50 | position in the filter. Behind the last filter comes
 * the window. */
#include "set/set.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "hash/chunk.h"
#include "hash/chunk_file.h"
#include "set/window.h"
#include "tags/compact.h"

enum {
    FORMAT_VERSION = 1,
    SECRET_OFFSET = 32,
    NAME_OFFSET = 64,
    NAME_LEN = 16,
    PARAMS_OFFSET = NAME_OFFSET + NAME_LEN,
    PROFILE_LEN_OFFSET = PARAMS_OFFSET + (int)UNSEEN__PARAMS_LEN,
    COUNTS_OFFSET = PROFILE_LEN_OFFSET + 4,
    GENERATION_OFFSET = PROFILE_LEN_OFFSET + 8,
    PROFILE_OFFSET = GENERATION_OFFSET + 8,
    POSITION_BITS = 50
};

#define KIND_HEADER 0x48534e55u /* "UNSH" */
#define KIND_PIECE  0x50534e55u /* "UNSP" */
#define KIND_WINDOW 0x57534e55u /* "UNSW" */
#define KIND_END    0x45534e55u /* "UNSE" */

static const uint8_t magic[8] = {0x89, 'U', 'N', 'S', '\r', '\n', 0x1a, '\n'};

_Static_assert(CHUNK_HEAD + UNSEEN__PIECE_MAX + CHUNK_TAIL <= UNSEEN_CHUNK_MAX, "a piece fits");

/* ---- export ---- */

uint64_t unseen__set_nkeys(const struct unseen_set *set)
{
    uint64_t n = 0;
    for (size_t i = 0; i < unseen__set_nshards(set); i++) {
        n += set->ops->nkeys(set->shards[i].filter);
    }
    return n;
}

static uint64_t generation_of(const struct unseen_set *set)
{
    uint64_t generation = 0;
    for (size_t i = 0; i < unseen__set_nshards(set); i++) {
        generation += set->shards[i].generation;
    }
    return generation;
}

/* Sets with different secrets or different changes have different ids. One set has another id after
 * a change. */
static uint64_t set_export_id(const void *object)
{
    const struct unseen_set *set = object;
    uint8_t parts[24];
    store_le64(parts, unseen__secret_id(&set->hasher.secret));
    store_le64(parts + 8, unseen__set_nkeys(set));
    store_le64(parts + 16, generation_of(set));
    return unseen__checksum(parts, sizeof(parts));
}

static size_t set_put_header(const void *object, uint8_t *p)
{
    const struct unseen_set *set = object;
    const char *profile = unseen_set_profile(set);
    const size_t profile_len = strlen(profile);
    memset(p, 0, PROFILE_OFFSET);
    chunk_put_version(p, magic, FORMAT_VERSION);
    store_le32(p + 16, UNSEEN__HASH_ID);
    store_le32(p + 20, set->key_bits);
    store_le64(p + 24, unseen__set_nkeys(set));
    memcpy(p + SECRET_OFFSET, set->hasher.secret.bytes, UNSEEN__SECRET_LEN);
    size_t name_len = strlen(set->ops->name);
    memcpy(p + NAME_OFFSET, set->ops->name, name_len < NAME_LEN ? name_len : NAME_LEN - 1);
    for (size_t i = 0; i < unseen__set_nshards(set); i++) {
        set->ops->save_params(set->shards[i].filter, p + PARAMS_OFFSET);
    }
    store_le32(p + PROFILE_LEN_OFFSET, (uint32_t)profile_len);
    store_le32(p + COUNTS_OFFSET, set->ops->multiplicity != NULL);
    store_le64(p + GENERATION_OFFSET, generation_of(set));
    memcpy(p + PROFILE_OFFSET, profile, profile_len);
    return PROFILE_OFFSET + profile_len;
}

static size_t set_put_piece(const void *object, uint64_t *position, uint8_t *payload)
{
    const struct unseen_set *set = object;
    uint64_t at = *position & (((uint64_t)1 << POSITION_BITS) - 1);
    for (uint64_t i = *position >> POSITION_BITS; i < unseen__set_nshards(set); i++, at = 0) {
        const size_t len = set->ops->save_piece(set->shards[i].filter, &at, payload);
        if (len) {
            *position = i << POSITION_BITS | at;
            return len;
        }
    }
    return 0;
}

static size_t set_put_window(const void *object, uint64_t *position, uint8_t *payload)
{
    const struct unseen_set *set = object;
    const uint64_t base = (uint64_t)unseen__set_nshards(set) << POSITION_BITS;
    uint64_t at = *position < base ? 0 : *position - base;
    const size_t len = set->window ? unseen__window_save(set, 0, &at, payload) : 0;
    *position = base + at;
    return len;
}

static uint64_t set_end(const void *object)
{
    const struct unseen_set *set = object;
    const uint64_t nparts = unseen__set_nshards(set) + (set->window != NULL);
    return (nparts << POSITION_BITS) - 1;
}

static uint64_t set_total(const void *object)
{
    return unseen__set_nkeys(object);
}

enum unseen_status unseen_set_export(const struct unseen_set *set, uint64_t *cursor, void *buf,
                                     size_t cap, size_t *len_out)
{
    static const struct chunk_cutter cutter = {.header_kind = KIND_HEADER,
                                               .piece_kind = KIND_PIECE,
                                               .end_kind = KIND_END,
                                               .id = set_export_id,
                                               .put_header = set_put_header,
                                               .put_piece = set_put_piece,
                                               .put_tail = set_put_window,
                                               .tail_kind = KIND_WINDOW,
                                               .end = set_end,
                                               .total = set_total};
    const enum unseen_status status =
        set->window && set->shared ? UNSEEN_ERR_UNSUPPORTED : unseen__set_fetch_all(set);
    return status == UNSEEN_OK ? unseen__chunk_cut(&cutter, set, cursor, buf, cap, len_out)
                               : status;
}

size_t unseen__set_table_len(const struct unseen_set *set)
{
    return set->ops == &unseen__compact_ops && set->shard_bits == 0
               ? unseen__compact_table_len(set->shards[0].filter)
               : 0;
}

void unseen__set_save_table(const struct unseen_set *set, uint8_t *table)
{
    unseen__compact_save_table(set->shards[0].filter, table);
}

enum unseen_status unseen__set_next_rest(const void *set, uint64_t *cursor, void *buf, size_t cap,
                                         size_t *len_out)
{
    *cursor = *cursor == 1 ? 1 + COMPACT_POSITION_KEYS : *cursor;
    return unseen_set_export(set, cursor, buf, cap, len_out);
}

enum unseen_status unseen__set_next_pages(const void *set, uint64_t *cursor, void *buf, size_t cap,
                                          size_t *len_out)
{
    const struct unseen_set *from = set;
    if (cap < (size_t)COMPACT_PAGES_MAX * COMPACT_PAGE) {
        return UNSEEN_ERR_SPACE;
    }
    *len_out = unseen__compact_save_pages(from->shards[0].filter, cursor, buf);
    return UNSEEN_OK;
}

enum unseen_status unseen__set_next_of_part(const void *part, uint64_t *cursor, void *buf,
                                            size_t cap, size_t *len_out)
{
    const struct unseen__part *of = part;
    const uint64_t width = COMPACT_POSITION_KEYS >> of->bits;
    uint64_t position = of->index * width + *cursor;
    *len_out = 0;
    if (*cursor == width) {
        return UNSEEN_OK;
    }
    const enum unseen_status status = unseen__set_next_pages(of->set, &position, buf, cap, len_out);
    *cursor = position - of->index * width;
    return status;
}

/* ---- import ---- */

struct unseen_import {
    struct unseen_set_options options;
    struct unseen_allocator allocator;
    struct unseen_set *set;       /* NULL before the header */
    const struct unseen_url *url; /* of the set; NULL: none, or not known yet */
    struct unseen_url *own_url;   /* the same, if the set will own it */
    uint64_t id;
    uint64_t nkeys;
    uint64_t nbytes_max;
    bool has_url; /* url is known */
    bool ended;
    bool failed;
};

enum unseen_status unseen_import_create(struct unseen_import **import_out,
                                        const struct unseen_set_options *given,
                                        struct unseen_error *error)
{
    struct unseen_set_options options;
    enum unseen_status status = unseen__set_options(given, &options, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    struct unseen_allocator allocator = unseen__allocator(options.allocator);
    struct unseen_import *import =
        unseen__alloc(&allocator, sizeof(*import), _Alignof(struct unseen_import));
    if (!import) {
        return unseen__error_plain(error, UNSEEN_ERR_NOMEM);
    }
    *import = (struct unseen_import){
        .options = options, .allocator = allocator, .nbytes_max = UINT64_MAX};
    if (options.profile) {
        status =
            unseen__set_url_make(&import->own_url, options.profile, options.cpu, &allocator, error);
        import->url = import->own_url;
        import->has_url = true;
    }
    if (status != UNSEEN_OK) {
        unseen__free(&allocator, import, sizeof(*import));
        return status;
    }
    *import_out = import;
    return UNSEEN_OK;
}

void unseen__import_lend_url(struct unseen_import *import, const struct unseen_url *url)
{
    import->url = url;
    import->has_url = true;
}

void unseen__import_limit(struct unseen_import *import, uint64_t nbytes)
{
    import->nbytes_max = nbytes;
}

void unseen_import_free(struct unseen_import *import)
{
    if (import) {
        struct unseen_allocator allocator = import->allocator;
        unseen_set_free(import->set);
        unseen_url_free(import->own_url);
        unseen__free(&allocator, import, sizeof(*import));
    }
}

/* Makes the canonicaliser with this id, for the set to own. */
static enum unseen_status import_url(struct unseen_import *import, const uint8_t *id, size_t len)
{
    char name[UNSEEN_URL_ID_MAX + 1];
    memcpy(name, id, len);
    name[len] = '\0';
    const enum unseen_status status =
        unseen__set_url_make(&import->own_url, name, import->options.cpu, &import->allocator, NULL);
    if (status != UNSEEN_OK) {
        return status == UNSEEN_ERR_NOMEM || status == UNSEEN_ERR_UNSUPPORTED ? status
                                                                              : UNSEEN_ERR_VERSION;
    }
    import->url = import->own_url;
    import->has_url = true;
    return strcmp(name, unseen__profile_of(import->own_url)) == 0 ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

static enum unseen_status import_header(struct unseen_import *import, const uint8_t *p, size_t len)
{
    if (import->set || len < 24 || memcmp(p, magic, sizeof(magic)) != 0) {
        return UNSEEN_ERR_CORRUPT;
    }
    if (load_le32(p + 8) != FORMAT_VERSION || load_le32(p + 12) != 0 ||
        load_le32(p + 16) != UNSEEN__HASH_ID) {
        return UNSEEN_ERR_VERSION;
    }
    const char *name = (const char *)p + NAME_OFFSET;
    if (len < PROFILE_OFFSET || len - PROFILE_OFFSET != load_le32(p + PROFILE_LEN_OFFSET) ||
        len - PROFILE_OFFSET > UNSEEN_URL_ID_MAX || name[NAME_LEN - 1] != 0) {
        return UNSEEN_ERR_CORRUPT;
    }
    enum unseen_status status = UNSEEN_OK;
    if (!import->has_url) {
        status = import_url(import, p + PROFILE_OFFSET, len - PROFILE_OFFSET);
        if (status != UNSEEN_OK) {
            return status;
        }
    }
    const char *profile = unseen__profile_of(import->url);
    if (len - PROFILE_OFFSET != strlen(profile) ||
        memcmp(p + PROFILE_OFFSET, profile, strlen(profile)) != 0) {
        return UNSEEN_ERR_MISMATCH;
    }
    struct unseen__secret secret;
    memcpy(secret.bytes, p + SECRET_OFFSET, UNSEEN__SECRET_LEN);
    struct unseen_set_options options = import->options;
    options.key_bits = load_le32(p + 20);
    if (!unseen__key_bits_are_valid(options.key_bits)) {
        return UNSEEN_ERR_CORRUPT;
    }
    options.filter = name;
    options.counts = load_le32(p + COUNTS_OFFSET) != 0;
    if (load_le32(p + COUNTS_OFFSET) > 1) {
        return UNSEEN_ERR_CORRUPT;
    }
    if (!unseen__filter_find(name, options.counts)) {
        return UNSEEN_ERR_VERSION;
    }
    options.capacity = 0;
    options.fpr = UNSEEN_FPR_DEFAULT;
    options.bits_per_key = 0; /* the saved parameters have the shape */
    options.hashes = 0;
    options.window = 0;
    options.allocator = &import->allocator; /* the caller's struct may be gone */
    import->nkeys = load_le64(p + 24);
    const struct unseen__saved saved = {
        .params = p + PARAMS_OFFSET, .nkeys = import->nkeys, .nbytes_max = import->nbytes_max};
    status = unseen__set_create(&import->set, &options, import->url, &secret, &saved, NULL);
    unseen__secret_forget(&secret);
    if (status == UNSEEN_OK) {
        import->set->own_url = import->own_url;
        import->own_url = NULL;
        import->set->shards[0].generation = load_le64(p + GENERATION_OFFSET);
    }
    return status == UNSEEN_ERR_NAME ? UNSEEN_ERR_VERSION : status;
}

static enum unseen_status import_piece(struct unseen_import *import, const uint8_t *p, size_t len)
{
    struct unseen_set *set = import->set;
    bool owned = false;
    for (size_t i = 0; set && i < unseen__set_nshards(set); i++) {
        if (set->ops->owns_piece(set->shards[i].filter, p, len)) {
            enum unseen_status status = set->ops->load_piece(set->shards[i].filter, p, len);
            if (status != UNSEEN_OK) {
                return status;
            }
            owned = true;
        }
    }
    return owned ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

static enum unseen_status import_chunk(struct unseen_import *import, const void *data, size_t len)
{
    struct chunk chunk;
    if (!chunk_open(&chunk, data, len)) {
        return UNSEEN_ERR_CORRUPT;
    }
    if (import->set && chunk.id != import->id) {
        return UNSEEN_ERR_MISMATCH;
    }
    switch (chunk.kind) {
    case KIND_HEADER:
        import->id = chunk.id;
        return import_header(import, chunk.payload, chunk.len);
    case KIND_PIECE:
        return import_piece(import, chunk.payload, chunk.len);
    case KIND_WINDOW:
        return import->set && !import->ended
                   ? unseen__window_load(import->set, chunk.payload, chunk.len)
                   : UNSEEN_ERR_CORRUPT;
    case KIND_END:
        if (!import->set || import->ended || chunk.len != 8 ||
            load_le64(chunk.payload) != import->nkeys) {
            return UNSEEN_ERR_CORRUPT;
        }
        import->ended = true;
        return UNSEEN_OK;
    default:
        return UNSEEN_ERR_CORRUPT;
    }
}

enum unseen_status unseen_import_chunk(struct unseen_import *import, const void *chunk, size_t len)
{
    enum unseen_status status =
        import->failed ? UNSEEN_ERR_CORRUPT : import_chunk(import, chunk, len);
    import->failed = status != UNSEEN_OK;
    return status;
}

enum unseen_status unseen__import_table(struct unseen_import *import,
                                        const struct unseen__pages *pages, const uint8_t *table,
                                        size_t len)
{
    struct unseen_set *set = import->set;
    if (!set || import->failed || set->ops != &unseen__compact_ops || set->shard_bits > 0) {
        return UNSEEN_ERR_UNSUPPORTED;
    }
    const enum unseen_status status =
        unseen__compact_load_table(set->shards[0].filter, pages, table, len);
    import->failed = status != UNSEEN_OK;
    set->fetches = status == UNSEEN_OK;
    return status;
}

enum unseen_status unseen_import_finish(struct unseen_import *import, struct unseen_set **set_out)
{
    struct unseen_set *set = import->set;
    enum unseen_status status =
        set && import->ended && !import->failed ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
    for (size_t i = 0; status == UNSEEN_OK && i < unseen__set_nshards(set); i++) {
        status = set->ops->load_finish(set->shards[i].filter);
    }
    if (status == UNSEEN_OK && unseen__set_nkeys(set) != import->nkeys) {
        status = UNSEEN_ERR_CORRUPT;
    }
    if (status == UNSEEN_OK && set->window) {
        status = unseen__window_load_finish(set);
    }
    if (status == UNSEEN_OK) {
        *set_out = set;
        import->set = NULL;
    }
    unseen_import_free(import);
    return status;
}

/* ---- files ---- */

enum unseen_status unseen__set_next_chunk(const void *set, uint64_t *cursor, void *buf, size_t cap,
                                          size_t *len_out)
{
    return unseen_set_export(set, cursor, buf, cap, len_out);
}

enum unseen_status unseen_set_save(const struct unseen_set *set, const char *path,
                                   struct unseen_error *error)
{
    struct chunk_writer w;
    enum unseen_status status = unseen__window_refuse(set, "saved", error);
    if (status == UNSEEN_OK) {
        status = unseen__chunk_writer_open(&w, path, 0600, &set->allocator, error);
    }
    return status == UNSEEN_OK ? unseen__chunk_writer_finish(&w, unseen__set_next_chunk, set, error)
                               : status;
}

static enum unseen_status set_take_chunk(void *object, const void *chunk, size_t len,
                                         bool *complete_out)
{
    struct unseen_import *import = object;
    const bool is_header = !import->set;
    const enum unseen_status status = unseen_import_chunk(import, chunk, len);
    *complete_out = import->ended;
    /* A chunk of another export does not belong into this file. */
    return status == UNSEEN_ERR_MISMATCH && !is_header ? UNSEEN_ERR_CORRUPT : status;
}

enum unseen_status unseen_set_load(struct unseen_set **set_out, const char *path,
                                   const struct unseen_set_options *options,
                                   struct unseen_error *error)
{
    struct unseen_import *import;
    enum unseen_status status = unseen_import_create(&import, options, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = unseen__chunk_file_read(path, KIND_HEADER, &import->allocator, set_take_chunk, import,
                                     error);
    if (status != UNSEEN_OK) {
        if (status == UNSEEN_ERR_MISMATCH) {
            status = unseen__error_setting(error, status, UNSEEN_SETTING_PROFILE,
                                           "%s was saved with another profile than %s", path,
                                           unseen__profile_of(import->own_url));
        }
        unseen_import_free(import);
        return status;
    }
    status = unseen_import_finish(import, set_out);
    return status == UNSEEN_OK ? status : unseen__error_status(error, status, path);
}
