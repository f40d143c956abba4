/* SPDX-License-Identifier: MIT
 *
 * The folder in which a test keeps its files. */
#ifndef UNSEEN_TESTS_FOLDER_CHECK_H
#define UNSEEN_TESTS_FOLDER_CHECK_H

#include "test.h"

#include <dirent.h>

/* Removes the files of the folder, but not those whose names begin with a dot. */
static inline void test_folder_clear(const char *folder)
{
    DIR *d = opendir(folder);
    for (const struct dirent *e; d && (e = readdir(d));) {
        char name[600];
        snprintf(name, sizeof(name), "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.') {
            CHECK(unlink(name) == 0);
        }
    }
    CHECK(d && closedir(d) == 0);
}

#endif
