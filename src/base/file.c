/* SPDX-License-Identifier: MIT
 *
 * Files through POSIX calls. */
#include "base/posix.h"

#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The most bytes of one request: some systems refuse 2^31 and more. */
static const size_t REQUEST_MAX = (size_t)1 << 30;

static int open_as(int folder, const char *name, int flags, unsigned mode, int *fd_out)
{
    do {
        *fd_out = openat(folder, name, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, mode);
    } while (*fd_out < 0 && errno == EINTR);
    return *fd_out < 0 ? errno : 0;
}

int unseen__file_open(const char *path, int flags, int *fd_out)
{
    return open_as(AT_FDCWD, path, flags, 0, fd_out);
}

int unseen__file_open_in(int folder, const char *name, int flags, int *fd_out)
{
    return open_as(folder, name, flags, 0, fd_out);
}

int unseen__file_make_in(int folder, const char *name, unsigned mode, int *fd_out)
{
    return open_as(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode, fd_out);
}

int unseen__file_make_alike(int fd, const struct stat *other)
{
    struct stat st;
    /* Only a privileged process may change the owner. Any process may set one of its own groups. */
    if (fchown(fd, other->st_uid, other->st_gid) != 0 &&
        fchown(fd, (uid_t)-1, other->st_gid) != 0 && errno != EPERM) {
        return errno;
    }
    if (fstat(fd, &st) != 0) {
        return errno;
    }
    const mode_t mode = other->st_mode & (st.st_gid == other->st_gid ? 0777 : 0707);
    return fchmod(fd, mode) != 0 ? errno : 0;
}

int unseen__file_read(int fd, uint64_t offset, void *buf, size_t len, size_t *len_out)
{
    char *to = buf;
    size_t done = 0;
    while (done < len) {
        const size_t rest = len - done < REQUEST_MAX ? len - done : REQUEST_MAX;
        const ssize_t n = pread(fd, to + done, rest, (off_t)(offset + done));
        if (n < 0 && errno != EINTR) {
            return errno;
        }
        if (n == 0) {
            break;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    *len_out = done;
    return 0;
}

int unseen__file_write(int fd, uint64_t offset, const void *data, size_t len)
{
    const char *from = data;
    size_t done = 0;
    while (done < len) {
        const size_t rest = len - done < REQUEST_MAX ? len - done : REQUEST_MAX;
        const ssize_t n = pwrite(fd, from + done, rest, (off_t)(offset + done));
        if (n < 0 && errno != EINTR) {
            return errno;
        }
        if (n == 0) {
            return ENOSPC; /* POSIX leaves the meaning open; a retry could go on for ever */
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

void unseen__file_jumps(int fd, bool jumps)
{
#ifdef POSIX_FADV_RANDOM
    (void)posix_fadvise(fd, 0, 0, jumps ? POSIX_FADV_RANDOM : POSIX_FADV_NORMAL); /* advice only */
#else
    (void)fd;
    (void)jumps;
#endif
}

void unseen__file_will_read(int fd, uint64_t offset, size_t len)
{
#ifdef POSIX_FADV_WILLNEED
    (void)posix_fadvise(fd, (off_t)offset, (off_t)len, POSIX_FADV_WILLNEED); /* advice only */
#else
    (void)fd;
    (void)offset;
    (void)len;
#endif
}

int unseen__file_sync(int fd)
{
    while (fdatasync(fd) != 0) {
        if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

int unseen__file_size(int fd, uint64_t *size_out)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return errno;
    }
    *size_out = (uint64_t)st.st_size;
    return 0;
}

int unseen__file_stamp(int fd, struct unseen__file_stamp *stamp_out)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return errno;
    }
    *stamp_out = (struct unseen__file_stamp){(uint64_t)st.st_size, (int64_t)st.st_mtim.tv_sec,
                                             (int64_t)st.st_mtim.tv_nsec};
    return 0;
}

bool unseen__file_stamp_equals(const struct unseen__file_stamp *a,
                               const struct unseen__file_stamp *b)
{
    return a->size == b->size && a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

int unseen__file_truncate(int fd, uint64_t size)
{
    while (ftruncate(fd, (off_t)size) != 0) {
        if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

/* The directory of path: "." for a plain name. */
static int directory_of(const char *path, char *buf, size_t cap)
{
    const char *slash = strrchr(path, '/');
    const size_t len = !slash ? 1 : slash == path ? 1 : (size_t)(slash - path);
    if (len >= cap) {
        return ENAMETOOLONG;
    }
    memcpy(buf, slash ? path : ".", len);
    buf[len] = '\0';
    return 0;
}

const char *unseen__file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int unseen__file_open_folder(const char *path, int *fd_out)
{
    char directory[PATH_MAX];
    const int code = directory_of(path, directory, sizeof(directory));
    return code ? code : unseen__file_open(directory, O_RDONLY | O_DIRECTORY, fd_out);
}

int unseen__file_sync_folder(int folder)
{
    while (fsync(folder) != 0) {
        if (errno == EINVAL) {
            return 0; /* a file system whose directories need no sync */
        }
        if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

int unseen__file_sync_name(const char *path)
{
    int folder = -1;
    int code = unseen__file_open_folder(path, &folder);
    if (code == 0) {
        code = unseen__file_sync_folder(folder);
        (void)close(folder); /* nothing was written through it */
    }
    return code;
}

int unseen__file_replace(const char *from, const char *to)
{
    int folder = -1;
    int code = unseen__file_open_folder(to, &folder);
    if (code == 0) {
        code = rename(from, to) == 0 ? unseen__file_sync_folder(folder) : errno;
        (void)close(folder); /* nothing was written through it */
    }
    return code;
}

int unseen__file_replace_in(int folder, const char *from, const char *to)
{
    return renameat(folder, from, folder, to) == 0 ? unseen__file_sync_folder(folder) : errno;
}
