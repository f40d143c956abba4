/* SPDX-License-Identifier: MIT
 *
 * Opens and asks a list. Texts become keys, and keys go through the pages (ask.h). Changes have the
 * last word: they are compared with the text itself. */
#include "list/list.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/cpu.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "list/list_key.h"

enum {
    AHEAD = 16 /* keys whose slots are fetched before the first is looked at */
};

enum unseen_status unseen_list_open(struct unseen_list **list_out, const char *path,
                                    const struct unseen_list_options *given,
                                    struct unseen_error *error)
{
    struct unseen_list_options options = {.size = sizeof(options)};
    enum unseen_cpu cpu;
    enum unseen_status status =
        unseen__sized_take(&options, sizeof(options), given, "unseen_list_options", error);
    if (status == UNSEEN_OK) {
        status = unseen__cpu_select(options.cpu, &cpu, error);
    }
    if (status == UNSEEN_OK && options.access != UNSEEN_LIST_MAP_PREFETCH &&
        options.access != UNSEEN_LIST_MAP && options.access != UNSEEN_LIST_READ) {
        status = unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_MODE,
                                       "%d is not a way to read a list", (int)options.access);
    }
    if (status != UNSEEN_OK) {
        return unseen__error_prefix(error, status, path);
    }
    const struct unseen_allocator allocator = unseen__allocator(options.allocator);
    struct unseen_list *list = unseen__alloc(&allocator, sizeof(*list), _Alignof(max_align_t));
    if (!list) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, path);
    }
    status = unseen__list_file_open(&list->file, path, options.access, cpu, &allocator, error);
    if (status != UNSEEN_OK) {
        unseen__free(&allocator, list, sizeof(*list));
        return status;
    }
    status = unseen__list_identity_read(&list->identity, &list->file.header, path, cpu, &allocator,
                                        error);
    if (status != UNSEEN_OK) {
        unseen_list_close(list);
        return status;
    }
    list->ask = unseen__list_asker_for(cpu);
    *list_out = list;
    return UNSEEN_OK;
}

void unseen_list_close(struct unseen_list *list)
{
    if (list) {
        const struct unseen_allocator allocator = list->file.allocator;
        unseen__list_identity_release(&list->identity);
        unseen__list_file_release(&list->file);
        unseen__free(&allocator, list, sizeof(*list));
    }
}

const struct unseen_url *unseen_list_url(const struct unseen_list *list)
{
    return list->identity.url;
}

/* ---- asking ---- */

/* The verdict that a state of changes gives, or else the verdict of the list proper. */
static uint8_t decide(unsigned state, uint8_t verdict)
{
    if (state & UNSEEN__TEXT_ALLOWED) {
        return UNSEEN_ALLOWED;
    }
    return state & UNSEEN__TEXT_ADDED     ? UNSEEN_SEEN
           : state & UNSEEN__TEXT_REMOVED ? UNSEEN_NEW
                                          : verdict;
}

/* Puts the verdicts of changes over those of the list proper. */
static void apply_changes(const struct unseen__list_texts *texts, const struct unseen_bytes *items,
                          const uint64_t *keys, size_t n, uint8_t *verdicts)
{
    for (size_t i = 0; i < n && i < AHEAD; i++) {
        unseen__list_texts_prefetch(texts, keys[i]);
    }
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) {
            unseen__list_texts_prefetch(texts, keys[i + AHEAD]);
        }
        if (unseen__list_texts_may_have(texts, keys[i])) {
            verdicts[i] = decide(
                unseen__list_texts_state(texts, keys[i], items[i].data, items[i].len), verdicts[i]);
        }
    }
}

static void ask_proper(const struct unseen_list *list, const uint64_t *keys, size_t n,
                       uint8_t *verdicts)
{
    if (n == 1) {
        *verdicts = unseen__list_contains(&list->file.view, *keys) ? UNSEEN_SEEN : UNSEEN_NEW;
        return;
    }
    unseen__list_contains_batch(&list->file.view, list->ask, keys, n, verdicts);
    for (size_t i = 0; i < n; i++) {
        verdicts[i] = verdicts[i] == UNSEEN__LIST_YES ? UNSEEN_SEEN : UNSEEN_NEW;
    }
}

