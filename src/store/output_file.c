/* SPDX-License-Identifier: MIT
 *
 * The exactly-once output of `unseen -s STORE -o FILE`. The log says how long the output file is.
 * After a crash the file is cut to that length, so each line is in it once.
 *
 * The file may have been moved or copied since. It is known by its name; by its id, which a rename
 * keeps; or, next to a copy of the log, by the last part of its name. In each case the bytes before
 * the cut must have the checksum that the log has. Another file is never cut. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/filename.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/own.h"
#include "store/store.h"

enum {
    COPY_LEN = 65536
};

static int copy(int from, uint64_t offset, uint64_t end, int to, uint8_t *buf)
{
    uint64_t to_offset = 0;
    int code = unseen__file_size(to, &to_offset);
    while (code == 0 && offset < end) {
        const size_t wanted = end - offset < COPY_LEN ? (size_t)(end - offset) : COPY_LEN;
        size_t got = 0;
        code = unseen__file_read(from, offset, buf, wanted, &got);
        code = code ? code : unseen__file_write(to, to_offset, buf, got);
        offset += got;
        to_offset += got;
        end = got < wanted ? offset : end; /* the file has become shorter */
    }
    return code ? code : unseen__file_sync(to);
}

/* Appends the bytes that will be cut to NAME.cut. They may be more than our lines: another program
 * may have written to the file since. */
static enum unseen_status keep_end(const struct unseen_store *store, int fd, const char *name,
                                   uint64_t size, struct unseen_error *error)
{
    const struct unseen_allocator *allocator = &store->allocator;
    char *aside = unseen__path_with(allocator, name, ".cut");
    uint8_t *buf = unseen__alloc(allocator, COPY_LEN, 64);
    enum unseen_status status = UNSEEN_OK;
    int to = -1;
    int folder = -1;
    if (!aside || !buf) {
        status = unseen__error_status(error, UNSEEN_ERR_NOMEM, name);
        goto out;
    }
    int code = unseen__file_open_folder(aside, &folder);
    if (code != 0) {
        status = unseen__error_io(error, "write", aside, code);
        goto out;
    }
    status = unseen__own_take(folder, unseen__file_name(aside), aside, true, &to, error);
    if (status != UNSEEN_OK) {
        goto out;
    }
    code = copy(fd, store->output.len, size, to, buf);
    code = code ? code : unseen__file_sync_folder(folder);
    status = code ? unseen__error_io(error, "write", aside, code) : UNSEEN_OK;
out:
    if (to >= 0) {
        (void)close(to); /* was synced, if all went well */
    }
    if (folder >= 0) {
        (void)close(folder); /* nothing was written through it */
    }
    unseen__path_free(allocator, aside);
    unseen__free(allocator, buf, COPY_LEN);
    return status;
}

/* Cuts off the lines that were written after the last commit. Their URLs will be new again. */
static enum unseen_status output_cut(const struct unseen_store *store, int fd, const char *name,
                                     uint64_t size, struct unseen_error *error)
{
    const struct unseen__output *output = &store->output;
    uint64_t checksum = 0;
    int code = 0;
    if (size < output->len) {
        return unseen__error(error, UNSEEN_ERR_CORRUPT, size,
                             "%s is shorter than it was: %llu bytes of it are known to %s", name,
                             (unsigned long long)output->len, store->log.path);
    }
    code = unseen__output_checksum(fd, output->len, &checksum);
    if (code == 0 && checksum != output->checksum) {
        return unseen__error(error, UNSEEN_ERR_CORRUPT, output->len,
                             "%s is not what was written last time: it differs before byte %llu",
                             name, (unsigned long long)output->len);
    }
    if (code == 0 && size > output->len) {
        const enum unseen_status status = keep_end(store, fd, name, size, error);
        if (status != UNSEEN_OK) {
            return status;
        }
        code = unseen__file_truncate(fd, output->len);
    }
    return code ? unseen__error_io(error, "write", name, code) : UNSEEN_OK;
}

/* Appends a record that says: from here on, lines go to this file. */
static enum unseen_status record_name(struct unseen_store *store, int fd, const char *name,
                                      uint64_t len, struct unseen_error *error)
{
    struct unseen__output output = {
        .note = store->output.note,
        .file_id = unseen__file_id(fd),
        .log_id = unseen__file_id(store->log.fd),
        .len = len,
    };
    memcpy(output.name, name, strlen(name) + 1);
    int code = unseen__file_sync(fd);
    code = code ? code : unseen__output_checksum(fd, len, &output.checksum);
    if (code != 0) {
        return unseen__error_io(error, "write", name, code);
    }
    const enum unseen_status status = unseen__output_append(&output, &store->log, true, error);
    if (status == UNSEEN_OK) {
        store->output = output;
        unseen__committer_appended(&store->committer);
    }
    return status;
}

