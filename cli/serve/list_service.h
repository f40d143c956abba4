/* SPDX-License-Identifier: MIT
 *
 * A list, or a store that is only read, to which a server puts questions. An entry is listed, and so is
 * what an entry covers.
 *
 * The file can be replaced while the server runs. A new file that is renamed to its name is taken up within
 * a second: the old file answers until the new one is open, and goes on if the new one cannot be opened.
 * Changes that are appended to the list are taken up likewise. If the list is overwritten in place
 * instead, there are errors in place of answers until its name stands for a whole list again. */
#ifndef UNSEEN_CLI_LIST_SERVICE_H
#define UNSEEN_CLI_LIST_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <unseen_list.h>

#include "lines/text.h"
#include "memory/lists.h"
#include "serve/find.h"
#include "serve/protocol.h"

struct list_service {
    /* set by the caller */
    const char *path;
    enum unseen_cpu cpu;
    const struct protocol *protocol; /* a list must be able to answer one of its questions */
    struct unseen_url *expressions;  /* NULL, or makes the expressions to look up in a store; a list
                                        must have been built with expressions, then */
    /* Opens the file if it is a store; NULL: it must be a list. */
    bool (*open_store)(const void *context, struct unseen_store **store_out);
    const void *context;

    struct opened_list list;    /* either the list is open, */
    struct unseen_store *store; /* or the store */
    struct text room;           /* for the expressions of a URL */
    bool lost;                  /* the open list was overwritten or cut short */
    bool in_trouble;            /* an error was reported, and has lasted since */
    uint64_t looked;            /* when the file was last looked at, in nanoseconds */
    struct stat file;           /* the file that is open */
    struct stat refused;        /* a file that could not be opened, and when */
    uint64_t refused_at;
};

/* Opens the file. Returns false if that failed, which has been reported. */
bool list_service_open(struct list_service *l);
void list_service_close(struct list_service *l);

/* Takes up a new file and changes, at most once a second. The caller calls it between questions. */
void list_service_refresh(struct list_service *l);

/* The question of other programs' protocols. The finder is valid as long as l. */
struct finder list_service_finder(struct list_service *l);

/* Asks the open list for n items. IO: the list is lost. */
enum unseen_status list_service_covers(struct list_service *l, const struct unseen_bytes *items,
                                       size_t n, uint8_t *verdicts);

#endif
