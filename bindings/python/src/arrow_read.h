/* SPDX-License-Identifier: MIT
 *
 * Reads strings out of Arrow arrays. It knows nothing of Python; fuzz/fuzz_arrow.c gives it forged
 * arrays.
 *
 * The interface hands over pointers without lengths. So an array whose buffers are shorter than its
 * own numbers say cannot be told from a good one. Everything that the numbers themselves
 * contradict is refused before an item is read: offsets that decrease or are negative, views
 * outside their buffers, indices outside their dictionary, missing buffers. */
#ifndef UNSEEN_PYTHON_ARROW_READ_H
#define UNSEEN_PYTHON_ARROW_READ_H

#include "arrow_abi.h"

#include <stdbool.h>
#include <stddef.h>

#include <unseen.h>

enum arrow_layout {
    ARROW_OFFSETS_32,
    ARROW_OFFSETS_64,
    ARROW_VIEWS,
    ARROW_NULLS /* every row is null */
};

/* Strings, checked. */
struct arrow_values {
    enum arrow_layout layout;
    bool is_binary; /* bytes, not text */
    size_t n;
    size_t first;            /* the row of the buffers that is row 0 */
    const uint8_t *validity; /* NULL: no nulls */
    const void *rows;        /* offsets or views */
    const char *data;
    const void *const *blocks; /* of views */
};

/* One array, which it borrows. Of a dictionary-encoded array, the rows are indices of values. */
struct arrow_strings {
    size_t n;
    struct arrow_values values;

    char index_format; /* 0: there is no dictionary */
    size_t index_first;
    const uint8_t *index_validity;
    const void *indices;
};

/* Checks an array, or the one column of a struct array. NULL if it is good, or what is wrong as the
 * end of a sentence that begins with "the Arrow array". */
const char *arrow_read_open(struct arrow_strings *strings, const struct ArrowSchema *schema,
                            const struct ArrowArray *array);

/* Stores the items of the rows from first to first + n, which must be below strings->n, and the
 * number of each item's row behind first. Rows that are null have no item. n is at most 65,536.
 * Returns the number of items. */
size_t arrow_read_items(const struct arrow_strings *strings, size_t first, size_t n,
                        struct unseen_bytes *items, uint16_t *rows);

#endif
