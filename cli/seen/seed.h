/* SPDX-License-Identifier: MIT
 *
 * The value of --seed and the contents of --seed-file: text, or 0x and hexadecimal digits. */
#ifndef UNSEEN_CLI_SEED_H
#define UNSEEN_CLI_SEED_H

#include <stdbool.h>
#include <stddef.h>

enum {
    SEED_MAX = 4096 /* bytes */
};

struct seed {
    char bytes[SEED_MAX];
    size_t len; /* 0: no seed was given */
};

/* Makes the seed from len bytes of text. False if they are empty or more than SEED_MAX, or if the
 * digits behind 0x are not whole bytes. */
bool seed_parse(struct seed *seed, const char *text, size_t len);

/* Reads the file; a line end at its end does not count. False if that failed, which has been
 * reported. */
bool seed_read(struct seed *seed, const char *name);

/* The seed for an options struct; NULL if none was given. */
static inline const void *seed_bytes(const struct seed *seed)
{
    return seed->len ? seed->bytes : NULL;
}

#endif
