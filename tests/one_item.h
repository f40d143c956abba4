/* SPDX-License-Identifier: MIT
 *
 * The functions of a set, a store and a list, called for one item. */
#ifndef UNSEEN_TESTS_ONE_ITEM_H
#define UNSEEN_TESTS_ONE_ITEM_H

#include <unseen_list.h>

/* test_NAME(object, data, len, &verdict): *verdict_out is untouched on failure. */
#define TEST_ONE_ITEM(name, type, function)                                                        \
    static inline enum unseen_status name(type *object, const void *data, size_t len,              \
                                          enum unseen_verdict *verdict_out)                        \
    {                                                                                              \
        const struct unseen_bytes item = {data, len};                                              \
        uint8_t verdict = 0;                                                                       \
        const enum unseen_status status = function(object, &item, 1, &verdict, NULL);              \
        if (status == UNSEEN_OK) {                                                                 \
            *verdict_out = (enum unseen_verdict)verdict;                                           \
        }                                                                                          \
        return status;                                                                             \
    }

TEST_ONE_ITEM(test_set_add, struct unseen_set, unseen_set_add)
TEST_ONE_ITEM(test_set_contains, const struct unseen_set, unseen_set_contains)
TEST_ONE_ITEM(test_set_remove, struct unseen_set, unseen_set_remove)
TEST_ONE_ITEM(test_store_add, struct unseen_store, unseen_store_add)
TEST_ONE_ITEM(test_store_remove, struct unseen_store, unseen_store_remove)

static inline enum unseen_status test_set_key(const struct unseen_set *set, const void *data,
                                              size_t len, struct unseen_key *key_out)
{
    const struct unseen_bytes item = {data, len};
    return unseen_set_keys(set, &item, 1, key_out, NULL);
}

static inline bool test_list_contains(const struct unseen_list *list, const void *data, size_t len)
{
    const struct unseen_bytes item = {data, len};
    uint8_t verdict;
    unseen_list_contains_texts(list, &item, 1, &verdict);
    return verdict == UNSEEN_SEEN;
}

#endif
