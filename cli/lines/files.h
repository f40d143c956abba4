/* SPDX-License-Identifier: MIT
 *
 * Checks of the input files before they are read. */
#ifndef UNSEEN_CLI_FILES_H
#define UNSEEN_CLI_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "print/output.h"

bool files_is_standard_input(const char *name);

/* How many of the n files are standard input, which can be read only once. */
size_t files_count_standard_input(const char *const *names, size_t n);

/* The name that messages show. */
const char *files_shown(const char *name);

/* True if out writes to the regular file `name`. */
bool files_is_output(const char *name, const struct output *out);

/* The first of the n files that is also one of the nouts outputs, as messages show it, after an
 * error that names it: such an input would be truncated, or would never end. NULL: none is. */
const char *files_find_output(const char *const *names, size_t n, const struct output *const *outs,
                              size_t nouts);

/* False if files_find_output finds one. */
bool files_check(const char *const *names, size_t n, const struct output *const *outs,
                 size_t nouts);

/* What the end of a regular file of lines is. */
enum file_end {
    FILE_END_LINE, /* also of an empty file, and of what is no regular file */
    FILE_END_OPEN, /* its last line lacks the delimiter */
    FILE_END_CODED /* its bytes are not lines: it is compressed, or UTF-16 */
};

enum file_end files_end(int fd, char delimiter);

/* True if bytes wait in a pipe that is standard input. */
bool files_wait_on_standard_input(void);

/* True if one of the files is a named fifo. */
bool files_have_fifo(const char *const *names, size_t n);

#endif
