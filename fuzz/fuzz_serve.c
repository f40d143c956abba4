/* SPDX-License-Identifier: MIT
 *
 * The requests of the line protocol. A parser that gets its bytes in pieces must find the same
 * requests as a plain parser that has all lines at once. The first bytes choose how long a line may
 * be and where the pieces end. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/serve/line_request.h"
#include "target.h"

/* ---- The plain parser ------------------------------------------------------------------------ */

/* Lines one after the other, with the state that a batch has. */
struct plain {
    const char *text;
    size_t len;
    size_t at;
    size_t line_bytes;
    unsigned long long batch_max;
    int in_batch;
    int refused;
    unsigned long long left;
    enum request_type each;
};

static int has_line(const struct plain *t)
{
    return t->at < t->len;
}

static struct unseen_bytes cut_line(struct plain *t)
{
    struct unseen_bytes line = {t->text + t->at, 0};
    while (t->at < t->len && t->text[t->at] != '\n') {
        line.len++;
        t->at++;
    }
    t->at += t->at < t->len;
    return line;
}

static enum request_type kind_by_letter(char letter)
{
    const char letters[] = "ACR";
    const enum request_type kinds[] = {REQUEST_ADD, REQUEST_ASK, REQUEST_REMOVE};
    const char *found = letter ? strchr(letters, letter) : NULL;
    return found ? kinds[found - letters] : REQUEST_WRONG;
}

static enum request_type text_by_letter(char letter)
{
    const char letters[] = "OTLDGNX";
    const enum request_type kinds[] = {REQUEST_OPTION,  REQUEST_TOKEN,     REQUEST_LEASE,
                                       REQUEST_DONE,    REQUEST_GIVE_BACK, REQUEST_RENEW,
                                       REQUEST_HAND_OUT};
    const char *found = letter ? strchr(letters, letter) : NULL;
    return found ? kinds[found - letters] : REQUEST_NONE;
}

/* The head of a batch, by way of the C library's numbers. */
static enum request_type open_batch(struct plain *t, struct unseen_bytes line)
{
    char digits[64];
    size_t n = 0;
    while (2 + n < line.len && line.data[2 + n] >= '0' && line.data[2 + n] <= '9') {
        n++;
    }
    if (n == 0) {
        return REQUEST_WRONG;
    }
    require(n < sizeof(digits)); /* the target keeps lines this short */
    memcpy(digits, line.data + 2, n);
    digits[n] = '\0';
    t->left = strtoull(digits, NULL, 10);
    t->each = line.len == n + 4 && line.data[2 + n] == ' ' ? kind_by_letter(line.data[3 + n])
                                                           : REQUEST_WRONG;
    t->in_batch = 1;
    t->refused = t->each == REQUEST_WRONG || t->left > t->batch_max;
    return t->refused ? REQUEST_WRONG : REQUEST_NONE;
}

static struct request command(struct plain *t, struct unseen_bytes line)
{
    struct request r = {.type = REQUEST_WRONG};
    if (line.len > t->line_bytes) {
        return r;
    }
    if (line.len == 1 && line.data[0] == 'F') {
        r.type = REQUEST_FLUSH;
    } else if (line.len == 1 && line.data[0] == 'I') {
        r.type = REQUEST_INFO;
    } else if (line.len == 1 && line.data[0] == 'S') {
        r.type = REQUEST_STATS;
    } else if (line.len >= 2 && line.data[1] == ' ' && text_by_letter(line.data[0])) {
        r.type = text_by_letter(line.data[0]);
        r.text = (struct unseen_bytes){line.data + 2, line.len - 2};
    } else if (line.len >= 2 && memcmp(line.data, "B ", 2) == 0) {
        r.type = open_batch(t, line);
    } else if (line.len >= 2 && line.data[1] == ' ') {
        r.type = kind_by_letter(line.data[0]);
        r.url = (struct unseen_bytes){line.data + 2, line.len - 2};
    }
    return r;
}

