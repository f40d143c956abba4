/* SPDX-License-Identifier: MIT
 *
 * `unseen FILE` prints the lines that are new; `unseen check` asks a store or a list and adds
 * nothing. The set gives a verdict for each line of a batch, and the verdict decides where the line
 * goes. Lines that follow each other in the input and have the same verdict are neighbours in
 * memory and are copied at once. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "address.h"
#include "commands/commands.h"
#include "commands/why.h"
#include "lines/batch.h"
#include "lines/feed.h"
#include "lines/files.h"
#include "lines/identity.h"
#include "lines/reread.h"
#include "lines/url_watch.h"
#include "print/json.h"
#include "print/message.h"
#include "print/output.h"
#include "print/report.h"
#include "print/typed.h"
#include "seen/beyond.h"
#include "seen/commit_marks.h"
#include "seen/filter_words.h"
#include "seen/room.h"
#include "seen/seen.h"
#include "seen/stores.h"
#include "stop.h"

struct dedup {
    const struct options *o;
    struct seen seen;
    struct commit_marks marks;
    struct identity identity;
    struct feed feed;
    struct output out;
    struct output repeats; /* -D */
    struct output tee;
    struct url_watch watch;
    struct why why;
    struct report report;
    struct room room;
    struct input_options input;
    struct beyond beyond; /* --memory: the input is read twice */
    struct reread reread;
    bool prints_seen;
    uint64_t left; /* lines that may still be printed before -m or -q ends the run */
    bool full;     /* the set could not grow */
    bool lost;     /* a list was cut short */
};

/* True for `unseen check`: a run that only asks, and looks for lines that are there. */
static bool is_check(const struct options *o)
{
    return o->seen.use->asks_only;
}

/* ---- Where a line goes ----------------------------------------------------------------------- */

