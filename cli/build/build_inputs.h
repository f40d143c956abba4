/* SPDX-License-Identifier: MIT
 *
 * What a list is built from: the files, what they were when the build began, and where in them it
 * is. */
#ifndef UNSEEN_CLI_BUILD_INPUTS_H
#define UNSEEN_CLI_BUILD_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen_list.h>

#include "commands/commands.h"
#include "lines/text.h"

struct build_input {
    uint64_t nbytes; /* of the file as it is, compressed or not */
    uint64_t inode;
    int64_t seconds; /* when it was changed */
    long nanoseconds;
};

struct build_inputs {
    const char *const *names;
    size_t n;
    struct build_input *files;
    bool are_files;  /* all of them are regular files with names: what was read can be read again */
    uint64_t nbytes; /* of all, if they are */
};

/* Lines up to here are done. */
struct build_place {
    size_t input;    /* in this file */
    uint64_t nbytes; /* so many bytes of it, decompressed */
    uint64_t nlines; /* so many lines of it */
    uint64_t nused;  /* so many bytes of the file as it is */
};

/* What became of the lines so far. */
struct build_counts {
    uint64_t nlines;
    uint64_t nentries;
    uint64_t ndangerous; /* of them, taken by force */
    uint64_t nskipped;   /* no entries, left out by force */
    uint64_t nremoved;   /* left out because they were removed from the old list */
    uint64_t nplain; /* entries of a list of URLs that are none: only the same bytes meet them */
};

/* Looks at the files that the options name. False if one of them cannot be an input, which has been
 * reported. build_inputs_release is called in either case. */
bool build_inputs_look(struct build_inputs *in, const struct options *o);
void build_inputs_release(struct build_inputs *in);

/* About how many lines there are, from samples; 0 if that cannot be said. False if one of the files
 * cannot be read, which has been reported. */
bool build_inputs_guess_lines(const struct build_inputs *in, const struct options *o,
                              uint64_t *nlines_out);

/* The share of the input in front of a place, 0 to 1. */
double build_inputs_share(const struct build_inputs *in, const struct build_place *place);

#endif
