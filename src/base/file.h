/* SPDX-License-Identifier: MIT
 *
 * Reading and writing files: whole requests, whatever signals and short counts say. Each returns 0
 * or an errno number. */
#ifndef UNSEEN_BASE_FILE_H
#define UNSEEN_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

/* open(2), close-on-exec. A fifo or a device does not make it wait. */
int unseen__file_open(const char *path, int flags, int *fd_out);

/* The same; a file that this makes is nobody else's to read or write. */
int unseen__file_open_private(const char *path, int flags, int *fd_out);

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

#endif
