/* SPDX-License-Identifier: MIT
 *
 * `unseen recheck`: which lines were dropped as seen by mistake? The filter answers "seen" wrongly
 * at its rate; the log has the full keys. Lines are gathered until they are worth a reading of the
 * log. Then each key of the log is looked up among the keys of the lines. */
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "lines/batch.h"
#include "lines/feed.h"
#include "lines/files.h"
#include "lines/identity.h"
#include "lines/text_table.h"
#include "print/message.h"
#include "print/output.h"
#include "print/report.h"
#include "print/typed.h"
#include "seen/beyond.h"
#include "seen/stores.h"

enum {
    GATHER_LINES = 1024 * 1024,
    GATHER_BYTES = 64 * 1024 * 1024
};

struct recheck {
    const struct options *o;
    struct unseen_store *store;
    struct identity identity;
    struct output out;
    struct text_table asked;   /* the keys of the gathered lines; value: 1 if the log has the key */
    struct text text;          /* the lines, each with its delimiter, */
    size_t *lines;             /* and where each begins */
    struct text_table printed; /* the keys of all lines that were printed */
    uint64_t nfalse;           /* of them, those that the store takes for seen */
    struct report report;
    bool failed;
};

static bool recheck_report_memory(struct recheck *r)
{
    r->failed = true;
    return message_no_memory();
}

static bool note_keys(void *context, const struct unseen_key *keys, size_t n)
{
    struct recheck *r = context;
    for (size_t i = 0; i < n; i++) {
        struct text_entry *entry = text_table_find(&r->asked, &keys[i], sizeof(keys[i]));
        if (entry) {
            entry->value = 1;
        }
    }
    report_poll();
    return true;
}

/* Prints the i'th gathered line. */
static bool recheck_put(struct recheck *r, size_t i)
{
    const struct unseen_bytes key = text_table_text(&r->asked, i);
    const size_t end = i + 1 < r->asked.n ? r->lines[i + 1] : r->text.len;
    struct unseen_key asked;
    uint8_t verdict = UNSEEN_NEW;
    memcpy(&asked, key.data, sizeof(asked));
    const enum unseen_status status =
        unseen_set_contains_keys(unseen_store_set(r->store), &asked, 1, &verdict, NULL);
    if (status != UNSEEN_OK) {
        message_error("cannot ask %s: %s", r->o->seen.path, unseen_status_string(status));
        if (status != UNSEEN_ERR_NOMEM) { /* a part of the image cannot be read */
            message_hint("unseen repair %s", typed_quoted(r->o->seen.path));
        }
        r->failed = true;
        return false;
    }
    r->nfalse += verdict == UNSEEN_SEEN;
    if (!text_table_add(&r->printed, key.data, key.len)) {
        return recheck_report_memory(r);
    }
    output_write(&r->out, r->text.data + r->lines[i], end - r->lines[i]);
    if (r->o->print.line_buffered) {
        (void)output_flush(&r->out); /* remembered in out */
    }
    return true;
}

/* Reads the log once for all lines that were gathered. */
static bool recheck_answer(struct recheck *r)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    if (r->asked.n == 0) {
        return true;
    }
    error.status = unseen_store_keys(r->store, note_keys, r, &error);
    if (error.status != UNSEEN_OK) {
        stores_report(r->o->seen.path, &r->o->seen, &error);
        r->failed = true;
        return false;
    }
    for (size_t i = 0; i < r->asked.n; i++) {
        if (!r->asked.entries[i].value && !recheck_put(r, i)) {
            return false;
        }
    }
    text_table_clear(&r->asked);
    text_clear(&r->text);
    return true;
}

/* Keeps a line until the log is read, unless a line of that key is kept or was printed. */
static bool gather(struct recheck *r, const struct unseen_bytes line, struct unseen_key key)
{
    const size_t n = r->asked.n;
    if (text_table_find(&r->printed, &key, sizeof(key))) {
        return true;
    }
    if (!text_reserve(&r->text, line.len + 1) || !text_table_add(&r->asked, &key, sizeof(key))) {
        return recheck_report_memory(r);
    }
    if (r->asked.n > n) {
        r->lines[n] = r->text.len;
        memcpy(r->text.data + r->text.len, line.data, line.len + 1); /* with its delimiter */
        r->text.len += line.len + 1;
    }
    return true;
}

static bool recheck_take_batch(void *context, const struct batch *b)
{
    struct recheck *r = context;
    r->report.nplain += b->n;
    report_poll();
    for (size_t i = 0; i < b->n; i++) {
        if (!gather(r, b->lines[i], b->keys[i])) {
            return false;
        }
    }
    const bool is_full =
        r->asked.n + BATCH_LINES > GATHER_LINES || r->text.len > (size_t)GATHER_BYTES;
    return !is_full || recheck_answer(r);
}

static bool recheck_prepare(struct recheck *r, enum unseen_cpu cpu)
{
    const struct options *o = r->o;
    const struct output *const outs[] = {&r->out};
    if ((o->seen.memory > 0 && !beyond_check(o->seen.memory)) ||
        !stores_open_to_read(&r->store, o->seen.path, &o->seen, cpu)) {
        return false;
    }
    r->identity = (struct identity){.url = stores_info(r->store).url,
                                    .set = unseen_store_set(r->store),
                                    .key = &o->key,
                                    .delimiter = o->input.delimiter};
    r->lines = malloc(GATHER_LINES * sizeof(*r->lines));
    if (!r->lines) {
        return recheck_report_memory(r);
    }
    return output_open(&r->out, o->print.output) &&
           files_check(o->input.files, o->input.nfiles, outs, 1) && output_truncate(&r->out);
}

/* The lines that were printed are the input of `unseen allow`. */
static void hint_allow(const struct recheck *r)
{
    const char *path = typed_quoted(r->o->seen.path);
    const char *output = r->o->print.output;
    const char *null = r->o->input.delimiter == '\n' ? "" : " -z";
    if (output) {
        message_hint("to have them answered new: unseen allow%s %s %s", null, path,
                     typed_quoted(output));
    } else {
        message_hint("to have them answered new: %s | unseen allow%s %s", typed_line(), null, path);
    }
}

static int recheck_all(struct recheck *r)
{
    struct feed feed = {
        .input = &r->o->input,
        .identity = &r->identity,
        .out = &r->out,
        .take = recheck_take_batch,
        .context = r,
    };
    report_start(&r->report, &r->o->report, output_is_file(&r->out));
    feed_run(&feed);
    const bool answered = !r->failed && recheck_answer(r);
    report_end(&r->report, NULL, NULL);
    const bool written = output_close(&r->out);
    if (r->nfalse > 0 && !r->o->key.text && answered && written) {
        hint_allow(r);
    }
    if (!answered || !written || feed.failed) {
        return EXIT_TROUBLE;
    }
    return r->printed.n > 0 ? EXIT_DONE : EXIT_NONE;
}

int recheck_run(const struct options *o, enum unseen_cpu cpu)
{
    struct recheck r = {.o = o};
    const int status = recheck_prepare(&r, cpu) ? recheck_all(&r) : EXIT_TROUBLE;
    output_abandon(&r.out);
    text_release(&r.text);
    text_table_release(&r.asked);
    text_table_release(&r.printed);
    free(r.lines);
    if (r.store) {
        (void)unseen_store_close(r.store, NULL); /* was only read */
    }
    return status;
}
