/* SPDX-License-Identifier: MIT
 *
 * The keys of each store go to a set in memory, and those that are new to it are counted. The set
 * takes keys as they are, so it needs neither the seed nor the profile of the stores. */
#include "commands/count_stores.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands/shared_keys.h"
#include "print/message.h"
#include "print/report.h"
#include "print/typed.h"
#include "seen/beyond.h"
#include "seen/stores.h"

struct count_stores {
    const struct options *o;
    struct unseen_set *set;
    struct asked asked;        /* the set; */
    struct beyond beyond;      /* with --memory it may be larger than that */
    struct shared_keys shared; /* with --both */
    struct report report;      /* lines: the keys; new: the distinct ones */
    size_t file;               /* the index of the store at hand */
    uint64_t nkeys;            /* of all stores so far */
    uint64_t nbytes;           /* of its log, for the keys that were taken */
    unsigned key_bits;         /* of its keys */
    char profile[256];         /* of the stores */
    enum unseen_status status;
};

bool count_stores_are_meant(const struct options *o)
{
    for (size_t i = 0; i < o->input.nfiles; i++) {
        if (stores_type_of(o->input.files[i]) != STORES_NONE) {
            return true;
        }
    }
    return false;
}

static bool take_keys(void *context, const struct unseen_key *keys, size_t n)
{
    struct count_stores *c = context;
    for (size_t done = 0; done < n && c->status == UNSEEN_OK;) {
        const size_t count = n - done < SHARED_KEYS_MAX ? n - done : SHARED_KEYS_MAX;
        c->status = c->o->group.both
                        ? shared_keys_take(&c->shared, c->file, keys + done, count)
                        : beyond_count(&c->beyond, &c->asked, keys + done, count, &c->report.nnew);
        done += count;
    }
    c->nkeys += n;
    c->nbytes += n * c->key_bits / 8;
    c->report.nbytes += n * c->key_bits / 8;
    report_at(c->o->input.files, c->o->input.nfiles, c->file, c->nbytes);
    report_poll();
    return c->status == UNSEEN_OK;
}

static bool report_set(enum unseen_status status)
{
    if (status == UNSEEN_ERR_MISMATCH) {
        return false; /* reported */
    }
    message_error("cannot count more keys: %s", unseen_status_string(status));
    message_hint("to take less memory: %s", typed_with("--fpr 1e-6"));
    return false;
}

/* Two stores have the same key for a line only if they have the same profile, seed and key bits. */
static bool makes_same_keys(struct unseen_store *store, const char *path,
                            struct unseen_store *first, const char *first_path)
{
    const struct unseen_store_info a = stores_info(first);
    const struct unseen_store_info b = stores_info(store);
    const char *first_profile = unseen_set_profile(unseen_store_set(first));
    const char *profile = unseen_set_profile(unseen_store_set(store));
    static const char hint[] =
        "only stores made with the same -p and --seed-file can be counted together";
    if (strcmp(profile, first_profile) != 0) {
        message_error("%s has the profile %s, %s has %s", path, profile, first_path, first_profile);
        message_hint("%s", hint);
    } else if (b.seed_id != a.seed_id) {
        message_error("%s has the seed id %016" PRIx64 ", %s has %016" PRIx64, path, b.seed_id,
                      first_path, a.seed_id);
        message_hint("%s", hint);
    } else if (b.key_bits != a.key_bits) {
        message_error("%s has keys of %u bits, others of %u", path, b.key_bits, a.key_bits);
        const bool is_longer = a.key_bits < b.key_bits;
        const unsigned fewer = is_longer ? a.key_bits : b.key_bits;
        message_hint("unseen rewrite --key-bits %u%s %s && %s", fewer,
                     stores_rate_for(is_longer ? store : first, fewer),
                     typed_quoted(is_longer ? path : first_path), typed_line());
    } else {
        return true;
    }
    return false;
}

static bool add_store(struct count_stores *c, const struct options *o, struct unseen_store *store)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    c->nbytes = 0;
    c->key_bits = stores_info(store).key_bits;
    error.status = unseen_store_keys(store, take_keys, c, &error);
    if (error.status != UNSEEN_OK) {
        stores_report(o->input.files[c->file], &o->seen, &error);
    } else if (c->status != UNSEEN_OK) {
        (void)report_set(c->status);
    }
    return error.status == UNSEEN_OK && c->status == UNSEEN_OK;
}

