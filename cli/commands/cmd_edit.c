/* SPDX-License-Identifier: MIT
 *
 * `unseen allow` and `unseen update` of a list: lines become entries, and all of them are one
 * commit of changes. If one line is refused or one file cannot be read, nothing is changed. */
#include <inttypes.h>

#include <unseen_list.h>

#include "commands/allow_store.h"
#include "commands/commands.h"
#include "lines/batch.h"
#include "lines/entries.h"
#include "lines/entry_lines.h"
#include "lines/feed.h"
#include "lines/files.h"
#include "lines/reader.h"
#include "print/message.h"
#include "print/typed.h"
#include "seen/lists.h"
#include "seen/stores.h"

struct edit {
    const struct options *o;
    const char *path;
    struct opened_list list; /* as it was before */
    struct unseen_list_edit *changes;
    enum unseen_list_change change; /* the change that is being made */
    struct entry_lines how;
    bool takes_bytes; /* entries are bytes as they are */
    struct text room;
    bool failed; /* something failed, which has been reported: nothing will be changed */

    uint64_t nlines;
    uint64_t nchanged;
    uint64_t ncomments; /* lines without an entry, left out */
    uint64_t nmissing;  /* entries to undo or remove that the list does not have */
    uint64_t nskipped;  /* entries and lines that are wrong, left out */
    struct complaints complaints;
    uint64_t ndangerous; /* dangerous entries that were taken */
    uint64_t nliteral;   /* added entries that only a question in the same spelling meets */
};

enum {
    FEW = 1000,            /* fewer changes are never too many */
    TOO_MANY = 1000 * 1000 /* more changes are always too many */
};

/* ---- Before ---------------------------------------------------------------------------------- */

static void edit_report_open(const struct edit *e, const struct unseen_error *error)
{
    if (error->status == UNSEEN_ERR_FOREIGN && stores_type_of(e->path) == STORES_STORE) {
        message_error("%s is a store, not a list", e->path);
        message_hint("a store takes lines with unseen add, and loses them with unseen remove");
    } else if (error->status == UNSEEN_ERR_FOREIGN) {
        message_error("%s", error->text);
        message_hint("to make a list of its lines: unseen build NEW.list %s",
                     typed_quoted(e->path));
    } else if (error->status == UNSEEN_ERR_BUSY) {
        message_error("%s", error->text);
        message_hint("to wait until it has ended: %s", typed_with("--wait"));
    } else {
        lists_report(e->path, error);
    }
}

/* Waits, as --wait says, for other processes: they hold the lock for moments. */
static void open_patiently(struct edit *e, struct unseen_error *error)
{
    double start = 0;
    do {
        error->status = unseen_list_edit_open(&e->changes, e->path, NULL, error);
    } while (stores_wait(&e->o->seen, &start, error));
}

/* False if that failed, which has been reported. The caller calls edit_finish in either case. */
static bool edit_start(struct edit *e, const struct options *o, enum unseen_cpu cpu)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    *e = (struct edit){.o = o, .path = o->seen.path, .failed = true};
    e->complaints = (struct complaints){.key = &o->key, .options = &o->list.entries};
    open_patiently(e, &error);
    if (error.status != UNSEEN_OK) {
        edit_report_open(e, &error);
        return false;
    }
    if (!lists_open(&e->list, e->path, UNSEEN_LIST_MAP, cpu)) {
        return false;
    }
    e->failed = false;
    e->complaints.kind = e->list.kind;
    e->takes_bytes = e->list.kind == UNSEEN_KIND_URL && !unseen_list_url(e->list.list);
    e->how = entry_lines_of(&o->list.entries, &o->key, e->list.kind, e->takes_bytes);
    return true;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* A line that is being changed into an entry. */
struct edit_line {
    struct edit *e;
    const struct batch *batch; /* holds the line */
    struct unseen_bytes bytes;
    enum unseen_list_change change; /* for the item that is being taken */
};

/* Counts the lines in front of the line, so call it for messages only. */
static uint64_t edit_line_number(const struct edit_line *l)
{
    return reader_line_number(l->batch, l->bytes.data, l->e->o->input.delimiter);
}

