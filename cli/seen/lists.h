/* SPDX-License-Identifier: MIT
 *
 * Opens lists, which `unseen build` makes, to ask them, and reports their errors. */
#ifndef UNSEEN_CLI_LISTS_H
#define UNSEEN_CLI_LISTS_H

#include <stdbool.h>

#include <unseen_list.h>

struct opened_list {
    struct unseen_list *list; /* NULL: no list is open */
    enum unseen_kind kind;
    const char *path;  /* not copied */
    bool takes_canons; /* set by the caller: questions are canonical forms under unseen_list_url */
};

/* Opens the list at path to ask it. False if that failed, which has been reported. */
bool lists_open(struct opened_list *l, const char *path, enum unseen_list_access access,
                enum unseen_cpu cpu);

void lists_close(struct opened_list *l);

/* The figures of a list. */
struct unseen_list_info lists_info(const struct unseen_list *list);

/* As unseen_list_covers (of canonical forms, if takes_canons says so) and
 * unseen_list_contains_texts, but MISMATCH, without answers, if the file was cut short meanwhile.
 * For one thread only. */
enum unseen_status lists_covers(const struct opened_list *l, const struct unseen_bytes *items,
                                size_t n, uint8_t *verdicts);
enum unseen_status lists_contains(const struct opened_list *l, const struct unseen_bytes *items,
                                  size_t n, uint8_t *verdicts);

/* Takes up changes that `unseen update` has appended. MISMATCH if the file was overwritten or cut
 * short since it was opened: earlier answers may be wrong then. */
enum unseen_status lists_check(const struct opened_list *l);

/* Reports a MISMATCH of the functions above. */
void lists_report_lost(const char *path);

/* Reports an error of any function of a list. */
void lists_report(const char *path, const struct unseen_error *error);

#endif
