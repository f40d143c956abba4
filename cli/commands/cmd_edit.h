/* SPDX-License-Identifier: MIT
 *
 * What unseen allow and unseen update have in common: lines become entries of a list, and all of them
 * together one commit of changes, or, if a single one is refused, none. */
#ifndef UNSEEN_CLI_CMD_EDIT_H
#define UNSEEN_CLI_CMD_EDIT_H

#include <stdbool.h>
#include <stdint.h>

#include <unseen.h>

#include "lines/entries.h"
#include "lines/text.h"
#include "seen/lists.h"
#include "commands/options.h"

struct edit {
    const struct options *o;
    const char *path;
    struct opened_list list; /* as it was before */
    struct unseen_list_edit *changes;
    enum unseen_list_change change; /* being made */
    struct text room;
    bool failed; /* which has been reported: nothing will be changed */

    uint64_t nlines;
    uint64_t nchanged;
    uint64_t nmissing;            /* to be undone or removed, but not there */
    struct complaints complaints; /* of lines that are refused, or by force taken or left out */
    uint64_t ndangerous;          /* those taken */
};

/* Opens the list for changes; false if that failed, which has been reported. edit_finish is called in
 * either case. */
bool edit_start(struct edit *e, const struct options *o, enum unseen_cpu cpu);

/* Makes the change for all lines of the files; false if one of them cannot be read or is refused. */
bool edit_files(struct edit *e, const char *const *names, size_t n, enum unseen_list_change change);

/* Commits, unless something has failed, and closes; returns the exit status. */
int edit_finish(struct edit *e);

#endif
