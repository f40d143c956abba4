/* SPDX-License-Identifier: MIT */
#include "lines/integers.h"

#include <inttypes.h>
#include <stdio.h>

void integers_start(struct integers_printer *printer)
{
    for (unsigned i = 0; i < 10000; i++) {
        printer->digits[i][0] = (char)('0' + i / 1000);
        printer->digits[i][1] = (char)('0' + i / 100 % 10);
        printer->digits[i][2] = (char)('0' + i / 10 % 10);
        printer->digits[i][3] = (char)('0' + i % 10);
    }
    integers_block(printer, 0);
}

void integers_block(struct integers_printer *printer, uint64_t block)
{
    char text[32] = "";
    if (block > 0) {
        snprintf(text, sizeof(text), "%" PRIu64, block);
    }
    printer->block = block;
    printer->len = strlen(text);
    memcpy(printer->text, text, sizeof(printer->text));
}
