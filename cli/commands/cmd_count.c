/* SPDX-License-Identifier: MIT
 *
 * `unseen count`: how many distinct lines do the files have? Counting needs no texts: the keys of
 * the lines go to a set, and those that are new to it are counted.
 *
 * With --by, one set serves all groups: the key of a line is mixed with the key of its group's
 * name, so the same line in two groups has two keys. A group costs a counter and its name, and
 * every pair of a group and a line as much as a line. With --returning, the set has the key of the
 * line itself, too: a line that is new to its group, but not to the set, has been in another.
 *
 * With --both, the keys that all files have are counted (shared_keys.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "characters.h"
#include "commands/commands.h"
#include "commands/count_stores.h"
#include "commands/shared_keys.h"
#include "lines/batch.h"
#include "lines/feed.h"
#include "lines/files.h"
#include "lines/identity.h"
#include "lines/profile.h"
#include "lines/text_table.h"
#include "print/json.h"
#include "print/message.h"
#include "print/output.h"
#include "print/report.h"
#include "print/typed.h"
#include "seen/beyond.h"
#include "seen/stores.h"

struct count {
    const struct options *o;
    struct unseen_url *url;
    struct unseen_set *set;
    struct identity identity;
    struct feed feed;
    struct output out;
    struct report report;      /* new: distinct lines */
    struct asked asked;        /* the set, for lines without groups; */
    struct beyond beyond;      /* with --memory it may be larger than that */
    struct shared_keys shared; /* with --both */
    struct text_table groups;  /* value: the number of distinct lines */
    uint64_t *nreturning;      /* of each group; NULL without --returning */
    size_t nreturning_cap;
    size_t last;      /* the group of the previous line; SIZE_MAX: no group, or no memory */
    uint64_t nlines;  /* with --by: all lines, */
    uint64_t nmisses; /* and those without a name for the group */
    struct text room;
    bool failed;
};

