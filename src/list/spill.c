/* SPDX-License-Identifier: MIT
 *
 * Parts the keys of a list by their top bits, in memory and in a file; spill.h has the idea. */
#include "base/posix.h"

#include "list/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/filename.h"
#include "base/macros.h"
#include "base/memory.h"
#include "hash/checksum.h"
#include "list/sort.h"

enum {
    CHUNK_MIN = 4096,
    CHUNK_MAX = 1 << 20,
    SLACK = 8, /* room behind the last record, as a record is stored as a whole word */
    APART = 64,
    AHEAD = 48,     /* keys between the fetch of their line and the store */
    SAMPLE = 32,    /* records that are searched for repeats */
    THIN_SHARE = 4, /* 1 / 4 of a buffer must come free, or thinning it out does not pay */
    HUGE_FROM = 11, /* part bits from which on there are so many keys that all buffers fill up */
    NAMES_MAX = 100,
    CHUNKS_FIRST = 1024
};

#define NO_CHUNK UINT32_MAX

/* A part, except how full its buffer is. */
struct part {
    uint32_t last; /* the last chunk in the file, or NO_CHUNK */
    uint32_t nchunks;
};

struct chunk {
    uint64_t checksum;
    uint32_t previous; /* the chunk before, of the same part */
};

struct unseen__spill {
    struct unseen_allocator allocator;
    unsigned part_bits;
    unsigned record; /* bytes */
    uint64_t key_mask;
    size_t nparts;
    uint32_t chunk; /* bytes of a buffer in use when it is full: whole records */
    size_t stride;  /* bytes from chunk to chunk in the file */
    size_t apart;   /* bytes from buffer to buffer in memory */
    uint8_t *buffers;
    uint32_t *fill; /* bytes in each part's buffer */
    struct part *parts;
    struct chunk *chunks;
    size_t nchunks;
    size_t chunks_cap;
    uint64_t expected; /* number of keys; 0: not known */
    int fd;            /* -1: there is no file */
    char *folder;
};

/* ---- lifetime ---- */

static size_t clamp(size_t value, size_t low, size_t high)
{
    return value < low ? low : value > high ? high : value;
}

static uint8_t *buffer_of(const struct unseen__spill *s, size_t part)
{
    return s->buffers + part * s->apart;
}

static bool is_huge(const struct unseen__spill *s)
{
    return s->part_bits >= HUGE_FROM && s->nparts * s->apart >= 8 * UNSEEN__HUGE_PAGE;
}

static size_t buffers_len(const struct unseen__spill *s)
{
    const size_t len = s->nparts * s->apart;
    return is_huge(s) ? (len + UNSEEN__HUGE_PAGE - 1) / UNSEEN__HUGE_PAGE * UNSEEN__HUGE_PAGE : len;
}

/* Allocates the buffers, in huge pages if there are many, because keys go to all of them in turn.
 * (2^13 parts: 7 ns a key, not 10.5.) */
static uint8_t *take_buffers(const struct unseen__spill *s)
{
    const size_t len = buffers_len(s);
    uint8_t *buffers = unseen__alloc(&s->allocator, len, CHUNK_MIN);
    if (buffers && is_huge(s)) {
        unseen__memory_large(&s->allocator, buffers, len);
    }
    return buffers;
}

/* Buffers fill evenly, so the next bytes of all buffers are about equally far from where the
 * buffers begin. If buffers began a power of two apart, these bytes would share a few sets of the
 * cache: hence APART. */
static void set_sizes(struct unseen__spill *s, unsigned part_bits, unsigned key_bits, size_t memory)
{
    s->part_bits = part_bits;
    s->record = (key_bits - part_bits + 7) / 8;
    s->key_mask = UINT64_MAX << (64 - key_bits);
    s->nparts = (size_t)1 << part_bits;
    s->stride = clamp(memory / s->nparts, CHUNK_MIN, CHUNK_MAX) / CHUNK_MIN * CHUNK_MIN;
    s->chunk = (uint32_t)((s->stride - SLACK) / s->record * s->record);
    s->apart = s->stride + APART;
}

