/* SPDX-License-Identifier: MIT
 *
 * The list of --from: its settings, and its changes since it was built. A list holds hashes of its
 * entries, not the entries, so a new build must be given the entries again. */
#ifndef UNSEEN_CLI_BUILD_OLD_H
#define UNSEEN_CLI_BUILD_OLD_H

#include <stdatomic.h>
#include <stdbool.h>

#include <unseen_list.h>

#include "lines/text_table.h"

/* Texts of changes, and which of them are among the input lines. */
struct build_texts {
    struct text_table table;
    atomic_bool *met; /* by the number of the text; made when all texts are known */
};

struct build_old {
    const char *path; /* NULL: there is no old list, and all other fields are 0 */
    struct unseen_list *list;
    struct unseen_list_info info;
    struct build_texts removed;
    struct build_texts added;
    bool failed;
};

/* Opens the list at path; NULL: there is no list. False if that failed, which has been reported.
 * The caller calls build_old_close in either case. */
bool build_old_open(struct build_old *old, const char *path);

/* Reads the changes. False if that failed, which has been reported. */
bool build_old_read(struct build_old *old);

void build_old_close(struct build_old *old);

/* Notes that an entry is among the lines. True if the entry was removed from the old list. Any
 * thread may call it. */
bool build_old_meet(const struct build_old *old, struct unseen_bytes entry);

/* Adds the added texts to the build. Errors: those of unseen_list_build_add_texts. */
enum unseen_status build_old_add(const struct build_old *old, struct unseen_list_build *build,
                                 struct unseen_error *error);

/* Changes the finished list at path so that it answers as the old list does now for each text that
 * was ever changed in the old list. Errors: those of opening and changing lists. */
enum unseen_status build_old_carry(const struct build_old *old, const char *path,
                                   struct unseen_error *error);

#endif
