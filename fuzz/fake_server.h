/* SPDX-License-Identifier: MIT
 *
 * As much of a Redis server as the module calls, in the process of a fuzz target: databases of a
 * few keys, commands, replies, effects, RDB streams. Whatever a module must not do ends the
 * process: a reply that is missing or not complete, a key left open, a write by a command that only
 * reads, an effect without its signal, a function the server does not have.
 *
 * Effects of commands in database 0 are run in database 1, as a replica runs them. */
#ifndef UNSEEN_FUZZ_FAKE_SERVER_H
#define UNSEEN_FUZZ_FAKE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FAKE_PRIMARY = 0,
    FAKE_REPLICA = 1,
    FAKE_NARGS = 600,    /* of a command */
    FAKE_NVALUES = 600,  /* numbers of a reply that are kept */
    FAKE_NSTRINGS = 2048 /* of an RDB stream */
};

struct fake_text {
    const void *data;
    size_t len;
};

struct fake_reply {
    bool is_error;
    char error[160];
    size_t nvalues;
    long long values[FAKE_NVALUES]; /* numbers and booleans, in their order; an error is -2 */
};

struct fake_stream {
    size_t n;
    char *data[FAKE_NSTRINGS];
    size_t len[FAKE_NSTRINGS];
};

/* Loads the module with these arguments, again with each call, into empty databases. Returns false
 * if the module refuses the arguments. */
bool fake_load_module(const struct fake_text *argv, int argc);

size_t fake_ncommands(void);
const char *fake_command_name(size_t i);

/* Runs a command of the module in the primary, and its effects in the replica. */
void fake_run(const char *name, const struct fake_text *argv, int argc, struct fake_reply *reply);

/* From now on, the n-th allocation of a command in the primary fails; 0: none. */
void fake_fail_allocation(unsigned n);

void fake_advance(int64_t milliseconds);

/* The commands of the server itself, in both databases. */
void fake_delete(struct fake_text key);
void fake_set_text(struct fake_text key);

/* Returns false if there is no value to copy, or no memory. */
bool fake_copy(struct fake_text from, struct fake_text to);

bool fake_has_key(struct fake_text key);

/* True if the key has a value of the module. */
bool fake_has_value(int db, struct fake_text key);
uint64_t fake_digest(int db, struct fake_text key);

/* DUMP: *stream_out is released with fake_stream_release. Returns false if there is no value. */
bool fake_save(int db, struct fake_text key, struct fake_stream *stream_out);
void fake_stream_release(struct fake_stream *stream);

/* The first value of a file, which has beside it what the module saves for both databases. Saving
 * returns false if there is no value, or more than a stream takes; loading if the module refuses
 * it. The value itself is not kept. */
bool fake_save_beside(struct fake_stream *stream_out);
bool fake_load_beside(const struct fake_stream *stream);

/* RESTORE into a key without a value, in both databases. Returns false if the module refuses. */
bool fake_restore(struct fake_text key, const struct fake_stream *stream);

/* Rewrites the AOF of a key, and runs what it says under another name in both databases. */
void fake_rewrite(struct fake_text from, struct fake_text to);

/* Active defragmentation of the key in the primary: every block that the module offers is moved. */
void fake_defrag(struct fake_text key);

#endif
