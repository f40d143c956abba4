/* SPDX-License-Identifier: MIT
 *
 * A list's file, opened to be asked. Its pages are mapped, or read into memory; what says where
 * things are is read and checked, so that no question can leave the pages whatever is in them. The
 * changes behind the list proper are read, too. */
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
    uint8_t *sections; /* the sections behind the pages, but for the checksums */
    uint64_t *shards;
    uint64_t *leftover;
    struct unseen__hasher hasher; /* makes the list's keys */
    struct unseen__list_changes changes;
};

/* Reads and checks the header of the open file, and that the list proper is not cut short. Errors:
 * FOREIGN, VERSION, CORRUPT, IO. */
enum unseen_status unseen__list_header_read(int fd, const char *path,
                                            struct unseen__list_header *header_out,
                                            struct unseen__list_offsets *offsets_out,
                                            struct unseen_error *error);

/* The same, and reads and checks what says where the pages are. All that is checked when a list is opened
 * is checked here, but for the changes. Errors: the same, and NOMEM. */
enum unseen_status unseen__list_file_inspect(int fd, const char *path,
                                             const struct unseen_allocator *allocator,
                                             struct unseen__list_header *header_out,
                                             struct unseen__list_offsets *offsets_out,
                                             struct unseen_error *error);

/* cpu is a level, not AUTO. *file must not move until its release. Errors: MISSING, FOREIGN, VERSION,
 * CORRUPT, IO, NOMEM, RANDOM; there is nothing to release then. */
enum unseen_status unseen__list_file_open(struct unseen__list_file *file, const char *path,
                                          enum unseen_list_access access, enum unseen_cpu cpu,
                                          const struct unseen_allocator *allocator,
                                          struct unseen_error *error);
void unseen__list_file_release(struct unseen__list_file *file);

/* Whether the open file still is the one that was opened and had this header: it may have been written
 * over or cut short. Errors: MISMATCH (it is not), IO. */
enum unseen_status unseen__list_file_check(int fd, const char *path,
                                           const struct unseen__list_header *opened,
                                           struct unseen_error *error);

/* Compares all checksums. Errors: CORRUPT, VERSION (of changes), IO, NOMEM. */
enum unseen_status unseen__list_file_verify(const struct unseen__list_file *file,
                                            struct unseen_error *error);

#endif
