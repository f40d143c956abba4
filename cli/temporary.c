/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MAGIC_TMPFS 0x01021994
#define MAGIC_RAMFS 0x858458f6

const char *temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && folder[0] != '\0' ? folder : "/tmp";
}

bool temporary_is_memory(void)
{
    struct statfs fs;
    return statfs(temporary_folder(), &fs) == 0 &&
           (fs.f_type == MAGIC_TMPFS || (unsigned long)fs.f_type == MAGIC_RAMFS);
}

/* For file systems that cannot make a file without a name. */
static int open_named(void)
{
    char path[4096];
    const int len = snprintf(path, sizeof(path), "%s/.unseen-XXXXXX", temporary_folder());
    if (len < 0 || (size_t)len >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0 && unlink(path) != 0) {
        (void)close(fd); /* nothing was written */
        return -1;
    }
    return fd;
}

int temporary_open(struct temporary *t)
{
    const char *folder = temporary_folder();
    int fd = open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        fd = open_named();
    }
    *t = (struct temporary){.fd = fd, .is_open = fd >= 0};
    return fd >= 0 ? 0 : errno;
}

int temporary_append(struct temporary *t, const void *data, size_t len)
{
    const char *from = data;
    while (len > 0) {
        const ssize_t n = pwrite(t->fd, from, len, (off_t)t->end);
        if (n > 0) {
            from += n;
            len -= (size_t)n;
            t->end += (uint64_t)n;
        } else if (n == 0 || errno != EINTR) {
            return n == 0 ? ENOSPC : errno;
        }
    }
    return 0;
}

int temporary_read(const struct temporary *t, uint64_t offset, void *buf, size_t len)
{
    char *to = buf;
    while (len > 0) {
        const ssize_t n = pread(t->fd, to, len, (off_t)offset);
        if (n > 0) {
            to += n;
            len -= (size_t)n;
            offset += (uint64_t)n;
        } else if (n == 0 || errno != EINTR) {
            return n == 0 ? EIO : errno;
        }
    }
    return 0;
}

void temporary_forget(const struct temporary *t, uint64_t offset, size_t len)
{
    (void)fallocate(t->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)len);
}

void temporary_close(struct temporary *t)
{
    if (t->is_open) {
        (void)close(t->fd); /* nobody will read it */
    }
    *t = (struct temporary){.fd = -1};
}
