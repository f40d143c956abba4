/* SPDX-License-Identifier: MIT
 *
 * Saves the state of a build on the disk, and restores a build from it (state.h has the files). */
#include "base/posix.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "list/builder.h"

enum {
    NOTE_MAX = 1 << 24
};

/* Keeps a copy of the note. note may be the copy that is kept already. */
static enum unseen_status take_note(struct unseen_list_build *b, const void *note, size_t len)
{
    uint8_t *copy = len ? unseen__alloc(&b->allocator, len, 1) : NULL;
    if (len && !copy) {
        return UNSEEN_ERR_NOMEM;
    }
    if (len) {
        memcpy(copy, note, len);
    }
    unseen__free(&b->allocator, b->note, b->note_len);
    b->note = copy;
    b->note_len = len;
    return UNSEEN_OK;
}

static enum unseen_status save_state(struct unseen_list_build *b, bool complete,
                                     struct unseen_error *error)
{
    const struct unseen__list_header *h = &b->header;
    struct unseen__list_state state = {
        .complete = complete,
        .fpr = h->fpr,
        .secret = h->secret,
        .capacity = b->options.capacity,
        .ngiven = h->ngiven,
        .key_bits = h->key_bits,
        .part_bits = unseen__spill_part_bits(b->spill),
        .stride = (unsigned)unseen__spill_stride(b->spill),
        .ntexts = b->ntexts,
        .note = b->note,
        .note_len = b->note_len,
        .table_len = unseen__spill_table_len(b->spill),
    };
    memcpy(state.profile, h->profile, sizeof(state.profile));
    memcpy(state.kind, h->kind, sizeof(state.kind));
    uint8_t *table = unseen__alloc(&b->allocator, state.table_len + 1, 64);
    if (!table) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, b->folder);
    }
    unseen__spill_table(b->spill, table);
    state.table = table;
    const enum unseen_status status = unseen__list_kept_save(&b->kept, &state, error);
    unseen__free(&b->allocator, table, state.table_len + 1);
    return status;
}

/* First the keys, then the state that counts them. */
enum unseen_status unseen__list_build_save(struct unseen_list_build *b, const void *note,
                                           size_t note_len, bool complete,
                                           struct unseen_error *error)
{
    enum unseen_status status = unseen__spill_save(b->spill, error);
    if (status == UNSEEN_OK) {
        status = unseen__error_status(error, take_note(b, note, note_len), b->folder);
    }
    if (status == UNSEEN_OK) {
        status = save_state(b, complete, error);
    }
    b->complete = status == UNSEEN_OK && complete;
    b->failed = status != UNSEEN_OK;
    return status;
}

enum unseen_status unseen_list_build_checkpoint(struct unseen_list_build *b, const void *note,
                                                size_t note_len, struct unseen_error *error)
{
    if (!b->options.keep || b->complete || note_len > NOTE_MAX) {
        return unseen__error_status(error, UNSEEN_ERR_ARGUMENT, b->path);
    }
    return b->failed ? unseen__error_status(error, UNSEEN_ERR_STOPPED, b->path)
                     : unseen__list_build_save(b, note, note_len, false, error);
}

bool unseen_list_build_complete(const struct unseen_list_build *b)
{
    return b->complete;
}

/* ---- resuming ---- */

/* The name of an option that differs from the state; NULL if none does. */
static const char *other_option(const struct unseen__list_state *state,
                                const struct unseen_list_build *b,
                                const struct unseen__secret *secret)
{
    const struct unseen__list_header *h = &b->header;
    return state->fpr != h->fpr || state->ntexts != b->ntexts         ? "rate"
           : state->capacity != b->options.capacity                   ? "capacity"
           : strcmp(state->profile, h->profile) != 0                  ? "profile"
           : strcmp(state->kind, h->kind) != 0                        ? "kind of entries"
           : secret && !unseen__secret_equals(secret, &state->secret) ? "seed"
                                                                      : NULL;
}

static enum unseen_status take_state(struct unseen_list_build *b,
                                     const struct unseen__secret *secret,
                                     const struct unseen__list_state *state,
                                     struct unseen_error *error)
{
    const char *other = other_option(state, b, secret);
    if (other) {
        return unseen__error(error, UNSEEN_ERR_MISMATCH, UNSEEN__NO_OFFSET,
                             "%s was begun with another %s", b->folder, other);
    }
    b->header.secret = state->secret;
    b->header.ngiven = state->ngiven;
    b->complete = state->complete;
    enum unseen_status status = take_note(b, state->note, state->note_len);
    if (status != UNSEEN_OK) {
        return unseen__error_status(error, status, b->folder);
    }
    status = unseen__list_build_prepare(b, state->key_bits, state->part_bits,
                                        (size_t)state->stride << state->part_bits, error);
    return status == UNSEEN_OK
               ? unseen__spill_resume(b->spill, b->kept.keys, state->table, state->table_len, error)
               : status;
}

enum unseen_status unseen__list_build_load(struct unseen_list_build *b,
                                           const struct unseen__secret *secret,
                                           struct unseen_error *error)
{
    struct unseen__list_state state;
    uint8_t *bytes = NULL;
    size_t len = 0;
    enum unseen_status status =
        unseen__list_kept_open(&b->kept, b->folder, false, &b->allocator, error);
    if (status == UNSEEN_OK) {
        status = unseen__list_kept_load(&b->kept, &state, &bytes, &len, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    status = take_state(b, secret, &state, error);
    unseen__free(&b->allocator, bytes, len);
    return status;
}
