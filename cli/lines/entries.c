/* SPDX-License-Identifier: MIT */
#include "lines/entries.h"

#include <inttypes.h>
#include <stdio.h>

#include <unseen_list.h>

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
    struct text room = {NULL, 0, 0};
    if (o->key.nparts > 0 &&
        (key_find(&o->key, 0, o->separator, line, &room, &item) != UNSEEN_OK || !item.data)) {
        text_release(&room);
        return false;
    }
    take(context, item);
    text_release(&room);
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

bool entries_take(const struct entry_options *o, enum fault fault)
{
    return fault == FAULT_DANGEROUS && o->dangerous;
}

bool entries_leave_out(const struct entry_options *o, enum fault fault)
{
    return fault != FAULT_DANGEROUS && fault != FAULT_PAGE && o->skip_invalid;
}

bool complaints_count(struct complaints *c, enum fault fault)
{
    if (!entries_take(c->options, fault) && !entries_leave_out(c->options, fault)) {
        c->nrefused++;
        c->ndangerous += fault == FAULT_DANGEROUS;
        c->npages += fault == FAULT_PAGE;
    }
    return c->n++ < SHOWN;
}

/* Returns what is wrong with a line. `room` is for a text that has to be made. */
static const char *complaint_of(const struct complaints *c, enum fault fault, char room[100])
{
    switch (fault) {
    case FAULT_NO_KEY:
        (void)snprintf(room, 100, "has no %s %.60s", key_has_path(&c->key->key) ? "value" : "field",
                       c->key->text);
        return room;
    case FAULT_PAGE:
        return "begins a web page, not a file of entries";
    default:
        return unseen_kind_complaint(c->kind, (enum unseen_entry)fault);
    }
}

/* A line that is being shown. */
struct shown {
    const struct complaints *c;
    const char *name;
    uint64_t number;
    enum fault fault;
};

static void show_text(void *context, struct unseen_bytes text)
{
    const struct shown *s = context;
    const int len = text.len < SHOWN_BYTES ? (int)text.len : SHOWN_BYTES;
    const char *more = text.len > SHOWN_BYTES ? "..." : "";
    char room[100];
    const char *what = complaint_of(s->c, s->fault, room);
    if (entries_take(s->c->options, s->fault) || entries_leave_out(s->c->options, s->fault)) {
        message_warning("%s:%" PRIu64 ": %s: '%.*s%s' %s", s->name, s->number,
                        s->fault == FAULT_DANGEROUS ? "taken" : "left out", len, text.data, more,
                        what);
    } else {
        message_error("%s:%" PRIu64 ": '%.*s%s' %s", s->name, s->number, len, text.data, more,
                      what);
    }
}

void complaints_show(const struct complaints *c, const char *name, uint64_t number,
                     struct unseen_bytes line, enum fault fault)
{
    struct shown s = {c, name, number, fault};
    const bool is_about_line = fault == FAULT_NO_KEY || fault == FAULT_PAGE;
    if (is_about_line || !entries_find(c->key, line, show_text, &s)) {
        show_text(&s, line);
    }
}

void complaints_summary(const struct complaints *c)
{
    if (c->n <= SHOWN) {
        return;
    }
    if (c->nrefused == 0) {
        message_warning("%" PRIu64 " more such lines", c->n - SHOWN);
    } else {
        message_error("%" PRIu64 " more such lines", c->n - SHOWN);
    }
}

void complaints_hint(const struct complaints *c, const char *command, const char *list,
                     const char *files)
{
    const bool dangerous = c->ndangerous > 0;
    const bool invalid = c->nrefused > c->ndangerous + c->npages;
    if (c->npages > 0) {
        message_hint("get the file again: a server sent an error page in its place");
    } else if (dangerous && invalid) {
        message_hint("%s --dangerous --skip-invalid %s %s takes dangerous entries, and leaves out "
                     "lines that are not entries",
                     command, list, files);
    } else if (dangerous) {
        message_hint("%s --dangerous %s %s takes dangerous entries", command, list, files);
    } else {
        message_hint("%s --skip-invalid %s %s leaves out lines that are not entries", command, list,
                     files);
    }
}
