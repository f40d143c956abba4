/* SPDX-License-Identifier: MIT
 *
 * The thread that commits (committer.h). In a commit it syncs the output file, appends one record,
 * and syncs the log. So the lines whose keys a record has are on the disk before the record is, and
 * a record is on the disk before the next one is written.
 *
 * After a commit the thread rests for a moment, so that lines that arrive one by one share records
 * and syncs. The rest ends early if a caller waits or if many changes have come in. */
#include "base/posix.h"

#include "log/committer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "hash/checksum.h"

enum {
    REST_MILLISECONDS = 20,
    REST_UNTIL = 8192, /* so many begun changes end a rest */
    BEGUN_MAX =
        32768, /* the caller waits before it begins more; a crash can repeat that many lines */
    CHANGES_MIN = 1024,
    RUNS_MIN = 16
};

/* ---- rows of changes ---- */

static void release_changes(const struct unseen__log *log, struct unseen__changes *changes)
{
    const size_t step = unseen__key_bytes(log->header.key_bits);
    unseen__free(&log->allocator, changes->keys, changes->cap * step);
    unseen__free(&log->allocator, changes->removed, changes->cap);
    unseen__free(&log->allocator, changes->times, changes->cap * sizeof(*changes->times));
    *changes = (struct unseen__changes){0};
}

/* Copies the first n changes of a row to index `at` of the arrays of another row, or of the
 * same. */
static void copy_changes(const struct unseen__log *log, struct unseen__changes *to, size_t at,
                         const struct unseen__changes *from, size_t n)
{
    const size_t step = unseen__key_bytes(log->header.key_bits);
    if (n > 0) {
        memmove(to->keys + at * step, from->keys + from->start * step, n * step);
        memmove(to->removed + at, from->removed + from->start, n);
        memmove(to->times + at, from->times + from->start, n * sizeof(*to->times));
    }
}

/* Makes room for n more changes at the end of a row. */
static bool reserve_changes(const struct unseen__log *log, struct unseen__changes *changes,
                            size_t n)
{
    const size_t step = unseen__key_bytes(log->header.key_bits);
    if (n > SIZE_MAX / 64 - changes->n) {
        return false;
    }
    if (changes->start + changes->n + n <= changes->cap) {
        return true;
    }
    /* Move only as many changes as have been taken away, so that each is moved once on average. */
    if (changes->start >= changes->n && changes->n + n <= changes->cap) {
        copy_changes(log, changes, 0, changes, changes->n);
        changes->start = 0;
        return true;
    }
    struct unseen__changes larger = *changes;
    larger.start = 0;
    larger.cap = changes->cap > CHANGES_MIN ? changes->cap : CHANGES_MIN;
    while (larger.cap < changes->n + n) {
        larger.cap *= 2;
    }
    larger.keys = unseen__alloc(&log->allocator, larger.cap * step, 8);
    larger.removed = unseen__alloc(&log->allocator, larger.cap, 8);
    larger.times = unseen__alloc(&log->allocator, larger.cap * sizeof(*larger.times), 8);
    if (!larger.keys || !larger.removed || !larger.times) {
        release_changes(log, &larger);
        return false;
    }
    copy_changes(log, &larger, 0, changes, changes->n);
    release_changes(log, changes);
    *changes = larger;
    return true;
}

/* Moves the first n changes of `from` to the end of `to`, which has room for them. */
static void move_changes(const struct unseen__log *log, struct unseen__changes *to,
                         struct unseen__changes *from, size_t n)
{
    copy_changes(log, to, to->start + to->n, from, n);
    to->n += n;
    from->n -= n;
    from->start = from->n > 0 ? from->start + n : 0;
}

/* ---- the thread ---- */

/* The bits that say which keys are removed; NULL if no key is. */
static enum unseen_status pack_bits(struct unseen__committer *c, const uint8_t **bits_out)
{
    const struct unseen__changes *changes = &c->writing;
    *bits_out = NULL;
    if (!memchr(changes->removed, 1, changes->n)) {
        return UNSEEN_OK;
    }
    const size_t len = (changes->n + 7) / 8;
    if (!array_resize(&c->log->allocator, &c->bits, &c->bits_cap, len, 1)) {
        return UNSEEN_ERR_NOMEM;
    }
    memset(c->bits, 0, len);
    for (size_t i = 0; i < changes->n; i++) {
        c->bits[i / 8] |= (uint8_t)(changes->removed[i] << i % 8);
    }
    *bits_out = c->bits;
    return UNSEEN_OK;
}

