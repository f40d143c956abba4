/* SPDX-License-Identifier: MIT */
#include "seen/commit_marks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "print/message.h"
#include "print/typed.h"
#include "seen/stores.h"

static bool report_output(const struct commit_marks *h, const char *last,
                          const struct unseen_error *error)
{
    const char *name = h->out->name;
    const char *path = h->o->path;
    message_error("%s", message_of(error));
    switch (error->status) {
    case UNSEEN_ERR_CORRUPT:
        message_hint(
            "move %s away: the next run begins a new file, with the URLs that are new from then on",
            name);
        break;
    case UNSEEN_ERR_FOREIGN:
        message_hint("move %s.cut away: the lines cut from %s go to a file of that name", name,
                     name);
        break;
    case UNSEEN_ERR_STOPPED:
        message_hint("unseen -s %s -o %s < /dev/null && %s", typed_quoted(path), typed_quoted(last),
                     typed_line());
        break;
    case UNSEEN_ERR_MISMATCH:
        message_hint("if it is that file: truncate -s %" PRIu64 " %s && %s", error->offset,
                     typed_quoted(name), typed_line());
        message_hint("if it is not: %s", typed_with("--output NEW"));
        break;
    case UNSEEN_ERR_BUSY:
        message_hint("to wait until it has ended: %s", typed_with("--wait"));
        break;
    case UNSEEN_ERR_ARGUMENT:
        message_hint("%s >> %s", typed_without("output tee"), typed_quoted(name));
        break;
    default:
        break;
    }
    return false;
}

/* Warns if the file that an interrupted run wrote is not there, or is another one: the lines behind
 * its last commit come again. `start` is where the file of this run goes on. */
static void warn_gone(const char *last, uint64_t len, const char *name, uint64_t start)
{
    struct stat st;
    const bool is_same = strcmp(last, name) == 0;
    const bool goes_on = start == len && (is_same || len > 0);
    /* That of this run was there if it is not begun anew. */
    const bool is_there = is_same ? start > 0 : stat(last, &st) == 0;
    if (!goes_on && (is_same || !is_there || (uint64_t)st.st_size != len)) {
        message_warning("%s, which an interrupted run wrote, is %s: its lines behind byte %" PRIu64
                        " come again",
                        last, is_there ? "changed" : "gone", len);
    }
}

/* Tells the store of the output file. `last` is the output of the last run, if that was
 * interrupted. Waits, as --wait says, for a run of another store that writes to the file. */
static bool tell_named(struct commit_marks *h, const char *name, const char *last)
{
    struct stat st = {.st_size = 0};
    struct unseen_error error = {.status = UNSEEN_OK};
    const uint64_t last_len = stores_info(h->store).output_len;
    double waited = 0;
    do {
        (void)fstat(h->out->fd, &st); /* open, and a regular file */
        error.status = unseen_store_output(h->store, h->out->fd, name, &h->start, &error);
    } while (stores_wait(h->o, &waited, &error));
    if (error.status != UNSEEN_OK) {
        return report_output(h, last, &error);
    }
    h->keeps_length = true;
    const uint64_t len = (uint64_t)st.st_size;
    if (h->start < len) {
        message_warning(
            "%s was cut from %" PRIu64 " to %" PRIu64
            " bytes: the rest was not committed, its lines are new again; it is in %s.cut",
            h->out->name, len, h->start, h->out->name);
    } else if (last) {
        warn_gone(last, last_len, name, h->start);
    }
    return output_seek(h->out, h->start, SEEK_SET);
}

static bool tell_file(struct commit_marks *h)
{
    const struct unseen_store_info info = stores_info(h->store);
    char *name = realpath(h->out->name, NULL);
    /* a copy: the store's string changes when it is told another name */
    char *last = info.output_interrupted ? strdup(info.output) : NULL;
    bool told = false;
    if (!name) {
        message_error("cannot open %s: %s", h->out->name, strerror(errno));
    } else if (info.output_interrupted && !last) {
        told = message_no_memory();
    } else {
        told = tell_named(h, name, last);
    }
    free(name);
    free(last);
    return told;
}

