/* SPDX-License-Identifier: MIT */
#include "base/posix.h"

#include "log/image_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/filename.h"
#include "base/memory.h"
#include "hash/checksum.h"
#include "hash/chunk.h"
#include "log/log.h"

enum {
    BUF_LEN = 1 << 20,
    CHUNK_OVERHEAD = CHUNK_HEAD + CHUNK_TAIL
};

/* ---- reading ---- */

void unseen__image_release(struct unseen__image *image)
{
    if (image->fd >= 0) {
        (void)close(image->fd); /* nothing was written to it */
        image->fd = -1;
    }
    unseen__path_free(&image->allocator, image->path);
    image->path = NULL;
    unseen__image_end_chunks(image);
}

void unseen__image_end_chunks(struct unseen__image *image)
{
    unseen__free(&image->allocator, image->buf, BUF_LEN);
    image->buf = NULL;
}

static enum unseen_status image_damaged(const struct unseen__image *image, uint64_t offset,
                                        struct unseen_error *error)
{
    return unseen__error(error, UNSEEN_ERR_CORRUPT, offset, "%s is damaged at byte %llu",
                         image->path, (unsigned long long)offset);
}

/* The size of the file. */
static uint64_t size_of_image(const struct unseen__image_header *header)
{
    return unseen__image_body_offset(header) + header->body_len + header->tail_len;
}

static enum unseen_status open_and_read(struct unseen__image *image, struct unseen_error *error)
{
    uint8_t bytes[UNSEEN__IMAGE_HEADER_LEN];
    size_t len = 0;
    int code = unseen__file_open(image->path, O_RDONLY, &image->fd);
    code = code ? code : unseen__file_size(image->fd, &image->size);
    code = code ? code : unseen__file_read(image->fd, 0, bytes, sizeof(bytes), &len);
    if (code != 0) {
        return unseen__error_io(error, "read", image->path, code);
    }
    if (len < sizeof(bytes)) {
        memset(bytes + len, 0, sizeof(bytes) - len);
    }
    const enum unseen_status status = unseen__image_header_decode(bytes, &image->header);
    if (status == UNSEEN_ERR_FOREIGN) {
        return unseen__error(error, status, 0, "%s is in the way: it is not the image of a store",
                             image->path);
    }
    if (status == UNSEEN_ERR_VERSION) {
        return unseen__error_status(error, status, image->path);
    }
    const struct unseen__image_header *header = &image->header;
    if (status != UNSEEN_OK || header->body_len > image->size || header->tail_len > image->size ||
        header->npages > image->size / UNSEEN__IMAGE_PAGE || image->size != size_of_image(header)) {
        return image_damaged(image, 0, error);
    }
    image->offset = unseen__image_body_offset(header);
    image->end = image->offset + header->body_len;
    return UNSEEN_OK;
}

enum unseen_status unseen__image_open(struct unseen__image *image, const struct unseen__log *log,
                                      struct unseen_error *error)
{
    *image = (struct unseen__image){.allocator = log->allocator, .fd = -1};
    image->path = unseen__path_with(&log->allocator, log->file, UNSEEN__IMAGE_SUFFIX);
    image->buf = unseen__alloc(&log->allocator, BUF_LEN, 64);
    const enum unseen_status status =
        image->path && image->buf ? open_and_read(image, error)
                                  : unseen__error_status(error, UNSEEN_ERR_NOMEM, log->path);
    if (status != UNSEEN_OK) {
        unseen__image_release(image);
    }
    return status;
}

/* Moves the next chunk to the start of the buffer and fills the rest of the buffer from the
 * file. */
static enum unseen_status refill(struct unseen__image *image, struct unseen_error *error)
{
    const uint64_t buf_end = image->buf_offset + image->len;
    const size_t kept = image->len > 0 ? (size_t)(buf_end - image->offset) : 0;
    if (kept > 0) {
        memmove(image->buf, image->buf + (image->offset - image->buf_offset), kept);
    }
    image->buf_offset = image->offset;
    size_t got = 0;
    const int code =
        unseen__file_read(image->fd, image->offset + kept, image->buf + kept, BUF_LEN - kept, &got);
    image->len = code == 0 ? kept + got : 0;
    return code ? unseen__error_io(error, "read", image->path, code) : UNSEEN_OK;
}

