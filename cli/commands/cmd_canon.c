/* SPDX-License-Identifier: MIT
 *
 * `unseen canon`: prints the canonical form of each line. The reader has canonicalised the lines of
 * a batch already. Canonical forms that are neighbours in memory are written at once: if most lines
 * are canonical, they are most of the input. */
#include <inttypes.h>
#include <stdio.h>

#include "commands/commands.h"
#include "commands/fingerprint.h"
#include "lines/batch.h"
#include "lines/feed.h"
#include "lines/files.h"
#include "lines/identity.h"
#include "lines/profile.h"
#include "print/json.h"
#include "print/message.h"
#include "print/output.h"

struct canon {
    const struct options *o;
    struct unseen_url *url;
    struct identity identity;
    struct feed feed;
    struct output out;
    struct text scratch; /* the memory of expressions */
    bool failed;
};

/* ---- Output ---------------------------------------------------------------------------------- */

/* Ends the output of a line. */
static void end_line(struct canon *c)
{
    if (c->o->print.line_buffered) {
        (void)output_flush(&c->out); /* remembered in out */
    }
}

static void put_plain(struct canon *c, const struct batch *b)
{
    const struct unseen_bytes *forms = b->canons;
    for (size_t i = 0; i < b->n;) {
        const size_t first = i++;
        const char *end = forms[first].data + forms[first].len + 1;
        while (i < b->n && forms[i].data == end && !c->o->print.line_buffered) {
            end = forms[i].data + forms[i].len + 1;
            i++;
        }
        output_write(&c->out, forms[first].data, (size_t)(end - forms[first].data));
        end_line(c);
    }
}

/* The text of line i that lookups are for: for a reference the URL that it refers to. */
static struct unseen_bytes text_of(const struct canon *c, const struct batch *b, size_t i)
{
    return c->o->key.base ? b->canons[i] : b->items[i];
}

/* Finds the expressions of line i. Returns 0 if the line is not a URL, or if memory runs out
 * (c->failed). For a reference they are the expressions of the URL that it refers to. */
static size_t find_expressions(struct canon *c, const struct batch *b, size_t i,
                               struct unseen_bytes expressions[UNSEEN_EXPRESSIONS_MAX])
{
    if (c->o->key.base && b->forms[i] == UNSEEN_URL_FAILED) {
        return 0;
    }
    const struct unseen_bytes text = text_of(c, b, i);
    const size_t bound = unseen_url_bound(text.len, 0);
    size_t n = 0;
    text_clear(&c->scratch);
    if (bound == 0 || !text_reserve(&c->scratch, bound) ||
        unseen_url_expressions(c->url, text.data, text.len, c->scratch.data, c->scratch.cap,
                               expressions, &n) != UNSEEN_OK) {
        message_error("out of memory for a line of %zu bytes", text.len);
        c->failed = true;
    }
    return n;
}

static void put_expressions(struct canon *c, const struct batch *b, size_t i)
{
    struct unseen_bytes expressions[UNSEEN_EXPRESSIONS_MAX];
    const size_t n = find_expressions(c, b, i, expressions);
    if (c->failed) {
        return;
    }
    for (size_t j = 0; j < n; j++) {
        output_write(&c->out, expressions[j].data, expressions[j].len);
        output_write(&c->out, &c->o->input.delimiter, 1);
    }
    output_write(&c->out, &c->o->input.delimiter, 1);
}

/* The SURT key of line i; data is NULL if the line is not a URL, or if memory runs out
 * (c->failed). */
static struct unseen_bytes find_surt(struct canon *c, const struct batch *b, size_t i)
{
    struct unseen_bytes surt = {NULL, 0};
    if (c->o->key.base && b->forms[i] == UNSEEN_URL_FAILED) {
        return surt;
    }
    const struct unseen_bytes text = text_of(c, b, i);
    const size_t bound = text.len > SIZE_MAX / 2 ? 0 : unseen_url_bound(2 * text.len, 0);
    text_clear(&c->scratch);
    if (bound == 0 || !text_reserve(&c->scratch, bound) ||
        unseen_url_surt(text.data, text.len, c->o->print.keep_www, c->scratch.data, c->scratch.cap,
                        &surt) != UNSEEN_OK) {
        message_error("out of memory for a line of %zu bytes", text.len);
        c->failed = true;
    }
    return surt;
}

static void put_surt(struct canon *c, const struct batch *b, size_t i)
{
    const struct unseen_bytes surt = find_surt(c, b, i);
    if (c->failed) {
        return;
    }
    const struct unseen_bytes out = surt.data ? surt : b->items[i];
    output_write(&c->out, out.data, out.len);
    output_write(&c->out, &c->o->input.delimiter, 1);
}

static void put_json_surt(struct canon *c, const struct batch *b, size_t i)
{
    const struct unseen_bytes surt = find_surt(c, b, i);
    json_write(&c->out, ",\"surt\":");
    json_write_string_or_null(&c->out, surt);
}

/* Prints the fingerprint of line i, or its canonical form if Scrapy makes no request of it. */
static void put_fingerprint(struct canon *c, const struct batch *b, size_t i)
{
    char digits[FINGERPRINT_DIGITS];
    if (b->forms[i] != UNSEEN_URL_FAILED && fingerprint_write(b->items[i], b->canons[i], digits)) {
        output_write(&c->out, digits, sizeof(digits));
        output_write(&c->out, &c->o->input.delimiter, 1);
    } else {
        output_write(&c->out, b->canons[i].data, b->canons[i].len + 1);
    }
}

