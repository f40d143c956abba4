/* SPDX-License-Identifier: MIT
 *
 * A temporary file in TMPDIR, or in /tmp. It has no name, so nobody else can open it, and it is
 * gone when the program ends, however that happens. */
#ifndef UNSEEN_CLI_TEMPORARY_H
#define UNSEEN_CLI_TEMPORARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct temporary {
    int fd;       /* valid if is_open */
    uint64_t end; /* bytes written; the next ones go there */
    bool is_open;
};

const char *temporary_folder(void);

/* True if the folder is memory. */
bool temporary_is_memory(void);

/* Each returns 0, or an errno number. */
int temporary_open(struct temporary *t);
int temporary_append(struct temporary *t, const void *data, size_t len);

/* Reads len bytes that were written before. EIO if they are not there. */
int temporary_read(const struct temporary *t, uint64_t offset, void *buf, size_t len);

/* Says that the bytes will not be read again: gives their place on the disk back if the file system
 * can do that. */
void temporary_forget(const struct temporary *t, uint64_t offset, size_t len);

void temporary_close(struct temporary *t);

#endif
