/* SPDX-License-Identifier: MIT
 *
 * Locks by flock(2). /proc/locks names the process that has a lock. */
#include "base/posix.h"

#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

enum {
    TRIES_MAX = 20
};

/* The process that a line of /proc/locks names, if the line is about this file, else 0:
 *     5: FLOCK  ADVISORY  WRITE 1234 fe:01:5678 0 EOF */
static long holder_in(const char *line, const struct stat *st)
{
    const char *p = strstr(line, "FLOCK");
    p = p ? strstr(p, "WRITE ") : NULL;
    if (!p) {
        return 0;
    }
    char *end = NULL;
    const long pid = strtol(p + strlen("WRITE "), &end, 10);
    (void)strtoul(end, &end, 16);
    if (*end != ':') {
        return 0;
    }
    (void)strtoul(end + 1, &end, 16);
    if (*end != ':') {
        return 0;
    }
    const unsigned long long inode = strtoull(end + 1, &end, 10);
    return inode == (unsigned long long)st->st_ino ? pid : 0;
}

/* The process that has the lock; 0 if the system does not tell. Devices are not compared: some file
 * systems show another device in /proc/locks than in stat. */
static long find_holder(int fd)
{
    struct stat st;
    char text[65536];
    size_t len = 0;
    int locks = -1;
    if (unseen__file_open("/proc/locks", O_RDONLY, &locks) != 0) {
        return 0;
    }
    ssize_t n = 0;
    while (len < sizeof(text) - 1 && (n = read(locks, text + len, sizeof(text) - 1 - len)) > 0) {
        len += (size_t)n;
    }
    (void)close(locks);
    text[len] = '\0';
    long pid = 0;
    if (fstat(fd, &st) == 0) {
        for (char *line = text, *end; pid == 0 && (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            pid = holder_in(line, &st);
        }
    }
    return pid;
}

enum unseen_status unseen__lock_take(int fd, const char *path, struct unseen_error *error)
{
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR) {
            continue;
        }
        if (errno != EWOULDBLOCK) {
            return unseen__error_io(error, "lock", path, errno);
        }
        const long pid = find_holder(fd);
        return pid > 0 ? unseen__error(error, UNSEEN_ERR_BUSY, UNSEEN__NO_OFFSET,
                                       "%s is being written to by process %ld", path, pid)
                       : unseen__error(error, UNSEEN_ERR_BUSY, UNSEEN__NO_OFFSET,
                                       "%s is being written to by another process", path);
    }
    return UNSEEN_OK;
}

bool unseen__lock_has_name(int fd, const char *path)
{
    struct stat by_name;
    struct stat open_one;
    return stat(path, &by_name) == 0 && fstat(fd, &open_one) == 0 &&
           by_name.st_dev == open_one.st_dev && by_name.st_ino == open_one.st_ino;
}

void unseen__lock_close(int *fd, long opener)
{
    if (*fd < 0) {
        return;
    }
    /* A child made by fork shares the lock: without LOCK_UN the lock would last as long as the
     * child. */
    if (opener == (long)getpid()) {
        (void)flock(*fd, LOCK_UN);
    }
    (void)close(*fd);
    *fd = -1;
}

enum unseen_status unseen__lock_open(const char *path, int *fd_out, struct unseen_error *error)
{
    for (int tries = 0;; tries++) {
        const int code = unseen__file_open(path, O_RDWR, fd_out);
        if (code != 0) {
            return unseen__error_io(error, "open", path, code);
        }
        const enum unseen_status status = unseen__lock_take(*fd_out, path, error);
        /* Some file systems give a file a new number at each stat. After TRIES_MAX the file counts
         * as the named one. */
        if (status == UNSEEN_OK && (unseen__lock_has_name(*fd_out, path) || tries == TRIES_MAX)) {
            return UNSEEN_OK;
        }
        (void)close(*fd_out); /* nothing was written to it */
        *fd_out = -1;
        if (status != UNSEEN_OK) {
            return status;
        }
    }
}
