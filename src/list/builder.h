/* SPDX-License-Identifier: MIT
 *
 * A list that is being built, for the files that build it. Keys come in any order, and a spill
 * parts them by their top bits (spill.h). Then layers of pages are built from them. A layer bumps
 * about 5 % of its keys to the next layer, so a few layers are enough. The last few hundred keys
 * become the leftover.
 *
 *     build.c   begins a build, adds keys, frees it
 *     layer.c   makes the pages of a layer
 *     finish.c  makes the layers, and the file around their pages */
#ifndef UNSEEN_LIST_BUILDER_H
#define UNSEEN_LIST_BUILDER_H

#include "hash/key.h"
#include "list/list_identity.h"
#include "list/spill.h"
#include "unseen_list.h"

/* The rates of a text; a question of several texts has as much for each. */
#define UNSEEN__LIST_FPR_MIN 1e-9
#define UNSEEN__LIST_FPR_MAX 0.25

enum {
    UNSEEN__LIST_THREADS_MAX = 256
};

struct unseen_list_build {
    struct unseen_allocator allocator;
    struct unseen_list_build_options options; /* complete; its pointers are not kept */
    unsigned ntexts;                          /* texts of one question, at most */
    enum unseen_cpu cpu;                      /* a level, not AUTO */
    struct unseen__list_header header;
    struct unseen__list_identity identity;
    struct unseen__list_room room; /* for the text of one entry */
    struct unseen__hasher hasher;  /* makes the keys */
    char *path;
    char *new_path;
    char *folder;
    struct unseen__spill *spill; /* the keys of the layer to be built */
    struct unseen__spill *next;  /* the keys that this layer bumps */
    int folder_fd;               /* the folder of path and new_path; -1: not open */
    int fd;                      /* new_path; -1: not open */
    unsigned mode;               /* of the finished list */
    uint64_t npages;
    uint64_t size;       /* of the list, estimated, for messages */
    uint64_t *checksums; /* one for each page */
    size_t checksums_cap;
    uint32_t *table; /* the number of pages of each shard */
    size_t nshards;
    bool (*progress)(void *context, uint64_t ndone, uint64_t n);
    void *context;
    bool failed;       /* adding a key failed: adding and finishing return STOPPED */
    bool was_finished; /* unseen_list_build_finish was called */
};

/* Opens the folder of the list, unless it is open. Returns an errno number. */
int unseen__list_build_open_folder(struct unseen_list_build *build);

/* Makes a layer of the keys in the spill: writes its pages to the file, and replaces the spill by
 * the keys that they bump. Errors: IO, CORRUPT, NOMEM, ARGUMENT (too many keys), STOPPED. */
enum unseen_status unseen__list_layer_make(struct unseen_list_build *build,
                                           struct unseen_error *error);

/* Reports that the list could not be written. On a full disk, the message says how large the list
 * would be. */
enum unseen_status unseen__list_write_error(const struct unseen_list_build *build, int code,
                                            struct unseen_error *error);

#endif
