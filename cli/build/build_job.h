/* SPDX-License-Identifier: MIT
 *
 * All that is known of a list in the making, and the steps that work on all of it. */
#ifndef UNSEEN_CLI_BUILD_JOB_H
#define UNSEEN_CLI_BUILD_JOB_H

#include "build/build_folder.h"
#include "build/build_inputs.h"
#include "build/build_old.h"
#include "build/build_progress.h"
#include "commands/commands.h"

/* How far it is. */
struct build_done {
    struct build_place place;
    struct build_counts counts;
};

enum build_ending {
    BUILD_ALL,         /* all lines are in */
    BUILD_REFUSED,     /* some are no entries, which has been reported */
    BUILD_INTERRUPTED, /* by a signal */
    BUILD_UNREADABLE,  /* an input could not be read, which has been reported */
    BUILD_BROKEN       /* no more can be added, which has been reported */
};

/* A list in the making. */
struct build_job {
    const struct options *o;
    enum unseen_cpu cpu;
    unsigned nthreads;
    enum unseen_kind kind;
    struct unseen_url *url; /* NULL: the bytes are the entry */
    const char *profile;
    double fpr;
    struct build_inputs inputs;
    struct build_old old;
    struct build_folder folder;
    struct build_progress progress;
    struct unseen_list_build *build;
    struct text description;
    struct text note;
    struct build_done done;
    bool keeps;     /* an interrupted run can be gone on with */
    bool has_state; /* there is a checkpoint */
    bool saved;     /* and it took a while to get to */
    bool is_complete;
    uint64_t nforgotten; /* changes of the list at this place that are not taken over */
    struct {
        uint64_t nasked;
        uint64_t nallowed; /* of them: they were listed */
    } known_good;
};

/* ---- build_entries.c --------------------------------------------------------------------------
 * From the lines of all inputs to keys of the list, on all processors. */

/* Adds all lines from m->done on, which says in the end how far it has come. */
enum build_ending build_entries_run(struct build_job *m);

/* What makes entries canonical; NULL: bytes are taken as they are. */
const struct unseen_url *build_job_url(const struct build_job *m);

/* build_entries_run calls these two of cmd_build.c. The first saves how far it is, every
 * --checkpoint seconds, while no other thread uses the build; false if that failed, which has been
 * reported. The second shows how far it is, several times a second, in the thread of the caller. */
bool build_job_save(struct build_job *m, const struct build_done *done);
void build_job_look(struct build_job *m, const struct build_done *done);

/* ---- build_note.c ----------------------------------------------------------------------------
 * What a checkpoint says of the inputs: a description of the command and its files, line by line,
 * and behind it the place and the counts. */

/* Appends the description; false without memory. */
bool build_note_describe(struct text *text, const struct build_job *m);

/* Appends place and counts; false without memory. */
bool build_note_put(struct text *text, const struct build_place *place,
                    const struct build_counts *counts);

/* Reads a note made under the same description. False, and reported, if it is another one. */
bool build_note_read(struct unseen_bytes note, const struct text *description, const char *list,
                     struct build_place *place_out, struct build_counts *counts_out);

/* ---- build_known_good.c -----------------------------------------------------------------------
 * What must never be listed: the lines of --known-good are asked of the finished list, and those
 * that it has, by error or not, are allowed in it. */

/* Whether the files that the options name can be read; false, and reported, if not. */
bool build_known_good_check(const struct options *o);

/* Asks the list in the folder, and changes it. False if that failed, which has been reported, or if a
 * signal wants the program to end. */
bool build_known_good_run(struct build_job *m);

#endif
