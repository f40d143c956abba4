/* SPDX-License-Identifier: MIT */
#include "lines/reread.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static void fail(struct reread *r, int code)
{
    if (r->code == 0) {
        r->code = code;
    }
}

void reread_release(struct reread *r)
{
    free(r->files);
    r->files = NULL;
    temporary_close(&r->kept);
}

void reread_note(struct reread *r, int fd)
{
    if (r->nfiles == r->cap) {
        const size_t cap = r->cap ? 2 * r->cap : 16;
        struct reread_file *files = realloc(r->files, cap * sizeof(*files));
        if (!files) {
            fail(r, ENOMEM);
            return;
        }
        r->files = files;
        r->cap = cap;
    }
    struct reread_file *file = &r->files[r->nfiles++];
    *file = (struct reread_file){.is_open = fd >= 0};
    if (fd < 0) {
        return;
    }
    /* Files whose size is not known, as in /proc, may be others when they are opened again. */
    file->is_kept =
        fstat(fd, &file->st) != 0 || !S_ISREG(file->st.st_mode) || file->st.st_size == 0;
    const off_t offset = file->is_kept ? (off_t)r->kept.end : lseek(fd, 0, SEEK_CUR);
    file->offset = offset > 0 ? (uint64_t)offset : 0;
}

void reread_begin(struct reread *r, uint64_t line, const void *data, size_t len)
{
    if (r->nfiles == 0) {
        return; /* there was no memory for a file, which code says */
    }
    r->has_begun = true;
    r->first = r->nfiles - 1;
    r->first_line = line;
    reread_keep(r, data, len);
}

void reread_keep(struct reread *r, const void *data, size_t len)
{
    if (!r->has_begun || r->code != 0 || !r->files[r->nfiles - 1].is_kept || len == 0) {
        return;
    }
    if (!r->kept.is_open) {
        fail(r, temporary_open(&r->kept));
    }
    if (r->code == 0) {
        fail(r, temporary_append(&r->kept, data, len));
    }
    r->files[r->nfiles - 1].bytes += len;
}

void reread_fail(struct reread *r)
{
    if (r->nfiles > 0) {
        r->files[r->nfiles - 1].has_failed = true;
    }
}

void reread_skip(struct reread *r)
{
    if (r->is_again) {
        (void)reread_next(r);
    } else {
        reread_note(r, -1);
    }
}

const struct reread_file *reread_next(struct reread *r)
{
    r->at = 0;
    const size_t i = r->first + r->next++;
    return i < r->nfiles ? &r->files[i] : NULL;
}

bool reread_check(struct reread *r, const struct reread_file *file, int fd)
{
    struct stat st;
    const bool is_same = fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == file->st.st_dev &&
                         st.st_ino == file->st.st_ino && st.st_size == file->st.st_size &&
                         st.st_mtim.tv_sec == file->st.st_mtim.tv_sec &&
                         st.st_mtim.tv_nsec == file->st.st_mtim.tv_nsec &&
                         lseek(fd, (off_t)file->offset, SEEK_SET) >= 0;
    if (!is_same) {
        atomic_store(&r->has_changed, true);
    }
    return is_same;
}

ssize_t reread_take(struct reread *r, const struct reread_file *file, void *buf, size_t cap)
{
    const uint64_t left = file->bytes - r->at;
    const size_t n = left < cap ? (size_t)left : cap;
    const int code = temporary_read(&r->kept, file->offset + r->at, buf, n);
    if (code != 0) {
        errno = code;
        return -1;
    }
    r->at += n;
    return (ssize_t)n;
}
