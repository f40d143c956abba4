/* SPDX-License-Identifier: MIT
 *
 * Fills in a struct unseen_error, for every function of the library that can fail. Each function
 * here returns the status of the error, so that its caller can return at once. `error` may be
 * NULL. */
#ifndef UNSEEN_BASE_ERROR_H
#define UNSEEN_BASE_ERROR_H

#include "unseen.h"

#define UNSEEN__NO_OFFSET UINT64_MAX

/* The text is made from format. offset is the byte that the error is about, or
 * UNSEEN__NO_OFFSET. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
enum unseen_status
unseen__error(struct unseen_error *error, enum unseen_status status, uint64_t offset,
              const char *format, ...);

/* The same for an error about one setting of the caller. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
enum unseen_status
unseen__error_setting(struct unseen_error *error, enum unseen_status status,
                      enum unseen_setting setting, const char *format, ...);

/* The text is the sentence of the status. */
enum unseen_status unseen__error_plain(struct unseen_error *error, enum unseen_status status);

/* Puts "PATH: " in front of the text that *error has. Does nothing if status is OK. */
enum unseen_status unseen__error_prefix(struct unseen_error *error, enum unseen_status status,
                                        const char *path);

/* The caller's struct has a wrong size: its size field is `size`, and this version knows sizes up
 * to `max`. name is the type, without "struct". */
enum unseen_status unseen__error_size(struct unseen_error *error, const char *name, size_t size,
                                      size_t max);

/* The text is "cannot VERB PATH: " and the meaning of the errno number `code`. The status is
 * MISSING for ENOENT, else IO. */
enum unseen_status unseen__error_io(struct unseen_error *error, const char *verb, const char *path,
                                    int code);

/* The text is "PATH: " and the sentence of the status. Does nothing if status is OK. */
enum unseen_status unseen__error_status(struct unseen_error *error, enum unseen_status status,
                                        const char *path);

/* clang's analyser looks at one file at a time. This tells it which status these functions
 * return. */
#ifdef __clang_analyzer__
#define unseen__error(error, status, ...)                                                          \
    ((void)unseen__error(error, status, __VA_ARGS__), (status))
#define unseen__error_io(error, verb, path, code)                                                  \
    ((void)unseen__error_io(error, verb, path, code), UNSEEN_ERR_IO)
#define unseen__error_status(error, status, path)                                                  \
    ((void)unseen__error_status(error, status, path), (status))
#define unseen__error_setting(error, status, setting, ...)                                         \
    ((void)unseen__error_setting(error, status, setting, __VA_ARGS__), (status))
#define unseen__error_plain(error, status) ((void)unseen__error_plain(error, status), (status))
#define unseen__error_prefix(error, status, path)                                                  \
    ((void)unseen__error_prefix(error, status, path), (status))
#define unseen__error_size(error, name, size, max)                                                 \
    ((void)unseen__error_size(error, name, size, max), UNSEEN_ERR_SIZE)
#endif

#endif
