/* SPDX-License-Identifier: MIT
 *
 * Filling in a struct unseen_error. */
#ifndef UNSEEN_BASE_ERROR_H
#define UNSEEN_BASE_ERROR_H

#include "unseen.h"

#define UNSEEN__NO_OFFSET UINT64_MAX

/* Fills *error unless it is NULL, and returns status. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
enum unseen_status
unseen__error(struct unseen_error *error, enum unseen_status status, uint64_t offset,
              const char *format, ...);

/* The same of an option, without an offset. Every other error of this file is of no setting. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
enum unseen_status
unseen__error_setting(struct unseen_error *error, enum unseen_status status,
                      enum unseen_setting setting, const char *format, ...);

/* The sentence of the status alone. */
enum unseen_status unseen__error_plain(struct unseen_error *error, enum unseen_status status);

/* Puts "PATH: " in front of the sentence that *error has, unless status is OK. */
enum unseen_status unseen__error_prefix(struct unseen_error *error, enum unseen_status status,
                                        const char *path);

/* A struct whose size field is size, where this version knows up to max bytes. name is the type. */
enum unseen_status unseen__error_size(struct unseen_error *error, const char *name, size_t size,
                                      size_t max);

/* "cannot VERB PATH: what errno number code means"; IO, or MISSING for ENOENT. */
enum unseen_status unseen__error_io(struct unseen_error *error, const char *verb, const char *path,
                                    int code);

/* The status alone, said of the file at path. */
enum unseen_status unseen__error_status(struct unseen_error *error, enum unseen_status status,
                                        const char *path);

/* clang's analyser looks at one file at a time. This tells it which status these functions return. */
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
