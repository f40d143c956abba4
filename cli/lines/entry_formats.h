/* SPDX-License-Identifier: MIT
 *
 * Formats of lists of names: hosts files, dnsmasq and unbound, response policy zones, and the rules
 * of ad blockers. Each line of such a list blocks names, allows names, says nothing about names, or
 * says more than a list can keep. */
#ifndef UNSEEN_CLI_ENTRY_FORMATS_H
#define UNSEEN_CLI_ENTRY_FORMATS_H

#include <stdbool.h>

#include "lines/entry_lines.h"

/* Reads a line that is not blank and has no comment. False if it is of none of the formats: a plain
 * entry, or a line that is wrong. `indented` says that blanks stood in front of it. */
bool entry_formats_read(struct unseen_bytes line, bool indented, const struct entry_sink *sink,
                        struct entry_line *result);

#endif