/* Says in the record when its keys came: in one run for each time, if there are several. */
static enum unseen_status pack_runs(struct unseen__committer *c, struct unseen__record *record)
{
    const uint64_t *times = c->writing.times;
    record->time = times[record->n - 1];
    for (uint32_t i = 0; times[0] != record->time && i < record->n; i++) {
        if (i > 0 && times[i] == times[i - 1]) {
            c->runs[record->nruns - 1].end = i + 1;
        } else if (array_grow(&c->log->allocator, &c->runs, &c->runs_cap, record->nruns + 1,
                              RUNS_MIN, sizeof(*c->runs))) {
            c->runs[record->nruns++] = (struct unseen__run){.end = i + 1, .time = times[i]};
        } else {
            return UNSEEN_ERR_NOMEM;
        }
    }
    return UNSEEN_OK;
}

int unseen__output_checksum(int fd, uint64_t len, uint64_t *checksum_out)
{
    uint8_t bytes[UNSEEN__OUTPUT_END_LEN];
    const size_t n = len < sizeof(bytes) ? (size_t)len : sizeof(bytes);
    size_t got = 0;
    const int code = unseen__file_read(fd, len - n, bytes, n, &got);
    if (code == 0 && got < n) {
        return EIO; /* the file is shorter than len */
    }
    *checksum_out = unseen__checksum(bytes, n);
    return code;
}

static enum unseen_status commit_changes(struct unseen__committer *c, struct unseen_error *error)
{
    struct unseen__record record = {
        .kind = UNSEEN__RECORD_CHANGES,
        .n = (uint32_t)c->writing.n,
        .output_len = UNSEEN__NO_OUTPUT,
    };
    const uint8_t *bits = NULL;
    int code = c->output_fd >= 0 ? unseen__file_sync(c->output_fd) : 0;
    if (code == 0 && c->output_name) {
        record.output_len = c->writing.output_len;
        code = unseen__output_checksum(c->output_fd, record.output_len, &record.output_checksum);
    }
    if (code != 0) {
        return unseen__error_io(error, "write", c->output_name ? c->output_name : "the output",
                                code);
    }
    if (c->log->header.read_features & UNSEEN__FEATURE_NO_LOG) {
        return UNSEEN_OK;
    }
    enum unseen_status status = pack_bits(c, &bits);
    if (status == UNSEEN_OK) {
        status = pack_runs(c, &record);
    }
    if (status != UNSEEN_OK) {
        return unseen__error_status(error, status, c->log->path);
    }
    record.flags = bits ? UNSEEN__FLAG_REMOVALS : 0;
    status = unseen__log_append(c->log, record, c->writing.keys, bits, c->runs, true, error);
    if (status == UNSEEN_OK) {
        c->durable_len = record.output_len;
        c->durable_checksum = record.output_checksum;
    }
    return status;
}

