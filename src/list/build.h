/* SPDX-License-Identifier: MIT
 *
 * Building a list: keys -> parts -> sorted shards -> pages -> file. */
#ifndef UNSEEN_LIST_BUILD_H
#define UNSEEN_LIST_BUILD_H

#include "list/format.h"

struct unseen__list_plan {
    const char *path;
    const char *folder; /* of the spill file */
    double fpr;         /* of a question, */
    unsigned ntexts;    /* which asks for up to so many keys */
    uint64_t capacity;  /* keys expected; 0: not known */
    size_t memory;
    unsigned threads;
    uint64_t seed;
    const char *profile; /* shorter than UNSEEN__LIST_TEXT_LEN */
    const char *kind;    /* shorter than UNSEEN__LIST_KIND_LEN */
    enum unseen_cpu cpu; /* a level, not AUTO */
    struct unseen_allocator allocator;
};

struct unseen__list_builder;

/* Errors: FPR, NOMEM. */
enum unseen_status unseen__list_builder_create(struct unseen__list_builder **builder_out,
                                               const struct unseen__list_plan *plan,
                                               struct unseen_error *error);
void unseen__list_builder_free(struct unseen__list_builder *builder);

/* Errors: IO, NOMEM. */
enum unseen_status unseen__list_builder_add(struct unseen__list_builder *builder,
                                            const uint64_t *keys, size_t n,
                                            struct unseen_error *error);

/* Writes the file. Errors: IO, NOMEM, BUSY, STOPPED. */
enum unseen_status unseen__list_builder_finish(struct unseen__list_builder *builder,
                                               bool (*progress)(void *context, uint64_t ndone,
                                                                uint64_t n),
                                               void *context, struct unseen_error *error);

/* The number of pages for so many keys. */
uint32_t unseen__list_npages(const struct unseen__list_shape *shape, uint64_t nkeys);

#endif
