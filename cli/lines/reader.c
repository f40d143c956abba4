/* SPDX-License-Identifier: MIT
 *
 * The complete lines of a block leave in batches. The unfinished last line moves to the front of
 * the next block, or of the same if there is only one. A block of 128 KiB stays in a second-level
 * cache until it is written, and is large enough that system calls do not count. A line that does
 * not fit makes its block grow; the block shrinks when the line is gone.
 *
 * After every read, all complete lines leave in batches before the next read. So a line that has
 * arrived never waits for one that has not. */
#include "lines/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines/reread.h"
#include "print/message.h"
#include "print/typed.h"
#include "stop.h"

enum {
    REPORTS_MAX = 10
};

static struct block *here(struct reader *r)
{
    return &r->blocks[r->current];
}

/* True in a second reading: the first one has reported what this one meets. */
static bool is_again(const struct reader *r)
{
    return reread_is_again(r->options->reread);
}

static void close_input(struct reader *r)
{
    input_close(r->input);
    r->input = NULL;
}

/* Ends the reading; no other file is tried. */
static bool reader_stop(struct reader *r)
{
    if (r->input) {
        close_input(r);
    }
    r->stopped = true;
    r->nnames = 0;
    r->filled = r->at;
    return false;
}

static bool reader_give_up(struct reader *r)
{
    r->failed = true;
    return reader_stop(r);
}

static bool block_resize(struct reader *r, struct block *block, size_t cap)
{
    char *data = realloc(block->data, cap + 1 + BATCH_READABLE);
    if (!data) {
        message_error("%s: out of memory for line %" PRIu64 " (%zu bytes and more)", r->name,
                      r->line + 1, r->filled - r->at);
        message_hint("to leave out longer lines: %s", typed_with("--max-line 1M"));
        return reader_give_up(r);
    }
    block->data = data;
    block->cap = cap;
    return true;
}

/* Moves the unfinished line to the front of the next block. */
static bool next_block(struct reader *r)
{
    const size_t rest = r->filled - r->at;
    struct block *from = here(r);
    from->last = r->nbatches;
    r->current = (r->current + 1) % r->nblocks;
    struct block *to = here(r);
    if (r->wait.used && !r->wait.used(r->wait.context, to->last)) {
        return reader_stop(r);
    }
    const size_t need = rest > BLOCK_BYTES ? rest : BLOCK_BYTES;
    if (to->cap < need && !block_resize(r, to, need)) {
        return false;
    }
    if (rest > 0) {
        memmove(to->data, from->data + r->at, rest);
    }
    r->at = 0;
    r->filled = rest;
    const bool shrink = to->cap > BLOCK_BYTES && rest < BLOCK_BYTES / 2;
    return !shrink || block_resize(r, to, BLOCK_BYTES);
}

static void report_long(struct reader *r, uint64_t len)
{
    r->failed = true;
    if (++r->nlong <= REPORTS_MAX && !is_again(r)) {
        message_error("%s:%" PRIu64 ": line of %" PRIu64 " bytes left out: --max-line is %" PRIu64,
                      r->name, r->line + 1, len, r->options->max_line);
    }
}

/* Makes room for more of a line that fills its block. Asks first whether the run is to stop: the
 * line may be endless. */
static bool block_grow(struct reader *r)
{
    if (r->wait.used && !r->wait.used(r->wait.context, 0)) {
        return reader_stop(r);
    }
    return block_resize(r, here(r), here(r)->cap * 2);
}

/* The first of two readings: begins to keep what is read, between two lines, if that is wanted. All
 * complete lines are in batches. */
static void begin_to_keep(const struct reader *r, struct reread *reread)
{
    if (!reread->has_begun && !reread->is_again && r->skipped == 0 &&
        atomic_load(&reread->is_wanted)) {
        const char *data = r->blocks[r->current].data;
        reread_begin(reread, r->line, data ? data + r->at : data, r->filled - r->at);
    }
}

