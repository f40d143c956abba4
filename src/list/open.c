/* SPDX-License-Identifier: MIT
 *
 * Opens the file of a list: reads and checks it, except its pages, which only _verify reads. */
#include "base/posix.h"

#include "list/open.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/filename.h"
#include "base/memory.h"
#include "hash/checksum.h"

enum {
    READ_PAGES = 256 /* at a time, to verify */
};

/* Reads exactly len bytes; fewer are damage. */
static enum unseen_status read_exactly(const struct unseen__list_file *file, uint64_t offset,
                                       void *buf, size_t len, struct unseen_error *error)
{
    size_t got = 0;
    const int code = unseen__file_read(file->fd, offset, buf, len, &got);
    if (code != 0) {
        return unseen__error_io(error, "read", file->path, code);
    }
    return got == len ? UNSEEN_OK : unseen__list_damaged(file->path, offset + got, error);
}

/* ---- opening ---- */

/* Reads and checks the header of the open file. Checks that the list proper is not cut short.
 * Errors: FOREIGN, VERSION, CORRUPT, IO. */
static enum unseen_status list_read_header(int fd, const char *path,
                                           struct unseen__list_header *header_out,
                                           struct unseen__list_offsets *offsets_out,
                                           struct unseen_error *error)
{
    uint8_t bytes[UNSEEN__LIST_HEADER_LEN];
    size_t len = 0;
    struct stat st;
    int code = fstat(fd, &st) != 0 ? errno : S_ISDIR(st.st_mode) ? EISDIR : 0;
    code = code ? code : unseen__file_read(fd, 0, bytes, sizeof(bytes), &len);
    if (code != 0) {
        return unseen__error_io(error, "read", path, code);
    }
    if (len < 8 || memcmp(bytes, "\x89UNT", 4) != 0) {
        return unseen__error(error, UNSEEN_ERR_FOREIGN, 0, "%s is not a list", path);
    }
    memset(bytes + len, 0, sizeof(bytes) - len);
    const enum unseen_status status = unseen__list_header_decode(bytes, header_out);
    if (status == UNSEEN_ERR_VERSION) {
        return unseen__error(error, status, 0, "%s was written by another version of unseen", path);
    }
    if (len < sizeof(bytes)) {
        return unseen__list_damaged(path, len, error);
    }
    if (status != UNSEEN_OK || !unseen__list_offsets(header_out, offsets_out)) {
        return unseen__list_damaged(path, 0, error);
    }
    /* So every size below is within the file, and within what can be asked of memory. */
    const uint64_t size = (uint64_t)st.st_size;
    return size < offsets_out->end || size > SIZE_MAX / 2
               ? unseen__list_damaged(path, size < offsets_out->end ? size : offsets_out->end,
                                      error)
               : UNSEEN_OK;
}

/* Turns the numbers of pages into shards by adding them up. Returns false if they do not fit the
 * header. */
static bool take_shards(struct unseen__list_file *file)
{
    const uint8_t *from = file->sections;
    uint64_t *to = file->shards;
    uint64_t page = 0;
    uint64_t end = 0;
    for (unsigned i = 0; i < file->header.nlayers; i++) {
        const struct unseen__list_layer_info *layer = &file->header.layers[i];
        file->view.layers[i] = (struct unseen__list_layer){layer->shard_bits, to};
        end += layer->npages;
        for (size_t k = 0; k >> layer->shard_bits == 0; k++, from += 4) {
            const uint64_t npages = load_le32(from);
            if (npages < 1 || npages > end - page) {
                return false;
            }
            *to++ = page | npages << 32;
            page += npages;
        }
        if (page != end) {
            return false;
        }
    }
    return true;
}

static size_t sections_len(const struct unseen__list_file *file)
{
    return (size_t)(file->offsets.groups - file->offsets.table);
}

/* Reads and checks the table of shards and the leftover keys. */
static enum unseen_status read_sections(struct unseen__list_file *file, struct unseen_error *error)
{
    const struct unseen_allocator *allocator = &file->allocator;
    const struct unseen__list_offsets *p = &file->offsets;
    const size_t leftover_at = (size_t)(p->leftover - p->table);
    file->sections = unseen__alloc(allocator, sections_len(file) + 1, 64);
    file->shards = unseen__alloc(allocator, ((size_t)p->nshards + 1) * sizeof(uint64_t), 64);
    file->leftover =
        unseen__alloc(allocator, ((size_t)file->header.nleftover + 1) * sizeof(uint64_t), 64);
    if (!file->sections || !file->shards || !file->leftover) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, file->path);
    }
    const enum unseen_status status =
        read_exactly(file, p->table, file->sections, sections_len(file), error);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (unseen__checksum(file->sections, leftover_at) != file->header.table_checksum ||
        !take_shards(file)) {
        return unseen__list_damaged(file->path, p->table, error);
    }
    if (unseen__checksum(file->sections + leftover_at, sections_len(file) - leftover_at) !=
        file->header.leftover_checksum) {
        return unseen__list_damaged(file->path, p->leftover, error);
    }
    for (size_t i = 0; i < file->header.nleftover; i++) {
        file->leftover[i] = load_le64(file->sections + leftover_at + 8 * i);
    }
    return UNSEEN_OK;
}

