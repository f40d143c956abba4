/* SPDX-License-Identifier: MIT
 *
 * Changing a list, as users see it; the work is in src/list/edit.c. */
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "list/list.h"
#include "list/edit.h"

struct unseen_list_edit {
    struct unseen__list_edit edit;
};

enum unseen_status unseen_list_edit_open(struct unseen_list_edit **edit_out, const char *path,
                                         const struct unseen_list_options *given,
                                         struct unseen_error *error)
{
    struct unseen_list_options options = {.size = sizeof(options)};
    enum unseen_status status =
        unseen__sized_take(&options, sizeof(options), given, "unseen_list_options", error);
    if (status != UNSEEN_OK) {
        return unseen__error_prefix(error, status, path);
    }
    const struct unseen_allocator allocator = unseen__allocator(options.allocator);
    struct unseen_list_edit *edit = unseen__alloc(&allocator, sizeof(*edit), _Alignof(max_align_t));
    if (!edit) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, path);
    }
    enum unseen_kind kind;
    status = unseen__list_edit_open(&edit->edit, path, &allocator, error);
    if (status == UNSEEN_OK) {
        status = unseen__list_header_kind(&edit->edit.header, path, &kind, error);
        if (status != UNSEEN_OK) {
            unseen__list_edit_release(&edit->edit);
        }
    }
    if (status != UNSEEN_OK) {
        unseen__free(&allocator, edit, sizeof(*edit));
        return status;
    }
    *edit_out = edit;
    return UNSEEN_OK;
}

enum unseen_status unseen_list_edit_change(struct unseen_list_edit *edit,
                                           enum unseen_list_change change,
                                           const struct unseen_bytes *items, size_t n,
                                           uint8_t *changed, struct unseen_error *error)
{
    return unseen__list_edit_change(&edit->edit, change, items, n, changed, error);
}

enum unseen_status unseen_list_edit_commit(struct unseen_list_edit *edit,
                                           struct unseen_error *error)
{
    return unseen__list_edit_commit(&edit->edit, error);
}

void unseen_list_edit_close(struct unseen_list_edit *edit)
{
    if (edit) {
        const struct unseen_allocator allocator = edit->edit.allocator;
        unseen__list_edit_release(&edit->edit);
        unseen__free(&allocator, edit, sizeof(*edit));
    }
}
