/* SPDX-License-Identifier: MIT
 *
 * The sets, stores, lists and servers that a run asks whether a line was seen. The run adds new
 * lines to one of them. Those that -x names are asked only. */
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
#include "seen/asked.h"
#include "seen/seen_options.h"

struct seen {
    /* set by the caller, before anything else */
    const struct seen_options *o;
    const struct profile_options *profile;
    const struct key_options *key;
    const struct input_options *input; /* how the files of -x are read */
    bool wants_canons;                 /* the canonical forms of lines are used */

    bool run_failed; /* set by the caller, before seen_close */

    struct asked asked;
    const struct unseen_url *url; /* NULL: the bytes are the identity */
    struct unseen_url *own_url;   /* of a server's profile, or of a run without a store */

    /* What -x names: each set has its own seed, so its keys are made from the canonical forms of
     * lines. The lines of -x are in the set of the run; beside a store they are in a set here. */
    struct asked *excluded;
    size_t nexcluded;

    /* With --time: the latest time of a line, as in struct batch, and the lines that came a window
     * or more after their time, which count as seen. */
    uint64_t latest;
    uint64_t nlate;

    uint64_t window; /* of the set or store, in milliseconds; 0: none */
    uint64_t looked; /* when the stores were last looked at, in milliseconds */
    bool is_stale;   /* a store that is only read could not be followed, which has been reported */
};

/* Opens the set, store or list that the options name, and the stores of -x. False if that failed,
 * which has been reported. The caller calls seen_close in either case. */
bool seen_open(struct seen *m, enum unseen_cpu cpu);

/* Opens what else -x names, and reads its files of lines. Adds the number of these
 * lines to *nlines_out. False as above. */
bool seen_exclude(struct seen *m, enum unseen_cpu cpu, uint64_t *nlines_out);

/* Opens the server that o->path names, for seen_open. */
bool seen_open_server(struct seen *m, enum unseen_cpu cpu);

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

/* As seen_ask, for all lines of n batches, behind each other, if a server is asked. */
enum unseen_status seen_ask_server(struct seen *m, const struct batch *const *batches, size_t n,
                                   uint8_t *verdicts);

/* Fills in the figures of what is asked, as far as they are known, and returns its profile. */
const char *seen_stats(const struct seen *m, struct unseen_set_stats *stats_out);

/* False, and reported, if the key has several parts: none of the single texts of a list or of a
 * file of lines would ever equal it. */
bool seen_check_parts(const struct seen *m, const char *path);

/* Reports that no more lines can be remembered. */
void seen_report_full(enum unseen_status status);

/* Closes everything. False if the store could not be closed, which has been reported, or if
 * `broken`: the caller has reported an error of the store. */
bool seen_close(struct seen *m, bool broken);

#endif