static void put_json_fingerprint(struct canon *c, const struct batch *b, size_t i)
{
    char digits[FINGERPRINT_DIGITS];
    const bool has =
        b->forms[i] != UNSEEN_URL_FAILED && fingerprint_write(b->items[i], b->canons[i], digits);
    json_write(&c->out, ",\"fingerprint\":");
    json_write_string_or_null(&c->out, (struct unseen_bytes){has ? digits : NULL, sizeof(digits)});
}

/* Prints the share of line i, from 1, between two texts. */
static void canon_put_share(struct canon *c, const struct batch *b, size_t i, const char *before,
                            const char *after)
{
    char text[40];
    const int n = snprintf(text, sizeof(text), "%s%" PRIu32 "%s", before, b->shares[i] + 1, after);
    output_write(&c->out, text, (size_t)n);
}

/* Prints what is asked for of line i, in one line. */
static void canon_put_line(struct canon *c, const struct batch *b, size_t i)
{
    if (c->o->key.nshards) {
        canon_put_share(c, b, i, "", "\t");
    }
    if (c->o->print.surt) {
        put_surt(c, b, i);
    } else if (c->o->print.fingerprint) {
        put_fingerprint(c, b, i);
    } else {
        output_write(&c->out, b->canons[i].data, b->canons[i].len + 1);
    }
}

static void canon_put_json(struct canon *c, const struct batch *b, size_t i)
{
    static const char *const statuses[] = {
        [UNSEEN_URL_UNCHANGED] = ",\"status\":\"unchanged\",\"canonical\":",
        [UNSEEN_URL_REWRITTEN] = ",\"status\":\"rewritten\",\"canonical\":",
        [UNSEEN_URL_FAILED] = ",\"status\":\"failed\",\"canonical\":",
    };
    struct output *out = &c->out;
    struct unseen_bytes expressions[UNSEEN_EXPRESSIONS_MAX];
    const size_t n = c->o->print.expressions ? find_expressions(c, b, i, expressions) : 0;
    if (c->failed) {
        return;
    }
    json_write(out, "{\"input\":");
    json_write_string(out, b->items[i]);
    json_write(out, statuses[b->forms[i]]);
    const bool has = b->forms[i] != UNSEEN_URL_FAILED;
    json_write_string_or_null(out, has ? b->canons[i] : (struct unseen_bytes){NULL, 0});
    if (c->o->print.expressions) {
        json_write(out, ",\"expressions\":[");
        for (size_t j = 0; j < n; j++) {
            json_write(out, j > 0 ? "," : "");
            json_write_string(out, expressions[j]);
        }
        json_write(out, "]");
    }
    if (c->o->print.surt) {
        put_json_surt(c, b, i);
    }
    if (c->o->print.fingerprint) {
        put_json_fingerprint(c, b, i);
    }
    if (c->o->key.nshards) {
        canon_put_share(c, b, i, ",\"shard\":", "");
    }
    json_write(out, "}\n");
}

static bool canon_take_batch(void *context, const struct batch *b)
{
    struct canon *c = context;
    if (!c->o->print.json && !c->o->print.expressions && !c->o->print.surt &&
        !c->o->print.fingerprint && !c->o->key.nshards) {
        put_plain(c, b);
        return true;
    }
    for (size_t i = 0; i < b->n && !c->failed; i++) {
        (c->o->print.json          ? canon_put_json
         : c->o->print.expressions ? put_expressions
                                   : canon_put_line)(c, b, i);
        end_line(c);
    }
    return !c->failed;
}

/* ---- Before and after ------------------------------------------------------------------------ */

/* The profile if the user names none; NULL: that of all commands. */
static const char *usual_profile(const struct options *o)
{
    return o->print.expressions ? "safebrowsing" : o->print.fingerprint ? "scrapy" : NULL;
}

/* Truncates the output last, when nothing else can go wrong. */
static bool canon_prepare(struct canon *c, enum unseen_cpu cpu)
{
    const struct options *o = c->o;
    const struct output *const outs[] = {&c->out};
    if (!profile_create(&c->url, &o->profile, usual_profile(o), cpu) ||
        !profile_check_base(o->key.base)) {
        return false;
    }
    c->identity = (struct identity){
        .url = c->url,
        .key = &o->key,
        .delimiter = o->input.delimiter,
        .keeps_texts = true,
        .tells_shares = o->key.nshards != 0,
    };
    return output_open(&c->out, o->print.output) &&
           files_check(o->input.files, o->input.nfiles, outs, 1) && output_truncate(&c->out);
}

int canon_run(const struct options *o, enum unseen_cpu cpu)
{
    struct canon c = {.o = o};
    int status = EXIT_TROUBLE;
    if (canon_prepare(&c, cpu)) {
        c.feed.input = &o->input;
        c.feed.identity = &c.identity;
        c.feed.out = &c.out;
        c.feed.take = canon_take_batch;
        c.feed.context = &c;
        feed_run(&c.feed);
        const bool written = output_close(&c.out);
        status = written && !c.failed && !c.feed.failed ? EXIT_DONE : EXIT_TROUBLE;
    }
    text_release(&c.scratch);
    output_abandon(&c.out);
    unseen_url_free(c.url);
    return status;
}
