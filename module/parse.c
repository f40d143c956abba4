/* SPDX-License-Identifier: MIT */
#include "parse.h"

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

enum unseen_status parse_keys(const struct plan *plan, struct server_string **items, size_t n,
                              struct unseen_key *keys)
{
    struct unseen_bytes texts[ITEMS_BATCH];
    for (size_t i = 0; i < n; i++) {
        texts[i].data = server.StringPtrLen(items[i], &texts[i].len);
    }
    return unseen_set_keys(plan->keyer, texts, n, keys, NULL);
}
