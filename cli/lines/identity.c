/* SPDX-License-Identifier: MIT
 *
 * Makes keys from lines in two steps. The first one finds the item of each line: the line itself
 * or what -k names. Then the set makes the keys of all items at once, or, if a canonical form is
 * needed for more than one key or is printed, the items are taken one by one. Either way an item is
 * canonicalised once. */
#include "lines/identity.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lines/times.h"

/* Whether the lines belong to several shares, of which one may be asked for. */
static bool has_shares(const struct identity *id)
{
    return id->key->nshards > 1;
}

#define NOT_COPIED SIZE_MAX

struct work {
    const struct identity *id;
    struct batch *b;
    struct text *scratch;
    uint32_t shares[BATCH_LINES];
    struct unseen_bytes items[BATCH_LINES];
    /* Offsets in b->text, which moves while it grows. */
    size_t item_at[BATCH_LINES];
    size_t canon_at[BATCH_LINES];
};

static enum unseen_status canonicalise(const struct identity *id, struct text *scratch,
                                       struct unseen_bytes item, struct unseen_canon *canon)
{
    if (!id->url) {
        *canon = (struct unseen_canon){UNSEEN_URL_UNCHANGED, item};
        return UNSEEN_OK;
    }
    const char *const text = id->key->base;
    const struct unseen_bytes base = {text, text ? strlen(text) : 0};
    for (;;) {
        const enum unseen_status status = unseen_url_canon(
            id->url, item.data, item.len, text ? &base : NULL, scratch->data, scratch->cap, canon);
        if (status != UNSEEN_ERR_SPACE) {
            return status;
        }
        const size_t need = unseen_url_bound(item.len, base.len);
        if (need == 0 || !text_reserve(scratch, need)) {
            return UNSEEN_ERR_NOMEM;
        }
    }
}

/* Appends bytes, which may be a part of b->text, to b->text. */
static bool identity_append(struct work *w, const char *data, size_t len)
{
    struct text *text = &w->b->text;
    const uintptr_t from = (uintptr_t)data - (uintptr_t)text->data;
    const bool is_inside = text->data && from < text->len;
    if (!text_reserve(text, len + 1 + BATCH_READABLE)) {
        return false;
    }
    data = is_inside ? text->data + from : data;
    if (len > 0) {
        memcpy(text->data + text->len, data, len);
    }
    text->len += len;
    return true;
}

/* Puts a delimiter behind the last text in b->text. */
static bool end_text(struct work *w)
{
    return identity_append(w, &w->id->delimiter, 1);
}

/* ---- Items ----------------------------------------------------------------------------------- */

/* Finds a key of one part. */
static enum unseen_status find_one(struct work *w, size_t i)
{
    struct text *text = &w->b->text;
    const size_t at = text->len;
    const enum unseen_status status =
        key_find(&w->id->key->key, 0, w->id->key->separator, w->b->texts[i], text, &w->items[i]);
    w->item_at[i] = NOT_COPIED;
    if (text->len > at) {
        w->item_at[i] = at;
        return status == UNSEEN_OK && !end_text(w) ? UNSEEN_ERR_NOMEM : status;
    }
    return status;
}

/* Appends the canonical form of a part and its length; *form_out is FAILED if it is not a URL. */
static enum unseen_status join_part(struct work *w, struct unseen_bytes part, uint8_t *form_out)
{
    struct unseen_canon canon;
    const enum unseen_status status = canonicalise(w->id, w->scratch, part, &canon);
    if (status != UNSEEN_OK) {
        return status;
    }
    char len[24];
    (void)snprintf(len, sizeof(len), "%zu:", canon.bytes.len);
    *form_out = (uint8_t)canon.form;
    return identity_append(w, len, strlen(len)) &&
                   identity_append(w, canon.bytes.data, canon.bytes.len)
               ? UNSEEN_OK
               : UNSEEN_ERR_NOMEM;
}

/* True if parts of the line may be missing. One that is an object or an array is not missing: two
 * of them may differ. */
static bool may_lack(const struct work *w, size_t i)
{
    const struct key_options *o = w->id->key;
    struct unseen_bytes value;
    return o->takes_empty && !key_find_container(&o->key, o->separator, w->b->texts[i], &value);
}

