/* SPDX-License-Identifier: MIT
 *
 * Lines of files of entries. The first byte chooses the settings, the rest is one line. A line is
 * one of four: it has entries or allowed entries, it is a comment, or it is wrong; and only a line
 * with items calls take. Each item is bytes of the line, in order, but for the networks of a range
 * of addresses. More blanks in front of an indented line change nothing. The items become entries
 * of the kind: an entry that is fine is found by the question of its own text, and the host of a
 * site has no bytes that a name cannot have. */
#include <stdlib.h>
#include <string.h>

#include "lines/entry_lines.h"
#include "target.h"

struct seen {
    enum unseen_kind kind;
    const struct unseen_url *url;
    struct unseen_bytes line;
    const char *end; /* of the last item */
    size_t n;
    size_t nbytes;
    bool whole; /* an item was the whole line */
};

/* Is the host a name or an address, without escapes, quotes and marks of formats? */
static bool is_site(struct unseen_bytes text)
{
    const char *const data = text.data;
    size_t n = 0;
    while (n < text.len && data[n] != '/') {
        n++;
    }
    for (size_t i = 0; i < n && data[0] != '['; i++) {
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789.-_", data[i]) || data[i] == '\0') {
            return false;
        }
    }
    return n > 0 && n < text.len;
}

static void check_entry(const struct seen *s, struct unseen_bytes item)
{
    static char buf[1 << 16];
    static char asked[1 << 16];
    struct unseen_bytes texts[UNSEEN_KIND_TEXTS_MAX];
    struct unseen_bytes text;
    enum unseen_entry fitness;
    size_t n = 0;
    bool found = false;
    require(unseen_kind_entry(s->kind, s->url, item.data, item.len, buf, sizeof(buf), &text,
                              &fitness) == UNSEEN_OK);
    if (fitness != UNSEEN_ENTRY_FINE) {
        return;
    }
    require(unseen_kind_texts(s->kind, s->url, text.data, text.len, asked, sizeof(asked), texts,
                              &n) == UNSEEN_OK);
    for (size_t i = 0; i < n; i++) {
        found |= texts[i].len == text.len && memcmp(texts[i].data, text.data, text.len) == 0;
    }
    require(found);
    require(s->kind != UNSEEN_KIND_EXPRESSIONS || is_site(text));
}

static void take_item(void *context, struct unseen_bytes item, bool allows)
{
    struct seen *s = context;
    const char *data = item.data;
    const char *first = s->line.data;
    const bool is_range = s->kind == UNSEEN_KIND_IP && memchr(first, '-', s->line.len);
    require(item.len > 0);
    require(!allows || s->kind == UNSEEN_KIND_EXPRESSIONS || s->kind == UNSEEN_KIND_MAIL);
    require(is_range || (data >= first && data + item.len <= first + s->line.len));
    require(is_range || !s->end || data > s->end);
    s->end = data + item.len;
    s->n++;
    s->nbytes += item.len;
    s->whole |= item.len == s->line.len;
    check_entry(s, item);
}

/* In place of the function of entries.c: the whole line is the item. */
bool entries_find(const struct key_options *o, struct unseen_bytes line,
                  void (*take)(void *context, struct unseen_bytes item), void *context)
{
    (void)o;
    take(context, line);
    return true;
}

static struct entry_line read_line(const struct entry_lines *how, const struct unseen_url *url,
                                   struct unseen_bytes line, struct seen *s)
{
    *s = (struct seen){.kind = how->kind, .url = url, .line = line};
    const struct entry_sink sink = {take_item, s};
    const struct entry_line result = entry_lines_read(how, line, &sink);
    require((result.type == ENTRY_LINE_TAKEN) == (s->n > 0));
    require(result.type == ENTRY_LINE_TAKEN || result.type == ENTRY_LINE_SKIPPED ||
            result.type == ENTRY_LINE_WRONG);
    require(result.type != ENTRY_LINE_WRONG || result.fault == FAULT_PAGE ||
            (result.fault >= FAULT_HIDING && result.fault <= FAULT_ZONE));
    require(!s->whole || s->n == 1 || how->kind == UNSEEN_KIND_IP);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct key_options key;
    static const struct unseen_url_options url_options = {.size = sizeof(url_options),
                                                          .profile = "safebrowsing"};
    static const enum unseen_kind kinds[] = {UNSEEN_KIND_URL, UNSEEN_KIND_EXPRESSIONS,
                                             UNSEEN_KIND_MAIL, UNSEEN_KIND_IP, UNSEEN_KIND_PHONE};
    const struct entry_options options = {.comments = size > 0 && (data[0] & 1) ? "%" : NULL};
    struct unseen_url *url = NULL;
    if (size < 2 || size > 4096) {
        return 0;
    }
    const enum unseen_kind kind = kinds[(data[0] >> 1) % 5];
    const struct entry_lines how = entry_lines_of(&options, &key, kind, (data[0] & 0x80) != 0);
    require(unseen_url_create(&url, &url_options, NULL) == UNSEEN_OK);
    /* Exactly as long as the line: a read past its end is found. */
    char *line = malloc(size - 1);
    char *indented = malloc(size + 1);
    char *more = malloc(size + 2);
    require(line && indented && more);
    memcpy(line, data + 1, size - 1);
    memcpy(indented, " \t", 2);
    memcpy(indented + 2, data + 1, size - 1);
    memcpy(more, "\t  ", 3);
    memcpy(more + 3, data + 1, size - 1);
    struct seen a;
    struct seen b;
    const struct entry_line result =
        read_line(&how, url, (struct unseen_bytes){line, size - 1}, &a);
    const struct entry_line first =
        read_line(&how, url, (struct unseen_bytes){indented, size + 1}, &a);
    const struct entry_line second =
        read_line(&how, url, (struct unseen_bytes){more, size + 2}, &b);
    require(first.type == second.type && a.n == b.n && a.whole == b.whole);
    require(first.type != ENTRY_LINE_WRONG || first.fault == second.fault);
    require(b.nbytes == a.nbytes || b.nbytes == a.nbytes + 1);
    const bool comment = strchr(how.comments, line[0]) != NULL && line[0] != '\0';
    require(!comment || result.type == ENTRY_LINE_SKIPPED);
    free(line);
    free(indented);
    free(more);
    unseen_url_free(url);
    return 0;
}
