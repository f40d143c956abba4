/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* fallocate */
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#include "list/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/memory.h"

enum {
    CHUNK_MIN = 4096,
    CHUNK_MAX = 1 << 20,
    SLACK = 8, /* a record is stored as a whole word */
    NAMES_MAX = 100
};

#define NO_CHUNK UINT32_MAX

struct part {
    uint8_t *next; /* in its buffer */
    uint8_t *end;  /* where a record begins that does not fit */
    uint32_t last; /* chunk of the file, or NO_CHUNK */
    uint32_t nchunks;
};

struct unseen__spill {
    struct unseen_allocator allocator;
    unsigned part_bits;
    unsigned record; /* bytes */
    uint64_t key_mask;
    size_t nparts;
    size_t chunk;  /* bytes of a buffer that are used: whole records */
    size_t stride; /* from buffer to buffer, and from chunk to chunk of the file */
    uint8_t *buffers;
    struct part *parts;
    uint32_t *previous; /* of each chunk, the one before it of the same part */
    size_t nchunks;
    size_t chunks_cap;
    int fd; /* -1: there is no file */
    char *folder;
};

/* ---- lifetime ---- */

static size_t clamp(size_t value, size_t low, size_t high)
{
    return value < low ? low : value > high ? high : value;
}

static uint8_t *buffer_of(const struct unseen__spill *spill, size_t part)
{
    return spill->buffers + part * spill->stride;
}

static size_t buffers_len(const struct unseen__spill *spill)
{
    return spill->nparts * spill->stride + SLACK;
}

static void reset_buffer(struct unseen__spill *spill, size_t part)
{
    spill->parts[part].next = buffer_of(spill, part);
    spill->parts[part].end = spill->parts[part].next + spill->chunk;
}

enum unseen_status unseen__spill_create(struct unseen__spill **spill_out, unsigned part_bits,
                                        unsigned key_bits, size_t memory, const char *folder,
                                        const struct unseen_allocator *allocator)
{
    struct unseen__spill *s = unseen__alloc_zero(allocator, sizeof(*s), _Alignof(max_align_t));
    if (!s) {
        return UNSEEN_ERR_NOMEM;
    }
    s->allocator = *allocator;
    s->part_bits = part_bits;
    s->record = (key_bits - part_bits + 7) / 8;
    s->key_mask = UINT64_MAX << (64 - key_bits);
    s->nparts = (size_t)1 << part_bits;
    s->stride = clamp(memory / s->nparts, CHUNK_MIN, CHUNK_MAX) / CHUNK_MIN * CHUNK_MIN;
    s->chunk = (s->stride - SLACK) / s->record * s->record;
    s->fd = -1;
    const size_t folder_len = strlen(folder) + 1;
    s->folder = unseen__alloc(allocator, folder_len, 1);
    s->parts = unseen__alloc(allocator, s->nparts * sizeof(*s->parts), _Alignof(max_align_t));
    s->buffers = unseen__alloc(allocator, buffers_len(s), CHUNK_MIN);
    if (s->folder) {
        memcpy(s->folder, folder, folder_len);
    }
    if (!s->folder || !s->parts || !s->buffers) {
        unseen__spill_free(s);
        return UNSEEN_ERR_NOMEM;
    }
    for (size_t i = 0; i < s->nparts; i++) {
        reset_buffer(s, i);
        s->parts[i].last = NO_CHUNK;
        s->parts[i].nchunks = 0;
    }
    *spill_out = s;
    return UNSEEN_OK;
}

void unseen__spill_free(struct unseen__spill *s)
{
    if (!s) {
        return;
    }
    const struct unseen_allocator allocator = s->allocator;
    if (s->fd >= 0) {
        (void)close(s->fd); /* nobody will read it */
    }
    unseen__free(&allocator, s->folder, s->folder ? strlen(s->folder) + 1 : 0);
    unseen__free(&allocator, s->parts, s->nparts * sizeof(*s->parts));
    unseen__free(&allocator, s->buffers, buffers_len(s));
    unseen__free(&allocator, s->previous, s->chunks_cap * sizeof(*s->previous));
    unseen__free(&allocator, s, sizeof(*s));
}

/* ---- the file ---- */

/* Makes a file under a name that nobody has, and takes the name away. */
static enum unseen_status make_file(struct unseen__spill *s, struct unseen_error *error)
{
    char name[4096];
    int code = EEXIST;
    for (unsigned i = 0; i < NAMES_MAX && code == EEXIST; i++) {
        const int len =
            snprintf(name, sizeof(name), "%s/.unseen-%ld-%u.spill", s->folder, (long)getpid(), i);
        code = len < 0 || (size_t)len >= sizeof(name)
                   ? ENAMETOOLONG
                   : unseen__file_open(name, O_RDWR | O_CREAT | O_EXCL, &s->fd);
    }
    if (code == 0 && unlink(name) != 0) {
        code = errno;
    }
    return code ? unseen__error_io(error, "make a spill file in", s->folder, code) : UNSEEN_OK;
}

