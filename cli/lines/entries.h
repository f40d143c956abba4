/* SPDX-License-Identifier: MIT
 *
 * From a line to an entry of a list, and what is said of lines that are none: the same for all
 * commands that take entries. */
#ifndef UNSEEN_CLI_ENTRIES_H
#define UNSEEN_CLI_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include <unseen_list.h>

#include "lines/identity.h"
#include "lines/text.h"

/* ---- Entries --------------------------------------------------------------------------------- */

/* Calls take with the item of a line: all of it, or the field or the JSON value that the options
 * name. The item is valid during the call. False if the line has no such thing: then take was not
 * called. */
bool entries_find(const struct key_options *o, struct unseen_bytes line,
                  void (*take)(void *context, struct unseen_bytes item), void *context);

/* The entry that an item is, as unseen_kind_entry gives it; room is memory for it, to be used again.
 * Errors: those of unseen_kind_entry but SPACE, and NOMEM. */
enum unseen_status entries_make(enum unseen_kind kind, const struct unseen_url *url,
                                struct unseen_bytes item, struct text *room,
                                struct unseen_bytes *entry_out, enum unseen_entry *fitness_out);

/* ---- Complaints ------------------------------------------------------------------------------ */

/* What is wrong with a line. */
enum fault {
    FAULT_EMPTY = UNSEEN_ENTRY_EMPTY,
    FAULT_INVALID = UNSEEN_ENTRY_INVALID,
    FAULT_DANGEROUS = UNSEEN_ENTRY_DANGEROUS,
    FAULT_NO_KEY /* no such field or value */
};

/* The first few are shown, the others only counted. They are errors, with --force warnings. */
struct complaints {
    const struct key_options *key;
    bool force;
    enum unseen_kind kind;
    uint64_t n;
};

/* Counts one more. True if it is to be shown: what that takes need not be known of the others. */
bool complaints_count(struct complaints *c);

/* Shows it: the line of this number of the file `name`. */
void complaints_show(const struct complaints *c, const char *name, uint64_t number,
                     struct unseen_bytes line, enum fault fault);

/* Says how many more there were than were shown. */
void complaints_summary(const struct complaints *c);

#endif
