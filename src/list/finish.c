/* SPDX-License-Identifier: MIT
 *
 * Ends a build: makes the layers, and the file around their pages. builder.h shows the whole
 * build. */
#include "base/posix.h"

#include "list/builder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/own.h"
#include "hash/checksum.h"
#include "list/page.h"
#include "list/sort.h"

enum {
    LEFTOVER_MAX = UNSEEN__LIST_PAGE / 8 /* so many keys take the room of one page */
};

/* The mode of a finished list, of which the umask takes its part; and the mode while it is
 * built. */
static const mode_t MODE = 0644;
static const mode_t MODE_AT_WORK = 0600;

/* Makes PATH.new and locks it: without the lock, a second builder would write to the same file, and
 * the first builder would put a mix of both in place. Only a newly made file shows what the umask
 * leaves of MODE. */
static enum unseen_status open_new(struct unseen_list_build *b, struct unseen_error *error)
{
    struct stat st;
    int code = unseen__list_build_open_folder(b);
    if (code != 0) {
        return unseen__error_io(error, "open the folder of", b->path, code);
    }
    const enum unseen_status status = unseen__own_make(b->folder_fd, unseen__file_name(b->new_path),
                                                       b->new_path, MODE, &b->fd, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    code = fstat(b->fd, &st) != 0 ? errno : 0;
    b->mode = code ? MODE_AT_WORK : st.st_mode & 07777;
    code = code == 0 && fchmod(b->fd, MODE_AT_WORK) != 0 ? errno : code;
    return code ? unseen__error_io(error, "write", b->new_path, code) : UNSEEN_OK;
}

enum unseen_status unseen__list_write_error(const struct unseen_list_build *b, int code,
                                            struct unseen_error *error)
{
    const enum unseen_status status = unseen__error_io(error, "write", b->new_path, code);
    if (error && (code == ENOSPC || code == EDQUOT)) {
        (void)unseen__error(error, status, UNSEEN__NO_OFFSET,
                            "cannot write %s: no space: the list needs about %llu MiB", b->new_path,
                            (unsigned long long)((b->size >> 20) + 1));
        error->code = code;
    }
    return status;
}

/* Reads the keys that no layer took, sorted, into memory of *cap_out keys. */
static enum unseen_status take_leftover(struct unseen_list_build *b, uint64_t **keys_out,
                                        size_t *cap_out)
{
    const size_t cap = (size_t)unseen__spill_total(b->spill) + 1;
    uint64_t *keys = unseen__alloc(&b->allocator, 2 * cap * sizeof(*keys), 64);
    if (!keys) {
        return UNSEEN_ERR_NOMEM;
    }
    uint64_t *to = keys;
    *keys_out = keys;
    *cap_out = 2 * cap;
    for (size_t part = 0; part >> unseen__spill_part_bits(b->spill) == 0; part++) {
        const uint64_t n = unseen__spill_count(b->spill, part);
        const enum unseen_status status = unseen__spill_read(b->spill, part, to, NULL);
        if (status != UNSEEN_OK) {
            return status;
        }
        to += n;
    }
    b->header.nleftover = unseen__sort_distinct(keys, keys + cap, (size_t)(to - keys), 0);
    if (b->header.nlayers == 0) {
        b->header.ndistinct = b->header.nleftover;
    }
    return UNSEEN_OK;
}

/* Makes the sections behind the pages, in *len_out bytes of memory, and puts their checksums into
 * the header. */
static uint8_t *make_sections(struct unseen_list_build *b, const uint64_t *leftover,
                              const struct unseen__list_offsets *p, size_t *len_out)
{
    struct unseen__list_header *h = &b->header;
    const size_t len = (size_t)(p->end - p->table);
    const size_t leftover_at = (size_t)(p->leftover - p->table);
    const size_t groups_at = (size_t)(p->groups - p->table);
    uint8_t *bytes = unseen__alloc_zero(&b->allocator, len + 1, 64);
    if (!bytes) {
        return NULL;
    }
    for (size_t i = 0; i < p->nshards; i++) {
        store_le32(bytes + 4 * i, b->table[i]);
    }
    for (size_t i = 0; i < h->nleftover; i++) {
        store_le64(bytes + leftover_at + 8 * i, leftover[i]);
    }
    for (size_t i = 0; i < p->ngroups; i++) {
        const uint64_t first = i * UNSEEN__LIST_GROUP;
        const uint64_t rest = p->npages - first;
        uint8_t checksums[8 * UNSEEN__LIST_GROUP];
        const size_t n = rest < UNSEEN__LIST_GROUP ? (size_t)rest : UNSEEN__LIST_GROUP;
        for (size_t k = 0; k < n; k++) {
            store_le64(checksums + 8 * k, b->checksums[first + k]);
        }
        store_le64(bytes + groups_at + 8 * i, unseen__checksum(checksums, 8 * n));
    }
    h->table_checksum = unseen__checksum(bytes, leftover_at);
    h->leftover_checksum = unseen__checksum(bytes + leftover_at, groups_at - leftover_at);
    h->group_checksum = unseen__checksum(bytes + groups_at, len - groups_at);
    *len_out = len + 1;
    return bytes;
}

static enum unseen_status write_rest(struct unseen_list_build *b, const uint64_t *leftover,
                                     struct unseen_error *error)
{
    uint8_t header[UNSEEN__LIST_HEADER_LEN];
    struct unseen__list_offsets offsets;
    size_t len = 0;
    uint8_t *bytes = unseen__list_offsets(&b->header, &offsets)
                         ? make_sections(b, leftover, &offsets, &len)
                         : NULL;
    if (!bytes) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, b->path);
    }
    unseen__list_header_encode(&b->header, header);
    int code = unseen__file_write(b->fd, offsets.table, bytes, len - 1);
    code = code ? code : unseen__file_write(b->fd, 0, header, sizeof(header));
    code = code == 0 && fchmod(b->fd, b->mode) != 0 ? errno : code;
    code = code ? code : unseen__file_sync(b->fd);
    code = code ? code
                : unseen__file_replace_in(b->folder_fd, unseen__file_name(b->new_path),
                                          unseen__file_name(b->path));
    unseen__free(&b->allocator, bytes, len);
    return code ? unseen__list_write_error(b, code, error) : UNSEEN_OK;
}