static void edit_complain(const struct edit_line *l, enum fault fault)
{
    struct edit *e = l->e;
    const bool taken = entries_take(&e->o->list.entries, fault);
    e->failed = e->failed || (!taken && !entries_leave_out(&e->o->list.entries, fault));
    e->ndangerous += fault == FAULT_DANGEROUS && taken;
    e->nliteral += fault == FAULT_LITERAL;
    e->nskipped += !taken;
    if (complaints_count(&e->complaints, fault)) {
        complaints_show(&e->complaints, l->batch->name, edit_line_number(l), l->bytes, fault);
    }
}

static void edit_fail(struct edit *e, const struct edit_line *l, const struct unseen_error *error)
{
    e->failed = true;
    message_error("%s:%" PRIu64 ": %s", l->batch->name, edit_line_number(l), message_of(error));
}

/* True if an entry to be undone or removed is not in the list. That may be a typing error, so it is
 * counted. */
static bool is_missing(const struct edit_line *l, struct unseen_bytes entry, bool changed)
{
    struct edit *e = l->e;
    uint8_t verdict = UNSEEN_NEW;
    switch (l->change) {
    case UNSEEN_LIST_DISALLOW:
        return !changed;
    case UNSEEN_LIST_REMOVE:
        if (lists_contains(&e->list, &entry, 1, &verdict) != UNSEEN_OK && !e->failed) {
            lists_report_lost(e->path);
            e->failed = true;
        }
        return !changed || verdict == UNSEEN_NEW;
    default:
        return false;
    }
}

static void take_entry(const struct edit_line *l, struct unseen_bytes item,
                       struct unseen_bytes entry)
{
    struct edit *e = l->e;
    struct unseen_error error = {.status = UNSEEN_OK};
    uint8_t changed = 0;
    error.status = unseen_list_edit_change(e->changes, l->change, &item, 1, &changed, &error);
    if (error.status != UNSEEN_OK) {
        edit_fail(e, l, &error);
        return;
    }
    e->nchanged += changed;
    e->nmissing += is_missing(l, entry, changed);
}

/* The change of an entry, or of an allowed entry, which is allowed where others are added. */
static enum unseen_list_change change_of(const struct edit *e, bool allows)
{
    return !allows                           ? e->change
           : e->change == UNSEEN_LIST_ADD    ? UNSEEN_LIST_ALLOW
           : e->change == UNSEEN_LIST_REMOVE ? UNSEEN_LIST_DISALLOW
                                             : e->change;
}

/* Only an entry that is added is checked for danger; any entry can be removed. */
static void edit_take_item(void *context, struct unseen_bytes item, bool allows)
{
    struct edit_line *l = context;
    struct edit *e = l->e;
    struct unseen_error error = {.status = UNSEEN_OK};
    struct unseen_bytes entry = {NULL, 0};
    enum unseen_entry fitness = UNSEEN_ENTRY_FINE;
    const bool comes_in = e->change == UNSEEN_LIST_ADD || e->change == UNSEEN_LIST_ALLOW;
    error.status =
        entries_make(e->list.kind, unseen_list_url(e->list.list), item, &e->room, &entry, &fitness);
    if (error.status != UNSEEN_OK) {
        edit_fail(e, l, &error);
        return;
    }
    const bool is_dangerous = fitness == UNSEEN_ENTRY_DANGEROUS;
    if (fitness != UNSEEN_ENTRY_FINE && (!is_dangerous || comes_in)) {
        edit_complain(l, (enum fault)fitness);
        if (!entries_take(&e->o->list.entries, (enum fault)fitness)) {
            return;
        }
    }
    if (comes_in && entries_is_literal(e->list.kind, e->takes_bytes, entry)) {
        edit_complain(l, FAULT_LITERAL);
    }
    l->change = change_of(e, allows);
    take_entry(l, item, entry);
}

static void edit_take_line(struct edit_line *l)
{
    struct edit *e = l->e;
    text_clear(&e->room);
    e->nlines++;
    const struct entry_sink sink = {edit_take_item, l};
    const struct entry_line line = entry_lines_read(&e->how, l->bytes, &sink);
    e->ncomments += line.type == ENTRY_LINE_SKIPPED;
    if (line.type == ENTRY_LINE_WRONG) {
        edit_complain(l, line.fault);
    }
}

