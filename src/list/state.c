/* SPDX-License-Identifier: MIT
 *
 * Reads and writes the state of a build in its folder; state.h has the format. */
#include "base/posix.h"

#include "list/state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/filename.h"
#include "base/memory.h"
#include "base/own.h"
#include "hash/checksum.h"

enum {
    VERSION = 2,
    FLAG_COMPLETE = 1,
    SECRET_OFFSET = 80,
    PROFILE_OFFSET = SECRET_OFFSET + UNSEEN__SECRET_LEN,
    KIND_OFFSET = PROFILE_OFFSET + UNSEEN__LIST_PROFILE_LEN,
    HEAD_LEN = KIND_OFFSET + UNSEEN__LIST_KIND_LEN,
    CHECKSUM_LEN = 8
};

static const char KEYS[] = "keys";
static const char STATE[] = "state";
static const char STATE_NEW[] = "state.new";
static const uint8_t magic[8] = {0x89, 'U', 'N', 'B', '\r', '\n', 0x1a, '\n'};

/* ---- bytes ---- */

static size_t state_len(const struct unseen__list_state *state)
{
    return HEAD_LEN + state->note_len + state->table_len + CHECKSUM_LEN;
}

/* bytes may be NULL if len is 0. */
static uint8_t *append_bytes(uint8_t *to, const uint8_t *bytes, size_t len)
{
    if (len) {
        memcpy(to, bytes, len);
    }
    return to + len;
}

static void encode_state(const struct unseen__list_state *state, uint8_t *bytes)
{
    memset(bytes, 0, HEAD_LEN);
    memcpy(bytes, magic, sizeof(magic));
    store_le32(bytes + 8, VERSION);
    store_le32(bytes + 12, state->complete ? FLAG_COMPLETE : 0);
    store_le64(bytes + 16, state_len(state));
    store_le_double(bytes + 24, state->fpr);
    store_le64(bytes + 32, state->capacity);
    store_le64(bytes + 40, state->ngiven);
    store_le32(bytes + 48, state->key_bits);
    store_le32(bytes + 52, state->part_bits);
    store_le32(bytes + 56, state->stride);
    store_le32(bytes + 60, state->ntexts);
    store_le64(bytes + 64, state->note_len);
    store_le64(bytes + 72, state->table_len);
    memcpy(bytes + SECRET_OFFSET, state->secret.bytes, UNSEEN__SECRET_LEN);
    memcpy(bytes + PROFILE_OFFSET, state->profile, UNSEEN__LIST_PROFILE_LEN);
    memcpy(bytes + KIND_OFFSET, state->kind, UNSEEN__LIST_KIND_LEN);
    uint8_t *end = append_bytes(bytes + HEAD_LEN, state->note, state->note_len);
    end = append_bytes(end, state->table, state->table_len);
    store_le64(end, unseen__checksum(bytes, (size_t)(end - bytes)));
}

/* Are the numbers such as a build has? Sizes that are made from them are then within limits. */
static bool is_sound(const struct unseen__list_state *state)
{
    return state->key_bits <= 64 && state->part_bits < state->key_bits && state->part_bits <= 20 &&
           state->stride >= 4096 && state->stride <= 1 << 20 && state->ntexts > 0 &&
           state->profile[UNSEEN__LIST_PROFILE_LEN - 1] == '\0' &&
           state->kind[UNSEEN__LIST_KIND_LEN - 1] == '\0';
}

