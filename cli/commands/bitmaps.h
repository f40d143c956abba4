/* SPDX-License-Identifier: MIT
 *
 * Opens bitmaps in files, reports their errors, and prints their integers. */
#ifndef UNSEEN_CLI_BITMAPS_H
#define UNSEEN_CLI_BITMAPS_H

#include <stdbool.h>

#include <unseen_bitmap.h>

#include "commands/commands.h"
#include "commands/repeats.h"
#include "print/output.h"

/* Each is false if it failed, which has been reported. The caller frees *bitmap_out. bitmaps_edit
 * waits for another process that edits the file as long as --wait says. */
bool bitmaps_read(struct unseen_bitmap **bitmap_out, const char *path, enum unseen_cpu cpu);
bool bitmaps_edit(struct unseen_bitmap **bitmap_out, const char *path, const struct options *o,
                  enum unseen_cpu cpu);
bool bitmaps_save(struct unseen_bitmap *bitmap, const char *path);

/* Returns whether the file exists, and reports a missing one. bitmaps_edit makes a missing one. */
bool bitmaps_exist(const char *path);

/* Reports an error of any function of a bitmap, and returns false. */
bool bitmaps_report(const char *path, const struct unseen_error *error);

/* Prints the integers of a bitmap from `from` up to `end`, one past the last, in order, each again
 * as often as the sorted repeats say. With --count it prints each integer once, behind its number.
 * Takes the repeats of these integers. False without memory; then nothing was printed. */
bool bitmaps_print(const struct unseen_bitmap *bitmap, uint64_t from, uint64_t end,
                   struct repeats *repeats, const struct options *o, struct output *out);

#endif
