/* SPDX-License-Identifier: MIT */
#include "seen/filter_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "print/abilities.h"
#include "print/chart.h"
#include "print/message.h"
#include "print/suggest.h"
#include "print/typed.h"
#include "seen/stores.h"

static const struct {
    const char *name;
    const char *sentence;
} sentences[] = {
    {"compact", "any number of URLs; the default"},
    {"bloom", "the textbook's, to exchange with others and to compare"},
    {"block", "the fastest, for a number of URLs that is known"},
    {"counting", "removes, counts how often, keeps the size it was given"},
    {"exact", "compact with the rate 1e-12"},
    {"scalable", "compact, which grows as a chain of Bloom filters does"},
    {"scalable-bloom", "compact, too"},
    {"scalable-count", "compact that counts"},
};

/* Empty if the table lacks the filter. */
static const char *sentence_of(const char *name)
{
    for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++) {
        if (strcmp(sentences[i].name, name) == 0) {
            return sentences[i].sentence;
        }
    }
    return "";
}

void filters_shape(const struct seen_options *o, char text[FILTERS_SHAPE_CAP])
{
    char *to = text;
    *to = '\0';
    if (o->bits_per_key > 0) {
        to += snprintf(to, FILTERS_SHAPE_CAP / 2, " --bits %g", o->bits_per_key);
    }
    if (o->hashes) {
        snprintf(to, FILTERS_SHAPE_CAP / 2, " --hashes %u", o->hashes);
    }
}

/* ---- What is wrong with --filter, --capacity, --fpr, --bits and --hashes --------------------- */

bool filters_check_name(const char *name)
{
    struct suggestion n = {.wanted = name};
    const char *known = NULL;
    for (size_t i = 0; (known = unseen_filter_name(i)); i++) {
        if (strcmp(known, name) == 0) {
            return true;
        }
        suggest_try(&n, known);
    }
    message_error("--filter %s: no such name", name);
    if (n.best) {
        message_hint("%s", typed_with("--filter %s", n.best));
    } else {
        message_hint("unseen help filters");
    }
    return false;
}

static unsigned abilities_of(const char *name)
{
    struct unseen_plan plan = {.size = sizeof(plan), .filter = name, .fpr = 0.01, .capacity = 1000};
    return unseen_plan(&plan) == UNSEEN_OK ? plan.abilities : 0;
}

/* The lowest power of ten that the filter can promise as its rate. */
static double lowest_rate(const char *name)
{
    for (int digits = 28; digits > 1; digits--) {
        const double rate = 1 / pow(10, digits);
        struct unseen_plan plan = {
            .size = sizeof(plan), .filter = name, .fpr = rate, .capacity = 1000000};
        if (unseen_plan(&plan) == UNSEEN_OK) {
            return rate;
        }
    }
    return 0.1;
}

/* Keys of so few bits cannot promise the rate. */
static void report_key_bits(const struct seen_options *o, const struct unseen_error *error)
{
    message_error("%s", error->text);
    message_hint("%s",
                 typed_with("--key-bits 96%s", o->fpr > 0 && o->fpr < 1e-12 ? " --fpr 1e-12" : ""));
}

/* The filter cannot promise the rate. */
static void report_rate(const struct seen_options *o)
{
    char lowest[24];
    char asked[24];
    chart_value(lowest_rate(o->filter), lowest);
    chart_value(o->fpr > 0 ? o->fpr : UNSEEN_FPR_DEFAULT, asked);
    if (o->hashes) {
        message_error("--hashes %u: for a rate of %s the filter would be too large", o->hashes,
                      asked);
        message_hint("%s", typed_changed("hashes", "--fpr %s", asked));
        return;
    }
    message_error("--filter %s: it promises no rate as low as %s%s", o->filter, asked,
                  o->fpr > 0 ? "" : ", the default");
    message_hint("%s", typed_with("--fpr %s", lowest));
}

static void report_capacity(const struct seen_options *o)
{
    /* A filter that cannot have the default rate needs --fpr, too. */
    const bool needs_rate = o->fpr == 0 && lowest_rate(o->filter) > UNSEEN_FPR_DEFAULT;
    message_error("--filter %s needs --capacity: it does not grow", o->filter);
    message_hint("%s", typed_with("--capacity 1e7%s", needs_rate ? " --fpr 1e-4" : ""));
}

/* Reports a shape that the filter cannot have. */
static void report_shape(const struct seen_options *o, const struct unseen_error *error)
{
    char capacity[24] = "1e6";
    if (o->capacity > 0) {
        snprintf(capacity, sizeof(capacity), "%" PRIu64, o->capacity);
    }
    message_error("%s", error->text);
    message_hint(
        "%s", typed_changed("fpr", "--filter bloom --bits 20 --hashes 10 --capacity %s", capacity));
}

