/* SPDX-License-Identifier: MIT
 *
 * The set gives a verdict for each line of a batch, and the verdict decides where the line goes.
 * Neighbours in the input with the same verdict are neighbours in memory and are copied in one
 * piece. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "dedup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "command.h"
#include "feed.h"
#include "files.h"
#include "identity.h"
#include "message.h"
#include "output.h"
#include "profile.h"
#include "reader.h"
#include "report.h"

struct dedup {
    const struct options *o;
    struct unseen_url *url;
    struct unseen_set *set;
    struct identity identity;
    struct feed feed;
    struct output out;
    struct output repeats; /* -D */
    struct report report;
    uint64_t left; /* lines still to be printed before -m or -q ends the run */
    bool full;     /* the set could not grow */
};

/* ---- Where a line goes ----------------------------------------------------------------------- */

/* lines[first..end), which are neighbours, each with its delimiter. */
static void put_lines(const struct dedup *d, struct output *out, const struct unseen_bytes *lines,
                      size_t first, size_t end)
{
    if (!d->o->line_buffered) {
        const char *begin = lines[first].data;
        output_write(out, begin, (size_t)(lines[end - 1].data - begin) + lines[end - 1].len + 1);
        return;
    }
    for (size_t i = first; i < end; i++) {
        output_write(out, lines[i].data, lines[i].len + 1);
        (void)output_flush(out); /* remembered in out */
    }
}

static bool adjacent(const struct unseen_bytes *lines, size_t i)
{
    return lines[i].data == lines[i - 1].data + lines[i - 1].len + 1;
}

static void put_runs(const struct dedup *d, struct output *out, const struct unseen_bytes *lines,
                     const uint8_t *verdicts, size_t n, uint8_t verdict)
{
    for (size_t i = 0; i < n;) {
        size_t first = i++;
        if (verdicts[first] == verdict) {
            while (i < n && verdicts[i] == verdict && adjacent(lines, i)) {
                i++;
            }
            put_lines(d, out, lines, first, i);
        }
    }
}

/* The same without a branch that depends on a verdict: every line is copied, and only those that
 * are wanted move the end of the output. Where both verdicts are frequent, the processor cannot
 * foresee them, and a wrong guess costs more than a copy. */
static bool put_mixed(struct output *out, const struct unseen_bytes *lines, const uint8_t *verdicts,
                      size_t n, uint8_t verdict)
{
    size_t size = BATCH_READABLE;
    for (size_t i = 0; i < n; i++) {
        size += lines[i].len + 1;
    }
    char *begin = output_reserve(out, size);
    if (!begin) {
        return false;
    }
    char *to = begin;
    for (size_t i = 0; i < n; i++) {
        size_t len = lines[i].len + 1;
        memcpy(to, lines[i].data, BATCH_READABLE);
        if (len > BATCH_READABLE) {
            memcpy(to + BATCH_READABLE, lines[i].data + BATCH_READABLE, len - BATCH_READABLE);
        }
        to += len & (0 - (size_t)(verdicts[i] == verdict));
    }
    output_advance(out, (size_t)(to - begin));
    return true;
}

/* The lines with this verdict, nwanted of n. */
static void put_verdict(const struct dedup *d, struct output *out, const struct unseen_bytes *lines,
                        const uint8_t *verdicts, size_t n, uint8_t verdict, size_t nwanted)
{
    const bool mixed = nwanted > n / 8 && nwanted < n - n / 8 && !d->o->line_buffered;
    if (!mixed || !put_mixed(out, lines, verdicts, n, verdict)) {
        put_runs(d, out, lines, verdicts, n, verdict);
    }
}

static void put_marked(const struct dedup *d, struct output *out, const struct unseen_bytes *lines,
                       const uint8_t *verdicts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        output_write(out, verdicts[i] == UNSEEN_NEW ? "1\t" : "0\t", 2);
        put_lines(d, out, lines, i, i + 1);
    }
}

static void put(struct dedup *d, const struct unseen_bytes *lines, const uint8_t *verdicts,
                size_t n, size_t nnew)
{
    const struct options *o = d->o;
    if (o->repeats) {
        put_verdict(d, &d->repeats, lines, verdicts, n, UNSEEN_SEEN, n - nnew);
    }
    if (o->mark) {
        put_marked(d, &d->out, lines, verdicts, n);
    } else if (!o->count && !o->quiet && o->invert) {
        put_verdict(d, &d->out, lines, verdicts, n, UNSEEN_SEEN, n - nnew);
    } else if (!o->count && !o->quiet) {
        put_verdict(d, &d->out, lines, verdicts, n, UNSEEN_NEW, nnew);
    }
}

