/* SPDX-License-Identifier: MIT
 *
 * Adds, asks for and removes the items of an Apache Arrow array (unseen_arrow.h), without copying
 * them. */
#include "unseen_arrow.h"

#include "set/set.h"

enum {
    ITEMS_BATCH = 256
};

static enum unseen_status run_arrow(const struct unseen_set *set, enum unseen__operation operation,
                                    const void *data, const int64_t *offsets, size_t n,
                                    uint8_t *verdicts, size_t *ndone_out)
{
    struct unseen_bytes items[ITEMS_BATCH];
    size_t done = 0;
    enum unseen_status status = UNSEEN_OK;
    while (done < n && status == UNSEEN_OK) {
        size_t count = n - done < ITEMS_BATCH ? n - done : ITEMS_BATCH;
        size_t batch_done = 0;
        for (size_t i = 0; i < count; i++) {
            const int64_t *offset = offsets + done + i;
            if (offset[0] < 0 || offset[1] < offset[0]) {
                status = UNSEEN_ERR_ARGUMENT;
                count = i;
                break;
            }
            items[i].data = data ? (const char *)data + offset[0] : NULL;
            items[i].len = (size_t)(offset[1] - offset[0]);
        }
        enum unseen_status run_status =
            unseen__set_run_items(set, operation, items, count, verdicts + done, &batch_done);
        status = run_status != UNSEEN_OK ? run_status : status;
        done += batch_done;
    }
    if (ndone_out) {
        *ndone_out = done;
    }
    return status;
}

enum unseen_status unseen_set_add_arrow(struct unseen_set *set, const void *data,
                                        const int64_t *offsets, size_t n, uint8_t *verdicts,
                                        size_t *ndone_out)
{
    return run_arrow(set, UNSEEN__ADD, data, offsets, n, verdicts, ndone_out);
}

enum unseen_status unseen_set_contains_arrow(const struct unseen_set *set, const void *data,
                                             const int64_t *offsets, size_t n, uint8_t *verdicts,
                                             size_t *ndone_out)
{
    return run_arrow(set, UNSEEN__CONTAINS, data, offsets, n, verdicts, ndone_out);
}

enum unseen_status unseen_set_remove_arrow(struct unseen_set *set, const void *data,
                                           const int64_t *offsets, size_t n, uint8_t *verdicts,
                                           size_t *ndone_out)
{
    return run_arrow(set, UNSEEN__REMOVE, data, offsets, n, verdicts, ndone_out);
}
