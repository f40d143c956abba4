/* SPDX-License-Identifier: MIT
 *
 * Reads a secret from a file: the token that lets a client of a port change a served store
 * (docs/serve.md), or the password of a Redis or Valkey server. */
#ifndef UNSEEN_CLI_TOKEN_H
#define UNSEEN_CLI_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

enum {
    TOKEN_MIN = 16,  /* bytes */
    TOKEN_MAX = 1024 /* bytes */
};

/* Reads the first line of the file, which is to have at least min bytes. Returns false if that
 * failed, or the line is too short or too long, which has been reported; the hint (NULL: none) says
 * how to get a file with such a line. */
bool token_read(const char *name, size_t min, const char *hint, char token[TOKEN_MAX + 2]);

#endif
