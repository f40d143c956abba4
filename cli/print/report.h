/* SPDX-License-Identifier: MIT
 *
 * What a run has done so far: for the progress and, at its end, the figures of --stats. */
#ifndef UNSEEN_CLI_REPORT_H
#define UNSEEN_CLI_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "print/message.h"
#include "print/progress.h"

/* A figure of --stats. */
struct figure {
    const char *text; /* its name in text, */
    const char *json; /* and in JSON */
    uint64_t value;
    bool is_rare; /* text leaves it out if it is 0 */
};

enum {
    FIGURES_JSON_CAP = 1000 /* bytes for the figures of any command */
};

/* Prints figures on standard error, a line each. */
void figures_print(const struct figure *figures, size_t n);

/* Writes figures as the members of a JSON object, with a comma between two. */
void figures_write_json(const struct figure *figures, size_t n, char json[FIGURES_JSON_CAP]);

enum stats {
    STATS_NONE,
    STATS_TEXT,
    STATS_JSON
};

struct report_options {
    enum stats stats;
    enum when progress;
    enum when color;
};

struct report {
    const struct report_options *o;
    uint64_t nnew;
    uint64_t nseen;
    uint64_t nlong;
    uint64_t nother;
    uint64_t nbytes;
    uint64_t nmisses;   /* lines without the key, */
    uint64_t nskipped;  /* and those of them that were left out */
    uint64_t nfailed;   /* lines that are not URLs under the profile */
    uint64_t nexcluded; /* lines of -x lists */
    uint64_t nlate;     /* lines that came a window or more after their time; they are seen */
    uint64_t nplain;    /* lines that are neither new nor seen: only counted */
    struct progress progress;

    /* where the run is: the place in files[file]; no file: not known */
    const char *const *files;
    size_t nfiles;
    size_t file;
    uint64_t offset;
};

/* Starts the progress of the run; to_file: see progress_start. report_poll works on r until
 * report_end. */
void report_start(struct report *r, const struct report_options *o, bool to_file);

/* Tells the report, if there is one, which bytes of which file are at hand. */
void report_at(const char *const *files, size_t nfiles, size_t file, uint64_t offset);

/* The share of the bytes of all files that has been read; -1: not known. It may change between two
 * calls, and costs a system call for each file. */
double report_share(const struct report *r);

/* Shows how far the run is, if it is time to or SIGUSR1 asks for it. Does nothing before
 * report_start. Cheap. */
void report_poll(void);

/* Wipes out the progress line and prints the figures that the options want; without stats (NULL)
 * none. */
void report_end(struct report *r, const struct unseen_set_stats *stats, const char *profile);

#endif
