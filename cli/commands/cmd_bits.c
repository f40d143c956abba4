/* SPDX-License-Identifier: MIT
 *
 * `unseen bits`: bitmaps that are kept, exact sets of integers in files. A change reads the file
 * under its lock, and writes it anew in one step. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <unseen_bitmap.h>

#include "commands/bitmaps.h"
#include "commands/commands.h"
#include "commands/integer_lines.h"
#include "lines/files.h"
#include "print/message.h"
#include "print/output.h"

enum combination {
    COMBINE_AND,
    COMBINE_OR,
    COMBINE_ANDNOT
};

struct bits;

struct verb {
    const char *name;
    bool (*run)(struct bits *b);
    integer_lines_take *take;  /* gets the integers of the input; NULL if the verb reads no input */
    enum combination combines; /* how run_combine does it */
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
    return bitmaps_edit(&b->bitmap, b->path, b->o, b->cpu) &&
           integer_lines_read(&b->input, NULL, b->verb->take, b) &&
           bitmaps_save(b->bitmap, b->path);
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
    const bool done = bitmaps_read(&b->bitmap, b->path, b->cpu) &&
                      integer_lines_read(&b->input, NULL, b->verb->take, b);
    if (done && b->o->print.count) {
        count_put(&b->out, b->o, b->nprinted);
    }
    return done;
}

/* ---- list, count ----------------------------------------------------------------------------- */

static bool run_list(struct bits *b)
{
    struct repeats none = {0};
    return bitmaps_read(&b->bitmap, b->path, b->cpu) &&
           (bitmaps_print(b->bitmap, &none, b->o, &b->out) || message_no_memory());
}

/* Reads "7" or "1000-1999"; false, and reported, if the text is neither. */
static bool read_range(const char *text, uint64_t *first, uint64_t *end)
{
    uint64_t last = 0;
    int used = 0;
    const bool is_range =
        sscanf(text, "%" SCNu64 "-%" SCNu64 "%n", first, &last, &used) == 2 && text[used] == '\0';
    if (!is_range) {
        used = 0;
        if (sscanf(text, "%" SCNu64 "%n", first, &used) != 1 || text[used] != '\0') {
            used = 0;
        }
        last = *first;
    }
    if (used == 0 || text[0] < '0' || text[0] > '9' || last < *first || last >= UNSEEN_BITMAP_END) {
        message_error("'%s' is not a range of integers below 2^40", text);
        message_hint("unseen bits count BITMAP 1000-1999");
        return false;
    }
    *end = last + 1;
    return true;
}

/* A number for each range; without one, that of all. */
static bool run_count(struct bits *b)
{
    if (!bitmaps_read(&b->bitmap, b->path, b->cpu)) {
        return false;
    }
    if (b->input.nfiles == 0) {
        count_put(&b->out, b->o, unseen_bitmap_count(b->bitmap, 0, UNSEEN_BITMAP_END));
    }
    for (size_t i = 0; i < b->input.nfiles; i++) {
        uint64_t first = 0;
        uint64_t end = 0;
        if (!read_range(b->input.files[i], &first, &end)) {
            return false;
        }
        output_print(&b->out, "%s\t%" PRIu64 "\n", b->input.files[i],
                     unseen_bitmap_count(b->bitmap, first, end));
    }
    return true;
}

/* ---- and, or, andnot ------------------------------------------------------------------------- */

static enum unseen_status combine_one(struct unseen_bitmap *bitmap, enum combination how,
                                      const struct unseen_bitmap *other)
{
    switch (how) {
    case COMBINE_AND:
        unseen_bitmap_and(bitmap, other);
        return UNSEEN_OK;
    case COMBINE_ANDNOT:
        unseen_bitmap_andnot(bitmap, other);
        return UNSEEN_OK;
    default:
        return unseen_bitmap_or(bitmap, other);
    }
}

/* The bitmap becomes the first input; then the others are combined with it. */
static bool run_combine(struct bits *b)
{
    if (b->input.nfiles == 0) {
        message_error("the bitmaps to combine are missing");
        message_hint("unseen bits or NEW A B");
        return false;
    }
    bool done = bitmaps_edit(&b->bitmap, b->path, b->o, b->cpu) &&
                unseen_bitmap_clear_range(b->bitmap, 0, UNSEEN_BITMAP_END) == UNSEEN_OK;
    for (size_t i = 0; i < b->input.nfiles && done; i++) {
        struct unseen_bitmap *other = NULL;
        done =
            bitmaps_read(&other, b->input.files[i], b->cpu) &&
            (combine_one(b->bitmap, i == 0 ? COMBINE_OR : b->verb->combines, other) == UNSEEN_OK ||
             message_no_memory());
        unseen_bitmap_free(other);
    }
    return done && bitmaps_save(b->bitmap, b->path);
}

/* ---- All ------------------------------------------------------------------------------------- */

static const struct verb verbs[] = {
    {"add", run_change, .take = set_all},
    {"remove", run_change, .take = clear_all},
    {"check", run_check, .take = print_found},
    {"list", run_list, NULL, 0},
    {"count", run_count, NULL, 0},
    {"and", run_combine, .combines = COMBINE_AND},
    {"or", run_combine, .combines = COMBINE_OR},
    {"andnot", run_combine, .combines = COMBINE_ANDNOT},
};

static const struct verb *find_verb(const struct options *o)
{
    for (size_t i = 0; o->input.nfiles > 0 && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (strcmp(o->input.files[0], verbs[i].name) == 0) {
            return &verbs[i];
        }
    }
    if (o->input.nfiles == 0) {
        message_error("what to do is missing: add, remove, check, list, count, and, or, andnot");
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
    if (o->input.nfiles < 2) {
        message_error("the bitmap is missing");
        message_hint("unseen bits %s BITMAP", b->verb->name);
        return false;
    }
    if ((o->print.invert || o->print.count) && b->verb->run != run_check) {
        message_error("-v and -c are of unseen bits check");
        message_hint("unseen bits check BITMAP FILE");
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
    return output_open(&b->out, o->print.output) &&
           files_check(o->command->called, b->input.files, b->input.nfiles, outs, 1) &&
           output_truncate(&b->out);
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
