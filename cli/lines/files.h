/* SPDX-License-Identifier: MIT
 *
 * What must be known of the input files before they are read. */
#ifndef UNSEEN_CLI_FILES_H
#define UNSEEN_CLI_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "print/output.h"

bool files_is_standard_input(const char *name);

/* The name as messages have it. */
const char *files_shown(const char *name);

/* Whether name is the regular file that out writes to. */
bool files_is_output(const char *name, const struct output *out);

/* An input that is also written to would be cut, or would never end: false, and reported, if one
 * of the files is what one of the nouts outputs writes to. called is how the command is called. */
bool files_check(const char *called, const char *const *names, size_t n,
                 const struct output *const *outs, size_t nouts);

/* Whether one of the files is a fifo with a name. */
bool files_have_fifo(const char *const *names, size_t n);

#endif