static enum unseen_status make_room(struct unseen__spill *s)
{
    if (s->nchunks < s->chunks_cap) {
        return UNSEEN_OK;
    }
    const size_t cap = s->chunks_cap ? 2 * s->chunks_cap : 1024;
    uint32_t *previous =
        cap < NO_CHUNK ? unseen__alloc(&s->allocator, cap * sizeof(*previous), sizeof(*previous))
                       : NULL;
    if (!previous) {
        return UNSEEN_ERR_NOMEM;
    }
    if (s->nchunks) {
        memcpy(previous, s->previous, s->nchunks * sizeof(*previous));
    }
    unseen__free(&s->allocator, s->previous, s->chunks_cap * sizeof(*previous));
    s->previous = previous;
    s->chunks_cap = cap;
    return UNSEEN_OK;
}

/* Writes the part's full buffer to the file. */
static UNSEEN_NOINLINE enum unseen_status put_away(struct unseen__spill *s, size_t index,
                                                   struct unseen_error *error)
{
    struct part *part = &s->parts[index];
    enum unseen_status status = s->fd < 0 ? make_file(s, error) : UNSEEN_OK;
    if (status == UNSEEN_OK && (status = make_room(s)) != UNSEEN_OK) {
        return unseen__error_status(error, status, s->folder);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    const int code =
        unseen__file_write(s->fd, (uint64_t)s->nchunks * s->stride, buffer_of(s, index), s->chunk);
    if (code != 0) {
        return unseen__error_io(error, "write a spill file in", s->folder, code);
    }
    s->previous[s->nchunks] = part->last;
    part->last = (uint32_t)s->nchunks++;
    part->nchunks++;
    reset_buffer(s, index);
    return UNSEEN_OK;
}

/* ---- keys ---- */

enum unseen_status unseen__spill_add(struct unseen__spill *s, const uint64_t *keys, size_t n,
                                     struct unseen_error *error)
{
    const unsigned part_bits = s->part_bits;
    const unsigned drop = 64 - 8 * s->record;
    for (size_t i = 0; i < n; i++) {
        const size_t index = part_bits ? keys[i] >> (64 - part_bits) : 0;
        struct part *part = &s->parts[index];
        if (UNSEEN_UNLIKELY(part->next == part->end)) {
            const enum unseen_status status = put_away(s, index, error);
            if (status != UNSEEN_OK) {
                return status;
            }
        }
        store_le64(part->next, keys[i] << part_bits >> drop);
        part->next += s->record;
    }
    return UNSEEN_OK;
}

unsigned unseen__spill_part_bits(const struct unseen__spill *s)
{
    return s->part_bits;
}

uint64_t unseen__spill_count(const struct unseen__spill *s, size_t part)
{
    const struct part *p = &s->parts[part];
    const size_t buffered = (size_t)(p->next - buffer_of(s, part));
    return ((uint64_t)p->nchunks * s->chunk + buffered) / s->record;
}

uint64_t unseen__spill_total(const struct unseen__spill *s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->nparts; i++) {
        n += unseen__spill_count(s, i);
    }
    return n;
}

static uint64_t *unpack(const struct unseen__spill *s, size_t part, const uint8_t *bytes,
                        size_t len, uint64_t *keys)
{
    const uint64_t prefix = s->part_bits ? (uint64_t)part << (64 - s->part_bits) : 0;
    const unsigned drop = 64 - 8 * s->record;
    for (size_t at = 0; at < len; at += s->record) {
        *keys++ = (prefix | load_le64(bytes + at) << drop >> s->part_bits) & s->key_mask;
    }
    return keys;
}

/* Gives the blocks of a chunk back; where the system cannot, they are kept until the end. */
static void give_back(const struct unseen__spill *s, uint64_t place)
{
#ifdef FALLOC_FL_PUNCH_HOLE
    (void)fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)place,
                    (off_t)s->stride);
#else
    (void)s;
    (void)place;
#endif
}

enum unseen_status unseen__spill_read(struct unseen__spill *s, size_t index, uint64_t *keys,
                                      struct unseen_error *error)
{
    struct part *part = &s->parts[index];
    uint8_t *buffer = buffer_of(s, index);
    keys = unpack(s, index, buffer, (size_t)(part->next - buffer), keys);
    /* The buffer has been read and takes the chunks, one after the other. */
    for (uint32_t chunk = part->last; chunk != NO_CHUNK; chunk = s->previous[chunk]) {
        const uint64_t place = (uint64_t)chunk * s->stride;
        size_t len = 0;
        const int code = unseen__file_read(s->fd, place, buffer, s->chunk, &len);
        if (code != 0 || len != s->chunk) {
            return unseen__error_io(error, "read a spill file in", s->folder, code ? code : EIO);
        }
        give_back(s, place);
        keys = unpack(s, index, buffer, s->chunk, keys);
    }
    part->last = NO_CHUNK;
    part->nchunks = 0;
    reset_buffer(s, index);
    return UNSEEN_OK;
}