bool filters_report(const struct seen_options *o, const struct unseen_error *error)
{
    if (error->status != UNSEEN_ERR_MISMATCH && (error->setting == UNSEEN_SETTING_BITS_PER_KEY ||
                                                 error->setting == UNSEEN_SETTING_HASHES)) {
        report_shape(o, error);
        return true;
    }
    if (error->status == UNSEEN_ERR_FPR && error->setting == UNSEEN_SETTING_KEY_BITS) {
        report_key_bits(o, error);
        return true;
    }
    if (!o->filter) {
        return false;
    }
    switch (error->status) {
    case UNSEEN_ERR_FPR:
        if (strcmp(o->filter, "compact") == 0) {
            return false;
        }
        report_rate(o);
        return true;
    case UNSEEN_ERR_ARGUMENT:
        if (error->setting != UNSEEN_SETTING_CAPACITY || o->capacity > 0) {
            return false;
        }
        report_capacity(o);
        return true;
    case UNSEEN_ERR_NOMEM:
        if (o->capacity == 0 || (abilities_of(o->filter) & UNSEEN_CAN_GROW)) {
            return false;
        }
        message_error("--filter %s: no memory for %" PRIu64 " keys", o->filter, o->capacity);
        message_hint("for how much each filter takes: unseen plan --capacity %" PRIu64,
                     o->capacity);
        return true;
    default:
        return false;
    }
}

/* ---- Past the capacity ----------------------------------------------------------------------- */

/* Rounds up to two digits: the number is an estimate. */
static uint64_t round_capacity(uint64_t n)
{
    uint64_t unit = 1;
    while (n / unit >= 100) {
        unit *= 10;
    }
    return (n / unit + (n % unit > 0)) * unit;
}

bool filters_is_full(const struct unseen_set *set)
{
    const struct unseen_set_stats s = stores_stats(set);
    return s.capacity > 0 && s.nkeys > s.capacity && s.fpr_estimate > s.fpr_promise;
}

uint64_t filters_report_full(const struct unseen_set *set, uint64_t nnew, uint64_t nseen)
{
    const struct unseen_set_stats s = stores_stats(set);
    if (!filters_is_full(set)) {
        return 0;
    }
    char now[24];
    char promised[24];
    chart_value(s.fpr_estimate, now);
    chart_value(s.fpr_promise, promised);
    message_error("the %s filter has %" PRIu64 " keys and was made for %" PRIu64
                  ": now it takes a new line for a repeat with a probability of %s, not %s",
                  s.filter, s.nkeys, s.capacity, now, promised);
    /* The keys in the set do not say how many there should be: most lines found no room. */
    const uint64_t nbefore = s.nkeys > nnew ? s.nkeys - nnew : 0;
    const uint64_t nlines = nbefore + nnew + nseen;
    return round_capacity(nlines > 2 * s.nkeys ? nlines : 2 * s.nkeys);
}

void filters_hint_rewrite(const struct seen_options *o, const struct unseen_set *set, double fpr)
{
    char capacity[48] = "";
    const uint64_t nkeys = stores_stats(set).nkeys;
    if (!(abilities_of(o->filter) & UNSEEN_CAN_GROW)) {
        snprintf(capacity, sizeof(capacity), " --capacity %" PRIu64,
                 o->capacity > 0 ? o->capacity : round_capacity(2 * nkeys + 1000));
    }
    message_hint("unseen rewrite --filter %s%s%s %s", o->filter, capacity,
                 lowest_rate(o->filter) > fpr ? " --fpr 1e-4" : "", typed_quoted(o->path));
}

bool filters_check_full(const struct seen_options *o, const struct unseen_set *set, uint64_t nnew,
                        uint64_t nseen)
{
    const uint64_t capacity = filters_report_full(set, nnew, nseen);
    if (capacity == 0) {
        return true;
    }
    if (o->path) {
        const char *path = typed_quoted(o->path);
        message_hint("unseen rewrite --capacity %" PRIu64 " %s", capacity, path);
        message_hint(
            "after that, for the lines that were taken for repeats wrongly: unseen recheck "
            "%s%s",
            path, typed_inputs());
    } else {
        message_hint("%s", typed_with("--capacity %" PRIu64, capacity));
        message_hint("with a filter that grows: %s",
                     typed_changed("capacity bits hashes", "--filter compact"));
    }
    return false;
}

/* ---- Help ------------------------------------------------------------------------------------ */

void filters_help(void)
{
    const char *name = NULL;
    printf("What remembers: unseen --filter NAME\n\n");
    for (size_t i = 0; (name = unseen_filter_name(i)); i++) {
        char can[40];
        abilities_put(abilities_of(name), can);
        printf("  %-17s %s\n  %-17s can: %s\n", name, sentence_of(name), "", can);
    }
    printf("\nFilters that cannot grow need --capacity. With more keys they take more and more\n"
           "new lines for seen, and the run ends with an error and status 2.\n"
           "unseen plan --capacity N --fpr RATE compares the sizes and rates of filters.\n");
}