static void count_fail(struct count *c, enum unseen_status status)
{
    message_error("cannot count more lines: %s", unseen_status_string(status));
    message_hint("to take less memory: %s", typed_with("--fpr 1e-6"));
    c->failed = true;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* The host of a canonical URL, with its brackets if it is an IPv6 address; empty if it has none. */
static struct unseen_bytes host_of(struct unseen_bytes url)
{
    struct unseen_bytes none = {"", 0};
    const char *end = url.data + url.len;
    const char *colon = url.len ? memchr(url.data, ':', url.len) : NULL;
    if (!colon || end - colon < 3 || colon[1] != '/' || colon[2] != '/') {
        return none;
    }
    const char *host = colon + 3;
    const char *stop = host;
    while (stop < end && !strchr("/?#", *stop)) {
        stop++;
    }
    for (const char *p = host; p < stop; p++) {
        host = *p == '@' ? p + 1 : host;
    }
    const char *port = stop;
    while (port > host && is_digit(port[-1])) {
        port--;
    }
    stop = port > host && port[-1] == ':' ? port - 1 : stop;
    return (struct unseen_bytes){host, (size_t)(stop - host)};
}

/* Finds or adds a group by its name. Tries the last group first: neighbouring lines are often in
 * one group. */
static size_t find_group(struct count *c, struct unseen_bytes name)
{
    if (c->last != SIZE_MAX) {
        const struct unseen_bytes last = text_table_text(&c->groups, c->last);
        if (last.len == name.len &&
            (name.len == 0 || memcmp(last.data, name.data, name.len) == 0)) {
            return c->last;
        }
    }
    const size_t n = c->groups.n;
    struct text_entry *entry = text_table_add(&c->groups, name.data, name.len);
    if (c->groups.n > n) {
        entry->key = unseen_set_identity_key(c->set, name.data, name.len);
    }
    c->last = entry ? (size_t)(entry - c->groups.entries) : SIZE_MAX;
    return c->last;
}

/* The group of line i of the batch; SIZE_MAX without memory. Lines without a name for the group are
 * in the group of the empty name. */
static size_t group_of(struct count *c, const struct batch *b, size_t i)
{
    const struct options *o = c->o;
    struct unseen_bytes name = {NULL, 0};
    if (o->group.by_host) {
        name = host_of(b->canons[i]);
    } else {
        text_clear(&c->room);
        if (key_find(&o->group.by_key, 0, o->key.separator, b->texts[i], &c->room, &name) !=
            UNSEEN_OK) {
            return SIZE_MAX;
        }
    }
    if (!name.data) {
        c->nmisses++;
        name.data = "";
    }
    return find_group(c, name);
}

static uint64_t turn(uint64_t x)
{
    return x << 31 | x >> 33;
}

/* Rotates one of the two: a line may be the name of its own group, and equal keys would cancel
 * out. */
static struct unseen_key mix(struct unseen_key line, struct unseen_key group)
{
    return (struct unseen_key){line.lo ^ turn(group.lo), line.hi ^ turn(group.hi)};
}

/* Makes a counter of returning lines for each group. */
static bool reserve_returning(struct count *c)
{
    if (c->groups.n <= c->nreturning_cap) {
        return true;
    }
    const size_t cap = c->groups.n * 2;
    uint64_t *counters = realloc(c->nreturning, cap * sizeof(*counters));
    if (!counters) {
        return false;
    }
    memset(counters + c->nreturning_cap, 0, (cap - c->nreturning_cap) * sizeof(*counters));
    c->nreturning = counters;
    c->nreturning_cap = cap;
    return true;
}

/* Counts the lines of a batch that are new to their groups, as the verdicts say, and that were in
 * another group before. */
static enum unseen_status count_returning(struct count *c, const struct batch *b,
                                          const uint8_t *verdicts, const size_t *numbers)
{
    struct unseen_key keys[BATCH_LINES];
    size_t where[BATCH_LINES];
    uint8_t known[BATCH_LINES];
    size_t n = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (verdicts[i] == UNSEEN_NEW) {
            keys[n] = b->keys[i];
            where[n++] = numbers[i];
        }
    }
    if (!reserve_returning(c)) {
        return UNSEEN_ERR_NOMEM;
    }
    const enum unseen_status status = unseen_set_add_keys(c->set, keys, n, known, NULL);
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        c->nreturning[where[i]] += known[i] == UNSEEN_SEEN;
    }
    return status;
}

/* ---- Batches --------------------------------------------------------------------------------- */

static void count_verdicts(struct count *c, const uint8_t *verdicts, size_t n)
{
    uint64_t nnew = 0;
    for (size_t i = 0; i < n; i++) {
        nnew += verdicts[i];
    }
    c->report.nnew += nnew;
    c->report.nseen += n - nnew;
}

static bool count_take_files(struct count *c, const struct batch *b)
{
    uint64_t nnew = 0;
    const enum unseen_status status = beyond_count(&c->beyond, &c->asked, b->keys, b->n, &nnew);
    c->report.nnew += nnew;
    c->report.nseen += b->n - nnew;
    c->failed = status == UNSEEN_ERR_MISMATCH; /* reported */
    if (status != UNSEEN_OK && !c->failed) {
        count_fail(c, status);
    }
    return status == UNSEEN_OK;
}

/* Counts the keys that were gathered. */
static void count_gathered(struct count *c)
{
    uint64_t nnew = 0;
    if (!c->failed && !c->feed.failed) {
        c->failed = !beyond_count_end(&c->beyond, &c->asked, &nnew);
    }
    c->report.nnew += nnew;
    c->report.nseen -= nnew;
}

static bool take_shared(struct count *c, const struct batch *b)
{
    const enum unseen_status status = shared_keys_take(&c->shared, b->file, b->keys, b->n);
    if (status != UNSEEN_OK) {
        count_fail(c, status);
    }
    c->nlines += b->n;
    return status == UNSEEN_OK;
}

