/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* the strerror_r that returns a number */
#endif
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum unseen_status unseen__error(struct unseen_error *error, enum unseen_status status,
                                 uint64_t place, const char *format, ...)
{
    if (error) {
        va_list args;
        va_start(args, format);
        error->status = status;
        error->place = place;
        (void)vsnprintf(error->text, sizeof(error->text), format, args);
        va_end(args);
    }
    return status;
}

enum unseen_status unseen__error_io(struct unseen_error *error, const char *verb, const char *path,
                                    int code)
{
    char text[128] = "";
    if (strerror_r(code, text, sizeof(text)) != 0 && text[0] == '\0') {
        (void)snprintf(text, sizeof(text), "error %d", code);
    }
    return unseen__error(error, code == ENOENT ? UNSEEN_ERR_MISSING : UNSEEN_ERR_IO,
                         UNSEEN__NO_PLACE, "cannot %s %s: %s", verb, path, text);
}

enum unseen_status unseen__error_status(struct unseen_error *error, enum unseen_status status,
                                        const char *path)
{
    return status == UNSEEN_OK ? status
                               : unseen__error(error, status, UNSEEN__NO_PLACE, "%s: %s", path,
                                               unseen_status_string(status));
}
