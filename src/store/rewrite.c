/* SPDX-License-Identifier: MIT
 *
 * Writes a new log from an old one: without removed keys and in large records, for another filter,
 * or (repair) without damaged bytes. The new log is made beside the old one, whose lock is held,
 * and takes its name in one step. */
#include "base/posix.h"

#include "store/rewrite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/filename.h"
#include "base/memory.h"
#include "set/set.h"
#include "tags/stash.h"

enum {
    RECORD_KEYS = 1 << 16, /* keys in each new record */
    RUNS_MIN = 16
};

/* ---- collecting keys to records ---- */

struct writer {
    struct unseen__log *log;
    struct unseen__stash
        *repeats; /* keys that may come more than once, and how often; NULL: none */
    uint8_t *payload;
    uint32_t n;
    struct unseen__run *runs;
    size_t runs_cap;
    uint32_t nruns;
    uint64_t latest; /* no key gets a later time */
    struct unseen_error *error;
    enum unseen_status status;
};

static bool flush_record(struct writer *w)
{
    if (w->n > 0) {
        const struct unseen__record record = {.kind = UNSEEN__RECORD_CHANGES,
                                              .n = w->n,
                                              .nruns = w->nruns > 1 ? w->nruns : 0,
                                              .time = w->runs[w->nruns - 1].time,
                                              .output_len = UNSEEN__NO_OUTPUT};
        w->status = unseen__log_append(w->log, record, w->payload, NULL, w->runs, false, w->error);
        w->n = 0;
        w->nruns = 0;
    }
    return w->status == UNSEEN_OK;
}

/* Times of a damaged log may go back. */
static uint64_t time_after(const struct writer *w, uint64_t time)
{
    const uint64_t before = w->nruns > 0 ? w->runs[w->nruns - 1].time : w->log->time;
    time = time < w->latest ? time : w->latest;
    return time > before ? time : before;
}

static bool write_key(struct writer *w, struct unseen_key key, uint64_t time)
{
    const unsigned key_bits = w->log->header.key_bits;
    time = time_after(w, time);
    if (w->nruns == 0 || w->runs[w->nruns - 1].time < time) {
        if (!array_grow(&w->log->allocator, &w->runs, &w->runs_cap, w->nruns + 1, RUNS_MIN,
                        sizeof(*w->runs))) {
            w->status = unseen__error_status(w->error, UNSEEN_ERR_NOMEM, w->log->path);
            return false;
        }
        w->runs[w->nruns++].time = time;
    }
    unseen__keys_pack(&key, 1, key_bits, w->payload + w->n * unseen__key_bytes(key_bits));
    w->runs[w->nruns - 1].end = ++w->n;
    return w->n < RECORD_KEYS || flush_record(w);
}

static bool rewrite_keys(void *context, const struct unseen_key *keys, size_t n, uint64_t time)
{
    struct writer *w = context;
    for (size_t i = 0; i < n; i++) {
        struct unseen_key key = keys[i];
        unseen__key_narrow(w->log->header.key_bits, &key);
        const bool is_last = !w->repeats || !unseen__stash_remove(w->repeats, key) ||
                             unseen__stash_count(w->repeats, key) == 1;
        if (is_last && !write_key(w, key, time)) {
            return false;
        }
    }
    return true;
}

/* ---- keys that are there twice ----
 *
 * A log may have a key twice without its removal between: the removal of another key took it away,
 * or is damaged; and two logs that are merged have common keys. A filter that counts would count
 * the key twice, and one removal would not make it NEW again. From a window it would leave when the
 * first one leaves. So only the last one is written, which has the latest time.
 *
 * A set finds keys that may be there twice. How often they are is counted exactly. */

struct counting {
    struct unseen_set *set; /* the keys so far */
    struct unseen__stash *repeats;
    const struct unseen__log *log; /* the new one */
    struct unseen_error *error;
    enum unseen_status status;
};

static bool find_repeats(void *context, const struct unseen_key *keys, size_t n, uint64_t time)
{
    struct counting *c = context;
    struct unseen_key narrow[UNSEEN__UNPACK]; /* as they will be read again */
    uint8_t verdicts[UNSEEN__UNPACK];
    (void)time;
    memcpy(narrow, keys, n * sizeof(*keys));
    for (size_t i = 0; i < n; i++) {
        unseen__key_narrow(c->log->header.key_bits, &narrow[i]);
    }
    c->status = unseen_set_add_keys(c->set, narrow, n, verdicts, NULL);
    for (size_t i = 0; i < n && c->status == UNSEEN_OK; i++) {
        if (verdicts[i] == UNSEEN_SEEN && !unseen__stash_contains(c->repeats, narrow[i])) {
            c->status = unseen__stash_add(c->repeats, narrow[i], &c->log->allocator);
        }
    }
    return c->status == UNSEEN_OK;
}

