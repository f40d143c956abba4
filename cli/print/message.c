/* SPDX-License-Identifier: MIT */
#include "print/message.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "print/print_utf8.h"

/* Only message_setup writes it, before a second thread exists. */
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

/* Ignores errors: nobody can be told when standard error fails. */
static void message_put(const char *text, size_t len)
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

/* ---- Input that is read twice ---------------------------------------------------------------- */

/* Hashes of messages. Without memory for one, its message may come twice. */
static struct {
    pthread_mutex_t lock;
    enum message_reading reading;
    uint64_t *hashes;
    size_t n;
    size_t cap;
} noted = {.lock = PTHREAD_MUTEX_INITIALIZER, .reading = MESSAGE_READING_ENDED};

/* FNV-1a. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static void note(uint64_t hash)
{
    if (noted.n == noted.cap) {
        const size_t cap = noted.cap ? 2 * noted.cap : 16;
        uint64_t *hashes = realloc(noted.hashes, cap * sizeof(*hashes));
        if (!hashes) {
            return;
        }
        noted.hashes = hashes;
        noted.cap = cap;
    }
    noted.hashes[noted.n++] = hash;
}

static bool is_noted(uint64_t hash)
{
    size_t i = 0;
    while (i < noted.n && noted.hashes[i] != hash) {
        i++;
    }
    return i < noted.n;
}

/* Notes the message. True if it was noted in the first reading. */
static bool was_said(const char *text)
{
    bool found = false;
    pthread_mutex_lock(&noted.lock);
    if (noted.reading == MESSAGE_READING_FIRST) {
        note(hash_of(text));
    } else if (noted.reading == MESSAGE_READING_AGAIN) {
        found = is_noted(hash_of(text));
    }
    pthread_mutex_unlock(&noted.lock);
    return found;
}

void message_reading(enum message_reading reading)
{
    pthread_mutex_lock(&noted.lock);
    noted.reading = reading;
    if (reading == MESSAGE_READING_ENDED) {
        free(noted.hashes);
        noted.hashes = NULL;
        noted.n = 0;
        noted.cap = 0;
    }
    pthread_mutex_unlock(&noted.lock);
}

/* ---- Messages -------------------------------------------------------------------------------- */

static _Thread_local bool is_mute;

void message_mute(void)
{
    is_mute = true;
}

/* Writes the whole line at once, so that lines of several threads or programs do not mix. */
void message_say(enum message_level level, const char *format, ...)
{
    static const char *const words[] = {"error", "warning", "hint"};
    static const char *const colors[] = {"31", "33", "36"};
    char body[5000];
    char line[sizeof(body) + 64];
    va_list args;
    va_start(args, format);
    vsnprintf(body, sizeof(body), format, args);
    va_end(args);
    utf8_clean(body);
    if (is_mute || was_said(body)) {
        return;
    }
    const char *wipe = look.has_progress ? "\r\033[K" : "";
    int len = 0;
    if (level == MESSAGE_PLAIN) {
        len = snprintf(line, sizeof(line), "%s%s\n", wipe, body);
    } else if (look.color) {
        len = snprintf(line, sizeof(line), "%sunseen: \033[1;%sm%s:\033[0m %s\n", wipe,
                       colors[level], words[level], body);
    } else {
        len = snprintf(line, sizeof(line), "%sunseen: %s: %s\n", wipe, words[level], body);
    }
    if (len > 0) {
        message_put(line, (size_t)len);
    }
}

bool message_no_memory(void)
{
    message_error("out of memory");
    return false;
}
