/* SPDX-License-Identifier: MIT
 *
 * Building a list: keys -> parts -> sorted shards -> pages -> file. A builder that keeps its keys can
 * be resumed by another process (state.h). */
#ifndef UNSEEN_LIST_BUILD_H
#define UNSEEN_LIST_BUILD_H

#include "list/list_format.h"

struct unseen__list_plan {
    const char *path;
    const char *folder; /* of the spill file, or of what is kept */
    bool keep;
    double fpr;        /* of a question, */
    unsigned ntexts;   /* which asks for up to so many keys */
    uint64_t capacity; /* keys expected; 0: not known */
    size_t memory;
    unsigned threads;
    const struct unseen__secret *secret; /* NULL, to resume: any */
    const char *profile;                 /* shorter than UNSEEN__LIST_PROFILE_LEN */
    const char *kind;                    /* shorter than UNSEEN__LIST_KIND_LEN */
    enum unseen_cpu cpu;                 /* a level, not AUTO */
    struct unseen_allocator allocator;
};

struct unseen__list_builder;

/* Errors: FPR, NOMEM; if keys are kept also IO, MISSING, BUSY. */
enum unseen_status unseen__list_builder_create(struct unseen__list_builder **builder_out,
                                               const struct unseen__list_plan *plan,
                                               struct unseen_error *error);

/* The builder that the plan's folder has the state of. Errors: MISSING, MISMATCH, BUSY, CORRUPT,
 * VERSION, IO, NOMEM. */
enum unseen_status unseen__list_builder_resume(struct unseen__list_builder **builder_out,
                                               const struct unseen__list_plan *plan,
                                               struct unseen_error *error);

/* Removes what is kept, if the list is finished. */
void unseen__list_builder_free(struct unseen__list_builder *builder);

/* What is kept stays, though the list is finished. */
void unseen__list_builder_keep(struct unseen__list_builder *builder);

const struct unseen__secret *
unseen__list_builder_secret(const struct unseen__list_builder *builder);

/* Of the last checkpoint, until the next one. */
struct unseen_bytes unseen__list_builder_note(const struct unseen__list_builder *builder);

/* Whether it was resumed after all keys were added. */
bool unseen__list_builder_is_complete(const struct unseen__list_builder *builder);

/* Errors: IO, NOMEM, ARGUMENT (keys are not kept, or it is complete), STOPPED (an earlier one
 * failed). */
enum unseen_status unseen__list_builder_checkpoint(struct unseen__list_builder *builder,
                                                   const void *note, size_t note_len,
                                                   struct unseen_error *error);

/* Errors: IO, NOMEM, ARGUMENT (it is complete). */
enum unseen_status unseen__list_builder_add(struct unseen__list_builder *builder,
                                            const uint64_t *keys, size_t n,
                                            struct unseen_error *error);

/* Writes the file. Errors: IO, NOMEM, CORRUPT, BUSY, STOPPED. */
enum unseen_status unseen__list_builder_finish(struct unseen__list_builder *builder,
                                               bool (*progress)(void *context, uint64_t ndone,
                                                                uint64_t n),
                                               void *context, struct unseen_error *error);

/* The number of pages for so many keys. */
uint32_t unseen__list_npages(const struct unseen__list_shape *shape, uint64_t nkeys);

#endif
