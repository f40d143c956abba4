/* SPDX-License-Identifier: MIT
 *
 * A store whose set is larger than memory. It is opened in parts: the set has the table of the
 * image, and reads a part when the caller loads it. The changes that the log has behind the image
 * are not in the set. The caller takes their keys, puts its own behind them, sorts all of them by
 * part, and goes from part to part: loads it, adds its keys, saves it. So a new image is written
 * from the old one in one sweep, and no more than a part is in memory.
 *
 * The log gets the new keys afterwards, in the order and in the commits that the caller wants. The
 * new image takes its name at close, and only if the log has every key that is in it. Until then
 * the old image and the log are what they were: an image is a cache of what the log says. */
#include "store/store.h"

#include <string.h>

#include "base/error.h"
#include "set/set.h"

enum {
    KEY_MEMORY = 8 /* bytes that a key of the log takes in the set at most, but for odd sizes */
};

bool unseen__sweep_is_due(const struct unseen_store *store, uint64_t npages, uint64_t len)
{
    const uint64_t nkeys = len / unseen__key_bytes(store->log.header.key_bits);
    return store->sweep.memory > 0 &&
           npages * UNSEEN__IMAGE_PAGE + nkeys * KEY_MEMORY >= store->sweep.memory / 2;
}

enum unseen_status unseen__sweep_check(const struct unseen_store *store, struct unseen_error *error)
{
    const struct unseen__log_header *header = &store->log.header;
    const char *why = strcmp(header->filter, "compact") != 0           ? "its filter has no parts"
                      : header->window > 0                             ? "it has a window"
                      : header->read_features & UNSEEN__FEATURE_NO_LOG ? "it has no log"
                      : unseen__set_nallowed(store->set) > 0 || store->sweep.is_refused
                          ? "lines were removed since its image was written, or are allowed"
                      : !store->log.writable || store->is_draft ? "it is only read, or a draft"
                                                                : NULL;
    return why ? unseen__error(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN__NO_OFFSET,
                               "%s cannot be read part by part: %s", store->log.path, why)
               : UNSEEN_OK;
}

/* ---- the changes since the image ---- */

static enum unseen_status start_scan(struct unseen_store *store, struct unseen_error *error)
{
    struct unseen__sweep *s = &store->sweep;
    if (s->scan.log) {
        return UNSEEN_OK;
    }
    const enum unseen_status status =
        unseen__scan_init(&s->scan, &store->log, s->from, s->number, error);
    s->scan.size = s->end;
    return status;
}

/* Shows the next record; *done_out: there is none. */
static enum unseen_status next_record(struct unseen__sweep *s, bool *done_out,
                                      struct unseen_error *error)
{
    enum unseen__scan_state state = UNSEEN__SCAN_END;
    const enum unseen_status status = unseen__scan_next(&s->scan, &state, error);
    s->has_record = status == UNSEEN_OK && state == UNSEEN__SCAN_RECORD;
    s->place = (struct unseen__place){0};
    *done_out = !s->has_record;
    /* All of it was intact when the store was opened. */
    return status == UNSEEN_OK && !s->has_record && s->scan.offset != s->end
               ? unseen__damaged(error, s->scan.log, s->scan.offset, s->end)
               : status;
}

enum unseen_status unseen_store_unread(struct unseen_store *store, struct unseen_key *keys,
                                       size_t max, size_t *n_out, struct unseen_error *error)
{
    struct unseen__sweep *s = &store->sweep;
    enum unseen__change change;
    bool is_done = false;
    *n_out = 0;
    if (!s->in_parts) {
        return UNSEEN_OK;
    }
    if (max < UNSEEN_UNREAD_MIN) {
        return unseen__error_plain(error, UNSEEN_ERR_SPACE);
    }
    enum unseen_status status = start_scan(store, error);
    while (status == UNSEEN_OK && *n_out == 0 && !is_done) {
        if (s->has_record) {
            *n_out = unseen__record_next(&s->scan, &s->place, keys, &change);
        }
        if (*n_out == 0) {
            status = next_record(s, &is_done, error);
        }
    }
    return status;
}

