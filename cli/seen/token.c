/* SPDX-License-Identifier: MIT */
#include "seen/token.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "print/message.h"

bool token_read(const char *name, size_t min, const char *hint, char token[TOKEN_MAX + 2])
{
    FILE *file = fopen(name, "re");
    if (!file) {
        message_error("cannot open %s: %s", name, strerror(errno));
        return false;
    }
    const bool read = fgets(token, TOKEN_MAX + 2, file) != NULL;
    (void)fclose(file); /* was only read */
    const size_t len = read ? strcspn(token, "\r\n") : 0;
    if (len < min || len > TOKEN_MAX) {
        message_error("the first line of %s has to have %zu to %d bytes", name, min, TOKEN_MAX);
        if (hint) {
            message_hint("%s", hint);
        }
        return false;
    }
    token[len] = '\0';
    return true;
}
