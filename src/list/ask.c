/* SPDX-License-Identifier: MIT
 *
 * Takes keys through the layers of a list, as ask.h describes, in portable C. The vector kernels
 * for one layer are ask_avx2.c and ask_avx512.c. */
#include "list/ask.h"

#include "base/bytes.h"
#include "base/macros.h"
#include "list/layout.h"

enum {
    AHEAD = 64, /* keys whose lines are fetched before the first is compared */
    FEW = 4     /* up to so many keys are asked faster without a batch */
};

static bool is_leftover(const struct unseen__list_view *view, uint64_t key)
{
    size_t low = 0;
    size_t high = view->nleftover;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (view->leftover[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < view->nleftover && view->leftover[low] == key;
}

bool unseen__list_contains(const struct unseen__list_view *view, uint64_t key)
{
    key &= view->key_mask;
    for (unsigned layer = 0; layer < view->nlayers; layer++) {
        struct unseen__list_row row;
        const uint8_t *page = unseen__list_page_of(view, layer, key, &row);
        const enum unseen__list_answer answer = unseen__list_page_ask(&view->geometry, page, &row);
        if (answer != UNSEEN__LIST_BUMPED) {
            return answer == UNSEEN__LIST_YES;
        }
        key = unseen__list_next_key(key);
    }
    return is_leftover(view, key);
}

/* ---- batches ---- */

static void ask_portable(const struct unseen__list_view *view, unsigned layer, const uint64_t *keys,
                         size_t n, uint8_t *answers)
{
    const uint8_t *pages[AHEAD];
    struct unseen__list_row rows[AHEAD];
    for (size_t i = 0; i < n + AHEAD; i++) {
        const size_t slot = i % AHEAD;
        if (i >= AHEAD) {
            answers[i - AHEAD] =
                (uint8_t)unseen__list_page_ask(&view->geometry, pages[slot], &rows[slot]);
        }
        if (i < n) {
            pages[slot] = unseen__list_page_of(view, layer, keys[i], &rows[slot]);
            const uint8_t *line =
                pages[slot] + unseen__list_word_offset(&view->geometry, rows[slot].block, 0);
            UNSEEN_PREFETCH_READ(line);
            UNSEEN_PREFETCH_READ(line + 64);
        }
    }
}

unseen__list_asker *unseen__list_asker_for(enum unseen_cpu cpu)
{
#if UNSEEN_X86
    if (cpu == UNSEEN_CPU_AVX512) {
        return unseen__list_ask_avx512;
    }
    if (cpu == UNSEEN_CPU_AVX2) {
        return unseen__list_ask_avx2;
    }
#endif
    (void)cpu;
    return ask_portable;
}

/* Collects the keys that a layer has bumped. `to` gets the keys under which the next layer knows
 * them, and indexes_out the indexes of their answers. indexes[i] is the index of the answer for
 * keys[i]; NULL means 0, 1, ... Returns the number of bumped keys. to may be keys. */
static size_t take_bumped(const uint64_t *keys, const uint16_t *indexes, const uint8_t *answers,
                          size_t n, uint64_t *to, uint16_t *indexes_out)
{
    uint16_t taken[UNSEEN__LIST_BATCH + 1];
    size_t ntaken = 0;
    for (size_t i = 0; i < n;
         i++) { /* no branch: for most bumped keys the processor would mispredict it */
        taken[ntaken] = (uint16_t)i;
        ntaken += answers[i] == UNSEEN__LIST_BUMPED;
    }
    for (size_t i = 0; i < ntaken; i++) {
        const size_t from = taken[i];
        to[i] = unseen__list_next_key(keys[from]);
        indexes_out[i] = indexes ? indexes[from] : (uint16_t)from;
    }
    return ntaken;
}

/* Answers the keys that the first layer has bumped: asks the later layers, then the leftover
 * keys. */
static void ask_further(const struct unseen__list_view *view, unseen__list_asker *ask,
                        uint64_t *keys, uint16_t *indexes, size_t n, uint8_t *answers)
{
    uint8_t further[UNSEEN__LIST_BATCH];
    for (unsigned layer = 1; layer < view->nlayers && n > 0; layer++) {
        ask(view, layer, keys, n, further);
        for (size_t i = 0; i < n; i++) {
            answers[indexes[i]] = further[i];
        }
        n = take_bumped(keys, indexes, further, n, keys, indexes);
    }
    for (size_t i = 0; i < n; i++) {
        answers[indexes[i]] = is_leftover(view, keys[i]) ? UNSEEN__LIST_YES : UNSEEN__LIST_NO;
    }
}

void unseen__list_contains_batch(const struct unseen__list_view *view, unseen__list_asker *ask,
                                 const uint64_t *given, size_t n, uint8_t *answers)
{
    uint64_t keys[UNSEEN__LIST_BATCH];
    uint16_t indexes[UNSEEN__LIST_BATCH];
    if (view->nlayers == 0 || n <= FEW) {
        for (size_t i = 0; i < n; i++) {
            const bool listed = unseen__list_contains(view, given[i]);
            answers[i] = listed ? UNSEEN__LIST_YES : UNSEEN__LIST_NO;
        }
        return;
    }
    for (size_t first = 0; first < n; first += UNSEEN__LIST_BATCH) {
        const size_t rest = n - first;
        const size_t count = rest < UNSEEN__LIST_BATCH ? rest : UNSEEN__LIST_BATCH;
        for (size_t i = 0; i < count; i++) {
            keys[i] = given[first + i] & view->key_mask;
        }
        ask(view, 0, keys, count, answers + first);
        const size_t nbumped = take_bumped(keys, NULL, answers + first, count, keys, indexes);
        if (nbumped > 0) {
            ask_further(view, ask, keys, indexes, nbumped, answers + first);
        }
    }
}
