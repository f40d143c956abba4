/* SPDX-License-Identifier: MIT
 *
 * What the tool says on standard error: one sentence a line, after "unseen: error:", "warning:" or
 * "hint:". What could steer a terminal (in file names, say) is shown as '?', and so is what
 * is not UTF-8. */
#ifndef UNSEEN_CLI_MESSAGE_H
#define UNSEEN_CLI_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

enum when {
    WHEN_AUTO,
    WHEN_ALWAYS,
    WHEN_NEVER
};

/* Decides once, before any other thread runs, whether words are coloured and whether there may be
 * a progress line to wipe out before a message. */
void message_setup(enum when color, bool has_progress);

__attribute__((format(printf, 1, 2))) void message_error(const char *format, ...);
__attribute__((format(printf, 1, 2))) void message_warning(const char *format, ...);
__attribute__((format(printf, 1, 2))) void message_hint(const char *format, ...);

/* Plain text, no word in front: reports. */
__attribute__((format(printf, 1, 2))) void message_plain(const char *format, ...);

#endif
