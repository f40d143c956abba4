/* SPDX-License-Identifier: MIT
 *
 * Verifies and repairs a store: reads all of the log and the image, compares them, and replaces the
 * file that is damaged. */
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sized.h"
#include "set/set.h"
#include "store/rewrite.h"

enum {
    TRIES = 3 /* to verify a store that is written meanwhile */
};

/* ---- the log ---- */

static void report_damage(const struct unseen__reading *r, const struct unseen_error *damage)
{
    if (r->report) {
        r->report(r->context, damage);
    }
}

static bool count_changes(void *context, const struct unseen_key *keys, size_t n,
                          enum unseen__change change, uint64_t time)
{
    struct unseen__reading *r = context;
    (void)keys;
    (void)time;
    *(change == UNSEEN__ADDED     ? &r->health.nadded
      : change == UNSEEN__REMOVED ? &r->health.nremoved
                                  : &r->nallowed) += n;
    return true;
}

/* No byte is lost: a new log gets the record with a time that fits. */
static void note_time(struct unseen__reading *r, const struct unseen__scan *scan)
{
    struct unseen_error damage;
    (void)unseen__goes_back(&damage, scan);
    r->damaged_offset = scan->record.offset;
    r->damaged_end = scan->offset;
    r->health.ndamages++;
    report_damage(r, &damage);
}

static void note_damage(struct unseen__reading *r, uint64_t offset, uint64_t end)
{
    struct unseen_error damage;
    (void)unseen__damaged(&damage, r->log, offset, end);
    r->damaged_offset = offset;
    r->damaged_end = end;
    r->health.ndamages++;
    r->health.lost_bytes += end - offset;
    report_damage(r, &damage);
}

/* The head is moved only past keys that have left, and a later record says so. */
static void check_head(struct unseen__reading *r)
{
    const struct unseen__log_head *head = &r->log->header.head;
    struct unseen_error damage;
    if (head->offset == UNSEEN__RECORDS_OFFSET ||
        head->time <= unseen__horizon(r->log->header.window, r->record_time)) {
        return;
    }
    (void)unseen__error(&damage, UNSEEN_ERR_CORRUPT, head->offset,
                        "%s is damaged: it begins at byte %llu, behind keys that have not left",
                        r->log->path, (unsigned long long)head->offset);
    r->damaged_offset = UNSEEN__RECORDS_OFFSET;
    r->damaged_end = head->offset;
    r->health.ndamages++;
    report_damage(r, &damage);
}

/* Where times go back, one of them is wrong. Then the latest time counts that a record and the one
 * before or behind it have reached. */
static void follow_time(struct unseen__reading *r, uint64_t time, bool goes_back)
{
    const uint64_t both = time < r->record_time ? time : r->record_time;
    r->agreed_time = both > r->agreed_time ? both : r->agreed_time;
    r->goes_back = r->goes_back || goes_back;
    r->record_time = time;
    r->last_time = r->goes_back ? r->agreed_time : time;
}

