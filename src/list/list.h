/* SPDX-License-Identifier: MIT
 *
 * The struct behind unseen_list.h: a list that is open to be asked. */
#ifndef UNSEEN_LIST_LIST_H
#define UNSEEN_LIST_LIST_H

#include "list/open.h"
#include "unseen_list.h"

struct unseen_list {
    struct unseen_allocator allocator;
    struct unseen__list_file file;
    unseen__list_asker *ask;
    enum unseen_kind kind;
};

/* The kind that a list's header names. VERSION: this version does not know the kind. */
enum unseen_status unseen__list_header_kind(const struct unseen__list_header *header,
                                            const char *path, enum unseen_kind *kind_out,
                                            struct unseen_error *error);

#endif
