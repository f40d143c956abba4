/* SPDX-License-Identifier: MIT */
#include "memory/lists.h"

#include <string.h>

#include "lines/profile.h"
#include "print/message.h"

void lists_report(const char *path, const struct unseen_error *error)
{
    if (error->text[0] != '\0') {
        message_error("%s", error->text);
    } else {
        message_error("%s: %s", path, unseen_status_string(error->status));
    }
    switch (error->status) {
    case UNSEEN_ERR_MISSING:
        message_hint("unseen build %s FILE makes it", path);
        break;
    case UNSEEN_ERR_CORRUPT:
        message_hint("unseen build %s FILE makes it anew", path);
        break;
    case UNSEEN_ERR_VERSION:
        message_hint("this is unseen %s; use the version that wrote it, or a newer one",
                     unseen_version());
        break;
    case UNSEEN_ERR_BUSY:
        message_hint("wait until it has ended; meanwhile unseen check %s FILE can ask", path);
        break;
    default:
        break;
    }
}

/* The canonicaliser that the entries of the list went through. */
static bool make_url(struct opened_list *l, const char *path, const char *profile,
                     enum unseen_cpu cpu)
{
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = profile, .cpu = cpu};
    const bool is_url = l->kind == UNSEEN_KIND_URL || l->kind == UNSEEN_KIND_EXPRESSIONS;
    const enum unseen_status status = is_url ? unseen_url_create(&l->url, &options) : UNSEEN_OK;
    if (status != UNSEEN_OK) {
        message_error("%s has the profile %s: %s", path, profile, unseen_status_string(status));
        return false;
    }
    if (l->kind == UNSEEN_KIND_URL && profile_is_none(l->url)) {
        unseen_url_free(l->url);
        l->url = NULL;
    }
    return true;
}

bool lists_open(struct opened_list *l, const char *path, enum unseen_list_access access,
                enum unseen_cpu cpu)
{
    const struct unseen_list_options options = {
        .size = sizeof(options), .access = access, .cpu = cpu};
    struct unseen_error error = {.status = UNSEEN_OK};
    struct unseen_list_info info = {.size = sizeof(info), .kind = UNSEEN_KIND_URL};
    *l = (struct opened_list){.list = NULL};
    error.status = unseen_list_open(&l->list, path, &options, &error);
    if (error.status == UNSEEN_OK) {
        error.status = unseen_list_info(l->list, &info);
    }
    l->kind = info.kind;
    if (error.status != UNSEEN_OK) {
        lists_report(path, &error);
    } else if (make_url(l, path, info.profile, cpu)) {
        return true;
    }
    lists_close(l);
    return false;
}

void lists_close(struct opened_list *l)
{
    unseen_list_close(l->list);
    unseen_url_free(l->url);
    *l = (struct opened_list){.list = NULL};
}
