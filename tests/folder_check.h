/* SPDX-License-Identifier: MIT
 *
 * The folder in which a test keeps its files, and the bytes of these files. */
#ifndef UNSEEN_TESTS_FOLDER_CHECK_H
#define UNSEEN_TESTS_FOLDER_CHECK_H

#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

/* Makes a new folder for the files of a test, in TMPDIR, else in memory, else in /tmp. Its path
 * fits into cap bytes. Without a folder the program ends. */
static inline void test_folder_make(char *folder, size_t cap, const char *name)
{
    const char *const bases[] = {getenv("TMPDIR"), "/dev/shm", "/tmp"};
    for (size_t i = 0; i < 3; i++) {
        const char *base = bases[i];
        const int n = base ? snprintf(folder, cap, "%s/unseen-%s-XXXXXX", base, name) : -1;
        if (n > 0 && (size_t)n < cap && access(base, W_OK) == 0 && mkdtemp(folder)) {
            return;
        }
    }
    perror("test_folder_make");
    exit(2);
}

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

/* How many names the folder has, "." and ".." not counted. */
static inline size_t test_folder_count(const char *folder)
{
    size_t n = 0;
    DIR *d = opendir(folder);
    while (d && readdir(d)) {
        n++;
    }
    CHECK(d && closedir(d) == 0);
    return n - 2;
}

/* Removes the files of the folder, and the folder. */
static inline void test_folder_remove(const char *folder)
{
    test_folder_clear(folder);
    CHECK(rmdir(folder) == 0);
}

/* The bytes of a file, for free. Behind them are 4 KiB more, for a test that appends. */
static inline uint8_t *test_file_read(const char *path, size_t *len_out)
{
    struct stat st = {.st_size = 0};
    const int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && fstat(fd, &st) == 0);
    uint8_t *bytes = malloc((size_t)st.st_size + 4096);
    CHECK(bytes && read(fd, bytes, (size_t)st.st_size) == st.st_size && close(fd) == 0);
    *len_out = (size_t)st.st_size;
    return bytes;
}

/* Writes a file that has these bytes and no others. */
static inline void test_file_write(const char *path, const void *bytes, size_t len)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len && close(fd) == 0);
}

/* Changes one bit of the byte at `offset`. */
static inline void test_file_flip(const char *path, uint64_t offset)
{
    uint8_t byte = 0;
    const int fd = open(path, O_RDWR);
    CHECK(fd >= 0 && pread(fd, &byte, 1, (off_t)offset) == 1);
    byte ^= 0x10;
    CHECK(pwrite(fd, &byte, 1, (off_t)offset) == 1 && close(fd) == 0);
}

#endif
