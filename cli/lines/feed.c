/* SPDX-License-Identifier: MIT
 *
 * What the input has brought is written out before the program waits for more: a crawler that
 * reads our output to make our input would otherwise wait for us while we wait for it. */
#include "lines/feed.h"

#include <stdlib.h>

#include "lines/files.h"
#include "print/message.h"
#include "print/report.h"
#include "stop.h"

static bool goes_on(const struct feed *f)
{
    return !f->out->failed && !(f->more && f->more->failed) && !stop_is_wanted();
}

static int before_wait(void *context)
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
    if (!goes_on(f)) {
        return INPUT_STOP;
    }
    return output_is_behind(f->out) ? f->out->fd : INPUT_NOTHING;
}

static void feed_here(struct feed *f)
{
    struct batch *b = calloc(1, sizeof(*b));
    if (!b) {
        (void)message_no_memory();
        f->failed = true;
        return;
    }
    while (reader_next(&f->reader, b) && f->take(f->context, b) && goes_on(f)) {
    }
    f->failed = f->reader.failed;
    reader_summary(&f->reader);
    text_release(&b->text);
    free(b);
}

/* Of a batch the thread has made, failed is as it was then: what it has read too much of when the
 * run ends early does not count. */
static void feed_ahead(struct feed *f)
{
    const struct batch *b = NULL;
    do {
        b = read_ahead_next(&f->ahead);
        f->failed = b && b->failed;
    } while (b && f->take(f->context, b) && goes_on(f));
    read_ahead_finish(&f->ahead);
    if (f->ahead.ended) {
        f->failed = f->reader.failed;
        reader_summary(&f->reader);
    }
}

void feed_run(struct feed *f)
{
    const struct input_options *o = f->input;
    const struct input_wait wait = {before_wait, NULL, f};
    const char *const *names = f->file ? &f->file : o->files;
    size_t nnames = f->file ? 1 : o->nfiles;
    f->reader = (struct reader){
        .names = names,
        .nnames = nnames,
        .identity = f->identity,
        .delimiter = o->delimiter,
        .max_line = o->max_line,
        .long_window = o->long_window,
        .nblocks = 1,
    };
    /* An input that is a named fifo is the sign of a loop: mkfifo q; unseen < q | fetch > q. There,
     * waiting for the reader of our output while it waits for us to read would never end as soon
     * as both pipes are full, so reading goes first and the output may queue up in memory. */
    if (files_have_fifo(names, nnames)) {
        output_make_elastic(f->out);
    }
    if (!f->out->elastic && read_ahead_is_wanted(o->threads) &&
        read_ahead_start(&f->ahead, &f->reader, wait)) {
        feed_ahead(f);
    } else {
        f->reader.wait = wait;
        feed_here(f);
    }
    reader_release(&f->reader);
}
