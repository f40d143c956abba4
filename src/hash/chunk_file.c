/* SPDX-License-Identifier: MIT */
#include "base/posix.h"

#include "hash/chunk_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/filename.h"
#include "base/memory.h"
#include "base/own.h"
#include "hash/chunk.h"

static const char ending[] = ".unseen-new";

/* ---- Writing --------------------------------------------------------------------------------- */

static void release(struct chunk_writer *w)
{
    if (w->fd >= 0) {
        (void)close(w->fd); /* synced, or given up */
    }
    unseen__path_free(&w->allocator, w->path);
    unseen__path_free(&w->allocator, w->file);
    unseen__path_free(&w->allocator, w->fresh);
    w->fd = -1;
    w->path = NULL;
    w->file = NULL;
    w->fresh = NULL;
}

enum unseen_status unseen__chunk_writer_open(struct chunk_writer *w, const char *path,
                                             unsigned mode,
                                             const struct unseen_allocator *allocator,
                                             struct unseen_error *error)
{
    *w = (struct chunk_writer){.allocator = unseen__allocator(allocator), .fd = -1};
    /* If path is a symbolic link, the file itself is replaced, under the lock that all its names
     * share. */
    w->path = unseen__path_with(&w->allocator, path, "");
    w->file = unseen__path_real(&w->allocator, path);
    w->fresh = w->file ? unseen__path_with(&w->allocator, w->file, ending) : NULL;
    enum unseen_status status = UNSEEN_OK;
    if (!w->path || !w->file || !w->fresh) {
        status = unseen__error_plain(error, UNSEEN_ERR_NOMEM);
    } else {
        status = unseen__own_make(AT_FDCWD, w->fresh, w->fresh, mode, &w->fd, error);
    }
    if (status != UNSEEN_OK) {
        release(w);
    }
    return status;
}

static enum unseen_status write_chunks(const struct chunk_writer *w, unseen__chunk_next *next,
                                       const void *object, uint8_t *buf, int *code_out)
{
    uint64_t cursor = 0;
    uint64_t offset = 0;
    for (;;) {
        size_t len = 0;
        const enum unseen_status status = next(object, &cursor, buf, UNSEEN_CHUNK_MAX, &len);
        if (status != UNSEEN_OK || len == 0) {
            return status;
        }
        *code_out = unseen__file_write(w->fd, offset, buf, len);
        if (*code_out != 0) {
            return UNSEEN_ERR_IO;
        }
        offset += len;
    }
}

/* Gives the new file the owner and the rights of the file that it replaces, and then its name. */
static int take_place(const struct chunk_writer *w)
{
    struct stat old;
    int code = stat(w->file, &old) == 0 ? unseen__file_make_alike(w->fd, &old) : 0;
    code = code ? code : unseen__file_sync(w->fd);
    return code ? code : unseen__file_replace(w->fresh, w->file);
}

enum unseen_status unseen__chunk_writer_finish(struct chunk_writer *w, unseen__chunk_next *next,
                                               const void *object, struct unseen_error *error)
{
    int code = 0;
    uint8_t *buf = unseen__alloc(&w->allocator, UNSEEN_CHUNK_MAX, 64);
    enum unseen_status status = buf ? write_chunks(w, next, object, buf, &code) : UNSEEN_ERR_NOMEM;
    unseen__free(&w->allocator, buf, UNSEEN_CHUNK_MAX);
    if (status == UNSEEN_OK) {
        code = take_place(w);
        status = code ? UNSEEN_ERR_IO : UNSEEN_OK;
    }
    if (status != UNSEEN_OK) {
        status = code ? unseen__error_io(error, "write", w->path, code)
                      : unseen__error_status(error, status, w->path);
        unseen__chunk_writer_abandon(w);
        return status;
    }
    release(w);
    return UNSEEN_OK;
}

void unseen__chunk_writer_abandon(struct chunk_writer *w)
{
    if (w->fd >= 0) {
        (void)unlink(w->fresh); /* at worst it stays, and the next writer removes it */
    }
    release(w);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Reads the chunk at offset. *len_out is 0 at the end of the file. */
static enum unseen_status read_chunk(int fd, uint64_t offset, uint32_t kind, uint8_t *buf,
                                     size_t *len_out, int *code_out)
{
    size_t len = 0;
    *code_out = unseen__file_read(fd, offset, buf, UNSEEN_CHUNK_MAX, &len);
    if (*code_out != 0) {
        return UNSEEN_ERR_IO;
    }
    if (offset == 0 && (len < 4 || chunk_kind(buf) != kind)) {
        return UNSEEN_ERR_FOREIGN;
    }
    if (len == 0) {
        *len_out = 0;
        return UNSEEN_OK;
    }
    const uint64_t whole = len < CHUNK_HEAD + CHUNK_TAIL
                               ? UINT64_MAX
                               : (uint64_t)load_le32(buf + 4) + CHUNK_HEAD + CHUNK_TAIL;
    *len_out = whole <= len ? (size_t)whole : 0;
    return whole <= len ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

static enum unseen_status read_chunks(int fd, uint32_t kind, uint8_t *buf, unseen__chunk_take *take,
                                      void *object, uint64_t *offset, int *code_out)
{
    bool complete = false;
    for (;;) {
        size_t len = 0;
        enum unseen_status status = read_chunk(fd, *offset, kind, buf, &len, code_out);
        if (status != UNSEEN_OK) {
            return status;
        }
        if (len == 0) {
            return complete ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
        }
        status = complete ? UNSEEN_ERR_CORRUPT : take(object, buf, len, &complete);
        if (status != UNSEEN_OK) {
            return status;
        }
        *offset += len;
    }
}

static enum unseen_status report(enum unseen_status status, const char *path, uint64_t offset,
                                 int code, struct unseen_error *error)
{
    switch (status) {
    case UNSEEN_OK:
        return status;
    case UNSEEN_ERR_IO:
        return unseen__error_io(error, "read", path, code);
    case UNSEEN_ERR_CORRUPT:
        return unseen__error(error, status, offset, "%s: damaged at byte %llu", path,
                             (unsigned long long)offset);
    default:
        return unseen__error_status(error, status, path);
    }
}

enum unseen_status unseen__chunk_file_read(const char *path, uint32_t kind,
                                           const struct unseen_allocator *allocator,
                                           unseen__chunk_take *take, void *object,
                                           struct unseen_error *error)
{
    const struct unseen_allocator a = unseen__allocator(allocator);
    int fd = -1;
    uint64_t offset = 0;
    int code = unseen__file_open(path, O_RDONLY, &fd);
    if (code != 0) {
        return unseen__error_io(error, "open", path, code);
    }
    uint8_t *buf = unseen__alloc(&a, UNSEEN_CHUNK_MAX, 64);
    const enum unseen_status status =
        buf ? read_chunks(fd, kind, buf, take, object, &offset, &code) : UNSEEN_ERR_NOMEM;
    unseen__free(&a, buf, UNSEEN_CHUNK_MAX);
    (void)close(fd); /* was only read */
    return report(status, path, offset, code, error);
}