static bool count_repeats(void *context, const struct unseen_key *keys, size_t n, uint64_t time)
{
    struct counting *c = context;
    (void)time;
    for (size_t i = 0; i < n && c->status == UNSEEN_OK; i++) {
        struct unseen_key key = keys[i];
        unseen__key_narrow(c->log->header.key_bits, &key);
        if (unseen__stash_contains(c->repeats, key)) {
            c->status = unseen__stash_add_again(c->repeats, key, 1, &c->log->allocator);
        }
    }
    return c->status == UNSEEN_OK;
}

/* Makes *repeats, which may have such keys, complete; then it has each once more than the logs. */
static enum unseen_status find_and_count(const struct unseen__source *sources, size_t nsources,
                                         const struct unseen__log *to, bool skip_damage,
                                         struct unseen__stash *repeats, struct unseen_error *error)
{
    const struct unseen__log_header *header = &to->header;
    const struct unseen__filter_ops *ops = unseen__filter_find(header->filter, false);
    const bool finds = nsources == 1 && ops && (ops->add_absent || (header->window && skip_damage));
    struct counting c = {.repeats = repeats, .log = to};
    enum unseen_status status = UNSEEN_OK;
    if (finds) {
        const struct unseen_set_options options = {
            .size = sizeof(options), .fpr = 1e-12, .allocator = &to->allocator};
        status = unseen__set_create(&c.set, &options, NULL, &header->secret, NULL, error);
    }
    if (finds && status == UNSEEN_OK) {
        status = unseen__surviving_of(sources, nsources, skip_damage, find_repeats, &c, error);
    }
    unseen_set_free(c.set);
    if (status == UNSEEN_OK && c.status == UNSEEN_OK && repeats->nkeys > 0) {
        status = unseen__surviving_of(sources, nsources, skip_damage, count_repeats, &c, error);
    }
    return status == UNSEEN_OK ? unseen__error_status(error, c.status, to->path) : status;
}

/* Copies what the old log says about the note and the output file. The new log takes the place of
 * the old one: if the old one is still the file that named the output, the new one is it from now
 * on. */
static enum unseen_status append_output(const struct unseen__log *from, struct unseen__log *to,
                                        const struct unseen__output *output,
                                        struct unseen_error *error)
{
    struct unseen__output copied = *output;
    enum unseen_status status =
        output->note != 0 ? unseen__note_append(output, to, false, error) : UNSEEN_OK;
    if (status != UNSEEN_OK || output->name_offset == 0) {
        return status;
    }
    if (copied.log_id == unseen__file_id(from->fd)) {
        copied.log_id = unseen__file_id(to->fd);
    }
    status = unseen__output_append(&copied, to, false, error);
    if (status == UNSEEN_OK && output->closed) {
        const struct unseen__record closed = {
            .kind = UNSEEN__RECORD_CHANGES,
            .flags = UNSEEN__FLAG_CLOSED,
            .output_len = output->len,
            .output_checksum = output->checksum,
        };
        status = unseen__log_append(to, closed, NULL, NULL, NULL, false, error);
    }
    return status;
}

/* The allowed keys come first, so that a key that was added since is added exactly again. */
static enum unseen_status write_allowed(const struct unseen__source *sources, size_t nsources,
                                        struct unseen__log *to, bool skip_damage,
                                        struct unseen_error *error)
{
    struct unseen__stash allowed = {0};
    enum unseen_status status = UNSEEN_OK;
    for (size_t i = 0; i < nsources && status == UNSEEN_OK; i++) {
        status = unseen__allowed_find(sources[i].log, sources[i].end, skip_damage,
                                      to->header.key_bits, &allowed, error);
    }
    if (status == UNSEEN_OK) {
        status = unseen__allowed_append(to, allowed.keys, allowed.nkeys, 0, false, error);
    }
    unseen__stash_release(&allowed, &to->allocator);
    return status;
}

static enum unseen_status write_keys(const struct unseen__source *sources, size_t nsources,
                                     struct unseen__log *to, uint64_t latest, bool skip_damage,
                                     struct unseen__stash *repeats, struct unseen_error *error)
{
    const size_t size = RECORD_KEYS * unseen__key_bytes(to->header.key_bits);
    struct writer w = {.log = to,
                       .error = error,
                       .latest = latest,
                       .repeats = repeats->nkeys > 0 ? repeats : NULL};
    w.payload = unseen__alloc(&to->allocator, size, 8);
    if (!w.payload) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, to->path);
    }
    const enum unseen_status status =
        unseen__surviving_of(sources, nsources, skip_damage, rewrite_keys, &w, error);
    if (status == UNSEEN_OK && w.status == UNSEEN_OK) {
        (void)flush_record(&w);
    }
    unseen__free(&to->allocator, w.payload, size);
    array_free(&to->allocator, &w.runs, &w.runs_cap, sizeof(*w.runs));
    return status == UNSEEN_OK ? w.status : status;
}

