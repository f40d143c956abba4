/* SPDX-License-Identifier: MIT
 *
 * Filling in a struct unseen_error. */
#ifndef UNSEEN_BASE_ERROR_H
#define UNSEEN_BASE_ERROR_H

#include "unseen.h"

#define UNSEEN__NO_PLACE UINT64_MAX

/* Fills *error unless it is NULL, and returns status. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
enum unseen_status
unseen__error(struct unseen_error *error, enum unseen_status status, uint64_t place,
              const char *format, ...);

/* "cannot VERB PATH: what errno number code means"; IO, or MISSING for ENOENT. */
enum unseen_status unseen__error_io(struct unseen_error *error, const char *verb, const char *path,
                                    int code);

/* The status alone, said of the file at path. */
enum unseen_status unseen__error_status(struct unseen_error *error, enum unseen_status status,
                                        const char *path);

#endif
