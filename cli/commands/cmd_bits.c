/* SPDX-License-Identifier: MIT
 *
 * `unseen bits`: bitmaps that are kept, exact sets of integers in files. A change reads the file
 * under its lock, and writes it anew in one step. */
#include <inttypes.h>
#include <string.h>

#include <unseen_bitmap.h>

#include "characters.h"
#include "commands/commands.h"
#include "lines/files.h"
#include "lines/integer_lines.h"
#include "print/json.h"
#include "print/message.h"
#include "print/output.h"
#include "print/typed.h"
#include "seen/bitmaps.h"

struct bits;

struct verb {
    const char *name;
    bool (*run)(struct bits *b);
    const char *hint;         /* a correct call, if the verb prints nothing; else NULL */
    integer_lines_take *take; /* gets the integers of the input; NULL if the verb reads no input */
    bool takes_ranges;
    bool makes_bitmap;                     /* run_change: of a bitmap that does not exist */
    enum unseen_bitmap_operation combines; /* how run_combine does it */
};

struct bits {
    const struct options *o;
    const struct verb *verb;
    const char *path;
    struct input_options input; /* without the verb and the bitmap */
    enum unseen_cpu cpu;
    struct unseen_bitmap *bitmap;
    struct output out;
    uint64_t nprinted;
};

/* ---- add, remove ----------------------------------------------------------------------------- */

static bool set_all(void *context, const uint64_t *values, const struct unseen_bytes *lines,
                    size_t n)
{
    struct bits *b = context;
    (void)lines;
    return unseen_bitmap_set(b->bitmap, values, n, NULL, NULL) == UNSEEN_OK || message_no_memory();
}

static bool clear_all(void *context, const uint64_t *values, const struct unseen_bytes *lines,
                      size_t n)
{
    struct bits *b = context;
    (void)lines;
    (void)unseen_bitmap_clear(b->bitmap, values, n, NULL, NULL); /* they are below 2^40 */
    return true;
}

static bool run_change(struct bits *b)
{
    return bitmaps_edit(&b->bitmap, b->path, &b->o->seen, b->cpu) &&
           (b->verb->makes_bitmap || bitmaps_exist(b->path)) &&
           integer_lines_read(&b->input, NULL, b->verb->take, b) &&
           bitmaps_save(b->bitmap, b->path);
}

/* Reads the bitmap of a verb that prints, and only then empties the output. */
static bool read_bitmap(struct bits *b)
{
    return bitmaps_read(&b->bitmap, b->path, b->cpu) && output_truncate(&b->out);
}

/* ---- check ----------------------------------------------------------------------------------- */

static bool print_found(void *context, const uint64_t *values, const struct unseen_bytes *lines,
                        size_t n)
{
    struct bits *b = context;
    uint8_t verdicts[INTEGER_LINES];
    const uint8_t wanted = b->o->print.invert ? UNSEEN_NEW : UNSEEN_SEEN;
    unseen_bitmap_get(b->bitmap, values, n, verdicts);
    for (size_t i = 0; i < n; i++) {
        if (verdicts[i] == wanted) {
            b->nprinted++;
            if (!b->o->print.count) {
                output_write(&b->out, lines[i].data, lines[i].len + 1);
            }
        }
    }
    return !b->out.failed;
}

static bool run_check(struct bits *b)
{
    const bool done = read_bitmap(b) && integer_lines_read(&b->input, NULL, b->verb->take, b);
    if (done && b->o->print.count) {
        json_put_count(&b->out, b->o->print.json, b->nprinted, b->o->input.delimiter);
    }
    return done;
}

/* ---- list, count ----------------------------------------------------------------------------- */

struct range {
    uint64_t first;
    uint64_t end;
};

static const struct range everything = {0, UNSEEN_BITMAP_END};

/* Reads a decimal number at *text, and moves *text behind it. False if there is none. */
static bool read_integer(const char **text, uint64_t *out)
{
    const size_t ndigits = read_decimal(*text, strlen(*text), out);
    *text += ndigits;
    return ndigits > 0;
}

/* Reads "7" or "1000-1999". */
static bool read_range(const char *text, struct range *range)
{
    uint64_t last = 0;
    if (!read_integer(&text, &range->first)) {
        return false;
    }
    last = range->first;
    if (*text == '-') {
        text++;
        if (!read_integer(&text, &last)) {
            return false;
        }
    }
    range->end = last + 1;
    return *text == '\0' && range->first <= last && last < UNSEEN_BITMAP_END;
}

/* False, and reported, if one of the ranges is not a range. */
static bool check_ranges(const struct bits *b)
{
    for (size_t i = 0; i < b->input.nfiles; i++) {
        struct range range;
        if (!read_range(b->input.files[i], &range)) {
            message_error("'%s' is not a range of integers below 2^40", b->input.files[i]);
            message_hint("unseen bits %s %s 1000-1999", b->verb->name, typed_quoted(b->path));
            return false;
        }
    }
    return true;
}

static bool list_range(struct bits *b, struct range range)
{
    struct repeats none = {0};
    const struct bitmap_lines lines = {&none, b->o->print.count, b->o->input.delimiter};
    return bitmaps_print(b->bitmap, range.first, range.end, lines, &b->out) || message_no_memory();
}

/* The integers of each range, in the order given; without a range, all. */
static bool run_list(struct bits *b)
{
    bool done = read_bitmap(b) && (b->input.nfiles > 0 || list_range(b, everything));
    for (size_t i = 0; i < b->input.nfiles && done; i++) {
        struct range range = everything;
        (void)read_range(b->input.files[i], &range); /* prepare checked it */
        done = list_range(b, range);
    }
    return done;
}

