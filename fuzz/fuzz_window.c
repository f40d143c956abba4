/* SPDX-License-Identifier: MIT
 *
 * A set that forgets by time: adds, questions, removals, failing allocations and a clock that
 * jumps, against the model of window_model.h. Two bytes choose the set; each 4 bytes that follow
 * are an operation. */
#include "target.h"

#include "pool.h"
#include "window_model.h"

enum {
    OPERATIONS_MAX = 60
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct window_model m;
    if (size < 2) {
        return 0;
    }
    model_create(&m, data, UNSEEN_CPU_AUTO, (struct unseen_allocator){pool_alloc, pool_free, NULL});
    size_t noperations = 0;
    for (size_t at = 2; at + MODEL_OPERATION <= size && noperations < OPERATIONS_MAX;
         at += MODEL_OPERATION, noperations++) {
        model_step(&m, data + at);
    }
    model_end(&m);
    return 0;
}
