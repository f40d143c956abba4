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
    RUNS_MIN = 16,
    KEYS_ONCE = 512 /* keys that are asked for at a time, if each is written once */
};

/* ---- collecting keys to records ---- */

struct writer {
    struct unseen__log *log;
    struct unseen_set *written;   /* NULL, or the keys so far: each is written once */
    struct unseen__stash repeats; /* keys that `written` took for repeats */
    uint8_t *payload;
    uint32_t n;
    struct unseen__run *runs;
    size_t runs_cap;
    uint32_t nruns;
    uint64_t unknown; /* the time that keys of an unknown time get */
    uint64_t latest;  /* no key gets a later one */
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
    time = time ? time < w->latest ? time : w->latest : w->unknown;
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

/* Keeps a key that may be written already. */
static bool keep_repeat(struct writer *w, struct unseen_key key)
{
    if (!unseen__stash_contains(&w->repeats, key)) {
        w->status = unseen__error_status(
            w->error, unseen__stash_add(&w->repeats, key, &w->log->allocator), w->log->path);
    }
    return w->status == UNSEEN_OK;
}

static bool write_keys_once(struct writer *w, const struct unseen_key *keys, size_t n,
                            uint64_t time)
{
    uint8_t verdicts[KEYS_ONCE];
    struct unseen_key narrow[KEYS_ONCE]; /* as they will be read again */
    for (size_t done = 0; done < n;) {
        const size_t slice = n - done < KEYS_ONCE ? n - done : KEYS_ONCE;
        for (size_t i = 0; i < slice; i++) {
            narrow[i] = keys[done + i];
            unseen__key_narrow(w->log->header.key_bits, &narrow[i]);
        }
        w->status = unseen_set_add_keys(w->written, narrow, slice, verdicts, NULL);
        if (w->status != UNSEEN_OK) {
            (void)unseen__error_status(w->error, w->status, w->log->path);
            return false;
        }
        for (size_t i = 0; i < slice; i++) {
            if (!(verdicts[i] == UNSEEN_NEW ? write_key(w, narrow[i], time)
                                            : keep_repeat(w, narrow[i]))) {
                return false;
            }
        }
        done += slice;
    }
    return true;
}

static bool rewrite_keys(void *context, const struct unseen_key *keys, size_t n, uint64_t time)
{
    struct writer *w = context;
    if (w->written) {
        return write_keys_once(w, keys, n, time);
    }
    for (size_t i = 0; i < n; i++) {
        if (!write_key(w, keys[i], time)) {
            return false;
        }
    }
    return true;
}

/* A log may have a key twice without its removal between: the removal of another key took it away,
 * or is damaged. A filter that counts would count it twice, and one removal would not make it NEW
 * again. So the keys that were written are collected in a set. Its rate loses no key: the few that
 * it takes for repeats are looked up in the new log at the end (write_unwritten). */
static enum unseen_status collect_keys(struct writer *w)
{
    const struct unseen__log_header *header = &w->log->header;
    const struct unseen__filter_ops *ops = unseen__filter_find(header->filter, false);
    const struct unseen_set_options options = {
        .size = sizeof(options), .fpr = 1e-12, .allocator = &w->log->allocator};
    return ops && ops->add_absent
               ? unseen__set_create(&w->written, &options, NULL, &header->secret, NULL, w->error)
               : UNSEEN_OK;
}

static bool drop_written(void *context, const struct unseen_key *keys, size_t n, uint64_t time)
{
    (void)time;
    struct writer *w = context;
    for (size_t i = 0; i < n; i++) {
        (void)unseen__stash_remove(&w->repeats, keys[i]);
    }
    return true;
}

/* Writes the keys that were taken for repeats and are not in the new log. */
static enum unseen_status write_unwritten(struct writer *w)
{
    if (w->repeats.nkeys == 0 || !flush_record(w)) {
        return w->status;
    }
    const enum unseen_status status =
        unseen__surviving_each(w->log, UINT64_MAX, 0, false, drop_written, w, w->error);
    for (size_t i = 0; status == UNSEEN_OK && i < w->repeats.nkeys; i++) {
        if (!write_key(w, w->repeats.keys[i], w->log->time)) {
            return w->status;
        }
    }
    return status;
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
static enum unseen_status write_allowed(const struct unseen__log *from, struct unseen__log *to,
                                        bool skip_damage, struct unseen_error *error)
{
    struct unseen__stash allowed = {0};
    enum unseen_status status =
        unseen__allowed_find(from, UINT64_MAX, skip_damage, to->header.key_bits, &allowed, error);
    if (status == UNSEEN_OK) {
        status = unseen__allowed_append(to, allowed.keys, allowed.nkeys, 0, false, error);
    }
    unseen__stash_release(&allowed, &from->allocator);
    return status;
}

static enum unseen_status write_survivors(const struct unseen__log *from, struct unseen__log *to,
                                          const struct unseen__reading *reading, bool skip_damage,
                                          struct unseen_error *error)
{
    const size_t size = RECORD_KEYS * unseen__key_bytes(to->header.key_bits);
    struct writer w = {
        .log = to, .error = error, .unknown = reading->time, .latest = reading->last_time};
    w.payload = unseen__alloc(&to->allocator, size, 8);
    if (!w.payload) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, to->path);
    }
    enum unseen_status status = collect_keys(&w);
    if (status == UNSEEN_OK) {
        status = write_allowed(from, to, skip_damage, error);
    }
    if (status == UNSEEN_OK) {
        status = unseen__surviving_each(from, UINT64_MAX, reading->horizon, skip_damage,
                                        rewrite_keys, &w, error);
    }
    if (status == UNSEEN_OK && w.status == UNSEEN_OK) {
        status = write_unwritten(&w);
    }
    if (status == UNSEEN_OK && w.status == UNSEEN_OK) {
        (void)flush_record(&w);
    }
    unseen_set_free(w.written);
    unseen__stash_release(&w.repeats, &to->allocator);
    unseen__free(&to->allocator, w.payload, size);
    array_free(&to->allocator, &w.runs, &w.runs_cap, sizeof(*w.runs));
    status = status == UNSEEN_OK ? w.status : status;
    if (status == UNSEEN_OK) {
        status = append_output(from, to, &reading->output, error);
    }
    if (status == UNSEEN_OK && (to->header.read_features & UNSEEN__FEATURE_NO_LOG)) {
        return unseen__log_append_empty(to, false, error); /* there must be an image */
    }
    return status == UNSEEN_OK ? unseen__log_append_end(to, error) : status;
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

enum unseen_status unseen__log_write_anew(struct unseen__log *to_out,
                                          const struct unseen__log *from,
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

enum unseen_status unseen__log_rewrite(const struct unseen__log *from,
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
                         uint64_t now)
{
    const uint64_t time =
        now > reading->last_time ? now - now % UNSEEN__TIME_STEP : reading->last_time;
    const uint64_t before = unseen__horizon(reading->log->header.window, time);
    const uint64_t after = unseen__horizon(header->window, time);
    reading->horizon = before > after ? before : after;
    reading->time = reading->first_time ? reading->first_time : time;
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
        status = unseen__read_all(&reading, error);
    }
    if (status == UNSEEN_OK && reading.health.ndamages > 0) {
        status = unseen__damaged(error, &log, reading.damaged_offset, reading.damaged_end);
    }
    if (status == UNSEEN_OK) {
        status = check_times(&reading, &header, options.now, error);
    }
    if (status == UNSEEN_OK) {
        status = check_image_covers(&log, error);
    }
    if (status == UNSEEN_OK) {
        choose_times(&reading, &header, options.now);
        status = unseen__log_rewrite(&log, &header, &reading, false, error);
    }
    unseen__secret_forget(&header.secret);
    unseen__log_release(&log);
    return status;
}
