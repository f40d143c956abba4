/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "lines/times.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "characters.h"

/* 2100-01-01, and the fewest milliseconds and microseconds that are taken for such: in 1973. */
#define END_SECONDS UINT64_C(4102444800)
#define LEAST_MS    UINT64_C(100000000000)
#define LEAST_US    (LEAST_MS * 1000)

static const char too_early[] = "is before 1970";
static const char too_late[] = "is after 2100";
static const char no_time[] = "is not a time";
static const char no_offset[] = "has no offset, such as Z or +02:00,";
static const char no_unit[] = "is neither in seconds nor in milliseconds";

/* Reads n digits, and moves *at behind them. False if there are fewer, or if they are not up to
 * max. */
static bool read_digits(const char **at, const char *end, size_t n, unsigned max,
                        unsigned *value_out)
{
    unsigned value = 0;
    if ((size_t)(end - *at) < n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!is_digit((*at)[i])) {
            return false;
        }
        value = value * 10 + (unsigned)((*at)[i] - '0');
    }
    *at += n;
    *value_out = value;
    return value <= max;
}

static bool skip(const char **at, const char *end, const char *any)
{
    const bool found = *at < end && **at != '\0' && strchr(any, **at);
    *at += found;
    return found;
}

/* Reads ".123", if it is there, as milliseconds, rounded: 17 digits of a double may say .1229999 */
static bool read_fraction(const char **at, const char *end, unsigned *ms_out)
{
    unsigned digits[4] = {0};
    size_t n = 0;
    *ms_out = 0;
    if (!skip(at, end, ".")) {
        return true;
    }
    for (; *at < end && is_digit(**at); ++*at, n++) {
        if (n < 4) {
            digits[n] = (unsigned)(**at - '0');
        }
    }
    *ms_out = digits[0] * 100 + digits[1] * 10 + digits[2] + (digits[3] >= 5);
    return n > 0;
}

/* A time of 2099 stays before 2100 if its fraction is rounded up. */
static uint64_t join(uint64_t seconds, unsigned ms)
{
    const uint64_t time = seconds * 1000 + ms;
    return time == END_SECONDS * 1000 ? time - 1 : time;
}

/* Reads Z or an offset, such as +02:00, in seconds. */
static bool read_offset(const char **at, const char *end, int *seconds_out)
{
    unsigned hours = 0;
    unsigned minutes = 0;
    *seconds_out = 0;
    if (skip(at, end, "Zz")) {
        return true;
    }
    const bool is_behind = *at < end && **at == '-';
    if (!skip(at, end, "+-") || !read_digits(at, end, 2, 23, &hours) || !skip(at, end, ":") ||
        !read_digits(at, end, 2, 59, &minutes)) {
        return false;
    }
    *seconds_out = (int)(hours * 3600 + minutes * 60) * (is_behind ? -1 : 1);
    return true;
}

/* Days since 1970 of a date of the Gregorian calendar; false if there is no such day. */
static bool count_days(unsigned year, unsigned month, unsigned day, int64_t *days_out)
{
    struct tm tm = {.tm_year = (int)year - 1900, .tm_mon = (int)month - 1, .tm_mday = (int)day};
    const time_t seconds = timegm(&tm);
    *days_out = (int64_t)seconds / 86400;
    return month >= 1 && tm.tm_mon == (int)month - 1 && tm.tm_mday == (int)day;
}

/* 2026-11-27T18:30:00.5Z */
static const char *parse_date(struct unseen_bytes text, uint64_t *ms_out)
{
    const char *at = text.data;
    const char *const end = at + text.len;
    unsigned year = 0;
    unsigned month = 0;
    unsigned day = 0;
    unsigned hour = 0;
    unsigned minute = 0;
    unsigned second = 0;
    unsigned ms = 0;
    int offset = 0;
    int64_t days = 0;
    if (!read_digits(&at, end, 4, 9999, &year) || !skip(&at, end, "-") ||
        !read_digits(&at, end, 2, 12, &month) || !skip(&at, end, "-") ||
        !read_digits(&at, end, 2, 31, &day) || !skip(&at, end, "Tt ") ||
        !read_digits(&at, end, 2, 23, &hour) || !skip(&at, end, ":") ||
        !read_digits(&at, end, 2, 59, &minute) || !skip(&at, end, ":") ||
        !read_digits(&at, end, 2, 60, &second) || !read_fraction(&at, end, &ms) ||
        !count_days(year, month, day, &days)) {
        return no_time;
    }
    if (at == end) {
        return no_offset;
    }
    if (!read_offset(&at, end, &offset) || at != end) {
        return no_time;
    }
    const int64_t seconds =
        days * 86400 + (int64_t)hour * 3600 + (int64_t)minute * 60 + (int64_t)second - offset;
    if (seconds < 0) {
        return too_early;
    }
    *ms_out = join((uint64_t)seconds, ms);
    return (uint64_t)seconds < END_SECONDS ? NULL : too_late;
}

/* 1764268200, 1764268200.5, 1764268200500, 1764268200500.25 */
static const char *parse_number(struct unseen_bytes text, uint64_t *ms_out)
{
    const char *at = text.data;
    const char *const end = at + text.len;
    const bool is_negative = skip(&at, end, "-");
    const char *const first = at;
    uint64_t value = 0;
    unsigned ms = 0;
    for (; at < end && is_digit(*at); at++) {
        value = value < UINT64_MAX / 16 ? value * 10 + (unsigned)(*at - '0') : value;
    }
    if (at == first || !read_fraction(&at, end, &ms) || at != end) {
        return no_time;
    }
    if (is_negative && value + ms > 0) {
        return too_early;
    }
    if (value < END_SECONDS) {
        *ms_out = join(value, ms);
        return NULL;
    }
    *ms_out = value;
    return value >= LEAST_US                                 ? no_unit
           : value < LEAST_MS || value >= END_SECONDS * 1000 ? too_late
                                                             : NULL;
}

const char *times_parse(struct unseen_bytes text, uint64_t *ms_out)
{
    const bool is_date = text.len > 4 && text.data[4] == '-';
    return is_date ? parse_date(text, ms_out) : parse_number(text, ms_out);
}

void times_put(uint64_t ms, char text[TIMES_TEXT_MAX])
{
    const time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    char date[24] = "";
    if (gmtime_r(&seconds, &tm)) {
        (void)strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
    }
    (void)snprintf(text, TIMES_TEXT_MAX, "%s.%03uZ", date, (unsigned)(ms % 1000));
}
