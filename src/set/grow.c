/* SPDX-License-Identifier: MIT
 *
 * Makes a set of a small set (unseen_small.h). If the small set has layers, they are frozen in
 * front of what follows (set/chain.h). If it has prefixes of keys, a compact filter takes
 * them as keys. */
#include "unseen_small.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "set/chain.h"
#include "set/set.h"
#include "small/small.h"
#include "tags/compact.h"

/* Zeros stand behind a prefix. A filter that took them for bits of the key would lose the key. */
static enum unseen_status add_prefixes(struct unseen__filter *filter, const struct small *small)
{
    const struct parts *parts = &small->layers[0];
    enum unseen_status status = UNSEEN_OK;
    for (size_t run = 0; run < parts_runs(parts); run++) {
        uint64_t numbers[RUN_MAX];
        const unsigned n = parts->start[run];
        (void)unseen__parts_decode(parts, run, numbers);
        for (unsigned i = 0; i < n && status == UNSEEN_OK; i++) {
            const struct unseen_key key = unseen__small_key(small, run, numbers[i]);
            status = unseen__compact_add_prefix(filter, key);
        }
    }
    return status;
}

static bool has_layers(const struct small *small)
{
    return small->form == SMALL_LAYERED || small->form == SMALL_SIZED;
}

/* The options of the new set: those of the caller, with the rate and the kind of the value. */
static enum unseen_status choose_options(const struct unseen_set_options *given,
                                         const struct small *small, const void *value,
                                         struct unseen_set_options *options_out,
                                         struct unseen_error *error)
{
    enum unseen_status status = unseen__set_options(given, options_out, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    struct unseen_small_stats stats = {.size = sizeof(stats)};
    (void)unseen_small_stats(value, &stats);
    options_out->filter = "compact";
    options_out->fpr = stats.fpr_promise;
    if (has_layers(small)) {
        /* A value that was made for 1e-5 says a rate that is a little lower. */
        options_out->filter = "chain";
        options_out->counts = small->counts;
        options_out->fpr = small->code < SMALL_TIGHT_CODE
                               ? fmax(stats.fpr_promise, SMALL_LAYERED_RATE_MIN)
                               : stats.fpr_promise;
    }
    options_out->bits_per_key = 0;
    options_out->hashes = 0;
    if (!options_out->seed) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_SEED,
                                     "a set that goes on from a small one needs the seed by which "
                                     "the keys of the small one were made");
    }
    if (options_out->window > 0) {
        return unseen__error_setting(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN_SETTING_WINDOW,
                                     "a small set has no times: it cannot grow into a set with a "
                                     "window");
    }
    if (!has_layers(small) && options_out->threads > 1) {
        return unseen__error(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN__NO_OFFSET,
                             "a small set with a rate below 1e-5 grows into a set for one thread "
                             "only");
    }
    return UNSEEN_OK;
}

enum unseen_status unseen_small_grow(struct unseen_set **set_out, const void *value,
                                     const struct unseen_set_options *given,
                                     struct unseen_error *error)
{
    struct small small;
    struct unseen_set_options options;
    struct unseen_set *set;
    uint64_t unit = 0;
    unseen__small_read(&small, value);
    enum unseen_status status = choose_options(given, &small, value, &options, error);
    if (status == UNSEEN_OK) {
        unit = options.capacity;
        options.capacity = 0;
        status = unseen_set_create(&set, &options, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    struct unseen__filter *filter = set->shards[0].filter;
    status = has_layers(&small) ? unseen__chain_adopt(filter, value, unit)
                                : add_prefixes(filter, &small);
    if (status != UNSEEN_OK) {
        unseen_set_free(set);
        return unseen__error_plain(error, status);
    }
    *set_out = set;
    return UNSEEN_OK;
}
