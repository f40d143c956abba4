/* SPDX-License-Identifier: MIT
 *
 * What an entry and a question of a list are: its kind, and its canonicaliser. Both stand in the
 * file by their ids. Who builds, asks or changes a list makes them from there, so that an entry and
 * a question in other spellings meet in one text. */
#ifndef UNSEEN_LIST_LIST_IDENTITY_H
#define UNSEEN_LIST_LIST_IDENTITY_H

#include "list/list_format.h"
#include "unseen_list.h"

struct unseen__list_identity {
    enum unseen_kind kind;
    struct unseen_url *url; /* NULL: the kind has none, or the profile is "none" */
};

/* Memory for the text of an entry, which is used again. */
struct unseen__list_room {
    char *data;
    size_t cap;
};

/* Makes the identity of a new list, and puts its ids into the header. profile is a name, an id, or
 * NULL. Errors: those of unseen_url_create; ARGUMENT (the kind has no profile). */
enum unseen_status unseen__list_identity_make(struct unseen__list_identity *identity,
                                              enum unseen_kind kind, const char *profile,
                                              enum unseen_cpu cpu,
                                              const struct unseen_allocator *allocator,
                                              struct unseen__list_header *header,
                                              struct unseen_error *error);

/* Makes the identity that the header of the list at path names. Errors: VERSION (this version does
 * not know the kind or the profile), NOMEM. */
enum unseen_status unseen__list_identity_read(struct unseen__list_identity *identity,
                                              const struct unseen__list_header *header,
                                              const char *path, enum unseen_cpu cpu,
                                              const struct unseen_allocator *allocator,
                                              struct unseen_error *error);

void unseen__list_identity_release(struct unseen__list_identity *identity);

/* Makes the canonical text of an entry, in the room or in the item. Errors: NOMEM. */
enum unseen_status unseen__list_identity_entry(const struct unseen__list_identity *identity,
                                               const struct unseen_bytes *item,
                                               struct unseen__list_room *room,
                                               const struct unseen_allocator *allocator,
                                               struct unseen_bytes *text_out,
                                               enum unseen_entry *fitness_out);

/* Reports an entry that is not fine, and returns ARGUMENT. */
enum unseen_status unseen__list_identity_refuse(const struct unseen__list_identity *identity,
                                                const char *path, const struct unseen_bytes *item,
                                                enum unseen_entry fitness,
                                                struct unseen_error *error);

#endif
