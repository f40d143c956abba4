/* SPDX-License-Identifier: MIT
 *
 * What the tool says on standard error: one sentence a line, after "unseen: error:", "warning:" or
 * "hint:". What could steer a terminal (in file names, say) is shown as '?', and so is what
 * is not UTF-8. */
#ifndef UNSEEN_CLI_MESSAGE_H
#define UNSEEN_CLI_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <unseen.h>

enum when {
    WHEN_AUTO,
    WHEN_ALWAYS,
    WHEN_NEVER
};

/* Decides once, before any other thread runs, whether words are coloured and whether there may be
 * a progress line to wipe out before a message. */
void message_setup(enum when color, bool has_progress);

enum message_kind {
    MESSAGE_ERROR,
    MESSAGE_WARNING,
    MESSAGE_HINT,
    MESSAGE_PLAIN /* no word in front: reports */
};

__attribute__((format(printf, 2, 3))) void message_say(enum message_kind kind, const char *format,
                                                       ...);

#define message_error(...)   message_say(MESSAGE_ERROR, __VA_ARGS__)
#define message_warning(...) message_say(MESSAGE_WARNING, __VA_ARGS__)
#define message_hint(...)    message_say(MESSAGE_HINT, __VA_ARGS__)
#define message_plain(...)   message_say(MESSAGE_PLAIN, __VA_ARGS__)

/* Reports it, and returns false. */
bool message_no_memory(void);

/* What the library says of an error. */
static inline const char *message_of(const struct unseen_error *error)
{
    return error->text[0] ? error->text : unseen_status_string(error->status);
}

#endif
