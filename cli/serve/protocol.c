/* SPDX-License-Identifier: MIT */
#include "serve/protocol.h"

#include <string.h>

#define TEXT_OF_NUMBER(n) #n
#define TEXT_OF(number)   TEXT_OF_NUMBER(number)

static struct request wrong(const char *sentence)
{
    return (struct request){.kind = REQUEST_WRONG, .wrong = sentence};
}

/* The request of a letter behind which a URL stands; WRONG for all others. */
static enum request_kind kind_of(char letter)
{
    switch (letter) {
    case 'A':
        return REQUEST_ADD;
    case 'C':
        return REQUEST_ASK;
    case 'R':
        return REQUEST_REMOVE;
    default:
        return REQUEST_WRONG;
    }
}

/* Reads decimal digits up to the first other byte and returns how many there are. A number too
 * large for 64 bits becomes the largest. */
static size_t read_count(struct unseen_bytes text, uint64_t *count_out)
{
    uint64_t count = 0;
    size_t i = 0;
    for (; i < text.len && text.data[i] >= '0' && text.data[i] <= '9'; i++) {
        const uint64_t digit = (uint64_t)(text.data[i] - '0');
        count = count > (UINT64_MAX - digit) / 10 ? UINT64_MAX : count * 10 + digit;
    }
    *count_out = count;
    return i;
}

_Static_assert(PROTOCOL_BATCH_LINES == 1000000, "a sentence below says how many");

/* "N A", what stands behind "B ". */
static struct request take_batch(struct protocol *p, struct unseen_bytes text)
{
    uint64_t count = 0;
    const size_t ndigits = read_count(text, &count);
    if (ndigits == 0) {
        return wrong("B needs a number of lines, such as B 500 A");
    }
    const bool has_kind = text.len == ndigits + 2 && text.data[ndigits] == ' ';
    p->each = has_kind ? kind_of(text.data[ndigits + 1]) : REQUEST_WRONG;
    p->in_batch = true;
    p->left = count;
    p->refused = true;
    if (p->each == REQUEST_WRONG) {
        return wrong("a batch is of A, C or R, such as B 500 A; its lines are left out");
    }
    if (count > PROTOCOL_BATCH_LINES) {
        return wrong("a batch has at most 1000000 lines; those of this one are left out");
    }
    p->refused = false;
    return (struct request){.kind = REQUEST_NONE};
}

static struct request take_command(struct protocol *p, struct unseen_bytes line)
{
    const char letter = line.len > 0 ? line.data[0] : '\0';
    if (line.len >= 2 && line.data[1] == ' ') {
        const struct unseen_bytes text = {line.data + 2, line.len - 2};
        if (letter == 'B') {
            return take_batch(p, text);
        }
        if (kind_of(letter) != REQUEST_WRONG) {
            return (struct request){.kind = kind_of(letter), .url = text};
        }
    }
    if (line.len == 1 && (letter == 'F' || letter == 'I')) {
        return (struct request){.kind = letter == 'F' ? REQUEST_FLUSH : REQUEST_INFO};
    }
    return wrong("unknown request; there are: A URL, C URL, R URL, B N A, F and I");
}

static struct request take_line(struct protocol *p, struct unseen_bytes line, bool too_long)
{
    struct request r = {.kind = REQUEST_NONE};
    if (too_long) {
        r = wrong("the line is too long");
    } else if (p->in_batch) {
        r = (struct request){.kind = p->each, .url = line};
    } else {
        return take_command(p, line);
    }
    if (p->in_batch) {
        p->left--;
        r.in_batch = true;
        r.kind = p->refused ? REQUEST_NONE : r.kind;
    }
    return r;
}

static struct request end_batch(struct protocol *p)
{
    p->in_batch = false;
    p->left = 0;
    return (struct request){.kind = p->refused ? REQUEST_NONE : REQUEST_BATCH_END};
}

/* Cuts the next line off; false if there is no whole one. A line that is too long is there as soon
 * as that is known, and what is still to come of it is skipped. */
static bool next_line(struct protocol *p, const char *data, size_t len, bool at_end, size_t *at,
                      struct unseen_bytes *line_out, bool *too_long_out)
{
    while (*at < len) {
        const char *begin = data + *at;
        const size_t rest = len - *at;
        const char *newline = memchr(begin + p->known, '\n', rest - p->known);
        const size_t line_len = newline ? (size_t)(newline - begin) : rest;
        const bool too_long = line_len > p->line_bytes;
        const bool was_skipped = p->skips;
        if (!newline && !at_end && !too_long && !was_skipped) {
            p->known = rest;
            return false;
        }
        p->known = 0;
        p->skips = !newline && (was_skipped || too_long);
        *at += line_len + (newline != NULL);
        if (!was_skipped) {
            *line_out = (struct unseen_bytes){begin, line_len};
            *too_long_out = too_long;
            return true;
        }
    }
    return false;
}

bool protocol_next(struct protocol *p, const char *data, size_t len, bool at_end, size_t *at,
                   struct request *request_out)
{
    for (;;) {
        struct request r = {.kind = REQUEST_NONE};
        struct unseen_bytes line;
        bool too_long = false;
        if (p->in_batch && p->left == 0) {
            r = end_batch(p);
        } else if (next_line(p, data, len, at_end, at, &line, &too_long)) {
            r = take_line(p, line, too_long);
        } else if (p->in_batch && at_end) {
            r = end_batch(p);
        } else {
            return false;
        }
        if (r.kind != REQUEST_NONE) {
            *request_out = r;
            return true;
        }
    }
}
