/* SPDX-License-Identifier: MIT
 *
 * Texts as times of lines. What is taken is between 1970 and 2100, and reads the same when it is
 * written as a date. */
#include "target.h"
#include "test.h"

#include "lines/times.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t ms = 0;
    uint64_t again = 0;
    char text[TIMES_TEXT_MAX];
    if (times_parse((struct unseen_bytes){(const char *)data, size}, &ms) != NULL) {
        return 0;
    }
    require(ms <= UINT64_C(4102444800000));
    times_put(ms, text);
    require(times_parse((struct unseen_bytes){text, strlen(text)}, &again) == NULL ||
            ms == UINT64_C(4102444800000));
    require(again == ms);
    return 0;
}
