/* SPDX-License-Identifier: MIT
 *
 * Leases: a URL that was handed out to a worker for some seconds. When the worker says that it is
 * done, the URL's key goes into the store; if it does not, the URL is handed out again. So a worker
 * that dies loses nothing.
 *
 * A lease has a token. A token that is late, because its time was over, changes nothing. After a
 * restart of the server every lease is over. */
#ifndef UNSEEN_CLI_LEASES_H
#define UNSEEN_CLI_LEASES_H

#include <stdbool.h>
#include <stdint.h>

#include <unseen.h>

#include "leases/lease_table.h"
#include "serve/lease_file.h"

enum {
    LEASES_MAX = 1000000,          /* leases at once */
    LEASES_BYTES = 256 << 20,      /* of their texts */
    LEASE_SECONDS_MAX = 7 * 86400, /* of a lease */
    LEASE_TOKEN_BYTES = 32         /* of a token as text, with its NUL */
};

enum lease_state {
    LEASE_NONE,
    LEASE_OUT,   /* a worker has it */
    LEASE_BACK,  /* its time was over, or it was given back: it can be handed out */
    LEASE_ENDING /* its key is in the store, but not yet durable */
};

/* All zero: no leases. */
struct leases {
    struct lease_file file;
    struct lease_table table; /* of struct lease: the nlive, and those that are ENDING */
    size_t nlive;             /* OUT or BACK */
    size_t nbytes;            /* of the texts in the table */
    uint64_t last_token;
    size_t copied; /* while the file is written anew: so many entries are in the new file */
    struct lease_list {
        uint32_t first; /* index + 1; 0: none */
        uint32_t last;
    } back, ending;
    struct lease_time *times; /* a heap by the time when leases are over */
    size_t ntimes;
    size_t times_cap;
};

/* Opens the leases of a store: each that it does not have yet is BACK, the others are ENDING.
 * head and notify_fd as in lease_file_open. Returns false if that failed, which has been
 * reported. */
bool leases_open(struct leases *l, const char *store, const struct lease_head *head,
                 const struct unseen_set *set, int notify_fd);

/* Whether a file is open and has no lease any more, which is durable. Then the store's log must not
 * name it any more, and leases_close removes it. */
bool leases_are_over(struct leases *l);
void leases_close(struct leases *l, bool are_over);

/* What is known of a key. Leases whose time is over become BACK. now is in milliseconds. */
enum lease_state leases_state(struct leases *l, struct unseen_key key, uint64_t now);

/* Leases a text that is NONE or BACK until `until`. Returns false, with a sentence in *why_out, if
 * that cannot be. */
bool leases_grant(struct leases *l, struct unseen_key key, struct unseen_bytes text, uint64_t now,
                  uint64_t until, char token[LEASE_TOKEN_BYTES], const char **why_out);

/* Leases the text that has been BACK for the longest. Returns false if there is none; *text_out is
 * valid until the next call. */
bool leases_take_back(struct leases *l, uint64_t now, uint64_t until, char token[LEASE_TOKEN_BYTES],
                      struct unseen_bytes *text_out);

/* The key of a token whose lease is OUT; false: it is late. */
bool leases_find(struct leases *l, struct unseen_bytes token, uint64_t now,
                 struct unseen_key *key_out);

/* Gives a lease more time. It is OUT. Returns false without memory; nothing has changed then. */
bool leases_renew(struct leases *l, struct unseen_key key, uint64_t until);

/* Gives a lease back. It is OUT. */
void leases_give_back(struct leases *l, struct unseen_key key);

/* The key is in the store, and durable when so many changes are. The lease is OUT or BACK. */
void leases_end(struct leases *l, struct unseen_key key, uint64_t change);

/* The change that ended the lease was taken back: the lease is BACK if it was ENDING. */
void leases_undo_end(struct leases *l, struct unseen_key key);

/* Forgets leases that have ended, when that many changes are durable. Writes the file anew when it
 * is mostly old, a part at each call. */
void leases_settle(struct leases *l, uint64_t ndurable);

#endif
