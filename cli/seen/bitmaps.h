/* SPDX-License-Identifier: MIT
 *
 * Opens bitmaps in files, reports their errors, and prints their integers. */
#ifndef UNSEEN_CLI_BITMAPS_H
#define UNSEEN_CLI_BITMAPS_H

#include <stdbool.h>

#include <unseen_bitmap.h>

#include "lines/repeats.h"
#include "print/output.h"
#include "seen/seen_options.h"

/* Each is false if it failed, which has been reported. The caller frees *bitmap_out. bitmaps_edit
 * waits for another process that edits the file as long as --wait says. */
bool bitmaps_read(struct unseen_bitmap **bitmap_out, const char *path, enum unseen_cpu cpu);
bool bitmaps_edit(struct unseen_bitmap **bitmap_out, const char *path, const struct seen_options *o,
                  enum unseen_cpu cpu);
bool bitmaps_save(struct unseen_bitmap *bitmap, const char *path);

/* Returns whether the file exists, and reports a missing one. bitmaps_edit makes a missing one. */
bool bitmaps_exist(const char *path);

/* Reports an error of any function of a bitmap, and returns false. */
bool bitmaps_report(const char *path, const struct unseen_error *error);

/* How integers are printed. */
struct bitmap_lines {
    struct repeats *repeats; /* sorted: each integer is printed again as often as they say, */
    bool has_counts;         /* or once, behind the number of times that it came */
    char delimiter;
};

/* Prints the integers of a bitmap from `from` up to `end`, one past the last, in order. Takes the
 * repeats of these integers. False without memory; then nothing was printed. */
bool bitmaps_print(const struct unseen_bitmap *bitmap, uint64_t from, uint64_t end,
                   struct bitmap_lines lines, struct output *out);

#endif