/* Puts lines[first..end), which are neighbours in memory, with their delimiters. */
static inline void put_lines(const struct dedup *d, struct output *out,
                             const struct unseen_bytes *lines, size_t first, size_t end)
{
    if (!d->o->print.line_buffered) {
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

/* The same without a branch that depends on a verdict: copies every line, but moves the end of the
 * output only for wanted lines. If both verdicts are frequent, the processor cannot predict them,
 * and a misprediction costs more than a copy. */
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

/* Puts the lines with this verdict: nwanted of n. */
static void put_verdict(const struct dedup *d, struct output *out, const struct unseen_bytes *lines,
                        const uint8_t *verdicts, size_t n, uint8_t verdict, size_t nwanted)
{
    const bool mixed = nwanted > n / 8 && nwanted < n - n / 8 && !d->o->print.line_buffered;
    if (!mixed || !put_mixed(out, lines, verdicts, n, verdict)) {
        put_runs(d, out, lines, verdicts, n, verdict);
    }
}

/* Puts every line with a mark: 1 for a line that the command looks for (a new line, or for check a
 * line that is there). */
static void put_marked(const struct dedup *d, struct output *out, const struct unseen_bytes *lines,
                       const uint8_t *verdicts, size_t n)
{
    const uint8_t wanted = is_check(d->o) ? UNSEEN_SEEN : UNSEEN_NEW;
    for (size_t i = 0; i < n; i++) {
        output_write(out, verdicts[i] == wanted ? "1\t" : "0\t", 2);
        put_lines(d, out, lines, i, i + 1);
    }
}

static void put_json_found(struct output *out, struct unseen_bytes line, uint8_t verdict)
{
    json_write(out, "{\"input\":");
    json_write_string(out, line);
    json_write(out, verdict == UNSEEN_SEEN ? ",\"found\":true" : ",\"found\":false");
}

static void dedup_put_json(struct dedup *d, const struct unseen_bytes *lines,
                           const uint8_t *verdicts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        put_json_found(&d->out, lines[i], verdicts[i]);
        json_write(&d->out, "}\n");
        if (d->o->print.line_buffered) {
            (void)output_flush(&d->out); /* remembered in out */
        }
    }
}

/* Puts the wanted lines among n of b, from `first` on, with the texts that are the reason. False if
 * these cannot be found, which has been reported. */
static bool put_why(struct dedup *d, const struct batch *b, size_t first, const uint8_t *verdicts,
                    size_t n)
{
    const struct unseen_bytes *shown = (d->o->print.canonical ? b->canons : b->lines) + first;
    const uint8_t wanted = d->prints_seen ? UNSEEN_SEEN : UNSEEN_NEW;
    for (size_t i = 0; i < n; i++) {
        if (verdicts[i] != wanted && !d->o->print.json) {
            continue;
        }
        if (!why_find(&d->why, b, first + i, verdicts[i])) {
            return false;
        }
        if (d->o->print.json) {
            put_json_found(&d->out, shown[i], verdicts[i]);
            why_put_json(&d->why, &d->out);
            json_write(&d->out, "}\n");
        } else {
            why_put(&d->why, &d->out, shown[i]);
        }
        if (d->o->print.line_buffered) {
            (void)output_flush(&d->out); /* remembered in out */
        }
    }
    return true;
}

static void dedup_put(struct dedup *d, const struct unseen_bytes *lines, const uint8_t *verdicts,
                      size_t n, size_t nnew)
{
    const struct options *o = d->o;
    if (o->print.repeats) {
        put_verdict(d, &d->repeats, lines, verdicts, n, UNSEEN_SEEN, n - nnew);
    }
    if (o->print.mark) {
        put_marked(d, &d->out, lines, verdicts, n);
    } else if (o->print.json) {
        dedup_put_json(d, lines, verdicts, n);
    } else if (!o->print.count && !o->print.quiet) {
        put_verdict(d, &d->out, lines, verdicts, n, d->prints_seen ? UNSEEN_SEEN : UNSEEN_NEW,
                    d->prints_seen ? n - nnew : nnew);
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

/* Puts n lines of b, from `first` on, where their verdicts say. */
static void answer_lines(struct dedup *d, const struct batch *b, size_t first,
                         const uint8_t *verdicts, size_t n)
{
    const struct unseen_bytes *shown = d->o->print.canonical ? b->canons : b->lines;
    const size_t nnew = count_new(verdicts, n);
    if (!d->o->print.why) {
        dedup_put(d, shown + first, verdicts, n, nnew);
    } else if (!put_why(d, b, first, verdicts, n)) {
        d->full = true; /* reported */
    }
    d->marks.waits = url_watch_doubts(&d->watch);
    commit_marks_mark(&d->marks, nnew);
    d->report.nnew += nnew;
    d->report.nseen += n - nnew;
    d->report.nfailed += batch_count_failed(b, first, n);
    if (d->left != UINT64_MAX) {
        d->left -= d->prints_seen ? n - nnew : nnew;
    }
}

/* The same for lines of which a server may have refused some. */
static void answer_taken(struct dedup *d, const struct batch *b, size_t first,
                         const uint8_t *verdicts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t *refused = memchr(verdicts + i, REMOTE_NO_ANSWER, n - i);
        const size_t end = refused ? (size_t)(refused - verdicts) : n;
        if (end > i) {
            answer_lines(d, b, first + i, verdicts + i, end - i);
        }
        i = end;
    }
}

/* Counts what belongs to no single line of b, of which the first n were answered. */
static void count_batch(struct dedup *d, const struct batch *b, size_t n)
{
    batch_count(b, &d->report);
    if (n < b->n) {
        d->report.nbytes -= (uint64_t)(b->end - b->lines[n].data);
    }
}

static void note_status(struct dedup *d, enum unseen_status status)
{
    if (status != UNSEEN_OK) {
        d->full = true;
        d->lost = status == UNSEEN_ERR_MISMATCH;
        seen_report_full(status);
    }
}

static void look_at_room(struct dedup *d)
{
    const uint64_t nlines = d->report.nnew + d->report.nseen;
    if (room_is_due(&d->room, nlines)) {
        room_look(&d->room, (struct room_look){report_share(&d->report), d->report.nnew, nlines});
    }
}

/* Looks whether the lines of n batches are URLs. False ends the run, before a server is asked: it
 * would remember them at once. */
static bool look_at_lines(struct dedup *d, const struct batch *const *batches, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        url_watch_look(&d->watch, batches[i], 0, batches[i]->n);
    }
    return !(d->seen.asked.server && d->seen.asked.adds && url_watch_doubts(&d->watch));
}

/* Answers a batch; false ends the run. If only some more lines are wanted, asks for no more than
 * that at a time: the set then holds only keys of lines that were answered. */
static bool dedup_take_batch(void *context, const struct batch *b)
{
    struct dedup *d = context;
    uint8_t verdicts[BATCH_LINES];
    if (!look_at_lines(d, &b, 1)) {
        return false;
    }
    size_t at = 0;
    seen_refresh(&d->seen);
    while (at < b->n && d->left > 0 && !d->full) {
        const size_t n = b->n - at < d->left ? b->n - at : (size_t)d->left;
        size_t ndone = 0;
        note_status(d, seen_ask(&d->seen, b, at, n, verdicts, &ndone));
        answer_taken(d, b, at, verdicts, ndone);
        at += ndone;
    }
    count_batch(d, b, at);
    look_at_room(d);
    commit_marks_written(&d->marks);
    report_poll();
    return d->left > 0 && !d->full && !d->marks.failed && !url_watch_stops(&d->watch);
}

/* ---- Batches of a set larger than memory ----------------------------------------------------- */

/* Gathers the keys of a batch. Its lines are answered in the second reading. */
static bool take_keys(struct dedup *d, const struct batch *b)
{
    uint8_t verdicts[BATCH_LINES];
    size_t ndone = 0;
    const int code = atomic_load(&d->reread.code);
    if (code != 0) {
        beyond_report(&d->beyond, code);
        d->full = true;
        d->lost = true;
        return false;
    }
    note_status(d, seen_ask(&d->seen, b, 0, b->n, verdicts, &ndone));
    report_poll();
    return !d->full;
}

/* Answers batches as long as the set is within the limit, and those that have been read by the time
 * at which it is not. */
static bool take_within_limit(void *context, const struct batch *b)
{
    struct dedup *d = context;
    if (!b->comes_again) {
        if (beyond_is_reached(&d->beyond, d->report.nnew + d->report.nseen)) {
            atomic_store(&d->reread.is_wanted, true);
        }
        return dedup_take_batch(context, b);
    }
    if (!d->beyond.gathers && !beyond_gather(&d->beyond, &d->seen.asked)) {
        d->full = d->lost = true;
    }
    return !d->full && take_keys(d, b);
}

/* Answers a batch of the second reading. */
static bool take_again(void *context, const struct batch *b)
{
    struct dedup *d = context;
    if (atomic_load(&d->reread.has_changed)) {
        d->full = d->lost = true;
        return false;
    }
    return dedup_take_batch(context, b);
}

/* True if nothing has ended the run but the end of its input. */
static bool is_read(const struct dedup *d)
{
    return d->left > 0 && !d->full && !d->out.failed && !d->repeats.failed && !d->tee.failed &&
           !stop_is_wanted();
}

/* Reads all lines; those that come after the set has reached the limit, twice. */
static void run_within_limit(struct dedup *d)
{
    d->feed.take = take_within_limit;
    d->feed.input = &d->input;
    d->input.reread = &d->reread;
    atomic_store(&d->reread.is_wanted, beyond_is_reached(&d->beyond, 0));
    message_reading(MESSAGE_READING_FIRST);
    feed_run(&d->feed);
    if (d->beyond.gathers && is_read(d) && output_flush(&d->out)) {
        commit_marks_written(&d->marks); /* no change may wait when the store is swept */
        d->full = d->lost = !beyond_answer(&d->beyond, &d->seen.asked);
    }
    if (d->beyond.gathers && is_read(d)) {
        const bool failed = d->feed.failed;
        d->reread.is_again = true;
        d->feed.take = take_again;
        message_reading(MESSAGE_READING_AGAIN);
        feed_run(&d->feed);
        d->feed.failed = d->feed.failed || failed;
        if (is_read(d)) {
            d->full = d->lost = atomic_load(&d->reread.has_changed) || !beyond_end(&d->beyond);
        }
    }
    message_reading(MESSAGE_READING_ENDED);
}

/* ---- Batches for a server -------------------------------------------------------------------- */

/* Asks the server for all lines that are kept, at once: a question and its answer wake two
 * processes. The run first writes what was answered before, so a run that is killed loses no more
 * lines than it asked for at once. */
static bool take_kept(void *context, const struct batch *const *batches, size_t n)
{
    struct dedup *d = context;
    uint8_t verdicts[FEED_KEPT * BATCH_LINES];
    size_t at = 0;
    if (!output_flush(&d->out)) {
        return false;
    }
    if (!look_at_lines(d, batches, n)) {
        return false;
    }
    note_status(d, seen_ask_server(&d->seen, batches, n, verdicts));
    for (size_t i = 0; i < n; i++) {
        answer_taken(d, batches[i], 0, verdicts + at, batches[i]->n);
        count_batch(d, batches[i], batches[i]->n);
        at += batches[i]->n;
    }
    report_poll();
    return !d->full && !url_watch_stops(&d->watch);
}

/* Called before a wait for input, when all output has been written. */
static void dedup_before_wait(void *context)
{
    struct dedup *d = context;
    commit_marks_written(&d->marks);
}

/* ---- Before and after ------------------------------------------------------------------------ */

/* Keeps the texts of lines if they are printed or asked for: keys of read-only sets are made from
 * them. */
static void start_identity(struct dedup *d)
{
    d->identity.url = d->seen.url;
    d->identity.set = d->seen.asked.set;
    d->identity.keeps_texts =
        d->o->print.canonical || d->o->print.why || seen_needs_texts(&d->seen);
}

/* True if the run changes a store. */
static bool remembers(const struct dedup *d)
{
    return d->seen.asked.store && d->seen.asked.adds;
}

/* True if the output file is appended to. */
static bool continues(const struct options *o)
{
    return o->seen.path && !is_check(o);
}

/* What a limit of memory says nothing about; NULL: it is a store, or will be one. */
static const char *without_limit(const struct options *o)
{
    if (address_is_server(o->seen.path)) {
        return "a server";
    }
    const enum stores_type type = is_check(o) ? stores_type_of(o->seen.path) : STORES_STORE;
    return type == STORES_LIST ? "a list" : type == STORES_FOREIGN ? "a foreign filter" : NULL;
}

/* Checks that no input of lines is a store. */
static bool check_stores(const struct options *o)
{
    if (continues(o) && o->print.output && address_is_server(o->seen.path)) {
        message_error("-o needs the store itself, to have each line in %s exactly once",
                      o->print.output);
        message_hint("%s >> %s", typed_without("output tee"), typed_quoted(o->print.output));
        return false;
    }
    const char *other = o->seen.memory > 0 && o->seen.path ? without_limit(o) : NULL;
    if (other) {
        message_error("--memory limits the set of a run or of a store, and %s is %s", o->seen.path,
                      other);
        message_hint("%s", typed_without("memory"));
        return false;
    }
    for (size_t i = 0; i < o->input.nfiles; i++) {
        const char *name = o->input.files[i];
        const enum stores_type type = stores_refuse(name);
        if (type == STORES_BITMAP) {
            message_hint("unseen bits list %s", typed_quoted(name));
        } else if (type != STORES_NONE && type != STORES_SET && type != STORES_LEASES) {
            message_hint("unseen %s-x %s%s", type == STORES_FOREIGN ? "-p none " : "",
                         files_is_standard_input(name) ? "STORE" : typed_quoted(name),
                         o->input.nfiles > 1 ? " FILE" : "");
        }
        if (type != STORES_NONE) {
            return false;
        }
    }
    for (size_t i = 0; o->seen.path && i < o->seen.nexcludes; i++) {
        if (stores_are_same(o->seen.path, o->seen.excludes[i])) {
            message_error("-s and -x both name %s", o->seen.excludes[i]);
            message_hint("what it has is a repeat anyway: unseen -s %s%s",
                         typed_quoted(o->seen.path), typed_inputs());
            return false;
        }
    }
    return true;
}

/* True if -o names a file of -x, which then gets the lines that it lacks, as anew does it. */
static bool appends(const struct options *o)
{
    const char *name = o->print.output;
    bool found = false;
    for (size_t i = 0; name && !o->seen.path && i < o->seen.nexcludes && !found; i++) {
        found = !files_is_standard_input(name) && (strcmp(name, o->seen.excludes[i]) == 0 ||
                                                   stores_are_same(name, o->seen.excludes[i]));
    }
    return found;
}

/* Checks that what is appended to a file of -x is lines as it has them. */
static bool check_appended(const struct dedup *d)
{
    const struct options *o = d->o;
    const char *name = o->print.output;
    if (files_end(d->out.fd, o->input.delimiter) == FILE_END_CODED) {
        message_error("%s is compressed or UTF-16: no lines can be appended to it", name);
        message_hint("%s", typed_with("--output NEW"));
    } else if (o->print.invert || o->print.mark || o->print.count) {
        message_error("-o appends new lines to %s, which -x reads, and nothing else", name);
        message_hint("%s", typed_without("invert mark count"));
    } else if (o->key.key.nparts > 0 && !o->print.canonical) {
        message_error("%s has whole lines, and -k would compare parts of those that are appended",
                      name);
        message_hint("%s", typed_with("--canonical"));
    } else {
        return true;
    }
    return false;
}

/* anew reads and continues one file. */
static bool check_excludes(const struct dedup *d, const struct output *const *outs, size_t nouts)
{
    const struct options *o = d->o;
    const bool to_output = appends(o); /* outs[0] */
    const char *name =
        files_find_output(o->seen.excludes, o->seen.nexcludes, outs + to_output, nouts - to_output);
    if (name) {
        message_hint("%s", typed_changed("output tee repeats", "-o %s --tee", typed_quoted(name)));
    }
    return !name && (!to_output || check_appended(d));
}

static bool check_files(const struct dedup *d)
{
    const struct options *o = d->o;
    const struct output *const outs[] = {&d->out, &d->repeats, &d->tee};
    const size_t nouts = sizeof(outs) / sizeof(outs[0]);
    size_t nstandard = 0;
    for (size_t i = 0; i < o->input.nfiles; i++) {
        nstandard += files_is_standard_input(o->input.files[i]);
    }
    for (size_t i = 0; i < o->seen.nexcludes; i++) {
        if (files_is_standard_input(o->seen.excludes[i]) && nstandard++ > 0) {
            message_error("-x - and the input are both standard input");
            message_hint("unseen -x - FILE");
            return false;
        }
    }
    if (o->print.repeats &&
        (d->repeats.fd == d->out.fd || files_is_output(o->print.repeats, &d->out) ||
         (o->print.tee && d->repeats.fd == d->tee.fd) ||
         files_is_output(o->print.repeats, &d->tee))) {
        message_error("new lines and repeats both go to %s", d->repeats.name);
        message_hint("to tell them apart in one file: %s", typed_changed("repeats tee", "--mark"));
        return false;
    }
    if (o->print.tee && (d->out.fd == d->tee.fd || files_is_output(o->print.output, &d->tee))) {
        message_error("--tee prints to %s, and so does -o", d->tee.name);
        message_hint("%s", typed_without("output tee"));
        return false;
    }
    return files_check(o->input.files, o->input.nfiles, outs, nouts) &&
           check_excludes(d, outs, nouts);
}

/* True, and reported, if lines would be written into the store: by standard output, or by a link
 * that led nowhere before the store was made. */
static bool overwrites_store(const struct dedup *d)
{
    const struct options *o = d->o;
    const bool found = o->seen.path && (files_is_output(o->seen.path, &d->out) ||
                                        files_is_output(o->seen.path, &d->repeats) ||
                                        files_is_output(o->seen.path, &d->tee));
    if (found) {
        message_error("%s would be overwritten with lines", o->seen.path);
        message_hint("%s", typed_changed("repeats tee", "--output NEW"));
    }
    return found;
}

static bool open_outputs(struct dedup *d)
{
    const struct options *o = d->o;
    if (o->print.tee) {
        d->out.tee = &d->tee;
    }
    return (continues(o) || appends(o) ? output_open_again : output_open)(&d->out,
                                                                          o->print.output) &&
           (!o->print.repeats || output_open(&d->repeats, o->print.repeats)) &&
           (!o->print.tee || output_open(&d->tee, NULL));
}

/* Cuts an output that is appended to to its committed lines, and truncates others. */
static bool cut_outputs(struct dedup *d)
{
    const struct options *o = d->o;
    d->marks.store = remembers(d) ? d->seen.asked.store : NULL;
    d->marks.prints_new = o->print.mark || !(d->prints_seen || o->print.count || o->print.quiet);
    const bool cut = remembers(d)                 ? commit_marks_start(&d->marks)
                     : continues(o) || appends(o) ? output_seek(&d->out, 0, SEEK_END)
                                                  : output_truncate(&d->out);
    if (cut && appends(o) && files_end(d->out.fd, o->input.delimiter) == FILE_END_OPEN) {
        d->out.tee = NULL; /* which gets no end of a line that it does not have */
        output_write(&d->out, &o->input.delimiter, 1);
        (void)output_flush(&d->out); /* remembered in out */
        d->out.tee = o->print.tee ? &d->tee : NULL;
    }
    return cut && (!o->print.repeats || output_truncate(&d->repeats));
}

/* Cuts the outputs last, when nothing else can go wrong. */
static bool dedup_prepare(struct dedup *d, enum unseen_cpu cpu)
{
    const struct options *o = d->o;
    if ((o->seen.memory > 0 && !beyond_check(o->seen.memory)) || !check_stores(o) ||
        !seen_open(&d->seen, cpu) || !open_outputs(d) || overwrites_store(d) || !check_files(d)) {
        return false;
    }
    report_start(&d->report, &o->report,
                 o->print.count || o->print.quiet ||
                     output_is_file(o->print.tee ? &d->tee : &d->out));
    /* A server remembers what it has answered, so that has to be printed. */
    if (remembers(d) || d->seen.asked.server) {
        stop_listen();
    }
    if (o->seen.capacity == 0 && o->seen.window == 0 && o->seen.memory == 0) {
        d->room.set = d->seen.asked.own;
        d->room.store =
            remembers(d) && stores_info(d->seen.asked.store).is_new ? d->seen.asked.store : NULL;
    }
    if (!seen_exclude(&d->seen, cpu, &d->report.nexcluded)) {
        return false;
    }
    start_identity(d);
    d->watch.url = d->seen.asked.server && !o->key.base ? d->seen.own_url : NULL;
    return cut_outputs(d);
}

/* The number of lines that were to be printed. */
static uint64_t count_wanted(const struct dedup *d)
{
    return d->prints_seen ? d->report.nseen : d->report.nnew;
}

/* Hints at `unseen -x FILE` if the run has read a file while lines wait on standard input. Then the
 * user probably meant what anew does: program | anew known.txt. */
static void hint_unread(const struct options *o)
{
    const bool reads_one_file =
        o->input.nfiles == 1 && !o->input.none_named && !files_is_standard_input(o->input.files[0]);
    if (reads_one_file && !o->seen.path && o->seen.nexcludes == 0 &&
        files_wait_on_standard_input()) {
        const char *name = typed_quoted(o->input.files[0]);
        message_hint("standard input was not read, because a file is named; its lines that %s "
                     "lacks: unseen -x %s -o %s --tee",
                     o->input.files[0], name, name);
    }
}

/* False if the set answers worse than promised, which has been reported. */
static bool dedup_put_stats(struct dedup *d)
{
    struct unseen_set_stats stats;
    const char *profile = seen_stats(&d->seen, &stats);
    d->report.nlate = d->seen.nlate;
    report_end(&d->report, &stats, profile);
    const bool good = !d->seen.asked.set || filters_check_full(&d->o->seen, d->seen.asked.set,
                                                               d->report.nnew, d->report.nseen);
    if (d->o->command->bit == COMMAND_DEDUP) {
        hint_unread(d->o);
    }
    const bool is_fixed =
        d->seen.asked.store ? !stores_info(d->seen.asked.store).is_new : d->o->seen.path != NULL;
    return url_watch_report(&d->watch, profile, is_fixed) && good;
}

static int dedup_finish(struct dedup *d)
{
    if (d->o->print.count && !d->lost) {
        output_print(&d->out, "%" PRIu64 "%c", count_wanted(d), d->o->input.delimiter);
    }
    bool written = output_finish(&d->out);
    commit_marks_end(&d->marks);
    const bool good = dedup_put_stats(d) && !d->seen.is_stale;
    d->seen.run_failed = !written || !good || d->full || d->feed.failed;
    const bool kept = seen_close(&d->seen, d->marks.failed);
    written = output_close(&d->out) && written;
    written = output_close(&d->tee) && written;
    written = output_close(&d->repeats) && written;
    if (!kept) {
        return EXIT_TROUBLE;
    }
    if (d->o->print.quiet && d->left == 0) {
        return EXIT_DONE; /* a line was found, whatever else went wrong: as grep -q does */
    }
    if (!written || !good || d->full || d->feed.failed) {
        return EXIT_TROUBLE;
    }
    const bool none = d->o->print.quiet || (is_check(d->o) && count_wanted(d) == 0);
    return none ? EXIT_NONE : EXIT_DONE;
}

int dedup_run(const struct options *o, enum unseen_cpu cpu)
{
    struct dedup d = {
        .o = o,
        .seen = {.o = &o->seen,
                 .profile = &o->profile,
                 .key = &o->key,
                 .input = &o->input,
                 .wants_canons = o->print.canonical || o->print.why || o->key.nshards > 1 ||
                                 o->key.key.nparts > 1},
        .why.seen = &d.seen,
        .identity = {.key = &o->key, .delimiter = o->input.delimiter},
        .marks = {.o = &o->seen, .out = &d.out, .delimiter = o->input.delimiter},
        .feed = {.input = &o->input,
                 .identity = &d.identity,
                 .out = &d.out,
                 .more = &d.repeats,
                 .take = dedup_take_batch,
                 .poll = dedup_before_wait,
                 .context = &d},
        .watch.matters = o->key.key.nparts == 0 && (o->seen.path || o->seen.nexcludes > 0),
        .input = o->input,
        .beyond = {.limit = o->seen.memory, .report = &d.report},
        .prints_seen = o->print.invert != is_check(o),
        .left = o->print.quiet ? 1 : o->print.limit,
    };
    int status = EXIT_TROUBLE;
    if (dedup_prepare(&d, cpu)) {
        if (d.seen.asked.server && d.left == UINT64_MAX) {
            d.feed.take_kept = take_kept;
        }
        d.beyond.set = d.seen.asked.set;
        d.beyond.own = o->seen.memory > 0 ? d.seen.asked.own : NULL;
        d.beyond.store = o->seen.memory > 0 && remembers(&d) ? d.seen.asked.store : NULL;
        d.beyond.path = o->seen.path;
        if (d.left > 0) {
            if (d.beyond.own || d.beyond.store) {
                run_within_limit(&d);
            } else {
                feed_run(&d.feed);
            }
        }
        status = dedup_finish(&d);
    }
    output_abandon(&d.out);
    output_abandon(&d.repeats);
    output_abandon(&d.tee);
    why_release(&d.why);
    beyond_release(&d.beyond);
    reread_release(&d.reread);
    d.seen.run_failed = true; /* it did not happen, if the store is still open */
    (void)seen_close(&d.seen, false);
    stop_die(d.out.reader_gone || d.tee.reader_gone);
    return status;
}
