/* SPDX-License-Identifier: MIT */
#include "print/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "print/utf8.h"

/* Written by message_setup only, before a second thread exists. */
static struct {
    bool color;
    bool has_progress;
} look;

void message_setup(enum when color, bool has_progress)
{
    const char *term = getenv("TERM");
    const char *no_color = getenv("NO_COLOR");
    bool suits = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    look.color =
        color == WHEN_ALWAYS || (color == WHEN_AUTO && suits && !(no_color && no_color[0] != '\0'));
    look.has_progress = has_progress;
}

/* There is nobody to tell when standard error itself fails. */
static void put(const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(STDERR_FILENO, text, len);
        if (n > 0) {
            text += n;
            len -= (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            return;
        }
    }
}

/* One write for the whole line, so that lines of several threads or programs do not mix. */
static void say(const char *word, const char *color, const char *format, va_list args)
{
    char body[5000];
    vsnprintf(body, sizeof(body), format, args);
    utf8_clean(body);
    char line[sizeof(body) + 64];
    const char *wipe = look.has_progress ? "\r\033[K" : "";
    int len = 0;
    if (!word) {
        len = snprintf(line, sizeof(line), "%s%s\n", wipe, body);
    } else if (look.color) {
        len = snprintf(line, sizeof(line), "%sunseen: \033[%sm%s:\033[0m %s\n", wipe, color, word,
                       body);
    } else {
        len = snprintf(line, sizeof(line), "%sunseen: %s: %s\n", wipe, word, body);
    }
    if (len > 0) {
        put(line, (size_t)len);
    }
}

void message_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("error", "1;31", format, args);
    va_end(args);
}

void message_warning(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("warning", "1;33", format, args);
    va_end(args);
}

void message_hint(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("hint", "1;36", format, args);
    va_end(args);
}

void message_plain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(NULL, NULL, format, args);
    va_end(args);
}
