/* SPDX-License-Identifier: MIT
 *
 * The bytes of STORE.leases, and how they are read (docs/format.md, "Leases"). serve/lease_file.h
 * writes the file, lease_health.h checks and repairs it.
 *
 * A server appends many records before it syncs, and a power cut may leave any of them. After each
 * sync, and before any lease is answered that the sync made durable, the server writes into the
 * head how much of the file is on the disk. A record before that offset that is not intact, or not
 * there, is damage. Behind it is a torn end, which nobody was told of. */
#ifndef UNSEEN_CLI_LEASE_RECORDS_H
#define UNSEEN_CLI_LEASE_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include <unseen.h>

enum {
    LEASE_HEAD_BYTES = 48,
    LEASE_HEADS_BYTES = 2 * LEASE_HEAD_BYTES, /* both copies; records follow */
    LEASE_RECORD_BYTES = 28,                  /* of a record without its text */
    LEASE_TEXT_BYTES = 1 << 20                /* of the longest text: a line of the protocol */
};

enum lease_kind {
    LEASE_BEGINS = 1,
    LEASE_ENDS = 2
};

struct lease_head {
    uint64_t id;       /* the note that the store's log has of this file */
    uint64_t seed_id;  /* of the store: keys are made with its secret */
    uint32_t key_bits; /* and have so many bits */
    uint64_t salt;     /* random: a record of an earlier file is never taken for one of this */
    uint64_t synced;   /* so many bytes of the file are on the disk */
};

/* The path of the leases of a store: beside the file that the name leads to. "" in place of suffix
 * means the file itself. NULL without memory. */
char *lease_path(const char *store, const char *suffix);

/* Opens a file of leases, if there is one, with O_RDONLY or O_RDWR. A file that is to be written
 * must be this user's alone. Returns its descriptor, or -1: errno has the cause, or is 0 if it has
 * been reported. */
int lease_open(const char *path, int flags);

/* Hints at a way to go on without the file of leases of a store; `is_named`: the store's log names
 * a file of leases. */
void lease_hint_aside(const char *path, const char *store, bool is_named);

/* Makes a file with a head, in place of any that has the name. Returns its descriptor, or -1: errno
 * has the cause. */
int lease_make(const char *path, const struct lease_head *head);

/* Fills in salt and, unless it is set, the id, for a file without records. Returns false, and
 * reports it, without randomness. */
bool lease_head_draw(struct lease_head *head);

/* Both copies of the head. */
void lease_head_encode(const struct lease_head *head, uint8_t bytes[LEASE_HEADS_BYTES]);

/* Writes both copies to a file, or one of them (0 or 1): a power cut may damage what is written, so
 * the other one has to be on the disk. Return false if that failed; errno has the cause. */
bool lease_head_write(int fd, const struct lease_head *head);
bool lease_head_write_one(int fd, const struct lease_head *head, unsigned copy);

/* Writes a record, for an offset of the file, to LEASE_RECORD_BYTES + text.len bytes. */
void lease_record_encode(const struct lease_head *head, uint64_t offset, enum lease_kind kind,
                         struct unseen_key key, struct unseen_bytes text, uint8_t *record);

/* pwrite(2) of all bytes. Returns false if that failed; errno has the cause. */
bool lease_write(int fd, const uint8_t *data, size_t len, uint64_t at);

struct lease_record {
    enum lease_kind kind;
    struct unseen_key key;
    struct unseen_bytes text; /* valid until the next record is read */
};

enum lease_found {
    LEASE_RECORD,
    LEASE_END,     /* the file ends here */
    LEASE_TORN,    /* from here on: records that were never synced */
    LEASE_DAMAGED, /* from here to `next` (0: to the end) no record is intact, or it is cut off */
    LEASE_FAILED   /* errno has the cause */
};

struct lease_reader {
    const char *path; /* borrowed, for messages */
    int fd;
    struct lease_head head;
    bool head_damaged; /* one of its copies */
    unsigned good;     /* the number of the other */
    uint64_t size;     /* of the file, when it was opened */
    uint64_t offset;   /* of the next record */
    uint64_t next;
    uint64_t nhashed; /* bytes of heads without records */
    uint8_t *buf;
    uint64_t at; /* where in the file buf begins */
    size_t len;
};

/* Reads the head of an open file. Returns false if there is none, or it could not be read, which
 * has been reported with a hint. Release the reader in any case. */
bool lease_reader_init(struct lease_reader *r, int fd, const char *path, const char *store);

/* Reads the next record. After DAMAGED, lease_reader_skip goes on with the next intact record. */
enum lease_found lease_reader_next(struct lease_reader *r, struct lease_record *record_out);
void lease_reader_skip(struct lease_reader *r);

void lease_reader_release(struct lease_reader *r);

#endif
