/* SPDX-License-Identifier: MIT
 *
 * A loop writes all output before it waits for more input. Otherwise a crawler that makes our input
 * of our output would wait for us while we wait for it. */
#include "lines/loops.h"

#include "print/report.h"
#include "stop.h"

/* False if the run is to stop: an output failed, or a signal asks for it. */
static bool feed_goes_on(const struct feed *f)
{
    return !f->out->failed && !(f->more && f->more->failed) && !stop_is_wanted();
}

int feed_before_wait(void *context)
{
    struct feed *f = context;
    (void)output_flush(f->out); /* remembered in out */
    if (f->more && f->more->is_open) {
        (void)output_flush(f->more);
    }
    report_poll();
    if (f->poll) {
        f->poll(f->context);
    }
    if (!feed_goes_on(f)) {
        return INPUT_STOP;
    }
    const int behind = output_behind(f->out);
    return behind >= 0 ? behind : INPUT_NOTHING;
}

/* Tells the report where the batch is from. */
static void report_batch(const struct feed *f, const struct batch *b)
{
    if (f->first < f->input->nfiles) {
        report_at(f->input->files, f->input->nfiles, f->first + b->file, b->offset);
    }
}

bool feed_give(struct feed *f, const struct batch *b)
{
    report_batch(f, b);
    f->failed = b->failed;
    return (f->take_kept || f->take(f->context, b)) && feed_goes_on(f);
}

enum feed_state feed_answer(struct feed *f, struct reader *reader, const struct batch *b,
                            enum unseen_status status)
{
    const bool noted = !reader_note(reader, b, status);
    const bool goes_on = status != UNSEEN_OK || feed_give(f, b);
    f->failed = f->failed || reader->note_failed;
    return noted ? FEED_STOPS_NOTED : goes_on ? FEED_RUNS : FEED_STOPS;
}

void feed_end(struct feed *f, struct reader *reader, enum feed_state state)
{
    if (state == FEED_RUNS) {
        reader_note_end(reader);
    }
    if (state != FEED_STOPS) {
        f->failed = reader->failed || reader->note_failed;
        reader_summary(reader);
    }
    reader_release(reader);
}
