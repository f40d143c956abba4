/* SPDX-License-Identifier: MIT
 *
 * The folder LIST.building, in which a list is made. It exists from the beginning of a build to
 * its end. A build that is killed leaves it, and the next build of LIST empties it. One process at
 * a time uses it. The finished list is renamed to LIST.
 *
 * In /tmp, for example, other users can make names beside the list. So the folder must belong to
 * us, and nobody else may write to it: then its files come from us, too. */
#ifndef UNSEEN_CLI_BUILD_FOLDER_H
#define UNSEEN_CLI_BUILD_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

struct build_folder {
    char *path; /* of LIST, with symbolic links resolved */
    char *name; /* of the folder */
    char *list; /* of the list inside the folder */
    int fd;     /* the folder, opened and locked; -1 if it is not ours */
};

/* Makes the folder; or takes over the folder of a build that was killed, and removes its files.
 * False if that failed, which has been reported. The caller calls build_folder_release in either
 * case. */
bool build_folder_open(struct build_folder *f, const char *path);

/* Checks that the folder still has its name, which another user may have taken; if not, that is
 * reported. Call it before opening a file in the folder by its path. */
bool build_folder_check_name(const struct build_folder *f);

/* Renames the finished list to LIST and makes that durable. False if that failed, which has been
 * reported. */
bool build_folder_place(const struct build_folder *f);

/* Removes the files of the build, and the folder. If others have put files into it, they stay, with
 * a warning. */
void build_folder_remove(const struct build_folder *f);

/* Closes the folder and frees the names. */
void build_folder_release(struct build_folder *f);

/* The free bytes on the disk of the folder; UINT64_MAX if that is not known. */
uint64_t build_folder_room(const struct build_folder *f);

#endif
