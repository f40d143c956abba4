/* SPDX-License-Identifier: MIT
 *
 * The texts of errors. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* the strerror_r that returns a number */
#endif
#include "base/error.h"

#undef unseen__error
#undef unseen__error_io
#undef unseen__error_status
#undef unseen__error_setting
#undef unseen__error_plain
#undef unseen__error_prefix
#undef unseen__error_size

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void fill(struct unseen_error *error, enum unseen_status status, enum unseen_setting setting,
                 uint64_t offset, const char *format, va_list args)
{
    if (error) {
        error->status = status;
        error->setting = setting;
        error->offset = offset;
        error->code = 0;
        (void)vsnprintf(error->text, sizeof(error->text), format, args);
    }
}

enum unseen_status unseen__error(struct unseen_error *error, enum unseen_status status,
                                 uint64_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(error, status, UNSEEN_SETTING_NONE, offset, format, args);
    va_end(args);
    return status;
}

enum unseen_status unseen__error_setting(struct unseen_error *error, enum unseen_status status,
                                         enum unseen_setting setting, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(error, status, setting, UNSEEN__NO_OFFSET, format, args);
    va_end(args);
    return status;
}

enum unseen_status unseen__error_plain(struct unseen_error *error, enum unseen_status status)
{
    return unseen__error(error, status, UNSEEN__NO_OFFSET, "%s", unseen_status_string(status));
}

enum unseen_status unseen__error_prefix(struct unseen_error *error, enum unseen_status status,
                                        const char *path)
{
    if (error && status != UNSEEN_OK) {
        struct unseen_error whole = *error;
        if (snprintf(whole.text, sizeof(whole.text), "%s: %s", path, error->text) > 0) {
            *error = whole; /* cut at its end, if need be */
        }
    }
    return status;
}

enum unseen_status unseen__error_size(struct unseen_error *error, const char *name, size_t size,
                                      size_t max)
{
    return size == 0 ? unseen__error_setting(error, UNSEEN_ERR_SIZE, UNSEEN_SETTING_SIZE,
                                             "the size of a struct %s is not set: write .size = "
                                             "sizeof(struct %s)",
                                             name, name)
                     : unseen__error_setting(error, UNSEEN_ERR_SIZE, UNSEEN_SETTING_SIZE,
                                             "a struct %s has the size %zu; this version knows "
                                             "sizes up to %zu",
                                             name, size, max);
}

enum unseen_status unseen__error_io(struct unseen_error *error, const char *verb, const char *path,
                                    int code)
{
    char text[128] = "";
    if (strerror_r(code, text, sizeof(text)) != 0 && text[0] == '\0') {
        (void)snprintf(text, sizeof(text), "error %d", code);
    }
    const enum unseen_status status =
        unseen__error(error, code == ENOENT ? UNSEEN_ERR_MISSING : UNSEEN_ERR_IO, UNSEEN__NO_OFFSET,
                      "cannot %s %s: %s", verb, path, text);
    if (error) {
        error->code = code;
    }
    return status;
}

enum unseen_status unseen__error_status(struct unseen_error *error, enum unseen_status status,
                                        const char *path)
{
    return status == UNSEEN_OK ? status
                               : unseen__error(error, status, UNSEEN__NO_OFFSET, "%s: %s", path,
                                               unseen_status_string(status));
}
