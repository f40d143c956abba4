/* SPDX-License-Identifier: MIT
 *
 * The libraries that read the input, with their versions, for reports of bugs. */
#ifndef UNSEEN_CLI_LIBRARIES_H
#define UNSEEN_CLI_LIBRARIES_H

/* Prints them to standard output, in a line. */
void libraries_print(void);

#endif
