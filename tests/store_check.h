/* SPDX-License-Identifier: MIT
 *
 * Helpers that the tests of the store share. An error is printed. */
#ifndef UNSEEN_TESTS_STORE_CHECK_H
#define UNSEEN_TESTS_STORE_CHECK_H

#include "folder_check.h"

/* A filter that a store can have. */
struct test_store_kind {
    const char *filter;
    double fpr;
    uint64_t capacity;
    bool removes;
};

/* Options of a store of lines as they are; two such stores have the same keys. */
static inline struct unseen_store_options test_store_options(const struct test_store_kind *kind,
                                                             enum unseen_store_mode mode)
{
    return (struct unseen_store_options){
        .size = sizeof(struct unseen_store_options),
        .mode = mode,
        .profile = "none",
        .filter = kind->filter,
        .fpr = kind->fpr,
        .capacity = kind->capacity,
        .seed = "twice",
        .seed_len = 5,
        .cpu = test_cpu,
    };
}

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
