/* SPDX-License-Identifier: MIT
 *
 * Frames come from files and clients, and may be forged. The settings are checked as those of a
 * command are, the library checks the chunks, and a layer must have the filter and the secret that
 * the settings say. */
#include "dump.h"

#include <string.h>

#include "bytes.h"
#include "checksum.h"
#include "server.h"

enum {
    TAG_SETTINGS = 'S',
    TAG_CHUNK = 'C',
    TAG_LEASES = 'L',
    TAG_END = 'Z',
    LEASE_LEN = 16 + 8,
    LEASES_MAX = 2048, /* in a frame */
    CHUNK_OFFSET = 2,
    END_LEN = 1 + 1 + 8 + 8, /* without checksum */
    CURSOR_BITS = 52,
    SLACK = (2 << 20) + 65536, /* a set rounds to 2 MiB, and needs some memory beside its filter; */
    SLACK_PART = 64            /* an import needs some for each piece */
};

_Static_assert(DUMP_FRAME_MAX == UNSEEN_CHUNK_MAX + CHUNK_OFFSET, "a chunk fits");

/* ---- out ---- */

/* 0, 1 + (layer << 52 | cursor in the layer), and DUMP_END. Behind the last layer there
 * are the leases, whose cursor is a slot, and the end. */
static int64_t position_of(unsigned layer, uint64_t cursor)
{
    return (int64_t)(1 + ((uint64_t)layer << CURSOR_BITS | cursor));
}

static size_t put_settings(const struct value *value, uint8_t *buf)
{
    buf[0] = TAG_SETTINGS;
    return 1 + settings_encode(&value->plan->settings, buf + 1);
}

static size_t put_end(const struct value *value, uint8_t *buf)
{
    buf[0] = TAG_END;
    buf[1] = (uint8_t)value->nlayers;
    put_le(buf + 2, value->nadded, 8);
    put_le(buf + 10, value->nremoved, 8);
    return checksum_append(buf, END_LEN);
}

static size_t put_chunk(const struct value *value, unsigned layer, uint64_t *cursor, uint8_t *buf)
{
    size_t len;
    buf[0] = TAG_CHUNK;
    buf[1] = (uint8_t)layer;
    const enum unseen_status status =
        unseen_set_export(value->layers[layer], cursor, buf + CHUNK_OFFSET, UNSEEN_CHUNK_MAX, &len);
    return status == UNSEEN_OK && len > 0 ? CHUNK_OFFSET + len : 0;
}

/* Leases from slot *slot on. Returns 0 if there are no more. */
static size_t put_leases(const struct value *value, uint64_t *slot, uint8_t *buf)
{
    size_t len = 1;
    buf[0] = TAG_LEASES;
    for (; *slot < value->leases.nslots && len <= (LEASES_MAX - 1) * LEASE_LEN; ++*slot) {
        const struct lease *lease = &value->leases.slots[*slot];
        if (lease->until != 0) {
            put_le(buf + len, lease->key.hi, 8);
            put_le(buf + len + 8, lease->key.lo, 8);
            put_le(buf + len + 16, (uint64_t)lease->until, 8);
            len += LEASE_LEN;
        }
    }
    return len > 1 ? checksum_append(buf, len) : 0;
}

size_t dump_frame(const struct value *value, int64_t *position, uint8_t *buf)
{
    if (*position == DUMP_START) {
        *position = position_of(0, 0);
        return put_settings(value, buf);
    }
    if (*position < 0) {
        return 0;
    }
    const uint64_t rest = (uint64_t)*position - 1;
    const uint64_t layer = rest >> CURSOR_BITS;
    uint64_t cursor = rest & (((uint64_t)1 << CURSOR_BITS) - 1);
    if (layer == value->nlayers) {
        const size_t leases_len = put_leases(value, &cursor, buf);
        *position = leases_len ? position_of(value->nlayers, cursor) : DUMP_END;
        return leases_len ? leases_len : put_end(value, buf);
    }
    if (layer >= value->nlayers) {
        return 0;
    }
    const size_t len = put_chunk(value, (unsigned)layer, &cursor, buf);
    *position = cursor >> CURSOR_BITS ? position_of((unsigned)layer + 1, 0)
                                      : position_of((unsigned)layer, cursor);
    return len;
}

/* ---- in ---- */