/* ---- Batches --------------------------------------------------------------------------------- */

static size_t count_new(const uint8_t *verdicts, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += verdicts[i];
    }
    return sum;
}

static enum unseen_status ask(struct dedup *d, const struct unseen_key *keys, size_t n,
                              uint8_t *verdicts, size_t *ndone)
{
    if (!d->o->dry_run) {
        return unseen_set_add_keys(d->set, keys, n, verdicts, ndone);
    }
    *ndone = n;
    return unseen_set_contains_keys(d->set, keys, n, verdicts);
}

static void report_full(struct dedup *d, enum unseen_status status)
{
    d->full = true;
    message_error("cannot remember more lines: %s", unseen_status_string(status));
    message_hint("unseen --shard 1/2 FILE, then unseen --shard 2/2 FILE: half the memory each");
}

static uint64_t count_failed(const uint8_t *forms, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += forms[i] == UNSEEN_URL_FAILED;
    }
    return sum;
}

/* Answers a batch; false if there is no use in another. When only some more lines are wanted, no
 * more keys than that are added at a time: the set then holds exactly what was answered. */
static bool take_batch(void *context, const struct batch *b)
{
    struct dedup *d = context;
    const struct unseen_bytes *shown = d->o->canonical ? b->canons : b->lines;
    uint8_t verdicts[BATCH_LINES];
    size_t at = 0;
    while (at < b->n && d->left > 0 && !d->full) {
        size_t n = b->n - at < d->left ? b->n - at : (size_t)d->left;
        size_t ndone = 0;
        enum unseen_status status = ask(d, b->keys + at, n, verdicts, &ndone);
        if (status != UNSEEN_OK) {
            report_full(d, status);
        }
        size_t nnew = count_new(verdicts, ndone);
        put(d, shown + at, verdicts, ndone, nnew);
        d->report.nnew += nnew;
        d->report.nseen += ndone - nnew;
        d->report.nfailed += count_failed(b->forms + at, ndone);
        if (d->o->has_limit || d->o->quiet) {
            d->left -= d->o->invert ? ndone - nnew : nnew;
        }
        at += ndone;
    }
    d->report.nlong += b->nlong;
    d->report.nother += b->nother;
    d->report.nmisses += b->nmisses;
    d->report.nbytes += b->nbytes;
    if (at < b->n) {
        d->report.nbytes -= (uint64_t)(b->end - b->lines[at].data);
    }
    report_poll(&d->report);
    return d->left > 0 && !d->full;
}

static void poll_report(void *context)
{
    struct dedup *d = context;
    report_poll(&d->report);
}

static void read_all(struct dedup *d)
{
    d->feed.o = d->o;
    d->feed.identity = &d->identity;
    d->feed.out = &d->out;
    d->feed.more = &d->repeats;
    d->feed.take = take_batch;
    d->feed.poll = poll_report;
    d->feed.context = d;
    if (d->left > 0) {
        feed_run(&d->feed);
    }
}

/* ---- Before and after ------------------------------------------------------------------------ */

static bool create_set(struct dedup *d, enum unseen_cpu cpu)
{
    const struct options *o = d->o;
    if (!profile_create(&d->url, o, NULL, cpu)) {
        return false;
    }
    const struct unseen_url *url = profile_is_none(d->url) ? NULL : d->url;
    const struct unseen_set_options options = {
        .size = sizeof(options),
        .url = url,
        .fpr = o->fpr,
        .capacity = o->capacity,
        .filter = o->filter,
        .seed = o->has_seed ? &o->seed : NULL,
        .cpu = cpu,
    };
    enum unseen_status status = unseen_set_create(&d->set, &options);
    if (status == UNSEEN_OK) {
        d->identity = (struct identity){.url = url, .set = d->set, .keeps_texts = o->canonical};
        status = identity_init(&d->identity, o);
    }
    switch (status) {
    case UNSEEN_OK:
        return true;
    case UNSEEN_ERR_FPR:
        message_error("--fpr %g: %s", o->fpr, unseen_status_string(status));
        message_hint("unseen --fpr 5e-9");
        break;
    case UNSEEN_ERR_NAME:
        message_error("--filter %s: %s", o->filter, unseen_status_string(status));
        message_hint("unseen --filter compact");
        break;
    case UNSEEN_ERR_NOMEM:
        message_error("no room for %" PRIu64 " keys: %s", o->capacity,
                      unseen_status_string(status));
        message_hint("without --capacity the set grows as needed");
        break;
    default:
        message_error("cannot make a set: %s", unseen_status_string(status));
    }
    return false;
}