void unseen_list_contains_texts(const struct unseen_list *list, const struct unseen_bytes *items,
                                size_t n, uint8_t *verdicts)
{
    const struct unseen__list_texts *texts = &list->file.changes.texts;
    uint64_t keys[UNSEEN__LIST_BATCH];
    for (size_t at = 0; at < n; at += UNSEEN__LIST_BATCH) {
        const size_t count = n - at < UNSEEN__LIST_BATCH ? n - at : UNSEEN__LIST_BATCH;
        unseen__list_keys(&list->file.hasher, items + at, count, keys);
        ask_proper(list, keys, count, verdicts + at);
        if (texts->n > 0) {
            apply_changes(texts, items + at, keys, count, verdicts + at);
        }
    }
}

/* ---- changes ---- */

void unseen_list_changes(const struct unseen_list *list,
                         bool (*each)(void *context, enum unseen_list_change change,
                                      struct unseen_bytes text),
                         void *context)
{
    const struct unseen__list_texts *texts = &list->file.changes.texts;
    bool more = true;
    for (size_t i = 0; i < texts->n && more; i++) {
        const struct unseen__list_text *text = &texts->texts[i];
        const struct unseen_bytes bytes = {(const char *)texts->bytes + text->offset, text->len};
        if (text->state & UNSEEN__TEXT_ALLOWED) {
            more = each(context, UNSEEN_LIST_ALLOW, bytes);
        }
        if (more && text->state & (UNSEEN__TEXT_ADDED | UNSEEN__TEXT_REMOVED)) {
            const bool added = text->state & UNSEEN__TEXT_ADDED;
            more = each(context, added ? UNSEEN_LIST_ADD : UNSEEN_LIST_REMOVE, bytes);
        }
    }
}

enum unseen_status unseen_list_refresh(struct unseen_list *list, bool *changed_out,
                                       struct unseen_error *error)
{
    const enum unseen_status status =
        unseen__list_file_check(list->file.fd, list->file.path, &list->file.header, error);
    return status == UNSEEN_OK
               ? unseen__list_changes_read(&list->file.changes, list->file.fd, changed_out, error)
               : status;
}

/* ---- information ---- */

/* The share of other keys that are taken for members: by their fingerprint, or because they agree
 * with a member in all kept bits. */
static double rate_of(const struct unseen__list_header *h)
{
    return unseen__list_geometry_rate(&h->geometry) +
           ldexp((double)h->ndistinct, -(int)h->key_bits);
}

enum unseen_status unseen_list_info(const struct unseen_list *list,
                                    struct unseen_list_info *info_out)
{
    const struct unseen__list_header *h = &list->file.header;
    const struct unseen__list_changes *changes = &list->file.changes;
    struct unseen_list_info info = {
        .size = sizeof(info),
        .fpr = h->fpr,
        .rate = rate_of(h) * unseen_kind_texts_max(list->identity.kind),
        .ngiven = h->ngiven,
        .nkeys = h->ndistinct,
        .bytes = changes->end + changes->ntorn,
        .npages = list->file.offsets.npages,
        .nlayers = h->nlayers,
        .nbumped = h->nlayers > 1 ? h->layers[1].nkeys : h->nleftover,
        .nleft = h->nleftover,
        .key_bits = h->key_bits,
        .seed_id = unseen__secret_id(&h->secret),
        .profile = h->profile,
        .kind = list->identity.kind,
        .nallowed = changes->texts.nallowed,
        .nadded = changes->texts.nadded,
        .nremoved = changes->texts.nremoved,
        .changes_bytes = changes->end - changes->start,
        .torn_bytes = changes->ntorn,
    };
    return unseen__sized_give(info_out, &info, sizeof(info));
}

enum unseen_status unseen_list_verify(const struct unseen_list *list, struct unseen_error *error)
{
    return unseen__list_file_verify(&list->file, error);
}