static struct request batch_line(struct plain *t, struct unseen_bytes line)
{
    struct request r = {.type = line.len > t->line_bytes ? REQUEST_WRONG : t->each};
    r.in_batch = 1;
    r.url = line;
    r.type = t->refused ? REQUEST_NONE : r.type;
    t->left--;
    return r;
}

static int plain_next(struct plain *t, struct request *r)
{
    do {
        if (t->in_batch && (t->left == 0 || !has_line(t))) {
            t->in_batch = 0;
            *r = (struct request){.type = t->refused ? REQUEST_NONE : REQUEST_BATCH_END};
        } else if (!has_line(t)) {
            return 0;
        } else {
            const struct unseen_bytes line = cut_line(t);
            *r = t->in_batch ? batch_line(t, line) : command(t, line);
        }
    } while (r->type == REQUEST_NONE);
    return 1;
}

/* ---- The comparison -------------------------------------------------------------------------- */

static void check_request(const struct request *r, const struct request *want)
{
    require(r->type == want->type && r->in_batch == want->in_batch);
    require((r->type == REQUEST_WRONG && !r->in_batch) <= (r->wrong && *r->wrong));
    if (r->type == REQUEST_ADD || r->type == REQUEST_ASK || r->type == REQUEST_REMOVE) {
        require(r->url.len == want->url.len);
        require(r->url.len == 0 || memcmp(r->url.data, want->url.data, r->url.len) == 0);
    }
    if (want->text.data) {
        require(r->text.len == want->text.len);
        require(r->text.len == 0 || memcmp(r->text.data, want->text.data, r->text.len) == 0);
    }
}

/* Takes lines of a batch at once. Returns how many. */
static size_t check_lines(struct line_parser *p, struct line_reader *in, struct plain *t)
{
    struct unseen_bytes lines[8];
    const struct line_parser before = *p;
    const size_t n = line_request_lines(p, in, lines, sizeof(lines) / sizeof(lines[0]));
    for (size_t i = 0; i < n; i++) {
        const struct request r = {.type = before.each, .in_batch = 1, .url = lines[i]};
        struct request want;
        require(plain_next(t, &want));
        check_request(&r, &want);
    }
    require(n == 0 || (before.in_batch && p->in_batch && p->left == before.left - n));
    return n;
}

/* Every piece lies in memory of its own, and moves, as in a buffer that is filled again. */
static void feed(struct line_parser *p, struct plain *t, const char *text, size_t len,
                 unsigned step)
{
    struct line_reader in = {.longest = t->line_bytes};
    size_t begin = 0; /* of the bytes that were not taken yet */
    size_t end = 0;
    while (!in.at_end) {
        struct request r;
        struct request want;
        in.at_end = end == len;
        end += len - end < step ? len - end : step;
        char *piece = malloc(end - begin + 1);
        require(piece != NULL);
        if (end > begin) {
            memcpy(piece, text + begin, end - begin);
        }
        in.text = (struct text){piece, end - begin, end - begin};
        in.at = 0;
        for (;;) {
            if (step % 2 == 1 && check_lines(p, &in, t) > 0) {
                continue;
            }
            if (!line_request_next(p, &in, &r)) {
                break;
            }
            require(in.at <= end - begin);
            require(plain_next(t, &want));
            check_request(&r, &want);
        }
        require(in.at <= end - begin && end - begin - in.at <= in.longest);
        begin += in.at;
        free(piece);
    }
    require(begin == len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    const size_t line_bytes = 1 + data[0] % 48;
    const unsigned step = 1 + data[1];
    const char *text = (const char *)data + 2;
    struct request rest;
    const uint64_t batch_max = data[0] & 64 ? LINE_BATCH_MAX : LINE_BATCH_SHARED;
    struct line_parser p = {.batch_max = batch_max};
    struct plain t = {
        .text = text, .len = size - 2, .line_bytes = line_bytes, .batch_max = batch_max};
    feed(&p, &t, text, size - 2, step);
    require(!plain_next(&t, &rest) && !p.in_batch);
    return 0;
}
