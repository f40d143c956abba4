/* SPDX-License-Identifier: MIT */
#include "commands/why.h"

#include "print/json.h"
#include "print/message.h"

/* ---- Finding --------------------------------------------------------------------------------- */

static bool note_change(void *context, enum unseen_list_change change, struct unseen_bytes text)
{
    struct why *w = context;
    return change != UNSEEN_LIST_ADD || text_table_add(&w->added, text.data, text.len);
}

/* Takes up the texts that were added to the list since the last call. */
static bool read_changes(struct why *w, const struct opened_list *l)
{
    const struct unseen_list_info info = lists_info(l->list);
    if (info.changes_bytes == w->changes_bytes) {
        return true;
    }
    text_table_clear(&w->added);
    unseen_list_changes(l->list, note_change, w);
    w->changes_bytes = info.changes_bytes;
    return w->added.n == info.nadded;
}

static const char *how_of(const struct why *w, struct unseen_bytes text, uint8_t verdict)
{
    if (verdict == UNSEEN_ALLOWED) {
        return "allowed";
    }
    return text_table_find(&w->added, text.data, text.len) ? "added" : "built";
}

/* Asks the list for each text by itself. */
static enum unseen_status ask_texts(struct why *w, const struct opened_list *l,
                                    struct unseen_bytes item)
{
    struct unseen_bytes texts[UNSEEN_KIND_TEXTS_MAX];
    uint8_t verdicts[UNSEEN_KIND_TEXTS_MAX];
    size_t n = 0;
    const size_t need = unseen_kind_bound(l->kind, item.len);
    w->room.len = 0;
    if (need == 0 || !text_reserve(&w->room, need) || !read_changes(w, l)) {
        return UNSEEN_ERR_NOMEM;
    }
    enum unseen_status status = unseen_kind_texts(l->kind, unseen_list_url(l->list), item.data,
                                                  item.len, w->room.data, w->room.cap, texts, &n);
    if (status == UNSEEN_OK) {
        status = lists_contains(l, texts, n, verdicts);
    }
    if (status == UNSEEN_OK) {
        status = lists_check(l); /* before the answers are used, as seen_ask does */
    }
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        if (verdicts[i] != UNSEEN_NEW) {
            w->texts[w->n++] = (struct why_text){texts[i], how_of(w, texts[i], verdicts[i])};
        }
    }
    return status;
}

bool why_find(struct why *w, const struct batch *b, size_t i, uint8_t verdict)
{
    const struct opened_list *l = &w->seen->asked.list;
    w->n = 0;
    if (!l->list) {
        w->texts[0] = (struct why_text){b->canons[i], "stored"};
        w->n = verdict == UNSEEN_SEEN;
        return true;
    }
    const enum unseen_status status = ask_texts(w, l, l->takes_canons ? b->canons[i] : b->items[i]);
    if (status == UNSEEN_ERR_MISMATCH) {
        lists_report_lost(l->path);
    } else if (status != UNSEEN_OK) {
        return message_no_memory();
    }
    return status == UNSEEN_OK;
}

void why_release(struct why *w)
{
    text_release(&w->room);
    text_table_release(&w->added);
}

/* ---- Printing -------------------------------------------------------------------------------- */

static void put_row(const struct why *w, struct output *out, const struct why_text *text,
                    struct unseen_bytes line)
{
    const char *name = w->seen->o->path;
    output_write(out, text->text.data, text->text.len);
    output_write(out, "\t", 1);
    output_write(out, text->how, strlen(text->how));
    output_write(out, "\t", 1);
    output_write(out, name, strlen(name));
    output_write(out, "\t", 1);
    output_write(out, line.data, line.len + 1); /* with its delimiter */
}

void why_put(const struct why *w, struct output *out, struct unseen_bytes line)
{
    static const struct why_text none = {{"", 0}, "none"};
    if (w->n == 0) {
        put_row(w, out, &none, line);
    }
    for (size_t i = 0; i < w->n; i++) {
        put_row(w, out, &w->texts[i], line);
    }
}

void why_put_json(const struct why *w, struct output *out)
{
    const struct opened_list *l = &w->seen->asked.list;
    json_write(out, ",\"in\":");
    json_write_text(out, w->seen->o->path);
    json_write(out, ",\"kind\":");
    json_write_text(out, l->list ? unseen_kind_name(l->kind) : "store");
    json_write(out, ",\"why\":[");
    for (size_t i = 0; i < w->n; i++) {
        json_write(out, i > 0 ? ",{\"text\":" : "{\"text\":");
        json_write_string(out, w->texts[i].text);
        json_write(out, ",\"how\":");
        json_write_text(out, w->texts[i].how);
        json_write(out, "}");
    }
    json_write(out, "]");
}
