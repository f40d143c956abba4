/* SPDX-License-Identifier: MIT
 *
 * Asks a list for keys that no text has: of chosen bits, or so many that making texts would take
 * longest. Its changes are not asked. */
#ifndef UNSEEN_LIST_KEYS_H
#define UNSEEN_LIST_KEYS_H

#include "list/list.h"

static inline void list_contains_keys(const struct unseen_list *list, const uint64_t *keys,
                                      size_t n, uint8_t *verdicts)
{
    if (n == 1) {
        *verdicts = unseen__list_contains(&list->file.view, *keys) ? UNSEEN_SEEN : UNSEEN_NEW;
        return;
    }
    unseen__list_contains_batch(&list->file.view, list->ask, keys, n, verdicts);
    for (size_t i = 0; i < n; i++) {
        verdicts[i] = verdicts[i] == UNSEEN__LIST_YES ? UNSEEN_SEEN : UNSEEN_NEW;
    }
}

#endif
