/* SPDX-License-Identifier: MIT */
#include "arrow_read.h"

#include <limits.h>
#include <string.h>

/* A view: the length, and either up to 12 bytes or a prefix and a place in a block. */
struct view {
    int32_t len;
    union {
        char bytes[12];
        struct {
            char prefix[4];
            int32_t block;
            int32_t offset;
        } at;
    } as;
};

enum {
    VIEW_INLINE_MAX = 12
};

static bool is_valid(const uint8_t *validity, size_t row)
{
    return !validity || (validity[row / 8] >> row % 8 & 1);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

/* Checks length and offset, and that there are nbuffers buffers or more. */
static const char *check_numbers(const struct ArrowArray *array, int64_t nbuffers)
{
    if (array->length < 0 || array->offset < 0 || array->offset > INT64_MAX / 32 ||
        array->length > INT64_MAX / 32 - array->offset) {
        return "has an impossible length or offset";
    }
    if (array->n_buffers < nbuffers || (nbuffers > 0 && !array->buffers)) {
        return "has too few buffers";
    }
    return NULL;
}

static const uint8_t *validity_of(const struct ArrowArray *array)
{
    return array->null_count == 0 ? NULL : array->buffers[0];
}

static const char *check_offsets_32(const struct arrow_values *v)
{
    const int32_t *offsets = (const int32_t *)v->rows + v->first;
    int32_t wrong = offsets[0] < 0;
    for (size_t i = 0; i < v->n; i++) {
        wrong |= offsets[i + 1] < offsets[i];
    }
    if (wrong) {
        return "has offsets that decrease or are negative";
    }
    return offsets[v->n] > offsets[0] && !v->data ? "has no data buffer" : NULL;
}

static const char *check_offsets_64(const struct arrow_values *v)
{
    const int64_t *offsets = (const int64_t *)v->rows + v->first;
    int wrong = offsets[0] < 0;
    for (size_t i = 0; i < v->n; i++) {
        wrong |= offsets[i + 1] < offsets[i];
    }
    if (wrong) {
        return "has offsets that decrease or are negative";
    }
    return offsets[v->n] > offsets[0] && !v->data ? "has no data buffer" : NULL;
}

/* The lengths of the blocks are in the last buffer. */
static const char *check_views(const struct arrow_values *v, int64_t nblocks,
                               const int64_t *block_lens)
{
    const struct view *views = (const struct view *)v->rows + v->first;
    for (size_t i = 0; i < v->n; i++) {
        const struct view *view = views + i;
        if (!is_valid(v->validity, v->first + i)) {
            continue; /* the view of a null may be anything */
        }
        if (view->len < 0) {
            return "has a view of negative length";
        }
        if (view->len > VIEW_INLINE_MAX &&
            (view->as.at.block < 0 || view->as.at.block >= nblocks || view->as.at.offset < 0 ||
             !v->blocks[view->as.at.block] ||
             (int64_t)view->as.at.offset + view->len > block_lens[view->as.at.block])) {
            return "has a view that points outside its buffers";
        }
    }
    return NULL;
}

static const char *open_views(struct arrow_values *v, const struct ArrowArray *array)
{
    const char *wrong = check_numbers(array, 3);
    if (wrong) {
        return wrong;
    }
    v->layout = ARROW_VIEWS;
    v->validity = validity_of(array);
    v->rows = array->buffers[1];
    v->blocks = array->buffers + 2;
    if (v->n == 0) {
        return NULL;
    }
    const int64_t nblocks = array->n_buffers - 3;
    const int64_t *block_lens = array->buffers[array->n_buffers - 1];
    if (!v->rows || (nblocks > 0 && !block_lens)) {
        return "has too few buffers";
    }
    return check_views(v, nblocks, block_lens);
}

static const char *open_offsets(struct arrow_values *v, const struct ArrowArray *array,
                                enum arrow_layout layout)
{
    const char *wrong = check_numbers(array, 3);
    if (wrong) {
        return wrong;
    }
    v->layout = layout;
    v->validity = validity_of(array);
    v->rows = array->buffers[1];
    v->data = array->buffers[2];
    if (v->n == 0) {
        return NULL; /* such an array may have no offsets */
    }
    if (!v->rows) {
        return "has no offsets";
    }
    return layout == ARROW_OFFSETS_32 ? check_offsets_32(v) : check_offsets_64(v);
}

static const char *open_values(struct arrow_values *v, const char *format,
                               const struct ArrowArray *array)
{
    const char *wrong = check_numbers(array, 0);
    if (wrong) {
        return wrong;
    }
    *v = (struct arrow_values){.is_binary = strchr(format, 'z') || strchr(format, 'Z'),
                               .n = (size_t)array->length,
                               .first = (size_t)array->offset};
    if (strcmp(format, "u") == 0 || strcmp(format, "z") == 0) {
        return open_offsets(v, array, ARROW_OFFSETS_32);
    }
    if (strcmp(format, "U") == 0 || strcmp(format, "Z") == 0) {
        return open_offsets(v, array, ARROW_OFFSETS_64);
    }
    if (strcmp(format, "vu") == 0 || strcmp(format, "vz") == 0) {
        return open_views(v, array);
    }
    if (strcmp(format, "n") == 0) {
        v->layout = ARROW_NULLS;
        return NULL;
    }
    return "is not of strings (or bytes)";
}

/* ---- Dictionaries ---------------------------------------------------------------------------- */

/* The index of a row; SIZE_MAX if it is negative. */
static size_t index_at(const struct arrow_strings *s, size_t row)
{
    int64_t index;
    switch (s->index_format) {
    case 'c':
        index = (int64_t)((const int8_t *)s->indices)[row];
        break;
    case 'C':
        index = ((const uint8_t *)s->indices)[row];
        break;
    case 's':
        index = ((const int16_t *)s->indices)[row];
        break;
    case 'S':
        index = ((const uint16_t *)s->indices)[row];
        break;
    case 'i':
        index = ((const int32_t *)s->indices)[row];
        break;
    case 'I':
        index = ((const uint32_t *)s->indices)[row];
        break;
    default: /* l, L: an index above INT64_MAX becomes negative */
        index = ((const int64_t *)s->indices)[row];
        break;
    }
    return index < 0 ? SIZE_MAX : (size_t)index;
}

static const char *open_dictionary(struct arrow_strings *s, const struct ArrowSchema *schema,
                                   const struct ArrowArray *array)
{
    const char *wrong = check_numbers(array, 2);
    if (wrong) {
        return wrong;
    }
    if (!array->dictionary || !schema->dictionary->format || schema->dictionary->dictionary) {
        return "has no dictionary of strings";
    }
    if (strlen(schema->format) != 1 || !strchr("cCsSiIlL", schema->format[0])) {
        return "has a dictionary whose indices are not integers";
    }
    s->index_format = schema->format[0];
    s->index_first = (size_t)array->offset;
    s->index_validity = validity_of(array);
    s->indices = array->buffers[1];
    if (s->n > 0 && !s->indices) {
        return "has no indices";
    }
    wrong = open_values(&s->values, schema->dictionary->format, array->dictionary);
    for (size_t i = 0; i < s->n && !wrong; i++) {
        const size_t row = s->index_first + i;
        if (is_valid(s->index_validity, row) && index_at(s, row) >= s->values.n) {
            wrong = "has an index that points outside its dictionary";
        }
    }
    return wrong;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* Checks a struct array that stands for a table of one column. */
static const char *check_table(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    if (schema->n_children != 1 || array->n_children != 1 || !schema->children ||
        !array->children || !schema->children[0] || !array->children[0] ||
        !schema->children[0]->format) {
        return "is a table that has not one column: select the column with the URLs";
    }
    const char *wrong = check_numbers(array, 1);
    if (wrong) {
        return wrong;
    }
    if (array->null_count != 0 && array->buffers[0]) {
        return "is a struct with nulls: select its field";
    }
    return array->children[0]->length < array->offset ||
                   array->children[0]->length - array->offset < array->length
               ? "has a column that is too short"
               : NULL;
}

static const char *open_column(struct arrow_strings *s, const struct ArrowSchema *schema,
                               const struct ArrowArray *array)
{
    const char *wrong = check_numbers(array, 0);
    if (wrong) {
        return wrong;
    }
    *s = (struct arrow_strings){.n = (size_t)array->length};
    return schema->dictionary ? open_dictionary(s, schema, array)
                              : open_values(&s->values, schema->format, array);
}

const char *arrow_read_open(struct arrow_strings *s, const struct ArrowSchema *schema,
                            const struct ArrowArray *array)
{
    if (!schema->format) {
        return "has no type";
    }
    if (strcmp(schema->format, "+s") != 0) {
        return open_column(s, schema, array);
    }
    const char *wrong = check_table(schema, array);
    if (wrong) {
        return wrong;
    }
    struct ArrowArray column = *array->children[0];
    if (column.offset < 0 || column.offset > INT64_MAX / 32) {
        return "has an impossible length or offset";
    }
    column.offset += array->offset;
    column.length = array->length;
    return open_column(s, schema->children[0], &column);
}

/* ---- Items ----------------------------------------------------------------------------------- */

/* The value of a row, counted from the begin of the buffers. */
static inline struct unseen_bytes value_at(const struct arrow_values *v, enum arrow_layout layout,
                                           size_t row)
{
    if (layout == ARROW_OFFSETS_32) {
        const int32_t *offsets = (const int32_t *)v->rows + row;
        const size_t len = (size_t)offsets[1] - (size_t)offsets[0];
        return (struct unseen_bytes){len > 0 ? v->data + offsets[0] : NULL, len};
    }
    if (layout == ARROW_OFFSETS_64) {
        const int64_t *offsets = (const int64_t *)v->rows + row;
        const size_t len = (size_t)(offsets[1] - offsets[0]);
        return (struct unseen_bytes){len > 0 ? v->data + offsets[0] : NULL, len};
    }
    const struct view *view = (const struct view *)v->rows + row;
    const size_t len = (size_t)view->len;
    if (len <= VIEW_INLINE_MAX) {
        return (struct unseen_bytes){view->as.bytes, len};
    }
    return (struct unseen_bytes){(const char *)v->blocks[view->as.at.block] + view->as.at.offset,
                                 len};
}

/* arrow_read_items without a dictionary, for one layout: the compiler makes a loop for each. */
static inline size_t items_of(const struct arrow_values *v, enum arrow_layout layout, size_t first,
                              size_t n, struct unseen_bytes *items, uint16_t *rows)
{
    size_t nitems = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t row = v->first + first + i;
        if (is_valid(v->validity, row)) {
            items[nitems] = value_at(v, layout, row);
            rows[nitems++] = (uint16_t)i;
        }
    }
    return nitems;
}

static size_t items_of_dictionary(const struct arrow_strings *s, size_t first, size_t n,
                                  struct unseen_bytes *items, uint16_t *rows)
{
    size_t nitems = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t row = s->index_first + first + i;
        if (!is_valid(s->index_validity, row)) {
            continue;
        }
        const size_t value = s->values.first + index_at(s, row);
        if (is_valid(s->values.validity, value)) {
            items[nitems] = value_at(&s->values, s->values.layout, value);
            rows[nitems++] = (uint16_t)i;
        }
    }
    return nitems;
}

size_t arrow_read_items(const struct arrow_strings *s, size_t first, size_t n,
                        struct unseen_bytes *items, uint16_t *rows)
{
    if (s->values.layout == ARROW_NULLS) {
        return 0;
    }
    if (s->index_format) {
        return items_of_dictionary(s, first, n, items, rows);
    }
    switch (s->values.layout) {
    case ARROW_OFFSETS_32:
        return items_of(&s->values, ARROW_OFFSETS_32, first, n, items, rows);
    case ARROW_OFFSETS_64:
        return items_of(&s->values, ARROW_OFFSETS_64, first, n, items, rows);
    default:
        return items_of(&s->values, ARROW_VIEWS, first, n, items, rows);
    }
}
