/* SPDX-License-Identifier: MIT */
#include "build/build_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "folder.h"
#include "print/message.h"
#include "print/typed.h"

enum {
    WAIT_NS = 50 * 1000 * 1000,
    WAITS = 20
};

static const char LIST_NAME[] = ".unseen-list";

static bool folder_report(const char *what, const char *path)
{
    message_error("cannot %s %s: %s", what, path, strerror(errno));
    return false;
}

/* A killed process holds its lock until the system has freed its memory, so waits a little before
 * the lock is tried again. */
static bool wait_a_little(unsigned *nwaits)
{
    const struct timespec moment = {.tv_nsec = WAIT_NS};
    return (*nwaits)++ < WAITS && nanosleep(&moment, NULL) == 0;
}

/* True if the locked folder still has its name. A process that ends removes the folder, and another
 * one may make a new folder of that name. */
static bool is_named(const struct build_folder *f)
{
    struct stat ours;
    struct stat named;
    return fstat(f->fd, &ours) == 0 && lstat(f->name, &named) == 0 && ours.st_ino == named.st_ino &&
           ours.st_dev == named.st_dev;
}

static bool report_busy(const struct build_folder *f)
{
    message_error("another process is building %s", f->path);
    message_hint("wait until it has ended, or build a list with another name");
    return false;
}

static bool folder_refuse(const struct build_folder *f, const char *why)
{
    message_error("%s %s", f->name, why);
    message_hint("work files go there: remove it, or build the list in a folder of your own");
    return false;
}

/* True if nobody else can write to the folder. Not even root trusts the folder of another user. */
static bool is_ours(const struct build_folder *f)
{
    struct stat st;
    if (fstat(f->fd, &st) != 0) {
        return folder_report("read", f->name);
    }
    if (st.st_uid != geteuid()) {
        return folder_refuse(f, "belongs to another user, who could put anything there");
    }
    return (st.st_mode & 0022) == 0 || folder_refuse(f, "can be written to by other users");
}

static bool folder_report_open(const struct build_folder *f)
{
    struct stat st;
    const int code = errno;
    if (lstat(f->name, &st) == 0 && S_ISLNK(st.st_mode)) {
        return folder_refuse(f, "is a symbolic link, not a folder");
    }
    if (code == ENOTDIR) {
        return folder_refuse(f, "is not a folder");
    }
    errno = code;
    return folder_report("open", f->name);
}

static bool report_make(const struct build_folder *f)
{
    const char *folder = errno == ENOENT ? typed_folder(f->path) : NULL;
    (void)folder_report("make", f->name);
    if (folder) {
        message_hint("%s", folder);
    }
    return false;
}

/* Opens the folder, and makes it if need be. f->fd is -1 if it has just been removed. */
static bool open_folder(struct build_folder *f)
{
    if (mkdir(f->name, 0700) != 0 && errno != EEXIST) {
        return report_make(f);
    }
    f->fd = open(f->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return f->fd >= 0 ? is_ours(f) : errno == ENOENT || folder_report_open(f);
}

/* Gives up a folder that is not ours, so that no file in it is removed. */
static bool folder_give_up(struct build_folder *f)
{
    if (f->fd >= 0) {
        (void)close(f->fd); /* was only read */
    }
    f->fd = -1;
    return false;
}

static bool folder_lock(struct build_folder *f)
{
    for (unsigned nwaits = 0;;) {
        if (!open_folder(f)) {
            return folder_give_up(f);
        }
        const int code = f->fd < 0 || flock(f->fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
        if (f->fd >= 0 && code == 0 && is_named(f)) {
            return true;
        }
        (void)folder_give_up(f);
        if (code != 0 && code != EWOULDBLOCK) {
            errno = code;
            return folder_report("lock", f->name);
        }
        if (!wait_a_little(&nwaits)) {
            return report_busy(f);
        }
    }
}

/* True for the files that the library makes for LIST_NAME (unseen_list_build_create): the list, the
 * list while it is written, and a file of keys, which has a name for a moment only. A user's file
 * has none of these names, so a folder of the user that is called LIST.building keeps its files. */
static bool is_of_build(const char *name)
{
    return strncmp(name, ".unseen-", 8) == 0;
}

/* Removes the files of a build. If a file stays, the folder cannot be removed, and
 * build_folder_remove warns. */
static void clear_folder(const struct build_folder *f)
{
    const int fd = openat(f->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder) {
        if (fd >= 0) {
            (void)close(fd); /* was only read */
        }
        return;
    }
    const struct dirent *entry;
    while ((entry = readdir(folder))) {
        if (is_of_build(entry->d_name)) {
            (void)unlinkat(f->fd, entry->d_name, 0);
        }
    }
    (void)closedir(folder); /* was only read */
}

bool build_folder_open(struct build_folder *f, const char *path)
{
    *f = (struct build_folder){.fd = -1};
    f->path = realpath(path, NULL);
    f->path = f->path ? f->path : strdup(path);
    if (!f->path || asprintf(&f->name, "%s.building", f->path) < 0) {
        f->name = NULL;
    }
    if (!f->name || asprintf(&f->list, "%s/%s", f->name, LIST_NAME) < 0) {
        f->list = NULL;
        return message_no_memory();
    }
    if (!folder_lock(f)) {
        return false;
    }
    clear_folder(f);
    return true;
}

bool build_folder_check_name(const struct build_folder *f)
{
    if (is_named(f)) {
        return true;
    }
    message_error("%s was moved away while a list was built in it", f->name);
    message_hint("build the list in a folder of your own");
    return false;
}

/* Gives the new list the rights of the old one, and its owner if this process may. */
static bool keep_mode(const struct build_folder *f, int list)
{
    struct stat st;
    if (stat(f->path, &st) != 0) {
        return true;
    }
    if (fchown(list, st.st_uid, st.st_gid) != 0 && fchown(list, (uid_t)-1, st.st_gid) != 0 &&
        errno != EPERM) {
        return folder_report("set the owner of", f->list);
    }
    return fchmod(list, st.st_mode & 0777) == 0 || folder_report("set the rights of", f->list);
}

bool build_folder_place(const struct build_folder *f)
{
    const int list = openat(f->fd, LIST_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (list < 0) {
        return folder_report("open", f->list);
    }
    const bool kept = keep_mode(f, list);
    (void)close(list); /* was only read */
    if (!kept) {
        return false;
    }
    if (renameat(f->fd, LIST_NAME, AT_FDCWD, f->path) != 0) {
        return folder_report("replace", f->path);
    }
    return folder_sync(f->path) || folder_report("sync the folder of", f->path);
}

void build_folder_remove(const struct build_folder *f)
{
    if (f->fd < 0) {
        return;
    }
    clear_folder(f);
    if (is_named(f) && rmdir(f->name) != 0) {
        message_warning("%s stays: %s", f->name, strerror(errno));
    }
}

void build_folder_release(struct build_folder *f)
{
    if (f->fd >= 0) {
        (void)close(f->fd); /* was only locked */
    }
    free(f->path);
    free(f->name);
    free(f->list);
    *f = (struct build_folder){.fd = -1};
}

uint64_t build_folder_room(const struct build_folder *f)
{
    struct statvfs v;
    return fstatvfs(f->fd, &v) == 0 ? (uint64_t)v.f_bavail * v.f_frsize : UINT64_MAX;
}
