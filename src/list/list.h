/* SPDX-License-Identifier: MIT
 *
 * The struct behind unseen_list.h: a list that is open to be asked. */
#ifndef UNSEEN_LIST_LIST_H
#define UNSEEN_LIST_LIST_H

#include "list/list_identity.h"
#include "list/open.h"
#include "unseen_list.h"

struct unseen_list {
    struct unseen__list_file file;
    struct unseen__list_identity identity;
    unseen__list_asker *ask;
};

#endif
