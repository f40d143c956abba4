/* SPDX-License-Identifier: MIT
 *
 * Every integer of the input is a bit of a bitmap, and reading the bits in order sorts them. So
 * time and memory do not depend on the order of the input, and memory not on the number of
 * integers. Repeats are counted beside the bitmap, unless only distinct integers are wanted.
 *
 * Nothing is printed before the whole input was read and is right: a part of the result would be
 * taken for the whole. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unseen_bitmap.h>

#include "commands/commands.h"
#include "commands/integers.h"
#include "commands/repeats.h"
#include "lines/files.h"
#include "lines/input.h"
#include "print/message.h"
#include "print/output.h"
#include "print/report.h"

enum {
    BUFFER_BYTES = 256 * 1024,
    FRONT = 16, /* bytes in front of a line that may be read */
    LINES = 512,
    LISTED = 1024
};

struct sort {
    const struct options *o;
    struct unseen_bitmap *bitmap;
    struct repeats repeats;
    struct output out;
    char *buffer; /* FRONT bytes, then the input */
    size_t filled;
    /* for messages */
    const char *name;
    uint64_t line; /* lines of this file that are done */
    struct report report;
};

/* ---- Input ----------------------------------------------------------------------------------- */

static void report_line(const struct sort *s, uint64_t line, struct unseen_bytes text)
{
    const int shown = text.len < 40 ? (int)text.len : 40;
    message_error("%s:%" PRIu64 ": '%.*s%s' is not an integer from 0 to %" PRIu64, s->name, line,
                  shown, text.data, text.len > 40 ? "..." : "", UNSEEN_BITMAP_END - 1);
    message_hint("sort -n FILE takes other numbers, too");
}

static void sort_report_memory(void)
{
    message_error("out of memory for the integers");
    message_hint("sort -n FILE uses temporary files");
}

/* Parses a line that integer_parse does not take as it is: leading zeros do not count, nor does the
 * CR of a CRLF line end. */
static bool parse_other(const struct sort *s, struct unseen_bytes line, uint64_t *value_out)
{
    if (s->o->input.delimiter == '\n') {
        (void)unseen_lines_trim(&line, 1, &line);
    }
    while (line.len > INTEGER_FAST_DIGITS && line.data[0] == '0') {
        line.data++;
        line.len--;
    }
    return integer_parse(line.data, line.len, value_out);
}

static bool count_repeats(struct sort *s, const uint64_t *values, const uint8_t *verdicts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (verdicts[i] == UNSEEN_SEEN && !repeats_add(&s->repeats, values[i])) {
            return false;
        }
    }
    return true;
}

/* Adds the lines; reports the first wrong one. */
static bool take_lines(struct sort *s, const struct unseen_bytes *lines, size_t n)
{
    uint64_t values[LINES];
    uint8_t verdicts[LINES];
    bool all_right = true;
    for (size_t i = 0; i < n; i++) {
        bool is_right = integer_parse(lines[i].data, lines[i].len, &values[i]);
        if (!is_right) {
            is_right = parse_other(s, lines[i], &values[i]);
            values[i] = is_right ? values[i] : UNSEEN_BITMAP_END; /* not a value either */
        }
        all_right = all_right && is_right;
    }
    size_t ndone = 0;
    const bool unique = s->o->print.unique;
    const enum unseen_status status =
        unseen_bitmap_set(s->bitmap, values, n, unique ? NULL : verdicts, &ndone);
    if (status == UNSEEN_ERR_ARGUMENT) {
        report_line(s, s->line + ndone + 1, lines[ndone]);
        return false;
    }
    s->line += n;
    s->report.nplain += n;
    if (status != UNSEEN_OK || (!unique && !count_repeats(s, values, verdicts, n))) {
        sort_report_memory();
        return false;
    }
    return true;
}

