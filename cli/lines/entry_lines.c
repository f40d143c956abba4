/* SPDX-License-Identifier: MIT */
#include "lines/entry_lines.h"

#include <string.h>
#include <strings.h>

#include "lines/entry_formats.h"
#include "lines/ip_range.h"
#include "lines/words.h"

/* What a page of the web begins with, in small letters. */
static const char *const page_starts[] = {"<!doctype html", "<html", "<?xml"};

static bool is_page(struct unseen_bytes line)
{
    for (size_t i = 0; i < sizeof(page_starts) / sizeof(*page_starts); i++) {
        const size_t len = strlen(page_starts[i]);
        if (line.len >= len && strncasecmp(line.data, page_starts[i], len) == 0) {
            return true;
        }
    }
    return false;
}

struct entry_lines entry_lines_of(const struct entry_options *options,
                                  const struct key_options *key, enum unseen_kind kind, bool bytes)
{
    const bool names = kind == UNSEEN_KIND_EXPRESSIONS || kind == UNSEEN_KIND_MAIL;
    return (struct entry_lines){
        .key = key,
        .comments = options->comments ? options->comments
                    : bytes           ? ""
                                      : "#;!",
        .kind = kind,
        .formats = names && !key->text,
        .end_comments = !bytes && !key->text,
        /* the fragment of a URL and the extension of a number begin with such marks, too */
        .wide_comments = !names && kind != UNSEEN_KIND_IP,
    };
}

static bool is_mark(const struct entry_lines *how, char c)
{
    return c != '\0' && strchr(how->comments, c);
}

/* Drops a comment behind an entry, and the blanks in front of the comment. */
static struct unseen_bytes without_comment(const struct entry_lines *how, struct unseen_bytes line)
{
    const char *const start = line.data;
    for (const char *mark = how->end_comments ? how->comments : ""; *mark; mark++) {
        const char *const end = start + line.len;
        const char *at = start;
        while ((at = memchr(at, *mark, (size_t)(end - at)))) {
            const bool follows = at > start && is_blank(at[-1]);
            if (follows && (!how->wide_comments || at + 1 == end || is_blank(at[1]))) {
                line = without_last_blanks(first_of(line, (size_t)(at - start)));
                break;
            }
            at++;
        }
    }
    return line;
}

/* The reading of one line. */
struct reading {
    const struct entry_lines *how;
    const struct entry_sink *sink;
};

static void take_network(void *context, struct unseen_bytes network)
{
    const struct reading *r = context;
    r->sink->take(r->sink->context, network, false);
}

static void take_plain(void *context, struct unseen_bytes item)
{
    struct reading *r = context;
    if (r->how->kind != UNSEEN_KIND_IP || !ip_range_split(item, take_network, r)) {
        r->sink->take(r->sink->context, item, false);
    }
}

struct entry_line entry_lines_read(const struct entry_lines *how, struct unseen_bytes line,
                                   const struct entry_sink *sink)
{
    const struct unseen_bytes text = skip_blanks(line);
    struct entry_line result = {ENTRY_LINE_SKIPPED, FAULT_EMPTY};
    if (text.len == 0 || is_mark(how, byte_at(text, 0))) {
        return result;
    }
    if (begins_with(text, '<') && is_page(text)) {
        return (struct entry_line){ENTRY_LINE_WRONG, FAULT_PAGE};
    }
    const struct unseen_bytes bare = without_comment(how, line);
    if (how->formats && entry_formats_read(without_last_blanks(skip_blanks(bare)),
                                           text.len < line.len, sink, &result)) {
        return result;
    }
    struct reading r = {how, sink};
    const bool found = entries_find(how->key, bare, take_plain, &r);
    return (struct entry_line){found ? ENTRY_LINE_TAKEN : ENTRY_LINE_WRONG, FAULT_NO_KEY};
}
