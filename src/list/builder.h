/* SPDX-License-Identifier: MIT
 *
 * The inside of a build. Keys come in any order and are parted by their top bits (spill.h). Then
 * layers of pages are built from them; a layer gets about 4 % of the keys of the layer before, so a
 * few layers are enough. The last few hundred keys are listed.
 *
 *     build.c       begins, adds, ends
 *     checkpoint.c  saves and resumes (state.h)
 *     layer.c       makes the pages of a layer
 *     finish.c      writes the file around them */
#ifndef UNSEEN_LIST_BUILDER_H
#define UNSEEN_LIST_BUILDER_H

#include "hash/key.h"
#include "list/list_format.h"
#include "list/spill.h"
#include "list/state.h"
#include "unseen_list.h"

struct unseen_list_build {
    struct unseen_allocator allocator;
    struct unseen_list_build_options options; /* complete; its pointers are not kept */
    unsigned ntexts;                          /* that one question asks for at most */
    enum unseen_cpu cpu;                      /* a level, not AUTO */
    struct unseen__list_header header;
    struct unseen__hasher hasher; /* makes the keys */
    char *path;
    char *new_path;
    char *folder;
    struct unseen__spill *spill; /* of the layer to be built */
    struct unseen__spill *next;  /* of the layer behind it */
    int folder_fd;               /* the folder of path and new_path; -1: not open */
    int fd;                      /* of new_path, or -1 */
    unsigned mode;               /* that it gets with its name */
    uint64_t npages;
    uint64_t size;       /* of the list, about */
    uint64_t *checksums; /* of the pages */
    size_t checksums_cap;
    uint32_t *table; /* numbers of pages of all shards */
    size_t nshards;
    bool (*progress)(void *context, uint64_t ndone, uint64_t n);
    void *context;

    struct unseen__list_kept kept; /* with options.keep */
    uint8_t *note;                 /* of the last checkpoint */
    size_t note_len;
    bool complete;     /* that checkpoint was after the last key */
    bool failed;       /* a key was not taken, or a sync failed; nothing later can be right */
    bool was_finished; /* unseen_list_build_finish was called */
    bool removes_kept; /* the list is there: what was kept is not needed any more */
};

/* Decides how many bits of a key are kept, and makes the spill of the first layer, with buffers of
 * memory bytes in all. Errors: FPR, NOMEM. */
enum unseen_status unseen__list_build_prepare(struct unseen_list_build *build, unsigned key_bits,
                                              unsigned part_bits, size_t memory,
                                              struct unseen_error *error);

/* Puts the state of an earlier process into a new build. Errors: MISSING, MISMATCH, BUSY, CORRUPT,
 * VERSION, FOREIGN, IO, NOMEM. secret is NULL, or must be that of the state. */
enum unseen_status unseen__list_build_load(struct unseen_list_build *build,
                                           const struct unseen__secret *secret,
                                           struct unseen_error *error);

/* Makes a checkpoint; complete: all keys have been added. Errors: IO, NOMEM. */
enum unseen_status unseen__list_build_save(struct unseen_list_build *build, const void *note,
                                           size_t note_len, bool complete,
                                           struct unseen_error *error);

/* Opens the folder of the list, unless it is open. Returns an errno number. */
int unseen__list_build_open_folder(struct unseen_list_build *build);

/* Makes a layer of the keys in the spill: its pages are in the file then, and the keys that did not
 * fit are in the spill. Errors: IO, CORRUPT, NOMEM, ARGUMENT (too many keys), STOPPED. */
enum unseen_status unseen__list_layer_make(struct unseen_list_build *build,
                                           struct unseen_error *error);

/* The list could not be written: on a full disk, says what size it would have had. */
enum unseen_status unseen__list_write_error(const struct unseen_list_build *build, int code,
                                            struct unseen_error *error);

/* The number of pages for so many keys. */
uint32_t unseen__list_npages(const struct unseen__list_geometry *geometry, uint64_t nkeys);

#endif
