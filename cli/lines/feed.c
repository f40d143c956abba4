/* SPDX-License-Identifier: MIT
 *
 * The feed writes all output before it waits for more input. Otherwise a crawler that makes our
 * input of our output would wait for us while we wait for it. */
#include "lines/feed.h"

#include <sched.h>
#include <stdlib.h>

#include "lines/files.h"
#include "lines/pair.h"
#include "lines/rounds.h"
#include "print/message.h"
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

/* The index among the files of the options of the first file that is read; their number if it is
 * not one of them. */
static size_t first_file(const struct feed *f)
{
    size_t i = 0;
    while (f->file && i < f->input->nfiles && f->input->files[i] != f->file) {
        i++;
    }
    return i;
}

/* Tells the report where the batch is from. */
static void report_batch(const struct feed *f, const struct batch *b)
{
    if (f->first < f->input->nfiles) {
        report_at(f->input->files, f->input->nfiles, f->first + b->file, b->offset);
    }
}

/* Has a batch answered; false if the run is to stop. */
static bool feed_give(struct feed *f, const struct batch *b)
{
    report_batch(f, b);
    f->failed = b->failed;
    return f->take(f->context, b) && feed_goes_on(f);
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

/* ---- One thread ------------------------------------------------------------------------------ */

struct one_thread {
    struct feed *feed;
    struct reader *reader;
    struct batch *slots; /* used in turn */
    size_t nslots;       /* FEED_KEPT if batches are kept, otherwise 1 */
    uint64_t ntaken;
    uint64_t nsettled; /* of these, answered if batches are kept */
    bool stops;        /* kept batches could not be answered */
};

/* Answers the batches that are kept. */
static void settle(struct one_thread *a)
{
    struct feed *f = a->feed;
    a->stops = a->stops || (f->settle && !f->settle(f->context));
    a->nsettled = a->ntaken;
}

static bool settle_used(void *context, uint64_t n)
{
    struct one_thread *a = context;
    if (n > a->nsettled) {
        settle(a);
    }
    return !a->stops;
}

static int settle_before_wait(void *context)
{
    struct one_thread *a = context;
    settle(a);
    return a->stops ? INPUT_STOP : feed_before_wait(a->feed);
}

static bool start(struct one_thread *a)
{
    const bool keeps = a->feed->settle != NULL;
    a->reader->nblocks = keeps ? BLOCKS_KEPT : 1;
    a->reader->wait = keeps ? (struct input_wait){settle_before_wait, settle_used, a}
                            : (struct input_wait){feed_before_wait, NULL, a->feed};
    a->nslots = keeps ? FEED_KEPT : 1;
    a->slots = calloc(a->nslots, sizeof(*a->slots));
    return a->slots || message_no_memory();
}

/* The next batch, valid until it was settled, or until the next call. NULL at the end, or if the
 * run is to stop. */
static const struct batch *next_batch(struct one_thread *a)
{
    struct batch *b = &a->slots[a->ntaken % a->nslots];
    if (a->ntaken - a->nsettled == a->nslots) {
        settle(a);
    }
    const bool more = !a->stops && reader_next(a->reader, b, true);
    a->ntaken++;
    return more && !a->stops ? b : NULL;
}

static void run_in_one_thread(struct feed *f, struct reader *reader)
{
    struct one_thread a = {.feed = f, .reader = reader};
    if (!start(&a)) {
        f->failed = true;
        return;
    }
    const struct batch *b;
    while ((b = next_batch(&a)) != NULL && feed_give(f, b)) {
    }
    settle(&a);
    f->failed = reader->failed;
    reader_summary(reader);
    reader_release(reader);
    for (size_t i = 0; i < a.nslots; i++) {
        text_release(&a.slots[i].text);
    }
    free(a.slots);
}

/* ---- The pipeline ---------------------------------------------------------------------------- */

/* `threads` is what the user asked for; 0: decide by the number of processors. */
static unsigned count_threads(unsigned threads)
{
    cpu_set_t usable;
    if (threads > 0) {
        return threads;
    }
    return sched_getaffinity(0, sizeof(usable), &usable) == 0 && CPU_COUNT(&usable) > 1 ? 2 : 1;
}

void feed_run(struct feed *f)
{
    struct reader reader = {
        .names = f->file ? &f->file : f->input->files,
        .nnames = f->file ? 1 : f->input->nfiles,
        .identity = f->identity,
        .options = f->input,
    };
    const unsigned threads = count_threads(f->input->threads);
    f->first = first_file(f);
    f->failed = false;
    /* If an input is a named fifo, the program is probably part of a loop: mkfifo q; unseen < q
     * | fetch > q. When both pipes are full, the reader of our output waits for us to read, so
     * we must not wait for it to read. Reading goes first then, and the output may queue up in
     * memory. */
    if (files_have_fifo(reader.names, reader.nnames)) {
        output_make_elastic(f->out);
    }
    const bool one_by_one = f->out->elastic || f->settle;
    const bool is_run = !one_by_one && ((threads > 2 && f->identity && rounds_run(f, &reader)) ||
                                        (threads > 1 && pair_run(f, &reader)));
    if (!is_run) {
        run_in_one_thread(f, &reader);
    }
}
