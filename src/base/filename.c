/* SPDX-License-Identifier: MIT
 *
 * Paths are joined and cut as strings; only unseen__path_real asks the file system. */
#include "base/posix.h"

#include "base/filename.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static char *join(const struct unseen_allocator *allocator, const char *path, size_t len,
                  const char *suffix)
{
    const size_t suffix_len = strlen(suffix);
    char *result = unseen__alloc(allocator, len + suffix_len + 1, 1);
    if (result) {
        memcpy(result, path, len);
        memcpy(result + len, suffix, suffix_len + 1);
    }
    return result;
}

char *unseen__path_with(const struct unseen_allocator *allocator, const char *path,
                        const char *suffix)
{
    return join(allocator, path, strlen(path), suffix);
}

char *unseen__path_folder(const struct unseen_allocator *allocator, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) {
        return join(allocator, ".", 1, "");
    }
    return join(allocator, path, slash == path ? 1 : (size_t)(slash - path), "");
}

/* Writes the path of a file that does not exist yet: its folder does. */
static bool find_new(const char *folder, const char *path, char real[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (*name == '\0' || !realpath(folder, real)) {
        return false;
    }
    const size_t len = strcmp(real, "/") == 0 ? 0 : strlen(real);
    return snprintf(real + len, PATH_MAX - len, "/%s", name) < (int)(PATH_MAX - len);
}

char *unseen__path_real(const struct unseen_allocator *allocator, const char *path)
{
    char real[PATH_MAX];
    char *folder = unseen__path_folder(allocator, path);
    if (!folder) {
        return NULL;
    }
    const bool found = realpath(path, real) || find_new(folder, path, real);
    unseen__path_free(allocator, folder);
    return unseen__path_with(allocator, found ? real : path, "");
}

void unseen__path_free(const struct unseen_allocator *allocator, char *path)
{
    if (path) {
        unseen__free(allocator, path, strlen(path) + 1);
    }
}
