/* SPDX-License-Identifier: MIT
 *
 * What those who ask a list need of it beside its answers. */
#ifndef UNSEEN_ENGINE_LIST_H
#define UNSEEN_ENGINE_LIST_H

#include "unseen.h"

const struct unseen_allocator *unseen__list_allocator(const struct unseen_list *list);
enum unseen_kind unseen__list_kind(const struct unseen_list *list);

#endif
