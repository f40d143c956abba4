/* SPDX-License-Identifier: MIT
 *
 * Opening stores, and saying what is wrong with one and what would work instead. */
#ifndef UNSEEN_CLI_STORES_H
#define UNSEEN_CLI_STORES_H

#include <stdbool.h>

#include <unseen.h>

#include "lines/profile.h"
#include "seen/seen_options.h"

enum stores_kind {
    STORES_NONE, /* it is something else, or cannot be read */
    STORES_STORE,
    STORES_IMAGE, /* of a store */
    STORES_LIST   /* as `unseen build` makes them */
};

/* What the regular file at path ("-": standard input) is, by its first bytes. */
enum stores_kind stores_kind_of(const char *path);

/* "store" or "list", for messages about what is either. */
const char *stores_kind_name(enum stores_kind kind);

/* What the file is, which shall hold lines: a store, an image or a list is reported. */
enum stores_kind stores_refuse(const char *path);

/* Opens the store at path with the settings that the options name. Its profile is that of the profile
 * options, else the one that the input needs (o->profile), else the store's own. False if that failed,
 * which has been reported. Damage that opening has mended is reported, too. */
bool stores_open(struct unseen_store **store_out, const char *path, enum unseen_store_mode mode,
                 const struct seen_options *o, const struct profile_options *profile,
                 enum unseen_cpu cpu);

/* Opens to read, whatever settings the store has. */
bool stores_open_to_read(struct unseen_store **store_out, const char *path,
                         const struct seen_options *o, enum unseen_cpu cpu);

/* Reports an error of any function of a store. */
void stores_report(const char *path, const struct seen_options *o,
                   const struct unseen_error *error);

/* Reports that a commit has failed: what was printed since the last one comes again. */
void stores_report_commit(const char *path, const struct seen_options *o,
                          const struct unseen_error *error);

/* Closes a store; false if that failed, which has been reported. NULL is closed. After an error of
 * a commit that has been reported, unseen_store_close is used instead. */
bool stores_close(struct unseen_store *store, const char *path, const struct seen_options *o);

/* The figures of a store and of a set; strings that are not known are empty. */
struct unseen_store_info stores_info(struct unseen_store *store);
struct unseen_set_stats stores_stats(const struct unseen_set *set);

/* Whether both names are the same file, or one is the image of the other. */
bool stores_are_same(const char *a, const char *b);

#endif