/* Makes all layers, and then the rest of the file. */
static enum unseen_status make_list(struct unseen_list_build *b, struct unseen_error *error)
{
    enum unseen_status status = open_new(b, error);
    while (status == UNSEEN_OK && unseen__spill_total(b->spill) > LEFTOVER_MAX &&
           b->header.nlayers < UNSEEN__LIST_LAYERS_MAX) {
        status = unseen__list_layer_make(b, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    uint64_t *leftover = NULL;
    size_t leftover_cap = 0;
    status = unseen__error_status(error, take_leftover(b, &leftover, &leftover_cap), b->path);
    if (status == UNSEEN_OK) {
        status = write_rest(b, leftover, error);
    }
    unseen__free(&b->allocator, leftover, leftover_cap * sizeof(*leftover));
    return status;
}

enum unseen_status unseen_list_build_finish(struct unseen_list_build *b,
                                            bool (*progress)(void *context, uint64_t ndone,
                                                             uint64_t n),
                                            void *context, struct unseen_error *error)
{
    if (b->was_finished) {
        return unseen__error(error, UNSEEN_ERR_ARGUMENT, UNSEEN__NO_OFFSET,
                             "%s was finished before", b->path);
    }
    b->was_finished = true;
    b->progress = progress;
    b->context = context;
    enum unseen_status status =
        b->failed ? unseen__error_status(error, UNSEEN_ERR_STOPPED, b->path) : UNSEEN_OK;
    if (status == UNSEEN_OK) {
        status = make_list(b, error);
    }
    if (status == UNSEEN_OK) {
        (void)close(b->fd); /* synced, and in place: there is nothing to unlink */
        b->fd = -1;
    }
    return status;
}
