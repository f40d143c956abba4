/* SPDX-License-Identifier: MIT
 *
 * Makes keys from lines, in two ways. In the plain case the set makes the keys of a whole batch.
 *
 * Lines are taken one by one if a canonical form is needed for more than one key or is printed, or
 * if the text is a JSON value, which lives only until the next line is parsed. Either way a line
 * is canonicalised once. */
#include "lines/identity.h"

#include <string.h>

#include "lines/jsonl.h"

enum unseen_status identity_init(struct identity *id)
{
    if (id->key->nshards <= 1) {
        return UNSEEN_OK;
    }
    static const char seed[] = "unseen shards";
    const struct unseen_set_options options = {
        .size = sizeof(options), .seed = seed, .seed_len = sizeof(seed) - 1};
    return unseen_set_create(&id->shard_set, &options, NULL);
}

void identity_release(struct identity *id)
{
    unseen_set_free(id->shard_set);
    id->shard_set = NULL;
}

/* The key that decides the share: the key of the key. A key made only once would be the set's own
 * key if the user gave the set the same seed, and then a share would fill a part of the filter. */
static struct unseen_key shard_key(const struct unseen_set *set, struct unseen_bytes identity)
{
    const struct unseen_key key = unseen_set_identity_key(set, identity.data, identity.len);
    unsigned char bytes[16];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(key.hi >> 8 * i);
        bytes[8 + i] = (unsigned char)(key.lo >> 8 * i);
    }
    return unseen_set_identity_key(set, bytes, sizeof(bytes));
}

/* The share of a key: its top 32 bits scaled to 0..n-1 as in [Lemire19], for n below 2^32. */
static uint64_t share_of(struct unseen_key key, uint64_t n)
{
    return (key.hi >> 32) * n >> 32;
}

static void note_miss(struct identity_misses *misses, struct unseen_bytes line)
{
    if (misses->n++ == 0) {
        misses->first = line;
    }
}

/* The wanted field of a line, or the whole line. */
static struct unseen_bytes field_of(const struct identity *id, struct unseen_bytes line,
                                    struct identity_misses *misses)
{
    if (!id->key->field) {
        return line;
    }
    struct unseen_bytes field = unseen_lines_field(line, id->key->separator, id->key->field);
    if (!field.data) {
        note_miss(misses, line);
        return line;
    }
    return field;
}

/* ---- One by one ------------------------------------------------------------------------------ */

#define NOT_COPIED SIZE_MAX

struct work {
    const struct identity *id;
    struct batch *b;
    struct text *scratch;
    size_t i; /* the line */
    enum unseen_status status;
    struct unseen_key shard_keys[BATCH_LINES];
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
    for (;;) {
        const enum unseen_status status =
            id->key->base
                ? unseen_url_canon_base(id->url, item.data, item.len, id->key->base,
                                        strlen(id->key->base), scratch->data, scratch->cap, canon)
                : unseen_url_canon(id->url, item.data, item.len, scratch->data, scratch->cap,
                                   canon);
        if (status != UNSEEN_ERR_SPACE) {
            return status;
        }
        const char *base = id->key->base;
        const size_t need = unseen_url_bound(item.len, base ? strlen(base) : 0);
        if (need == 0 || !text_reserve(scratch, need)) {
            return UNSEEN_ERR_NOMEM;
        }
    }
}

/* Appends bytes and a delimiter to b->text, and returns their offset. */
static size_t identity_save(struct work *w, struct unseen_bytes bytes)
{
    struct text *text = &w->b->text;
    if (!text_reserve(text, bytes.len + 1 + BATCH_READABLE)) {
        w->status = UNSEEN_ERR_NOMEM;
        return NOT_COPIED;
    }
    const size_t at = text->len;
    if (bytes.len > 0) {
        memcpy(text->data + at, bytes.data, bytes.len);
    }
    text->data[at + bytes.len] = w->id->delimiter;
    text->len += bytes.len + 1;
    return at;
}

static void keep_texts(struct work *w, struct unseen_bytes item, const struct unseen_canon *canon)
{
    struct batch *b = w->b;
    const size_t i = w->i;
    const bool rewritten = canon->form == UNSEEN_URL_REWRITTEN;
    const bool is_line = item.data == b->lines[i].data && item.len == b->lines[i].len;
    const bool is_temporary = w->id->key->json_path && !is_line;
    b->items[i] = item;
    b->canons[i] = canon->bytes;
    w->canon_at[i] = is_line && !rewritten ? NOT_COPIED : identity_save(w, canon->bytes);
    w->item_at[i] = NOT_COPIED;
    if (is_temporary) {
        w->item_at[i] = rewritten ? identity_save(w, item) : w->canon_at[i];
    }
}

static void identity_take_item(void *context, struct unseen_bytes item)
{
    struct work *w = context;
    const struct identity *id = w->id;
    struct unseen_canon canon;
    w->status = canonicalise(id, w->scratch, item, &canon);
    if (w->status != UNSEEN_OK) {
        return;
    }
    w->b->forms[w->i] = (uint8_t)canon.form;
    if (id->set) {
        w->b->keys[w->i] = unseen_set_identity_key(id->set, canon.bytes.data, canon.bytes.len);
    }
    if (id->shard_set) {
        w->shard_keys[w->i] = shard_key(id->shard_set, canon.bytes);
    }
    if (id->keeps_texts) {
        keep_texts(w, item, &canon);
    }
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
    size_t kept = 0;
    for (size_t i = 0; i < b->n; i++) {
        b->lines[kept] = b->lines[i];
        b->keys[kept] = b->keys[i];
        b->forms[kept] = b->forms[i];
        if (id->keeps_texts) {
            b->items[kept] = b->items[i];
            b->canons[kept] = b->canons[i];
        }
        kept += share_of(w->shard_keys[i], id->key->nshards) == id->key->shard;
    }
    b->n = kept;
}

static enum unseen_status take_each(const struct identity *id, struct batch *b,
                                    struct text *scratch, struct identity_misses *misses)
{
    struct work w;
    w.id = id;
    w.b = b;
    w.scratch = scratch;
    w.status = UNSEEN_OK;
    text_clear(scratch);
    text_clear(&b->text);
    for (w.i = 0; w.i < b->n && w.status == UNSEEN_OK; w.i++) {
        const struct unseen_bytes line = b->lines[w.i];
        if (!id->key->json_path) {
            identity_take_item(&w, field_of(id, line, misses));
        } else if (!jsonl_find(line, id->key->json_path, identity_take_item, &w)) {
            note_miss(misses, line);
            identity_take_item(&w, line);
        }
    }
    if (w.status == UNSEEN_OK && id->keeps_texts) {
        find_texts(&w);
    }
    if (w.status == UNSEEN_OK && id->shard_set) {
        drop_other_shares(&w);
    }
    return w.status;
}

enum unseen_status identity_take(const struct identity *id, struct batch *b, struct text *scratch,
                                 struct identity_misses *misses)
{
    if (!id->set || id->key->json_path || id->shard_set || id->keeps_texts) {
        return take_each(id, b, scratch, misses);
    }
    struct unseen_bytes fields[BATCH_LINES];
    for (size_t i = 0; id->key->field && i < b->n; i++) {
        fields[i] = field_of(id, b->lines[i], misses);
    }
    return unseen_set_keys(id->set, id->key->field ? fields : b->lines, b->n, b->keys, b->forms);
}
