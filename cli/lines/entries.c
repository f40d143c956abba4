/* SPDX-License-Identifier: MIT */
#include "lines/entries.h"

#include <inttypes.h>
#include <stdio.h>

#include <unseen_list.h>

#include "characters.h"
#include "print/message.h"
#include "print/typed.h"

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
    return fault == FAULT_LITERAL || (fault == FAULT_DANGEROUS && o->dangerous);
}

bool entries_is_rule(enum fault fault)
{
    return fault >= FAULT_HIDING && fault <= FAULT_ZONE;
}

bool entries_leave_out(const struct entry_options *o, enum fault fault)
{
    return entries_is_rule(fault) ||
           (fault == FAULT_DANGEROUS ? o->skip_dangerous
                                     : fault <= FAULT_NO_KEY && o->skip_invalid);
}

/* True if the entry begins with "scheme:", as every URL does. */
static bool has_scheme(struct unseen_bytes entry)
{
    const char *const data = entry.data;
    size_t i = 0;
    while (i < entry.len &&
           ((data[i] >= 'a' && data[i] <= 'z') || is_digit(data[i]) || memchr("+-.", data[i], 3))) {
        i++;
    }
    return i > 0 && i < entry.len && data[i] == ':';
}

bool entries_is_literal(enum unseen_kind kind, bool bytes, struct unseen_bytes text)
{
    return kind == UNSEEN_KIND_URL     ? !bytes && !has_scheme(text)
           : kind == UNSEEN_KIND_PHONE ? *(const char *)text.data != '+'
                                       : false;
}

const char *entries_literal(enum unseen_kind kind, bool many)
{
    static const char *const texts[][2] = {
        {"is not a URL: only a question of the same bytes matches it",
         "are not URLs: only a question of the same bytes matches them"},
        {"has no country: only the same national number matches it (--country)",
         "have no country: only the same national number matches them (--country)"}};
    return texts[kind == UNSEEN_KIND_PHONE][many];
}

bool complaints_count(struct complaints *c, enum fault fault)
{
    const bool is_refused =
        !entries_take(c->options, fault) && !entries_leave_out(c->options, fault);
    const bool is_common = entries_is_rule(fault) || fault == FAULT_LITERAL;
    const bool shows = c->n[fault]++ == 0 || (c->nshown < SHOWN && !is_common);
    c->nrefused += is_refused;
    c->nshown += shows && !is_common;
    return shows;
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
    case FAULT_HIDING:
        return "hides parts of pages, not a site";
    case FAULT_OPTIONS:
        return "is a rule with options that a list cannot keep";
    case FAULT_PATTERN:
        return "is a rule for something else than a site, a folder or a page";
    case FAULT_ANSWER:
        return "gives names another answer or server, and does not block them";
    case FAULT_ZONE:
        return "has the name of a zone in its name";
    case FAULT_LITERAL:
        return entries_literal(c->kind, false);
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
    const bool taken = entries_take(s->c->options, s->fault);
    if (taken || entries_leave_out(s->c->options, s->fault)) {
        message_warning("%s:%" PRIu64 ": %s: '%.*s%s' %s", s->name, s->number,
                        taken                       ? "taken"
                        : entries_is_rule(s->fault) ? "not taken"
                                                    : "left out",
                        len, text.data, more, what);
    } else {
        message_error("%s:%" PRIu64 ": '%.*s%s' %s", s->name, s->number, len, text.data, more,
                      what);
    }
}

void complaints_show(const struct complaints *c, const char *name, uint64_t number,
                     struct unseen_bytes line, enum fault fault)
{
    struct shown s = {c, name, number, fault};
    const bool is_about_line =
        fault == FAULT_NO_KEY || fault == FAULT_PAGE || entries_is_rule(fault);
    if (is_about_line || !entries_find(c->key, line, show_text, &s)) {
        show_text(&s, line);
    }
}

/* The lines that are not entries of the kind, of all reasons. */
static uint64_t count_invalid(const struct complaints *c)
{
    return c->n[FAULT_EMPTY] + c->n[FAULT_INVALID] + c->n[FAULT_NO_KEY];
}

static void warn_of_count(uint64_t n, const char *of_what)
{
    if (n > 0) {
        message_warning("%" PRIu64 " %s", n, of_what);
    }
}

void complaints_summary(const struct complaints *c)
{
    const uint64_t nmore = count_invalid(c) + c->n[FAULT_DANGEROUS] + c->n[FAULT_PAGE] - c->nshown;
    if (c->nrefused > 0) {
        if (nmore > 0) {
            message_error("%" PRIu64 " more such lines", nmore);
        }
        return;
    }
    uint64_t nrules = 0;
    for (unsigned i = 0; i < NFAULTS; i++) {
        nrules += entries_is_rule((enum fault)i) ? c->n[i] : 0;
    }
    warn_of_count(nmore, "more such lines");
    warn_of_count(c->n[FAULT_DANGEROUS], c->options->dangerous
                                             ? "lines with dangerous entries were taken"
                                             : "lines with dangerous entries were left out");
    warn_of_count(count_invalid(c), "lines that are not entries were left out");
    warn_of_count(nrules, "rules that a list cannot keep were not taken");
}

void complaints_hint(const struct complaints *c)
{
    const bool dangerous = c->n[FAULT_DANGEROUS] > 0 && !c->options->dangerous;
    const bool invalid = count_invalid(c) > 0;
    if (c->n[FAULT_PAGE] > 0) {
        message_hint("get the file again: a server sent an error page in its place");
    } else if (dangerous && invalid) {
        message_hint("to leave out these lines (--dangerous takes dangerous entries): %s",
                     typed_with("--skip-dangerous --skip-invalid"));
    } else if (dangerous) {
        message_hint("to leave out dangerous entries (--dangerous takes them): %s",
                     typed_with("--skip-dangerous"));
    } else {
        message_hint("to leave out lines that are not entries: %s", typed_with("--skip-invalid"));
    }
}