static bool take_groups(struct count *c, const struct batch *b)
{
    uint8_t verdicts[BATCH_LINES];
    struct unseen_key keys[BATCH_LINES];
    size_t numbers[BATCH_LINES];
    for (size_t i = 0; i < b->n; i++) {
        numbers[i] = group_of(c, b, i);
        if (numbers[i] == SIZE_MAX) {
            count_fail(c, UNSEEN_ERR_NOMEM);
            return false;
        }
        keys[i] = mix(b->keys[i], c->groups.entries[numbers[i]].key);
    }
    enum unseen_status status = unseen_set_add_keys(c->set, keys, b->n, verdicts, NULL);
    if (status == UNSEEN_OK && c->o->group.returning) {
        status = count_returning(c, b, verdicts, numbers);
    }
    if (status != UNSEEN_OK) {
        count_fail(c, status);
        return false;
    }
    for (size_t i = 0; i < b->n; i++) {
        c->groups.entries[numbers[i]].value += verdicts[i];
    }
    count_verdicts(c, verdicts, b->n);
    c->nlines += b->n;
    return true;
}

static bool count_take_batch(void *context, const struct batch *b)
{
    struct count *c = context;
    batch_count(b, &c->report);
    c->report.nfailed += batch_count_failed(b, 0, b->n);
    report_poll();
    if (c->o->group.both) {
        return take_shared(c, b);
    }
    return c->o->group.by ? take_groups(c, b) : count_take_files(c, b);
}

/* ---- Before and after ------------------------------------------------------------------------ */

static bool count_create_set(struct count *c, enum unseen_cpu cpu)
{
    const struct options *o = c->o;
    if (!profile_create(&c->url, &o->profile, NULL, cpu)) {
        return false;
    }
    const struct unseen_set_options options = {
        .size = sizeof(options),
        .profile = unseen_url_id(c->url),
        .fpr = o->seen.fpr,
        .capacity = o->seen.capacity,
        .seed = seed_bytes(&o->seen.seed),
        .seed_len = o->seen.seed.len,
        .cpu = cpu,
    };
    const enum unseen_status status = unseen_set_create(&c->set, &options, NULL);
    c->shared.options = options;
    c->shared.options.profile = "none";
    if (status == UNSEEN_OK) {
        c->identity = (struct identity){.url = profile_is_none(c->url) ? NULL : c->url,
                                        .set = c->set,
                                        .key = &o->key,
                                        .delimiter = o->input.delimiter,
                                        .keeps_texts = o->group.by_host};
    }
    if (status == UNSEEN_ERR_FPR) {
        message_error("--fpr %g: %s", o->seen.fpr, unseen_status_string(status));
        message_hint("%s", typed_with("--fpr 1e-12"));
    } else if (status != UNSEEN_OK) {
        message_error("cannot make a set: %s", unseen_status_string(status));
    }
    return status == UNSEEN_OK;
}

/* False, and reported, if --both has too few inputs. */
static bool count_inputs_fit(const struct options *o)
{
    if (o->group.both && o->input.nfiles < 2) {
        message_error("--both counts what is in each of several files");
        message_hint("%s FILE", typed_line());
        return false;
    }
    if (o->group.both && files_count_standard_input(o->input.files, o->input.nfiles) > 1) {
        message_error("standard input can be read only once");
        message_hint("give the others as files");
        return false;
    }
    return true;
}

static bool count_prepare(struct count *c, enum unseen_cpu cpu)
{
    const struct options *o = c->o;
    const struct output *const outs[] = {&c->out};
    if ((o->seen.memory > 0 && !beyond_check(o->seen.memory)) || !count_create_set(c, cpu)) {
        return false;
    }
    beyond_count_start(&c->beyond, &c->asked, c->set, o->seen.memory, &c->report);
    return output_open(&c->out, o->print.output) &&
           files_check(o->input.files, o->input.nfiles, outs, 1);
}

