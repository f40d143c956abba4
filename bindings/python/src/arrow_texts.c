/* SPDX-License-Identifier: MIT
 *
 * The blocks come from malloc, because the consumer of an Arrow array frees it without the GIL. */
#include "arrow_texts.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROWS_MIN = 1024, /* the smallest column; a multiple of 8 */
    RUN = 256
};

/* ---- Holders --------------------------------------------------------------------------------- */

struct arrow_texts *arrow_texts_create(void)
{
    struct arrow_texts *texts = calloc(1, sizeof(*texts));
    if (!texts) {
        return NULL;
    }
    atomic_init(&texts->nholders, 1);
    texts->offsets = calloc(1, sizeof(*texts->offsets));
    if (!texts->offsets) {
        free(texts);
        return NULL;
    }
    return texts;
}

struct arrow_texts *arrow_texts_hold(struct arrow_texts *texts)
{
    atomic_fetch_add(&texts->nholders, 1);
    return texts;
}

void arrow_texts_drop(struct arrow_texts *texts)
{
    if (texts && atomic_fetch_sub(&texts->nholders, 1) == 1) {
        free(texts->data);
        free(texts->offsets);
        free(texts->validity);
        free(texts);
    }
}

/* ---- Room ------------------------------------------------------------------------------------ */

/* Makes room for n more rows. */
static bool reserve_rows(struct arrow_texts *texts, size_t n)
{
    if (n <= texts->rows_cap - texts->n) {
        return true;
    }
    size_t cap = texts->rows_cap < ROWS_MIN ? ROWS_MIN : 2 * texts->rows_cap;
    cap = cap - texts->n < n ? (texts->n + n + 7) / 8 * 8 : cap;
    if (n > SIZE_MAX / 32 || cap > SIZE_MAX / 32) {
        return false;
    }
    int64_t *offsets = realloc(texts->offsets, (cap + 1) * sizeof(*offsets));
    if (!offsets) {
        return false;
    }
    texts->offsets = offsets;
    uint8_t *validity = realloc(texts->validity, cap / 8);
    if (!validity) {
        return false;
    }
    memset(validity + texts->rows_cap / 8, 0, (cap - texts->rows_cap) / 8);
    texts->validity = validity;
    texts->rows_cap = cap;
    return true;
}

/* Makes room for n more bytes. */
static bool reserve_bytes(struct arrow_texts *texts, size_t n)
{
    const size_t len = (size_t)texts->offsets[texts->n];
    if (n <= texts->data_cap - len) {
        return true;
    }
    if (n > PTRDIFF_MAX / 4 || texts->data_cap > PTRDIFF_MAX / 4) {
        return false;
    }
    const size_t cap = 2 * texts->data_cap > len + n ? 2 * texts->data_cap : len + n;
    char *data = realloc(texts->data, cap);
    if (!data) {
        return false;
    }
    texts->data = data;
    texts->data_cap = cap;
    return true;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void append_null(struct arrow_texts *texts)
{
    texts->offsets[texts->n + 1] = texts->offsets[texts->n];
    texts->n++;
    texts->nnulls++;
}

/* Room for the row is there. */
static bool append_form(struct arrow_texts *texts, const struct unseen_url *url,
                        struct unseen_bytes item)
{
    const size_t bound = unseen_url_bound(item.len, 0);
    if (bound == 0 || !reserve_bytes(texts, bound > item.len ? bound : item.len)) {
        return false;
    }
    const int64_t len = texts->offsets[texts->n];
    char *end = texts->data + len;
    struct unseen_canon canon;
    (void)unseen_url_canon(url, item.data, item.len, NULL, end, texts->data_cap - (size_t)len,
                           &canon); /* never SPACE */
    if (canon.bytes.len > 0 && canon.bytes.data != end) {
        memmove(end, canon.bytes.data, canon.bytes.len); /* within the column, or from the input */
    }
    texts->validity[texts->n / 8] |= (uint8_t)(1 << texts->n % 8);
    texts->n++;
    texts->offsets[texts->n] = len + (int64_t)canon.bytes.len;
    return true;
}

/* arrow_texts_add for at most RUN rows. */
static bool add_run(struct arrow_texts *texts, const struct unseen_url *url,
                    const struct arrow_strings *strings, size_t first, size_t n)
{
    struct unseen_bytes items[RUN];
    uint16_t rows[RUN];
    const size_t nitems = arrow_read_items(strings, first, n, items, rows);
    size_t item = 0;
    for (size_t row = 0; row < n; row++) {
        if (item < nitems && rows[item] == row) {
            if (!append_form(texts, url, items[item++])) {
                return false;
            }
        } else {
            append_null(texts);
        }
    }
    return true;
}

bool arrow_texts_add(struct arrow_texts *texts, const struct unseen_url *url,
                     const struct arrow_strings *strings, size_t first, size_t n)
{
    if (!reserve_rows(texts, n)) {
        return false;
    }
    texts->is_binary = strings->values.is_binary;
    for (size_t at = 0; at < n; at += RUN) {
        if (!add_run(texts, url, strings, first + at, n - at < RUN ? n - at : RUN)) {
            return false;
        }
    }
    return true;
}

bool arrow_texts_get(const struct arrow_texts *texts, size_t row, struct unseen_bytes *text_out)
{
    const int64_t begin = texts->offsets[row];
    const size_t len = (size_t)(texts->offsets[row + 1] - begin);
    *text_out = (struct unseen_bytes){len > 0 ? texts->data + begin : NULL, len};
    return texts->validity[row / 8] >> row % 8 & 1;
}
