/* SPDX-License-Identifier: MIT
 *
 * What those who ask a list need of it beside its answers. */
#ifndef UNSEEN_LIST_LIST_H
#define UNSEEN_LIST_LIST_H

#include "list/list_format.h"
#include "unseen_list.h"

/* The kind that a list's header names. VERSION: one that this version does not know. */
enum unseen_status unseen__list_header_kind(const struct unseen__list_header *header,
                                            const char *path, enum unseen_kind *kind_out,
                                            struct unseen_error *error);

const struct unseen_allocator *unseen__list_allocator(const struct unseen_list *list);
enum unseen_kind unseen__list_kind(const struct unseen_list *list);

#endif
