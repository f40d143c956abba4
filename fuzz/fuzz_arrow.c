/* SPDX-License-Identifier: MIT
 *
 * Forged Arrow arrays for the reader of the Python binding. The interface gives no lengths of
 * buffers, so the ones here are as long as an honest producer's: rows up to offset + length, data
 * up to the last offset, blocks as long as they say. Everything in them is forged. An array that is
 * accepted must give items within its buffers (AddressSanitizer sees every byte read), the same in
 * runs of any length, and one for each row that is not null. The column of canonical forms must
 * have the form of each item, made alone.
 *
 * Byte 0 chooses the layout, byte 1 the length, byte 2 the offset, byte 3 whether there are nulls,
 * a dictionary, and a struct around it all; byte 4 what is missing. The rest fills the buffers. */
#include "arrow_texts.h"
#include "target.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROWS_MAX = 80,
    DATA_MAX = 1 << 14,
    BLOCKS = 2,
    BUFFERS_MAX = 3 + BLOCKS,
    HEAD = 5,
    HAS_NULLS = 1,
    HAS_DICTIONARY = 2,
    IS_STRUCT = 4,
    VIEW_LEN = 16
};

/* The bytes of the input that are left. */
struct source {
    const uint8_t *at;
    size_t len;
};

/* A block of exactly len bytes, filled from the source and then with 0. */
static void *take(struct source *s, size_t len)
{
    const size_t n = len < s->len ? len : s->len;
    uint8_t *block = malloc(len ? len : 1);
    require(block);
    memset(block, 0, len);
    if (n > 0) {
        memcpy(block, s->at, n);
    }
    s->at += n;
    s->len -= n;
    return block;
}

struct made {
    struct ArrowSchema schema;
    struct ArrowArray array;
    const void *buffers[BUFFERS_MAX];
};

/* The data of offsets: up to the last one, as long as that can be. */
static void *data_of(struct source *s, int64_t end)
{
    return take(s, end < 0 ? 0 : end > DATA_MAX ? DATA_MAX : (size_t)end);
}

/* Makes the buffers for n rows. False if an honest producer could not make them. */
static bool make_values(struct made *m, struct source *s, unsigned layout, size_t n)
{
    static const char *const formats[] = {"u", "Z", "vu", "n", "i"};
    m->schema.format = formats[layout];
    m->array.n_buffers = 3;
    if (layout == 0) {
        int32_t *offsets = take(s, (n + 1) * sizeof(*offsets));
        m->buffers[1] = offsets;
        m->buffers[2] = data_of(s, offsets[n]);
        return offsets[n] <= DATA_MAX;
    }
    if (layout == 1) {
        int64_t *offsets = take(s, (n + 1) * sizeof(*offsets));
        m->buffers[1] = offsets;
        m->buffers[2] = data_of(s, offsets[n]);
        return offsets[n] <= DATA_MAX;
    }
    if (layout == 2) {
        int64_t *lens = malloc(BLOCKS * sizeof(*lens));
        require(lens);
        m->array.n_buffers = BUFFERS_MAX;
        m->buffers[1] = take(s, n * VIEW_LEN);
        for (size_t i = 0; i < BLOCKS; i++) {
            lens[i] = (int64_t)(20 + 13 * i);
            m->buffers[2 + i] = take(s, (size_t)lens[i]);
        }
        m->buffers[BUFFERS_MAX - 1] = lens;
    }
    return true;
}

static void make(struct made *m, const uint8_t head[HEAD], size_t n)
{
    memset(m, 0, sizeof(*m));
    m->array.length = (int64_t)n;
    m->array.offset = head[2] % 16;
    m->array.buffers = m->buffers;
}

static void release(struct made *m)
{
    for (size_t i = 0; i < BUFFERS_MAX; i++) {
        free((void *)(uintptr_t)m->buffers[i]);
    }
}

static size_t sum(const struct unseen_bytes *items, size_t n)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < items[i].len; j++) {
            total = 31 * total + (uint8_t)items[i].data[j];
        }
        total += items[i].len;
    }
    return total;
}

static bool is_set(const struct ArrowArray *array, size_t row)
{
    const uint8_t *bits = array->null_count == 0 ? NULL : array->buffers[0];
    return !bits || (bits[row / 8] >> row % 8 & 1);
}

/* Whether a row of an accepted array has an item, by the definition. */
static bool has_item(const struct made *m, size_t row)
{
    const struct ArrowArray *values = m->array.dictionary;
    const size_t at = (size_t)m->array.offset + row;
    if (!values || !is_set(&m->array, at)) {
        return strcmp(m->schema.format, "n") != 0 && is_set(&m->array, at);
    }
    int64_t index = 0; /* little-endian, and not negative, as the array was accepted */
    const char format = m->schema.format[0];
    const size_t width = strchr("cC", format)   ? 1
                         : strchr("sS", format) ? 2
                         : strchr("iI", format) ? 4
                                                : 8;
    memcpy(&index, (const char *)m->array.buffers[1] + at * width, width);
    return strcmp(m->schema.dictionary->format, "n") != 0 &&
           is_set(values, (size_t)(values->offset + index));
}

