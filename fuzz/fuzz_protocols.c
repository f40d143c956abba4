/* SPDX-License-Identifier: MIT
 *
 * Other programs' protocols (cli/serve/talk.h): what is answered must not depend on the pieces in which the
 * requests arrive, every line must have its answer where a line is a request, and answers must be of
 * the protocol's form. The first bytes choose the protocol and where the pieces end. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/serve/names.h"
#include "../cli/serve/talk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"squid",     "squid-rewrite", "postfix-policy",
                                    "tcp-table", "socketmap",     "http-auth"};

static void require(int ok)
{
    if (!ok) {
        abort();
    }
}

/* What a store would be asked for. */
static void check_names(enum lookup_kind kind, struct unseen_bytes text)
{
    struct names name;
    const int is_name = kind == LOOKUP_SENDER   ? names_of_address(&name, text)
                        : kind == LOOKUP_CLIENT ? names_of_client(&name, text)
                                                : names_of_key(&name, text);
    require(!is_name || (name.n > 0 && name.n <= NAMES_TEXTS));
    for (size_t i = 0; is_name && i < name.n; i++) {
        require(name.texts[i].len > 0);
    }
}

/* Depends on every byte, so that each is read. */
static enum lookup_answer ask(void *context, enum lookup_kind kind, struct unseen_bytes text)
{
    uint32_t sum = (uint32_t)kind;
    (void)context;
    require(text.len > 0);
    check_names(kind, text);
    for (size_t i = 0; i < text.len; i++) {
        sum = sum * 31 + (uint8_t)text.data[i];
    }
    return sum % 5 == 0 ? LOOKUP_TROUBLE : sum % 5 <= 2 ? LOOKUP_LISTED : LOOKUP_ABSENT;
}

static const struct lookup fake = {ask, NULL};

/* Every piece lies in memory of its own, so that a read beyond it is found. */
static void feed(struct talk *t, const char *text, size_t len, size_t step)
{
    size_t begin = 0; /* of what was not taken yet */
    size_t end = 0;
    int at_end = 0;
    while (!at_end && !t->over) {
        at_end = end == len;
        end += len - end < step ? len - end : step;
        char *piece = malloc(end - begin + !(end - begin));
        require(piece != NULL);
        memcpy(piece, text + begin, end - begin);
        const size_t taken = talk_take(t, piece, end - begin, at_end);
        require(taken <= end - begin && !t->failed);
        begin += taken;
        free(piece);
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

static void check_lines(const struct talk *t, const char *text, size_t len)
{
    const size_t n = count_lines(t->out.data, t->out.len);
    require(n == count_lines(text, len));
    require(n == 0 || t->out.data[t->out.len - 1] == '\n');
}

static void check_policy(const struct talk *t)
{
    struct unseen_bytes out = {t->out.data, t->out.len};
    while (out.len > 0) {
        const struct unseen_bytes line = talk_word(&out, '\n');
        require(line.len > 7 && memcmp(line.data, "action=", 7) == 0);
        require(out.len > 0 && talk_word(&out, '\n').len == 0);
    }
}

static void check_netstrings(const struct talk *t)
{
    struct unseen_bytes out = {t->out.data, t->out.len};
    while (out.len > 0) {
        const struct unseen_bytes digits = talk_word(&out, ':');
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
static void check_http(const struct talk *t)
{
    struct unseen_bytes out = {t->out.data, t->out.len};
    while (out.len > 0) {
        struct unseen_bytes line = talk_word(&out, '\n');
        require(line.len > 13 && memcmp(line.data, "HTTP/1.1 ", 9) == 0);
        while (!talk_is(line, "\r")) {
            require(line.data[line.len - 1] == '\r' && out.len > 0);
            line = talk_word(&out, '\n');
        }
    }
}

static void check_form(size_t which, const struct talk *t, const char *text, size_t len)
{
    switch (which) {
    case 2:
        check_policy(t);
        break;
    case 4:
        check_netstrings(t);
        break;
    case 5:
        check_http(t);
        break;
    default:
        check_lines(t, text, len);
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
    const struct talk first = {
        .dialect = talk_dialect(names[which]), .lookup = &fake, .redirect = "http://r/"};
    require(first.dialect != NULL);
    struct talk whole = first;
    struct talk pieces = first;
    feed(&whole, text, size - 2, size);
    feed(&pieces, text, size - 2, step);
    require(whole.over == pieces.over && whole.out.len == pieces.out.len);
    require(whole.out.len == 0 || memcmp(whole.out.data, pieces.out.data, whole.out.len) == 0);
    check_form(which, &whole, text, size - 2);
    talk_release(&whole);
    talk_release(&pieces);
    return 0;
}
