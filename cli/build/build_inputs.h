/* SPDX-License-Identifier: MIT
 *
 * The input files of a build: how large they are, and how far they have been read. */
#ifndef UNSEEN_CLI_BUILD_INPUTS_H
#define UNSEEN_CLI_BUILD_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "commands/commands.h"

struct build_inputs {
    const char *const *names;
    size_t n;
    uint64_t *sizes; /* bytes of each file, compressed or not */
    bool are_files;  /* all inputs are regular files with names */
    uint64_t nbytes; /* of all files, if are_files */
};

/* A place in the inputs: all lines in front of it are done. */
struct build_place {
    size_t input;   /* index of the file */
    uint64_t nused; /* bytes of the file that are done, compressed or not */
};

/* Checks the files that the options name. False if one of them cannot be an input, which has been
 * reported. The caller calls build_inputs_release in either case. */
bool build_inputs_look(struct build_inputs *in, const struct options *o);
void build_inputs_release(struct build_inputs *in);

/* Estimates the number of lines from samples; 0: not known. False if a file cannot be read, which
 * has been reported. */
bool build_inputs_guess_lines(const struct build_inputs *in, const struct options *o,
                              uint64_t *nlines_out);

/* The share of the input that is in front of a place, 0 to 1. */
double build_inputs_share(const struct build_inputs *in, const struct build_place *place);

#endif
