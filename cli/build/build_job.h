/* SPDX-License-Identifier: MIT
 *
 * A build in progress, and the steps that work on all of it. */
#ifndef UNSEEN_CLI_BUILD_JOB_H
#define UNSEEN_CLI_BUILD_JOB_H

#include "build/build_folder.h"
#include "build/build_inputs.h"
#include "build/build_old.h"
#include "commands/commands.h"
#include "lines/url_watch.h"
#include "print/progress.h"

/* Counts of the lines so far. */
struct build_counts {
    uint64_t nlines;
    uint64_t nentries;
    uint64_t ncomments;  /* comments, blank lines, and lines that say nothing about entries */
    uint64_t ndangerous; /* dangerous entries that were taken */
    uint64_t nskipped;   /* entries and lines that are wrong, left out */
    uint64_t nremoved;   /* entries left out because they were removed from the old list */
    uint64_t nliteral;   /* entries that only a question in the same spelling meets */
    uint64_t nrules;     /* rules of other programs that a list cannot keep */
    uint64_t nallowed;   /* allowed entries */
};

/* The progress of a build. */
struct build_done {
    struct build_place place;
    struct build_counts counts;
};

enum build_ending {
    BUILD_ALL,         /* all lines are in the build */
    BUILD_REFUSED,     /* some lines are not entries, which has been reported */
    BUILD_INTERRUPTED, /* a signal has ended the run */
    BUILD_UNREADABLE,  /* an input could not be read, which has been reported */
    BUILD_BROKEN       /* no more keys can be added, which has been reported */
};

/* A build in progress. */
struct build_job {
    const struct options *o;
    enum unseen_cpu cpu;
    unsigned nthreads;
    enum unseen_kind kind;
    struct unseen_url *url; /* its id is the profile; NULL: the kind has none */
    const char *profile;
    bool takes_bytes; /* a list of URLs whose entries are bytes as they are */
    double fpr;
    struct build_inputs inputs;
    struct build_old old;
    struct build_folder folder;
    struct progress progress;
    struct unseen_list_build *build;
    struct build_done done;
    struct url_watch watch; /* the entries that are not URLs */
    struct text allowed;    /* the texts of allowed entries, a line each */
    uint64_t nforgotten;    /* changes of the list to be replaced that the new list does not get */
    struct {
        uint64_t nasked;
        uint64_t nallowed; /* known good lines that were listed, and are allowed now */
    } known_good;
};

/* ---- build_request.c --------------------------------------------------------------------------
 * The request of the user, checked. */

/* Checks the options, the inputs and LIST, and opens the folder. False if the list cannot be built,
 * which has been reported. */
bool build_job_prepare(struct build_job *m);

/* Checks that LIST does not exist, or is a list. False if not, which has been reported. */
bool build_check_target(const struct options *o);

/* Reads the figures of a list. Errors: those of opening lists. */
enum unseen_status build_read_info(const char *path, struct unseen_list_info *info,
                                   struct unseen_error *error);

/* Counts the changes of the list that will be replaced; 0 if it cannot be opened. */
uint64_t build_count_changes(const struct options *o);

/* ---- build_entries.c --------------------------------------------------------------------------
 * From the lines of all inputs to keys of the list, on all processors. */

/* Adds all lines, and updates m->done. */
enum build_ending build_entries_run(struct build_job *m);

/* Shows the progress. build_entries_run calls it several times a second, in the thread of its
 * caller. (cmd_build.c) */
void build_job_look(struct build_job *m, const struct build_done *done);

/* ---- build_known_good.c -----------------------------------------------------------------------
 * What must never be listed: the allowed entries of the inputs are allowed in the finished list.
 * The lines of --known-good are asked of it, and are allowed if it has them, by error or not. */

/* Checks that the files of --known-good can be read. False if not, which has been reported. */
bool build_known_good_check(const struct options *o);

/* Asks the list in the folder about the lines, and changes the list. False if that failed, which
 * has been reported, or if a signal asks the program to end. */
bool build_known_good_run(struct build_job *m);

/* ---- build_report.c -------------------------------------------------------------------------- */

/* Reports on the finished list. False if it cannot be read, which has been reported. */
bool build_job_report(const struct build_job *m);

#endif