/* The last record says how late it is: the clock does not go back with the keys that are left
 * out. */
static enum unseen_status append_end(struct unseen__log *to, uint64_t latest,
                                     struct unseen_error *error)
{
    const struct unseen__record end = {
        .kind = UNSEEN__RECORD_CHANGES, .time = latest, .output_len = UNSEEN__NO_OUTPUT};
    const bool needs_image = to->header.read_features & UNSEEN__FEATURE_NO_LOG; /* it says so */
    return to->ends_open || needs_image || latest > to->time
               ? unseen__log_append(to, end, NULL, NULL, NULL, false, error)
               : UNSEEN_OK;
}

static enum unseen_status write_survivors(const struct unseen__log *from, struct unseen__log *to,
                                          const struct unseen__reading *reading, bool skip_damage,
                                          struct unseen_error *error)
{
    struct unseen__source sources[2] = {
        {.log = from, .end = UINT64_MAX, .horizon = reading->horizon, .unknown = reading->time}};
    struct unseen__stash found = {0};
    struct unseen__stash *repeats = reading->common ? reading->common : &found;
    size_t nsources = 1;
    if (reading->other) {
        sources[nsources++] = *reading->other;
    }
    enum unseen_status status = find_and_count(sources, nsources, to, skip_damage, repeats, error);
    if (status == UNSEEN_OK) {
        status = write_allowed(sources, nsources, to, skip_damage, error);
    }
    if (status == UNSEEN_OK) {
        status = write_keys(sources, nsources, to, reading->last_time, skip_damage, repeats, error);
    }
    unseen__stash_release(&found, &to->allocator);
    if (status == UNSEEN_OK) {
        status = append_output(from, to, &reading->output, error);
    }
    return status == UNSEEN_OK ? append_end(to, reading->last_time, error) : status;
}

/* ---- keeping the old one ---- */

/* Gives the old log a second name: PATH.damaged, or PATH.damaged.1 and so on if that is taken. */
static enum unseen_status keep_old(const struct unseen__log *log, struct unseen_error *error)
{
    char suffix[32];
    for (unsigned i = 0; i < 100; i++) {
        (void)snprintf(suffix, sizeof(suffix), i == 0 ? ".damaged" : ".damaged.%u", i);
        char *name = unseen__path_with(&log->allocator, log->file, suffix);
        if (!name) {
            return unseen__error_status(error, UNSEEN_ERR_NOMEM, log->path);
        }
        const int code = link(log->file, name) == 0 ? 0 : errno;
        const enum unseen_status status =
            code == 0 || code == EEXIST ? UNSEEN_OK : unseen__error_io(error, "create", name, code);
        unseen__path_free(&log->allocator, name);
        if (code != EEXIST) {
            return status;
        }
    }
    return unseen__error(error, UNSEEN_ERR_IO, UNSEEN__NO_OFFSET,
                         "%s.damaged and 99 more exist already", log->path);
}