/* After a refused line it goes on, to report what is wrong with other lines, too. */
static bool edit_take_batch(void *context, const struct batch *b)
{
    struct edit *e = context;
    for (size_t i = 0; i < b->n; i++) {
        struct edit_line l = {e, b, b->texts[i], e->change};
        edit_take_line(&l);
    }
    return !e->failed || e->complaints.nrefused > 0;
}

/* Makes the change for all lines of the file; NULL: of all files of the command line. False if a
 * file cannot be read or a line is refused. */
static bool edit_files(struct edit *e, const char *file, enum unseen_list_change change)
{
    const char *const *names = file ? &file : e->o->input.files;
    const size_t n = file ? 1 : e->o->input.nfiles;
    struct output none = {.fd = -1};
    struct feed feed = {
        .input = &e->o->input, .file = file, .out = &none, .take = edit_take_batch, .context = e};
    e->change = change;
    for (size_t i = 0; i < n; i++) {
        if (stores_refuse(names[i]) != STORES_NONE) {
            message_hint("the input of %s is a file of lines", e->o->command->called);
            e->failed = true;
        }
    }
    if (!e->failed || e->complaints.nrefused > 0) {
        feed_run(&feed);
        e->failed = e->failed || feed.failed;
    }
    return !e->failed;
}

/* ---- After ----------------------------------------------------------------------------------- */

static void warn(const struct edit *e)
{
    complaints_summary(&e->complaints);
    if (e->nliteral > 0) {
        message_warning("%" PRIu64 " entries %s", e->nliteral, entries_literal(e->list.kind, true));
    }
    if (e->failed && e->list.list) { /* a list that cannot be opened has its own message */
        message_error("nothing was changed");
    }
    if (e->complaints.nrefused > 0) {
        complaints_hint(&e->complaints);
    }
    if (e->nmissing > 0 && !e->failed) {
        const bool updates = e->o->command->bit == COMMAND_UPDATE;
        message_warning("%" PRIu64 " of the %" PRIu64 " lines %s not %s", e->nmissing, e->nlines,
                        e->nmissing == 1 ? "was" : "were", updates ? "in the list" : "allowed");
    }
}

/* Changes take memory and time in every reader. */
static void hint_size(const struct edit *e, const struct unseen_list_info *info)
{
    const uint64_t n = info->nallowed + info->nadded + info->nremoved;
    if (n > TOO_MANY || (n > FEW && n > info->nkeys / 100)) {
        const char *path = typed_quoted(e->path);
        message_hint("there are %" PRIu64
                     " changes now; to take them into the list, with the files "
                     "that it was built from: unseen build --from %s %s FILE",
                     n, path, path);
    }
}

static void print_figures(const struct edit *e, const struct unseen_list_info *info)
{
    const struct figure figures[] = {
        {"lines", "lines", e->nlines, false},
        {"changed", "changed", e->nchanged, false},
        {"not there", "not_there", e->nmissing, false},
        {"comments", "comments", e->ncomments, false},
        {"dangerous", "dangerous", e->ndangerous, false},
        {"left out", "left_out", e->nskipped, false},
        {"allowed", "allowed", info->nallowed, false},
        {"added", "added", info->nadded, false},
        {"removed", "removed", info->nremoved, false},
        {"bytes", "changes_bytes", info->changes_bytes, false},
    };
    const size_t n = sizeof(figures) / sizeof(figures[0]);
    char json[FIGURES_JSON_CAP];
    if (e->o->report.stats == STATS_TEXT) {
        figures_print(figures, n);
    } else if (e->o->report.stats == STATS_JSON) {
        figures_write_json(figures, n, json);
        message_plain("{%s}", json);
    }
}

/* Prints the figures of the list as it is now. If they cannot be had, the change is made all the
 * same. */
static void edit_report(struct edit *e)
{
    struct unseen_error error = {.text = ""};
    struct unseen_list_info info = {.size = sizeof(info)};
    const enum unseen_status status = unseen_list_refresh(e->list.list, NULL, &error);
    if (status != UNSEEN_OK || unseen_list_info(e->list.list, &info) != UNSEEN_OK) {
        message_warning("it is done, but cannot be counted: %s",
                        error.text[0] ? error.text : unseen_status_string(status));
        return;
    }
    hint_size(e, &info);
    print_figures(e, &info);
}

