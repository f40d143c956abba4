/* SPDX-License-Identifier: MIT
 *
 * Keys can be compared only if both stores would make the same ones of a line: with the same seed and
 * profile. Longer ones can be cut to the length of shorter ones, but not the other way round. */
#ifndef UNSEEN_CLI_MERGE_CHECK_H
#define UNSEEN_CLI_MERGE_CHECK_H

#include <stdbool.h>

#include <unseen.h>

/* Whether the keys of `from` can be taken over by `to`. If not, that is reported with a hint at what
 * can be done about it, in which others are added to `to`. */
bool merge_check(struct unseen_store *to, const char *to_path, struct unseen_store *from,
                 const char *from_path);

#endif