static enum unseen_status inspect(struct unseen__list_file *file, struct unseen_error *error)
{
    const enum unseen_status status =
        list_read_header(file->fd, file->path, &file->header, &file->offsets, error);
    return status == UNSEEN_OK ? read_sections(file, error) : status;
}

static void release_sections(struct unseen__list_file *file)
{
    const struct unseen_allocator *allocator = &file->allocator;
    unseen__free(allocator, file->sections, file->sections ? sections_len(file) + 1 : 0);
    unseen__free(allocator, file->shards, ((size_t)file->offsets.nshards + 1) * sizeof(uint64_t));
    unseen__free(allocator, file->leftover,
                 ((size_t)file->header.nleftover + 1) * sizeof(uint64_t));
}

enum unseen_status unseen__list_file_inspect(int fd, const char *path,
                                             const struct unseen_allocator *allocator,
                                             struct unseen__list_header *header_out,
                                             struct unseen__list_offsets *offsets_out,
                                             struct unseen_error *error)
{
    struct unseen__list_file file = {.allocator = *allocator, .fd = fd, .path = (char *)path};
    const enum unseen_status status = inspect(&file, error);
    release_sections(&file);
    *header_out = file.header;
    *offsets_out = file.offsets;
    return status;
}

/* The bytes of memory for the pages: a whole number of huge pages. */
static size_t memory_len(const struct unseen__list_file *file)
{
    const size_t len = (size_t)file->offsets.npages * UNSEEN__LIST_PAGE + 1;
    return (len + UNSEEN__HUGE_PAGE - 1) / UNSEEN__HUGE_PAGE * UNSEEN__HUGE_PAGE;
}

static enum unseen_status load_pages(struct unseen__list_file *file, struct unseen_error *error)
{
    const size_t len = memory_len(file);
    uint8_t *memory = unseen__alloc(&file->allocator, len, UNSEEN__LIST_PAGE);
    if (!memory) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, file->path);
    }
    file->memory = memory;
    unseen__memory_large(&file->allocator, memory, len);
    file->view.pages = memory;
    return read_exactly(file, UNSEEN__LIST_HEADER_LEN, memory,
                        (size_t)file->offsets.npages * UNSEEN__LIST_PAGE, error);
}

static enum unseen_status map_pages(struct unseen__list_file *file, enum unseen_list_access access,
                                    struct unseen_error *error)
{
    const size_t size = (size_t)file->offsets.end;
    void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, file->fd, 0);
    if (map == MAP_FAILED) {
        return unseen__error_io(error, "map", file->path, errno);
    }
    file->map = map;
    file->view.pages = (const uint8_t *)map + UNSEEN__LIST_HEADER_LEN;
    /* Advice, which the system may refuse. */
    (void)madvise(map, size, access == UNSEEN_LIST_MAP ? MADV_RANDOM : MADV_WILLNEED);
    return UNSEEN_OK;
}

enum unseen_status unseen__list_file_check(int fd, const char *path,
                                           const struct unseen__list_header *opened,
                                           struct unseen_error *error)
{
    struct unseen__list_header header;
    struct unseen__list_offsets offsets;
    const enum unseen_status status = list_read_header(fd, path, &header, &offsets, error);
    if (status == UNSEEN_ERR_IO || (status == UNSEEN_OK && header.checksum == opened->checksum)) {
        return status;
    }
    return unseen__error(error, UNSEEN_ERR_MISMATCH, 0,
                         "%s was written over or cut short while it was open", path);
}

enum unseen_status unseen__list_file_open(struct unseen__list_file *file, const char *path,
                                          enum unseen_list_access access, enum unseen_cpu cpu,
                                          const struct unseen_allocator *allocator,
                                          struct unseen_error *error)
{
    *file = (struct unseen__list_file){.allocator = *allocator, .fd = -1};
    file->path = unseen__path_with(allocator, path, "");
    if (!file->path) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, path);
    }
    const int code = unseen__file_open(path, O_RDONLY, &file->fd);
    enum unseen_status status =
        code ? unseen__error_io(error, "read", path, code) : inspect(file, error);
    unseen__hasher_init(&file->hasher, &file->header.secret, cpu);
    unseen__list_changes_init(&file->changes, file->path, &file->hasher, file->header.checksum,
                              file->offsets.end, allocator);
    if (status == UNSEEN_OK) {
        status = unseen__list_changes_read(&file->changes, file->fd, NULL, error);
    }
    if (status == UNSEEN_OK) {
        status =
            access == UNSEEN_LIST_READ ? load_pages(file, error) : map_pages(file, access, error);
    }
    if (status != UNSEEN_OK) {
        unseen__list_file_release(file);
        return status;
    }
    file->view.geometry = file->header.geometry;
    file->view.key_mask = UINT64_MAX << (64 - file->header.key_bits);
    file->view.nlayers = file->header.nlayers;
    file->view.leftover = file->leftover;
    file->view.nleftover = (size_t)file->header.nleftover;
    return UNSEEN_OK;
}

