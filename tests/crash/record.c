/* SPDX-License-Identifier: MIT */
#include "crash.h"

#include "record.h"

#include <unistd.h>

void record_load(struct record *record)
{
    size_t len = 0;
    char *text = crash_read(crash_path("_trace"), &len);
    crash_require(text != NULL, "there is no trace");
    record->ops = NULL;
    record->n = 0;
    size_t cap = 0;
    for (size_t at = 0; at < len;) {
        struct trace_op head;
        memcpy(&head, text + at, sizeof(head));
        const size_t size = sizeof(head) + head.name_len + head.name2_len + (size_t)head.len;
        if (record->n == cap) {
            cap = cap ? 2 * cap : 256;
            record->ops = realloc(record->ops, cap * sizeof(*record->ops));
            crash_require(record->ops != NULL, "realloc");
        }
        struct trace_op *op = malloc(size);
        crash_require(op != NULL && size <= len - at, "malloc, or a trace that ends too early");
        memcpy(op, text + at, size);
        record->ops[record->n++] = op;
        at += size;
    }
    free(text);
    crash_require(unlink(crash_path("_trace")) == 0, "_trace");
}

void record_free(struct record *record)
{
    for (size_t i = 0; i < record->n; i++) {
        free(record->ops[i]);
    }
    free(record->ops);
    disk_state_free(&record->base);
}

void record_check(const struct record *record)
{
    struct disk *disk = disk_create(&record->base);
    struct disk_state kept;
    struct disk_state real;
    for (size_t i = 0; i < record->n; i++) {
        disk_apply(disk, record->ops[i]);
    }
    disk_now(disk, &kept);
    disk_state_read(&real);
    const char *name = disk_state_difference(&real, &kept);
    if (name) {
        crash_die("the trace does not explain what is in %s", name);
    }
    disk_state_free(&kept);
    disk_state_free(&real);
    disk_free(disk);
}