/* input_read. The first of two readings keeps what it brings. */
static ssize_t read_input(struct reader *r, void *buf, size_t cap)
{
    struct reread *reread = r->options->reread;
    const ssize_t n = input_read(r->input, buf, cap);
    if (reread && !reread->is_again) {
        if (n > 0) {
            reread_keep(reread, buf, (size_t)n);
        } else if (n == -1) {
            reread_fail(reread);
        }
    }
    return n;
}

/* Reads once. At the end of a file the last line gets a delimiter if it lacks one. After an error
 * an unfinished line is left out. A signal is looked for before each read, because a long line may
 * take many reads, and a read of a file never waits. */
static bool reader_read_more(struct reader *r)
{
    if (stop_is_wanted()) {
        return reader_give_up(r);
    }
    if (r->options->reread) {
        begin_to_keep(r, r->options->reread);
    }
    if ((r->at > 0 || !here(r)->data) && !next_block(r)) {
        return false;
    }
    struct block *block = here(r);
    if (block->cap - r->filled < INPUT_READ_MIN && !block_grow(r)) {
        return false;
    }
    const ssize_t n = read_input(r, block->data + r->filled, block->cap - r->filled);
    r->offset = input_offset(r->input);
    if (n > 0) {
        r->filled += (size_t)n;
        return true;
    }
    if (n == INPUT_STOP) {
        return reader_give_up(r);
    }
    if (n < 0) {
        r->failed = true;
        if (r->filled > 0 && !is_again(r)) {
            message_error("%s:%" PRIu64 ": unfinished line of %zu bytes left out", r->name,
                          r->line + 1, r->filled);
        }
        r->filled = 0;
        r->scanned = 0;
        r->skipped = 0;
    } else if (r->filled > 0 || r->skipped > 0) {
        block->data[r->filled++] = r->options->delimiter;
    }
    close_input(r);
    return true;
}

/* Drops the rest of an over-long line, as far as it has been read. True if the line ends here. */
static bool end_skipping(struct reader *r, struct batch *b)
{
    const char *from = here(r)->data + r->at;
    const char *end = memchr(from, r->options->delimiter, r->filled - r->at);
    size_t len = end ? (size_t)(end - from) : r->filled - r->at;
    r->skipped += len;
    r->at += len + (end != NULL);
    b->nbytes += len + (end != NULL);
    if (!end) {
        return false;
    }
    report_long(r, r->skipped);
    b->nlong++;
    if (r->line < r->first) {
        b->nlong = 0;
        b->nbytes = 0;
    }
    r->skipped = 0;
    r->line++;
    return true;
}

/* True if the line at `at` may be complete. Bytes known to hold no delimiter are not looked at
 * again: otherwise a line of n bytes that comes in small pieces would take n^2 steps. */
static bool may_have_line(struct reader *r)
{
    const size_t len = r->filled - r->at;
    if (len > r->scanned &&
        memchr(here(r)->data + r->at + r->scanned, r->options->delimiter, len - r->scanned)) {
        r->scanned = 0;
        return true;
    }
    r->scanned = len;
    return false;
}

/* Removes lines over --max-line from the batch. */
static void drop_long(struct reader *r, struct batch *b)
{
    const uint64_t first = r->line;
    size_t kept = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (b->lines[i].len <= r->options->max_line) {
            b->lines[kept++] = b->lines[i];
        } else {
            r->line = first + i;
            report_long(r, b->lines[i].len);
            b->nlong++;
        }
    }
    r->line = first;
    b->n = kept;
}

static void find_texts(const struct reader *r, struct batch *b)
{
    const bool has_cr =
        r->options->delimiter == '\n' && unseen_lines_trim(b->lines, b->n, b->trimmed) > 0;
    b->texts = has_cr ? b->trimmed : b->lines;
}

static const char *missing_text(const struct reader *r)
{
    const bool whole = r->identity->key->missing != MISSING_SKIP;
    return !whole ? "left out" : r->lacks_time ? "taken at the latest time" : "taken whole";
}

/* True if the line has the key with this separator. */
static bool has_key(const char *text, char separator, struct unseen_bytes line)
{
    struct key key;
    struct text room = {0};
    struct unseen_bytes value = {NULL, 0};
    const bool found = key_parse(&key, text) &&
                       key_find(&key, 0, separator, line, &room, &value) == UNSEEN_OK && value.data;
    text_release(&room);
    return found;
}

