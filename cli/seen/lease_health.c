/* SPDX-License-Identifier: MIT
 *
 * Reads all of STORE.leases; a repair copies what is intact to a new file. */
#include "seen/lease_health.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "print/message.h"
#include "seen/lease_records.h"
#include "seen/stores.h"

/* A file of leases that is checked or repaired. */
struct checking {
    const char *store;
    char *path;
    char *new_path; /* of the file that takes its place */
    int fd;         /* -1: there is no file */
    int new_fd;
    struct lease_reader reader;
    struct lease_head new_head;
    uint64_t new_end;
    uint64_t ndamages;
    uint64_t nlost; /* bytes of damaged records */
    void (*report)(void *context, const struct unseen_error *damage);
    void *context;
};

static bool failed(const char *what, const char *path)
{
    message_error("cannot %s %s: %s", what, path, strerror(errno));
    return false;
}

/* Reports damaged bytes, or `what` is wrong with the file. */
static void damage(struct checking *c, const char *what, uint64_t offset, uint64_t end)
{
    struct unseen_error error = {.status = UNSEEN_ERR_CORRUPT, .offset = offset};
    c->ndamages++;
    c->nlost += end - offset;
    if (end > offset) {
        snprintf(error.text, sizeof(error.text), "%s is damaged: bytes %" PRIu64 " to %" PRIu64,
                 c->path, offset, end);
    } else {
        snprintf(error.text, sizeof(error.text), "%s %s", c->path, what);
    }
    c->report(c->context, &error);
}

/* Opens the file, if there is one. */
static bool open_file(struct checking *c)
{
    c->path = lease_path(c->store, ".leases");
    c->new_path = lease_path(c->store, ".leases.new");
    if (!c->path || !c->new_path) {
        return message_no_memory();
    }
    c->fd = lease_open(c->path, O_RDONLY);
    if (c->fd < 0 && errno != ENOENT) {
        return errno != 0 && failed("open", c->path);
    }
    return c->fd < 0 || lease_reader_init(&c->reader, c->fd, c->path, c->store);
}

static void release(struct checking *c)
{
    lease_reader_release(&c->reader);
    if (c->fd >= 0) {
        (void)close(c->fd); /* was only read */
    }
    if (c->new_fd >= 0) {
        (void)close(c->new_fd); /* was synced, or is thrown away */
    }
    free(c->path);
    free(c->new_path);
}

/* Appends a record to the new file, if there is one. */
static bool keep(struct checking *c, const struct lease_record *record)
{
    const size_t len = LEASE_RECORD_BYTES + record->text.len;
    if (c->new_fd < 0) {
        return true;
    }
    uint8_t *bytes = malloc(len);
    if (!bytes) {
        return message_no_memory();
    }
    lease_record_encode(&c->new_head, c->new_end, record->kind, record->key, record->text, bytes);
    const bool done = lease_write(c->new_fd, bytes, len, c->new_end);
    free(bytes);
    c->new_end += len;
    return done || failed("write", c->new_path);
}

/* Reads all records, reports damage and keeps what is intact. */
static bool read_all(struct checking *c)
{
    struct lease_reader *r = &c->reader;
    if (r->head_damaged) {
        damage(c, "has two heads, of which one is damaged", 0, 0);
    }
    for (;;) {
        struct lease_record record;
        switch (lease_reader_next(r, &record)) {
        case LEASE_RECORD:
            if (!keep(c, &record)) {
                return false;
            }
            break;
        case LEASE_DAMAGED:
            damage(c, "is cut short", r->offset, r->next ? r->next : r->size);
            lease_reader_skip(r);
            break;
        case LEASE_FAILED:
            return failed("read", c->path);
        default:
            return true;
        }
    }
}

bool lease_health_verify(const char *store, uint64_t note,
                         void (*report)(void *context, const struct unseen_error *damage),
                         void *context)
{
    struct checking c = {
        .store = store, .fd = -1, .new_fd = -1, .report = report, .context = context};
    bool done = note == 0 || open_file(&c);
    if (note != 0 && done && c.fd < 0) {
        damage(&c, "is not there: put it there, or a repair forgets the leases", 0, 0);
    } else if (note != 0 && done && c.reader.head.id != note) {
        damage(&c, "has the leases of another store", 0, 0);
    } else if (note != 0 && done) {
        done = read_all(&c);
    }
    release(&c);
    return done;
}

/* ---- Repair ---------------------------------------------------------------------------------- */

