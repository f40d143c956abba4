/* SPDX-License-Identifier: MIT
 *
 * The texts of leases on the disk, in STORE.leases, so that a server that is killed knows what it
 * had handed out. A record says that a text was leased, or that a lease has ended. Records are
 * appended at once; a thread syncs them, for all clients together. docs/format.md has the bytes.
 *
 * A file of mostly old records is written anew beside: the caller copies some leases at a time, and
 * goes on appending, to both files. When all are copied, the thread syncs the new file and gives it
 * the name. So nobody waits for more than a few hundred kilobytes. */
#ifndef UNSEEN_CLI_LEASE_FILE_H
#define UNSEEN_CLI_LEASE_FILE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <unseen.h>

#include "seen/lease_records.h"

struct lease_file {
    char *path; /* NULL: not open */
    struct lease_head head;
    int fd;
    uint64_t end;       /* bytes of whole records */
    unsigned copy;      /* of the head that was written last, */
    uint64_t marked_at; /* when so many records were written */
    uint64_t written;   /* records appended by this process */
    int notify_fd;      /* written to after each sync */
    bool failed;        /* nothing can be appended any more */

    char *new_path;
    struct lease_head new_head;
    int new_fd; /* the file that is written beside; -1: there is none */
    uint64_t new_end;
    uint8_t *copies;   /* copied records that are not written yet; NULL: nothing is to be copied */
    size_t ncopies;    /* bytes */
    uint64_t retry_at; /* no copy is begun before the file is so large: the last has failed */

    /* shared with the thread, under the lock */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    uint64_t wanted; /* sync up to this record */
    uint64_t synced;
    uint64_t wanted_end; /* as offsets of the file; a new file begins with 0 */
    uint64_t synced_end;
    int error;   /* errno of a sync that failed */
    int sync_fd; /* of the file that has the name */
    enum {
        LEASE_SWAP_NONE,
        LEASE_SWAP_WANTED, /* the new file has all leases */
        LEASE_SWAP_DONE,   /* it has the name */
        LEASE_SWAP_UNSURE, /* after a power cut either file may have it */
        LEASE_SWAP_FAILED
    } swap;
    bool stops;
};

/* Takes a record. Returns false without memory. */
typedef bool lease_each(void *context, struct unseen_key key, struct unseen_bytes text, bool ends);

/* Opens STORE.leases and calls `each` with every record; a torn end is cut off. head has the id
 * that the store's log names. If it is 0, the file is made, and f->head.id is to be named in the
 * log before a lease is answered; a file with leases (*nlive is their number when all records have
 * been taken) is then that of another store. Returns false if that failed, which has been reported:
 * the file is missing or another store's, it is damaged, or cannot be read. */
bool lease_file_open(struct lease_file *f, const char *store, const struct lease_head *head,
                     int notify_fd, lease_each *each, void *context, const size_t *nlive);

/* Syncs all records. Returns false if that failed. */
bool lease_file_flush(struct lease_file *f);

/* Stops the thread and closes. With is_over, the file is removed: no lease is left, and the log
 * does not name it any more. */
void lease_file_close(struct lease_file *f, bool is_over);

/* Appends a record: a lease of the text, or the end of the key's lease. Returns false if that
 * failed; errno has the cause, and the file is as it was. */
bool lease_file_append(struct lease_file *f, struct unseen_key key, struct unseen_bytes text,
                       bool ends);

/* Lets the thread sync all records so far. */
void lease_file_sync(struct lease_file *f);

/* How many records are on the disk. *error_out is the errno of a sync that failed, or 0. Takes a
 * new file that has got the name. */
uint64_t lease_file_synced(struct lease_file *f, int *error_out);

/* Begins to write the file anew. Returns false if that failed; errno has the cause. */
bool lease_file_begin_copy(struct lease_file *f);

/* Copies a lease to the new file. Returns false if that failed; the old file stays. */
bool lease_file_copy(struct lease_file *f, struct unseen_key key, struct unseen_bytes text);

/* All leases have been copied: lets the thread give the new file the name. Returns false as above.
 * The copy ends later, in lease_file_synced. */
bool lease_file_end_copy(struct lease_file *f);

/* Whether a new file is being made. */
static inline bool lease_file_is_copied(const struct lease_file *f)
{
    return f->new_fd >= 0;
}

/* Whether leases are still to be copied. */
static inline bool lease_file_takes_copies(const struct lease_file *f)
{
    return f->copies != NULL;
}

#endif
