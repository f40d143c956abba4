/* SPDX-License-Identifier: MIT
 *
 * `unseen check --why`: which texts of a line the list or the store has. A question is asked as
 * several texts (unseen_kind_texts), and any of them may be the reason. */
#ifndef UNSEEN_CLI_WHY_H
#define UNSEEN_CLI_WHY_H

#include <stdbool.h>

#include <unseen_list.h>

#include "lines/batch.h"
#include "lines/text_table.h"
#include "print/output.h"
#include "seen/seen.h"

/* A text, and how it came to be listed or allowed. */
struct why_text {
    struct unseen_bytes text;
    const char *how;
};

/* All zero but for `seen` is an empty struct. */
struct why {
    const struct seen *seen; /* keeps texts */

    /* of the last line */
    struct why_text texts[UNSEEN_KIND_TEXTS_MAX];
    size_t n;
    struct text room; /* holds texts that are not bytes of the line */

    struct text_table added; /* the texts that `unseen update` added to the list */
    uint64_t changes_bytes;  /* of the list when `added` was made */
};

/* Finds the texts of line i of b that the list lists or allows, or that the store has, in the order
 * of unseen_kind_texts. The verdict is that of seen_ask. False, and reported, without memory or if
 * the list was overwritten or cut short. */
bool why_find(struct why *w, const struct batch *b, size_t i, uint8_t verdict);

/* Puts a row for each text: the text, how it is there, the store or list, and the line, with tabs
 * between. Without a text there is one row, with an empty text and "none". */
void why_put(const struct why *w, struct output *out, struct unseen_bytes line);

/* Puts the same as members of a JSON object: ,"in":"bad.list","kind":"url","why":[...] */
void why_put_json(const struct why *w, struct output *out);

void why_release(struct why *w);

#endif
