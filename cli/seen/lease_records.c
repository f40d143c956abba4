/* SPDX-License-Identifier: MIT
 *
 * Encodes, decodes and finds the records of STORE.leases. */
#include "seen/lease_records.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "folder.h"
#include "print/message.h"
#include "print/typed.h"

enum {
    AHEAD_BYTES = 2 << 20, /* read at a time; a record is shorter */
    HASHED_MAX = 64 << 20  /* a search hashes so many bytes, and 8 times the file, at most */
};

static const uint8_t magic[8] = {0x89, 'U', 'N', 'E', 0x0d, 0x0a, 0x1a, 0x0a};

/* ---- Bytes ----------------------------------------------------------------------------------- */

static void put_number(uint8_t *to, uint64_t value, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = (uint8_t)(value >> 8 * i);
    }
}

static uint64_t get_number(const uint8_t *from, size_t n)
{
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++) {
        value |= (uint64_t)from[i] << 8 * i;
    }
    return value;
}

static uint32_t sum_of(uint32_t start, const void *data, size_t len)
{
    return (uint32_t)crc32(start, data, (unsigned)len);
}

char *lease_path(const char *store, const char *suffix)
{
    char *real = realpath(store, NULL);
    const char *from = real ? real : store;
    const size_t size = strlen(from) + strlen(suffix) + 1;
    char *path = malloc(size);
    if (path) {
        snprintf(path, size, "%s%s", from, suffix);
    }
    free(real);
    return path;
}

int lease_open(const char *path, int flags)
{
    struct stat st;
    const int fd = file_open(path, flags | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                   (flags == O_RDONLY ||
                    (st.st_uid == geteuid() && !(st.st_mode & 022) && st.st_nlink == 1)))) {
        return fd;
    }
    /* In a folder that others may write to, the file might be theirs. */
    message_error("%s must be a file of its own that only this user may write", path);
    (void)close(fd); /* nothing was written to it */
    errno = 0;
    return -1;
}

void lease_hint_aside(const char *path, const char *store, bool is_named)
{
    const char *quoted = typed_quoted(path);
    message_hint("if nothing in it is wanted: mv %s %s.old%s%s", quoted, quoted,
                 is_named ? " && unseen repair " : "", is_named ? typed_quoted(store) : "");
}

int lease_make(const char *path, const struct lease_head *head)
{
    if (unlink(path) != 0 && errno != ENOENT) {
        return -1;
    }
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 && !lease_head_write(fd, head)) {
        const int error = errno;
        (void)close(fd); /* thrown away */
        (void)unlink(path);
        errno = error;
        return -1;
    }
    return fd;
}

bool lease_head_draw(struct lease_head *head)
{
    uint64_t drawn[2];
    if (getrandom(drawn, sizeof(drawn), 0) != (ssize_t)sizeof(drawn)) {
        message_error("there is no source of randomness");
        return false;
    }
    head->salt = drawn[0];
    head->synced = LEASE_HEADS_BYTES;
    head->id = head->id ? head->id : drawn[1] | 1; /* 0 means none */
    return true;
}

void lease_head_encode(const struct lease_head *head, uint8_t bytes[LEASE_HEADS_BYTES])
{
    memcpy(bytes, magic, sizeof(magic));
    put_number(bytes + 8, head->id, 8);
    put_number(bytes + 16, head->seed_id, 8);
    put_number(bytes + 24, head->key_bits, 4);
    put_number(bytes + 28, head->salt, 8);
    put_number(bytes + 36, head->synced, 8);
    put_number(bytes + 44, sum_of(0, bytes, 44), 4);
    memcpy(bytes + LEASE_HEAD_BYTES, bytes, LEASE_HEAD_BYTES);
}

bool lease_head_write(int fd, const struct lease_head *head)
{
    uint8_t bytes[LEASE_HEADS_BYTES];
    lease_head_encode(head, bytes);
    return lease_write(fd, bytes, sizeof(bytes), 0);
}

