/* SPDX-License-Identifier: MIT
 *
 * Messages on standard error: one sentence a line, after "unseen: error:", "unseen: warning:" or
 * "unseen: hint:". A character that could steer a terminal (in a file name, for example) and a
 * byte that is not UTF-8 are shown as '?'. */
#ifndef UNSEEN_CLI_MESSAGE_H
#define UNSEEN_CLI_MESSAGE_H

#include <stdbool.h>

#include <unseen.h>

enum when {
    WHEN_AUTO,
    WHEN_ALWAYS,
    WHEN_NEVER
};

/* Decides whether words are coloured, and whether a message must wipe out a progress line first.
 * Call it before any other thread runs. */
void message_setup(enum when color, bool has_progress);

enum message_level {
    MESSAGE_ERROR,
    MESSAGE_WARNING,
    MESSAGE_HINT,
    MESSAGE_PLAIN /* without a word in front: reports */
};

__attribute__((format(printf, 2, 3))) void message_say(enum message_level level, const char *format,
                                                       ...);

#define message_error(...)   message_say(MESSAGE_ERROR, __VA_ARGS__)
#define message_warning(...) message_say(MESSAGE_WARNING, __VA_ARGS__)
#define message_hint(...)    message_say(MESSAGE_HINT, __VA_ARGS__)
#define message_plain(...)   message_say(MESSAGE_PLAIN, __VA_ARGS__)

/* From now on this thread prints no message. */
void message_mute(void);

/* For input that is read twice. During the first reading messages are noted; from the second on, no
 * message that was noted is printed again. */
enum message_reading {
    MESSAGE_READING_FIRST,
    MESSAGE_READING_AGAIN,
    MESSAGE_READING_ENDED /* frees the notes */
};

void message_reading(enum message_reading reading);

/* Reports that memory ran out, and returns false. */
bool message_no_memory(void);

/* The library's sentence for an error. */
static inline const char *message_of(const struct unseen_error *error)
{
    return error->text[0] ? error->text : unseen_status_string(error->status);
}

#endif
