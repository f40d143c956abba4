/* SPDX-License-Identifier: MIT
 *
 * Is a store intact, and making it so. */
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sized.h"
#include "store/rewrite.h"

/* ---- the log ---- */

static void report(const struct unseen__reading *r, const struct unseen_error *damage)
{
    if (r->report) {
        r->report(r->context, damage);
    }
}

static bool count(void *context, const struct unseen_key *keys, size_t n, bool removed)
{
    struct unseen_store_health *health = context;
    (void)keys;
    *(removed ? &health->nremoved : &health->nadded) += n;
    return true;
}

static void note_damage(struct unseen__reading *r, uint64_t offset, uint64_t end)
{
    struct unseen_error damage;
    (void)unseen__damaged(&damage, r->log, offset, end);
    r->damaged_offset = offset;
    r->damaged_end = end;
    r->health.ndamages++;
    r->health.lost_bytes += end - offset;
    report(r, &damage);
}

enum unseen_status unseen__read_all(struct unseen__reading *r, struct unseen_error *error)
{
    struct unseen__scan scan;
    enum unseen_status status = unseen__scan_init(&scan, r->log, UNSEEN__RECORDS_OFFSET, 0, error);
    while (status == UNSEEN_OK) {
        enum unseen__scan_state state;
        status = unseen__scan_next(&scan, &state, error);
        if (status != UNSEEN_OK || state == UNSEEN__SCAN_END) {
            break;
        }
        if (state == UNSEEN__SCAN_TORN) {
            r->health.torn_bytes = scan.size - scan.offset;
            r->torn_offset = scan.offset;
            break;
        }
        if (state == UNSEEN__SCAN_DAMAGED) {
            note_damage(r, scan.offset, scan.next);
            unseen__scan_skip(&scan);
            continue;
        }
        r->health.nrecords++;
        unseen__output_follow(&r->output, &scan.record, scan.payload);
        (void)unseen__record_each(&scan.record, scan.payload, scan.bits, r->log->header.key_bits,
                                  count, &r->health);
    }
    unseen__scan_release(&scan);
    return status;
}

/* ---- the image ---- */

struct comparison {
    const struct unseen_set *set;
    uint64_t nlive;
    uint64_t nmissing;
};

static bool compare(void *context, const struct unseen_key *keys, size_t n)
{
    struct comparison *c = context;
    uint8_t verdicts[512];
    for (size_t done = 0; done < n;) {
        const size_t slice = n - done < sizeof(verdicts) ? n - done : sizeof(verdicts);
        (void)unseen_set_contains_keys(c->set, keys + done, slice, verdicts, NULL);
        for (size_t i = 0; i < slice; i++) {
            c->nmissing += verdicts[i] == UNSEEN_NEW;
        }
        done += slice;
    }
    c->nlive += n;
    return true;
}