/* Tells the store of standard output, which is a file. */
static bool tell_standard(struct commit_marks *h)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    uint64_t len = 0;
    error.status = unseen_store_output(h->store, h->out->fd, NULL, &len, &error);
    return error.status == UNSEEN_OK || report_output(h, NULL, &error);
}

/* Ends the last line of the file if it is incomplete, as a crash or another program may have left
 * it. Otherwise the next line would become a part of it. */
static void end_torn_line(struct commit_marks *h, int fd, uint64_t len)
{
    char last = h->delimiter;
    if (len > 0 && pread(fd, &last, 1, (off_t)len - 1) == 1 && last != h->delimiter) {
        output_write(h->out, &h->delimiter, 1);
    }
}

/* The same for standard output, if it is appended to. */
static void end_torn_standard(struct commit_marks *h, uint64_t len)
{
    const int flags = fcntl(h->out->fd, F_GETFL);
    if (flags < 0 || !(flags & O_APPEND)) {
        return;
    }
    /* The descriptor itself may be for writing only. If the file cannot be opened again, it stays
     * as it is. */
    const int fd = open("/proc/self/fd/1", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd >= 0) {
        end_torn_line(h, fd, len);
        (void)close(fd);
    }
}

bool commit_marks_start(struct commit_marks *h)
{
    struct stat st;
    if (!h->store) {
        return true;
    }
    if (fstat(h->out->fd, &st) != 0) {
        message_error("cannot write %s: %s", h->out->name, strerror(errno));
        return false;
    }
    if (!S_ISREG(st.st_mode)) {
        return true;
    }
    if (h->out->fd == STDOUT_FILENO) {
        if (h->prints_new) {
            end_torn_standard(h, (uint64_t)st.st_size);
            output_sync_name(h->out);
        }
        return !h->prints_new || tell_standard(h);
    }
    if (!h->prints_new) {
        end_torn_line(h, h->out->fd, (uint64_t)st.st_size);
        return output_seek(h->out, 0, SEEK_END);
    }
    if (!tell_file(h)) {
        return false;
    }
    end_torn_line(h, h->out->fd, h->start);
    return true;
}

static void marks_commit(struct commit_marks *h, uint64_t nchanges)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    const uint64_t len = h->keeps_length ? h->start + h->position : 0;
    if (h->failed || h->waits) {
        return;
    }
    error.status = unseen_store_commit_begin(h->store, nchanges, len, &error);
    if (error.status != UNSEEN_OK) {
        h->failed = true;
        stores_report_commit(h->o->path, h->o, &error);
    }
}

/* If there is no room for another mark, the last one moves on, which makes its commit later. */
void commit_marks_mark(struct commit_marks *h, uint64_t nchanges)
{
    if (!h->store || nchanges == 0) {
        return;
    }
    if (!h->prints_new) {
        marks_commit(h, nchanges);
        return;
    }
    if (h->n < COMMIT_MARKS) {
        h->marks[(h->first + h->n++) % COMMIT_MARKS].nchanges = 0;
    }
    const size_t last = (h->first + h->n - 1) % COMMIT_MARKS;
    h->marks[last].nchanges += nchanges;
    h->marks[last].position = h->out->put;
}

/* Commits with the length at the last mark that is due. More may have been written: lines behind
 * the mark, whose keys are not committed yet. */
void commit_marks_written(struct commit_marks *h)
{
    uint64_t nchanges = 0;
    while (!h->waits && h->n > 0 && h->marks[h->first].position <= h->out->written) {
        nchanges += h->marks[h->first].nchanges;
        h->position = h->marks[h->first].position;
        h->first = (h->first + 1) % COMMIT_MARKS;
        h->n--;
    }
    if (nchanges > 0) {
        marks_commit(h, nchanges);
    }
}

void commit_marks_end(struct commit_marks *h)
{
    if (!h->store) {
        return;
    }
    commit_marks_written(h);
    if (!h->out->failed && !h->waits) {
        h->position = h->out->written; /* includes lines that changed nothing */
        marks_commit(h, UINT64_MAX);
    } else if (h->keeps_length && ftruncate(h->out->fd, (off_t)(h->start + h->position)) != 0) {
        message_error("cannot cut %s to its complete lines: %s", h->out->name, strerror(errno));
    }
}
