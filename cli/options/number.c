/* SPDX-License-Identifier: MIT
 *
 * Reads the numbers of options: 1e6, 4G, 2.5. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "characters.h"
#include "options/options.h"

/* Parses digits only, exactly up to 2^64 - 1; a double would round. */
static bool whole(const char *text, int base, uint64_t *out)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, base);
    if (errno != 0 || end == text || *end != '\0') {
        return false;
    }
    *out = value;
    return true;
}

static bool scaled(const char *text, double unit, uint64_t *out)
{
    static const char suffixes[] = "KMGT";
    if (!is_digit(text[0])) {
        return false;
    }
    if (text[strspn(text, "0123456789")] == '\0') {
        return whole(text, 10, out);
    }
    size_t len = strspn(text, "0123456789.eE+");
    char *end = NULL;
    double value = strtod(text, &end);
    if (end != text + len) {
        return false;
    }
    if (*end != '\0') {
        const char *suffix = strchr(suffixes, *end == 'k' ? 'K' : *end);
        if (!suffix || end[1] != '\0') {
            return false;
        }
        for (const char *s = suffixes; s <= suffix; s++) {
            value *= unit;
        }
    }
    if (!(value < 9e18) || (double)(uint64_t)value != value) {
        return false;
    }
    *out = (uint64_t)value;
    return true;
}

bool number_count(const char *text, uint64_t *out)
{
    return scaled(text, 1000, out);
}

bool number_bytes(const char *text, uint64_t *out)
{
    return scaled(text, 1024, out);
}

bool number_positive(const char *text, double *out)
{
    if (!is_digit(text[0]) || text[strspn(text, "0123456789.eE+-")] != '\0') {
        return false;
    }
    char *end = NULL;
    double value = strtod(text, &end);
    if (*end != '\0' || !(value > 0 && value < 1e300)) {
        return false;
    }
    *out = value;
    return true;
}

bool number_rate(const char *text, double *out)
{
    double value = 0;
    if (!number_positive(text, &value) || value >= 1) {
        return false;
    }
    *out = value;
    return true;
}

bool number_mode(const char *text, unsigned *out)
{
    unsigned mode = 0;
    const size_t len = strlen(text);
    if (len < 3 || len > 4 || strspn(text, "01234567") != len) {
        return false;
    }
    for (const char *p = text; *p; p++) {
        mode = mode * 8 + (unsigned)(*p - '0');
    }
    *out = mode;
    return (mode & ~0066u) == 0600;
}
