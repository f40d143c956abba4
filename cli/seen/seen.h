/* SPDX-License-Identifier: MIT
 *
 * What has been seen: a set that lives as long as the run, a store, a store that another process
 * serves, or (for `unseen check`) a list or a foreign filter. The stores, lists, filters and lines
 * of -x count as seen, too, but are not remembered. */
#ifndef UNSEEN_CLI_SEEN_H
#define UNSEEN_CLI_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "lines/batch.h"
#include "lines/identity.h"
#include "lines/input.h"
#include "lines/profile.h"
#include "seen/foreign_filters.h"
#include "seen/lists.h"
#include "seen/seen_options.h"
#include "seen/seen_server.h"

/* A list that is asked whether it has a line. */
struct asked_list {
    struct opened_list list;
    bool takes_canons; /* the list takes the canonical forms of lines as they are */
};

struct seen {
    /* set by the caller, before anything else */
    const struct seen_options *o;
    const struct profile_options *profile;
    const struct key_options *key;
    const struct input_options *input; /* how the files of -x are read */

    bool asks_parts;   /* set by the caller: threads will call seen_ask_part */
    bool wants_canons; /* set by the caller: the canonical forms of lines are used */
    bool run_failed;   /* set by the caller, before seen_close */

    bool asks_only;
    bool is_remote;
    enum server_question question;  /* that the server is asked */
    struct server server;           /* asked if is_remote */
    struct unseen_store *store;     /* NULL: no store */
    const struct unseen_set *set;   /* makes the keys; NULL: the list below is asked */
    const struct unseen_url *url;   /* NULL: the bytes are the identity */
    struct asked_list list;         /* asked if there is no set */
    struct unseen_foreign *foreign; /* asked if there is neither; NULL: none */

    /* Read-only sets. Each has its own seed, so its keys are made from the canonical texts of
     * lines. Nothing is copied, and asking takes no more memory than the sets. */
    const struct unseen_set **excluded;
    size_t nexcluded;

    struct asked_list *lists; /* of -x */
    size_t nlists;
    struct unseen_foreign **filters; /* of -x */
    size_t nfilters;

    /* what has to be freed */
    struct unseen_url *own_url;
    struct unseen_set *own_set;
    struct unseen_set *lines;     /* the lines of -x, if they cannot be in own_set */
    struct unseen_store **stores; /* of -x, by the number of the option; NULL: not a store */
    size_t nstores;

    uint64_t looked; /* when the stores were last looked at, in milliseconds */
    bool is_stale;   /* a store that is only read could not be followed, which has been reported */
};

/* Opens the set, store or list that the options name, and the stores of -x. False if that failed,
 * which has been reported. The caller calls seen_close in either case. */
bool seen_open(struct seen *m, enum unseen_cpu cpu);

/* Takes the stores of -x, opens its lists, and reads its files of lines. Adds the number of these
 * lines to *nlines_out. False as above. */
bool seen_exclude(struct seen *m, enum unseen_cpu cpu, uint64_t *nlines_out);

/* Takes over what other processes have committed to the stores that the run only reads, at most
 * once a second. */
void seen_refresh(struct seen *m);

/* True if seen_ask needs the texts of lines, not only their keys. */
bool seen_needs_texts(const struct seen *m);

/* Answers n lines of b from first on, each SEEN or NEW, and remembers them unless the run only
 * asks. On NOMEM the first *ndone_out lines are answered. On MISMATCH, which has been reported, a
 * list or an image was overwritten or cut short and no line is answered, or a server has gone away
 * or refused a line: then all lines have a verdict, which may be REMOTE_NO_ANSWER. */
enum unseen_status seen_ask(struct seen *m, const struct batch *b, size_t first, size_t n,
                            uint8_t *verdicts, size_t *ndone_out);

/* The `ask` of struct parts, for a set that lives as long as the run. seen_open clears
 * asks_parts if the run cannot ask in parts. */
enum unseen_status seen_ask_part(void *seen, const struct unseen_key *keys, size_t n,
                                 uint8_t *verdicts, size_t *ndone_out);

/* As seen_ask, for all lines of n batches, behind each other, if a server is asked. */
enum unseen_status seen_ask_server(struct seen *m, const struct batch *const *batches, size_t n,
                                   uint8_t *verdicts);

/* The figures of the set or the list, and its profile. Of a server, those that it says. */
void seen_stats(struct seen *m, struct unseen_set_stats *stats_out, const char **profile_out);

/* False, and reported, if the key has several parts: none of the single texts of a list or of a
 * file of lines would ever equal it. */
bool seen_check_parts(const struct seen *m, const char *path);

/* Reports that no more lines can be remembered. */
void seen_report_full(enum unseen_status status);

/* Closes everything. False if the store could not be closed, which has been reported, or if
 * `broken`: the caller has reported an error of the store. */
bool seen_close(struct seen *m, bool broken);

#endif
