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
    HEAD_BYTES = 28,      /* magic, the id of the store's log, CRC-32 of both */
    RECORD_BYTES = 28,    /* of a record without its text */
    TEXT_BYTES = 1 << 20, /* of the longest text: a line of the protocol */
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

static bool write_all(int fd, const uint8_t *data, size_t len, uint64_t at)
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

static void notify(const struct lease_file *f)
{
    const uint64_t one = 1;
    while (f->notify_fd > 0 && write(f->notify_fd, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
}

static void *sync_run(void *context)
{
    struct lease_file *f = context;
    pthread_mutex_lock(&f->lock);
    while (!f->stops && !f->error) {
        if (f->wanted == f->synced) {
            pthread_cond_wait(&f->changed, &f->lock);
            continue;
        }
        const uint64_t wanted = f->wanted;
        const int fd = f->fd;
        pthread_mutex_unlock(&f->lock);
        const int error = fdatasync(fd) == 0 ? 0 : errno;
        pthread_mutex_lock(&f->lock);
        f->error = error;
        f->synced = error ? f->synced : wanted;
        pthread_cond_broadcast(&f->changed);
        notify(f);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

/* The thread blocks all signals: they are for the loop. */
static bool start_thread(struct lease_file *f)
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

/* Reads the record at f->end into buf. Returns false where no whole record stands. */
static bool read_record(const struct lease_file *f, uint8_t *buf, size_t *len_out)
{
    if (pread(f->fd, buf, RECORD_BYTES, (off_t)f->end) != RECORD_BYTES) {
        return false;
    }
    const uint64_t len = get_number(buf + 4, 4);
    if (len > TEXT_BYTES ||
        pread(f->fd, buf + RECORD_BYTES, len, (off_t)(f->end + RECORD_BYTES)) != (ssize_t)len) {
        return false;
    }
    *len_out = (size_t)len;
    return get_number(buf, 4) == sum_of(buf + 4, RECORD_BYTES - 4 + *len_out) &&
           (buf[8] == KIND_LEASE || buf[8] == KIND_END);
}

static bool read_records(struct lease_file *f,
                         bool (*each)(void *context, struct unseen_key key,
                                      struct unseen_bytes text, bool ends),
                         void *context)
{
    uint8_t *buf = malloc(RECORD_BYTES + TEXT_BYTES);
    size_t len = 0;
    bool done = buf != NULL;
    while (done && read_record(f, buf, &len)) {
        const struct unseen_key key = {get_number(buf + 12, 8), get_number(buf + 20, 8)};
        const struct unseen_bytes text = {(const char *)buf + RECORD_BYTES, len};
        done = each(context, key, text, buf[8] == KIND_END);
        f->end += RECORD_BYTES + len;
    }
    free(buf);
    errno = done ? errno : ENOMEM;
    return done;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* A new file, or one that a crash has left without a whole head, gets a head. */
static bool write_head(struct lease_file *f)
{
    uint8_t head[HEAD_BYTES];
    make_head(f, head);
    return write_all(f->fd, head, sizeof(head), 0) && fdatasync(f->fd) == 0 && folder_sync(f->path);
}

/* Returns false, and reports it, if the file is another store's or no file of leases. */
static bool check_head(struct lease_file *f, uint64_t size)
{
    uint8_t head[HEAD_BYTES];
    uint8_t wanted[HEAD_BYTES];
    make_head(f, wanted);
    if (size < HEAD_BYTES) {
        return ftruncate(f->fd, 0) == 0 && write_head(f);
    }
    if (pread(f->fd, head, sizeof(head), 0) != HEAD_BYTES) {
        return false;
    }
    if (memcmp(head, wanted, sizeof(head)) == 0) {
        return true;
    }
    if (memcmp(head, magic, sizeof(magic)) == 0) {
        message_error("%s has the leases of another store", f->path);
    } else {
        message_error("%s is no file of leases", f->path);
    }
    message_hint("mv %s %s.old, if nothing in it is wanted", f->path, f->path);
    errno = 0;
    return false;
}

static bool open_file(struct lease_file *f)
{
    struct stat st;
    f->fd = open(f->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
    if (f->fd < 0 || fstat(f->fd, &st) != 0) {
        return false;
    }
    /* In a folder that others may write to, the file might be theirs. */
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022) || st.st_nlink != 1) {
        message_error("%s must be a file of its own that only this user may write", f->path);
        errno = 0;
        return false;
    }
    return check_head(f, (uint64_t)st.st_size);
}

bool lease_file_open(struct lease_file *f, const char *store, const uint8_t id[16], int notify_fd,
                     bool (*each)(void *context, struct unseen_key key, struct unseen_bytes text,
                                  bool ends),
                     void *context)
{
    const size_t size = strlen(store) + sizeof(".leases");
    *f = (struct lease_file){.fd = -1, .end = HEAD_BYTES, .notify_fd = notify_fd};
    memcpy(f->id, id, sizeof(f->id));
    f->path = malloc(size);
    if (!f->path) {
        return message_no_memory();
    }
    snprintf(f->path, size, "%s.leases", store);
    if (open_file(f) && read_records(f, each, context) && ftruncate(f->fd, (off_t)f->end) == 0 &&
        start_thread(f)) {
        return true;
    }
    if (errno != 0) {
        message_error("cannot open %s: %s", f->path, strerror(errno));
    }
    if (f->fd >= 0) {
        (void)close(f->fd); /* nothing was appended */
    }
    free(f->path);
    f->path = NULL;
    return false;
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
    (void)close(f->fd); /* a lease that was not synced was not answered */
    if (is_empty) {
        (void)unlink(f->path); /* an empty file says the same */
    }
    free(f->path);
    f->path = NULL;
}

/* ---- Writing --------------------------------------------------------------------------------- */

bool lease_file_append(struct lease_file *f, struct unseen_key key, struct unseen_bytes text,
                       bool ends)
{
    const size_t size = RECORD_BYTES + text.len;
    uint8_t *record = text.len <= TEXT_BYTES && !f->failed ? calloc(1, size) : NULL;
    if (!record) {
        errno = f->failed ? EIO : ENOMEM;
        return false;
    }
    put_number(record + 4, text.len, 4);
    record[8] = ends ? KIND_END : KIND_LEASE;
    put_number(record + 12, key.lo, 8);
    put_number(record + 20, key.hi, 8);
    if (text.len > 0) {
        memcpy(record + RECORD_BYTES, text.data, text.len);
    }
    put_number(record, sum_of(record + 4, size - 4), 4);
    const bool done = write_all(f->fd, record, size, f->end);
    const int error = errno;
    free(record);
    if (done) {
        f->end += size;
        f->written++;
    } else if (ftruncate(f->fd, (off_t)f->end) != 0) {
        f->failed = true; /* a record behind the torn one would never be read */
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
    pthread_mutex_unlock(&f->lock);
    return synced;
}

/* Writes the new file beside the old one; false if that failed. */
static bool fill_new(struct lease_file *new, bool (*each)(void *context, struct lease_file *to),
                     void *context)
{
    uint8_t head[HEAD_BYTES];
    make_head(new, head);
    return write_all(new->fd, head, sizeof(head), 0) && each(context, new) &&
           fdatasync(new->fd) == 0;
}

bool lease_file_rewrite(struct lease_file *f, bool (*each)(void *context, struct lease_file *to),
                        void *context)
{
    char path[4200];
    struct lease_file new = *f; /* its lock and thread are not used */
    const int len = snprintf(path, sizeof(path), "%s.new", f->path);
    new.fd = len < (int)sizeof(path) && (unlink(path) == 0 || errno == ENOENT)
                 ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)
                 : -1;
    new.end = HEAD_BYTES;
    if (new.fd < 0) {
        return false;
    }
    if (!fill_new(&new, each, context) || rename(path, f->path) != 0) {
        const int error = errno;
        (void)close(new.fd); /* thrown away */
        (void)unlink(path);
        errno = error;
        return false;
    }
    f->failed = !folder_sync(f->path); /* its name may be the old file's after a power cut */
    pthread_mutex_lock(&f->lock);
    while (f->wanted != f->synced && !f->error) { /* the thread may be syncing the old file */
        pthread_cond_wait(&f->changed, &f->lock);
    }
    (void)close(f->fd); /* the new file has it all */
    f->fd = new.fd;
    f->end = new.end;
    f->synced = f->written;
    f->wanted = f->written;
    pthread_mutex_unlock(&f->lock);
    return true;
}