/* ---- which file it is ---- */

/* True if the log was copied since it named the output: the output was then copied with it. */
static bool is_copy(const struct unseen_store *store)
{
    const uint64_t id = unseen__file_id(store->log.fd);
    return store->output.log_id != 0 && id != 0 && store->output.log_id != id;
}

/* True if the file is the output of the interrupted run: by name, by id, or as a copy of it. A copy
 * must have committed lines, because any file begins with the same 0 bytes. */
static bool is_output(const struct unseen_store *store, int fd, const char *name)
{
    const struct unseen__output *output = &store->output;
    return strcmp(output->name, name) == 0 ||
           (output->file_id != 0 && output->file_id == unseen__file_id(fd)) ||
           (output->len > 0 && is_copy(store) &&
            strcmp(unseen__file_name(output->name), unseen__file_name(name)) == 0);
}

/* True if the file could be the output, and has bytes to cut. */
static int could_be_output(const struct unseen__output *output, int fd, uint64_t size,
                           bool *could_out)
{
    uint64_t checksum = 0;
    const int code = size > output->len ? unseen__output_checksum(fd, output->len, &checksum) : 0;
    *could_out = size > output->len && checksum == output->checksum;
    return code;
}

/* Checks that no line of the interrupted run comes twice if lines go to another file from now
 * on. */
static enum unseen_status check_other(const struct unseen_store *store, int fd, const char *name,
                                      uint64_t size, struct unseen_error *error)
{
    const struct unseen__output *output = &store->output;
    struct stat st;
    bool could = false;
    const bool is_there = !is_copy(store) && stat(output->name, &st) == 0 && S_ISREG(st.st_mode);
    if (is_there && (uint64_t)st.st_size > output->len) {
        return unseen__error(error, UNSEEN_ERR_STOPPED, output->len,
                             "%s is not finished: the run that wrote it was interrupted, and bytes "
                             "from %llu on are not committed",
                             output->name, (unsigned long long)output->len);
    }
    const int code = is_there ? 0 : could_be_output(output, fd, size, &could);
    if (code != 0) {
        return unseen__error_io(error, "read", name, code);
    }
    return could ? unseen__error(error, UNSEEN_ERR_MISMATCH, output->len,
                                 "%s may be %s, which an interrupted run wrote, or another file",
                                 name, output->name)
                 : UNSEEN_OK;
}

/* Names the output in the log. If the last run was interrupted, cuts the file first. */
static enum unseen_status name_output(struct unseen_store *store, int fd, const char *name,
                                      uint64_t size, uint64_t *len_out, struct unseen_error *error)
{
    const struct unseen__output *output = &store->output;
    const bool was_interrupted = output->name_offset != 0 && !output->closed;
    enum unseen_status status = UNSEEN_OK;
    if (was_interrupted && !is_output(store, fd, name)) {
        status = check_other(store, fd, name, size, error);
    } else if (was_interrupted && size > 0) {
        *len_out = output->len;
        status = output_cut(store, fd, name, size, error);
        if (status != UNSEEN_OK || strcmp(output->name, name) == 0) {
            return status;
        }
    }
    return status == UNSEEN_OK ? record_name(store, fd, name, *len_out, error) : status;
}

enum unseen_status unseen_store_output(struct unseen_store *store, int fd, const char *name,
                                       uint64_t *len_out, struct unseen_error *error)
{
    struct unseen__committer *committer = &store->committer;
    struct stat st;
    const bool no_log = store->log.header.read_features & UNSEEN__FEATURE_NO_LOG;
    if (!store->log.writable || committer->output_fd >= 0 || committer->nbegun > 0 ||
        store->is_draft || (name && (strlen(name) > UNSEEN__OUTPUT_NAME_MAX || no_log))) {
        return unseen__error(error, UNSEEN_ERR_ARGUMENT, UNSEEN__NO_OFFSET,
                             "%s cannot keep the length of an output%s", store->log.path,
                             no_log ? ": it has no log" : "");
    }
    /* Two writers of one file, each at a place of its own, would write over each other's lines. A
     * file system without locks is taken as it is. */
    if (name && unseen__lock_take(fd, name, error) == UNSEEN_ERR_BUSY) {
        return UNSEEN_ERR_BUSY;
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        return unseen__error(error, UNSEEN_ERR_ARGUMENT, UNSEEN__NO_OFFSET,
                             "%s is not a regular file", name ? name : "the output");
    }
    *len_out = (uint64_t)st.st_size;
    if (name) {
        const enum unseen_status status =
            name_output(store, fd, name, (uint64_t)st.st_size, len_out, error);
        if (status != UNSEEN_OK) {
            return status;
        }
        committer->output_name = store->output.name;
        committer->output_len = *len_out;
    }
    committer->output_fd = fd;
    return UNSEEN_OK;
}
