/* SPDX-License-Identifier: MIT
 *
 * The command line as a struct. */
#ifndef UNSEEN_CLI_PARSE_H
#define UNSEEN_CLI_PARSE_H

#include "commands/commands.h"

enum options_result {
    OPTIONS_RUN,
    OPTIONS_DONE, /* help or version was printed */
    OPTIONS_WRONG /* reported */
};

/* Parses argv[1..argc) for a command. The result points into argv, in which lists are split;
 * options_release frees the rest. */
enum options_result options_parse(struct options *o, const struct command *command, int argc,
                                  char **argv);
void options_release(struct options *o);

#endif