bool lease_head_write_one(int fd, const struct lease_head *head, unsigned copy)
{
    uint8_t bytes[LEASE_HEADS_BYTES];
    lease_head_encode(head, bytes);
    return lease_write(fd, bytes, LEASE_HEAD_BYTES, (uint64_t)copy * LEASE_HEAD_BYTES);
}

static bool decode_head(const uint8_t bytes[LEASE_HEAD_BYTES], struct lease_head *head_out)
{
    *head_out = (struct lease_head){.id = get_number(bytes + 8, 8),
                                    .seed_id = get_number(bytes + 16, 8),
                                    .key_bits = (uint32_t)get_number(bytes + 24, 4),
                                    .salt = get_number(bytes + 28, 8),
                                    .synced = get_number(bytes + 36, 8)};
    return memcmp(bytes, magic, sizeof(magic)) == 0 &&
           get_number(bytes + 44, 4) == sum_of(0, bytes, 44);
}

/* The checksum of a record: of the salt and the offset, too. So whoever chooses texts cannot put a
 * record into one. */
static uint32_t record_sum(const struct lease_head *head, uint64_t offset, const uint8_t *record,
                           size_t len)
{
    uint8_t where[16];
    put_number(where, head->salt, 8);
    put_number(where + 8, offset, 8);
    return sum_of(sum_of(0, where, sizeof(where)), record + 4, len - 4);
}

void lease_record_encode(const struct lease_head *head, uint64_t offset, enum lease_kind kind,
                         struct unseen_key key, struct unseen_bytes text, uint8_t *record)
{
    memset(record, 0, LEASE_RECORD_BYTES);
    put_number(record + 4, text.len, 4);
    record[8] = (uint8_t)kind;
    put_number(record + 12, key.lo, 8);
    put_number(record + 20, key.hi, 8);
    if (text.len > 0) {
        memcpy(record + LEASE_RECORD_BYTES, text.data, text.len);
    }
    put_number(record, record_sum(head, offset, record, LEASE_RECORD_BYTES + text.len), 4);
}