/* Everything in the -x lists counts as seen. Their lines are whole identities, whatever -k says of
 * the input. */
static bool add_excludes(struct dedup *d)
{
    const struct options *o = d->o;
    struct identity whole = d->identity;
    whole.field = 0;
    whole.json_path = NULL;
    whole.keeps_texts = false;
    struct reader reader = {
        .names = o->excludes,
        .nnames = o->nexcludes,
        .identity = &whole,
        .delimiter = o->delimiter,
        .nblocks = 1,
    };
    struct batch *b = calloc(1, sizeof(*b));
    if (!b) {
        message_error("out of memory");
        return false;
    }
    enum unseen_status status = UNSEEN_OK;
    while (status == UNSEEN_OK && reader_next(&reader, b)) {
        uint8_t verdicts[BATCH_LINES];
        status = unseen_set_add_keys(d->set, b->keys, b->n, verdicts, NULL);
        d->report.nexcluded += b->n + b->nother;
    }
    if (status != UNSEEN_OK) {
        report_full(d, status);
    }
    reader_release(&reader);
    text_release(&b->text);
    free(b);
    return status == UNSEEN_OK && !reader.failed;
}

static bool check_files(const struct dedup *d)
{
    const struct options *o = d->o;
    const struct output *const outs[] = {&d->out, &d->repeats};
    const char *const *names = o->files;
    size_t nnames = o->nfiles;
    files_default(&names, &nnames);
    size_t nstandard = 0;
    for (size_t i = 0; i < nnames; i++) {
        nstandard += files_is_standard_input(names[i]);
    }
    for (size_t i = 0; i < o->nexcludes; i++) {
        if (files_is_standard_input(o->excludes[i]) && nstandard++ > 0) {
            message_error("-x - and the input are both standard input");
            message_hint("unseen -x - FILE");
            return false;
        }
    }
    if (o->repeats && (d->repeats.fd == d->out.fd || files_is_output(o->repeats, &d->out))) {
        message_error("new lines and repeats both go to %s", d->repeats.name);
        message_hint("unseen --mark FILE tells them apart in one file");
        return false;
    }
    return files_check(o->command->called, names, nnames, outs, 2) &&
           files_check(o->command->called, o->excludes, o->nexcludes, outs, 2);
}

static bool open_outputs(struct dedup *d)
{
    const struct options *o = d->o;
    d->out.interrupted = poll_report;
    d->out.context = d;
    d->repeats.interrupted = poll_report;
    d->repeats.context = d;
    return output_open(&d->out, o->output) && (!o->repeats || output_open(&d->repeats, o->repeats));
}

/* Files are cut only when nothing speaks against the run any more. */
static bool prepare(struct dedup *d, enum unseen_cpu cpu)
{
    const struct options *o = d->o;
    if (!create_set(d, cpu) || !open_outputs(d) || !check_files(d)) {
        return false;
    }
    report_start(&d->report, o, d->out.fd);
    message_setup(o->color, d->report.progress);
    return add_excludes(d) && output_truncate(&d->out) &&
           (!o->repeats || output_truncate(&d->repeats));
}

static void put_count(struct dedup *d)
{
    char text[32];
    uint64_t n = d->o->invert ? d->report.nseen : d->report.nnew;
    int len = snprintf(text, sizeof(text), "%" PRIu64 "\n", n);
    output_write(&d->out, text, (size_t)len);
}

static int finish(struct dedup *d)
{
    if (d->o->count) {
        put_count(d);
    }
    bool written = output_close(&d->out);
    written = output_close(&d->repeats) && written;
    report_end(&d->report, d->o, d->set);
    if (d->o->quiet && d->left == 0) {
        return EXIT_DONE; /* it was found, whatever else went wrong: as with grep -q */
    }
    if (!written || d->full || d->feed.failed) {
        return EXIT_TROUBLE;
    }
    return d->o->quiet ? EXIT_NONE : EXIT_DONE;
}

int dedup_run(const struct options *o, enum unseen_cpu cpu)
{
    struct dedup d = {.o = o, .left = o->quiet ? 1 : o->has_limit ? o->limit : UINT64_MAX};
    int status = EXIT_TROUBLE;
    if (prepare(&d, cpu)) {
        read_all(&d);
        status = finish(&d);
    }
    output_abandon(&d.out);
    output_abandon(&d.repeats);
    identity_release(&d.identity);
    unseen_set_free(d.set);
    unseen_url_free(d.url);
    return status;
}
