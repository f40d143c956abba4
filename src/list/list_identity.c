/* SPDX-License-Identifier: MIT
 *
 * Makes the kind and the canonicaliser of a list, and entries by them; list_identity.h says what
 * for. */
#include "list/list_identity.h"

#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "kind/kind.h"
#include "url/url.h"

enum {
    ROOM_LEAST = 512,
    SHOWN_BYTES = 100 /* of an entry, in an error */
};

/* Drops a canonicaliser that changes nothing: texts take one step less then. */
static void drop_plain(struct unseen__list_identity *identity)
{
    if (identity->kind != UNSEEN_KIND_EXPRESSIONS && identity->url->slow == unseen__url_none) {
        unseen__list_identity_release(identity);
    }
}

enum unseen_status unseen__list_identity_make(struct unseen__list_identity *identity,
                                              enum unseen_kind kind, const char *profile,
                                              enum unseen_cpu cpu,
                                              const struct unseen_allocator *allocator,
                                              struct unseen__list_header *header,
                                              struct unseen_error *error)
{
    const char *usual = kind == UNSEEN_KIND_EXPRESSIONS ? "safebrowsing"
                        : unseen__kind_takes_url(kind)  ? "crawl"
                                                        : "none";
    const struct unseen_url_options options = {.size = sizeof(options),
                                               .profile = profile ? profile : usual,
                                               .cpu = cpu,
                                               .allocator = allocator};
    *identity = (struct unseen__list_identity){.kind = kind};
    const enum unseen_status status = unseen_url_create(&identity->url, &options, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (!unseen__kind_takes_url(kind) && identity->url->slow != unseen__url_none) {
        unseen__list_identity_release(identity);
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_PROFILE,
                                     "entries of the kind \"%s\" have no profile",
                                     unseen_kind_name(kind));
    }
    const char *url_id = unseen_url_id(identity->url);
    unseen__kind_id(kind, header->kind);
    memcpy(header->profile, url_id, strlen(url_id));
    drop_plain(identity);
    return UNSEEN_OK;
}

enum unseen_status unseen__list_identity_read(struct unseen__list_identity *identity,
                                              const struct unseen__list_header *header,
                                              const char *path, enum unseen_cpu cpu,
                                              const struct unseen_allocator *allocator,
                                              struct unseen_error *error)
{
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = header->profile, .cpu = cpu, .allocator = allocator};
    identity->url = NULL;
    if (unseen__kind_of_id(header->kind, &identity->kind) != UNSEEN_OK) {
        return unseen__error(error, UNSEEN_ERR_VERSION, UNSEEN__NO_OFFSET,
                             "%s has entries of the kind \"%s\", which only a newer version knows",
                             path, header->kind);
    }
    const enum unseen_status status = unseen__kind_takes_url(identity->kind)
                                          ? unseen_url_create(&identity->url, &options, NULL)
                                          : UNSEEN_OK;
    if (status == UNSEEN_ERR_NOMEM) {
        return unseen__error_status(error, status, path);
    }
    if (status != UNSEEN_OK) {
        return unseen__error(error, UNSEEN_ERR_VERSION, UNSEEN__NO_OFFSET,
                             "%s was built under the profile \"%.100s\", which this version does "
                             "not know",
                             path, header->profile);
    }
    if (identity->url) {
        drop_plain(identity);
    }
    return UNSEEN_OK;
}

void unseen__list_identity_release(struct unseen__list_identity *identity)
{
    unseen_url_free(identity->url);
    identity->url = NULL;
}

enum unseen_status unseen__list_identity_entry(const struct unseen__list_identity *identity,
                                               const struct unseen_bytes *item,
                                               struct unseen__list_room *room,
                                               const struct unseen_allocator *allocator,
                                               struct unseen_bytes *text_out,
                                               enum unseen_entry *fitness_out)
{
    const size_t need = unseen_kind_bound(identity->kind, item->len);
    if (need == 0 || !array_grow(allocator, &room->data, &room->cap, need, ROOM_LEAST, 1)) {
        return UNSEEN_ERR_NOMEM;
    }
    return unseen_kind_entry(identity->kind, identity->url, item->data, item->len, room->data,
                             room->cap, text_out, fitness_out);
}

enum unseen_status unseen__list_identity_refuse(const struct unseen__list_identity *identity,
                                                const char *path, const struct unseen_bytes *item,
                                                enum unseen_entry fitness,
                                                struct unseen_error *error)
{
    const int len = item->len < SHOWN_BYTES ? (int)item->len : SHOWN_BYTES;
    return unseen__error(error, UNSEEN_ERR_ARGUMENT, UNSEEN__NO_OFFSET, "%s: '%.*s' %s", path, len,
                         len > 0 ? (const char *)item->data : "",
                         unseen_kind_complaint(identity->kind, fitness));
}
