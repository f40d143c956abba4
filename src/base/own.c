/* SPDX-License-Identifier: MIT
 *
 * A work file is opened with O_NOFOLLOW, examined by fstat, locked, and then compared with the file
 * that has its name. */
#include "base/posix.h"

#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/lock.h"

enum {
    TRIES_MAX = 20,
    PRIVATE = 0600
};

static enum unseen_status own_refuse(const char *path, const char *why, struct unseen_error *error)
{
    return unseen__error(error, UNSEEN_ERR_FOREIGN, UNSEEN__NO_OFFSET, "%s is in the way: it %s",
                         path, why);
}

/* Why the file must not be written to; NULL if it is ours. */
static const char *fault_of(const struct stat *st)
{
    return !S_ISREG(st->st_mode)       ? "is not a regular file"
           : st->st_uid != geteuid()   ? "belongs to another user"
           : st->st_nlink > (nlink_t)1 ? "has another name, too (a hard link)"
                                       : NULL;
}

enum unseen_status unseen__own_open(int folder, const char *name, const char *path, int flags,
                                    int *fd_out, struct unseen_error *error)
{
    struct stat st;
    int code = unseen__file_open_in(folder, name, flags | O_NOFOLLOW, fd_out);
    if (code == ELOOP) {
        return own_refuse(path, "is a symbolic link", error);
    }
    if (code == EISDIR || code == ENXIO) {
        return own_refuse(path, "is not a regular file", error);
    }
    if (code == EACCES && fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && fault_of(&st)) {
        return own_refuse(path, fault_of(&st), error);
    }
    if (code != 0) {
        return unseen__error_io(error, "open", path, code);
    }
    code = fstat(*fd_out, &st) != 0 ? errno : 0;
    if (code == 0 && !fault_of(&st)) {
        return UNSEEN_OK;
    }
    (void)close(*fd_out); /* nothing was written to it */
    *fd_out = -1;
    return code ? unseen__error_io(error, "read", path, code)
                : own_refuse(path, fault_of(&st), error);
}

static bool has_name(int fd, int folder, const char *name)
{
    struct stat by_name;
    struct stat open_one;
    return fstatat(folder, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &open_one) == 0 &&
           by_name.st_dev == open_one.st_dev && by_name.st_ino == open_one.st_ino;
}

static enum unseen_status lock(int fd, int folder, const char *name, const char *path,
                               bool *has_name_out, struct unseen_error *error)
{
    const enum unseen_status status = unseen__lock_take(fd, path, error);
    *has_name_out = status == UNSEEN_OK && has_name(fd, folder, name);
    return status;
}

/* Locks a file that was just created or opened, and checks that it still has its name. If *done_out
 * is false, it has not, and the caller tries again. The file is closed in that case and after an
 * error. */
static enum unseen_status own_settle(enum unseen_status status, int folder, const char *name,
                                     const char *path, int tries, bool *done_out, int *fd_out,
                                     struct unseen_error *error)
{
    bool is_named = false;
    if (status == UNSEEN_OK) {
        status = lock(*fd_out, folder, name, path, &is_named, error);
    }
    /* Some file systems give a file a new number at each stat. After TRIES_MAX the file counts as
     * the named one. */
    *done_out = status != UNSEEN_OK || is_named || tries == TRIES_MAX;
    if (*fd_out >= 0 && (status != UNSEEN_OK || !*done_out)) {
        (void)close(*fd_out); /* nothing was written to it */
        *fd_out = -1;
    }
    return status;
}

static enum unseen_status own_make(int folder, const char *name, const char *path, unsigned mode,
                                   bool *exists_out, int *fd_out, struct unseen_error *error)
{
    const int code = unseen__file_make_in(folder, name, mode, fd_out);
    *exists_out = code == EEXIST;
    return code == 0 || code == EEXIST ? UNSEEN_OK : unseen__error_io(error, "create", path, code);
}

enum unseen_status unseen__own_take(int folder, const char *name, const char *path, bool makes,
                                    int *fd_out, struct unseen_error *error)
{
    for (int tries = 0;; tries++) {
        bool exists = !makes;
        bool done = false;
        enum unseen_status status =
            makes ? own_make(folder, name, path, PRIVATE, &exists, fd_out, error) : UNSEEN_OK;
        if (status == UNSEEN_OK && exists) {
            status = unseen__own_open(folder, name, path, O_RDWR, fd_out, error);
        }
        if (status == UNSEEN_ERR_MISSING && makes && tries < TRIES_MAX) {
            continue; /* it has just been removed */
        }
        status = own_settle(status, folder, name, path, tries, &done, fd_out, error);
        if (done) {
            return status;
        }
    }
}

/* Removes the file of an earlier run, unless that run still has its lock. */
static enum unseen_status remove_old(int folder, const char *name, const char *path,
                                     struct unseen_error *error)
{
    int fd = -1;
    bool is_named = false;
    enum unseen_status status = unseen__own_open(folder, name, path, O_RDWR, &fd, error);
    if (status != UNSEEN_OK) {
        return status == UNSEEN_ERR_MISSING ? UNSEEN_OK : status;
    }
    status = lock(fd, folder, name, path, &is_named, error);
    if (status == UNSEEN_OK && is_named && unlinkat(folder, name, 0) != 0 && errno != ENOENT) {
        status = unseen__error_io(error, "remove", path, errno);
    }
    (void)close(fd); /* nothing was written to it */
    return status;
}

enum unseen_status unseen__own_make(int folder, const char *name, const char *path, unsigned mode,
                                    int *fd_out, struct unseen_error *error)
{
    for (int tries = 0;; tries++) {
        bool exists = false;
        bool done = false;
        enum unseen_status status = own_make(folder, name, path, mode, &exists, fd_out, error);
        if (status == UNSEEN_OK && exists) {
            status = tries < TRIES_MAX ? remove_old(folder, name, path, error)
                                       : unseen__error_io(error, "create", path, EEXIST);
            if (status == UNSEEN_OK) {
                continue;
            }
        }
        status = own_settle(status, folder, name, path, tries, &done, fd_out, error);
        if (done) {
            return status;
        }
    }
}
