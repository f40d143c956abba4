/* SPDX-License-Identifier: MIT
 *
 * A column of texts that is made row by row: canonical forms of the rows of Arrow arrays. Its
 * blocks have the layout of a large_string array. It knows nothing of Python; fuzz/fuzz_arrow.c
 * makes columns of forged arrays. */
#ifndef UNSEEN_PYTHON_ARROW_TEXTS_H
#define UNSEEN_PYTHON_ARROW_TEXTS_H

#include "arrow_read.h"

#include <stdatomic.h>

/* Text i is data[offsets[i]..offsets[i + 1]), and null if validity has no bit i. */
struct arrow_texts {
    size_t n;
    size_t nnulls;
    bool is_binary; /* the rows were bytes */
    char *data;
    int64_t *offsets; /* n + 1 of them */
    uint8_t *validity;
    size_t data_cap;
    size_t rows_cap;
    atomic_size_t nholders; /* the column is freed with the last of them, on any thread */
};

/* An empty column with one holder. NULL if memory is short. */
struct arrow_texts *arrow_texts_create(void);

struct arrow_texts *arrow_texts_hold(struct arrow_texts *texts);
void arrow_texts_drop(struct arrow_texts *texts);

/* Appends the canonical forms of the rows from first to first + n, which must be below strings->n.
 * Null rows stay null. False if memory is short: then the column can only be dropped. */
bool arrow_texts_add(struct arrow_texts *texts, const struct unseen_url *url,
                     const struct arrow_strings *strings, size_t first, size_t n);

/* The text of a row below texts->n. False if it is null. */
bool arrow_texts_get(const struct arrow_texts *texts, size_t row, struct unseen_bytes *text_out);

#endif