/* Hints at the separator with which the line has the field, or at the path in the field where its
 * JSON begins, as in an index of an archive: com,example)/ 20240101 {"url": ...}. */
static void hint_field(const struct key_options *o, struct unseen_bytes line)
{
    static const char separators[] = ",; |";
    char text[256];
    size_t field = 1;
    const char *json = line.len > 0 ? memchr(line.data, '{', line.len) : NULL;
    if (o->key.nparts != 1 || o->has_separator) {
        return;
    }
    for (const char *c = separators; *c && o->key.parts[0].field > 0; c++) {
        if (has_key(o->text, *c, line)) {
            message_hint("%s", typed_with("--separator '%c'", *c));
            return;
        }
    }
    if (o->key.parts[0].field > 0 || !json || json == line.data ||
        (json[-1] != ' ' && json[-1] != '\t')) {
        return;
    }
    const char separator[] = {json[-1], '\0'};
    for (const char *p = line.data; p < json; p++) {
        field += *p == separator[0];
    }
    snprintf(text, sizeof(text), "%zu%s", field, o->text);
    if (has_key(text, separator[0], line)) {
        message_hint("%s", typed_changed("format", "--separator %s --key %s",
                                         typed_quoted(separator), typed_quoted(text)));
    }
}

static void hint_missing(const struct key_options *o, bool lacks_time)
{
    if (o->missing == MISSING_FAIL) {
        message_hint("to leave such lines out: %s", typed_with("--missing=skip"));
        message_hint("to %s: %s",
                     lacks_time ? "take such lines at the latest time" : "compare such lines whole",
                     typed_with("--missing=whole"));
    }
}

/* Says what is wrong with the time of the first line without one. */
static void show_time(const struct reader *r, const struct batch *b)
{
    const struct key_options *o = r->identity->key;
    const bool fails = o->missing == MISSING_FAIL;
    const int shown = b->missing.len < 60 ? (int)b->missing.len : 60;
    message_say(
        fails ? MESSAGE_ERROR : MESSAGE_WARNING, "%s:%" PRIu64 ": the time %s %s in '%.*s'%s%s",
        b->name, reader_line_number(b, b->missing.data, r->options->delimiter), o->time_text,
        b->time_lacks, shown, b->missing.data, fails ? "" : ": ", fails ? "" : missing_text(r));
    hint_missing(o, true);
}

/* Says what the first line without the key lacks. */
static void show_miss(const struct reader *r, const struct batch *b)
{
    const struct key_options *o = r->identity->key;
    const bool fails = o->missing == MISSING_FAIL;
    const int shown = b->missing.len < 60 ? (int)b->missing.len : 60;
    struct unseen_bytes value = {NULL, 0};
    const struct key_part *part = key_find_container(&o->key, o->separator, b->missing, &value);
    const bool is_object = part && value.data[0] == '{';
    const char *end = part ? part->text + part->len : o->text + strlen(o->text);
    message_say(fails ? MESSAGE_ERROR : MESSAGE_WARNING, "%s:%" PRIu64 ": %s%.*s%s in '%.*s'%s%s",
                b->name, reader_line_number(b, b->missing.data, r->options->delimiter),
                part ? "" : "no key ", (int)(end - (part ? part->text : o->text)),
                part ? part->text : o->text,
                is_object ? " is an object"
                : part    ? " is an array"
                          : "",
                shown, b->missing.data, fails ? "" : ": ", fails ? "" : missing_text(r));
    hint_field(o, b->missing);
    if (part) {
        char key[1024];
        (void)snprintf(key, sizeof(key), "%.*s%s%s", (int)(end - o->text), o->text,
                       is_object ? ".id" : "[0]", end);
        message_hint("to compare %s of it: %s", is_object ? "the member id" : "the first element",
                     typed_with("--key %s", typed_quoted(key)));
    }
    hint_missing(o, false);
}

/* Shows the first line without the key, and counts the others. False if the first one is to end the
 * reading (MISSING_FAIL); the batch has the lines before it. */