static enum unseen_status decode_state(const uint8_t *bytes, size_t len,
                                       struct unseen__list_state *state_out)
{
    if (len < HEAD_LEN + CHECKSUM_LEN || memcmp(bytes, magic, sizeof(magic)) != 0 ||
        load_le64(bytes + len - CHECKSUM_LEN) != unseen__checksum(bytes, len - CHECKSUM_LEN)) {
        return UNSEEN_ERR_CORRUPT;
    }
    if (load_le32(bytes + 8) != VERSION) {
        return UNSEEN_ERR_VERSION;
    }
    const uint64_t rest = len - HEAD_LEN - CHECKSUM_LEN;
    const uint64_t note_len = load_le64(bytes + 64);
    if (note_len > rest || load_le64(bytes + 72) != rest - note_len) {
        return UNSEEN_ERR_CORRUPT;
    }
    struct unseen__list_state state = {
        .complete = (load_le32(bytes + 12) & FLAG_COMPLETE) != 0,
        .fpr = load_le_double(bytes + 24),
        .capacity = load_le64(bytes + 32),
        .ngiven = load_le64(bytes + 40),
        .key_bits = load_le32(bytes + 48),
        .part_bits = load_le32(bytes + 52),
        .stride = load_le32(bytes + 56),
        .ntexts = load_le32(bytes + 60),
        .note = bytes + HEAD_LEN,
        .note_len = (size_t)note_len,
        .table = bytes + HEAD_LEN + note_len,
        .table_len = (size_t)(rest - note_len),
    };
    memcpy(state.secret.bytes, bytes + SECRET_OFFSET, UNSEEN__SECRET_LEN);
    memcpy(state.profile, bytes + PROFILE_OFFSET, UNSEEN__LIST_PROFILE_LEN);
    memcpy(state.kind, bytes + KIND_OFFSET, UNSEEN__LIST_KIND_LEN);
    *state_out = state;
    return is_sound(&state) ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

/* ---- the folder ---- */

/* Removes a file of the folder. True if the name is free now, even if it was before. */
static bool remove_name(const struct unseen__list_kept *k, const char *name)
{
    return unlinkat(k->folder, name, 0) == 0 || errno == ENOENT;
}

/* Removes the state for good, and then empties the keys: no state ever counts keys that are not
 * there. */
static enum unseen_status begin_anew(const struct unseen__list_kept *k, struct unseen_error *error)
{
    int code = unlinkat(k->folder, STATE, 0) == 0 ? unseen__file_sync_folder(k->folder)
               : errno == ENOENT                  ? 0
                                                  : errno;
    code = code ? code : unseen__file_truncate(k->keys, 0);
    return code ? unseen__error_io(error, "empty", k->keys_path, code) : UNSEEN_OK;
}

enum unseen_status unseen__list_kept_open(struct unseen__list_kept *k, const char *folder,
                                          bool anew, const struct unseen_allocator *allocator,
                                          struct unseen_error *error)
{
    *k = (struct unseen__list_kept){.allocator = *allocator, .folder = -1, .keys = -1};
    k->keys_path = unseen__path_with(allocator, folder, "/keys");
    k->state_path = unseen__path_with(allocator, folder, "/state");
    enum unseen_status status = UNSEEN_OK;
    if (!k->keys_path || !k->state_path) {
        status = unseen__error_status(error, UNSEEN_ERR_NOMEM, folder);
        goto out;
    }
    const int code = unseen__file_open(folder, O_RDONLY | O_DIRECTORY, &k->folder);
    if (code != 0) {
        status = unseen__error_io(error, "open", folder, code);
        goto out;
    }
    status = unseen__own_take(k->folder, KEYS, k->keys_path, anew, &k->keys, error);
    if (status == UNSEEN_OK && anew) {
        status = begin_anew(k, error);
    }
out:
    if (status != UNSEEN_OK) {
        unseen__list_kept_release(k);
    }
    return status;
}

void unseen__list_kept_release(struct unseen__list_kept *k)
{
    if (k->keys >= 0) {
        (void)close(k->keys); /* what counts was synced */
    }
    if (k->folder >= 0) {
        (void)close(k->folder); /* the same */
    }
    unseen__path_free(&k->allocator, k->keys_path);
    unseen__path_free(&k->allocator, k->state_path);
    *k = (struct unseen__list_kept){.folder = -1, .keys = -1};
}

void unseen__list_kept_remove(const struct unseen__list_kept *k)
{
    (void)remove_name(
        k, STATE); /* if the state stays, whoever resumes the build makes the list once more */
    (void)remove_name(k, STATE_NEW);
    (void)remove_name(k, KEYS);
}

/* ---- the state ---- */

static enum unseen_status write_file(const struct unseen__list_kept *k, const uint8_t *bytes,
                                     size_t len, struct unseen_error *error)
{
    int fd = -1;
    /* The lock of the keys covers this name, too: a file under it is left over from another run. */
    int code = remove_name(k, STATE_NEW) ? 0 : errno;
    code = code ? code : unseen__file_make_in(k->folder, STATE_NEW, 0600, &fd);
    if (code == 0) {
        code = unseen__file_write(fd, 0, bytes, len);
        code = code ? code : unseen__file_sync(fd);
        (void)close(fd); /* synced, or given up */
        code = code ? code : unseen__file_replace_in(k->folder, STATE_NEW, STATE);
    }
    return code ? unseen__error_io(error, "write", k->state_path, code) : UNSEEN_OK;
}

enum unseen_status unseen__list_kept_save(const struct unseen__list_kept *k,
                                          const struct unseen__list_state *state,
                                          struct unseen_error *error)
{
    const size_t len = state_len(state);
    uint8_t *bytes = unseen__alloc(&k->allocator, len, 64);
    if (!bytes) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, k->state_path);
    }
    encode_state(state, bytes);
    const enum unseen_status status = write_file(k, bytes, len, error);
    unseen__free(&k->allocator, bytes, len);
    return status;
}

/* Reads the whole file, into memory of its length. */
static enum unseen_status read_file(const struct unseen__list_kept *k, int fd, uint8_t **bytes_out,
                                    size_t *len_out, struct unseen_error *error)
{
    uint64_t size = 0;
    int code = unseen__file_size(fd, &size);
    if (code != 0) {
        return unseen__error_io(error, "read", k->state_path, code);
    }
    uint8_t *bytes =
        size > 0 && size < SIZE_MAX / 2 ? unseen__alloc(&k->allocator, (size_t)size, 64) : NULL;
    if (!bytes) {
        return unseen__error_status(error, size ? UNSEEN_ERR_NOMEM : UNSEEN_ERR_CORRUPT,
                                    k->state_path);
    }
    size_t len = 0;
    code = unseen__file_read(fd, 0, bytes, (size_t)size, &len);
    if (code != 0 || len != size) {
        unseen__free(&k->allocator, bytes, (size_t)size);
        return unseen__error_io(error, "read", k->state_path, code ? code : EIO);
    }
    *bytes_out = bytes;
    *len_out = len;
    return UNSEEN_OK;
}

enum unseen_status unseen__list_kept_load(const struct unseen__list_kept *k,
                                          struct unseen__list_state *state_out, uint8_t **bytes_out,
                                          size_t *len_out, struct unseen_error *error)
{
    int fd = -1;
    enum unseen_status status =
        unseen__own_open(k->folder, STATE, k->state_path, O_RDONLY, &fd, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = read_file(k, fd, bytes_out, len_out, error);
    (void)close(fd);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = decode_state(*bytes_out, *len_out, state_out);
    if (status == UNSEEN_OK) {
        return UNSEEN_OK;
    }
    unseen__free(&k->allocator, *bytes_out, *len_out);
    return unseen__error(
        error, status, UNSEEN__NO_OFFSET,
        status == UNSEEN_ERR_VERSION
            ? "%s was written by another version: remove its folder, and begin anew"
            : "%s is damaged: remove its folder, and begin anew",
        k->state_path);
}
