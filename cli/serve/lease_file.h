/* SPDX-License-Identifier: MIT
 *
 * The texts of leases on the disk, in STORE.leases, so that a server that is killed knows what it
 * had handed out. A record says that a text was leased, or that a lease has ended. Records are
 * appended at once; a thread syncs them, for all clients together. docs/format.md has the bytes. */
#ifndef UNSEEN_CLI_LEASE_FILE_H
#define UNSEEN_CLI_LEASE_FILE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <unseen.h>

struct lease_file {
    char *path; /* NULL: not open */
    uint8_t id[16];
    int fd;
    uint64_t end;     /* bytes of whole records */
    uint64_t written; /* records appended by this process */
    int notify_fd;    /* written to after each sync */
    bool failed;      /* nothing can be appended any more */

    /* shared with the thread, under the lock */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    uint64_t wanted; /* sync up to this record */
    uint64_t synced;
    int error; /* errno of a sync that failed */
    bool stops;
};

/* Opens STORE.leases and calls `each` with every record that is whole; a torn end is cut off. The
 * file is made if there is none. Returns false if that failed, which has been reported. */
bool lease_file_open(struct lease_file *f, const char *store, const uint8_t id[16], int notify_fd,
                     bool (*each)(void *context, struct unseen_key key, struct unseen_bytes text,
                                  bool ends),
                     void *context);

/* Stops the thread and closes. With is_empty, when no lease is left, the file is removed. */
void lease_file_close(struct lease_file *f, bool is_empty);

/* Appends a record: a lease of the text, or the end of the key's lease. Returns false if that
 * failed; errno has the cause, and the file is as it was. */
bool lease_file_append(struct lease_file *f, struct unseen_key key, struct unseen_bytes text,
                       bool ends);

/* Lets the thread sync all records so far. */
void lease_file_sync(struct lease_file *f);

/* How many records are on the disk. *error_out is the errno of a sync that failed, or 0. */
uint64_t lease_file_synced(struct lease_file *f, int *error_out);

/* Writes the file anew, with what `each` puts into it by lease_file_append. Returns false if that
 * failed; errno has the cause, and the old file stays. */
bool lease_file_rewrite(struct lease_file *f, bool (*each)(void *context, struct lease_file *to),
                        void *context);

#endif
