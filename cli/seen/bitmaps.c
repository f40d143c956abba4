/* SPDX-License-Identifier: MIT */
#include "seen/bitmaps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lines/integers.h"
#include "print/message.h"
#include "print/typed.h"
#include "seen/stores.h"

enum {
    LISTED = 1024
};

_Static_assert(LISTED <= OUTPUT_BYTES / INTEGER_TEXT_MAX, "output_reserve has room for them all");

struct bitmap_printer {
    struct bitmap_lines lines;
    struct output *out;
    struct integers_printer integers;
};

bool bitmaps_report(const char *path, const struct unseen_error *error)
{
    message_error("%s", message_of(error));
    switch (error->status) {
    case UNSEEN_ERR_MISSING:
        message_hint("to make it: unseen bits add %s FILE", typed_quoted(path));
        break;
    case UNSEEN_ERR_FOREIGN:
        message_hint("a bitmap is a file that unseen bits or unseen import made: unseen bits add "
                     "NEW.bits FILE");
        break;
    case UNSEEN_ERR_CORRUPT:
        message_hint("to make it anew, from what it was made of: unseen bits add NEW.bits FILE");
        break;
    case UNSEEN_ERR_BUSY:
        message_hint("another process changes it; to wait longer: %s", typed_with("--wait=60"));
        break;
    default:
        break;
    }
    return false;
}

bool bitmaps_read(struct unseen_bitmap **bitmap_out, const char *path, enum unseen_cpu cpu)
{
    const struct unseen_bitmap_options options = {.size = sizeof(options), .cpu = cpu};
    struct unseen_error error;
    return unseen_bitmap_open(bitmap_out, path, UNSEEN_BITMAP_READ, &options, &error) ==
               UNSEEN_OK ||
           bitmaps_report(path, &error);
}

bool bitmaps_edit(struct unseen_bitmap **bitmap_out, const char *path, const struct seen_options *o,
                  enum unseen_cpu cpu)
{
    const struct unseen_bitmap_options options = {.size = sizeof(options), .cpu = cpu};
    struct unseen_error error = {.status = UNSEEN_OK};
    double start = 0;
    do {
        error.status = unseen_bitmap_open(bitmap_out, path, UNSEEN_BITMAP_EDIT, &options, &error);
    } while (stores_wait(o, &start, &error));
    return error.status == UNSEEN_OK || bitmaps_report(path, &error);
}

bool bitmaps_exist(const char *path)
{
    struct unseen_error error = {.status = UNSEEN_ERR_MISSING};
    if (access(path, F_OK) == 0 || errno != ENOENT) {
        return true;
    }
    snprintf(error.text, sizeof(error.text), "cannot open %s: %s", path, strerror(errno));
    return bitmaps_report(path, &error);
}

bool bitmaps_save(struct unseen_bitmap *bitmap, const char *path)
{
    struct unseen_error error;
    return unseen_bitmap_save(bitmap, &error) == UNSEEN_OK || bitmaps_report(path, &error);
}

/* ---- Print ----------------------------------------------------------------------------------- */

/* Prints integers that came once each. */
static void put_once(struct bitmap_printer *p, const uint64_t *values, size_t n)
{
    const char *prefix = p->lines.has_counts ? "1\t" : "";
    const size_t prefix_len = strlen(prefix);
    char padded[8] = {0}; /* copied whole, which needs no branch */
    char *to = output_reserve(p->out, n * INTEGER_TEXT_MAX);
    const char *begin = to;
    if (!to) {
        return;
    }
    memcpy(padded, prefix, prefix_len);
    for (size_t i = 0; i < n; i++) {
        memcpy(to, padded, sizeof(padded));
        to = integers_print(&p->integers, values[i], to + prefix_len);
        *to++ = p->lines.delimiter;
    }
    output_advance(p->out, (size_t)(to - begin));
}

/* Prints an integer n times. */
static void put_repeated(struct bitmap_printer *p, uint64_t value, uint64_t n)
{
    char text[2 * INTEGER_TEXT_MAX];
    char *to = text;
    if (p->lines.has_counts) {
        to += snprintf(text, INTEGER_TEXT_MAX, "%" PRIu64 "\t", n);
        n = 1;
    }
    to = integers_print(&p->integers, value, to);
    *to++ = p->lines.delimiter;
    for (; n > 0 && !p->out->failed; n--) {
        output_write(p->out, text, (size_t)(to - text));
    }
}

static void put_listed(struct bitmap_printer *p, const uint64_t *values, size_t n)
{
    for (size_t i = 0; i < n && !p->out->failed;) {
        const uint64_t again = repeats_next(p->lines.repeats);
        const size_t first = i;
        while (i < n && values[i] < again) {
            i++;
        }
        if (i > first) {
            put_once(p, values + first, i - first);
        }
        if (i < n && values[i] == again) {
            put_repeated(p, again, 1 + repeats_take(p->lines.repeats));
            i++;
        }
    }
}

bool bitmaps_print(const struct unseen_bitmap *bitmap, uint64_t from, uint64_t end,
                   struct bitmap_lines lines, struct output *out)
{
    uint64_t values[LISTED];
    size_t n = 0;
    struct bitmap_printer *p = malloc(sizeof(*p));
    if (!p) {
        return false;
    }
    p->lines = lines;
    p->out = out;
    integers_start(&p->integers);
    while (from < end && !out->failed &&
           (n = unseen_bitmap_next(bitmap, from, values, LISTED)) > 0) {
        from = values[n - 1] + 1;
        while (n > 0 && values[n - 1] >= end) {
            n--;
        }
        put_listed(p, values, n);
    }
    free(p);
    return true;
}
