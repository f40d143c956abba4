/* SPDX-License-Identifier: MIT
 *
 * What a server asks of a store and changes in it: runs of URLs become marks, and changes become commits.
 * A change may be committed when its answer was written. A list can stand in place of the store; it only
 * answers questions. */
#ifndef UNSEEN_CLI_STORE_SERVICE_H
#define UNSEEN_CLI_STORE_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

struct list_service;

enum {
    STORE_SERVICE_RUN = 256 /* the most URLs in a call */
};

struct store_service {
    /* set by the caller */
    const char *path;
    struct unseen_store *store; /* open */
    struct list_service *list;  /* NULL, or open, in place of the store */
    bool read_only;
    bool no_log; /* nothing is durable before the store is closed */
    void (*report_commit)(const void *context, const struct unseen_error *error);
    const void *context;

    bool broken;       /* a commit has failed: no more changes are made */
    char trouble[512]; /* the cause of the last mark 'E'; once broken, the cause of that */
};

/* Write a mark for each of the n URLs and return how many changes were made. A mark is '1' (add: it is
 * new; ask: it is there; remove: it was there), '0' (the opposite) or 'E' (see trouble). */
size_t store_service_add(struct store_service *s, const struct unseen_bytes *urls, size_t n,
                         char *marks);
size_t store_service_ask(struct store_service *s, const struct unseen_bytes *urls, size_t n,
                         char *marks);
size_t store_service_remove(struct store_service *s, const struct unseen_bytes *urls, size_t n,
                            char *marks);

/* Hands the oldest n changes that were not handed over yet to the thread that commits. */
void store_service_commit_begin(struct store_service *s, uint64_t n);

/* Waits until the changes that were handed over are durable. Returns false if they are not: see trouble.
 * A commit that has failed is reported once. */
bool store_service_commit_wait(struct store_service *s);

#endif
