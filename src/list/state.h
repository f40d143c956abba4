/* SPDX-License-Identifier: MIT
 *
 * The folder of a build that can be resumed (checkpoint.c). It has two files. "keys" is the file of
 * a kept spill (spill.h). "state" says how the list is to be made, which chunks of keys count, and
 * where the caller is in its inputs. A state is written whole, and renamed over the one before,
 * when all keys that it counts are on the disk. Only the next process of the same version reads it.
 *
 *     8 bytes    magic
 *     4 + 4      version, flags (1: all keys were added)
 *     8          length of the file
 *     8 each     rate, capacity, keys given
 *     4 each     key bits, part bits, stride of the chunks, most texts of a question
 *     8 each     length of the note, length of the table
 *     32         secret
 *     4096, 32   profile, kind
 *                the note, the table of chunks, and the checksum of all that, in 8 bytes */
#ifndef UNSEEN_LIST_STATE_H
#define UNSEEN_LIST_STATE_H

#include "list/list_format.h"

struct unseen__list_state {
    bool complete; /* all keys were added */
    double fpr;
    struct unseen__secret secret;
    uint64_t capacity;
    uint64_t ngiven;
    unsigned key_bits;
    unsigned part_bits;
    unsigned stride;
    unsigned ntexts;
    char profile[UNSEEN__LIST_PROFILE_LEN];
    char kind[UNSEEN__LIST_KIND_LEN];
    const uint8_t *note;
    size_t note_len;
    const uint8_t *table;
    size_t table_len;
};

/* The open folder of a build, from _open to _release. */
struct unseen__list_kept {
    struct unseen_allocator allocator;
    char *keys_path;
    char *state_path;
    int folder; /* open; -1: not */
    int keys;   /* open, and locked against other builds; -1: not open */
};

/* Opens the folder and its keys. anew: empties the keys, or makes them, and removes the state.
 * Errors: MISSING (no folder, or no keys), FOREIGN (one of the names is not our file's), BUSY, IO,
 * NOMEM; after an error there is nothing to release. */
enum unseen_status unseen__list_kept_open(struct unseen__list_kept *kept, const char *folder,
                                          bool anew, const struct unseen_allocator *allocator,
                                          struct unseen_error *error);

/* Reads the state. It points to *bytes_out, *len_out bytes of memory, which the caller frees.
 * Errors: MISSING, FOREIGN, CORRUPT, VERSION, IO, NOMEM. */
enum unseen_status unseen__list_kept_load(const struct unseen__list_kept *kept,
                                          struct unseen__list_state *state_out, uint8_t **bytes_out,
                                          size_t *len_out, struct unseen_error *error);

/* Writes the state and syncs it. Errors: IO, NOMEM. */
enum unseen_status unseen__list_kept_save(const struct unseen__list_kept *kept,
                                          const struct unseen__list_state *state,
                                          struct unseen_error *error);

/* Removes both files: the build cannot be resumed any more. */
void unseen__list_kept_remove(const struct unseen__list_kept *kept);

void unseen__list_kept_release(struct unseen__list_kept *kept);

#endif
