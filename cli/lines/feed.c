/* SPDX-License-Identifier: MIT */
#include "lines/feed.h"

#include <sched.h>
#include <stdlib.h>

#include "lines/files.h"
#include "lines/loops.h"
#include "lines/reread.h"
#include "print/message.h"

/* ---- One thread ------------------------------------------------------------------------------ */

struct one_thread {
    struct feed *feed;
    struct reader *reader;
    struct batch *slots; /* used in turn */
    size_t nslots;       /* FEED_KEPT if batches are kept, otherwise 1 */
    uint64_t ntaken;
    uint64_t nsettled; /* of these, answered, if batches are kept */
    bool stops;        /* kept batches could not be answered */
};

/* Answers the batches that are kept. */
static void settle(struct one_thread *a)
{
    const struct feed *f = a->feed;
    const struct batch *kept[FEED_KEPT];
    size_t n = 0;
    for (; a->nsettled < a->ntaken && f->take_kept; a->nsettled++) {
        kept[n++] = &a->slots[a->nsettled % a->nslots];
    }
    a->nsettled = a->ntaken;
    a->stops = a->stops || (n > 0 && !f->take_kept(f->context, kept, n));
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
    const bool keeps = a->feed->take_kept != NULL;
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
    if (a->stops || !reader_next(a->reader, b, true) || a->stops) {
        return NULL;
    }
    a->ntaken++;
    return b;
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

/* The threads that the user allows; without an option one for each processor, at most 8. */
static unsigned count_allowed(unsigned threads)
{
    enum {
        AUTO_MOST = 8
    };
    cpu_set_t usable;
    if (threads > 0) {
        return threads;
    }
    const bool is_known = sched_getaffinity(0, sizeof(usable), &usable) == 0;
    const int n = is_known ? CPU_COUNT(&usable) : 1;
    return n > AUTO_MOST ? AUTO_MOST : (unsigned)n;
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

void feed_run(struct feed *f)
{
    const struct reread *reread = f->input->reread;
    const size_t nread = reread_is_again(reread) ? reread->first : 0; /* files */
    struct reader reader = {
        .names = f->file ? &f->file : f->input->files + nread,
        .nnames = f->file ? 1 : f->input->nfiles - nread,
        .identity = f->identity,
        .options = f->input,
    };
    const unsigned allowed = count_allowed(f->input->threads);
    const unsigned threads = f->input->threads > 0 || allowed < 2 ? allowed : 2;
    /* With two threads the reader decodes the first file: no processor would be left for more. */
    reader.most_ahead = allowed > 1 && !f->input->has_limit ? allowed : 0;
    reader.nlooked = allowed > 2 ? 0 : 1;
    f->first = first_file(f) + nread;
    f->failed = false;
    /* If an input is a named fifo, the program is probably part of a loop: mkfifo q; unseen < q
     * | fetch > q. When both pipes are full, the reader of our output waits for us to read, so
     * we must not wait for it to read. Reading goes first then, and the output may queue up in
     * memory. */
    if (files_have_fifo(reader.names, reader.nnames)) {
        output_make_elastic(f->out);
    }
    const bool one_by_one = f->out->elastic || f->take_kept;
    if (one_by_one || threads < 2 || !workers_run(f, &reader, threads)) {
        run_in_one_thread(f, &reader);
    }
}
