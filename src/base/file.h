/* SPDX-License-Identifier: MIT
 *
 * System calls on files, for the log, the store and the list. A read or write is repeated after a
 * signal or a short count until all is done. Each function returns 0 or an errno number. */
#ifndef UNSEEN_BASE_FILE_H
#define UNSEEN_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stat;

/* Opens a file that exists, with flags of open(2) and close-on-exec. Does not wait for the other
 * end of a fifo or for a device. */
int unseen__file_open(const char *path, int flags, int *fd_out);

/* Opens the folder that path lies in. */
int unseen__file_open_folder(const char *path, int *fd_out);

/* The last part of path: the name of the file in its folder. */
const char *unseen__file_name(const char *path);

/* Opens a file that exists by its name in an open folder. folder may be AT_FDCWD. */
int unseen__file_open_in(int folder, const char *name, int flags, int *fd_out);

/* Creates a file and opens it to read and write. EEXIST if the name exists, even as a link that
 * leads nowhere. The umask clears its bits of mode. */
int unseen__file_make_in(int folder, const char *name, unsigned mode, int *fd_out);

/* Gives the open file the owner, the group and the permissions of `other`, as far as the process
 * may. If the group stays another one, it gets no permissions. */
int unseen__file_make_alike(int fd, const struct stat *other);

/* Reads len bytes from offset on. *len_out is less than len only at the end of the file. */
int unseen__file_read(int fd, uint64_t offset, void *buf, size_t len, size_t *len_out);

int unseen__file_write(int fd, uint64_t offset, const void *data, size_t len);

/* Advises the system that reads jump, so that it reads nothing ahead, or follow each other. */
void unseen__file_jumps(int fd, bool jumps);

/* Tells the kernel that these bytes will be read soon, so that it reads many at once. */
void unseen__file_will_read(int fd, uint64_t offset, size_t len);

/* Data and length are on the disk when this returns. After any error the file must not be written
 * to again: the kernel may have dropped what it could not write, and would say so only once. */
int unseen__file_sync(int fd);

int unseen__file_size(int fd, uint64_t *size_out);

/* Whether a file was written to since it was looked at: its length, and when it was last changed.
 * The clock of a file system ticks every few milliseconds. A file that is cut and written to its
 * old length within one tick looks as before. */
struct unseen__file_stamp {
    uint64_t size;
    int64_t seconds;
    int64_t nanoseconds;
};

int unseen__file_stamp(int fd, struct unseen__file_stamp *stamp_out);

/* A stamp of zeros equals no stamp of a file that has bytes. */
bool unseen__file_stamp_equals(const struct unseen__file_stamp *a,
                               const struct unseen__file_stamp *b);

int unseen__file_truncate(int fd, uint64_t size);

/* Makes a name durable after its file was created, renamed or removed. */
int unseen__file_sync_name(const char *path);

/* Renames the file `from` to `to`, durably. If `to` exists, it is replaced in one step. */
int unseen__file_replace(const char *from, const char *to);

/* The same for two names in an open folder. */
int unseen__file_replace_in(int folder, const char *from, const char *to);

/* Makes the names in an open folder durable. */
int unseen__file_sync_folder(int folder);

#endif
