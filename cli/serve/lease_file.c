/* SPDX-License-Identifier: MIT */
#include "serve/lease_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "folder.h"
#include "print/message.h"

enum {
    HEAD_BYTES = 28,         /* magic, the id of the store's log, CRC-32 of both */
    RECORD_BYTES = 28,       /* of a record without its text */
    TEXT_BYTES = 1 << 20,    /* of the longest text: a line of the protocol */
    AHEAD_BYTES = 2 << 20,   /* read or written at a time */
    COPIES_BYTES = 64 << 10, /* copied records that are written at once */
    KIND_LEASE = 1,
    KIND_END = 2
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

static uint32_t sum_of(const void *data, size_t len)
{
    return (uint32_t)crc32(crc32(0, NULL, 0), data, (unsigned)len);
}

static void make_head(const struct lease_file *f, uint8_t head[HEAD_BYTES])
{
    memcpy(head, magic, sizeof(magic));
    memcpy(head + 8, f->id, sizeof(f->id));
    put_number(head + 24, sum_of(head, 24), 4);
}

static bool lease_file_write(int fd, const uint8_t *data, size_t len, uint64_t at)
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

/* ---- The thread ------------------------------------------------------------------------------ */

static void lease_file_notify(const struct lease_file *f)
{
    const uint64_t one = 1;
    while (f->notify_fd > 0 && write(f->notify_fd, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
}

/* Syncs up to the record that is wanted. Has the lock, but not during the sync. */
static void sync_records(struct lease_file *f)
{
    const uint64_t wanted = f->wanted;
    const int fd = f->sync_fd;
    pthread_mutex_unlock(&f->lock);
    const int error = fdatasync(fd) == 0 ? 0 : errno;
    pthread_mutex_lock(&f->lock);
    f->error = error;
    f->synced = error ? f->synced : wanted;
}

/* Gives the new file the name. It has all records that were synced in the old one, as both get
 * them. Later syncs are of the new one. */
static void swap_files(struct lease_file *f)
{
    const int fd = f->new_fd; /* stays until the swap is over */
    pthread_mutex_unlock(&f->lock);
    const bool done = fdatasync(fd) == 0 && rename(f->new_path, f->path) == 0;
    const bool sure = done && folder_sync(f->path);
    pthread_mutex_lock(&f->lock);
    f->swap = sure ? LEASE_SWAP_DONE : done ? LEASE_SWAP_UNSURE : LEASE_SWAP_FAILED;
    f->sync_fd = done ? fd : f->sync_fd;
}

static void *sync_run(void *context)
{
    struct lease_file *f = context;
    pthread_mutex_lock(&f->lock);
    while (!f->stops && !f->error) {
        if (f->wanted == f->synced && f->swap != LEASE_SWAP_WANTED) {
            pthread_cond_wait(&f->changed, &f->lock);
            continue;
        }
        if (f->swap == LEASE_SWAP_WANTED) { /* first: there may be no end of records to sync */
            swap_files(f);
        } else {
            sync_records(f);
        }
        lease_file_notify(f);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

/* The thread blocks all signals: they are for the loop. */
static bool lease_file_start(struct lease_file *f)
{
    sigset_t all;
    sigset_t old;
    if (pthread_mutex_init(&f->lock, NULL) != 0) {
        return false;
    }
    if (pthread_cond_init(&f->changed, NULL) == 0) {
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &old);
        const int code = pthread_create(&f->thread, NULL, sync_run, f);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
        if (code == 0) {
            return true;
        }
        pthread_cond_destroy(&f->changed);
    }
    pthread_mutex_destroy(&f->lock);
    return false;
}

/* ---- Reading --------------------------------------------------------------------------------- */

struct reading {
    int fd;
    uint8_t *buf; /* AHEAD_BYTES */
    uint64_t at;  /* where in the file buf begins */
    size_t used;
    size_t len;
};

/* The next n bytes, which stay the next. NULL: the file ends before, or cannot be read. */
static const uint8_t *look_ahead(struct reading *r, size_t n)
{
    if (r->len - r->used < n) {
        memmove(r->buf, r->buf + r->used, r->len - r->used);
        r->len -= r->used;
        r->at += r->used;
        r->used = 0;
        ssize_t got = 1;
        while (r->len < n && (got > 0 || errno == EINTR)) {
            got = pread(r->fd, r->buf + r->len, AHEAD_BYTES - r->len, (off_t)(r->at + r->len));
            r->len += got > 0 ? (size_t)got : 0;
            errno = got == 0 ? 0 : errno;
        }
    }
    return r->len - r->used < n ? NULL : r->buf + r->used;
}

/* The next record. NULL where no whole record stands. */
static const uint8_t *lease_file_take(struct reading *r, size_t *len_out)
{
    const uint8_t *head = look_ahead(r, RECORD_BYTES);
    const uint64_t len = head ? get_number(head + 4, 4) : 0;
    const uint8_t *record =
        head && len <= TEXT_BYTES ? look_ahead(r, RECORD_BYTES + (size_t)len) : NULL;
    if (!record || (record[8] != KIND_LEASE && record[8] != KIND_END) ||
        get_number(record, 4) != sum_of(record + 4, RECORD_BYTES - 4 + (size_t)len)) {
        return NULL;
    }
    *len_out = (size_t)len;
    r->used += RECORD_BYTES + (size_t)len;
    return record;
}

static bool lease_file_take_all(struct lease_file *f,
                                bool (*each)(void *context, struct unseen_key key,
                                             struct unseen_bytes text, bool ends),
                                void *context)
{
    struct reading r = {.fd = f->fd, .buf = malloc(AHEAD_BYTES), .at = f->end};
    const uint8_t *record = NULL;
    size_t len = 0;
    bool done = r.buf != NULL;
    while (done && (record = lease_file_take(&r, &len))) {
        const struct unseen_key key = {get_number(record + 12, 8), get_number(record + 20, 8)};
        const struct unseen_bytes text = {(const char *)record + RECORD_BYTES, len};
        done = each(context, key, text, record[8] == KIND_END);
        f->end += RECORD_BYTES + len;
    }
    free(r.buf);
    errno = done ? errno : ENOMEM;
    return done;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Makes the file beside, with a head. Returns its descriptor, or -1. */
static int make_new_file(const struct lease_file *f)
{
    uint8_t head[HEAD_BYTES];
    make_head(f, head);
    if (unlink(f->new_path) != 0 && errno != ENOENT) {
        return -1;
    }
    const int fd = open(f->new_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 && !lease_file_write(fd, head, sizeof(head), 0)) {
        const int error = errno;
        (void)close(fd); /* thrown away */
        (void)unlink(f->new_path);
        errno = error;
        return -1;
    }
    return fd;
}

/* A file gets the name when its head is on the disk, so whatever crash comes, a file of this name
 * has a head. */
static bool lease_file_make(struct lease_file *f)
{
    f->fd = make_new_file(f);
    return f->fd >= 0 && fdatasync(f->fd) == 0 && rename(f->new_path, f->path) == 0;
}

/* Returns false, and reports it, if the file is of another store or is not a file of leases. */
static bool check_head(const struct lease_file *f)
{
    uint8_t head[HEAD_BYTES];
    uint8_t wanted[HEAD_BYTES];
    make_head(f, wanted);
    const ssize_t n = pread(f->fd, head, sizeof(head), 0);
    if (n < 0) {
        return false;
    }
    if (n == HEAD_BYTES && memcmp(head, wanted, sizeof(head)) == 0) {
        return true;
    }
    if (n == HEAD_BYTES && memcmp(head, magic, sizeof(magic)) == 0) {
        message_error("%s has the leases of another store", f->path);
    } else {
        message_error("%s is not a file of leases", f->path);
    }
    message_hint("mv %s %s.old, if nothing in it is wanted", f->path, f->path);
    errno = 0;
    return false;
}

static bool lease_file_open_new(struct lease_file *f)
{
    struct stat st;
    f->fd = open(f->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
    if (f->fd < 0) {
        return errno == ENOENT && lease_file_make(f);
    }
    if (fstat(f->fd, &st) != 0) {
        return false;
    }
    /* In a folder that others may write to, the file might be theirs. */
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022) || st.st_nlink != 1) {
        message_error("%s must be a file of its own that only this user may write", f->path);
        errno = 0;
        return false;
    }
    return check_head(f);
}

/* Cuts off a torn end, and makes what is left durable: a server that was killed may have left
 * records that it had not synced, and the leases in them are answered from now on. */
static bool settle_file(const struct lease_file *f)
{
    return ftruncate(f->fd, (off_t)f->end) == 0 && fdatasync(f->fd) == 0 && folder_sync(f->path);
}

static void free_paths(struct lease_file *f)
{
    free(f->path);
    free(f->new_path);
    f->path = NULL;
    f->new_path = NULL;
}

static bool make_paths(struct lease_file *f, const char *store)
{
    const size_t size = strlen(store) + sizeof(".leases.new");
    f->path = malloc(size);
    f->new_path = malloc(size);
    if (!f->path || !f->new_path) {
        free_paths(f);
        return false;
    }
    snprintf(f->path, size, "%s.leases", store);
    snprintf(f->new_path, size, "%s.leases.new", store);
    return true;
}

bool lease_file_open(struct lease_file *f, const char *store, const uint8_t id[16], int notify_fd,
                     bool (*each)(void *context, struct unseen_key key, struct unseen_bytes text,
                                  bool ends),
                     void *context)
{
    *f = (struct lease_file){.fd = -1, .new_fd = -1, .end = HEAD_BYTES, .notify_fd = notify_fd};
    memcpy(f->id, id, sizeof(f->id));
    if (!make_paths(f, store)) {
        return message_no_memory();
    }
    if (lease_file_open_new(f) && lease_file_take_all(f, each, context) && settle_file(f)) {
        f->sync_fd = f->fd;
        (void)unlink(f->new_path); /* a crash may have left it; a new copy would replace it */
        if (lease_file_start(f)) {
            return true;
        }
    }
    if (errno != 0) {
        message_error("cannot open %s: %s", f->path, strerror(errno));
    }
    if (f->fd >= 0) {
        (void)close(f->fd); /* nothing was appended */
    }
    free_paths(f);
    return false;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Writes the head and the text of a record, which has room for both. */
static void make_record(uint8_t *record, struct unseen_key key, struct unseen_bytes text, bool ends)
{
    memset(record, 0, RECORD_BYTES);
    put_number(record + 4, text.len, 4);
    record[8] = ends ? KIND_END : KIND_LEASE;
    put_number(record + 12, key.lo, 8);
    put_number(record + 20, key.hi, 8);
    if (text.len > 0) {
        memcpy(record + RECORD_BYTES, text.data, text.len);
    }
    put_number(record, sum_of(record + 4, RECORD_BYTES - 4 + text.len), 4);
}

/* ---- A new file beside ----------------------------------------------------------------------- */

static void forget_copy(struct lease_file *f)
{
    free(f->copies);
    f->copies = NULL;
    f->ncopies = 0;
    f->new_fd = -1;
}

/* The thread does not use the new file. */
static void give_up_copy(struct lease_file *f)
{
    if (lease_file_is_copied(f)) {
        (void)close(f->new_fd); /* thrown away */
        (void)unlink(f->new_path);
    }
    forget_copy(f);
    f->retry_at = 2 * f->end;
}

static bool copy_failed(struct lease_file *f)
{
    const int error = errno;
    give_up_copy(f);
    errno = error;
    return false;
}

/* Takes the new file if it has got the name, and throws it away if it could not get it. The thread
 * has ended, or the caller has the lock. */
static void end_swap(struct lease_file *f)
{
    if (f->swap == LEASE_SWAP_NONE || f->swap == LEASE_SWAP_WANTED) {
        return;
    }
    if (f->swap == LEASE_SWAP_FAILED) {
        give_up_copy(f);
    } else {
        f->failed = f->failed || f->swap == LEASE_SWAP_UNSURE;
        (void)close(f->fd); /* the new file has it all */
        f->fd = f->new_fd;
        f->end = f->new_end;
        f->retry_at = 0;
        forget_copy(f);
    }
    f->swap = LEASE_SWAP_NONE;
}

bool lease_file_begin_copy(struct lease_file *f)
{
    f->copies = malloc(COPIES_BYTES);
    f->new_fd = f->copies ? make_new_file(f) : -1;
    f->new_end = HEAD_BYTES;
    return lease_file_is_copied(f) || copy_failed(f);
}

/* Writes the copied records that are not written yet. */
static bool write_copies(struct lease_file *f)
{
    if (!lease_file_write(f->new_fd, f->copies, f->ncopies, f->new_end)) {
        return false;
    }
    f->new_end += f->ncopies;
    f->ncopies = 0;
    return true;
}

bool lease_file_copy(struct lease_file *f, struct unseen_key key, struct unseen_bytes text)
{
    const size_t size = RECORD_BYTES + text.len;
    if (f->ncopies + size > COPIES_BYTES && !write_copies(f)) {
        return copy_failed(f);
    }
    uint8_t *record = size <= COPIES_BYTES ? f->copies + f->ncopies : malloc(size);
    if (!record) {
        return copy_failed(f);
    }
    make_record(record, key, text, false);
    if (size <= COPIES_BYTES) {
        f->ncopies += size;
        return true;
    }
    const bool done = lease_file_write(f->new_fd, record, size, f->new_end);
    free(record);
    f->new_end += done ? size : 0;
    return done || copy_failed(f);
}

bool lease_file_end_copy(struct lease_file *f)
{
    if (!write_copies(f)) {
        return copy_failed(f);
    }
    free(f->copies);
    f->copies = NULL;
    pthread_mutex_lock(&f->lock);
    f->swap = LEASE_SWAP_WANTED;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    return true;
}

/* ---- Appending ------------------------------------------------------------------------------- */

/* The record goes into both files, or into none. */
static bool write_record(struct lease_file *f, const uint8_t *record, size_t size)
{
    if (lease_file_write(f->fd, record, size, f->end) &&
        (!lease_file_is_copied(f) ||
         (write_copies(f) && lease_file_write(f->new_fd, record, size, f->new_end)))) {
        return true;
    }
    const int error = errno;
    if (ftruncate(f->fd, (off_t)f->end) != 0 ||
        (lease_file_is_copied(f) && ftruncate(f->new_fd, (off_t)f->new_end) != 0)) {
        f->failed = true; /* a record behind the torn one would never be read */
    }
    errno = error;
    return false;
}

bool lease_file_append(struct lease_file *f, struct unseen_key key, struct unseen_bytes text,
                       bool ends)
{
    const size_t size = RECORD_BYTES + text.len;
    uint8_t *record = text.len <= TEXT_BYTES && !f->failed ? malloc(size) : NULL;
    if (!record) {
        errno = f->failed ? EIO : ENOMEM;
        return false;
    }
    make_record(record, key, text, ends);
    const bool done = write_record(f, record, size);
    const int error = errno;
    free(record);
    if (done) {
        f->end += size;
        f->new_end += lease_file_is_copied(f) ? size : 0;
        f->written++;
    }
    errno = error;
    return done;
}

void lease_file_sync(struct lease_file *f)
{
    if (f->path && f->written != f->wanted) { /* only we set wanted */
        pthread_mutex_lock(&f->lock);
        f->wanted = f->written;
        pthread_cond_broadcast(&f->changed);
        pthread_mutex_unlock(&f->lock);
    }
}

uint64_t lease_file_synced(struct lease_file *f, int *error_out)
{
    *error_out = 0;
    if (!f->path) {
        return 0;
    }
    pthread_mutex_lock(&f->lock);
    const uint64_t synced = f->synced;
    *error_out = f->error;
    end_swap(f);
    pthread_mutex_unlock(&f->lock);
    return synced;
}

void lease_file_close(struct lease_file *f, bool is_empty)
{
    if (!f->path) {
        return;
    }
    pthread_mutex_lock(&f->lock);
    f->stops = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
    end_swap(f);
    give_up_copy(f);
    (void)close(f->fd); /* a lease that was not synced was not answered */
    if (is_empty) {
        (void)unlink(f->path); /* an empty file says the same */
    }
    free_paths(f);
}
