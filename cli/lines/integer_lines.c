/* SPDX-License-Identifier: MIT */
#include "lines/integer_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <unseen_bitmap.h>

#include "lines/integers.h"
#include "print/message.h"
#include "print/report.h"

enum {
    BUFFER_BYTES = 256 * 1024,
    FRONT = 16 /* bytes in front of a line that may be read */
};

struct integer_lines {
    const struct input_options *o;
    const char *hint;
    integer_lines_take *take;
    void *context;
    char *buffer; /* FRONT bytes, then the input */
    size_t filled;
    /* for messages */
    const char *name;
    uint64_t line; /* lines of this file that are done */
};

static void report_line(const struct integer_lines *s, uint64_t line, struct unseen_bytes text)
{
    const int shown = text.len < 40 ? (int)text.len : 40;
    message_error("%s:%" PRIu64 ": '%.*s%s' is not an integer from 0 to %" PRIu64, s->name, line,
                  shown, text.data, text.len > 40 ? "..." : "", UNSEEN_BITMAP_END - 1);
    if (s->hint) {
        message_hint("%s", s->hint);
    }
}

/* Parses a line that integer_parse does not take as it is: leading zeros do not count, nor does the
 * CR of a CRLF line end. */
static bool parse_other(const struct integer_lines *s, struct unseen_bytes line,
                        uint64_t *value_out)
{
    if (s->o->delimiter == '\n') {
        (void)unseen_lines_trim(&line, 1, &line);
    }
    while (line.len > INTEGER_FAST_DIGITS && line.data[0] == '0') {
        line.data++;
        line.len--;
    }
    return integer_parse(line.data, line.len, value_out);
}

/* Gives the lines to the caller, up to the first wrong one, which is reported. */
static bool take_lines(struct integer_lines *s, const struct unseen_bytes *lines, size_t n)
{
    uint64_t values[INTEGER_LINES];
    size_t nright = 0;
    for (; nright < n; nright++) {
        const struct unseen_bytes *line = &lines[nright];
        if ((!integer_parse(line->data, line->len, &values[nright]) &&
             !parse_other(s, *line, &values[nright])) ||
            values[nright] >= UNSEEN_BITMAP_END) {
            break;
        }
    }
    if (nright > 0 && !s->take(s->context, values, lines, nright)) {
        return false;
    }
    if (nright < n) {
        report_line(s, s->line + nright + 1, lines[nright]);
    }
    s->line += nright;
    return nright == n;
}

/* Takes all complete lines of the buffer and moves the rest to its front. */
static bool take_buffer(struct integer_lines *s)
{
    struct unseen_bytes lines[INTEGER_LINES];
    const char *data = s->buffer + FRONT;
    size_t at = 0;
    size_t used = 0;
    size_t n = 0;
    while ((n = unseen_lines_split(data + at, s->filled - at, s->o->delimiter, lines, INTEGER_LINES,
                                   &used)) > 0) {
        if (!take_lines(s, lines, n)) {
            return false;
        }
        at += used;
    }
    if (at > 0) {
        memmove(s->buffer + FRONT, data + at, s->filled - at);
        s->filled -= at;
    }
    if (BUFFER_BYTES - s->filled < INPUT_READ_MIN) {
        report_line(s, s->line + 1, (struct unseen_bytes){data, s->filled});
        return false;
    }
    return true;
}

static int integers_before_wait(void *context)
{
    (void)context;
    report_poll();
    return INPUT_NOTHING;
}

/* Takes the file of that index. */
static bool take_input(struct integer_lines *s, struct input *in, size_t index)
{
    ssize_t n = 0;
    s->name = input_name(in);
    s->line = 0;
    s->filled = 0;
    while ((n = input_read(in, s->buffer + FRONT + s->filled, BUFFER_BYTES - s->filled)) > 0) {
        s->filled += (size_t)n;
        report_at(s->o->files, s->o->nfiles, index, input_offset(in));
        report_poll();
        if (!take_buffer(s)) {
            return false;
        }
    }
    if (n == 0 && s->filled > 0) {
        s->buffer[FRONT + s->filled++] = s->o->delimiter;
        return take_buffer(s);
    }
    return n == 0;
}

bool integer_lines_read(const struct input_options *o, const char *hint, integer_lines_take *take,
                        void *context)
{
    struct integer_lines s = {.o = o, .hint = hint, .take = take, .context = context};
    s.buffer = malloc(FRONT + BUFFER_BYTES + 1);
    if (!s.buffer) {
        return message_no_memory();
    }
    memset(s.buffer, 0, FRONT);
    bool taken = true;
    for (size_t i = 0; i < o->nfiles && taken; i++) {
        struct input *in =
            input_open(o->files[i], (struct input_wait){.before = integers_before_wait}, o);
        taken = in && take_input(&s, in, i);
        input_close(in);
    }
    free(s.buffer);
    return taken;
}
