/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "chunks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file (docs/format.md, "Saved set"), and the frame of a chunk. */
static const unsigned char magic[8] = {0x89, 'U', 'N', 'P', '\r', '\n', 0x1a, '\n'};

enum {
    LEN_AT = sizeof(magic), /* the length of the URL identity, which is behind it */
    ID_AT = LEN_AT + 4,
    PAYLOAD_AT = 24,
    CHECKSUM_LEN = 8,
    FRAME_LEN = PAYLOAD_AT + CHECKSUM_LEN
};

/* ---- Errors ---------------------------------------------------------------------------------- */

static enum unseen_status fail(struct unseen_error *error, enum unseen_status status,
                               const char *path, const char *why)
{
    *error = (struct unseen_error){.status = status, .offset = UINT64_MAX};
    (void)snprintf(error->text, sizeof(error->text), "%s: %s", path, why);
    return status;
}

static enum unseen_status fail_errno(struct unseen_error *error, const char *path)
{
    char why[128] = "input/output error";
    const enum unseen_status status = errno == ENOENT ? UNSEEN_ERR_MISSING : UNSEEN_ERR_IO;
    (void)strerror_r(errno, why, sizeof(why));
    return fail(error, status, path, why);
}

static enum unseen_status fail_status(struct unseen_error *error, enum unseen_status status,
                                      const char *path)
{
    return fail(error, status, path,
                status == UNSEEN_ERR_MISMATCH ? "the set was saved with another profile"
                                              : unseen_status_string(status));
}

/* ---- Saving ---------------------------------------------------------------------------------- */

static bool write_head(const struct unseen_set *set, FILE *file)
{
    const char *id = unseen_set_profile(set);
    const size_t len = strlen(id);
    const unsigned char le32[4] = {(unsigned char)len, (unsigned char)(len >> 8), 0, 0};
    return fwrite(magic, 1, sizeof(magic), file) == sizeof(magic) &&
           fwrite(le32, 1, sizeof(le32), file) == sizeof(le32) && fwrite(id, 1, len, file) == len;
}

static enum unseen_status write_chunks(const struct unseen_set *set, FILE *file, char *buf)
{
    uint64_t cursor = 0;
    for (;;) {
        size_t len;
        const enum unseen_status status =
            unseen_set_export(set, &cursor, buf, UNSEEN_CHUNK_MAX, &len);
        if (status != UNSEEN_OK || len == 0) {
            return status;
        }
        if (fwrite(buf, 1, len, file) != len) {
            return UNSEEN_ERR_IO;
        }
    }
}

/* Closes the file in any case. */
static enum unseen_status write_file(const struct unseen_set *set, int fd)
{
    char *buf = malloc(UNSEEN_CHUNK_MAX);
    FILE *file = fdopen(fd, "wb");
    if (!buf || !file) {
        free(buf);
        if (file) {
            (void)fclose(file);
        } else {
            (void)close(fd);
        }
        return UNSEEN_ERR_NOMEM;
    }
    enum unseen_status status =
        write_head(set, file) ? write_chunks(set, file, buf) : UNSEEN_ERR_IO;
    if (status == UNSEEN_OK && (fflush(file) != 0 || fsync(fd) != 0)) {
        status = UNSEEN_ERR_IO;
    }
    const int saved = errno;
    if (fclose(file) != 0 && status == UNSEEN_OK) {
        status = UNSEEN_ERR_IO;
    } else {
        errno = saved;
    }
    free(buf);
    return status;
}

/* Makes a rename durable. Returns false with errno set. Some file systems cannot sync a folder. */
static bool sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    const int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    const bool is_synced = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
    const int saved = errno;
    if (fd >= 0) {
        (void)close(fd); /* was only synced */
    }
    free(folder);
    errno = saved;
    return is_synced;
}

enum unseen_status chunks_save(const struct unseen_set *set, const char *path,
                               struct unseen_error *error)
{
    static const char ending[] = ".XXXXXX";
    const size_t len = strlen(path);
    char *fresh = malloc(len + sizeof(ending));
    if (!fresh) {
        return fail_status(error, UNSEEN_ERR_NOMEM, path);
    }
    memcpy(fresh, path, len);
    memcpy(fresh + len, ending, sizeof(ending));
    const int fd = mkstemp(fresh); /* mode 0600 */
    enum unseen_status status = fd < 0 ? UNSEEN_ERR_IO : write_file(set, fd);
    if (status == UNSEEN_OK && rename(fresh, path) != 0) {
        status = UNSEEN_ERR_IO;
    }
    if (status == UNSEEN_ERR_IO) {
        (void)fail_errno(error, path);
        status = error->status;
    } else if (status != UNSEEN_OK) {
        (void)fail_status(error, status, path);
    }
    if (status != UNSEEN_OK && fd >= 0) {
        (void)unlink(fresh);
    }
    if (status == UNSEEN_OK && !sync_folder(path)) {
        (void)fail_errno(error, path);
        status = error->status;
    }
    free(fresh);
    return status;
}

