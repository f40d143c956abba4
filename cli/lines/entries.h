/* SPDX-License-Identifier: MIT
 *
 * Makes entries of a list from lines, and reports the lines that are not entries. All commands
 * that take entries use it. */
#ifndef UNSEEN_CLI_ENTRIES_H
#define UNSEEN_CLI_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include <unseen_list.h>

#include "lines/identity.h"
#include "lines/text.h"

/* Which lines of the input are not entries, and which entries are taken all the same. */
struct entry_options {
    const char *comments; /* the bytes that begin a comment; NULL: as the kind has it */
    bool dangerous;       /* take dangerous entries */
    bool skip_dangerous;  /* leave out dangerous entries */
    bool skip_invalid;    /* leave out lines that are not entries */
};

/* ---- Entries --------------------------------------------------------------------------------- */

/* Calls take with the item of a line: the whole line, or the field or JSON value that the options
 * name. The item is valid during the call. False if the line has no such field or value; take is
 * not called. */
bool entries_find(const struct key_options *o, struct unseen_bytes line,
                  void (*take)(void *context, struct unseen_bytes item), void *context);

/* Makes an entry of an item, as unseen_kind_entry does. `room` is memory that is used again.
 * Errors: those of unseen_kind_entry other than SPACE, and NOMEM. */
enum unseen_status entries_make(enum unseen_kind kind, const struct unseen_url *url,
                                struct unseen_bytes item, struct text *room,
                                struct unseen_bytes *entry_out, enum unseen_entry *fitness_out);

/* ---- Complaints ------------------------------------------------------------------------------ */

/* What is wrong with a line. */
enum fault {
    FAULT_EMPTY = UNSEEN_ENTRY_EMPTY,
    FAULT_INVALID = UNSEEN_ENTRY_INVALID,
    FAULT_DANGEROUS = UNSEEN_ENTRY_DANGEROUS,
    FAULT_NO_KEY, /* no such field or value */
    FAULT_PAGE,   /* the first line of a web page */
    /* Rules of other programs that a list cannot keep. They are left out whatever the options say:
     * a file of a known format is not mistaken because of them. */
    FAULT_HIDING,  /* hides parts of pages */
    FAULT_OPTIONS, /* restricted by options */
    FAULT_PATTERN, /* covers more or less than a site, a folder or a page */
    FAULT_ANSWER,  /* gives names another answer, and does not block them */
    FAULT_ZONE,    /* the name of a zone is in the name */
    FAULT_LITERAL, /* an entry that is taken, but only a question in the same spelling meets it */
    NFAULTS
};

/* True if the options say that the entry is taken, or that the line is left out. If both are false,
 * the line is an error. */
bool entries_take(const struct entry_options *o, enum fault fault);
bool entries_leave_out(const struct entry_options *o, enum fault fault);

/* True if the fault is a rule of another program. */
bool entries_is_rule(enum fault fault);

/* The fault LITERAL: is the entry a text in a list of URLs that is not a URL, or a phone number
 * without a country? `bytes` says that bytes are meant. */
bool entries_is_literal(enum unseen_kind kind, bool bytes, struct unseen_bytes text);

/* What is wrong with such entries, behind the entry or the number of entries. */
const char *entries_literal(enum unseen_kind kind, bool many);

/* Shows the first few wrong lines and at least the first one of each fault, and counts the others.
 * A wrong line is an error, or a warning if the options say what to do with it. */
struct complaints {
    const struct key_options *key;
    const struct entry_options *options;
    enum unseen_kind kind;
    uint64_t n[NFAULTS];
    uint64_t nshown;
    uint64_t nrefused; /* errors */
};

/* Counts a wrong line. True if the caller is to show it with complaints_show. */
bool complaints_count(struct complaints *c, enum fault fault);

/* Shows the line, which is line `number` of the file `name`, or the part of it that the key
 * names. */
void complaints_show(const struct complaints *c, const char *name, uint64_t number,
                     struct unseen_bytes line, enum fault fault);

/* Says how many wrong lines were not shown, and if none was refused, what became of all. */
void complaints_summary(const struct complaints *c);

/* After errors: hints at the command with which the lines are taken or left out. */
void complaints_hint(const struct complaints *c);

#endif
