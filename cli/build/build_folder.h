/* SPDX-License-Identifier: MIT
 *
 * Where a list is made: the folder LIST.building beside its place. It is there from the beginning
 * of a build to its end, is used by one process at a time, and holds what another one can go on
 * with. The finished list takes its place by rename.
 *
 * Others may be able to make names where the list is to be, in /tmp say. So the folder must be ours,
 * and nobody else's to write to: then what is in it is ours, too. */
#ifndef UNSEEN_CLI_BUILD_FOLDER_H
#define UNSEEN_CLI_BUILD_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

struct build_folder {
    char *path; /* of the list, where symbolic links lead to */
    char *name; /* of the folder */
    char *list; /* the list inside it */
    int fd;     /* of the folder, which it locks; -1 if it is not ours */
};

/* Makes the folder, or takes over what an earlier run has left. False if that failed, which has
 * been reported. build_folder_release is called in either case. */
bool build_folder_open(struct build_folder *f, const char *path);

/* Whether an interrupted run has left something to go on with, or it cannot be said. */
bool build_folder_has_state(const struct build_folder *f);

/* Whether the folder still has its name, which in a folder of others need not be so: otherwise it is
 * reported. To be asked before anything in it is opened by its path. */
bool build_folder_check_name(const struct build_folder *f);

/* Puts the finished list in its place, durably. False as above. */
bool build_folder_place(const struct build_folder *f);

/* Removes all that a build puts there. Anything else stays. */
void build_folder_clear(const struct build_folder *f);

/* Removes it if nothing is left in it; warns if it should be empty and is not. */
void build_folder_remove(const struct build_folder *f, bool is_empty);

/* Lets go of it. */
void build_folder_release(struct build_folder *f);

/* Bytes that can still be written there; UINT64_MAX if that is not known. */
uint64_t build_folder_room(const struct build_folder *f);

#endif