/* ---- Loading --------------------------------------------------------------------------------- */

static size_t load_le32(const unsigned char *at)
{
    return (size_t)at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
}

/* Reads a chunk into buf; *len_out is 0 at the end of the file. */
static enum unseen_status read_chunk(FILE *file, unsigned char *buf, size_t *len_out)
{
    const size_t head = fread(buf, 1, PAYLOAD_AT, file);
    *len_out = 0;
    if (head == 0 && !ferror(file)) {
        return UNSEEN_OK;
    }
    const size_t len = head == PAYLOAD_AT ? load_le32(buf + 4) + FRAME_LEN : 0;
    if (head == PAYLOAD_AT && len <= UNSEEN_CHUNK_MAX &&
        fread(buf + PAYLOAD_AT, 1, len - PAYLOAD_AT, file) == len - PAYLOAD_AT) {
        *len_out = len;
        return UNSEEN_OK;
    }
    return ferror(file) ? UNSEEN_ERR_IO : UNSEEN_ERR_CORRUPT;
}

/* Gives every chunk to the import. */
static enum unseen_status read_chunks(FILE *file, struct unseen_import *import, unsigned char *buf)
{
    for (;;) {
        size_t len;
        enum unseen_status status = read_chunk(file, buf, &len);
        if (status != UNSEEN_OK || len == 0) {
            return status;
        }
        status = unseen_import_chunk(import, buf, len);
        if (status != UNSEEN_OK) {
            return status;
        }
    }
}

static enum unseen_status open_file(const char *path, FILE **file_out, struct unseen_error *error)
{
    struct stat st;
    *file_out = fopen(path, "rb");
    if (!*file_out) {
        return fail_errno(error, path);
    }
    if (fstat(fileno(*file_out), &st) == 0 && S_ISDIR(st.st_mode)) {
        (void)fclose(*file_out);
        return fail(error, UNSEEN_ERR_IO, path, "it is a folder");
    }
    return UNSEEN_OK;
}

/* Reads the identity, and leaves the file at the first chunk. */
static enum unseen_status read_head(FILE *file, const char *path, char id_out[],
                                    struct unseen_error *error)
{
    unsigned char head[ID_AT];
    const size_t nhead = fread(head, 1, sizeof(head), file);
    const size_t len = nhead == sizeof(head) ? load_le32(head + LEN_AT) : SIZE_MAX;
    const bool is_ours = nhead == sizeof(head) && memcmp(head, magic, sizeof(magic)) == 0;
    if (is_ours && len <= UNSEEN_URL_ID_MAX && fread(id_out, 1, len, file) == len) {
        id_out[len] = '\0';
        return UNSEEN_OK;
    }
    if (ferror(file)) {
        return fail_errno(error, path);
    }
    return is_ours ? fail_status(error, UNSEEN_ERR_CORRUPT, path)
                   : fail(error, UNSEEN_ERR_FOREIGN, path, "it is not a saved set");
}

enum unseen_status chunks_profile(const char *path, char id_out[UNSEEN_URL_ID_MAX + 1],
                                  struct unseen_error *error)
{
    FILE *file;
    enum unseen_status status = open_file(path, &file, error);
    if (status == UNSEEN_OK) {
        status = read_head(file, path, id_out, error);
        (void)fclose(file);
    }
    return status;
}

/* Makes the set of the chunks that follow. */
static enum unseen_status import_file(struct unseen_set **set_out, FILE *file, const char *path,
                                      const struct unseen_set_options *options,
                                      struct unseen_error *error)
{
    struct unseen_import *import;
    unsigned char *buf = malloc(UNSEEN_CHUNK_MAX);
    if (!buf) {
        return fail_status(error, UNSEEN_ERR_NOMEM, path);
    }
    enum unseen_status status = unseen_import_create(&import, options, error);
    if (status == UNSEEN_OK) {
        status = read_chunks(file, import, buf);
        if (status == UNSEEN_OK) {
            status = unseen_import_finish(import, set_out);
        } else {
            unseen_import_free(import);
        }
        if (status == UNSEEN_ERR_IO) {
            (void)fail_errno(error, path);
        } else if (status != UNSEEN_OK) {
            (void)fail_status(error, status, path);
        }
    }
    free(buf);
    return status;
}

enum unseen_status chunks_load(struct unseen_set **set_out, const char *path,
                               const struct unseen_set_options *options, struct unseen_error *error)
{
    FILE *file;
    char id[UNSEEN_URL_ID_MAX + 1];
    enum unseen_status status = open_file(path, &file, error);
    if (status == UNSEEN_OK) {
        status = read_head(file, path, id, error);
        if (status == UNSEEN_OK) {
            status = import_file(set_out, file, path, options, error);
        }
        (void)fclose(file);
    }
    return status;
}
