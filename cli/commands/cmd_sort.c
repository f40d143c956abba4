/* SPDX-License-Identifier: MIT
 *
 * `unseen sort`: sorts integers. Every integer of the input is a bit of a bitmap, and reading the
 * bits in order sorts them. So time and memory do not depend on the order of the input, and memory
 * not on the number of integers. Repeats are counted beside the bitmap, unless only distinct
 * integers are wanted.
 *
 * Nothing is printed before the whole input was read and is right: a part of the result would be
 * taken for the whole. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unseen_bitmap.h>

#include "commands/commands.h"
#include "commands/integer_lines.h"
#include "commands/integers.h"
#include "commands/repeats.h"
#include "lines/files.h"
#include "print/message.h"
#include "print/output.h"
#include "print/report.h"

enum {
    LISTED = 1024
};

_Static_assert(LISTED <= OUTPUT_BYTES / INTEGER_TEXT_MAX, "output_reserve has room for them all");

struct sort {
    const struct options *o;
    struct unseen_bitmap *bitmap;
    struct repeats repeats;
    struct output out;
    struct report report;
};

/* ---- Input ----------------------------------------------------------------------------------- */

static void sort_report_memory(void)
{
    message_error("out of memory for the integers");
    message_hint("sort -n FILE uses temporary files");
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

static bool take_integers(void *context, const uint64_t *values, const struct unseen_bytes *lines,
                          size_t n)
{
    struct sort *s = context;
    uint8_t verdicts[INTEGER_LINES];
    uint8_t *wanted = s->o->print.unique ? NULL : verdicts;
    (void)lines;
    s->report.nplain += n;
    if (unseen_bitmap_set(s->bitmap, values, n, wanted, NULL) != UNSEEN_OK ||
        (wanted && !count_repeats(s, values, wanted, n))) {
        sort_report_memory();
        return false;
    }
    return true;
}

/* ---- Output ---------------------------------------------------------------------------------- */

/* Prints integers that came once each. */
static void sort_put_once(struct sort *s, struct integers_printer *printer, const uint64_t *values,
                          size_t n)
{
    char *to = output_reserve(&s->out, n * INTEGER_TEXT_MAX);
    if (to) {
        const char *prefix = s->o->print.count ? "1\t" : "";
        const char *end = integers_print_all(printer, values, n, prefix, s->o->input.delimiter, to);
        output_advance(&s->out, (size_t)(end - to));
    }
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
            sort_put_once(s, printer, values + first, i - first);
        }
        if (i < n && values[i] == again) {
            put_repeated(s, printer, again, 1 + repeats_take(&s->repeats));
            i++;
        }
    }
}

static void sort_put_all(struct sort *s, struct integers_printer *printer)
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
    if (status == UNSEEN_ERR_NOMEM) {
        sort_report_memory();
        return false;
    }
    if (status != UNSEEN_OK) {
        message_error("cannot make a bitmap: %s", unseen_status_string(status));
        return false;
    }
    return output_open(&s->out, s->o->print.output) &&
           files_check(s->o->command->called, s->o->input.files, s->o->input.nfiles, outs, 1);
}

/* Truncates the output after the whole input has been read. */
static bool sort_all(struct sort *s, enum unseen_cpu cpu)
{
    if (!sort_prepare(s, cpu)) {
        return false;
    }
    report_start(&s->report, &s->o->report, true);
    const bool taken =
        integer_lines_read(&s->o->input, "sort -n FILE takes other numbers, too", take_integers, s);
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
    sort_put_all(s, printer);
    free(printer);
    return output_close(&s->out);
}

int sort_run(const struct options *o, enum unseen_cpu cpu)
{
    struct sort s = {.o = o};
    const int status = sort_all(&s, cpu) ? EXIT_DONE : EXIT_TROUBLE;
    output_abandon(&s.out);
    repeats_release(&s.repeats);
    unseen_bitmap_free(s.bitmap);
    return status;
}
