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

bool parse_memory(const struct server_string *argument, long long max, uint64_t *number_out)
{
    static const struct {
        const char *unit;
        uint64_t bytes;
    } units[] = {{"", 1},        {"b", 1},        {"k", 1000},       {"kb", 1 << 10},
                 {"m", 1000000}, {"mb", 1 << 20}, {"g", 1000000000}, {"gb", 1 << 30}};
    const char *text = server.StringPtrLen(argument, NULL);
    const size_t ndigits = strspn(text, "0123456789");
    uint64_t number = 0;
    for (size_t i = 0; i < ndigits; i++) {
        const uint64_t digit = (uint64_t)(text[i] - '0');
        if (number > ((uint64_t)max - digit) / 10) {
            return false;
        }
        number = 10 * number + digit;
    }
    for (size_t i = 0; ndigits > 0 && i < sizeof(units) / sizeof(*units); i++) {
        if (strcasecmp(text + ndigits, units[i].unit) == 0 &&
            number <= (uint64_t)max / units[i].bytes) {
            *number_out = number * units[i].bytes;
            return true;
        }
    }
    return false;
}

bool parse_double(const struct server_string *argument, double *number_out)
{
    return server.StringToDouble(argument, number_out) == SERVER_OK && isfinite(*number_out);
}
