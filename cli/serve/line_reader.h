/* SPDX-License-Identifier: MIT
 *
 * The bytes that a client has sent and that are not answered yet. They arrive in any pieces; a
 * protocol takes whole requests off the front.
 *
 * The reader weighs each request: a client whose turn has LINE_READER_TURN of weight lets others go
 * first. A byte weighs 1. The worst byte of ASCII takes about 30 ns, and the worst host name beyond
 * ASCII, which goes to libidn2, half a millisecond. So a turn takes about a millisecond, or as long
 * as its last request. */
#ifndef UNSEEN_CLI_LINE_READER_H
#define UNSEEN_CLI_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include <unseen.h>

#include "lines/text.h"

enum {
    LINE_READER_TURN = 32 * 1024,
    LINE_READER_NAME = LINE_READER_TURN / 2 /* the weight of a name that is not ASCII */
};

struct line_reader {
    size_t longest;   /* the longest request in bytes; set by the caller */
    struct text text; /* text.data[at..text.len) is not answered yet */
    size_t at;
    bool at_end; /* nothing comes behind text */
    size_t work; /* the weight of this turn; the loop sets it to 0 */
    bool is_cut; /* discards an unterminated request at the end: the client may have been cut off */

    size_t known; /* bytes behind `at` that are known to hold no end of a request */
    bool skips;   /* the rest of a line that was too long is still to come */
};

enum reading {
    READING_NONE, /* no request is whole yet */
    READING_WHOLE,
    READING_LONG /* the front of a request that is too long */
};

static inline struct unseen_bytes line_reader_rest(const struct line_reader *r)
{
    const char *data = r->text.data; /* NULL if nothing has come */
    return (struct unseen_bytes){data ? data + r->at : "", r->text.len - r->at};
}

/* Takes n bytes off the front. */
static inline void line_reader_take(struct line_reader *r, size_t n)
{
    r->at += n;
    r->work += n;
    r->known = 0;
}

/* Whether others go first. */
static inline bool line_reader_turn_is_over(const struct line_reader *r)
{
    return r->work >= LINE_READER_TURN;
}

/* Whether a URL, an address or a name may have a host that is not ASCII, or has one with
 * %-escapes. */
bool line_reader_is_costly(struct unseen_bytes text);

/* Adds the weight of a text that is asked for. */
static inline void line_reader_weigh(struct line_reader *r, struct unseen_bytes text)
{
    r->work += line_reader_is_costly(text) ? LINE_READER_NAME : 0;
}

/* Takes a line off the front, which *line_out has without its newline. At the end of the input a
 * line needs no newline. The rest of a line that is too long is skipped when it comes. */
enum reading line_reader_line(struct line_reader *r, struct unseen_bytes *line_out);

/* Takes the lines up to the first empty line off the front; *lines_out has them with their newlines
 * and the empty line. An empty line is a newline, and where has_cr a carriage return may stand
 * before the newline. At the end of the input lines without an empty line behind them are no
 * request. */
enum reading line_reader_paragraph(struct line_reader *r, bool has_cr,
                                   struct unseen_bytes *lines_out);

#endif