static bool note_misses(struct reader *r, const struct batch *b)
{
    const bool is_first = r->nmisses == 0 && b->nmisses > 0;
    r->nmisses += b->nmisses;
    r->file_misses += b->nmisses;
    if (b->is_array) {
        message_error("%s is a JSON array: its records are not a line each", b->name);
        message_hint("jq -c '.[]' FILE makes a line of each record, for this command to read");
        return false;
    }
    if (!is_first || !r->identity) {
        return true;
    }
    r->lacks_time = b->time_lacks != NULL;
    if (!is_again(r)) {
        (r->lacks_time ? show_time : show_miss)(r, b);
    }
    return r->identity->key->missing != MISSING_FAIL;
}

/* Reports a file of which no line has the key: the key is probably mistyped. */
static void check_file(struct reader *r)
{
    if (r->identity && r->file_lines > 0 && r->file_misses == r->file_lines && !is_again(r)) {
        const struct key_options *o = r->identity->key;
        message_error("%s: no line has the %s %s", r->noted_name, r->lacks_time ? "time" : "key",
                      r->lacks_time ? o->time_text : o->text);
        r->note_failed = true;
    }
    r->file_lines = 0;
    r->file_misses = 0;
}

bool reader_note(struct reader *r, const struct batch *b, enum unseen_status status)
{
    if (b->nlines == 0) {
        return true;
    }
    if (r->noted_file != b->file) {
        check_file(r);
    }
    r->noted_file = b->file;
    r->noted_name = b->name;
    if (status != UNSEEN_OK) {
        message_error("%s:%" PRIu64 ": cannot go on: %s", b->name, b->line + 1,
                      unseen_status_string(status));
    } else {
        r->file_lines += b->nlines;
    }
    const bool goes_on = status == UNSEEN_OK && note_misses(r, b);
    r->note_failed = r->note_failed || !goes_on;
    return goes_on;
}

void reader_note_end(struct reader *r)
{
    if (!r->stopped) {
        check_file(r);
    }
}

/* Passes over complete lines in front of the first one that is wanted. b is only used for room. */
static void pass_over(struct reader *r, struct batch *b)
{
    while (r->line < r->first) {
        const uint64_t left = r->first - r->line;
        size_t used = 0;
        const size_t n =
            unseen_lines_split(here(r)->data + r->at, r->filled - r->at, r->options->delimiter,
                               b->lines, left < BATCH_LINES ? (size_t)left : BATCH_LINES, &used);
        if (n == 0) {
            return;
        }
        r->at += used;
        r->line += n;
    }
}

/* Moves complete lines of the current block to *b; false if there are none. */
static bool take_lines(struct reader *r, struct batch *b)
{
    if (r->at == r->filled) {
        return false;
    }
    if (r->skipped > 0) {
        return end_skipping(r, b);
    }
    if (r->scanned > 0 && !may_have_line(r)) {
        return false;
    }
    pass_over(r, b);
    size_t used = 0;
    b->n = unseen_lines_split(here(r)->data + r->at, r->filled - r->at, r->options->delimiter,
                              b->lines, BATCH_LINES, &used);
    if (b->n == 0) {
        r->scanned = r->filled - r->at;
        return false;
    }
    const uint64_t nlines = b->n;
    b->begin = here(r)->data + r->at;
    b->line = r->line;
    b->file = r->nopened - 1;
    b->offset = r->offset;
    r->at += used;
    b->nbytes += used;
    b->end = here(r)->data + r->at;
    if (r->options->max_line) {
        drop_long(r, b);
    }
    find_texts(r, b);
    b->nlines = b->n;
    b->name = r->name;
    r->line += nlines;
    if (r->splits_only) {
        return true;
    }
    const enum unseen_status status = identity_take(r->identity, b, &r->scratch);
    if (!reader_note(r, b, status)) {
        (void)reader_give_up(r);
    }
    r->failed = r->failed || r->note_failed;
    return status == UNSEEN_OK;
}

/* Drops an unfinished line that is too long already: it is not kept in memory. */
static void start_skipping(struct reader *r, struct batch *b)
{
    if (r->options->max_line && r->filled - r->at > r->options->max_line && r->skipped == 0) {
        b->nbytes += r->filled - r->at;
        r->skipped = r->filled - r->at;
        r->at = r->filled;
        r->scanned = 0;
    }
}