void unseen__list_file_release(struct unseen__list_file *file)
{
    const struct unseen_allocator *allocator = &file->allocator;
    if (file->map) {
        (void)munmap(file->map, (size_t)file->offsets.end);
    }
    if (file->fd >= 0) {
        (void)close(file->fd); /* nothing was written to it */
    }
    unseen__free(allocator, file->memory, file->memory ? memory_len(file) : 0);
    release_sections(file);
    unseen__list_changes_release(&file->changes);
    unseen__hasher_release(&file->hasher);
    unseen__secret_forget(&file->header.secret);
    unseen__path_free(allocator, file->path);
}

/* ---- checksums ---- */

/* Compares n pages with the checksums of their groups. The first page is a multiple of
 * UNSEEN__LIST_GROUP. */
static enum unseen_status verify_pages(const struct unseen__list_file *file, const uint8_t *pages,
                                       uint64_t first, size_t n, const uint8_t *group_checksums,
                                       struct unseen_error *error)
{
    for (size_t at = 0; at < n; at += UNSEEN__LIST_GROUP) {
        uint8_t checksums[8 * UNSEEN__LIST_GROUP];
        const size_t count = n - at < UNSEEN__LIST_GROUP ? n - at : UNSEEN__LIST_GROUP;
        for (size_t k = 0; k < count; k++) {
            store_le64(checksums + 8 * k,
                       unseen__checksum(pages + (at + k) * UNSEEN__LIST_PAGE, UNSEEN__LIST_PAGE));
        }
        const size_t group = (size_t)(first + at) / UNSEEN__LIST_GROUP;
        if (unseen__checksum(checksums, 8 * count) != load_le64(group_checksums + 8 * group)) {
            return unseen__list_damaged(
                file->path, UNSEEN__LIST_HEADER_LEN + (first + at) * UNSEEN__LIST_PAGE, error);
        }
    }
    return UNSEEN_OK;
}

static enum unseen_status verify_all(const struct unseen__list_file *file, uint8_t *pages,
                                     uint8_t *group_checksums, struct unseen_error *error)
{
    const struct unseen__list_offsets *p = &file->offsets;
    enum unseen_status status =
        read_exactly(file, p->groups, group_checksums, 8 * (size_t)p->ngroups, error);
    if (status == UNSEEN_OK &&
        unseen__checksum(group_checksums, 8 * (size_t)p->ngroups) != file->header.group_checksum) {
        status = unseen__list_damaged(file->path, p->groups, error);
    }
    for (uint64_t at = 0; status == UNSEEN_OK && at < p->npages; at += READ_PAGES) {
        const uint64_t rest = p->npages - at;
        const size_t n = rest < READ_PAGES ? (size_t)rest : READ_PAGES;
        status = read_exactly(file, UNSEEN__LIST_HEADER_LEN + at * UNSEEN__LIST_PAGE, pages,
                              n * UNSEEN__LIST_PAGE, error);
        if (status == UNSEEN_OK) {
            status = verify_pages(file, pages, at, n, group_checksums, error);
        }
    }
    return status;
}

enum unseen_status unseen__list_file_verify(const struct unseen__list_file *file,
                                            struct unseen_error *error)
{
    const struct unseen_allocator *allocator = &file->allocator;
    const size_t pages_len = (size_t)READ_PAGES * UNSEEN__LIST_PAGE;
    const size_t checksums_len = 8 * (size_t)file->offsets.ngroups + 1;
    uint8_t *pages = unseen__alloc(allocator, pages_len, 64);
    uint8_t *checksums = unseen__alloc(allocator, checksums_len, 64);
    enum unseen_status status = pages && checksums
                                    ? verify_all(file, pages, checksums, error)
                                    : unseen__error_status(error, UNSEEN_ERR_NOMEM, file->path);
    if (status == UNSEEN_OK) {
        status = unseen__list_changes_verify(&file->changes, file->fd, error);
    }
    unseen__free(allocator, pages, pages_len);
    unseen__free(allocator, checksums, checksums_len);
    return status;
}
