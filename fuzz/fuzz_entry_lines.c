/* SPDX-License-Identifier: MIT
 *
 * Lines of files of entries. The first byte chooses the settings, the rest is one line. Each item
 * must lie in the line; the names of a hosts-file line must be words of it, in order; and blanks in
 * front of the line change nothing. */
#include <stdlib.h>
#include <string.h>

#include "lines/entry_lines.h"
#include "target.h"

#define CHECK(truth)                                                                               \
    do {                                                                                           \
        if (!(truth)) {                                                                            \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

struct seen {
    struct unseen_bytes line;
    const char *end; /* of the last item */
    size_t n;
    size_t nwhole; /* items that are the whole line */
    size_t nbytes;
};

static void take_item(void *context, struct unseen_bytes item)
{
    struct seen *s = context;
    const char *data = item.data;
    const char *first = s->line.data;
    CHECK(data >= first && data + item.len <= first + s->line.len && item.len > 0);
    CHECK(!s->end || data > s->end);
    s->end = data + item.len;
    s->n++;
    s->nbytes += item.len;
    if (item.len == s->line.len) {
        s->nwhole++;
        return;
    }
    CHECK(*data != '#');
    for (size_t i = 0; i < item.len; i++) {
        CHECK(data[i] != ' ' && data[i] != '\t' && data[i] != '\r');
    }
}

/* In place of the function of entries.c: the whole line is the item. */
bool entries_find(const struct key_options *o, struct unseen_bytes line,
                  void (*take)(void *context, struct unseen_bytes item), void *context)
{
    (void)o;
    take(context, line);
    return true;
}

static enum entry_line read_line(const struct entry_lines *how, struct unseen_bytes line,
                                 struct seen *s)
{
    *s = (struct seen){.line = line};
    const enum entry_line result = entry_lines_read(how, line, take_item, s);
    CHECK((result == ENTRY_LINE_TAKEN) == (s->n > 0));
    CHECK(s->nwhole == 0 || s->n == 1);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct key_options key;
    const struct entry_options options = {.comments = size > 0 && (data[0] & 1) ? "%" : NULL};
    const unsigned kind = size > 0 ? (data[0] >> 1) % 5 : 0;
    if (size < 2 || size > 4096) {
        return 0;
    }
    const struct entry_lines how =
        entry_lines_of(&options, &key, (enum unseen_kind)kind, (data[0] & 0x80) != 0);
    /* Exactly as long as the line: a read past its end is found. */
    char *line = malloc(size - 1);
    char *indented = malloc(size + 1);
    CHECK(line && indented);
    memcpy(line, data + 1, size - 1);
    memcpy(indented, " \t", 2);
    memcpy(indented + 2, data + 1, size - 1);
    struct seen a;
    struct seen b;
    const enum entry_line result = read_line(&how, (struct unseen_bytes){line, size - 1}, &a);
    CHECK(read_line(&how, (struct unseen_bytes){indented, size + 1}, &b) == result);
    CHECK(a.n == b.n && a.nwhole == b.nwhole && (a.nwhole > 0 || a.nbytes == b.nbytes));
    const bool comment = strchr(how.comments, line[0]) != NULL && line[0] != '\0';
    CHECK(!comment || result == ENTRY_LINE_SKIPPED);
    free(line);
    free(indented);
    return 0;
}