bool lease_write(int fd, const uint8_t *data, size_t len, uint64_t at)
{
    while (len > 0) {
        const ssize_t n = pwrite(fd, data, len, (off_t)at);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        if (n > 0) {
            data += n;
            len -= (size_t)n;
            at += (uint64_t)n;
        }
    }
    return true;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Reads behind the *len bytes that buf has of the file from offset `at` on, until there are `least`
 * to `most`, or fewer at the end of the file. Returns false if that failed; errno has the cause. */
static bool fill(int fd, uint8_t *buf, size_t *len, size_t least, size_t most, uint64_t at)
{
    ssize_t got = 1;
    while (*len < least && got != 0) {
        got = pread(fd, buf + *len, most - *len, (off_t)(at + *len));
        if (got < 0 && errno != EINTR) {
            return false;
        }
        *len += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* The n bytes at an offset. *bytes_out is NULL if the file ends before. Returns false if it cannot
 * be read; errno has the cause. */
static bool look(struct lease_reader *r, uint64_t offset, size_t n, const uint8_t **bytes_out)
{
    *bytes_out = NULL;
    if (offset > r->size || n > r->size - offset) {
        return true;
    }
    if (offset < r->at || offset + n > r->at + r->len) {
        const bool overlaps = offset >= r->at && offset < r->at + r->len;
        const size_t kept = overlaps ? (size_t)(r->at + r->len - offset) : 0;
        memmove(r->buf, r->buf + (kept > 0 ? offset - r->at : 0), kept);
        r->at = offset;
        r->len = kept;
        if (!fill(r->fd, r->buf, &r->len, n, AHEAD_BYTES, offset)) {
            r->len = 0;
            return false;
        }
    }
    *bytes_out = offset + n <= r->at + r->len ? r->buf + (offset - r->at) : NULL;
    return true;
}

/* The record at an offset; *bytes_out is NULL if none is intact there. */
static bool read_record(struct lease_reader *r, uint64_t offset, const uint8_t **bytes_out,
                        size_t *len_out)
{
    const uint8_t *bytes = NULL;
    *bytes_out = NULL;
    if (!look(r, offset, LEASE_RECORD_BYTES, &bytes)) {
        return false;
    }
    if (!bytes) {
        return true;
    }
    const uint64_t len = get_number(bytes + 4, 4);
    const unsigned kind = bytes[8];
    if (len > LEASE_TEXT_BYTES || get_number(bytes + 9, 3) != 0 || kind < LEASE_BEGINS ||
        kind > LEASE_ENDS || (kind != LEASE_BEGINS && len > 0)) {
        return true;
    }
    *len_out = LEASE_RECORD_BYTES + (size_t)len;
    if (!look(r, offset, *len_out, &bytes)) {
        return false;
    }
    r->nhashed += bytes ? *len_out : 0;
    if (bytes && get_number(bytes, 4) == record_sum(&r->head, offset, bytes, *len_out)) {
        *bytes_out = bytes;
    }
    return true;
}

/* Looks for a record behind the offset, where none is intact. */
static bool search(struct lease_reader *r)
{
    r->next = 0;
    r->nhashed = 0;
    /* Texts may be full of heads without records. */
    for (uint64_t at = r->offset + 1; at < r->size && r->nhashed <= HASHED_MAX + 8 * r->size;
         at++) {
        const uint8_t *bytes = NULL;
        size_t len = 0;
        if (!read_record(r, at, &bytes, &len)) {
            return false;
        }
        if (bytes) {
            r->next = at;
            break;
        }
    }
    return true;
}

enum lease_found lease_reader_next(struct lease_reader *r, struct lease_record *record_out)
{
    const uint8_t *bytes = NULL;
    size_t len = 0;
    if (!read_record(r, r->offset, &bytes, &len)) {
        return LEASE_FAILED;
    }
    if (!bytes && r->offset < r->head.synced) {
        return search(r) ? LEASE_DAMAGED : LEASE_FAILED;
    }
    if (!bytes) {
        return r->offset < r->size ? LEASE_TORN : LEASE_END;
    }
    *record_out = (struct lease_record){
        .kind = (enum lease_kind)bytes[8],
        .key = {get_number(bytes + 12, 8), get_number(bytes + 20, 8)},
        .text = {(const char *)bytes + LEASE_RECORD_BYTES, len - LEASE_RECORD_BYTES}};
    r->offset += len;
    return LEASE_RECORD;
}

void lease_reader_skip(struct lease_reader *r)
{
    r->offset = r->next ? r->next : r->size;
    r->head.synced = r->next ? r->head.synced : 0; /* the rest is damaged once */
}

bool lease_reader_init(struct lease_reader *r, int fd, const char *path, const char *store)
{
    struct stat st;
    struct lease_head heads[2] = {{0}};
    uint8_t bytes[LEASE_HEADS_BYTES] = {0};
    size_t len = 0;
    *r = (struct lease_reader){
        .path = path, .fd = fd, .buf = malloc(AHEAD_BYTES), .offset = LEASE_HEADS_BYTES};
    if (!r->buf) {
        return message_no_memory();
    }
    if (fstat(fd, &st) != 0 || !fill(fd, bytes, &len, sizeof(bytes), sizeof(bytes), 0)) {
        message_error("cannot read %s: %s", path, strerror(errno));
        return false;
    }
    r->size = (uint64_t)st.st_size;
    const bool first_good = decode_head(bytes, &heads[0]);
    const bool second_good = decode_head(bytes + LEASE_HEAD_BYTES, &heads[1]);
    if (!first_good && !second_good) {
        message_error("%s is not a file of leases, or both of its heads are damaged", path);
        lease_hint_aside(path, store, true);
        return false;
    }
    r->good = !first_good || (second_good && heads[1].synced > heads[0].synced);
    r->head = heads[r->good];
    r->head_damaged = !first_good || !second_good;
    return true;
}

void lease_reader_release(struct lease_reader *r)
{
    free(r->buf);
    r->buf = NULL;
}
