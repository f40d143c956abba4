/* SPDX-License-Identifier: MIT
 *
 * The list or the store that a server serves, and what all its connections share.
 *
 * Other programs' protocols ask a list, or a store that is only read: service_find. The line
 * protocol asks and changes a store, or asks a list: service_keys, service_marks and the commits.
 *
 * Commits: changes become durable in the order in which they were made. The loop hands them to the
 * store's thread (service_commit) when the answers that tell of them have been written, and asks
 * how far that thread is (service_poll).
 *
 * A list, or a store that is only read, can change while the server runs. What another process
 * appends is taken up within a second. So is a new file that is renamed to the name: the old file
 * answers until the new one is open, and goes on if the new one cannot be opened. If a list is
 * overwritten in place instead, there are errors in place of answers until its name stands for a
 * whole list again. */
#ifndef UNSEEN_CLI_SERVICE_H
#define UNSEEN_CLI_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <unseen_list.h>

#include "lines/text.h"
#include "seen/lists.h"
#include "serve/leases.h"
#include "serve/line_request.h"
#include "serve/protocol.h"

enum {
    SERVICE_RUN = 256 /* the most URLs in a call of service_marks */
};

/* What the line protocol has answered since the start. */
struct service_counts {
    uint64_t nquestions; /* URLs that were added, asked for or removed */
    uint64_t nnew;       /* URLs that were new */
    uint64_t nseen;      /* URLs that were added, but were not new */
    uint64_t nwrong;     /* requests that could not be understood */
    size_t nclients;     /* connections now */
};

struct seen_options;

struct service {
    /* what was asked for; set by serve.c */
    const struct seen_options *seen; /* of the file that is served */
    const struct protocol *protocol;
    const char *path;
    enum unseen_cpu cpu;
    const char *reply;    /* what is said of a text that is listed */
    const char *redirect; /* the page that a client sees in place of a listed URL */
    bool read_only;
    bool may_change;                /* answers may tell of changes */
    bool needs_token;               /* a client may change nothing before it has sent the token */
    struct unseen_bytes token;      /* lets a client change the store; empty: no token does */
    struct unseen_url *expressions; /* NULL, or makes the expressions to look up */
    /* service_find, or a fuzzer's in its place. Texts are not empty. */
    enum find_answer (*find)(struct service *s, enum find_type type, struct unseen_bytes text);

    /* the file; either the list or the store is open */
    struct opened_list list;
    struct unseen_store *store;

    /* the list service */
    struct text room;    /* for the expressions of a URL */
    bool lost;           /* the open list was overwritten or cut short */
    bool in_trouble;     /* an error was reported, and has lasted since */
    uint64_t looked;     /* when the file was last looked at, in milliseconds */
    struct stat file;    /* the file that is open */
    struct stat refused; /* a file that could not be opened, and when */
    uint64_t refused_at;

    /* the store service */
    bool no_log;       /* nothing is durable before the store is closed */
    bool broken;       /* a commit has failed: no more changes are made */
    char trouble[512]; /* the cause of the last mark 'E'; once broken, the cause of that */
    int notify_fd;     /* readable when a commit has ended; 0: there is none */
    uint64_t nmade;    /* changes made */
    uint64_t nbegun;   /* of these, handed to the thread that commits */
    uint64_t ndurable; /* of these, durable when service_poll was called */
    uint64_t nsent;    /* of these, told to the clients that made them */
    uint64_t fill_due; /* of counts.nnew: when service_watch_fill looks again */
    bool is_full;      /* the store's filter has more keys than it was made for, which was said */
    struct leases leases;
    bool leases_broken; /* the file of leases could not be synced */
    uint64_t nsynced;   /* records of leases on the disk when service_poll was called */

    struct service_counts counts;
};

/* ---- list_service.c ---------------------------------------------------------------------- */

/* Opens the file to answer questions. Returns false if that failed, which has been reported. */
bool service_open_list(struct service *s);
void service_close_list(struct service *s);

/* Takes up a new file and changes, at most once a second. The caller calls it between questions. */
void service_refresh(struct service *s);

/* Lets the next service_refresh look at once. */
void service_look(struct service *s);

/* Whether the text, or an entry that covers it, is in the file. */
enum find_answer service_find(struct service *s, enum find_type type, struct unseen_bytes text);

/* Asks the open list for n items. IO: the list is lost. */
enum unseen_status service_covers(struct service *s, const struct unseen_bytes *items, size_t n,
                                  uint8_t *verdicts);

/* ---- store_service.c --------------------------------------------------------------------- */

/* Makes the keys of n URLs for the store that is open. Returns false without memory: see
 * trouble. */
bool service_keys(struct service *s, const struct unseen_bytes *urls, size_t n,
                  struct unseen_key *keys);

/* Does what `type` (ADD, ASK or REMOVE) says with n keys, and writes a mark for each. Returns how
 * many changes were made. A mark is '1' (ADD: it is new; ASK: it is there; REMOVE: it was there),
 * '0' (the opposite), 'L' (ADD, ASK: a worker has it) or 'E' (see trouble). */
size_t service_marks(struct service *s, enum request_type type, const struct unseen_key *keys,
                     size_t n, char *marks);

/* The same for URLs that a list is asked for. */
void service_list_marks(struct service *s, enum request_type type, const struct unseen_bytes *urls,
                        size_t n, char *marks);

/* Sets the trouble, unless a commit has failed. */
void service_set_trouble(struct service *s, const char *sentence);

/* Opens the leases of the store, unless they are open. Returns false if that cannot be: see
 * trouble. */
bool service_open_leases(struct service *s);

/* Closes them. When none is left, the store has no file of leases any more. */
void service_close_leases(struct service *s);

/* Adds the key of a lease that is over. *mark_out as of service_marks. Returns whether that was a
 * change. */
bool service_end_lease(struct service *s, struct unseen_key key, char *mark_out);

/* Makes these n keys new again: the answers that tell of them were not sent. */
void service_take_back(struct service *s, const struct unseen_key *keys, size_t n);

/* Warns once if the store's filter has more keys than it was made for. Cheap. */
void service_watch_fill(struct service *s);

/* Hands all changes to the thread that commits. */
void service_commit(struct service *s);

/* Sets ndurable, and forgets leases that have ended in changes up to it and nsent. Does not
 * wait. */
void service_poll(struct service *s);

/* Waits until the changes that were handed over are durable. Returns false if they are not: see
 * trouble. A commit that has failed is reported once. */
bool service_commit_wait(struct service *s);

#endif
