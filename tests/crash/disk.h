/* SPDX-License-Identifier: MIT
 *
 * A model of a disk and the cache before it. It follows a trace (trace.h), and can say at each
 * moment what a power cut might leave.
 *
 * For each file it keeps the bytes that are certain, and the writes and cuts that no sync has
 * covered yet; the same for the names in the folder. A state is what is certain, plus any part of
 * what is not: of each write, each 512-byte sector may have arrived or not; where the length of a
 * file was kept but its bytes were not, there may be zeros, noise, or what another file left in
 * these blocks. Names come and go independently of bytes, and only a sync of the folder makes them
 * certain, as POSIX has it; many file systems promise more. */
#ifndef UNSEEN_CRASH_DISK_H
#define UNSEEN_CRASH_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace.h"

enum {
    DISK_FILES_MAX = 64,
    DISK_NAMES_MAX = 12,
    DISK_NAME_LEN = 32,
    DISK_FDS_MAX = 64,
    DISK_PENDING_MAX = 4096
};

struct disk_bytes {
    uint8_t *data;
    size_t len;
    size_t cap;
};

/* The files of a folder: what a power cut leaves, or what is there. */
struct disk_state {
    size_t n;
    struct {
        char name[DISK_NAME_LEN];
        struct disk_bytes bytes;
    } files[DISK_NAMES_MAX];
};

struct disk;

/* A disk that holds a state, for certain. */
struct disk *disk_create(const struct disk_state *state);
void disk_free(struct disk *disk);

/* Follows one call; its names and bytes lie behind it and must stay there. */
void disk_apply(struct disk *disk, const struct trace_op *op);

/* What programs see: all of it. */
void disk_now(const struct disk *disk, struct disk_state *out);

/* The number of writes, cuts and names that are not certain. */
size_t disk_nuncertain(const struct disk *disk);

/* Number of deterministic policies; higher numbers draw one at random. */
enum {
    DISK_NPOLICIES = 20
};

/* One of the states that a power cut at this moment may leave. */
void disk_cut(const struct disk *disk, unsigned policy, uint64_t *random, struct disk_state *out);

/* ---- States ---------------------------------------------------------------------------------- */

void disk_state_free(struct disk_state *state);
void disk_state_copy(const struct disk_state *from, struct disk_state *to);
uint64_t disk_state_hash(const struct disk_state *state);

/* Stale blocks may make the output look like a store. The tool does not write to one, and says so:
 * a refusal that loses nothing. */
bool disk_state_is_confusing(const struct disk_state *state);

/* From and to the scratch folder (crash.h). */
void disk_state_read(struct disk_state *state);
void disk_state_write(const struct disk_state *state);

/* The first name in which two states differ, or NULL. */
const char *disk_state_difference(const struct disk_state *a, const struct disk_state *b);

#endif