void loader_init(struct loader *loader)
{
    *loader = (struct loader){NULL, NULL, false};
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
    struct plan *plan;
    if (loader->value || !settings_decode(&settings, data, len)) {
        return UNSEEN_ERR_CORRUPT;
    }
    enum unseen_status status = plan_acquire(&plan, &settings);
    if (status != UNSEEN_OK) {
        return status == UNSEEN_ERR_NOMEM ? status : UNSEEN_ERR_CORRUPT;
    }
    status = value_begin(&loader->value, plan);
    plan_release(plan);
    return status;
}

/* The key's own limit does not hold for a load: what was added must not be lost. A first layer that
 * does not grow takes its memory at its header, so that has a limit: the memory of the plan. */
static void set_limit(struct loader *loader)
{
    const struct value *value = loader->value;
    const struct plan *plan = value->plan;
    loader->value->memory.limit = value->nlayers == 0 && plan->first_bytes > 0
                                      ? plan->first_bytes + plan->first_bytes / SLACK_PART + SLACK
                                      : 0;
}

static enum unseen_status begin_layer(struct loader *loader)
{
    struct value *value = loader->value;
    struct unseen_allocator allocator = memory_allocator(&value->memory);
    const struct unseen_set_options options = {.size = sizeof(options), .allocator = &allocator};
    if (value->nlayers == value->plan->nlayers) {
        return UNSEEN_ERR_CORRUPT;
    }
    set_limit(loader);
    return unseen_import_create(&loader->import, &options, NULL);
}

static enum unseen_status finish_layer(struct loader *loader)
{
    struct value *value = loader->value;
    struct unseen_import *import = loader->import;
    struct unseen_set *set;
    loader->import = NULL;
    const enum unseen_status status = unseen_import_finish(import, &set);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (!value_fits(value, set)) {
        unseen_set_free(set);
        return UNSEEN_ERR_CORRUPT;
    }
    value->layers[value->nlayers++] = set;
    return UNSEEN_OK;
}

/* True if the frame belongs to the layer behind the one that is being imported. */
static bool is_next_layer(const struct loader *loader, unsigned layer)
{
    return loader->import && layer == loader->value->nlayers + 1;
}

static enum unseen_status take_chunk(struct loader *loader, const uint8_t *frame, size_t len)
{
    enum unseen_status status = UNSEEN_OK;
    if (!loader->value || len < CHUNK_OFFSET) {
        return UNSEEN_ERR_CORRUPT;
    }
    if (is_next_layer(loader, frame[1])) {
        status = finish_layer(loader);
    }
    if (status == UNSEEN_OK && frame[1] != loader->value->nlayers) {
        status = UNSEEN_ERR_CORRUPT;
    }
    if (status == UNSEEN_OK && !loader->import) {
        status = begin_layer(loader);
    }
    return status == UNSEEN_OK
               ? unseen_import_chunk(loader->import, frame + CHUNK_OFFSET, len - CHUNK_OFFSET)
               : status;
}

static enum unseen_status take_leases(struct loader *loader, const uint8_t *frame, size_t len)
{
    len = checksum_strip(frame, len);
    if (!loader->value || loader->value->plan->settings.kind != KIND_URLS || len == SIZE_MAX ||
        (len - 1) % LEASE_LEN != 0) {
        return UNSEEN_ERR_CORRUPT;
    }
    for (size_t at = 1; at < len; at += LEASE_LEN) {
        const struct unseen_key key = {.hi = get_le(frame + at, 8),
                                       .lo = get_le(frame + at + 8, 8)};
        const uint64_t until = get_le(frame + at + 16, 8);
        if (until == 0 || until > INT64_MAX) {
            return UNSEEN_ERR_CORRUPT;
        }
        const enum unseen_status status = value_lease(loader->value, key, 0, (int64_t)until);
        if (status != UNSEEN_OK) {
            return status;
        }
    }
    return UNSEEN_OK;
}

static enum unseen_status take_end(struct loader *loader, const uint8_t *frame, size_t len)
{
    struct value *value = loader->value;
    if (!loader->import || checksum_strip(frame, len) != END_LEN) {
        return UNSEEN_ERR_CORRUPT;
    }
    const enum unseen_status status = finish_layer(loader);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (value->nlayers != frame[1]) {
        return UNSEEN_ERR_CORRUPT;
    }
    value->nadded = get_le(frame + 2, 8);
    value->nremoved = get_le(frame + 10, 8);
    if (value->nadded > INT64_MAX / 2 || value->nremoved > INT64_MAX / 2) {
        return UNSEEN_ERR_CORRUPT;
    }
    value->memory.limit = value->plan->settings.limit;
    loader->is_complete = true;
    return UNSEEN_OK;
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
        status = take_settings(loader, p + 1, len - 1);
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
