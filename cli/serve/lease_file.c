/* SPDX-License-Identifier: MIT */
#include "serve/lease_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"
#include "print/message.h"
#include "print/typed.h"

enum {
    COPIES_BYTES = 64 << 10 /* copied records that are written at once */
};

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
    const uint64_t wanted_end = f->wanted_end;
    const int fd = f->sync_fd;
    pthread_mutex_unlock(&f->lock);
    const int error = fdatasync(fd) == 0 ? 0 : errno;
    pthread_mutex_lock(&f->lock);
    f->error = error;
    f->synced = error ? f->synced : wanted;
    f->synced_end = error ? f->synced_end : wanted_end;
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
    f->wanted_end = done ? 0 : f->wanted_end; /* an offset of the old file */
}

static void *sync_run(void *context)
{
    struct lease_file *f = context;
    pthread_mutex_lock(&f->lock);
    while (!f->stops && !f->error) {
        if (f->wanted == f->synced && f->wanted_end <= f->synced_end &&
            f->swap != LEASE_SWAP_WANTED) {
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

/* ---- Appending ------------------------------------------------------------------------------- */

/* Writes the copied records that are not written yet. */
static bool write_copies(struct lease_file *f)
{
    if (!lease_write(f->new_fd, f->copies, f->ncopies, f->new_end)) {
        return false;
    }
    f->new_end += f->ncopies;
    f->ncopies = 0;
    return true;
}

/* Writes a record of that size, which has room in bytes, to the file, and to the file that is
 * written beside. */
static bool write_record(struct lease_file *f, enum lease_kind kind, struct unseen_key key,
                         struct unseen_bytes text, uint8_t *bytes)
{
    const size_t size = LEASE_RECORD_BYTES + text.len;
    const bool twice = lease_file_is_copied(f);
    lease_record_encode(&f->head, f->end, kind, key, text, bytes);
    bool done = lease_write(f->fd, bytes, size, f->end) && (!twice || write_copies(f));
    if (done && twice) {
        lease_record_encode(&f->new_head, f->new_end, kind, key, text, bytes);
        done = lease_write(f->new_fd, bytes, size, f->new_end);
    }
    f->end += done ? size : 0;
    f->new_end += done && twice ? size : 0;
    return done;
}

/* The record goes into both files, or into none. */
static bool append(struct lease_file *f, enum lease_kind kind, struct unseen_key key,
                   struct unseen_bytes text)
{
    uint8_t *bytes =
        text.len <= LEASE_TEXT_BYTES && !f->failed ? malloc(LEASE_RECORD_BYTES + text.len) : NULL;
    if (!bytes) {
        errno = f->failed ? EIO : ENOMEM;
        return false;
    }
    const bool done = write_record(f, kind, key, text, bytes);
    const int error = errno;
    free(bytes);
    if (!done && (ftruncate(f->fd, (off_t)f->end) != 0 ||
                  (lease_file_is_copied(f) && ftruncate(f->new_fd, (off_t)f->new_end) != 0))) {
        f->failed = true; /* a record behind the torn one would never be read */
    }
    errno = error;
    return done;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Writes into the head how much of the file is on the disk. Without it, damage of a record would be
 * taken for a torn end. The next sync is of this write, too: until then the other copy, which is on
 * the disk, stays as it is. */
static void mark_synced(struct lease_file *f, uint64_t safe, uint64_t synced)
{
    if (safe <= f->head.synced) {
        return;
    }
    f->head.synced = safe;
    f->copy = synced > f->marked_at ? !f->copy : f->copy;
    f->marked_at = f->written;
    (void)lease_head_write_one(f->fd, &f->head, f->copy); /* if it fails, less is known */
}

/* A file gets the name when its head is on the disk, so whatever crash comes, a file of this name
 * has a head. */
static bool lease_file_make(struct lease_file *f)
{
    f->head.id = 0;
    if (!lease_head_draw(&f->head)) {
        errno = 0;
        return false;
    }
    f->fd = lease_make(f->new_path, &f->head);
    return f->fd >= 0 && fdatasync(f->fd) == 0 && rename(f->new_path, f->path) == 0;
}

/* Calls `each` with all records. Returns false if that failed; errno is 0 if it was reported. */
static bool read_records(struct lease_file *f, struct lease_reader *r, const char *store,
                         lease_each *each, void *context)
{
    enum lease_found found;
    struct lease_record record;
    while ((found = lease_reader_next(r, &record)) == LEASE_RECORD) {
        if (!each(context, record.key, record.text, record.kind == LEASE_ENDS)) {
            errno = ENOMEM;
            return false;
        }
    }
    f->end = r->offset;
    if (found == LEASE_DAMAGED) {
        message_error("%s is damaged at byte %" PRIu64, f->path, r->offset);
        message_hint("unseen repair %s", typed_quoted(store));
        errno = 0;
        return false;
    }
    return found != LEASE_FAILED;
}

/* Mends what can be: a head from its other copy. The torn end is cut off later. */
static bool mend(struct lease_file *f, const struct lease_reader *r)
{
    f->head = r->head;
    f->copy = !r->good;
    if (r->size > f->end) {
        message_warning("%s: %" PRIu64
                        " bytes at its end, of leases that were never answered, were cut off",
                        f->path, r->size - f->end);
    }
    if (!r->head_damaged) {
        return true;
    }
    message_warning("%s: one of its two heads was damaged, the other is good", f->path);
    return lease_head_write_one(f->fd, &f->head, f->copy); /* which settle_file syncs */
}

/* A file that the log does not name is of another store that was here before, or a crash has left
 * it when its last lease had ended. */
static bool refuse_foreign(const struct lease_file *f, const char *store)
{
    message_error("%s has the leases of another store", f->path);
    lease_hint_aside(f->path, store, f->head.id != 0);
    errno = 0;
    return false;
}

static bool refuse_missing(const struct lease_file *f, const char *store)
{
    message_error("%s has leases, but %s is not there: the two must be moved and copied together",
                  store, f->path);
    message_hint("to put it there: mv THERE/STORE.leases %s", typed_quoted(f->path));
    message_hint("if it is gone: unseen repair %s", typed_quoted(store));
    errno = 0;
    return false;
}

/* Reads the file that is open. *is_foreign_out: it is not the one that the log names. */
static bool read_file(struct lease_file *f, const char *store, lease_each *each, void *context,
                      bool *is_foreign_out)
{
    struct lease_reader r;
    bool done = lease_reader_init(&r, f->fd, f->path, store);
    if (!done) {
        errno = 0; /* reported */
    } else {
        *is_foreign_out = r.head.id != f->head.id || r.head.seed_id != f->head.seed_id ||
                          r.head.key_bits != f->head.key_bits;
        done = read_records(f, &r, store, each, context) && (*is_foreign_out || mend(f, &r));
    }
    const int error = errno;
    lease_reader_release(&r);
    errno = error;
    return done;
}

static bool open_or_make(struct lease_file *f, const char *store, lease_each *each, void *context,
                         const size_t *nlive)
{
    bool is_foreign = false;
    f->fd = lease_open(f->path, O_RDWR);
    if (f->fd < 0) {
        return errno == ENOENT && (f->head.id != 0 ? refuse_missing(f, store) : lease_file_make(f));
    }
    if (!read_file(f, store, each, context, &is_foreign)) {
        return false;
    }
    if (!is_foreign) {
        return true;
    }
    if (f->head.id != 0 || *nlive > 0) {
        return refuse_foreign(f, store);
    }
    (void)close(f->fd); /* was only read */
    f->end = LEASE_HEADS_BYTES;
    return lease_file_make(f);
}

/* Cuts off a torn end, and makes what is left durable: a server that was killed may have left
 * records that it had not synced, and the leases in them are answered from now on. */
static bool settle_file(struct lease_file *f)
{
    if (ftruncate(f->fd, (off_t)f->end) != 0 || fdatasync(f->fd) != 0 || !folder_sync(f->path)) {
        return false;
    }
    mark_synced(f, f->end, 0);
    return true;
}

static void free_paths(struct lease_file *f)
{
    free(f->path);
    free(f->new_path);
    f->path = NULL;
    f->new_path = NULL;
}

bool lease_file_open(struct lease_file *f, const char *store, const struct lease_head *head,
                     int notify_fd, lease_each *each, void *context, const size_t *nlive)
{
    *f = (struct lease_file){
        .fd = -1, .new_fd = -1, .head = *head, .end = LEASE_HEADS_BYTES, .notify_fd = notify_fd};
    f->path = lease_path(store, ".leases");
    f->new_path = lease_path(store, ".leases.new");
    if (!f->path || !f->new_path) {
        free_paths(f);
        return message_no_memory();
    }
    if (open_or_make(f, store, each, context, nlive) && settle_file(f)) {
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
        f->head = f->new_head;
        f->end = f->new_end;
        f->synced_end = 0;
        f->wanted_end = f->end; /* nobody knows how much of it was synced */
        pthread_cond_broadcast(&f->changed);
        f->retry_at = 0;
        forget_copy(f);
    }
    f->swap = LEASE_SWAP_NONE;
}

bool lease_file_begin_copy(struct lease_file *f)
{
    f->copies = malloc(COPIES_BYTES);
    f->new_head = f->head;
    f->new_fd =
        f->copies && lease_head_draw(&f->new_head) ? lease_make(f->new_path, &f->new_head) : -1;
    f->new_end = LEASE_HEADS_BYTES;
    return lease_file_is_copied(f) || copy_failed(f);
}

bool lease_file_copy(struct lease_file *f, struct unseen_key key, struct unseen_bytes text)
{
    const size_t size = LEASE_RECORD_BYTES + text.len;
    if (f->ncopies + size > COPIES_BYTES && !write_copies(f)) {
        return copy_failed(f);
    }
    uint8_t *record = size <= COPIES_BYTES ? f->copies + f->ncopies : malloc(size);
    if (!record) {
        return copy_failed(f);
    }
    lease_record_encode(&f->new_head, f->new_end + f->ncopies, LEASE_BEGINS, key, text, record);
    if (size <= COPIES_BYTES) {
        f->ncopies += size;
        return true;
    }
    const bool done = lease_write(f->new_fd, record, size, f->new_end);
    free(record);
    f->new_end += done ? size : 0;
    return done || copy_failed(f);
}

bool lease_file_end_copy(struct lease_file *f)
{
    f->new_head.synced = f->new_end + f->ncopies; /* it gets the name when that is true */
    if (!write_copies(f) || !lease_head_write(f->new_fd, &f->new_head)) {
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

bool lease_file_append(struct lease_file *f, struct unseen_key key, struct unseen_bytes text,
                       bool ends)
{
    const bool done = append(f, ends ? LEASE_ENDS : LEASE_BEGINS, key, text);
    f->written += done;
    return done;
}

void lease_file_sync(struct lease_file *f)
{
    if (f->path && f->written != f->wanted) { /* only we set wanted */
        pthread_mutex_lock(&f->lock);
        f->wanted = f->written;
        f->wanted_end = f->sync_fd == f->fd ? f->end : 0; /* the new file may have got the name */
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
    const uint64_t safe = f->synced_end;
    pthread_mutex_unlock(&f->lock);
    if (*error_out == 0) {
        mark_synced(f, safe, synced);
    }
    return synced;
}

bool lease_file_flush(struct lease_file *f)
{
    return f->path && fdatasync(f->fd) == 0;
}

void lease_file_close(struct lease_file *f, bool is_over)
{
    if (!f->path) {
        return;
    }
    pthread_mutex_lock(&f->lock);
    f->stops = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    end_swap(f);
    give_up_copy(f);
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
    (void)close(f->fd); /* a lease that was not synced was not answered */
    if (is_over) {
        (void)unlink(f->path); /* a file without leases says the same */
    }
    free_paths(f);
}
