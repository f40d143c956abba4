/* SPDX-License-Identifier: MIT
 *
 * Matches questions with a list (unseen_list_covers). A question becomes the texts of all entries
 * that would cover it, up to 129 of them, and the verdicts on these texts become one answer.
 *
 * A list is asked fastest for many keys at a time, because their pages are fetched side by side. So
 * the texts of many questions are collected before the list is asked:
 *
 *     items    jo@a.evil.example                             | x@b.example          | ...
 *     texts    jo@a.evil.example a.evil.example evil.example | x@b.example b.example | ...
 *     verdicts NEW               NEW            SEEN         | NEW         ALLOWED  | ...
 *     answers  SEEN                                          | ALLOWED              | ...
 *
 * Programs may read one question in several ways (kind/kind.h). It is listed if a text of any
 * reading is, and allowed only if each reading has an allowed text. */
#include "list/list.h"

#include <string.h>

#include "base/memory.h"
#include "kind/kind.h"

enum {
    TEXTS = 1024 + UNSEEN_KIND_TEXTS_MAX, /* asked for together; there is always room for one more
                                             question */
    ITEMS = 1024,
    ROOM = 48 * 1024 /* bytes for texts that are not part of the question */
};

struct match_batch {
    const struct unseen_list *list;

    uint16_t counts[ITEMS]; /* of the texts of each item that waits */
    size_t nitems;
    struct unseen_bytes texts[TEXTS];
    uint16_t readings[TEXTS]; /* those that each text is of, as bits */
    size_t ntexts;
    char room[ROOM];
    size_t used;
};

/* Has each reading an allowed text? */
static bool is_allowed(const uint8_t *verdicts, const uint16_t *readings, size_t n)
{
    unsigned all = 0;
    unsigned allowed = 0;
    for (size_t i = 0; i < n; i++) {
        all |= readings[i];
        allowed |= verdicts[i] == UNSEEN_ALLOWED ? readings[i] : 0u;
    }
    return all == allowed;
}

/* The answer that the n verdicts give. An allowed text outweighs all listed texts of its reading,
 * because whoever allows a page of a listed site means that page. */
static uint8_t verdict_of(const uint8_t *verdicts, const uint16_t *readings, size_t n)
{
    if (n > 0 && memchr(verdicts, UNSEEN_ALLOWED, n) && is_allowed(verdicts, readings, n)) {
        return UNSEEN_ALLOWED;
    }
    return n > 0 && memchr(verdicts, UNSEEN_SEEN, n) ? UNSEEN_SEEN : UNSEEN_NEW;
}

/* Asks the list for all texts, and answers the items that wait. */
static void answer_items(struct match_batch *c, uint8_t *answers)
{
    uint8_t verdicts[TEXTS];
    size_t at = 0;
    unseen_list_contains_texts(c->list, c->texts, c->ntexts, verdicts);
    for (size_t i = 0; i < c->nitems; i++) {
        answers[i] = verdict_of(verdicts + at, c->readings + at, c->counts[i]);
        at += c->counts[i];
    }
    c->nitems = 0;
    c->ntexts = 0;
    c->used = 0;
}

/* The offset in the room at which a text ends; 0 if the text lies elsewhere. */
static size_t end_in_room(const struct match_batch *c, struct unseen_bytes text)
{
    const uintptr_t at = (uintptr_t)text.data - (uintptr_t)c->room;
    return at < ROOM ? (size_t)at + text.len : 0;
}

static enum unseen_status add_item(struct match_batch *c, struct unseen_bytes item, char *buf,
                                   size_t cap)
{
    struct unseen_bytes *texts = c->texts + c->ntexts;
    size_t n = 0;
    const struct unseen__list_identity *identity = &c->list->identity;
    const enum unseen_status status = unseen__kind_texts(identity->kind, identity->url, item, buf,
                                                         cap, texts, c->readings + c->ntexts, &n);
    if (status != UNSEEN_OK) {
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        const size_t end = end_in_room(c, texts[i]);
        c->used = end > c->used ? end : c->used;
    }
    c->ntexts += n;
    c->counts[c->nitems++] = (uint16_t)n;
    return UNSEEN_OK;
}

/* Answers an item that may need more than the whole room. */
static enum unseen_status answer_long(struct match_batch *c, struct unseen_bytes item, size_t need,
                                      uint8_t *answer)
{
    const struct unseen_allocator *allocator = &c->list->file.allocator;
    char *buf = need > 0 ? unseen__alloc(allocator, need, 1) : NULL;
    if (!buf) {
        return UNSEEN_ERR_NOMEM;
    }
    const enum unseen_status status = add_item(c, item, buf, need);
    if (status == UNSEEN_OK) {
        answer_items(c, answer);
    }
    unseen__free(allocator, buf, need);
    return status;
}

enum unseen_status unseen_list_covers(const struct unseen_list *list,
                                      const struct unseen_bytes *items, size_t n, uint8_t *verdicts)
{
    struct match_batch c;
    enum unseen_status status = UNSEEN_OK;
    c.list = list;
    c.nitems = 0;
    c.ntexts = 0;
    c.used = 0;
    const enum unseen_kind kind = list->identity.kind;
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        const size_t need = unseen_kind_bound(kind, items[i].len);
        if (need - 1 >= ROOM - c.used || c.ntexts + UNSEEN_KIND_TEXTS_MAX > TEXTS ||
            c.nitems == ITEMS) {
            answer_items(&c, verdicts + i - c.nitems);
        }
        status = need - 1 < ROOM ? add_item(&c, items[i], c.room + c.used, ROOM - c.used)
                                 : answer_long(&c, items[i], need, verdicts + i);
    }
    if (status == UNSEEN_OK) {
        answer_items(&c, verdicts + n - c.nitems);
    }
    return status;
}