enum unseen_status unseen__read_all(struct unseen__reading *r, struct unseen_error *error)
{
    struct unseen__scan scan;
    const struct unseen__log_head *head = &r->log->header.head;
    enum unseen_status status = unseen__output_load(r->log, head, &r->output, error);
    if (status == UNSEEN_ERR_CORRUPT) {
        note_damage(r, head->output_offset, head->offset);
        status = UNSEEN_OK;
    }
    if (status == UNSEEN_OK) {
        status = unseen__scan_init(&scan, r->log, head->offset, head->number, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    scan.time = head->time;
    r->last_time = head->time;
    r->record_time = head->time;
    r->agreed_time = head->time;
    r->file = scan.file;
    while (status == UNSEEN_OK) {
        enum unseen__scan_state state;
        status = unseen__scan_next(&scan, &state, error);
        r->end = scan.offset;
        if (status != UNSEEN_OK || state == UNSEEN__SCAN_END) {
            break;
        }
        if (state == UNSEEN__SCAN_TORN) {
            r->health.torn_bytes = scan.size - scan.offset;
            break;
        }
        if (state == UNSEEN__SCAN_DAMAGED) {
            note_damage(r, scan.offset, scan.next);
            unseen__scan_skip(&scan);
            continue;
        }
        if (scan.goes_back) {
            note_time(r, &scan);
        }
        r->has_records = true;
        r->health.nrecords += scan.record.n > 0 || scan.record.output_len != UNSEEN__NO_OUTPUT;
        unseen__output_follow(&r->output, &scan.record, scan.payload);
        follow_time(r, scan.record.time, scan.goes_back);
        r->first_time = r->first_time ? r->first_time : scan.record.time;
        (void)unseen__record_each(&scan, count_changes, r);
    }
    unseen__scan_release(&scan);
    return status;
}

enum unseen_status unseen__read_intact(struct unseen__reading *r, struct unseen_error *error)
{
    const struct unseen__log *log = r->log;
    const enum unseen_status status = unseen__read_all(r, error);
    if (status != UNSEEN_OK || (r->health.ndamages == 0 && r->end >= log->end)) {
        return status;
    }
    /* An end that is missing is not an unfinished commit: these records were read or written. */
    return r->health.ndamages > 0 ? unseen__damaged(error, log, r->damaged_offset, r->damaged_end)
                                  : unseen__damaged(error, log, r->end, log->end);
}

/* ---- the allowlist ---- */

/* Looks for the keys that the log allows: *allowed_out are all, and search->surviving are those
 * that were added since. The caller releases both. */
static enum unseen_status search_allowed(const struct unseen__log *log, uint64_t end,
                                         uint64_t horizon, struct unseen__stash *allowed_out,
                                         struct unseen__search *search, struct unseen_error *error)
{
    enum unseen_status status =
        unseen__allowed_find(log, end, false, log->header.key_bits, allowed_out, error);
    for (size_t i = 0; status == UNSEEN_OK && i < allowed_out->nkeys; i++) {
        status = unseen__error_status(error, unseen__search_want(search, allowed_out->keys[i]),
                                      log->path);
    }
    return status == UNSEEN_OK ? unseen__search_log(search, log, end, horizon, error) : status;
}

/* No writer allows a key that the log has. Such a record would make it NEW. */
static enum unseen_status check_allowed(struct unseen__reading *r, struct unseen_error *error)
{
    struct unseen__stash allowed = {0};
    struct unseen__search search = {.allocator = r->log->allocator};
    if (r->nallowed == 0 || r->health.lost_bytes > 0) {
        return UNSEEN_OK;
    }
    const enum unseen_status status =
        search_allowed(r->log, r->end, unseen__horizon(r->log->header.window, r->last_time),
                       &allowed, &search, error);
    r->allows_held = status == UNSEEN_OK && search.nheld > 0;
    if (r->allows_held) {
        struct unseen_error damage;
        (void)unseen__error(&damage, UNSEEN_ERR_CORRUPT, UNSEEN__NO_OFFSET,
                            "%s is damaged: it allows %llu lines that it has", r->log->path,
                            (unsigned long long)search.nheld);
        r->health.ndamages++;
        report_damage(r, &damage);
    }
    unseen__search_release(&search);
    unseen__stash_release(&allowed, &r->log->allocator);
    return status;
}

/* Whether the set of an image has other allowed keys than the records that it covers. */
static enum unseen_status compare_allowed(const struct unseen__log *log, uint64_t end,
                                          uint64_t horizon, const struct unseen_set *set,
                                          bool *differs_out, struct unseen_error *error)
{
    struct unseen__stash allowed = {0};
    struct unseen__search search = {.allocator = log->allocator};
    const enum unseen_status status = search_allowed(log, end, horizon, &allowed, &search, error);
    *differs_out = status == UNSEEN_OK && allowed.nkeys != (set->allowed ? set->allowed->nkeys : 0);
    for (size_t i = 0; status == UNSEEN_OK && !*differs_out && i < allowed.nkeys; i++) {
        const bool was_added = unseen__stash_contains(&search.surviving, allowed.keys[i]);
        *differs_out = unseen__stash_count(set->allowed, allowed.keys[i]) !=
                       (was_added ? UNSEEN__ALLOWED_ADDED : UNSEEN__ALLOWED_ABSENT);
    }
    unseen__search_release(&search);
    unseen__stash_release(&allowed, &log->allocator);
    return status;
}

/* ---- the image ---- */

/* Says that the store is not what was read before. Returns BUSY. */
static enum unseen_status report_busy(const struct unseen_store *store, struct unseen_error *error)
{
    return unseen__error(error, UNSEEN_ERR_BUSY, UNSEEN__NO_OFFSET,
                         "%s was changed while it was read: ask again when it is not written",
                         store->log.path);
}

struct comparison {
    struct unseen_set *set;             /* of the image; NULL: it has not been loaded */
    const struct unseen_set *reference; /* NULL, or a set that was made from the log */
    struct unseen__range range;         /* of the keys that are compared */
    uint64_t nsurviving;
    uint64_t nmissing;
    uint64_t nreplayed; /* keys of the references */
};

static bool find_missing(void *context, const struct unseen_key *keys, size_t n, uint64_t time)
{
    (void)time;
    struct comparison *c = context;
    struct unseen_key chosen[UNSEEN__UNPACK];
    uint8_t verdicts[UNSEEN__UNPACK];
    uint8_t wanted[UNSEEN__UNPACK];
    const size_t nchosen = unseen__range_choose(&c->range, keys, n, chosen);
    if (nchosen == 0) {
        return true;
    }
    memset(wanted, UNSEEN_SEEN, sizeof(wanted));
    (void)unseen_set_contains_keys(c->set, chosen, nchosen, verdicts, NULL);
    if (c->reference) {
        (void)unseen_set_contains_keys(c->reference, chosen, nchosen, wanted, NULL);
    }
    for (size_t i = 0; i < nchosen; i++) {
        c->nmissing += verdicts[i] == UNSEEN_NEW && wanted[i] == UNSEEN_SEEN;
    }
    c->nsurviving += nchosen;
    return true;
}

/* Whether a set for the capacity of the log takes far more memory than the set of its image. Who
 * writes a store makes a set for this capacity, and the image has the same memory. A header that
 * was forged may ask for all memory of the machine. */
static bool asks_for_too_much(const struct unseen__log_header *header, const struct unseen_set *set)
{
    const uint64_t always = UINT64_C(1) << 26;
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    struct unseen_plan plan = {.size = sizeof(plan),
                               .filter = header->filter,
                               .capacity = header->capacity,
                               .bits_per_key = header->bits_per_key,
                               .hashes = header->hashes};
    plan.fpr = plan.bits_per_key > 0 ? 0 : header->fpr;
    if (header->capacity == 0) {
        return false;
    }
    return unseen_plan(&plan) != UNSEEN_OK || unseen_set_stats(set, &stats) != UNSEEN_OK ||
           plan.bits / 8 > always + 2 * stats.memory;
}

/* Compares the keys of a range. With replays, a set is made of them from the same records: what
 * this set lacks is not missing. */
static enum unseen_status compare_range(const struct unseen_store *store,
                                        const struct unseen__image_header *image, bool replays,
                                        struct comparison *c, struct unseen_error *error)
{
    const struct unseen__log_head *head = &store->log.header.head;
    struct unseen_store replayed = {.allocator = store->allocator,
                                    .log = store->log,
                                    .url = store->url,
                                    .cpu = store->cpu,
                                    .sweep = {.memory = store->sweep.memory, .replayed = c->range}};
    enum unseen_status status = UNSEEN_OK;
    if (replays) {
        status = unseen__store_set_make(&replayed, image->log_end, image->log_end, true, error);
    }
    if (replays && status == UNSEEN_OK) {
        replayed.leaving.horizon = image->horizon;
        replayed.log.time = head->time;
        status = unseen__replay(&replayed, head->offset, head->number, image->log_end, error);
        c->reference = replayed.set;
        c->nreplayed += unseen__set_nkeys(replayed.set);
    }
    if (status == UNSEEN_OK) {
        status = unseen__surviving_each(&store->log, image->log_end, image->horizon, !replays,
                                        find_missing, c, error);
    }
    c->reference = NULL;
    unseen__leaving_release(&replayed);
    unseen_set_free(replayed.set);
    return status;
}

/* How many parts are compared at a time: one half of the memory is for their pages, or a quarter,
 * and a quarter for their keys from the log. */
static uint64_t parts_at_once(const struct unseen_store *store,
                              const struct unseen__image_header *image, bool replays,
                              uint64_t nparts)
{
    const double room = (double)store->sweep.memory / (replays ? 4 : 2);
    const double n = (double)nparts * room / ((double)image->npages * UNSEEN__IMAGE_PAGE);
    return n >= (double)nparts ? nparts : n < 1 ? 1 : (uint64_t)n;
}

/* Reads the pages of some parts, or gives their memory to the next ones. */
static enum unseen_status each_part(const struct comparison *c,
                                    enum unseen_status (*take)(const struct unseen__part *part))
{
    enum unseen_status status = UNSEEN_OK;
    for (uint64_t i = c->range.first; i < c->range.end && status == UNSEEN_OK; i++) {
        const struct unseen__part part = {c->set, c->range.bits, i};
        status = take(&part);
    }
    return status;
}

/* Compares all keys, and reads all pages. *is_read_out: false if a page cannot be read, and the
 * status says why. */
static enum unseen_status compare_keys(const struct unseen_store *store,
                                       const struct unseen__image_header *image, bool replays,
                                       struct comparison *c, bool *is_read_out,
                                       struct unseen_error *error)
{
    const bool no_log = store->log.header.read_features & UNSEEN__FEATURE_NO_LOG;
    const bool in_parts = store->sweep.in_parts;
    const unsigned bits = in_parts ? unseen_set_part_bits(c->set) : 0;
    c->range.bits = bits < UNSEEN__PART_BITS_MAX ? bits : UNSEEN__PART_BITS_MAX;
    const uint64_t nparts = (uint64_t)1 << c->range.bits;
    const uint64_t step = bits > 0 ? parts_at_once(store, image, replays, nparts) : nparts;
    enum unseen_status status = UNSEEN_OK;
    c->nsurviving = 0;
    c->nmissing = 0;
    for (uint64_t first = 0; first < nparts && status == UNSEEN_OK; first = c->range.end) {
        c->range.first = first;
        c->range.end = nparts - first < step ? nparts : first + step;
        status = bits > 0 ? each_part(c, unseen__set_load_part) : unseen__set_fetch_all(c->set);
        *is_read_out = status == UNSEEN_OK;
        if (status == UNSEEN_OK && !no_log) {
            status = compare_range(store, image, replays, c, error);
        }
        if (status == UNSEEN_OK && bits > 0) {
            status =
                unseen__error_status(error, each_part(c, unseen__set_drop_part), store->log.path);
        }
    }
    return status;
}

/* Loads the set of the image. If that was done before, it opens the image again: the pages of a
 * part are read once. BUSY if it has changed meanwhile. */
static enum unseen_status load_image(const struct unseen_store *store, struct unseen__image *image,
                                     struct comparison *c, struct unseen_error *error)
{
    const struct unseen__image_header header = image->header;
    enum unseen_status status = UNSEEN_OK;
    if (c->set) {
        unseen_set_free(c->set);
        c->set = NULL;
        unseen__image_release(image);
        status = unseen__image_open(image, &store->log, error);
        const bool is_same = status == UNSEEN_OK && header.log_end == image->header.log_end &&
                             header.tail_checksum == image->header.tail_checksum;
        if (!is_same && status != UNSEEN_ERR_NOMEM && status != UNSEEN_ERR_IO) {
            return report_busy(store, error);
        }
    }
    return status == UNSEEN_OK ? unseen__image_load(store, image, &c->set, error) : status;
}

/* Compares the image with the log. *is_damaged_out: a part of it cannot be read; *damage says
 * which. */
static enum unseen_status load_and_compare(const struct unseen_store *store,
                                           struct unseen__image *image, bool replays,
                                           struct comparison *c, struct unseen_error *damage,
                                           bool *is_damaged_out, struct unseen_error *error)
{
    bool is_read = false;
    enum unseen_status status = UNSEEN_OK;
    if (!c->set || store->sweep.in_parts) {
        status = load_image(store, image, c, damage);
    }
    if (status == UNSEEN_OK) {
        status = compare_keys(store, &image->header, replays, c, &is_read, error);
        if (is_read) {
            return status;
        }
        unseen__image_report_unread(store, status, damage);
    }
    if (status == UNSEEN_ERR_NOMEM || status == UNSEEN_ERR_IO || status == UNSEEN_ERR_BUSY) {
        if (error) {
            *error = *damage;
        }
        return status;
    }
    *is_damaged_out = true;
    return UNSEEN_OK;
}

/* Whether the image has other keys than the log. */
static bool differs(const struct unseen_store *store, const struct comparison *c)
{
    /* A key that leaves a window may be one that other keys take for present by then: a filter of
     * counters counts it on. A replay never adds it. */
    const bool counts_on = store->log.header.window > 0 && c->set->ops->multiplicity;
    const uint64_t most = c->nreplayed > c->nsurviving ? c->nreplayed : c->nsurviving;
    return c->nmissing > 0 || (!counts_on && unseen__set_nkeys(c->set) > most);
}

/* The image must hold the surviving keys of the records that it covers, and no other key. A set may
 * differ from that if the log is intact and has removals: removing a key that the filter wrongly
 * took for seen takes other keys with it, at the false-positive rate. A set made from the log then
 * differs in the same way. */
static enum unseen_status compare_set(const struct unseen_store *store,
                                      const struct unseen__reading *r, struct unseen__image *image,
                                      struct comparison *c, struct unseen_error *damage,
                                      bool *differs_out, struct unseen_error *error)
{
    const struct unseen__log_header *header = &store->log.header;
    enum unseen_status status =
        load_and_compare(store, image, false, c, damage, differs_out, error);
    if (status != UNSEEN_OK || *differs_out || (header->read_features & UNSEEN__FEATURE_NO_LOG)) {
        return status;
    }
    const bool removes = r->health.nremoved > 0 || header->window > 0;
    if (removes && r->health.lost_bytes == 0 && differs(store, c) &&
        (store->sweep.in_parts || !asks_for_too_much(header, c->set))) {
        status = load_and_compare(store, image, true, c, damage, differs_out, error);
    }
    if (status != UNSEEN_OK || *differs_out) {
        return status;
    }
    *differs_out = differs(store, c);
    if (*differs_out) {
        (void)unseen__error(damage, UNSEEN_ERR_CORRUPT, UNSEEN__NO_OFFSET,
                            "%s has %llu keys; the log has %llu, of which the image lacks %llu",
                            image->path, (unsigned long long)unseen__set_nkeys(c->set),
                            (unsigned long long)c->nsurviving, (unsigned long long)c->nmissing);
    }
    return UNSEEN_OK;
}

static enum unseen_status compare_image(struct unseen_store *store, const struct unseen__reading *r,
                                        struct unseen__image *image, struct unseen_error *damage,
                                        bool *differs_out, struct unseen_error *error)
{
    struct comparison c = {.set = NULL};
    store->sweep.in_parts = unseen__sweep_is_due(store, image->header.npages, 0);
    enum unseen_status status = compare_set(store, r, image, &c, damage, differs_out, error);
    const bool no_log = store->log.header.read_features & UNSEEN__FEATURE_NO_LOG;
    if (status == UNSEEN_OK && !*differs_out && !no_log && r->health.lost_bytes == 0) {
        status = compare_allowed(&store->log, image->header.log_end, image->header.horizon, c.set,
                                 differs_out, error);
        if (status == UNSEEN_OK && *differs_out) {
            (void)unseen__error(damage, UNSEEN_ERR_CORRUPT, UNSEEN__NO_OFFSET,
                                "%s allows other lines than the log", image->path);
        }
    }
    unseen_set_free(c.set);
    return status;
}

/* The image covers bytes behind the last intact record: they were records once, and not an
 * unfinished commit. */
static void note_lost_end(struct unseen__reading *r, uint64_t covered)
{
    const uint64_t torn_end = r->end + r->health.torn_bytes;
    if (r->end < covered) {
        note_damage(r, r->end, torn_end > covered ? torn_end : covered);
        r->health.torn_bytes = 0;
    }
}

/* Whether another process has changed or replaced the log since it was read. Then an image that
 * does not agree with what was read may well agree with what is there now. */
static bool has_changed(const struct unseen__reading *r)
{
    return unseen__log_has_changed(r->log, &r->file);
}

/* Reports damage of the image. *is_damaged_out: the image cannot be used. *log_is_short_out: the
 * log lacks records that the image covers. BUSY: the log is not what was read any more. */
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
    const bool was_opened = status == UNSEEN_OK;
    if ((was_opened || (*is_damaged_out && *log_is_short_out)) && !has_changed(r)) {
        note_lost_end(r, image.header.log_end);
    }
    if (was_opened) {
        status = compare_image(store, r, &image, &damage, is_damaged_out, error);
        unseen__image_release(&image);
    } else if (status == UNSEEN_ERR_MISSING) {
        /* Without a log, the image is written before the first record. */
        *is_damaged_out = no_log && (r->has_records || r->health.torn_bytes > 0 ||
                                     r->health.lost_bytes > 0 || store->log.cut_short);
        (void)unseen__error(&damage, UNSEEN_ERR_CORRUPT, UNSEEN__NO_OFFSET,
                            "%s has no log, and its image is gone", store->log.path);
        status = UNSEEN_OK;
    } else if (!*is_damaged_out && error) {
        *error = damage;
    }
    if (*is_damaged_out && *log_is_short_out && has_changed(r)) {
        return report_busy(store, error);
    }
    if (*is_damaged_out) {
        r->health.ndamages++;
        report_damage(r, &damage);
        status = UNSEEN_OK;
    }
    return status;
}

/* ---- both ---- */

struct checkup {
    struct unseen_store store; /* only its log and its URL identity */
    struct unseen__reading reading;
    bool image_is_damaged;
    bool log_is_short;
};

static void checkup_release(struct checkup *checkup)
{
    unseen_url_free(checkup->store.url);
    unseen__log_release(&checkup->store.log);
}

/* Reports a header that is damaged; the other one was read in its place. */
static void check_headers(struct checkup *checkup, const char *path)
{
    const struct unseen__log *log = &checkup->store.log;
    if (log->header_damaged) {
        struct unseen_error damage;
        (void)unseen__error(&damage, UNSEEN_ERR_CORRUPT, 0, "one header of %s is damaged", path);
        (void)unseen__check_length(log, &damage);
        checkup->reading.health.ndamages++;
        report_damage(&checkup->reading, &damage);
    }
}

/* Checks everything. After an error there is nothing to release. */
static enum unseen_status checkup_run(struct checkup *checkup, const char *path, bool writable,
                                      const struct unseen_store_health *health_out,
                                      struct unseen_error *error)
{
    struct unseen_store *store = &checkup->store;
    struct unseen_store_health known = {.size = sizeof(known)};
    enum unseen_status status =
        unseen__sized_take(&known, sizeof(known), health_out, "unseen_store_health", error);
    if (status != UNSEEN_OK) {
        return unseen__error_prefix(error, status, path);
    }
    store->allocator = unseen__allocator(NULL);
    store->sweep.memory = known.memory;
    status = unseen__log_open(&store->log, path, writable, &store->allocator, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    checkup->reading.log = &store->log;
    status = unseen__store_url_make(store, error);
    if (status == UNSEEN_OK) {
        check_headers(checkup, path);
        status = unseen__read_all(&checkup->reading, error);
    }
    if (status == UNSEEN_OK && checkup->reading.health.lost_bytes == 0) {
        check_head(&checkup->reading);
    }
    if (status == UNSEEN_OK) {
        status = check_allowed(&checkup->reading, error);
    }
    if (status == UNSEEN_OK) {
        status = check_image(store, &checkup->reading, &checkup->image_is_damaged,
                             &checkup->log_is_short, error);
    }
    if (status != UNSEEN_OK) {
        checkup_release(checkup);
    }
    return status;
}

static void give_health(struct checkup *checkup, struct unseen_store_health *health_out)
{
    checkup->reading.health.note = checkup->reading.output.note;
    if (health_out) {
        (void)unseen__sized_give(health_out, &checkup->reading.health,
                                 sizeof(checkup->reading.health));
    }
}

enum unseen_status unseen_store_verify(const char *path, struct unseen_store_health *health_out,
                                       void (*report)(void *context,
                                                      const struct unseen_error *damage),
                                       void *context, struct unseen_error *error)
{
    struct checkup checkup;
    enum unseen_status status = UNSEEN_ERR_BUSY;
    for (int tries = 0; tries < TRIES && status == UNSEEN_ERR_BUSY; tries++) {
        checkup = (struct checkup){.reading = {.report = report, .context = context}};
        status = checkup_run(&checkup, path, false, health_out, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    give_health(&checkup, health_out);
    if (checkup.reading.health.ndamages > 0) {
        status = unseen__error(error, UNSEEN_ERR_CORRUPT, UNSEEN__NO_OFFSET, "%s is damaged", path);
    }
    checkup_release(&checkup);
    return status;
}

/* Rewrites the log or removes the image, if that is needed. */
static enum unseen_status mend(struct checkup *checkup, const char *path,
                               struct unseen_error *error)
{
    struct unseen__log *log = &checkup->store.log;
    const bool no_log = log->header.read_features & UNSEEN__FEATURE_NO_LOG;
    if (no_log && checkup->image_is_damaged) {
        return unseen__error(error, UNSEEN_ERR_CORRUPT, UNSEEN__NO_OFFSET,
                             "%s has no log: the keys of its damaged image are lost", path);
    }
    if (checkup->reading.damaged_end == 0 && !checkup->reading.allows_held &&
        !checkup->log_is_short && !log->cut_short) {
        return checkup->image_is_damaged ? unseen__image_remove(log, error) : UNSEEN_OK;
    }
    struct unseen__log_header header = log->header;
    enum unseen_status status = no_log ? UNSEEN_OK : unseen__log_new_id(header.id);
    if (status != UNSEEN_OK) {
        return unseen__error_status(error, status, path);
    }
    checkup->reading.health.is_rewritten = true;
    checkup->reading.horizon = unseen__horizon(header.window, checkup->reading.last_time);
    return unseen__log_rewrite(log, &header, &checkup->reading, true, error);
}

enum unseen_status unseen_store_repair(const char *path, struct unseen_store_health *health_out,
                                       void (*report)(void *context,
                                                      const struct unseen_error *damage),
                                       void *context, struct unseen_error *error)
{
    struct checkup checkup = {.reading = {.report = report, .context = context}};
    enum unseen_status status = checkup_run(&checkup, path, true, health_out, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = mend(&checkup, path, error);
    if (status == UNSEEN_OK) {
        give_health(&checkup, health_out);
    }
    checkup_release(&checkup);
    return status;
}