/* Tells an event loop that a commit has ended. A counter that is full wakes it as well. */
static void notify(const struct unseen__committer *c)
{
    const uint64_t one = 1;
    while (c->notify_fd > 0 && write(c->notify_fd, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
}

static void committer_rest(struct unseen__committer *c)
{
    struct pollfd pfd = {.fd = c->wake[0], .events = POLLIN};
    char bytes[64];
    if (poll(&pfd, 1, REST_MILLISECONDS) > 0) {
        while (read(c->wake[0], bytes, sizeof(bytes)) > 0) {
        }
    }
}

static void *committer_run(void *context)
{
    struct unseen__committer *c = context;
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (c->begun.n == 0 && !c->stop) {
            pthread_cond_wait(&c->changed, &c->lock);
        }
        if (c->begun.n == 0) {
            break;
        }
        const struct unseen__changes written = c->writing;
        c->writing = c->begun;
        c->begun = written;
        c->begun.n = 0;
        const uint64_t nbegun = c->nbegun;
        pthread_mutex_unlock(&c->lock);

        struct unseen_error error;
        const enum unseen_status status = commit_changes(c, &error);

        pthread_mutex_lock(&c->lock);
        pthread_cond_broadcast(&c->changed);
        if (status != UNSEEN_OK) {
            c->status = status;
            c->error = error;
            break;
        }
        c->ndone = nbegun;
        c->ndurable += c->writing.n;
        c->log_end = c->log->end;
        c->log_time = c->log->time;
        pthread_mutex_unlock(&c->lock);
        notify(c);
        committer_rest(c);
        pthread_mutex_lock(&c->lock);
    }
    const bool failed = c->status != UNSEEN_OK;
    pthread_mutex_unlock(&c->lock);
    if (failed) {
        notify(c);
    }
    return NULL;
}

/* ---- the caller ---- */

/* Ends a rest, or the next one before it begins. */
static void hurry(struct unseen__committer *c)
{
    while (write(c->wake[1], "", 1) < 0 && errno == EINTR) {
    } /* a full pipe wakes the thread as well */
}

/* The thread blocks all signals: they are for the caller's threads. */
static int start_thread(struct unseen__committer *c)
{
    sigset_t all;
    sigset_t old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const int code = pthread_create(&c->thread, NULL, committer_run, c);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return code;
}

enum unseen_status unseen__committer_start(struct unseen__committer *c, struct unseen__log *log,
                                           int notify_fd, struct unseen_error *error)
{
    *c = (struct unseen__committer){.log = log,
                                    .notify_fd = notify_fd,
                                    .output_fd = -1,
                                    .durable_len = UNSEEN__NO_OUTPUT,
                                    .log_end = log->end,
                                    .log_time = log->time};
    if (pipe2(c->wake, O_CLOEXEC | O_NONBLOCK) != 0) {
        return unseen__error_io(error, "open a pipe for", log->path, errno);
    }
    bool has_lock = pthread_mutex_init(&c->lock, NULL) == 0;
    bool has_cond = has_lock && pthread_cond_init(&c->changed, NULL) == 0;
    if (has_cond && start_thread(c) == 0) {
        c->is_running = true;
        return UNSEEN_OK;
    }
    if (has_cond) {
        pthread_cond_destroy(&c->changed);
    }
    if (has_lock) {
        pthread_mutex_destroy(&c->lock);
    }
    (void)close(c->wake[0]);
    (void)close(c->wake[1]);
    return unseen__error(error, UNSEEN_ERR_NOMEM, UNSEEN__NO_OFFSET,
                         "%s: there is no room for another thread", log->path);
}

enum unseen_status unseen__committer_reserve(struct unseen__committer *c, size_t n)
{
    return reserve_changes(c->log, &c->waiting, n) ? UNSEEN_OK : UNSEEN_ERR_NOMEM;
}

void unseen__committer_note(struct unseen__committer *c, struct unseen_key key, bool removed,
                            uint64_t time)
{
    const unsigned key_bits = c->log->header.key_bits;
    const size_t i = c->waiting.start + c->waiting.n++;
    unseen__keys_pack(&key, 1, key_bits, c->waiting.keys + i * unseen__key_bytes(key_bits));
    c->waiting.removed[i] = removed;
    c->waiting.times[i] = time;
}

static enum unseen_status failure(const struct unseen__committer *c, struct unseen_error *error)
{
    if (c->status != UNSEEN_OK && error) {
        *error = c->error;
    }
    return c->status;
}

enum unseen_status unseen__committer_begin(struct unseen__committer *c, size_t n,
                                           uint64_t output_len, struct unseen_error *error)
{
    if (n > UNSEEN__RECORD_KEYS_MAX || n > c->waiting.n) {
        return unseen__error(error, UNSEEN_ERR_ARGUMENT, UNSEEN__NO_OFFSET,
                             "%s: too many changes for one commit", c->log->path);
    }
    pthread_mutex_lock(&c->lock);
    while (c->status == UNSEEN_OK && c->begun.n > 0 && c->begun.n + n > BEGUN_MAX) {
        hurry(c);
        pthread_cond_wait(&c->changed, &c->lock);
    }
    enum unseen_status status = failure(c, error);
    if (status == UNSEEN_OK && n > 0 && !reserve_changes(c->log, &c->begun, n)) {
        status = unseen__error_status(error, UNSEEN_ERR_NOMEM, c->log->path);
    }
    if (status == UNSEEN_OK) {
        c->output_len = output_len;
        c->begun.output_len = output_len;
    }
    if (status == UNSEEN_OK && n > 0) {
        const size_t nbefore = c->begun.n;
        move_changes(c->log, &c->begun, &c->waiting, n);
        if (nbefore < REST_UNTIL && c->begun.n >= REST_UNTIL) {
            hurry(c);
        }
        c->nbegun++;
        pthread_cond_broadcast(&c->changed);
    }
    pthread_mutex_unlock(&c->lock);
    return status;
}

enum unseen_status unseen__committer_poll(struct unseen__committer *c, bool wait,
                                          uint64_t *ndurable_out, struct unseen_error *error)
{
    pthread_mutex_lock(&c->lock);
    while (wait && c->status == UNSEEN_OK && c->ndone < c->nbegun) {
        hurry(c);
        pthread_cond_wait(&c->changed, &c->lock);
    }
    if (c->ndone < c->nbegun) {
        hurry(c);
    }
    if (ndurable_out) {
        *ndurable_out = c->ndurable;
    }
    const enum unseen_status status = failure(c, error);
    pthread_mutex_unlock(&c->lock);
    return status;
}

void unseen__committer_fail(struct unseen__committer *c, const struct unseen_error *error)
{
    pthread_mutex_lock(&c->lock);
    c->status = error->status;
    c->error = *error;
    pthread_mutex_unlock(&c->lock);
}

enum unseen_status unseen__committer_status(struct unseen__committer *c)
{
    pthread_mutex_lock(&c->lock);
    const enum unseen_status status = c->status;
    pthread_mutex_unlock(&c->lock);
    return status == UNSEEN_OK ? UNSEEN_OK : UNSEEN_ERR_STOPPED;
}

enum unseen_status unseen__committer_stop(struct unseen__committer *c, struct unseen_error *error)
{
    if (!c->is_running) {
        return UNSEEN_OK;
    }
    pthread_mutex_lock(&c->lock);
    c->stop = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    hurry(c);
    pthread_join(c->thread, NULL);
    c->is_running = false;
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    (void)close(c->wake[0]);
    (void)close(c->wake[1]);
    return failure(c, error);
}

bool unseen__committer_take_back(struct unseen__committer *c, struct unseen_key *key_out,
                                 bool *removed_out)
{
    if (c->waiting.n == 0) {
        return false;
    }
    const unsigned key_bits = c->log->header.key_bits;
    const size_t i = c->waiting.start + --c->waiting.n;
    unseen__keys_unpack(c->waiting.keys + i * unseen__key_bytes(key_bits), 1, key_bits, key_out);
    *removed_out = c->waiting.removed[i];
    return true;
}

void unseen__committer_release(struct unseen__committer *c)
{
    if (c->log) {
        release_changes(c->log, &c->waiting);
        release_changes(c->log, &c->begun);
        release_changes(c->log, &c->writing);
        array_free(&c->log->allocator, &c->bits, &c->bits_cap, 1);
        array_free(&c->log->allocator, &c->runs, &c->runs_cap, sizeof(*c->runs));
    }
}

void unseen__committer_appended(struct unseen__committer *c)
{
    pthread_mutex_lock(&c->lock);
    c->log_end = c->log->end;
    c->log_time = c->log->time;
    pthread_mutex_unlock(&c->lock);
}

uint64_t unseen__committer_log_end(struct unseen__committer *c)
{
    pthread_mutex_lock(&c->lock);
    const uint64_t end = c->log_end;
    pthread_mutex_unlock(&c->lock);
    return end;
}

uint64_t unseen__committer_log_time(struct unseen__committer *c)
{
    pthread_mutex_lock(&c->lock);
    const uint64_t time = c->log_time;
    pthread_mutex_unlock(&c->lock);
    return time;
}
