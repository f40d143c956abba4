/* SPDX-License-Identifier: MIT
 *
 * The inside of a builder: build.c begins, saves, resumes and ends it, layer.c makes the pages in
 * between. */
#ifndef UNSEEN_LIST_BUILDER_H
#define UNSEEN_LIST_BUILDER_H

#include "list/build.h"
#include "list/spill.h"
#include "list/state.h"

struct unseen__list_builder {
    struct unseen_allocator allocator;
    struct unseen__list_header header;
    char *path;
    char *new_path;
    char *folder;
    uint64_t capacity;
    unsigned ntexts;
    size_t memory;
    unsigned threads;
    enum unseen_cpu cpu;
    struct unseen__spill *spill; /* of the layer to be built */
    struct unseen__spill *next;  /* of the one behind it */
    int at;                      /* the folder of path and new_path, open; -1: not */
    int fd;                      /* of new_path, or -1 */
    unsigned mode;               /* that it gets with its name */
    uint64_t npages;
    uint64_t size;  /* of the list, about */
    uint64_t *sums; /* of the pages */
    size_t sums_cap;
    uint32_t *table; /* numbers of pages of all shards */
    size_t nshards;
    bool (*progress)(void *context, uint64_t ndone, uint64_t n);
    void *context;

    bool keep;
    struct unseen__list_kept kept; /* if so */
    uint8_t *note;                 /* of the last checkpoint */
    size_t note_len;
    bool complete; /* that checkpoint was after the last key */
    bool failed;   /* a key was not taken, or a sync failed, after which another says nothing */
    bool finished;
};

/* Makes a layer of what is in the spill: its pages are in the file, and what they have bumped is in
 * the spill. Errors: IO, CORRUPT, NOMEM, ARGUMENT (too many keys), STOPPED. */
enum unseen_status unseen__list_layer_make(struct unseen__list_builder *builder,
                                           struct unseen_error *error);

/* The list could not be written: on a full disk with the size that it would have had. */
enum unseen_status unseen__list_write_error(const struct unseen__list_builder *builder, int code,
                                            struct unseen_error *error);

#endif
