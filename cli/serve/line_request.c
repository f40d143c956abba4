/* SPDX-License-Identifier: MIT */
#include "serve/line_request.h"

#include <stddef.h>

#include "characters.h"

enum {
    LINES_BYTES = LINE_READER_TURN / 2 /* of lines that are taken at once */
};

static struct request wrong(const char *sentence)
{
    return (struct request){.type = REQUEST_WRONG, .wrong = sentence};
}

/* The request of a letter that has a URL behind it; WRONG for all other letters. */
static enum request_type type_of(char letter)
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

/* The request of a letter that has some other text behind it; WRONG for all other letters. */
static enum request_type type_of_text(char letter)
{
    switch (letter) {
    case 'O':
        return REQUEST_OPTION;
    case 'T':
        return REQUEST_TOKEN;
    case 'L':
        return REQUEST_LEASE;
    case 'D':
        return REQUEST_DONE;
    case 'G':
        return REQUEST_GIVE_BACK;
    case 'N':
        return REQUEST_RENEW;
    case 'X':
        return REQUEST_HAND_OUT;
    default:
        return REQUEST_WRONG;
    }
}

_Static_assert(LINE_BATCH_MAX == 1000000 && LINE_BATCH_SHARED == 65536,
               "sentences below say how many");

/* Reads "N A", the text behind "B ". */
static struct request open_batch(struct line_parser *p, struct unseen_bytes text)
{
    uint64_t count = 0;
    const size_t ndigits = read_decimal(text.data, text.len, &count);
    if (ndigits == 0) {
        return wrong("B needs a number of lines, such as B 500 A");
    }
    const bool has_letter = text.len == ndigits + 2 && text.data[ndigits] == ' ';
    const enum request_type each = has_letter ? type_of(text.data[ndigits + 1]) : REQUEST_WRONG;
    *p = (struct line_parser){
        .batch_max = p->batch_max, .in_batch = true, .refused = true, .each = each, .left = count};
    if (each == REQUEST_WRONG) {
        return wrong("a batch is of A, C or R, such as B 500 A; its lines are left out");
    }
    if (count > p->batch_max) {
        return wrong(p->batch_max == LINE_BATCH_SHARED
                         ? "a batch has at most 65536 lines; those of this one are left out"
                         : "a batch has at most 1000000 lines; those of this one are left out");
    }
    p->refused = false;
    return (struct request){.type = REQUEST_NONE};
}

static struct request read_command(struct line_parser *p, struct unseen_bytes line)
{
    const char letter = line.len > 0 ? line.data[0] : '\0';
    if (line.len >= 2 && line.data[1] == ' ') {
        const struct unseen_bytes text = {line.data + 2, line.len - 2};
        if (letter == 'B') {
            return open_batch(p, text);
        }
        if (type_of(letter) != REQUEST_WRONG) {
            return (struct request){.type = type_of(letter), .url = text};
        }
        if (type_of_text(letter) != REQUEST_WRONG) {
            return (struct request){.type = type_of_text(letter), .text = text};
        }
    }
    if (line.len == 1 && letter == 'F') {
        return (struct request){.type = REQUEST_FLUSH};
    }
    if (line.len == 1 && (letter == 'I' || letter == 'S')) {
        return (struct request){.type = letter == 'I' ? REQUEST_INFO : REQUEST_STATS};
    }
    return wrong(
        "unknown request; there are: A URL, C URL, R URL, B N A, F, I, S, O NAME, T TOKEN, "
        "L SECONDS URL, D TOKEN, G TOKEN, N SECONDS TOKEN and X N SECONDS");
}

/* A line of a batch. It is put in place field by field: to copy a whole struct request, parts of
 * which were just written, stalls the processor for longer than the rest takes. */
static void read_batch_line(struct line_parser *p, struct unseen_bytes line, bool too_long,
                            struct request *request_out)
{
    p->left--;
    request_out->in_batch = true;
    request_out->type = p->refused ? REQUEST_NONE : too_long ? REQUEST_WRONG : p->each;
    request_out->url = line;
}

static struct request read_line(struct line_parser *p, struct unseen_bytes line, bool too_long)
{
    return too_long ? wrong("the line is too long") : read_command(p, line);
}

bool line_request_next(struct line_parser *p, struct line_reader *in, struct request *request_out)
{
    struct unseen_bytes line;
    do {
        const bool has_all = p->in_batch && p->left == 0;
        const enum reading reading = has_all ? READING_NONE : line_reader_line(in, &line);
        if (reading != READING_NONE && p->in_batch) {
            read_batch_line(p, line, reading == READING_LONG, request_out);
            line_reader_weigh(in, line);
        } else if (reading != READING_NONE) {
            *request_out = read_line(p, line, reading == READING_LONG);
            line_reader_weigh(in, line);
        } else if (has_all || (p->in_batch && in->at_end && !in->is_cut)) {
            p->in_batch = false;
            *request_out = (struct request){.type = p->refused ? REQUEST_NONE : REQUEST_BATCH_END};
        } else {
            return false;
        }
    } while (request_out->type == REQUEST_NONE);
    return true;
}

size_t line_request_lines(struct line_parser *p, struct line_reader *in, struct unseen_bytes *lines,
                          size_t max)
{
    struct unseen_bytes rest = line_reader_rest(in);
    if (!p->in_batch || p->refused || in->known > 0 || in->skips) {
        return 0;
    }
    size_t used = 0;
    rest.len = rest.len < LINES_BYTES ? rest.len : LINES_BYTES;
    const size_t nwhole = unseen_lines_split(rest.data, rest.len, '\n', lines,
                                             p->left < max ? (size_t)p->left : max, &used);
    size_t n = 0;
    bool is_costly = false;
    while (n < nwhole && lines[n].len <= in->longest && !is_costly) {
        is_costly = line_reader_is_costly(lines[n++]);
    }
    in->work += is_costly ? LINE_READER_NAME : 0;
    line_reader_take(in, n < nwhole ? (size_t)(lines[n].data - rest.data) : used);
    p->left -= n;
    return n;
}
