/* SPDX-License-Identifier: MIT
 *
 * `unseen sort`: sorts integers. Every integer of the input is a bit of a bitmap, and reading the
 * bits in order sorts them. So time and memory do not depend on the order of the input, and memory
 * not on the number of integers. Repeats are counted beside the bitmap, unless only distinct
 * integers are wanted.
 *
 * Nothing is printed before the whole input was read and is right: a part of the result would be
 * taken for the whole. */
#include <unseen_bitmap.h>

#include "commands/commands.h"
#include "lines/files.h"
#include "lines/integer_lines.h"
#include "lines/repeats.h"
#include "print/message.h"
#include "print/output.h"
#include "print/report.h"
#include "print/typed.h"
#include "seen/bitmaps.h"

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
    message_hint("with temporary files: sort -n%s", typed_inputs());
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
           files_check(s->o->input.files, s->o->input.nfiles, outs, 1);
}

/* Truncates the output after the whole input has been read. */
static bool sort_all(struct sort *s, enum unseen_cpu cpu)
{
    if (!sort_prepare(s, cpu)) {
        return false;
    }
    report_start(&s->report, &s->o->report, true);
    const bool taken =
        integer_lines_read(&s->o->input, "sort -n FILE also takes other numbers", take_integers, s);
    report_end(&s->report, NULL, NULL);
    if (!taken || !output_truncate(&s->out)) {
        return false;
    }
    const struct bitmap_lines lines = {&s->repeats, s->o->print.count, s->o->input.delimiter};
    repeats_sort(&s->repeats);
    if (!bitmaps_print(s->bitmap, 0, UNSEEN_BITMAP_END, lines, &s->out)) {
        sort_report_memory();
        return false;
    }
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
