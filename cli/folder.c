/* SPDX-License-Identifier: MIT */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int file_open(const char *path, int flags)
{
    int fd;
    do {
        fd = open(path, flags | O_CLOEXEC | O_NOCTTY, 0666);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

bool folder_sync(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == path ? strdup("/")
                   : slash       ? strndup(path, (size_t)(slash - path))
                                 : strdup(".");
    const int fd = folder ? file_open(folder, O_RDONLY | O_DIRECTORY) : -1;
    free(folder);
    if (fd < 0) {
        return false;
    }
    int code;
    do {
        code = fsync(fd) == 0 ? 0 : errno;
    } while (code == EINTR);
    (void)close(fd); /* was only read */
    errno = code;
    return code == 0 || code == EINVAL; /* some file systems cannot, and need not */
}