enum unseen_status unseen__image_next(struct unseen__image *image, const uint8_t **chunk_out,
                                      size_t *len_out, struct unseen_error *error)
{
    if (image->offset == image->end) {
        *len_out = 0;
        return UNSEEN_OK;
    }
    const uint64_t buf_end = image->buf_offset + image->len;
    const uint64_t rest = image->end - image->offset;
    const uint64_t wanted = rest < UNSEEN_CHUNK_MAX ? rest : UNSEEN_CHUNK_MAX;
    if (image->offset + wanted > buf_end) {
        const enum unseen_status status = refill(image, error);
        if (status != UNSEEN_OK) {
            return status;
        }
    }
    const uint8_t *chunk = image->buf + (image->offset - image->buf_offset);
    const size_t have = image->len - (size_t)(image->offset - image->buf_offset);
    const size_t len =
        have >= CHUNK_OVERHEAD ? CHUNK_OVERHEAD + (size_t)load_le32(chunk + 4) : SIZE_MAX;
    if (len > UNSEEN_CHUNK_MAX || len > have || len > rest) {
        return image_damaged(image, image->offset, error);
    }
    image->offset += len;
    *chunk_out = chunk;
    *len_out = len;
    return UNSEEN_OK;
}

enum unseen_status unseen__image_read(const struct unseen__image *image, uint64_t offset,
                                      uint8_t *buf, size_t len)
{
    size_t got = 0;
    const int code = unseen__file_read(image->fd, offset, buf, len, &got);
    return code ? UNSEEN_ERR_IO : got == len ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

enum unseen_status unseen__image_read_tail(const struct unseen__image *image, uint8_t *tail,
                                           struct unseen_error *error)
{
    const struct unseen__image_header *header = &image->header;
    size_t got = 0;
    const int code = unseen__file_read(image->fd, image->end, tail, (size_t)header->tail_len, &got);
    if (code != 0) {
        return unseen__error_io(error, "read", image->path, code);
    }
    return got == header->tail_len && unseen__checksum(tail, got) == header->tail_checksum
               ? UNSEEN_OK
               : image_damaged(image, image->end, error);
}

/* ---- writing ---- */

static enum unseen_status image_flush(struct unseen__image_writer *w, struct unseen_error *error)
{
    const int code = unseen__file_write(w->fd, w->offset, w->buf, w->len);
    w->offset += w->len;
    w->len = 0;
    return code ? unseen__error_io(error, "write", w->new_name, code) : UNSEEN_OK;
}

/* Writes what `next` gives. */
static enum unseen_status write_all(struct unseen__image_writer *w, unseen__chunk_next *next,
                                    const void *object, struct unseen_error *error)
{
    uint64_t cursor = 0;
    for (;;) {
        size_t len = 0;
        enum unseen_status status =
            w->len > BUF_LEN - UNSEEN_CHUNK_MAX ? image_flush(w, error) : UNSEEN_OK;
        if (status != UNSEEN_OK) {
            return status;
        }
        status = next(object, &cursor, w->buf + w->len, BUF_LEN - w->len, &len);
        if (status != UNSEEN_OK) {
            return unseen__error_status(error, status, w->new_name);
        }
        if (len == 0) {
            return image_flush(w, error);
        }
        w->len += len;
    }
}

/* FOREIGN if there is a file called name that is not an image. */
static enum unseen_status check_image_name(const char *name, struct unseen_error *error)
{
    uint8_t bytes[UNSEEN__IMAGE_HEADER_LEN] = {0};
    size_t len = 0;
    int fd = -1;
    struct unseen__image_header header;
    int code = unseen__file_open(name, O_RDONLY, &fd);
    if (code == ENOENT) {
        return UNSEEN_OK;
    }
    if (code == 0) {
        code = unseen__file_read(fd, 0, bytes, sizeof(bytes), &len);
        (void)close(fd); /* was only read */
    }
    if (code != 0 || unseen__image_header_decode(bytes, &header) == UNSEEN_ERR_FOREIGN) {
        return unseen__error(error, UNSEEN_ERR_FOREIGN, 0,
                             "%s is in the way: it is not the image of a store", name);
    }
    return UNSEEN_OK;
}

static enum unseen_status make_file(struct unseen__image_writer *w, const struct unseen__log *log,
                                    struct unseen_error *error)
{
    struct stat st;
    (void)unlink(w->new_name); /* a crash may have left it; if this fails, so does the next call */
    int code = unseen__file_make_in(AT_FDCWD, w->new_name, 0600, &w->fd);
    if (code != 0) {
        return unseen__error_io(error, "create", w->new_name, code);
    }
    /* The image holds the secret: a user who may not read the log may not read the image. */
    code = fstat(log->fd, &st) != 0 ? errno : unseen__file_make_alike(w->fd, &st);
    return code ? unseen__error_io(error, "write", w->new_name, code) : UNSEEN_OK;
}

void unseen__image_abandon(struct unseen__image_writer *w)
{
    if (w->fd >= 0 && w->new_name) {
        (void)close(w->fd);        /* its bytes are not wanted */
        (void)unlink(w->new_name); /* if this fails, the next write removes it */
        w->fd = -1;
    }
    unseen__free(&w->allocator, w->buf, BUF_LEN);
    unseen__path_free(&w->allocator, w->name);
    unseen__path_free(&w->allocator, w->new_name);
    w->buf = NULL;
    w->name = NULL;
    w->new_name = NULL;
}

enum unseen_status unseen__image_start(struct unseen__image_writer *w,
                                       const struct unseen__log *log, struct unseen_error *error)
{
    *w = (struct unseen__image_writer){
        .allocator = log->allocator,
        .fd = -1,
        .name = unseen__path_with(&log->allocator, log->file, UNSEEN__IMAGE_SUFFIX),
        .new_name = unseen__path_with(&log->allocator, log->file, UNSEEN__NEW_IMAGE_SUFFIX),
        .buf = unseen__alloc(&log->allocator, BUF_LEN, 64),
        .offset = UNSEEN__IMAGE_HEADER_LEN};
    enum unseen_status status = w->name && w->new_name && w->buf
                                    ? check_image_name(w->name, error)
                                    : unseen__error_status(error, UNSEEN_ERR_NOMEM, log->path);
    if (status == UNSEEN_OK) {
        status = make_file(w, log, error);
    }
    if (status != UNSEEN_OK) {
        unseen__image_abandon(w);
    }
    return status;
}

enum unseen_status unseen__image_put_pages(struct unseen__image_writer *w, unseen__chunk_next *next,
                                           const void *object, struct unseen_error *error)
{
    return write_all(w, next, object, error);
}

/* Writes what comes behind the pages, and then the header. */
static enum unseen_status write_rest(struct unseen__image_writer *w,
                                     struct unseen__image_header *header,
                                     const struct unseen__image_parts *parts,
                                     struct unseen_error *error)
{
    uint8_t bytes[UNSEEN__IMAGE_HEADER_LEN];
    const uint64_t body = w->offset;
    header->npages = (body - UNSEEN__IMAGE_HEADER_LEN) / UNSEEN__IMAGE_PAGE;
    const enum unseen_status status = write_all(w, parts->next, parts->object, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    header->body_len = w->offset - body;
    header->tail_len = parts->tail_len;
    header->tail_checksum =
        parts->tail_len > 0 ? unseen__checksum(parts->tail, parts->tail_len) : 0;
    int code = parts->tail_len > 0
                   ? unseen__file_write(w->fd, w->offset, parts->tail, parts->tail_len)
                   : 0;
    unseen__image_header_encode(header, bytes);
    code = code ? code : unseen__file_write(w->fd, 0, bytes, sizeof(bytes));
    code = code ? code : unseen__file_sync(w->fd);
    return code ? unseen__error_io(error, "write", w->new_name, code) : UNSEEN_OK;
}

enum unseen_status unseen__image_finish(struct unseen__image_writer *w,
                                        struct unseen__image_header header,
                                        const struct unseen__image_parts *parts,
                                        struct unseen_error *error)
{
    enum unseen_status status = write_rest(w, &header, parts, error);
    const int code = status == UNSEEN_OK ? unseen__file_replace(w->new_name, w->name) : 0;
    if (code != 0) {
        status = unseen__error_io(error, "write", w->name, code);
    }
    if (status == UNSEEN_OK) {
        (void)close(w->fd); /* synced */
        w->fd = -1;
    }
    unseen__image_abandon(w);
    return status;
}

/* ---- removing ---- */

enum unseen_status unseen__image_remove(const struct unseen__log *log, struct unseen_error *error)
{
    char *name = unseen__path_with(&log->allocator, log->file, UNSEEN__IMAGE_SUFFIX);
    char *aside = unseen__path_with(&log->allocator, log->file, ".image.damaged");
    enum unseen_status status = UNSEEN_OK;
    if (!name || !aside) {
        status = unseen__error_status(error, UNSEEN_ERR_NOMEM, log->path);
    } else {
        const bool is_image = check_image_name(name, NULL) == UNSEEN_OK;
        const int code = (is_image ? unlink(name) : rename(name, aside)) == 0 ? 0 : errno;
        if (code != 0 && code != ENOENT) {
            status = unseen__error_io(error, "remove", name, code);
        }
    }
    unseen__path_free(&log->allocator, name);
    unseen__path_free(&log->allocator, aside);
    return status;
}
