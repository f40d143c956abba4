/* SPDX-License-Identifier: MIT
 *
 * The structs of the Arrow C data interface and C stream interface, with the layout that their
 * specification gives (https://arrow.apache.org/docs/format/CDataInterface.html). */
#ifndef UNSEEN_PYTHON_ARROW_ABI_H
#define UNSEEN_PYTHON_ARROW_ABI_H

#include <stdint.h>

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *schema);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *array);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *schema_out);
    int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *array_out);
    const char *(*get_last_error)(struct ArrowArrayStream *stream);
    void (*release)(struct ArrowArrayStream *stream);
    void *private_data;
};

enum {
    ARROW_FLAG_NULLABLE = 2
};

#endif