/* The first store stays open, as the others are compared with it. */
static bool add_stores(struct count_stores *c, const struct options *o, enum unseen_cpu cpu)
{
    const char *const *paths = o->input.files;
    struct unseen_store *first = NULL;
    if (!stores_open_for_keys(&first, paths[0], &o->seen, cpu)) {
        return false;
    }
    snprintf(c->profile, sizeof(c->profile), "%s", unseen_set_profile(unseen_store_set(first)));
    bool counted = add_store(c, o, first);
    for (c->file = 1; c->file < o->input.nfiles && counted; c->file++) {
        struct unseen_store *store = NULL;
        counted = stores_open_for_keys(&store, paths[c->file], &o->seen, cpu);
        if (counted) {
            counted =
                makes_same_keys(store, paths[c->file], first, paths[0]) && add_store(c, o, store);
            (void)unseen_store_close(store, NULL); /* was only read */
        }
    }
    (void)unseen_store_close(first, NULL); /* was only read */
    return counted;
}

/* Reports a file that is not a store. */
static void report_other(const struct options *o, const char *path, enum stores_type type)
{
    const char *quoted = typed_quoted(path);
    switch (type) {
    case STORES_LIST:
        message_error("%s is a list, which does not keep its entries", path);
        message_hint("for how many it has: unseen info %s", quoted);
        break;
    case STORES_FOREIGN:
        message_error("%s is a foreign filter, which has no keys", path);
        message_hint("for how many it was made of: unseen info %s", quoted);
        break;
    case STORES_BITMAP:
        message_error("%s is a bitmap of integers", path);
        message_hint(o->group.both ? "unseen bits and NEW%s" : "unseen bits count %s",
                     o->group.both ? typed_inputs() : quoted);
        break;
    case STORES_IMAGE:
        message_error("%s is the image of a store, which has no keys", path);
        message_hint("name the store");
        break;
    default:
        message_error("%s is not a store, but others are", path);
        message_hint("to make a store of it: unseen add NEW.unseen %s", quoted);
        break;
    }
}

static bool check(const struct options *o)
{
    if (o->key.text || o->group.by || o->profile.name || o->profile.nrules > 0) {
        message_error("a store holds keys of whole lines under its own profile: -k, --by, -p and "
                      "--rule have nothing to choose");
        message_hint("%s", typed_without("key by profile rule drop-params only-params"));
        return false;
    }
    for (size_t i = 0; i < o->input.nfiles; i++) {
        const enum stores_type type = stores_type_of(o->input.files[i]);
        if (type != STORES_STORE) {
            report_other(o, o->input.files[i], type);
            return false;
        }
    }
    return true;
}

bool count_stores(const struct options *o, enum unseen_cpu cpu, uint64_t *n_out)
{
    struct count_stores c = {.o = o, .status = UNSEEN_OK};
    const struct unseen_set_options options = {
        .size = sizeof(options), .profile = "none", .fpr = o->seen.fpr, .cpu = cpu};
    if (!check(o) || (o->seen.memory > 0 && !beyond_check(o->seen.memory))) {
        return false;
    }
    c.shared.options = options;
    const enum unseen_status status = unseen_set_create(&c.set, &options, NULL);
    beyond_count_start(&c.beyond, &c.asked, c.set, o->seen.memory, &c.report);
    report_start(&c.report, &o->report, true);
    const bool counted = (status == UNSEEN_OK || report_set(status)) && add_stores(&c, o, cpu) &&
                         beyond_count_end(&c.beyond, &c.asked, &c.report.nnew);
    if (o->group.both) {
        c.report.nnew = shared_keys_count(&c.shared, o->input.nfiles);
    }
    c.report.nseen = c.nkeys - c.report.nnew;
    const struct unseen_set_stats stats = stores_stats(c.shared.now ? c.shared.now : c.set);
    report_end(&c.report, counted ? &stats : NULL, c.profile);
    *n_out = c.report.nnew;
    shared_keys_release(&c.shared);
    beyond_release(&c.beyond);
    unseen_set_free(c.set);
    return counted;
}
