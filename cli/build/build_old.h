/* SPDX-License-Identifier: MIT
 *
 * The list of --from: its settings, and what was changed in it since it was built. Its entries are
 * not in it (only what they hash to), so they have to be given again. */
#ifndef UNSEEN_CLI_BUILD_OLD_H
#define UNSEEN_CLI_BUILD_OLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen_list.h>

#include "lines/text_table.h"

/* Texts, and which of them are among the lines of this build. */
struct build_texts {
    struct text_table table;
    atomic_bool *met; /* by number; once all texts are known */
};

struct build_old {
    const char *path; /* NULL: there is none, and all else is nothing */
    struct unseen_list *list;
    struct unseen_list_info info;
    enum unseen_kind kind;
    struct build_texts removed;
    struct build_texts added;
    bool partly; /* some of the lines were read by a run before this one */
    bool failed;
};

/* Opens the list at path; NULL is no list. False if that failed, which has been reported.
 * build_old_close is called in either case. */
bool build_old_open(struct build_old *old, const char *path);
void build_old_close(struct build_old *old);

/* An entry is among the lines; whether it was removed. Any thread may call it. */
bool build_old_meet(const struct build_old *old, struct unseen_bytes entry);

/* Adds what was added. Errors: of unseen_list_build_add. */
enum unseen_status build_old_add(const struct build_old *old, struct unseen_list_build *build,
                                 struct unseen_error *error);

/* Makes the finished list at path answer as the old one does now for all that was ever changed in
 * it. Errors: of opening and changing lists. */
enum unseen_status build_old_carry(const struct build_old *old, const char *path,
                                   struct unseen_error *error);

#endif