enum unseen_status unseen__log_write_anew(struct unseen__log *to_out, struct unseen__log *from,
                                          const struct unseen__log_header *header,
                                          const struct unseen__reading *reading, bool is_repair,
                                          struct unseen_error *error)
{
    enum unseen_status status = unseen__log_start_new(to_out, from, header, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = write_survivors(from, to_out, reading, is_repair, error);
    if (status == UNSEEN_OK && is_repair) {
        status = keep_old(from, error);
    }
    if (status == UNSEEN_OK) {
        status = unseen__log_publish(to_out, from, error);
    }
    if (status != UNSEEN_OK) {
        unseen__log_release(to_out);
    }
    return status;
}

enum unseen_status unseen__log_rewrite(struct unseen__log *from,
                                       const struct unseen__log_header *header,
                                       const struct unseen__reading *reading, bool is_repair,
                                       struct unseen_error *error)
{
    struct unseen__log to;
    enum unseen_status status =
        unseen__log_write_anew(&to, from, header, reading, is_repair, error);
    if (status == UNSEEN_OK) {
        const bool keeps_image = memcmp(header->id, from->header.id, UNSEEN__ID_LEN) == 0;
        status = keeps_image ? UNSEEN_OK : unseen__image_remove(from, error);
        unseen__log_release(&to);
    }
    return status;
}

/* ---- with other settings ---- */

/* Checks that a set can be made from the header, and takes its rate. */
static enum unseen_status try_set(struct unseen__log_header *header, const char *path,
                                  const struct unseen_allocator *allocator,
                                  struct unseen_error *error)
{
    struct unseen_set *set = NULL;
    struct unseen_set_options options = unseen__header_set_options(header);
    options.allocator = allocator;
    const enum unseen_status status =
        unseen__set_create(&set, &options, NULL, &header->secret, NULL, error);
    if (status == UNSEEN_OK) {
        unseen__header_take_rate(header, set);
    }
    unseen_set_free(set);
    return unseen__error_prefix(error, status, path);
}

static enum unseen_status change_header(struct unseen__log_header *header,
                                        const struct unseen_store_options *options,
                                        const char *path, struct unseen_error *error)
{
    const struct unseen__filter_ops *ops = NULL;
    if (options->key_bits > header->key_bits) {
        return unseen__error_setting(error, UNSEEN_ERR_MISMATCH, UNSEEN_SETTING_KEY_BITS,
                                     "%s has keys of %u bits: they cannot be made longer", path,
                                     header->key_bits);
    }
    const enum unseen_status status = unseen__header_change(header, options, &ops, error);
    return status == UNSEEN_OK ? unseen__error_status(error, unseen__log_new_id(header->id), path)
                               : unseen__error_prefix(error, status, path);
}

/* CORRUPT if there is an image that covers records which the log does not have. */
static enum unseen_status check_image_covers(const struct unseen__log *log,
                                             struct unseen_error *error)
{
    const struct unseen_store store = {.allocator = log->allocator, .log = *log};
    struct unseen__image image;
    struct unseen__output output = {0};
    bool log_is_damaged = false;
    const enum unseen_status status =
        unseen__image_find(&store, &image, &output, &log_is_damaged, error);
    if (status == UNSEEN_OK) {
        unseen__image_release(&image);
    }
    return log_is_damaged ? status : UNSEEN_OK;
}

/* What has left stays out, and what has left a shorter window leaves. Keys whose time is not known
 * are older than the first known time. */
static void choose_times(struct unseen__reading *reading, const struct unseen__log_header *header,
                         const struct unseen_store_options *options)
{
    const uint64_t now = options->now ? unseen__time_cut(options->now) : 0;
    const uint64_t time = now > reading->last_time ? now : reading->last_time;
    const uint64_t before = unseen__horizon(reading->log->header.window, time);
    const uint64_t after = unseen__horizon(header->window, time);
    reading->horizon = before > after ? before : after;
    reading->time = reading->first_time ? reading->first_time : time;
    if (options->resets_clock && now > 0 && now < reading->last_time) {
        reading->last_time = now;
    }
}

/* Keys without a time would leave at once. */
static enum unseen_status check_times(const struct unseen__reading *reading,
                                      const struct unseen__log_header *header, uint64_t now,
                                      struct unseen_error *error)
{
    return header->window > 0 && reading->first_time == 0 && now == 0
               ? unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_WINDOW,
                                       "%s does not know when its keys came, and nobody has said "
                                       "what time it is",
                                       reading->log->path)
               : UNSEEN_OK;
}

enum unseen_status unseen_store_rewrite(const char *path, const struct unseen_store_options *given,
                                        struct unseen_error *error)
{
    struct unseen_store_options options;
    struct unseen__log log;
    enum unseen_status status = unseen__store_options(given, &options, error);
    if (status != UNSEEN_OK) {
        return unseen__error_prefix(error, status, path);
    }
    const struct unseen_allocator allocator = unseen__allocator(options.allocator);
    status = unseen__log_open(&log, path, true, &allocator, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    struct unseen__log_header header = log.header;
    struct unseen__reading reading = {.log = &log};
    status = unseen__check_length(&log, error);
    if (status == UNSEEN_OK && (header.read_features & UNSEEN__FEATURE_NO_LOG)) {
        status = unseen__error(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN__NO_OFFSET,
                               "%s has no log that could be rewritten", path);
    }
    if (status == UNSEEN_OK) {
        status = change_header(&header, &options, path, error);
    }
    if (status == UNSEEN_OK) {
        status = try_set(&header, path, &allocator, error);
    }
    if (status == UNSEEN_OK) {
        status = unseen__read_intact(&reading, error);
    }
    if (status == UNSEEN_OK) {
        status = check_times(&reading, &header, options.now, error);
    }
    if (status == UNSEEN_OK) {
        status = check_image_covers(&log, error);
    }
    if (status == UNSEEN_OK) {
        choose_times(&reading, &header, &options);
        status = unseen__log_rewrite(&log, &header, &reading, false, error);
    }
    unseen__secret_forget(&header.secret);
    unseen__log_release(&log);
    return status;
}