/* The image must hold what the log says up to the place that it covers, and no more. */
static enum unseen_status compare_set(const struct unseen_store *store,
                                      const struct unseen__image *image,
                                      const struct unseen_set *set, struct unseen_error *damage,
                                      bool *differs_out, struct unseen_error *error)
{
    struct comparison c = {.set = set};
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    if (store->log.header.read_features & UNSEEN__FEATURE_NO_LOG) {
        return UNSEEN_OK;
    }
    const enum unseen_status status =
        unseen__live_each(&store->log, image->header.log_end, true, compare, &c, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    (void)unseen_set_stats(set, &stats); /* fails for a wrong size only */
    *differs_out = c.nmissing > 0 || stats.nkeys > c.nlive;
    if (*differs_out) {
        (void)unseen__error(damage, UNSEEN_ERR_CORRUPT, UNSEEN__NO_OFFSET,
                            "%s has %llu keys, of the %llu of the log it lacks %llu", image->path,
                            (unsigned long long)stats.nkeys, (unsigned long long)c.nlive,
                            (unsigned long long)c.nmissing);
    }
    return UNSEEN_OK;
}

static enum unseen_status compare_image(const struct unseen_store *store,
                                        struct unseen__image *image, struct unseen_error *damage,
                                        bool *differs_out, struct unseen_error *error)
{
    struct unseen_set *set = NULL;
    enum unseen_status status = unseen__image_load(store, image, &set, damage);
    if (status == UNSEEN_ERR_NOMEM || status == UNSEEN_ERR_IO) {
        if (error) {
            *error = *damage;
        }
        return status;
    }
    *differs_out = status != UNSEEN_OK;
    if (status == UNSEEN_OK) {
        status = compare_set(store, image, set, damage, differs_out, error);
        unseen_set_free(set);
        return status;
    }
    return UNSEEN_OK;
}

/* *is_damaged_out: the image is of no use, or (*log_is_short_out) the log less than the image knows;
 * it has been reported. */
static enum unseen_status check_image(struct unseen_store *store, struct unseen__reading *r,
                                      bool *is_damaged_out, bool *log_is_short_out,
                                      struct unseen_error *error)
{
    struct unseen__image image;
    struct unseen_error damage;
    const bool no_log = store->log.header.read_features & UNSEEN__FEATURE_NO_LOG;
    struct unseen__output output = {0};
    enum unseen_status status =
        unseen__image_find(store, &image, &output, log_is_short_out, &damage);
    *is_damaged_out = status == UNSEEN_ERR_CORRUPT || status == UNSEEN_ERR_VERSION ||
                      status == UNSEEN_ERR_FOREIGN;
    if (status == UNSEEN_OK) {
        if (r->health.torn_bytes > 0 && r->torn_offset < image.header.log_end) {
            /* What an image covers was a record once, not an unfinished commit. */
            note_damage(r, r->torn_offset, r->torn_offset + r->health.torn_bytes);
            r->health.torn_bytes = 0;
        }
        status = compare_image(store, &image, &damage, is_damaged_out, error);
        unseen__image_release(&image);
    } else if (status == UNSEEN_ERR_MISSING) {
        /* The image was there before a byte of the mark was written. */
        *is_damaged_out = no_log && (r->health.nrecords > 0 || r->health.torn_bytes > 0 ||
                                     r->health.lost_bytes > 0);
        (void)unseen__error(&damage, UNSEEN_ERR_CORRUPT, UNSEEN__NO_OFFSET,
                            "%s has no log, and its image is gone", store->log.path);
        status = UNSEEN_OK;
    } else if (!*is_damaged_out && error) {
        *error = damage;
    }
    if (*is_damaged_out) {
        r->health.ndamages++;
        report(r, &damage);
        status = UNSEEN_OK;
    }
    return status;
}

/* ---- both ---- */

struct look {
    struct unseen_store store; /* its log and URL identity only */
    struct unseen__reading reading;
    bool image_is_damaged;
    bool log_is_short;
};

static void look_release(struct look *look)
{
    unseen_url_free(look->store.url);
    unseen__log_release(&look->store.log);
}

static enum unseen_status look_at(struct look *look, const char *path, bool writable,
                                  struct unseen_error *error)
{
    struct unseen_store *store = &look->store;
    store->allocator = unseen__allocator(NULL);
    enum unseen_status status =
        unseen__log_open(&store->log, path, writable, &store->allocator, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    look->reading.log = &store->log;
    status = unseen__store_url_make(store, error);
    if (status == UNSEEN_OK && store->log.header_damaged) {
        struct unseen_error damage;
        (void)unseen__error(&damage, UNSEEN_ERR_CORRUPT, 0, "one header of %s is damaged", path);
        (void)unseen__check_length(&store->log, &damage);
        look->reading.health.ndamages++;
        report(&look->reading, &damage);
    }
    if (status == UNSEEN_OK) {
        status = unseen__read_all(&look->reading, error);
    }
    if (status == UNSEEN_OK) {
        status =
            check_image(store, &look->reading, &look->image_is_damaged, &look->log_is_short, error);
    }
    if (status != UNSEEN_OK) {
        look_release(look);
    }
    return status;
}

/* Checked before anything is done. */
static enum unseen_status check_health(const struct unseen_store_health *health, const char *path,
                                       struct unseen_error *error)
{
    struct unseen_store_health known = {.size = sizeof(known)};
    return unseen__error_prefix(
        error, unseen__sized_take(&known, sizeof(known), health, "unseen_store_health", error),
        path);
}

static void give_health(const struct look *look, struct unseen_store_health *health_out)
{
    if (health_out) {
        (void)unseen__sized_give(health_out, &look->reading.health, sizeof(look->reading.health));
    }
}

enum unseen_status unseen_store_verify(const char *path, struct unseen_store_health *health_out,
                                       void (*report_damage)(void *context,
                                                             const struct unseen_error *damage),
                                       void *context, struct unseen_error *error)
{
    struct look look = {.reading = {.report = report_damage, .context = context}};
    enum unseen_status status = check_health(health_out, path, error);
    if (status == UNSEEN_OK) {
        status = look_at(&look, path, false, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    give_health(&look, health_out);
    if (look.reading.health.ndamages > 0) {
        status = unseen__error(error, UNSEEN_ERR_CORRUPT, UNSEEN__NO_OFFSET, "%s is damaged", path);
    }
    look_release(&look);
    return status;
}

enum unseen_status unseen_store_repair(const char *path, struct unseen_store_health *health_out,
                                       void (*report_damage)(void *context,
                                                             const struct unseen_error *damage),
                                       void *context, struct unseen_error *error)
{
    struct look look = {.reading = {.report = report_damage, .context = context}};
    enum unseen_status status = check_health(health_out, path, error);
    if (status == UNSEEN_OK) {
        status = look_at(&look, path, true, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    const struct unseen__log *log = &look.store.log;
    const bool no_log = log->header.read_features & UNSEEN__FEATURE_NO_LOG;
    struct unseen__log_header header = log->header;
    if (no_log && look.image_is_damaged) {
        status = unseen__error(error, UNSEEN_ERR_CORRUPT, UNSEEN__NO_OFFSET,
                               "%s has no log: what its image held cannot be made anew", path);
    } else if (look.reading.damaged_end > 0 || look.log_is_short || log->cut_short) {
        status = unseen__error_status(error, unseen__log_new_id(header.id), path);
        if (status == UNSEEN_OK) {
            status = unseen__log_rewrite(log, &header, &look.reading.output, true, error);
        }
        look.reading.health.is_rewritten = true;
    } else if (look.image_is_damaged) {
        status = unseen__image_remove(log, error);
    }
    if (status == UNSEEN_OK) {
        give_health(&look, health_out);
    }
    look_release(&look);
    return status;
}
