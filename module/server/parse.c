/* SPDX-License-Identifier: MIT */
#include "server/parse.h"

#include <math.h>
#include <string.h>
#include <strings.h>

bool parse_is(const struct server_string *argument, const char *word)
{
    size_t len;
    const char *text = server.StringPtrLen(argument, &len);
    return len == strlen(word) && strncasecmp(text, word, len) == 0;
}

bool parse_begins(const struct server_string *argument, const char *letters)
{
    size_t len;
    const char *text = server.StringPtrLen(argument, &len);
    return len >= strlen(letters) && strncasecmp(text, letters, strlen(letters)) == 0;
}

bool parse_number(const struct server_string *argument, long long *number_out)
{
    return server.StringToLongLong(argument, number_out) == SERVER_OK;
}

bool parse_range(const struct server_string *argument, long long min, long long max,
                 uint64_t *number_out)
{
    long long number;
    if (!parse_number(argument, &number) || number < min || number > max) {
        return false;
    }
    *number_out = (uint64_t)number;
    return true;
}

bool parse_double(const struct server_string *argument, double *number_out)
{
    return server.StringToDouble(argument, number_out) == SERVER_OK && isfinite(*number_out);
}
