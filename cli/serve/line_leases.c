/* SPDX-License-Identifier: MIT
 *
 * The requests of the line protocol about leases. docs/serve.md has them. */
#include "serve/line_state.h"

#include <stdio.h>
#include <string.h>

#include "characters.h"
#include "clock.h"

enum {
    HANDED_OUT_MAX = 1000,       /* URLs in the answer to an X, */
    HANDED_OUT_BYTES = 32 * 1024 /* and about so many bytes */
};

/* Cuts a number from 1 to max and a space, or the end, off the text. False if there is none. */
static bool cut_number(struct unseen_bytes *text, uint64_t max, uint64_t *number_out)
{
    const struct unseen_bytes word = cut_word(text, ' ');
    return read_decimal(word.data, word.len, number_out) == word.len && *number_out > 0 &&
           *number_out <= max;
}

/* When a lease of so many seconds is over. */
static uint64_t after(uint64_t seconds)
{
    return clock_milliseconds() + seconds * 1000;
}

static void put_lease(struct connection *c, struct unseen_key key, struct unseen_bytes url,
                      uint64_t seconds)
{
    char token[LEASE_TOKEN_BYTES];
    const char *why = "";
    if (leases_grant(&c->service->leases, key, url, clock_milliseconds(), after(seconds), token,
                     &why)) {
        struct line_state *state = line_state(c);
        state->lease_at = state->has_leased ? state->lease_at : c->out.len;
        state->has_leased = true;
        connection_puts(c, "1 ");
        connection_puts(c, token);
        connection_puts(c, "\n");
    } else {
        connection_put_error(c, why);
    }
}

/* L SECONDS URL */
static void lease(struct connection *c, struct unseen_bytes text)
{
    struct unseen_key key;
    uint64_t seconds = 0;
    char mark = 'E';
    if (!cut_number(&text, LEASE_SECONDS_MAX, &seconds)) {
        connection_put_error(c, "L needs a number of seconds up to 604800 and a URL, such as L 60 "
                                "http://e.com/");
        return;
    }
    if (service_keys(c->service, &text, 1, &key)) {
        (void)service_marks(c->service, REQUEST_ASK, &key, 1, &mark);
    }
    if (mark == '0') {
        put_lease(c, key, text, seconds);
    } else if (mark == 'E') {
        connection_put_error(c, c->service->trouble);
    } else {
        connection_puts(c, mark == '1' ? "0\n" : "leased\n");
    }
}

/* X COUNT SECONDS: how many lines follow, and in each a token and a URL. */
static void hand_out(struct connection *c, struct unseen_bytes text)
{
    struct leases *l = &c->service->leases;
    uint64_t count = 0;
    uint64_t seconds = 0;
    char token[LEASE_TOKEN_BYTES];
    char number[32];
    struct unseen_bytes url;
    if (!cut_number(&text, HANDED_OUT_MAX, &count) ||
        !cut_number(&text, LEASE_SECONDS_MAX, &seconds) || text.len > 0) {
        connection_put_error(c,
                             "X needs a number of URLs up to 1000 and of seconds, such as X 10 60");
        return;
    }
    const size_t at = c->out.len; /* where the number of lines goes */
    size_t n = 0;
    while (n < count && !c->failed && c->out.len - at < HANDED_OUT_BYTES &&
           leases_take_back(l, clock_milliseconds(), after(seconds), token, &url)) {
        connection_puts(c, token);
        connection_puts(c, " ");
        connection_put(c, url.data, url.len);
        connection_puts(c, "\n");
        n++;
    }
    const int len = snprintf(number, sizeof(number), "%zu\n", n);
    const size_t lines = c->out.len - at;
    c->in.work += lines;
    connection_put(c, number, (size_t)len);
    if (!c->failed) {
        memmove(c->out.data + at + len, c->out.data + at, lines);
        memcpy(c->out.data + at, number, (size_t)len);
    }
}

/* D TOKEN: the URL's key goes into the store. */
static bool end_lease(struct connection *c, struct unseen_key key)
{
    char mark = 'E';
    c->has_changed = service_end_lease(c->service, key, &mark) || c->has_changed;
    return mark != 'E';
}

/* D, G and N SECONDS, each with a token. */
static void with_token(struct connection *c, const struct request *r)
{
    struct leases *l = &c->service->leases;
    struct unseen_bytes text = r->text;
    struct unseen_key key;
    uint64_t seconds = 0;
    bool done = true;
    const char *trouble = "out of memory";
    if (r->type == REQUEST_RENEW &&
        (!cut_number(&text, LEASE_SECONDS_MAX, &seconds) || text.len == 0)) {
        connection_put_error(c, "N needs a number of seconds up to 604800 and a token");
        return;
    }
    if (text.len == 0) {
        connection_put_error(c, r->type == REQUEST_DONE ? "D needs a token" : "G needs a token");
        return;
    }
    if (!leases_find(l, text, clock_milliseconds(), &key)) {
        connection_puts(c, "late\n");
        return;
    }
    if (r->type == REQUEST_DONE) {
        done = end_lease(c, key);
        trouble = c->service->trouble;
    } else if (r->type == REQUEST_GIVE_BACK) {
        leases_give_back(l, key);
    } else {
        done = leases_renew(l, key, after(seconds));
    }
    if (done) {
        connection_puts(c, "OK\n");
    } else {
        connection_put_error(c, trouble);
    }
}

void line_lease_request(struct connection *c, const struct request *r)
{
    if (!service_open_leases(c->service)) {
        connection_put_error(c, c->service->trouble);
    } else if (r->type == REQUEST_LEASE) {
        lease(c, r->text);
    } else if (r->type == REQUEST_HAND_OUT) {
        hand_out(c, r->text);
    } else {
        with_token(c, r);
    }
}
