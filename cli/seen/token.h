/* SPDX-License-Identifier: MIT
 *
 * The token that lets a client of a port change a served store (docs/serve.md). */
#ifndef UNSEEN_CLI_TOKEN_H
#define UNSEEN_CLI_TOKEN_H

#include <stdbool.h>

enum {
    TOKEN_MIN = 16,  /* bytes */
    TOKEN_MAX = 1024 /* bytes */
};

/* Reads the first line of the file. Returns false if that failed or is no token, which has been
 * reported. */
bool token_read(const char *name, char token[TOKEN_MAX + 2]);

#endif
