/* SPDX-License-Identifier: MIT
 *
 * Frames come from files and clients, and may be forged. The settings are checked like those of
 * a command, the library checks the chunks and the small set, and a set must have the filter
 * and the secret that the settings say. */
#include "value/dump.h"

#include <unseen_small.h>

#include "server/server.h"
#include "value/bytes.h"
#include "value/checksum.h"

enum {
    TAG_SETTINGS = 'S',
    TAG_SMALL = 'M',
    TAG_CHUNK = 'C',
    TAG_LEASES = 'L',
    TAG_END = 'Z',
    LEASE_LEN = 16 + 8,
    LEASES_MAX = 2048,     /* in a frame */
    ENTRIES_MAX = 1 << 16, /* that a frame looks at: most may be free */
    CURSOR_BITS = 52,
    SLACK = (2 << 20) + 65536, /* a set rounds to 2 MiB, and needs some memory beside its filter; */
    SLACK_PART = 64,           /* an import needs some for each piece */
    LINK_TIMES = 4             /* a link of a chain has at most so many times the bytes before it */
};

_Static_assert(DUMP_FRAME_MAX == UNSEEN_CHUNK_MAX + 1, "a chunk fits");
_Static_assert(DUMP_FRAME_MAX >= 1 + UNSEEN_SMALL_LEN_MAX + 4, "a small set fits");

/* ---- out ---- */

enum part {
    PART_SET,
    PART_LEASES /* then the end; the cursor is the index of a lease */
};

/* 0, 1 + (part << 52 | cursor in the part), and DUMP_END. */
static int64_t position_of(enum part part, uint64_t cursor)
{
    return (int64_t)(1 + ((uint64_t)part << CURSOR_BITS | cursor));
}

static size_t put_settings(const struct value *value, uint8_t *buf)
{
    buf[0] = TAG_SETTINGS;
    return 1 + settings_encode(&value_recipe(value)->settings, buf + 1);
}

static size_t put_end(const struct value *value, uint8_t *buf)
{
    size_t len = 1;
    buf[0] = TAG_END;
    len += put_varint(buf + len, value_nadded(value));
    len += put_varint(buf + len, value_nremoved(value));
    return checksum_append(buf, len);
}

/* The frame at *cursor of the set. Behind the last one *cursor is 2^52 or more. */
static size_t put_set(const struct value *value, uint64_t *cursor, uint8_t *buf)
{
    size_t len;
    if (value_small(value)) {
        buf[0] = TAG_SMALL;
        len = *cursor == 0 ? 1 + unseen_small_save(value_small(value), buf + 1) : 0;
        *cursor = (uint64_t)1 << CURSOR_BITS;
        return len ? checksum_append(buf, len) : 0;
    }
    buf[0] = TAG_CHUNK;
    const enum unseen_status status =
        unseen_set_export(value_set(value), cursor, buf + 1, UNSEEN_CHUNK_MAX, &len);
    return status == UNSEEN_OK && len > 0 ? 1 + len : 0;
}

/* Writes the leases from entry *i on, perhaps none. Returns their bytes, and 0 after the last
 * entry. */
static size_t put_leases(const struct lease_table *leases, uint64_t *i, uint8_t *buf)
{
    const uint64_t last = *i + ENTRIES_MAX;
    size_t len = 1;
    buf[0] = TAG_LEASES;
    for (; *i < leases->end && *i < last && len <= (LEASES_MAX - 1) * LEASE_LEN; ++*i) {
        const struct lease *lease = lease_table_at(leases, *i);
        put_le(buf + len, lease->key.hi, 8);
        put_le(buf + len + 8, lease->key.lo, 8);
        put_le(buf + len + 16, (uint64_t)lease->until, 8);
        len += lease->until > 0 ? LEASE_LEN : 0; /* 0: the entry is free */
    }
    return len > 1 || *i < leases->end ? checksum_append(buf, len) : 0;
}

size_t dump_frame(const struct value *value, int64_t *position, uint8_t *buf)
{
    if (*position == DUMP_START) {
        *position = position_of(PART_SET, 0);
        return put_settings(value, buf);
    }
    if (*position < 0) {
        return 0;
    }
    const uint64_t rest = (uint64_t)*position - 1;
    const uint64_t part = rest >> CURSOR_BITS;
    uint64_t cursor = rest & (((uint64_t)1 << CURSOR_BITS) - 1);
    size_t len = 0;
    if (part == PART_SET) {
        len = put_set(value, &cursor, buf);
        *position =
            cursor >> CURSOR_BITS ? position_of(PART_LEASES, 0) : position_of(PART_SET, cursor);
    } else if (part == PART_LEASES) {
        len = put_leases(value_leases(value), &cursor, buf);
        *position = len ? position_of(PART_LEASES, cursor) : DUMP_END;
        len = len ? len : put_end(value, buf);
    }
    return len;
}

/* ---- in ---- */

void loader_init(struct loader *loader)
{
    *loader = (struct loader){NULL, NULL, 0, false};
}

void loader_release(struct loader *loader)
{
    unseen_import_free(loader->import);
    value_free(loader->value);
    loader_init(loader);
}

struct value *loader_value(struct loader *loader)
{
    struct value *value = loader->value;
    loader_init(loader);
    return value;
}

static enum unseen_status take_settings(struct loader *loader, const uint8_t *data, size_t len)
{
    struct settings settings;
    struct recipe *recipe;
    if (loader->value) {
        return UNSEEN_ERR_CORRUPT;
    }
    enum unseen_status status = settings_decode(&settings, data, len);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = recipe_acquire(&recipe, &settings);
    if (status != UNSEEN_OK) {
        return status == UNSEEN_ERR_NOMEM ? status : UNSEEN_ERR_CORRUPT;
    }
    status = value_begin(&loader->value, recipe);
    recipe_release(recipe);
    return status;
}

