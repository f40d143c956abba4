/* SPDX-License-Identifier: MIT
 *
 * Reading and writing files: whole requests, whatever signals and short counts say. Each returns 0
 * or an errno number. */
#ifndef UNSEEN_BASE_FILE_H
#define UNSEEN_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

struct stat;

/* open(2) of a file that exists, close-on-exec. A fifo or a device does not make it wait. */
int unseen__file_open(const char *path, int flags, int *fd_out);

/* Opens the folder of path. */
int unseen__file_open_folder(const char *path, int *fd_out);

/* The last part of path: the name in that folder. */
const char *unseen__file_name(const char *path);

/* openat(2), as above; folder may be AT_FDCWD. */
int unseen__file_open_in(int folder, const char *name, int flags, int *fd_out);

/* Makes a file and opens it to read and write; EEXIST if the name is there, even if it is a link that
 * leads nowhere. The umask takes its bits from mode. */
int unseen__file_make_in(int folder, const char *name, unsigned mode, int *fd_out);

/* Gives the open file the owner and the group of another, as far as the process may, and its rights.
 * A group that is not the other's gets no rights. */
int unseen__file_make_alike(int fd, const struct stat *other);

/* Up to len bytes from place; fewer only at the end of the file. */
int unseen__file_read(int fd, uint64_t place, void *buf, size_t len, size_t *len_out);

int unseen__file_write(int fd, uint64_t place, const void *data, size_t len);

/* Data and length are on the disk when this returns. After any error the file must not be written
 * to again: the kernel may have dropped what it could not write, and would say so only once. */
int unseen__file_sync(int fd);

int unseen__file_size(int fd, uint64_t *size_out);

int unseen__file_truncate(int fd, uint64_t size);

/* Makes the name durable: that of a file that was made, renamed or removed. */
int unseen__file_sync_name(const char *path);

/* Gives the file called from the name to, durably; what had it is replaced in one step. */
int unseen__file_replace(const char *from, const char *to);

/* The same for two names in an open folder; and to make the names in it durable. */
int unseen__file_replace_in(int folder, const char *from, const char *to);
int unseen__file_sync_folder(int folder);

#endif