/* Finds a key of several parts. The line counts as a URL if one of the parts is one. */
static enum unseen_status find_joined(struct work *w, size_t i, struct text *room)
{
    const struct key_options *o = w->id->key;
    struct text *text = &w->b->text;
    const size_t at = text->len;
    uint8_t joined = UNSEEN_URL_FAILED;
    size_t nfound = 0;
    w->item_at[i] = at;
    for (size_t p = 0; p < o->key.nparts; p++) {
        struct unseen_bytes part = {NULL, 0};
        uint8_t form = UNSEEN_URL_FAILED;
        text_clear(room);
        enum unseen_status status = key_find(&o->key, p, o->separator, w->b->texts[i], room, &part);
        nfound += part.data != NULL;
        if (status == UNSEEN_OK && !part.data && may_lack(w, i)) {
            part.data = "";
        }
        if (status == UNSEEN_OK && part.data) {
            status = join_part(w, part, &form);
        }
        const bool is_last = p + 1 == o->key.nparts;
        if (status != UNSEEN_OK || !part.data || (is_last && nfound == 0)) {
            text->len = at;
            w->items[i] = (struct unseen_bytes){NULL, 0};
            w->item_at[i] = NOT_COPIED;
            return status;
        }
        joined = form == UNSEEN_URL_FAILED ? joined : form;
    }
    w->b->forms[i] = joined;
    w->items[i] = (struct unseen_bytes){text->data + at, text->len - at};
    return end_text(w) ? UNSEEN_OK : UNSEEN_ERR_NOMEM;
}

/* Moves what is known of line `from` to place `to`. */
static void move_line(struct work *w, size_t to, size_t from)
{
    batch_move_line(w->b, to, from);
    w->b->forms[to] = w->b->forms[from];
    w->items[to] = w->items[from];
    w->item_at[to] = w->item_at[from];
}

/* True if the line begins an array of objects: "[", or "[{" and more. */
static bool begins_array(struct unseen_bytes line)
{
    const char *p = line.data;
    const char *const end = p + line.len;
    bool is_open = false;
    /* NOLINTNEXTLINE: a line with a length has bytes */
    p += line.len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    for (; p < end; p++) {
        if (*p == '[' && !is_open) {
            is_open = true;
        } else if (*p != ' ' && *p != '\t') {
            return is_open && *p == '{';
        }
    }
    return is_open;
}

/* Finds the time of line i. *lacks_out says what is wrong with it; NULL: nothing. */
static enum unseen_status find_time(struct work *w, size_t i, struct text *room,
                                    const char **lacks_out)
{
    const struct key_options *o = w->id->key;
    struct unseen_bytes text = {NULL, 0};
    uint64_t ms = 0;
    text_clear(room);
    const enum unseen_status status =
        key_find(&o->time, 0, o->separator, w->b->texts[i], room, &text);
    *lacks_out = text.data ? times_parse(text, &ms) : "is missing";
    w->b->times[i] = *lacks_out ? 0 : ms + 1;
    return status;
}

/* Finds the item of line i. */
static enum unseen_status find_item(struct work *w, size_t i, struct text *room)
{
    switch (w->id->key->key.nparts) {
    case 0:
        w->items[i] = w->b->texts[i];
        w->item_at[i] = NOT_COPIED;
        return UNSEEN_OK;
    case 1:
        return find_one(w, i);
    default:
        return find_joined(w, i, room);
    }
}

/* Notes that line i lacks the key or the time. True if the line stays in the batch. */
static bool take_missing(struct work *w, size_t i, const char *time_lacks)
{
    struct batch *b = w->b;
    if (b->nmisses++ == 0) {
        b->missing = b->texts[i];
        b->time_lacks = time_lacks;
    }
    if (time_lacks) {
        return w->id->key->missing == MISSING_WHOLE;
    }
    w->items[i] = b->texts[i];
    b->is_array = b->line == 0 && i == 0 && key_has_path(&w->id->key->key) &&
                  !key_has_field(&w->id->key->key) && begins_array(b->texts[i]);
    return w->id->key->missing == MISSING_WHOLE && !b->is_array;
}

/* Finds the items of all lines. */
static enum unseen_status find_items(struct work *w)
{
    struct batch *b = w->b;
    struct text room = {NULL, 0, 0};
    const struct key_options *o = w->id->key;
    enum unseen_status status = UNSEEN_OK;
    size_t kept = 0;
    for (size_t i = 0; i < b->n && status == UNSEEN_OK; i++) {
        const char *time_lacks = NULL;
        status = find_item(w, i, &room);
        const bool has_key = w->items[i].data != NULL;
        bool stays = has_key || take_missing(w, i, NULL);
        if (status == UNSEEN_OK && stays && o->time_text) {
            status = find_time(w, i, &room, &time_lacks);
            stays = !time_lacks || !has_key || take_missing(w, i, time_lacks); /* counted once */
        }
        if (!stays && (o->missing == MISSING_FAIL || b->is_array)) {
            break;
        }
        move_line(w, kept, i);
        kept += stays;
        b->nskipped += !stays;
    }
    b->n = kept;
    text_release(&room);
    for (size_t i = 0; i < b->n && status == UNSEEN_OK; i++) {
        if (w->item_at[i] != NOT_COPIED) {
            w->items[i].data = b->text.data + w->item_at[i];
        }
    }
    return status;
}

/* ---- One by one ------------------------------------------------------------------------------ */

/* An item of several parts is canonical already. */
static bool is_joined(const struct work *w, size_t i)
{
    return w->id->key->key.nparts > 1 && w->item_at[i] != NOT_COPIED;
}

/* Saves what is printed or asked for later. b->text may move: items in it are found again by their
 * offsets. */
