/* SPDX-License-Identifier: MIT
 *
 * Lists, as `unseen build` makes them: opening one to ask it, and saying what is wrong with one. */
#ifndef UNSEEN_CLI_LISTS_H
#define UNSEEN_CLI_LISTS_H

#include <stdbool.h>

#include <unseen_list.h>

/* A list, and what makes the texts it is asked for. */
struct opened_list {
    struct unseen_list *list; /* NULL: none is open */
    struct unseen_url *url;   /* NULL: bytes are taken as they are */
    enum unseen_kind kind;
    const char *path; /* as given; not copied */
};

/* Opens the list at path to ask it. False if that failed, which has been reported. */
bool lists_open(struct opened_list *l, const char *path, enum unseen_list_access access,
                enum unseen_cpu cpu);

void lists_close(struct opened_list *l);

/* unseen_list_covers_batch and unseen_list_contains_batch, for one thread only. MISMATCH: the file was
 * cut short while it was asked, and there is no answer. */
enum unseen_status lists_covers(const struct opened_list *l, const struct unseen_url *url,
                                const struct unseen_bytes *items, size_t n, uint8_t *verdicts);
enum unseen_status lists_contains(const struct opened_list *l, const struct unseen_bytes *items,
                                  size_t n, uint8_t *verdicts);

/* Whether the file still is as it was when it was opened, so that the answers until now hold. What has
 * been appended by `unseen update` meanwhile is taken up. MISMATCH: it was written over or cut short. */
enum unseen_status lists_check(const struct opened_list *l);

/* Reports that. */
void lists_report_lost(const char *path);

/* Reports an error of any function of a list. */
void lists_report(const char *path, const struct unseen_error *error);

#endif
