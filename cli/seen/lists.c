/* SPDX-License-Identifier: MIT */
#include "seen/lists.h"

#include <unseen_list.h>

#include "print/message.h"
#include "print/typed.h"
#include "seen/map_guard.h"

void lists_report(const char *path, const struct unseen_error *error)
{
    const char *quoted = typed_quoted(path);
    if (error->text[0] != '\0') {
        message_error("%s", error->text);
    } else {
        message_error("%s: %s", path, unseen_status_string(error->status));
    }
    switch (error->status) {
    case UNSEEN_ERR_MISSING:
        message_hint("to make it: unseen build %s FILE", quoted);
        break;
    case UNSEEN_ERR_CORRUPT:
        message_hint("to make it anew: unseen build %s FILE", quoted);
        break;
    case UNSEEN_ERR_VERSION:
        message_hint("this is unseen %s; use the version that wrote it, or make a new one from its "
                     "entries: unseen build NEW FILE",
                     unseen_version());
        break;
    case UNSEEN_ERR_BUSY:
        message_hint("wait until it has ended; to ask meanwhile: unseen check %s FILE", quoted);
        break;
    default:
        break;
    }
}

bool lists_open(struct opened_list *l, const char *path, enum unseen_list_access access,
                enum unseen_cpu cpu)
{
    const struct unseen_list_options options = {
        .size = sizeof(options), .access = access, .cpu = cpu};
    struct unseen_error error = {.status = UNSEEN_OK};
    struct unseen_list_info info = {.size = sizeof(info), .kind = UNSEEN_KIND_URL};
    *l = (struct opened_list){.list = NULL, .path = path};
    guard_start();
    error.status = unseen_list_open(&l->list, path, &options, &error);
    if (error.status == UNSEEN_OK) {
        error.status = unseen_list_info(l->list, &info);
    }
    l->kind = info.kind;
    if (error.status == UNSEEN_OK) {
        return true;
    }
    lists_report(path, &error);
    lists_close(l);
    return false;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* The arguments of a call of the library. */
struct asking {
    const struct opened_list *l;
    const struct unseen_bytes *items;
    size_t n;
    uint8_t *verdicts;
    enum unseen_status status;
};

static void cover(void *context)
{
    struct asking *a = context;
    a->status = unseen_list_covers(a->l->list, a->items, a->n, a->verdicts);
}

static void contain(void *context)
{
    struct asking *a = context;
    unseen_list_contains_texts(a->l->list, a->items, a->n, a->verdicts);
    a->status = UNSEEN_OK;
}

enum unseen_status lists_covers(const struct opened_list *l, const struct unseen_bytes *items,
                                size_t n, uint8_t *verdicts)
{
    struct asking a = {l, items, n, verdicts, UNSEEN_OK};
    return guard_call(l->takes_canons ? contain : cover, &a) ? a.status : UNSEEN_ERR_MISMATCH;
}

enum unseen_status lists_contains(const struct opened_list *l, const struct unseen_bytes *items,
                                  size_t n, uint8_t *verdicts)
{
    struct asking a = {l, items, n, verdicts, UNSEEN_OK};
    return guard_call(contain, &a) ? a.status : UNSEEN_ERR_MISMATCH;
}

/* Changes that cannot be read count as not made yet. */
enum unseen_status lists_check(const struct opened_list *l)
{
    const enum unseen_status status = unseen_list_refresh(l->list, NULL, NULL);
    return status == UNSEEN_ERR_MISMATCH || status == UNSEEN_ERR_IO ? UNSEEN_ERR_MISMATCH
                                                                    : UNSEEN_OK;
}

void lists_report_lost(const char *path)
{
    message_error("%s was written over or cut short while it was asked", path);
    message_hint("build the new one beside it, or copy it there, and rename it: mv NEW %s",
                 typed_quoted(path));
}

void lists_close(struct opened_list *l)
{
    unseen_list_close(l->list);
    *l = (struct opened_list){.list = NULL};
}

struct unseen_list_info lists_info(const struct unseen_list *list)
{
    struct unseen_list_info info = {.size = sizeof(info), .profile = ""};
    (void)unseen_list_info(list, &info); /* fails for a wrong size only */
    return info;
}
