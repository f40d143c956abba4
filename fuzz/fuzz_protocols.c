/* SPDX-License-Identifier: MIT
 *
 * The protocols of other programs (cli/serve/protocol.h). Answers must not depend on the pieces in
 * which the requests arrive, nor on the turns in which they are answered, and a turn asks for few
 * costly names. If a request is a line, every line must have its answer. Answers must have the form
 * of the protocol. The first bytes choose the protocol and where the pieces end. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/serve/connection.h"
#include "../cli/serve/names.h"
#include "target.h"

enum {
    COSTLY_MAX = 1 + 4 /* a name, and a request that is asked for up to each %23, or in two ways */
};

static const char *const names[] = {"squid",     "squid-rewrite", "postfix-policy",
                                    "tcp-table", "socketmap",     "http-auth"};

/* The names that a store would be asked for. */
static void check_names(enum find_type type, struct unseen_bytes text)
{
    struct names name;
    const int is_name = names_of(&name, type, text);
    require(!is_name || (name.n > 0 && name.n <= NAMES_TEXTS));
    for (size_t i = 0; is_name && i < name.n; i++) {
        require(name.texts[i].len > 0);
    }
}

static unsigned ncostly; /* names that were asked for in this turn */

/* Depends on every byte, so that each is read. */
static enum find_answer ask(struct service *service, enum find_type type, struct unseen_bytes text)
{
    uint32_t sum = (uint32_t)type;
    (void)service;
    require(text.len > 0);
    ncostly += line_reader_is_costly(text);
    check_names(type, text);
    for (size_t i = 0; i < text.len; i++) {
        sum = sum * 31 + (uint8_t)text.data[i];
    }
    return sum % 5 == 0 ? FIND_TROUBLE : sum % 5 <= 2 ? FIND_LISTED : FIND_ABSENT;
}

/* The line protocol has a fuzzer of its own. */
bool line_take(struct connection *c)
{
    (void)c;
    return false;
}

bool line_begin(struct connection *c)
{
    (void)c;
    return false;
}

void line_end(struct connection *c)
{
    (void)c;
}

void line_synced(struct connection *c, bool durable)
{
    (void)c;
    (void)durable;
}

bool line_may_be_evicted(const struct connection *c)
{
    (void)c;
    return false;
}

/* Every piece lies in memory of its own, so that a read beyond it is found. */
static void feed(struct connection *c, const char *text, size_t len, size_t step)
{
    struct line_reader *in = &c->in;
    size_t begin = 0; /* of the bytes that were not taken yet */
    size_t end = 0;
    while (!in->at_end && !c->over) {
        in->at_end = end == len;
        end += len - end < step ? len - end : step;
        char *piece = malloc(end - begin + !(end - begin));
        require(piece != NULL);
        memcpy(piece, text + begin, end - begin);
        in->text = (struct text){piece, end - begin, end - begin};
        in->at = 0;
        do {
            in->work = 0;
            ncostly = 0;
            (void)connection_answer(c);
            require(ncostly <= COSTLY_MAX);
        } while (line_reader_turn_is_over(in) && !c->over);
        require(in->at <= end - begin && !c->failed);
        begin += in->at;
        free(piece);
        in->text = (struct text){NULL, 0, 0};
    }
}

static size_t count_lines(const char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        n += text[i] == '\n' || i == len - 1;
    }
    return n;
}

static void check_lines(const struct connection *c, const char *text, size_t len)
{
    const size_t n = count_lines(c->out.data, c->out.len);
    require(n == count_lines(text, len));
    require(n == 0 || c->out.data[c->out.len - 1] == '\n');
}

static void check_policy(const struct connection *c)
{
    struct unseen_bytes out = {c->out.data, c->out.len};
    while (out.len > 0) {
        const struct unseen_bytes line = cut_word(&out, '\n');
        require(line.len > 7 && memcmp(line.data, "action=", 7) == 0);
        require(out.len > 0 && cut_word(&out, '\n').len == 0);
    }
}

static void check_netstrings(const struct connection *c)
{
    struct unseen_bytes out = {c->out.data, c->out.len};
    while (out.len > 0) {
        const struct unseen_bytes digits = cut_word(&out, ':');
        size_t len = 0;
        for (size_t i = 0; i < digits.len; i++) {
            require(digits.data[i] >= '0' && digits.data[i] <= '9');
            len = len * 10 + (size_t)(digits.data[i] - '0');
        }
        require(digits.len > 0 && len < out.len && out.data[len] == ',');
        out = (struct unseen_bytes){out.data + len + 1, out.len - len - 1};
    }
}

/* No answer has a body, so a head follows a head. */
static void check_http(const struct connection *c)
{
    struct unseen_bytes out = {c->out.data, c->out.len};
    while (out.len > 0) {
        struct unseen_bytes line = cut_word(&out, '\n');
        require(line.len > 13 && memcmp(line.data, "HTTP/1.1 ", 9) == 0);
        while (!is_word(line, "\r")) {
            require(line.data[line.len - 1] == '\r' && out.len > 0);
            line = cut_word(&out, '\n');
        }
    }
}

static void check_form(size_t which, const struct connection *c, const char *text, size_t len)
{
    switch (which) {
    case 2:
        check_policy(c);
        break;
    case 4:
        check_netstrings(c);
        break;
    case 5:
        check_http(c);
        break;
    default:
        check_lines(c, text, len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 4096) {
        return 0; /* limits have tests of their own */
    }
    const size_t which = data[0] % (sizeof(names) / sizeof(names[0]));
    const size_t step = 1 + data[1] % 64;
    const char *text = (const char *)data + 2;
    struct service service = {.protocol = protocol_find(names[which]),
                              .find = ask,
                              .reply = "REJECT listed",
                              .redirect = "http://r/"};
    require(service.protocol != NULL);
    struct connection whole = {
        .service = &service, .in = {.longest = service.protocol->longest}, .ahead = SIZE_MAX};
    struct connection pieces = whole;
    feed(&whole, text, size - 2, size);
    feed(&pieces, text, size - 2, step);
    require(whole.over == pieces.over && whole.out.len == pieces.out.len);
    require(whole.out.len == 0 || memcmp(whole.out.data, pieces.out.data, whole.out.len) == 0);
    check_form(which, &whole, text, size - 2);
    text_release(&whole.out);
    text_release(&pieces.out);
    return 0;
}