static void edit_commit(struct edit *e)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    error.status = unseen_list_edit_commit(e->changes, &error);
    if (error.status == UNSEEN_OK) {
        edit_report(e);
        return;
    }
    e->failed = true;
    lists_report(e->path, &error);
    if (error.status == UNSEEN_ERR_MISMATCH) {
        message_hint("%s again with the same lines changes the new one", e->o->command->called);
    }
}

/* Commits, unless something has failed, and closes the list. Returns the exit status. */
static int edit_finish(struct edit *e)
{
    warn(e);
    if (!e->failed) {
        edit_commit(e);
    }
    unseen_list_edit_close(e->changes);
    lists_close(&e->list);
    text_release(&e->room);
    return e->failed ? EXIT_TROUBLE : EXIT_DONE;
}

/* ---- The commands ---------------------------------------------------------------------------- */

struct listing {
    struct output out;
    char delimiter;
};

static bool edit_put(void *context, enum unseen_list_change change, struct unseen_bytes text)
{
    struct listing *l = context;
    if (change == UNSEEN_LIST_ALLOW) {
        output_write(&l->out, text.data, text.len);
        output_write(&l->out, &l->delimiter, 1);
    }
    return !l->out.failed;
}

static int print_allowed(const struct options *o, enum unseen_cpu cpu)
{
    struct listing l = {.delimiter = o->input.delimiter};
    struct opened_list list;
    if (o->list.undo || !o->input.none_named) {
        message_error("--list changes nothing, so it takes no lines");
        message_hint("unseen allow --list %s", typed_quoted(o->seen.path));
        return EXIT_TROUBLE;
    }
    if (!lists_open(&list, o->seen.path, UNSEEN_LIST_MAP, cpu)) {
        return EXIT_TROUBLE;
    }
    int status = EXIT_TROUBLE;
    if (output_open(&l.out, NULL)) {
        unseen_list_changes(list.list, edit_put, &l);
        status = output_close(&l.out) ? EXIT_DONE : EXIT_TROUBLE;
    }
    lists_close(&list);
    return status;
}

int allow_run(const struct options *o, enum unseen_cpu cpu)
{
    struct edit e;
    if (stores_type_of(o->seen.path) == STORES_STORE) {
        return allow_store_run(o, cpu);
    }
    if (o->list.lists_allowed) {
        return print_allowed(o, cpu);
    }
    if (edit_start(&e, o, cpu)) {
        (void)edit_files(&e, NULL, o->list.undo ? UNSEEN_LIST_DISALLOW : UNSEEN_LIST_ALLOW);
    }
    return edit_finish(&e);
}

static bool check_command_line(const struct options *o)
{
    if (o->input.nfiles > 0) {
        message_error("%s: is it to be added or removed?", o->input.files[0]);
        message_hint("unseen update %s --add %s", typed_quoted(o->seen.path),
                     typed_quoted(o->input.files[0]));
        return false;
    }
    if (o->list.nedits == 0) {
        message_error("nothing to add or to remove");
        message_hint("%s", typed_with("--add FILE"));
        return false;
    }
    size_t n = 0;
    for (size_t i = 0; i < o->list.nedits; i++) {
        n += files_is_standard_input(o->list.edits[i].name);
    }
    if (n > 1) {
        message_error("standard input can be read only once");
        message_hint("put the lines to remove into a file");
        return false;
    }
    return true;
}

int update_run(const struct options *o, enum unseen_cpu cpu)
{
    struct edit e;
    if (!check_command_line(o)) {
        return EXIT_TROUBLE;
    }
    bool good = edit_start(&e, o, cpu);
    for (size_t i = 0; i < o->list.nedits && good; i++) {
        const struct edit_file *file = &o->list.edits[i];
        /* goes on after a failure, to report what is wrong in other files, too */
        good = edit_files(&e, file->name, file->removes ? UNSEEN_LIST_REMOVE : UNSEEN_LIST_ADD) ||
               e.complaints.nrefused > 0;
    }
    return edit_finish(&e);
}