/* The new file belongs to the user of the old one, who may not be the one who repairs it. */
static bool start_new(struct checking *c)
{
    struct stat st;
    c->new_head = (struct lease_head){.id = c->reader.head.id,
                                      .seed_id = c->reader.head.seed_id,
                                      .key_bits = c->reader.head.key_bits};
    if (!lease_head_draw(&c->new_head)) {
        return false;
    }
    c->new_fd = lease_make(c->new_path, &c->new_head);
    c->new_end = LEASE_HEADS_BYTES;
    return (c->new_fd >= 0 && fstat(c->fd, &st) == 0 &&
            fchown(c->new_fd, st.st_uid, st.st_gid) == 0) ||
           failed("make", c->new_path);
}

/* Gives the old file a second name: PATH.damaged, or PATH.damaged.1 and so on. Returns the name, or
 * NULL; errno has the cause. */
static char *keep_old(const struct checking *c)
{
    for (unsigned i = 0; i < 100; i++) {
        char suffix[32];
        snprintf(suffix, sizeof(suffix), i == 0 ? ".leases.damaged" : ".leases.damaged.%u", i);
        char *name = lease_path(c->store, suffix);
        if (!name || link(c->path, name) == 0) {
            return name;
        }
        const int error = errno;
        free(name);
        errno = error;
        if (error != EEXIST) {
            break;
        }
    }
    return NULL;
}

/* All intact records are in the new file. */
static bool publish(struct checking *c)
{
    c->new_head.synced = c->new_end;
    const bool is_written = lease_head_write(c->new_fd, &c->new_head) && fdatasync(c->new_fd) == 0;
    char *old = is_written ? keep_old(c) : NULL;
    const bool done = old && rename(c->new_path, c->path) == 0 && folder_sync(c->path);
    if (done) {
        message_warning("%s: forgot %" PRIu64 " bytes of damaged records, whose URLs are not "
                        "handed out again; %s is the file as it was",
                        c->path, c->nlost, old);
    } else {
        (void)failed("write", c->path);
    }
    free(old);
    return done;
}

static bool repair_file(struct checking *c)
{
    if (!start_new(c) || !read_all(c)) {
        (void)unlink(c->new_path); /* if this fails, the next copy replaces it */
        return false;
    }
    if (c->ndamages == 0) {
        (void)unlink(c->new_path); /* as above */
        return true;
    }
    return publish(c);
}

/* Says in the log which file has the leases. */
static bool set_note(struct unseen_store *store, const struct seen_options *o, const char *path,
                     uint64_t note)
{
    struct unseen_error error;
    error.status = unseen_store_note(store, note, &error);
    if (error.status != UNSEEN_OK) {
        stores_report(path, o, &error);
    }
    return error.status == UNSEEN_OK;
}

/* The caller has the lock of the store. */
static bool repair_leases(struct checking *c, struct unseen_store *store,
                          const struct seen_options *o, bool log_was_damaged)
{
    const struct unseen_store_info info = stores_info(store);
    if (!open_file(c)) {
        return false;
    }
    if (c->fd < 0) {
        if (info.note != 0) {
            damage(c, "is gone: no URL that was leased is handed out again", 0, 0);
        }
        return info.note == 0 || set_note(store, o, c->store, 0);
    }
    const struct lease_head *head = &c->reader.head;
    if (head->id != info.note) {
        /* The record of the note may be among those that were damaged. */
        if (!log_was_damaged || head->seed_id != info.seed_id) {
            if (info.note != 0) {
                message_error("%s has the leases of another store", c->path);
                lease_hint_aside(c->path, c->store, true);
            }
            return info.note == 0;
        }
        if (!set_note(store, o, c->store, head->id)) {
            return false;
        }
    }
    return repair_file(c);
}

bool lease_health_repair(const char *store, const struct seen_options *o, enum unseen_cpu cpu,
                         const struct unseen_store_health *health,
                         void (*report)(void *context, const struct unseen_error *damage),
                         void *context)
{
    struct checking c = {
        .store = store, .fd = -1, .new_fd = -1, .report = report, .context = context};
    static const struct profile_options own; /* that of the store */
    struct unseen_store *open = NULL;
    char *path = lease_path(store, ".leases");
    const bool is_there = path && access(path, F_OK) == 0;
    free(path);
    if (health->note == 0 && !is_there) {
        return true;
    }
    if (!stores_open(&open, store, UNSEEN_STORE_WRITE, o, &own, cpu)) {
        return false;
    }
    const bool done = repair_leases(&c, open, o, health->lost_bytes > 0);
    release(&c);
    return stores_close(open, store, o, !done) && done;
}
