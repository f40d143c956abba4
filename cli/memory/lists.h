/* SPDX-License-Identifier: MIT
 *
 * Lists, as `unseen build` makes them: opening one to ask it, and saying what is wrong with one. */
#ifndef UNSEEN_CLI_LISTS_H
#define UNSEEN_CLI_LISTS_H

#include <stdbool.h>

#include <unseen.h>

/* A list, and what makes the texts it is asked for. */
struct opened_list {
    struct unseen_list *list; /* NULL: none is open */
    struct unseen_url *url;   /* NULL: bytes are taken as they are */
    enum unseen_kind kind;
};

/* Opens the list at path to ask it. False if that failed, which has been reported. */
bool lists_open(struct opened_list *l, const char *path, enum unseen_list_access access,
                enum unseen_cpu cpu);

void lists_close(struct opened_list *l);

/* Reports an error of any function of a list. */
void lists_report(const char *path, const struct unseen_error *error);

#endif