enum unseen_status unseen__spill_create(struct unseen__spill **spill_out, unsigned part_bits,
                                        unsigned key_bits, size_t memory, uint64_t expected,
                                        const char *folder,
                                        const struct unseen_allocator *allocator)
{
    struct unseen__spill *s = unseen__alloc_zero(allocator, sizeof(*s), _Alignof(max_align_t));
    if (!s) {
        return UNSEEN_ERR_NOMEM;
    }
    s->allocator = *allocator;
    set_sizes(s, part_bits, key_bits, memory);
    s->fd = -1;
    s->expected = expected < UINT64_MAX >> 8 ? expected : UINT64_MAX >> 8;
    s->folder = unseen__path_with(allocator, folder, "");
    s->parts = unseen__alloc(allocator, s->nparts * sizeof(*s->parts), _Alignof(max_align_t));
    s->fill = unseen__alloc_zero(allocator, s->nparts * sizeof(*s->fill), 64);
    s->buffers = take_buffers(s);
    if (!s->folder || !s->parts || !s->fill || !s->buffers) {
        unseen__spill_free(s);
        return UNSEEN_ERR_NOMEM;
    }
    for (size_t i = 0; i < s->nparts; i++) {
        s->parts[i] = (struct part){.last = NO_CHUNK};
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
    unseen__path_free(&allocator, s->folder);
    unseen__free(&allocator, s->parts, s->nparts * sizeof(*s->parts));
    unseen__free(&allocator, s->fill, s->nparts * sizeof(*s->fill));
    unseen__free(&allocator, s->buffers, buffers_len(s));
    unseen__free(&allocator, s->chunks, s->chunks_cap * sizeof(*s->chunks));
    unseen__free(&allocator, s, sizeof(*s));
}

/* ---- the file ---- */

/* Makes a file under a name that is free, and removes the name. */
static enum unseen_status make_file(struct unseen__spill *s, struct unseen_error *error)
{
    char name[64];
    int folder = -1;
    int code = unseen__file_open(s->folder, O_RDONLY | O_DIRECTORY, &folder);
    bool taken = code == 0;
    for (unsigned i = 0; i < NAMES_MAX && taken; i++) {
        (void)snprintf(name, sizeof(name), ".unseen-%ld-%u.spill", (long)getpid(), i);
        code = unseen__file_make_in(folder, name, 0600, &s->fd);
        taken = code == EEXIST;
    }
    if (code == 0 && unlinkat(folder, name, 0) != 0) {
        code = errno;
    }
    if (folder >= 0) {
        (void)close(folder); /* nothing was written through it */
    }
    return code ? unseen__error_io(error, "make a spill file in", s->folder, code) : UNSEEN_OK;
}

/* Rounds up to MiB, for messages. */
static unsigned long long mebibytes(uint64_t bytes)
{
    return (bytes + ((1 << 20) - 1)) >> 20;
}

/* Reports that the disk is full, or would be: how much is needed, and what helps. */
static enum unseen_status no_space(const struct unseen__spill *s, uint64_t needed, uint64_t there,
                                   const char *what, struct unseen_error *error)
{
    static const char help[] = "give more memory, or a folder with more space";
    if (needed == 0) {
        (void)unseen__error(error, UNSEEN_ERR_IO, UNSEEN__NO_OFFSET,
                            "no space for the keys in %s: %s", s->folder, help);
    } else {
        (void)unseen__error(error, UNSEEN_ERR_IO, UNSEEN__NO_OFFSET,
                            "no space for the keys in %s: about %llu MiB are needed, %llu MiB are "
                            "%s: %s",
                            s->folder, mebibytes(needed), mebibytes(there), what, help);
    }
    if (error) {
        error->code = ENOSPC;
    }
    return UNSEEN_ERR_IO;
}

/* The bytes of all keys that are expected. */
static uint64_t needed_for(const struct unseen__spill *s)
{
    return s->expected * s->record;
}

static enum unseen_status write_error(const struct unseen__spill *s, int code,
                                      struct unseen_error *error)
{
    if (code == ENOSPC || code == EDQUOT) {
        return no_space(s, needed_for(s), (uint64_t)s->nchunks * s->stride, "written", error);
    }
    return unseen__error_io(error, "write a spill file in", s->folder, code);
}

/* Checks that the disk has room for the expected keys, less those that stay in the buffers. If the
 * system does not tell, writing finds it out. */
static enum unseen_status check_space(const struct unseen__spill *s, struct unseen_error *error)
{
    struct statvfs disk;
    const uint64_t needed = needed_for(s);
    const uint64_t buffered = (uint64_t)s->nparts * s->chunk;
    if (needed <= buffered || fstatvfs(s->fd, &disk) != 0 || disk.f_blocks == 0) {
        return UNSEEN_OK;
    }
    const uint64_t there = (uint64_t)disk.f_bavail * disk.f_frsize;
    return needed - buffered <= there ? UNSEEN_OK
                                      : no_space(s, needed - buffered, there, "there", error);
}

/* Makes room for one more chunk. Makes the file if there is none. */
static enum unseen_status reserve_chunk(struct unseen__spill *s, struct unseen_error *error)
{
    enum unseen_status status = s->fd < 0 ? make_file(s, error) : UNSEEN_OK;
    if (status == UNSEEN_OK && s->nchunks == 0) {
        status = check_space(s, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    const size_t n = s->nchunks + 1;
    return n < NO_CHUNK && array_grow(&s->allocator, &s->chunks, &s->chunks_cap, n, CHUNKS_FIRST,
                                      sizeof(*s->chunks))
               ? UNSEEN_OK
               : unseen__error_status(error, UNSEEN_ERR_NOMEM, s->folder);
}

/* Writes the part's full buffer to the file, as the part's last chunk, and empties it. */
static enum unseen_status write_chunk(struct unseen__spill *s, size_t index,
                                      struct unseen_error *error)
{
    struct part *part = &s->parts[index];
    const uint8_t *bytes = buffer_of(s, index);
    const enum unseen_status status = reserve_chunk(s, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    const int code = unseen__file_write(s->fd, (uint64_t)s->nchunks * s->stride, bytes, s->chunk);
    if (code != 0) {
        return write_error(s, code, error);
    }
    s->chunks[s->nchunks] = (struct chunk){unseen__checksum(bytes, s->chunk), part->last};
    part->last = (uint32_t)s->nchunks++;
    part->nchunks++;
    s->fill[index] = 0;
    return UNSEEN_OK;
}

/* ---- repeats ---- */

static inline void pack(const struct unseen__spill *s, uint64_t key, uint8_t *to)
{
    store_le64(to, key << s->part_bits >> (64 - 8 * s->record));
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

/* Are some of the first few records the same? They are if a few keys come again and again, and not
 * if all keys are different. */
static bool has_repeats(const struct unseen__spill *s, size_t part, const uint8_t *bytes, size_t n)
{
    uint64_t keys[SAMPLE] = {0};
    n = n < SAMPLE ? n : SAMPLE;
    (void)unpack(s, part, bytes, n * s->record, keys);
    for (size_t i = 1; i < n; i++) {
        for (size_t k = 0; k < i; k++) {
            if (keys[i] == keys[k]) {
                return true;
            }
        }
    }
    return false;
}

/* Leaves one record of each key in the part's full buffer: a part is read as a whole, so keys that
 * come often must not make it large. Returns false if that makes little room, or there is no memory
 * to try; the buffer is then as it was. */
static bool thin_out(struct unseen__spill *s, size_t index)
{
    uint8_t *bytes = buffer_of(s, index);
    const size_t n = s->chunk / s->record;
    uint64_t *keys =
        has_repeats(s, index, bytes, n)
            ? unseen__alloc(&s->allocator, 2 * n * sizeof(*keys), _Alignof(max_align_t))
            : NULL;
    if (!keys) {
        return false;
    }
    (void)unpack(s, index, bytes, n * s->record, keys);
    const size_t left = unseen__sort_distinct(keys, keys + n, n, s->part_bits);
    const bool pays = (n - left) * s->record >= s->chunk / THIN_SHARE;
    if (pays) {
        for (size_t i = 0; i < left; i++) {
            pack(s, keys[i], bytes + i * s->record);
        }
        s->fill[index] = (uint32_t)(left * s->record);
    }
    unseen__free(&s->allocator, keys, 2 * n * sizeof(*keys));
    return pays;
}

/* Makes room in the part's full buffer: thins it out, or else makes it a chunk of the file. */
static UNSEEN_NOINLINE enum unseen_status put_away(struct unseen__spill *s, size_t index,
                                                   struct unseen_error *error)
{
    return thin_out(s, index) ? UNSEEN_OK : write_chunk(s, index, error);
}

/* ---- keys ---- */

/* The buffers are written to at as many addresses as there are parts, and each address moves on
 * into memory that is in no cache. So the line is fetched in which the record after the next one of
 * a part will end. (Not in a function of its own: gcc 12 takes a function that only fetches for one
 * that does nothing.) 10^8 keys of 6 bytes in 2^10, 2^12, 2^13 parts: 4.5, 5.7, 6.8 ns each instead
 * of 7.0, 6.8, 7.1. */
enum unseen_status unseen__spill_add(struct unseen__spill *s, const uint64_t *keys, size_t n,
                                     struct unseen_error *error)
{
    const unsigned part_bits = s->part_bits;
    const unsigned record = s->record;
    const unsigned drop = 64 - 8 * record;
    const uint32_t chunk = s->chunk;
    uint32_t *fill = s->fill;
    for (size_t i = 0; i < n; i++) {
        const size_t index = part_bits ? keys[i] >> (64 - part_bits) : 0;
        if (i + AHEAD < n) {
            const size_t next = part_bits ? keys[i + AHEAD] >> (64 - part_bits) : 0;
            UNSEEN_PREFETCH(buffer_of(s, next) + fill[next] + sizeof(uint64_t));
        }
        if (UNSEEN_UNLIKELY(fill[index] == chunk)) {
            const enum unseen_status status = put_away(s, index, error);
            if (status != UNSEEN_OK) {
                return status;
            }
        }
        const uint32_t at = fill[index];
        fill[index] = at + record;
        store_le64(buffer_of(s, index) + at, keys[i] << part_bits >> drop);
    }
    return UNSEEN_OK;
}

unsigned unseen__spill_part_bits(const struct unseen__spill *s)
{
    return s->part_bits;
}

uint64_t unseen__spill_count(const struct unseen__spill *s, size_t part)
{
    return ((uint64_t)s->parts[part].nchunks * s->chunk + s->fill[part]) / s->record;
}

uint64_t unseen__spill_total(const struct unseen__spill *s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->nparts; i++) {
        n += unseen__spill_count(s, i);
    }
    return n;
}

/* ---- reading ---- */

/* Gives the blocks of a chunk back to the disk. If the system cannot, the file keeps them to the
 * end. */
static void give_back(const struct unseen__spill *s, uint64_t offset)
{
#ifdef FALLOC_FL_PUNCH_HOLE
    (void)fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                    (off_t)s->stride);
#else
    (void)s;
    (void)offset;
#endif
}

static enum unseen_status spill_damaged(const struct unseen__spill *s, uint64_t offset,
                                        struct unseen_error *error)
{
    return unseen__error(error, UNSEEN_ERR_CORRUPT, offset,
                         "the keys that were put into %s are damaged: begin anew", s->folder);
}

/* Reads a chunk and gives its blocks back. */
static enum unseen_status take_chunk(const struct unseen__spill *s, uint32_t chunk, uint8_t *bytes,
                                     struct unseen_error *error)
{
    const uint64_t offset = (uint64_t)chunk * s->stride;
    size_t got = 0;
    const int code = unseen__file_read(s->fd, offset, bytes, s->chunk, &got);
    if (code != 0) {
        return unseen__error_io(error, "read a spill file in", s->folder, code);
    }
    if (got != s->chunk || unseen__checksum(bytes, got) != s->chunks[chunk].checksum) {
        return spill_damaged(s, offset, error);
    }
    give_back(s, offset);
    return UNSEEN_OK;
}

enum unseen_status unseen__spill_read(struct unseen__spill *s, size_t index, uint64_t *keys,
                                      struct unseen_error *error)
{
    struct part *part = &s->parts[index];
    uint8_t *buffer = buffer_of(s, index);
    keys = unpack(s, index, buffer, s->fill[index], keys);
    /* The buffer has been read, so the chunks are read into it, one after the other. */
    for (uint32_t chunk = part->last; chunk != NO_CHUNK; chunk = s->chunks[chunk].previous) {
        const enum unseen_status status = take_chunk(s, chunk, buffer, error);
        if (status != UNSEEN_OK) {
            return status;
        }
        keys = unpack(s, index, buffer, s->chunk, keys);
    }
    *part = (struct part){.last = NO_CHUNK};
    s->fill[index] = 0;
    return UNSEEN_OK;
}