/* The second reading begins where the first one began to keep what it read. */
static void start_again(struct reader *r, const struct reread *reread)
{
    if (r->nopened == 1) {
        r->first = reread->first_line;
        r->line = reread->files[reread->first].is_kept ? r->first : 0;
    }
}

/* Has the next files decoded ahead. */
static void look_ahead(struct reader *r)
{
    for (; r->most_ahead > 0 && r->nlooked < r->nopened + r->most_ahead; r->nlooked++) {
        const size_t i = r->nlooked - r->nopened;
        if (i == r->nnames) {
            return;
        }
        r->ahead[r->nlooked % INPUTS_AHEAD_MAX] = input_open_ahead(r->names[i], r->options);
    }
}

/* The next file, if it can be read. */
static struct input *next_input(struct reader *r)
{
    struct input *in = r->nlooked > r->nopened ? r->ahead[r->nopened % INPUTS_AHEAD_MAX] : NULL;
    if (in && !input_is_current(in)) {
        input_close(in);
        in = NULL;
    }
    if (!in) {
        return input_open(*r->names, r->wait, r->options);
    }
    if (!input_begin_turn(in)) {
        input_close(in);
        return NULL;
    }
    return in;
}

/* Opens the next file. */
static void open_next(struct reader *r)
{
    look_ahead(r);
    r->input = next_input(r);
    r->names++;
    r->nnames--;
    r->nopened++;
    r->failed = r->failed || !r->input;
    r->name = r->input ? input_name(r->input) : NULL;
    r->line = 0;
    r->first = 0;
    if (is_again(r)) {
        start_again(r, r->options->reread);
    }
}

static void reader_empty(struct batch *b)
{
    b->n = 0;
    b->nbytes = 0;
    b->nlines = 0;
    b->nlong = 0;
    b->nother = 0;
    b->nmisses = 0;
    b->is_array = false;
    b->nskipped = 0;
}

bool reader_next(struct reader *r, struct batch *b, bool may_read)
{
    reader_empty(b);
    for (;;) {
        const bool taken = (may_read || r->skipped == 0) && take_lines(r, b);
        b->failed = r->failed;
        b->comes_again = r->options->reread && r->options->reread->has_begun;
        r->nbatches += taken;
        if (taken || !may_read) {
            return taken;
        }
        start_skipping(r, b);
        while (!r->input) {
            if (!r->splits_only && !r->stopped) {
                check_file(r);
                r->failed = r->failed || r->note_failed;
            }
            if (r->nnames == 0) {
                return false;
            }
            open_next(r);
        }
        if (!reader_read_more(r)) {
            return false;
        }
    }
}

uint64_t reader_line_number(const struct batch *b, const char *line, char delimiter)
{
    uint64_t n = b->line + 1;
    for (const char *p = b->begin; p < line; p++) {
        n += *p == delimiter;
    }
    return n;
}

void reader_summary(const struct reader *r)
{
    if (is_again(r)) {
        return;
    }
    if (r->nlong > REPORTS_MAX) {
        message_error("%" PRIu64 " more lines over --max-line left out", r->nlong - REPORTS_MAX);
    }
    if (r->nlong > 0 && r->options->max_line == MAX_LINE_DEFAULT) {
        message_hint("to take lines of any length: %s", typed_with("--max-line 0"));
    }
    if (r->nmisses > 1) {
        message_warning("%" PRIu64 " lines without the %s were %s", r->nmisses,
                        r->lacks_time ? "time" : "key", missing_text(r));
    }
}

void reader_release(struct reader *r)
{
    if (r->input) {
        close_input(r);
    }
    for (; r->nopened < r->nlooked; r->nopened++) {
        input_close(r->ahead[r->nopened % INPUTS_AHEAD_MAX]);
    }
    for (size_t i = 0; i < BLOCKS_MAX; i++) {
        free(r->blocks[i].data);
        r->blocks[i].data = NULL;
    }
    text_release(&r->scratch);
}