/* The key's own limit does not hold for a load: what was added must not be lost. A sized set
 * takes one block of memory at its first chunk, however few bytes a forger has sent; all else
 * grows with what comes. */
static uint64_t block_limit(const struct loader *loader)
{
    const uint64_t sized = value_recipe(loader->value)->bytes;
    return sized + sized / SLACK_PART + SLACK + LINK_TIMES * loader->nbytes;
}

static enum unseen_status begin_set(struct loader *loader)
{
    struct unseen_allocator allocator = value_allocator(loader->value, block_limit(loader));
    const struct unseen_set_options options = {
        .size = sizeof(options), .profile = "none", .allocator = &allocator};
    return unseen_import_create(&loader->import, &options, NULL);
}

static bool has_set(const struct loader *loader)
{
    return loader->import || value_small(loader->value) || value_set(loader->value);
}

static enum unseen_status finish_set(struct loader *loader)
{
    struct unseen_import *import = loader->import;
    struct unseen_set *set;
    loader->import = NULL;
    const enum unseen_status status = unseen_import_finish(import, &set);
    if (status != UNSEEN_OK) {
        return status;
    }
    return value_load_set(loader->value, set) ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

static enum unseen_status take_chunk(struct loader *loader, const uint8_t *frame, size_t len)
{
    enum unseen_status status = UNSEEN_OK;
    if (!loader->value) {
        return UNSEEN_ERR_CORRUPT;
    }
    loader->nbytes += len;
    if (!has_set(loader)) {
        status = begin_set(loader);
    } else if (loader->import) {
        (void)value_allocator(loader->value, block_limit(loader));
    } else {
        status = UNSEEN_ERR_CORRUPT;
    }
    return status == UNSEEN_OK ? unseen_import_chunk(loader->import, frame + 1, len - 1) : status;
}

static enum unseen_status take_small(struct loader *loader, const uint8_t *frame, size_t len)
{
    len = checksum_strip(frame, len);
    if (!loader->value || has_set(loader) || len == SIZE_MAX) {
        return UNSEEN_ERR_CORRUPT;
    }
    return value_load_small(loader->value, frame + 1, len - 1);
}

static enum unseen_status take_leases(struct loader *loader, const uint8_t *frame, size_t len)
{
    struct budget budget = {0, 0, false};
    len = checksum_strip(frame, len);
    if (!loader->value || value_recipe(loader->value)->settings.family != FAMILY_URLS ||
        len == SIZE_MAX || (len - 1) % LEASE_LEN != 0) {
        return UNSEEN_ERR_CORRUPT;
    }
    for (size_t at = 1; at < len; at += LEASE_LEN) {
        const struct unseen_key key = {.hi = get_le(frame + at, 8),
                                       .lo = get_le(frame + at + 8, 8)};
        const uint64_t until = get_le(frame + at + 16, 8);
        if (until == 0 || until > INT64_MAX) {
            return UNSEEN_ERR_CORRUPT;
        }
        const enum unseen_status status =
            value_lease(&loader->value, key, 0, (int64_t)until, &budget);
        if (status != UNSEEN_OK) {
            return status;
        }
    }
    return UNSEEN_OK;
}

static enum unseen_status take_end(struct loader *loader, const uint8_t *frame, size_t len)
{
    uint64_t nadded;
    uint64_t nremoved;
    size_t at = 1;
    len = checksum_strip(frame, len);
    if (len == SIZE_MAX || !loader->value || !has_set(loader) ||
        !get_varint(frame, len, &at, &nadded) || !get_varint(frame, len, &at, &nremoved) ||
        at != len || nadded > INT64_MAX / 2 || nremoved > INT64_MAX / 2) {
        return UNSEEN_ERR_CORRUPT;
    }
    const enum unseen_status status = loader->import ? finish_set(loader) : UNSEEN_OK;
    if (status != UNSEEN_OK) {
        return status;
    }
    loader->is_complete = value_finish(&loader->value, nadded, nremoved);
    return loader->is_complete ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

/* A chunk of another version or URL identity is as unusable here as a damaged one. */
enum unseen_status loader_take(struct loader *loader, const void *frame, size_t len)
{
    const uint8_t *p = frame;
    enum unseen_status status = UNSEEN_ERR_CORRUPT;
    if (len == 0 || loader->is_complete) {
        return UNSEEN_ERR_CORRUPT;
    }
    if (p[0] == TAG_SETTINGS) {
        return take_settings(loader, p + 1, len - 1);
    }
    if (p[0] == TAG_SMALL) {
        status = take_small(loader, p, len);
    } else if (p[0] == TAG_CHUNK) {
        status = take_chunk(loader, p, len);
    } else if (p[0] == TAG_LEASES) {
        status = take_leases(loader, p, len);
    } else if (p[0] == TAG_END) {
        status = take_end(loader, p, len);
    }
    return status == UNSEEN_OK || status == UNSEEN_ERR_NOMEM ? status : UNSEEN_ERR_CORRUPT;
}

enum unseen_status dump_copy(struct value **copy_out, const struct value *value)
{
    struct loader loader;
    enum unseen_status status = UNSEEN_OK;
    uint8_t *buf = server.TryAlloc(DUMP_FRAME_MAX);
    if (!buf) {
        return UNSEEN_ERR_NOMEM;
    }
    loader_init(&loader);
    for (int64_t position = DUMP_START; position != DUMP_END && status == UNSEEN_OK;) {
        const size_t len = dump_frame(value, &position, buf);
        status = loader_take(&loader, buf, len);
    }
    server.Free(buf);
    if (status == UNSEEN_OK) {
        *copy_out = loader_value(&loader);
    }
    loader_release(&loader);
    return status;
}