/* Takes all complete lines of the buffer and moves the rest to its front. */
static bool take_buffer(struct sort *s)
{
    struct unseen_bytes lines[LINES];
    const char *data = s->buffer + FRONT;
    size_t at = 0;
    size_t used = 0;
    size_t n = 0;
    while ((n = unseen_lines_split(data + at, s->filled - at, s->o->input.delimiter, lines, LINES,
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
    if (s->filled == BUFFER_BYTES) {
        report_line(s, s->line + 1, (struct unseen_bytes){data, s->filled});
        return false;
    }
    return true;
}

static int before_wait(void *context)
{
    (void)context;
    report_poll();
    return INPUT_NOTHING;
}

/* Takes the file of that index. */
static bool take_input(struct sort *s, struct input *in, size_t index)
{
    const struct input_options *o = &s->o->input;
    ssize_t n = 0;
    s->name = input_name(in);
    s->line = 0;
    s->filled = 0;
    while ((n = input_read(in, s->buffer + FRONT + s->filled, BUFFER_BYTES - s->filled)) > 0) {
        s->filled += (size_t)n;
        report_at(o->files, o->nfiles, index, input_offset(in));
        report_poll();
        if (!take_buffer(s)) {
            return false;
        }
    }
    if (n == 0 && s->filled > 0) {
        s->buffer[FRONT + s->filled++] = s->o->input.delimiter;
        return take_buffer(s);
    }
    return n == 0;
}

static bool take_files(struct sort *s)
{
    bool taken = true;
    for (size_t i = 0; i < s->o->input.nfiles && taken; i++) {
        struct input *in = input_open(s->o->input.files[i],
                                      (struct input_wait){.before = before_wait}, &s->o->input);
        taken = in && take_input(s, in, i);
        input_close(in);
    }
    return taken;
}

/* ---- Output ---------------------------------------------------------------------------------- */

/* Prints integers that came once each. */
static void put_run(struct sort *s, struct integers_printer *printer, const uint64_t *values,
                    size_t n)
{
    char *begin = output_reserve(&s->out, n * INTEGER_TEXT_MAX);
    char *to = begin;
    for (size_t i = 0; i < n && begin; i++) {
        if (s->o->print.count) {
            memcpy(to, "1\t", 2);
            to += 2;
        }
        to = integers_print(printer, values[i], to);
        *to++ = s->o->input.delimiter;
    }
    output_advance(&s->out, (size_t)(to - begin));
}

/* Prints an integer n times. */
static void put_repeated(struct sort *s, struct integers_printer *printer, uint64_t value,
                         uint64_t n)
{
    char text[2 * INTEGER_TEXT_MAX];
    char *to = text;
    if (s->o->print.count) {
        to += snprintf(text, INTEGER_TEXT_MAX, "%" PRIu64 "\t", n);
        n = 1;
    }
    to = integers_print(printer, value, to);
    *to++ = s->o->input.delimiter;
    for (; n > 0 && !s->out.failed; n--) {
        output_write(&s->out, text, (size_t)(to - text));
    }
}

static void put_listed(struct sort *s, struct integers_printer *printer, const uint64_t *values,
                       size_t n)
{
    for (size_t i = 0; i < n && !s->out.failed;) {
        const uint64_t again = repeats_next(&s->repeats);
        const size_t first = i;
        while (i < n && values[i] < again) {
            i++;
        }
        if (i > first) {
            put_run(s, printer, values + first, i - first);
        }
        if (i < n && values[i] == again) {
            put_repeated(s, printer, again, 1 + repeats_take(&s->repeats));
            i++;
        }
    }
}

static void put_all(struct sort *s, struct integers_printer *printer)
{
    uint64_t values[LISTED];
    uint64_t from = 0;
    size_t n = 0;
    integers_start(printer);
    do {
        n = unseen_bitmap_next(s->bitmap, from, values, LISTED);
        if (n > 0) {
            put_listed(s, printer, values, n);
            from = values[n - 1] + 1;
        }
    } while (n == LISTED && !s->out.failed);
}

/* ---- Before and after ------------------------------------------------------------------------ */

static bool sort_prepare(struct sort *s, enum unseen_cpu cpu)
{
    const struct unseen_bitmap_options options = {.size = sizeof(options), .cpu = cpu};
    const struct output *const outs[] = {&s->out};
    const enum unseen_status status = unseen_bitmap_create(&s->bitmap, &options, NULL);
    s->buffer = malloc(FRONT + BUFFER_BYTES + 1);
    if (status == UNSEEN_ERR_NOMEM || !s->buffer) {
        sort_report_memory();
        return false;
    }
    if (status != UNSEEN_OK) {
        message_error("cannot make a bitmap: %s", unseen_status_string(status));
        return false;
    }
    memset(s->buffer, 0, FRONT);
    return output_open(&s->out, s->o->print.output) &&
           files_check(s->o->command->called, s->o->input.files, s->o->input.nfiles, outs, 1);
}

/* Truncates the output after the whole input has been read. */
static bool run(struct sort *s, enum unseen_cpu cpu)
{
    if (!sort_prepare(s, cpu)) {
        return false;
    }
    report_start(&s->report, &s->o->report, true);
    const bool taken = take_files(s);
    report_end(&s->report, NULL, NULL);
    if (!taken || !output_truncate(&s->out)) {
        return false;
    }
    struct integers_printer *printer = malloc(sizeof(*printer));
    if (!printer) {
        sort_report_memory();
        return false;
    }
    repeats_sort(&s->repeats);
    put_all(s, printer);
    free(printer);
    return output_close(&s->out);
}

int sort_run(const struct options *o, enum unseen_cpu cpu)
{
    struct sort s = {.o = o};
    const int status = run(&s, cpu) ? EXIT_DONE : EXIT_TROUBLE;
    output_abandon(&s.out);
    repeats_release(&s.repeats);
    unseen_bitmap_free(s.bitmap);
    free(s.buffer);
    return status;
}