static enum unseen_status keep_texts(struct work *w, size_t i, struct unseen_bytes item,
                                     const struct unseen_canon *canon)
{
    struct batch *b = w->b;
    const bool rewritten = canon->form == UNSEEN_URL_REWRITTEN && !is_joined(w, i);
    const bool is_line = item.data == b->lines[i].data && item.len == b->lines[i].len;
    b->items[i] = item;
    b->canons[i] = canon->bytes;
    if (!rewritten && (is_line || w->item_at[i] != NOT_COPIED)) {
        w->canon_at[i] = w->item_at[i];
        return UNSEEN_OK;
    }
    w->canon_at[i] = b->text.len;
    return identity_append(w, canon->bytes.data, canon->bytes.len) && end_text(w)
               ? UNSEEN_OK
               : UNSEEN_ERR_NOMEM;
}

static enum unseen_status take_item(struct work *w, size_t i)
{
    const struct identity *id = w->id;
    struct batch *b = w->b;
    struct unseen_bytes item = w->items[i];
    if (w->item_at[i] != NOT_COPIED) {
        item.data = b->text.data + w->item_at[i];
    }
    struct unseen_canon canon = {(enum unseen_url_form)b->forms[i], item};
    if (!is_joined(w, i)) {
        const enum unseen_status status = canonicalise(id, w->scratch, item, &canon);
        if (status != UNSEEN_OK) {
            return status;
        }
    }
    b->forms[i] = (uint8_t)canon.form;
    if (id->set) {
        b->keys[i] = unseen_set_identity_key(id->set, canon.bytes.data, canon.bytes.len);
    }
    w->shares[i] = has_shares(id)
                       ? unseen_shard(canon.bytes.data, canon.bytes.len, (uint32_t)id->key->nshards)
                       : 0;
    return id->keeps_texts ? keep_texts(w, i, item, &canon) : UNSEEN_OK;
}

static void find_texts(struct work *w)
{
    struct batch *b = w->b;
    for (size_t i = 0; i < b->n; i++) {
        if (w->canon_at[i] != NOT_COPIED) {
            b->canons[i].data = b->text.data + w->canon_at[i];
        }
        if (w->item_at[i] != NOT_COPIED) {
            b->items[i].data = b->text.data + w->item_at[i];
        }
    }
}

static void drop_other_shares(struct work *w)
{
    struct batch *b = w->b;
    const struct identity *id = w->id;
    const size_t n = b->n;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        batch_move_line(b, kept, i);
        b->keys[kept] = b->keys[i];
        b->forms[kept] = b->forms[i];
        if (id->keeps_texts) {
            b->items[kept] = b->items[i];
            b->canons[kept] = b->canons[i];
        }
        kept += w->shares[i] == id->key->shard;
    }
    b->n = kept;
    b->nother = n - kept;
}

static enum unseen_status take_each(struct work *w)
{
    enum unseen_status status = UNSEEN_OK;
    for (size_t i = 0; i < w->b->n && status == UNSEEN_OK; i++) {
        status = take_item(w, i);
    }
    if (status == UNSEEN_OK && w->id->keeps_texts) {
        find_texts(w);
    }
    if (status == UNSEEN_OK && w->id->tells_shares) {
        memcpy(w->b->shares, w->shares, w->b->n * sizeof(w->shares[0]));
    } else if (status == UNSEEN_OK && has_shares(w->id)) {
        drop_other_shares(w);
    }
    return status;
}

/* Lines that are their own items and canonical forms. */
static void take_as_they_are(struct batch *b)
{
    memcpy(b->items, b->lines, b->n * sizeof(b->lines[0]));
    memcpy(b->canons, b->lines, b->n * sizeof(b->lines[0]));
    memset(b->forms, UNSEEN_URL_UNCHANGED, b->n);
}

enum unseen_status identity_take(const struct identity *id, struct batch *b, struct text *scratch)
{
    if (!id || b->nlines == 0) {
        return UNSEEN_OK;
    }
    struct work w;
    const size_t nparts = id->key->key.nparts;
    const bool finds = nparts > 0 || id->key->time_text;
    const bool needs_each = !id->set || has_shares(id) || id->keeps_texts || nparts > 1;
    w.id = id;
    w.b = b;
    w.scratch = scratch;
    if (!needs_each && !finds) {
        return unseen_set_keys(id->set, b->texts, b->n, b->keys, b->forms);
    }
    if (!id->url && !id->set && !has_shares(id) && !finds && b->texts == b->lines) {
        take_as_they_are(b);
        return UNSEEN_OK;
    }
    text_clear(scratch);
    text_clear(&b->text);
    enum unseen_status status = UNSEEN_OK;
    if (finds) {
        status = find_items(&w);
    } else {
        memcpy(w.items, b->texts, b->n * sizeof(b->texts[0]));
        memset(w.item_at, 0xff, sizeof(w.item_at)); /* NOT_COPIED */
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    return needs_each ? take_each(&w) : unseen_set_keys(id->set, w.items, b->n, b->keys, b->forms);
}
