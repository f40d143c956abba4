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

bool filters_check_name(const char *name, const char *again, const char *files)
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
        message_hint("%s --filter %s%s", again, n.best, files);
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
static void report_key_bits(const struct seen_options *o, const struct unseen_error *error,
                            const char *again, const char *files)
{
    char rate[32] = "";
    if (o->fpr > 0) {
        (void)snprintf(rate, sizeof(rate), " --fpr %g", o->fpr);
    }
    message_error("%s", error->text);
    message_hint("%s%s%s%s --key-bits 96%s", again, o->filter ? " --filter " : "",
                 o->filter ? o->filter : "", rate, files);
}

/* The filter cannot promise the rate. */
static void report_rate(const struct seen_options *o, const char *again, const char *files)
{
    char lowest[24];
    char asked[24];
    char capacity[48] = "";
    if (o->capacity > 0) {
        snprintf(capacity, sizeof(capacity), " --capacity %" PRIu64, o->capacity);
    }
    chart_value(lowest_rate(o->filter), lowest);
    chart_value(o->fpr > 0 ? o->fpr : UNSEEN_FPR_DEFAULT, asked);
    if (o->hashes) {
        message_error("--hashes %u: for a rate of %s the filter would be too large", o->hashes,
                      asked);
        message_hint("%s --filter %s --fpr %s%s%s", again, o->filter, asked, capacity, files);
        return;
    }
    message_error("--filter %s: it promises no rate as low as %s%s", o->filter, asked,
                  o->fpr > 0 ? "" : ", the default");
    message_hint("%s --filter %s --fpr %s%s%s", again, o->filter, lowest, capacity, files);
}

static void report_capacity(const struct seen_options *o, const char *again, const char *files)
{
    /* A filter that cannot have the default rate needs --fpr, too. */
    const bool needs_rate = o->fpr == 0 && lowest_rate(o->filter) > UNSEEN_FPR_DEFAULT;
    char shape[FILTERS_SHAPE_CAP];
    filters_shape(o, shape);
    message_error("--filter %s needs --capacity: it does not grow", o->filter);
    message_hint("%s --filter %s%s --capacity 1e7%s%s", again, o->filter, shape,
                 needs_rate ? " --fpr 1e-4" : "", files);
}

/* Reports a shape that the filter cannot have. */
static void report_shape(const struct seen_options *o, const struct unseen_error *error,
                         const char *again, const char *files)
{
    char capacity[24] = "1e6";
    if (o->capacity > 0) {
        snprintf(capacity, sizeof(capacity), "%" PRIu64, o->capacity);
    }
    message_error("%s", error->text);
    message_hint("%s --filter bloom --bits 20 --hashes 10 --capacity %s%s", again, capacity, files);
}

bool filters_report(const struct seen_options *o, const struct unseen_error *error,
                    const char *again, const char *files)
{
    if (error->status != UNSEEN_ERR_MISMATCH && (error->setting == UNSEEN_SETTING_BITS_PER_KEY ||
                                                 error->setting == UNSEEN_SETTING_HASHES)) {
        report_shape(o, error, again, files);
        return true;
    }
    if (error->status == UNSEEN_ERR_FPR && error->setting == UNSEEN_SETTING_KEY_BITS) {
        report_key_bits(o, error, again, files);
        return true;
    }
    if (!o->filter) {
        return false;
    }
    switch (error->status) {
    case UNSEEN_ERR_NAME:
        return error->setting == UNSEEN_SETTING_FILTER &&
               !filters_check_name(o->filter, again, files);
    case UNSEEN_ERR_FPR:
        if (strcmp(o->filter, "compact") == 0) {
            return false;
        }
        report_rate(o, again, files);
        return true;
    case UNSEEN_ERR_ARGUMENT:
        if (error->setting != UNSEEN_SETTING_CAPACITY || o->capacity > 0) {
            return false;
        }
        report_capacity(o, again, files);
        return true;
    case UNSEEN_ERR_NOMEM:
        if (o->capacity == 0 || (abilities_of(o->filter) & UNSEEN_CAN_GROW)) {
            return false;
        }
        message_error("--filter %s: no memory for %" PRIu64 " keys", o->filter, o->capacity);
        message_hint("unseen plan --capacity %" PRIu64 " says how much each filter takes",
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
                  ": it takes a share of %s of the new lines for repeats, not %s",
                  s.filter, s.nkeys, s.capacity, now, promised);
    /* The keys in the set do not say how many there should be: most lines found no room. */
    const uint64_t nbefore = s.nkeys > nnew ? s.nkeys - nnew : 0;
    const uint64_t nlines = nbefore + nnew + nseen;
    return round_capacity(nlines > 2 * s.nkeys ? nlines : 2 * s.nkeys);
}

bool filters_check_full(const struct seen_options *o, const struct unseen_set *set, uint64_t nnew,
                        uint64_t nseen)
{
    char shape[FILTERS_SHAPE_CAP];
    const uint64_t capacity = filters_report_full(set, nnew, nseen);
    if (capacity == 0) {
        return true;
    }
    if (o->path) {
        message_hint("unseen rewrite --capacity %" PRIu64 " %s", capacity, o->path);
        message_hint("after that, unseen recheck %s FILE prints the lines that were taken for "
                     "repeats wrongly",
                     o->path);
    } else {
        filters_shape(o, shape);
        message_hint("unseen --filter %s%s --capacity %" PRIu64
                     ", or --filter compact, which grows",
                     stores_stats(set).filter, shape, capacity);
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