/* ---- parts ---- */

static enum unseen_status begin(struct unseen_store *store, unsigned bits,
                                struct unseen_error *error)
{
    struct unseen__sweep *s = &store->sweep;
    if (s->nparts > 0) {
        return UNSEEN_OK;
    }
    enum unseen_status status = unseen__sweep_check(store, error);
    if (status == UNSEEN_OK) {
        status = unseen__image_start(&s->image, &store->log, error);
    }
    s->has_image = status == UNSEEN_OK;
    s->nparts = s->has_image ? (uint64_t)1 << bits : 0;
    return status;
}

enum unseen_status unseen_store_load_part(struct unseen_store *store, unsigned bits, uint64_t part,
                                          struct unseen_error *error)
{
    const struct unseen__sweep *s = &store->sweep;
    const struct unseen__part loaded = {store->set, bits, part};
    const bool is_first = s->nparts == 0 && bits >= 1 && bits <= unseen_set_part_bits(store->set);
    if ((!is_first && (uint64_t)1 << bits != s->nparts) || part != s->ndropped) {
        return unseen__error_plain(error, UNSEEN_ERR_ARGUMENT);
    }
    enum unseen_status status = begin(store, bits, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = unseen__set_load_part(&loaded);
    if (status == UNSEEN_ERR_CORRUPT || status == UNSEEN_ERR_IO) {
        unseen__image_report_unread(store, status, error);
        return status;
    }
    return unseen__error_status(error, status, store->log.path);
}

enum unseen_status unseen_store_add_to_part(struct unseen_store *store,
                                            const struct unseen_key *keys, size_t n, bool is_unread,
                                            uint8_t *verdicts)
{
    size_t ndone = 0;
    const enum unseen_status status = unseen_set_add_keys(store->set, keys, n, verdicts, &ndone);
    for (size_t i = 0; i < ndone && !is_unread; i++) {
        store->sweep.nnew += verdicts[i] == UNSEEN_NEW;
    }
    return status;
}

enum unseen_status unseen_store_save_part(struct unseen_store *store, unsigned bits, uint64_t part,
                                          struct unseen_error *error)
{
    struct unseen__sweep *s = &store->sweep;
    const struct unseen__part saved = {store->set, bits, part};
    if ((uint64_t)1 << bits != s->nparts || part != s->ndropped) {
        return unseen__error_plain(error, UNSEEN_ERR_ARGUMENT);
    }
    enum unseen_status status =
        unseen__image_put_pages(&s->image, unseen__set_next_of_part, &saved, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = unseen__set_keep_part(&saved);
    if (status == UNSEEN_OK) {
        status = unseen__set_drop_part(&saved);
    }
    s->ndropped++;
    return unseen__error_status(error, status, store->log.path);
}

enum unseen_status unseen_store_note_keys(struct unseen_store *store, const struct unseen_key *keys,
                                          size_t n)
{
    enum unseen_status status = unseen__committer_status(&store->committer);
    if (status == UNSEEN_OK) {
        status = unseen__committer_reserve(&store->committer, n);
    }
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        unseen__committer_note(&store->committer, keys[i], false, store->clock);
        store->sweep.nnoted++;
    }
    return status;
}

/* ---- the new image ---- */

enum unseen_status unseen__sweep_finish(struct unseen_store *store, bool all_committed,
                                        struct unseen_error *error)
{
    const struct unseen__sweep *s = &store->sweep;
    const bool knows_output = !store->committer.output_name || store->output.closed;
    const bool is_whole = s->has_image && s->ndropped == s->nparts && s->nnew == s->nnoted;
    return is_whole && all_committed && knows_output ? unseen__image_save_swept(store, error)
                                                     : UNSEEN_OK;
}

void unseen__sweep_release(struct unseen_store *store)
{
    struct unseen__sweep *s = &store->sweep;
    if (s->has_image) {
        unseen__image_abandon(&s->image);
    }
    if (s->scan.log) {
        unseen__scan_release(&s->scan);
    }
}
