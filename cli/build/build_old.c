/* SPDX-License-Identifier: MIT
 *
 * Takes over the changes of an old list. Added texts go into the build, and removed texts are left
 * out of it.
 *
 * When the new list is finished, the changes of the old list are read once more, as they are then.
 * A change that agrees with the input lines is dropped: an added text that is among the lines, or
 * a removed text that is not. All other changes become changes of the new list, too. Otherwise the
 * next build from the same lines would undo them. */
#include "build/build_old.h"

#include <stdlib.h>

#include "lines/entries.h"
#include "print/message.h"
#include "seen/lists.h"

/* ---- Texts ----------------------------------------------------------------------------------- */

static bool all_unmet(struct build_texts *t)
{
    t->met = calloc(t->table.n + 1, sizeof(*t->met));
    return t->met;
}

/* NULL if the table lacks the text. */
static atomic_bool *met_of(const struct build_texts *t, struct unseen_bytes text)
{
    const struct text_entry *entry = text_table_find(&t->table, text.data, text.len);
    return entry ? &t->met[entry - t->table.entries] : NULL;
}

static bool meet(const struct build_texts *t, struct unseen_bytes text)
{
    atomic_bool *met = met_of(t, text);
    if (met) {
        atomic_store_explicit(met, true, memory_order_relaxed);
    }
    return met;
}

static bool was_met(const struct build_texts *t, struct unseen_bytes text)
{
    atomic_bool *met = met_of(t, text);
    return met && atomic_load_explicit(met, memory_order_relaxed);
}

static void texts_release(struct build_texts *t)
{
    text_table_release(&t->table);
    free(t->met);
}

/* ---- The list -------------------------------------------------------------------------------- */

static bool take_change(void *context, enum unseen_list_change change, struct unseen_bytes text)
{
    struct build_old *old = context;
    if (change == UNSEEN_LIST_REMOVE || change == UNSEEN_LIST_ADD) {
        struct build_texts *t = change == UNSEEN_LIST_ADD ? &old->added : &old->removed;
        old->failed = !text_table_add(&t->table, text.data, text.len);
    }
    return !old->failed;
}

static enum unseen_status open_to_look(const char *path, struct unseen_list **list_out,
                                       struct unseen_error *error)
{
    const struct unseen_list_options options = {.size = sizeof(options), .access = UNSEEN_LIST_MAP};
    return unseen_list_open(list_out, path, &options, error);
}

bool build_old_open(struct build_old *old, const char *path)
{
    *old = (struct build_old){.path = path, .info = {.size = sizeof(old->info)}};
    if (!path) {
        return true;
    }
    struct unseen_error error = {.status = UNSEEN_OK};
    error.status = open_to_look(path, &old->list, &error);
    if (error.status == UNSEEN_OK) {
        error.status = unseen_list_info(old->list, &old->info);
    }
    if (error.status != UNSEEN_OK) {
        lists_report(path, &error);
        return false;
    }
    return true;
}

bool build_old_read(struct build_old *old)
{
    if (!old->list) {
        return true;
    }
    unseen_list_changes(old->list, take_change, old);
    old->failed = old->failed || !all_unmet(&old->removed) || !all_unmet(&old->added);
    if (old->failed) {
        message_error("%s: out of memory", old->path);
    }
    return !old->failed;
}

void build_old_close(struct build_old *old)
{
    unseen_list_close(old->list);
    texts_release(&old->removed);
    texts_release(&old->added);
    *old = (struct build_old){.path = NULL};
}

bool build_old_meet(const struct build_old *old, struct unseen_bytes entry)
{
    (void)meet(&old->added, entry);
    return meet(&old->removed, entry);
}

/* True if the lines agree with the change. */
static bool is_in_lines(const struct build_old *old, enum unseen_list_change change,
                        struct unseen_bytes text)
{
    if (change == UNSEEN_LIST_ADD) {
        return was_met(&old->added, text);
    }
    return change == UNSEEN_LIST_REMOVE && !was_met(&old->removed, text);
}

/* ---- Into the build -------------------------------------------------------------------------- */

struct adding {
    struct unseen_list_build *build;
    enum unseen_status status;
    struct unseen_error *error;
};

static bool take_added(void *context, enum unseen_list_change change, struct unseen_bytes text)
{
    struct adding *a = context;
    if (change == UNSEEN_LIST_ADD) {
        a->status = unseen_list_build_add_texts(a->build, &text, 1, a->error);
    }
    return a->status == UNSEEN_OK;
}

enum unseen_status build_old_add(const struct build_old *old, struct unseen_list_build *build,
                                 struct unseen_error *error)
{
    struct adding a = {.build = build, .status = UNSEEN_OK, .error = error};
    if (old->list) {
        unseen_list_changes(old->list, take_added, &a);
    }
    return a.status;
}

/* ---- Into the finished list ------------------------------------------------------------------ */

struct carrying {
    const struct build_old *old;
    const struct unseen_list *list; /* the new list, as it was built */
    struct unseen_list_edit *edit;  /* an edit of the new list */
    enum unseen_status status;
    struct unseen_error *error;
};

static bool carry(void *context, enum unseen_list_change change, struct unseen_bytes text)
{
    struct carrying *c = context;
    uint8_t verdict;
    unseen_list_contains_texts(c->list, &text, 1, &verdict);
    const bool listed = verdict == UNSEEN_SEEN;
    if (listed == (change == UNSEEN_LIST_ADD) && is_in_lines(c->old, change, text)) {
        return true;
    }
    c->status = unseen_list_edit_change_texts(c->edit, change, &text, 1, NULL, c->error);
    return c->status == UNSEEN_OK;
}

static enum unseen_status carry_all(const struct build_old *old, const struct unseen_list *now,
                                    const struct unseen_list *list, struct unseen_list_edit *edit,
                                    struct unseen_error *error)
{
    struct carrying c = {
        .old = old, .list = list, .edit = edit, .status = UNSEEN_OK, .error = error};
    unseen_list_changes(now, carry, &c);
    return c.status == UNSEEN_OK ? unseen_list_edit_commit(edit, error) : c.status;
}

enum unseen_status build_old_carry(const struct build_old *old, const char *path,
                                   struct unseen_error *error)
{
    struct unseen_list *now = NULL;
    struct unseen_list *list = NULL;
    struct unseen_list_edit *edit = NULL;
    if (!old->path) {
        return UNSEEN_OK;
    }
    enum unseen_status status = open_to_look(old->path, &now, error);
    if (status == UNSEEN_OK) {
        status = open_to_look(path, &list, error);
    }
    if (status == UNSEEN_OK) {
        status = unseen_list_edit_open(&edit, path, NULL, error);
    }
    if (status == UNSEEN_OK) {
        status = carry_all(old, now, list, edit, error);
    }
    unseen_list_edit_close(edit);
    unseen_list_close(list);
    unseen_list_close(now);
    return status;
}
