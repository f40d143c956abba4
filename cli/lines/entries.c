/* SPDX-License-Identifier: MIT */
#include "lines/entries.h"

#include <inttypes.h>
#include <stdio.h>

#include <unseen_list.h>

#include "lines/jsonl.h"
#include "print/message.h"

enum {
    SHOWN = 10, /* complaints */
    SHOWN_BYTES = 100
};

/* ---- Entries --------------------------------------------------------------------------------- */

bool entries_find(const struct key_options *o, struct unseen_bytes line,
                  void (*take)(void *context, struct unseen_bytes item), void *context)
{
    struct unseen_bytes item = line;
    if (o->json_path) {
        return jsonl_find(line, o->json_path, take, context);
    }
    if (o->field) {
        item = unseen_lines_field(line, o->separator, o->field);
        if (!item.data) {
            return false;
        }
    }
    take(context, item);
    return true;
}

enum unseen_status entries_make(enum unseen_kind kind, const struct unseen_url *url,
                                struct unseen_bytes item, struct text *room,
                                struct unseen_bytes *entry_out, enum unseen_entry *fitness_out)
{
    const size_t need = unseen_kind_bound(kind, item.len);
    if (need == 0 || !text_reserve(room, need)) {
        return UNSEEN_ERR_NOMEM;
    }
    return unseen_kind_entry(kind, url, item.data, item.len, room->data, room->cap, entry_out,
                             fitness_out);
}

/* ---- Complaints ------------------------------------------------------------------------------ */

bool complaints_count(struct complaints *c)
{
    return c->n++ < SHOWN;
}

void complaints_show(const struct complaints *c, const char *name, uint64_t number,
                     struct unseen_bytes line, enum fault fault)
{
    const int shown = line.len < SHOWN_BYTES ? (int)line.len : SHOWN_BYTES;
    const char *more = line.len > SHOWN_BYTES ? "..." : "";
    char no_key[100];
    const char *what = no_key;
    if (fault == FAULT_NO_KEY) {
        (void)snprintf(no_key, sizeof(no_key), "has no %s %.60s",
                       c->key->json_path ? "value" : "field", c->key->text);
    } else {
        what = unseen_kind_complaint(c->kind, (enum unseen_entry)fault);
    }
    if (!c->force) {
        message_error("%s:%" PRIu64 ": '%.*s%s' %s", name, number, shown, line.data, more, what);
    } else {
        message_warning("%s:%" PRIu64 ": %s: '%.*s%s' %s", name, number,
                        fault == FAULT_DANGEROUS ? "taken by force" : "left out", shown, line.data,
                        more, what);
    }
}

void complaints_summary(const struct complaints *c)
{
    if (c->n <= SHOWN) {
        return;
    }
    if (c->force) {
        message_warning("%" PRIu64 " more such lines", c->n - SHOWN);
    } else {
        message_error("%" PRIu64 " more such lines", c->n - SHOWN);
    }
}