static void put_group(struct count *c, size_t group)
{
    const struct unseen_bytes name = text_table_text(&c->groups, group);
    const uint64_t n = c->groups.entries[group].value;
    if (c->o->print.json) {
        json_write(&c->out, "{\"group\":");
        json_write_string(&c->out, name);
        output_print(&c->out, ",\"count\":%" PRIu64, n);
        if (c->nreturning) {
            output_print(&c->out, ",\"returning\":%" PRIu64, c->nreturning[group]);
        }
        output_print(&c->out, "}\n");
        return;
    }
    output_print(&c->out, "%" PRIu64 "\t", n);
    if (c->nreturning) {
        output_print(&c->out, "%" PRIu64 "\t", c->nreturning[group]);
    }
    output_write(&c->out, name.data, name.len);
    output_write(&c->out, &c->o->input.delimiter, 1);
}

/* Prints the count of stores. */
static bool count_print(const struct options *o, uint64_t n)
{
    struct output out = {.fd = -1};
    const struct output *const outs[] = {&out};
    if (!output_open(&out, o->print.output) ||
        !files_check(o->input.files, o->input.nfiles, outs, 1) || !output_truncate(&out)) {
        output_abandon(&out);
        return false;
    }
    json_put_count(&out, o->print.json, n, o->input.delimiter);
    return output_close(&out);
}

static void count_put_result(struct count *c)
{
    if (!c->o->group.by) {
        json_put_count(&c->out, c->o->print.json, c->report.nnew, c->o->input.delimiter);
    }
    for (size_t i = 0; i < c->groups.n; i++) {
        put_group(c, i);
    }
    if (c->nmisses > 0) {
        message_warning("%" PRIu64 " lines without --by %s are counted under no name", c->nmisses,
                        c->o->group.by);
    }
}

/* Prints no count after any trouble: a count of a part of the input would be wrong. */
static int count_finish(struct count *c)
{
    if (c->o->group.by && c->nlines > 0 && c->nmisses == c->nlines) {
        message_error("no line has the value %s, by which --by groups", c->o->group.by);
        return EXIT_TROUBLE;
    }
    if (c->failed || c->feed.failed || !output_truncate(&c->out)) {
        return EXIT_TROUBLE;
    }
    count_put_result(c);
    return output_close(&c->out) ? EXIT_DONE : EXIT_TROUBLE;
}

int count_run(const struct options *o, enum unseen_cpu cpu)
{
    uint64_t n = 0;
    if (!count_inputs_fit(o)) {
        return EXIT_TROUBLE;
    }
    if (!o->input.none_named && count_stores_are_meant(o)) {
        return count_stores(o, cpu, &n) && count_print(o, n) ? EXIT_DONE : EXIT_TROUBLE;
    }
    struct count c = {.o = o, .last = SIZE_MAX};
    int status = EXIT_TROUBLE;
    if (count_prepare(&c, cpu)) {
        c.feed.input = &o->input;
        c.feed.identity = &c.identity;
        c.feed.out = &c.out;
        c.feed.take = count_take_batch;
        c.feed.context = &c;
        report_start(&c.report, &o->report, true);
        feed_run(&c.feed);
        count_gathered(&c);
        if (o->group.both) {
            c.report.nnew = shared_keys_count(&c.shared, o->input.nfiles);
            c.report.nseen = c.nlines - c.report.nnew;
        }
        const struct unseen_set_stats stats = stores_stats(c.shared.now ? c.shared.now : c.set);
        report_end(&c.report, &stats, unseen_set_profile(c.set));
        status = count_finish(&c);
    }
    output_abandon(&c.out);
    text_table_release(&c.groups);
    text_release(&c.room);
    free(c.nreturning);
    shared_keys_release(&c.shared);
    beyond_release(&c.beyond);
    unseen_set_free(c.set);
    unseen_url_free(c.url);
    return status;
}