/* A number for each range; without one, that of all. */
static bool run_count(struct bits *b)
{
    if (!read_bitmap(b)) {
        return false;
    }
    if (b->input.nfiles == 0) {
        json_put_count(&b->out, b->o->print.json,
                       unseen_bitmap_count(b->bitmap, everything.first, everything.end),
                       b->o->input.delimiter);
    }
    for (size_t i = 0; i < b->input.nfiles; i++) {
        struct range range = everything;
        (void)read_range(b->input.files[i], &range); /* prepare checked it */
        output_print(&b->out, "%s\t%" PRIu64 "%c", b->input.files[i],
                     unseen_bitmap_count(b->bitmap, range.first, range.end), b->input.delimiter);
    }
    return true;
}

/* ---- and, or, andnot ------------------------------------------------------------------------- */

/* The bitmap becomes the first input; then the others are combined with it. */
static bool run_combine(struct bits *b)
{
    if (b->input.nfiles == 0) {
        message_error("the bitmaps to combine are missing");
        message_hint("%s", b->verb->hint);
        return false;
    }
    bool done = bitmaps_edit(&b->bitmap, b->path, &b->o->seen, b->cpu) &&
                unseen_bitmap_set_range(b->bitmap, 0, UNSEEN_BITMAP_END, false) == UNSEEN_OK;
    for (size_t i = 0; i < b->input.nfiles && done; i++) {
        struct unseen_bitmap *other = NULL;
        done = bitmaps_read(&other, b->input.files[i], b->cpu) &&
               (unseen_bitmap_combine(b->bitmap, i == 0 ? UNSEEN_BITMAP_OR : b->verb->combines,
                                      other) == UNSEEN_OK ||
                message_no_memory());
        unseen_bitmap_free(other);
    }
    return done && bitmaps_save(b->bitmap, b->path);
}

/* ---- All ------------------------------------------------------------------------------------- */

static const struct verb verbs[] = {
    {"add", run_change, "unseen bits add BITMAP FILE", .take = set_all, .makes_bitmap = true},
    {"remove", run_change, "unseen bits remove BITMAP FILE", .take = clear_all},
    {"check", run_check, .take = print_found},
    {"list", run_list, .takes_ranges = true},
    {"count", run_count, .takes_ranges = true},
    {"and", run_combine, "unseen bits and NEW A B", .combines = UNSEEN_BITMAP_AND},
    {"or", run_combine, "unseen bits or NEW A B", .combines = UNSEEN_BITMAP_OR},
    {"andnot", run_combine, "unseen bits andnot NEW A B", .combines = UNSEEN_BITMAP_ANDNOT},
};

enum {
    NVERBS = sizeof(verbs) / sizeof(verbs[0])
};

const char *bits_verb_at(size_t i)
{
    return i < NVERBS ? verbs[i].name : NULL;
}

static const struct verb *find_verb(const struct options *o)
{
    for (size_t i = 0; o->input.nfiles > 0 && i < NVERBS; i++) {
        if (strcmp(o->input.files[0], verbs[i].name) == 0) {
            return &verbs[i];
        }
    }
    if (o->input.nfiles == 0) {
        message_error("say what to do: add, remove, check, list, count, and, or, andnot");
    } else {
        message_error("'%s' is not add, remove, check, list, count, and, or or andnot",
                      o->input.files[0]);
    }
    message_hint("unseen bits add BITMAP FILE");
    return NULL;
}

static bool prepare(struct bits *b)
{
    static const char *const standard_input[] = {"-"};
    const struct options *o = b->o;
    const struct output *const outs[] = {&b->out};
    if (o->print.output && b->verb->hint) {
        message_error("unseen bits %s prints nothing, -o has no meaning", b->verb->name);
        message_hint("%s", typed_without("output"));
        return false;
    }
    if (o->input.nfiles < 2) {
        message_error("the bitmap is missing");
        message_hint("unseen bits %s BITMAP", b->verb->name);
        return false;
    }
    if ((o->print.invert || o->print.count) && b->verb->run != run_check) {
        message_error("-v and -c belong to unseen bits check");
        message_hint("%s", typed_without("invert count"));
        return false;
    }
    b->path = o->input.files[1];
    b->input = o->input;
    b->input.files += 2;
    b->input.nfiles -= 2;
    if (b->verb->take && b->input.nfiles == 0) {
        b->input.files = standard_input;
        b->input.nfiles = 1;
        b->input.none_named = true;
    }
    const size_t nfiles = b->verb->takes_ranges ? 0 : b->input.nfiles;
    if ((b->verb->takes_ranges && !check_ranges(b)) || !output_open(&b->out, o->print.output)) {
        return false;
    }
    if (files_find_output(&b->path, 1, outs, 1)) {
        message_hint("%s", typed_with("--output NEW"));
        return false;
    }
    return files_check(b->input.files, nfiles, outs, 1);
}

int bits_run(const struct options *o, enum unseen_cpu cpu)
{
    struct bits b = {.o = o, .verb = find_verb(o), .cpu = cpu, .out = {.fd = -1}};
    const bool done = b.verb && prepare(&b) && b.verb->run(&b) && output_close(&b.out);
    output_abandon(&b.out);
    unseen_bitmap_free(b.bitmap);
    if (!done) {
        return EXIT_TROUBLE;
    }
    return b.verb->run == run_check && b.nprinted == 0 ? EXIT_NONE : EXIT_DONE;
}