/* Reads all rows at once, and in runs of `step`. Row 0 is row `skipped` of the array. */
static void check(const struct made *m, size_t skipped, const struct arrow_strings *strings,
                  size_t step)
{
    struct unseen_bytes all[ROWS_MAX];
    struct unseen_bytes some[ROWS_MAX];
    uint16_t rows[ROWS_MAX];
    uint16_t some_rows[ROWS_MAX];
    const size_t n = arrow_read_items(strings, 0, strings->n, all, rows);
    size_t at = 0;
    size_t nfull = 0;
    for (size_t row = 0; row < strings->n; row++) {
        const bool full = has_item(m, skipped + row);
        require(!full || (nfull < n && rows[nfull] == row));
        nfull += full;
    }
    require(n == nfull);
    for (size_t first = 0; first < strings->n; first += step) {
        const size_t left = strings->n - first;
        const size_t k =
            arrow_read_items(strings, first, left < step ? left : step, some, some_rows);
        require(at + k <= n && sum(some, k) == sum(all + at, k));
        for (size_t i = 0; i < k; i++) {
            require(some_rows[i] < step && first + some_rows[i] == rows[at + i]);
            require(i == 0 || some_rows[i] > some_rows[i - 1]);
        }
        at += k;
    }
    require(at == n);
}

static const struct unseen_url *canonicaliser(void)
{
    static struct unseen_url *url;
    require(url || unseen_url_create(&url, NULL, NULL) == UNSEEN_OK);
    return url;
}

/* Whether the text is the canonical form of the item. */
static bool is_form(struct unseen_bytes text, struct unseen_bytes item)
{
    const size_t cap = unseen_url_bound(item.len, 0);
    char *buf = malloc(cap);
    struct unseen_canon canon;
    require(buf && unseen_url_canon(canonicaliser(), item.data, item.len, NULL, buf, cap, &canon) ==
                       UNSEEN_OK);
    const bool is_same = text.len == canon.bytes.len &&
                         (text.len == 0 || memcmp(text.data, canon.bytes.data, text.len) == 0);
    free(buf);
    return is_same;
}

/* Makes the column twice in a row, in runs of `step`. */
static void check_forms(const struct arrow_strings *strings, size_t step)
{
    struct arrow_texts *texts = arrow_texts_create();
    require(texts);
    for (int turn = 0; turn < 2; turn++) {
        for (size_t first = 0; first < strings->n; first += step) {
            const size_t left = strings->n - first;
            require(
                arrow_texts_add(texts, canonicaliser(), strings, first, left < step ? left : step));
        }
    }
    size_t nnulls = 0;
    require(texts->n == 2 * strings->n && texts->offsets[0] == 0);
    for (size_t row = 0; row < texts->n; row++) {
        struct unseen_bytes text;
        struct unseen_bytes item;
        uint16_t number;
        const bool full = arrow_read_items(strings, row % strings->n, 1, &item, &number) == 1;
        require(arrow_texts_get(texts, row, &text) == full);
        require(full ? is_form(text, item) : text.len == 0);
        nnulls += !full;
    }
    require(texts->nnulls == nnulls);
    arrow_texts_drop(arrow_texts_hold(texts));
    arrow_texts_drop(texts);
}

/* Puts the indices of a dictionary in front of the values. */
static void make_indices(struct made *m, struct source *s, const struct made *values,
                         const uint8_t head[HEAD])
{
    static const char *const formats[] = {"c", "C", "s", "S", "i", "I", "l", "L", "f"};
    static const size_t widths[] = {1, 1, 2, 2, 4, 4, 8, 8, 4};
    const unsigned which = head[4] / 16 % 9;
    make(m, head, head[1] % 64);
    m->array.n_buffers = 2;
    m->buffers[1] = take(s, (size_t)(m->array.length + m->array.offset) * widths[which]);
    m->schema.format = formats[which];
    m->schema.dictionary = (struct ArrowSchema *)(uintptr_t)&values->schema;
    m->array.dictionary = (struct ArrowArray *)(uintptr_t)&values->array;
}

/* Reads the array, or the array as the column of a struct. */
static void read(struct made *m, const uint8_t head[HEAD])
{
    struct ArrowSchema *schemas[] = {&m->schema};
    struct ArrowArray *arrays[] = {&m->array};
    struct made outer;
    struct arrow_strings strings;
    make(&outer, head, head[1] % 64);
    outer.schema = (struct ArrowSchema){.format = "+s", .n_children = 1, .children = schemas};
    outer.array.n_buffers = 1;
    outer.array.n_children = 1;
    outer.array.children = arrays;
    outer.array.length -= head[4] & 8 ? outer.array.offset : 0;
    const bool is_struct = head[3] & IS_STRUCT;
    const char *wrong = arrow_read_open(&strings, is_struct ? &outer.schema : &m->schema,
                                        is_struct ? &outer.array : &m->array);
    if (wrong) {
        require(wrong[0] != '\0');
    } else {
        check(m, is_struct ? (size_t)outer.array.offset : 0, &strings, 1 + head[4] % 7);
        check_forms(&strings, 1 + head[4] % 7);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD) {
        return 0;
    }
    struct source s = {data + HEAD, size - HEAD};
    struct made values;
    struct made indices = {.schema = {.format = NULL}};
    make(&values, data, data[1] % 64);
    const size_t nrows = (size_t)(values.array.length + values.array.offset);
    const bool honest = make_values(&values, &s, data[0] % 5, nrows);
    if (data[3] & HAS_NULLS) {
        values.array.null_count = -1;
        values.buffers[0] = take(&s, nrows / 8 + 1);
    }
    struct made *outermost = &values;
    if (data[3] & HAS_DICTIONARY) {
        make_indices(&indices, &s, &values, data);
        outermost = &indices;
    }
    if (data[0] & 0x80) { /* a buffer is missing */
        free((void *)(uintptr_t)outermost->buffers[1]);
        outermost->buffers[1] = NULL;
    }
    if (honest) {
        read(outermost, data);
    }
    release(&values);
    release(&indices);
    return 0;
}
