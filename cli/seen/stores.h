/* SPDX-License-Identifier: MIT
 *
 * Opens stores, reports their errors, and gives the command that would work instead as a hint. */
#ifndef UNSEEN_CLI_STORES_H
#define UNSEEN_CLI_STORES_H

#include <stdbool.h>

#include <unseen.h>

#include "lines/profile.h"
#include "seen/seen_options.h"

enum stores_type {
    STORES_NONE, /* another file, or a file that cannot be read */
    STORES_STORE,
    STORES_IMAGE,   /* the image of a store */
    STORES_LIST,    /* made by `unseen build` */
    STORES_FOREIGN, /* a foreign filter, made by `unseen import` */
    STORES_BITMAP,  /* made by `unseen bits` */
    STORES_SET,     /* made by unseen_set_save */
    STORES_LEASES   /* beside a store that is served */
};

/* Looks at the first bytes of the regular file at path ("-": standard input). */
enum stores_type stores_type_of(const char *path);

/* "list", "foreign filter" or "bitmap", or "store" for all other types, for messages. */
const char *stores_type_name(enum stores_type type);

/* The type of a file that must hold lines. A store, an image or a list is reported. */
enum stores_type stores_refuse(const char *path);

/* False, and reported, if an output of that name (NULL and "-": standard output) would destroy what
 * is not made of lines: a store, its image, a list, a foreign filter, a bitmap, or the secrets of
 * this run. Call it before the output is opened: opening makes the file. */
bool stores_check_output(const char *name, const struct seen_options *o);

/* Opens the store at path with the settings that the options name. The profile is that of the
 * profile options, else the one that the input needs (o->profile), else the store's own; a new
 * store has the versions of profile->like. Reports damage that opening has mended. False if that
 * failed, which has been reported. */
bool stores_open(struct unseen_store **store_out, const char *path, enum unseen_store_mode mode,
                 const struct seen_options *o, const struct profile_options *profile,
                 enum unseen_cpu cpu);

/* Opens the store to read it, whatever its settings are. */
bool stores_open_to_read(struct unseen_store **store_out, const char *path,
                         const struct seen_options *o, enum unseen_cpu cpu);

/* The same, to list its keys and to ask for its settings only: it takes no memory for a set, unless
 * it has a window. */
bool stores_open_for_keys(struct unseen_store **store_out, const char *path,
                          const struct seen_options *o, enum unseen_cpu cpu);

/* Takes over what other processes have committed to a store that is only read. False if that
 * failed, and *error says why; the answers are those of before. Between two files of the same name
 * there may be no file: the next call looks again. */
bool stores_refresh(struct unseen_store *store, struct unseen_error *error);

/* For a loop around a function that takes the lock of a store or a list: true if the error is that
 * another process has the lock, and it is to be tried again. Has then waited for a moment. *start
 * is 0 before the first call. Says what is waited for if that may take for ever. */
bool stores_wait(const struct seen_options *o, double *start, const struct unseen_error *error);

/* Reports an error of any function of a store. */
void stores_report(const char *path, const struct seen_options *o,
                   const struct unseen_error *error);

/* Reports that a commit has failed: the lines printed since the last commit will be printed
 * again. */
void stores_report_commit(const char *path, const struct seen_options *o,
                          const struct unseen_error *error);

/* Closes a store, which may be NULL. False if that failed, which has been reported. After an error
 * of a commit that has been reported, call unseen_store_close instead. If the run has failed, a
 * store that it has made and in which there is nothing is removed: it would only be in the way. */
bool stores_close(struct unseen_store *store, const char *path, const struct seen_options *o,
                  bool run_failed);

/* The options that are about a store, for the command without one. */
#define STORES_OPTIONS "store dry-run no-log mode wait token-file key-bits like"

/* The options that only a new store has a use for, for the command without them. */
#define STORES_SETTINGS                                                                            \
    "profile rule drop-params only-params filter fpr bits hashes key-bits capacity seed "          \
    "seed-file no-log mode like window time"

/* The lowest rate of a power of ten that keys of 64 bits allow, as an option for a hint. */
#define STORES_RATE_OF_64_BITS " --fpr 1e-9"

/* The option that a rewrite of the store to keys of so few bits needs; empty if its rate can
 * stay. */
const char *stores_rate_for(struct unseen_store *store, unsigned key_bits);

enum {
    STORES_LEAVING =
        2048, /* keys that may leave a window before each batch: four times its lines */
    STORES_WINDOW_CAP = 24
};

/* Tells the store what time it is. */
enum unseen_status stores_tell_time(struct unseen_store *store, size_t max);

/* A window as --window takes it. */
void stores_window_text(uint64_t window, char text[STORES_WINDOW_CAP]);

/* The figures of a store and of a set. Strings that are not known are empty. */
struct unseen_store_info stores_info(struct unseen_store *store);
struct unseen_set_stats stores_stats(const struct unseen_set *set);

/* True if both names are the same file, or one is the image of the other. */
bool stores_are_same(const char *a, const char *b);

#endif
