/* SPDX-License-Identifier: MIT
 *
 * The file of a list, opened to be asked. Its pages are mapped, or read into memory. The sections
 * that say where pages are get read and checked, so that no question can leave the pages, whatever
 * bytes are in them. The changes behind the list proper are read, too. */
#ifndef UNSEEN_LIST_OPEN_H
#define UNSEEN_LIST_OPEN_H

#include "list/ask.h"
#include "list/changes.h"

struct unseen__list_file {
    struct unseen_allocator allocator;
    struct unseen__list_header header;
    struct unseen__list_offsets offsets;
    struct unseen__list_view view;
    char *path;
    int fd;
    void *map;         /* the list proper, or NULL */
    void *memory;      /* the pages, or NULL */
    uint8_t *sections; /* the sections behind the pages, without the checksums */
    uint64_t *shards;
    uint64_t *leftover;
    struct unseen__hasher hasher; /* makes the list's keys */
    struct unseen__list_changes changes;
};

/* Reads and checks the header of the open file and the sections that say where pages are. Checks
 * that the list proper is not cut short. This is all that opening a list checks, except the
 * changes. Errors: FOREIGN, VERSION, CORRUPT, IO, NOMEM. */
enum unseen_status unseen__list_file_inspect(int fd, const char *path,
                                             const struct unseen_allocator *allocator,
                                             struct unseen__list_header *header_out,
                                             struct unseen__list_offsets *offsets_out,
                                             struct unseen_error *error);

/* Opens a list. cpu is a level, not AUTO. *file must not move until its release. Errors: MISSING,
 * FOREIGN, VERSION, CORRUPT, IO, NOMEM, RANDOM; after an error there is nothing to release. */
enum unseen_status unseen__list_file_open(struct unseen__list_file *file, const char *path,
                                          enum unseen_list_access access, enum unseen_cpu cpu,
                                          const struct unseen_allocator *allocator,
                                          struct unseen_error *error);
void unseen__list_file_release(struct unseen__list_file *file);

/* Checks that the open file is still the list with the header `opened`. Errors: MISMATCH (it was
 * written over or cut short), IO. */
enum unseen_status unseen__list_file_check(int fd, const char *path,
                                           const struct unseen__list_header *opened,
                                           struct unseen_error *error);

/* Compares all checksums. Errors: CORRUPT, VERSION (of changes), IO, NOMEM. */
enum unseen_status unseen__list_file_verify(const struct unseen__list_file *file,
                                            struct unseen_error *error);

#endif
