/* SPDX-License-Identifier: MIT
 *
 * Helpers that the tests of the store share. An error is printed. */
#ifndef UNSEEN_TESTS_STORE_CHECK_H
#define UNSEEN_TESTS_STORE_CHECK_H

#include "folder_check.h"

/* Ends the program if the store cannot be opened. */
static inline struct unseen_store *test_store_open(const char *path,
                                                   const struct unseen_store_options *options)
{
    struct unseen_store *store = NULL;
    struct unseen_error error;
    if (!CHECK(unseen_store_open(&store, path, options, &error) == UNSEEN_OK)) {
        fprintf(stderr, "%s: %s\n", path, error.text);
        exit(1);
    }
    return store;
}

static inline void test_store_close(struct unseen_store *store)
{
    struct unseen_error error;
    if (!CHECK(unseen_store_close(store, &error) == UNSEEN_OK)) {
        fprintf(stderr, "%s\n", error.text);
    }
}

static inline struct unseen_store_info test_store_info(struct unseen_store *store)
{
    struct unseen_store_info info = {.size = sizeof(info)};
    CHECK(unseen_store_info(store, &info) == UNSEEN_OK);
    return info;
}

#endif
