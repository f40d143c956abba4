/* SPDX-License-Identifier: MIT
 *
 * Postfix's policy delegation, as check_policy_service speaks it: lines name=value up to an empty
 * one, answered by action=... and an empty line. docs/postfix.md has the configuration.
 *
 * The sender, its domain and the domains above, the client's address and its networks are looked
 * up: any of them listed is the text of --reply, nothing listed is DUNNO, which leaves the decision
 * to what Postfix asks next. What cannot be answered is deferred: the mail comes again. */
#include "serve/talk.h"

#include <string.h>

struct policy {
    struct unseen_bytes sender;
    struct unseen_bytes client;
    bool broken;
};

static void put_action(struct talk *t, const char *action)
{
    talk_puts(t, "action=");
    talk_puts(t, action);
    talk_puts(t, "\n\n");
}

static void put_broken(struct talk *t, const char *sentence)
{
    talk_puts(t, "action=DEFER_IF_PERMIT ");
    talk_puts(t, sentence);
    talk_puts(t, "\n\n");
}

static void read_line(struct policy *p, struct unseen_bytes line)
{
    if (line.len == 0 || !memchr(line.data, '=', line.len)) {
        p->broken = true;
        return;
    }
    const struct unseen_bytes name = talk_word(&line, '=');
    if (talk_is(name, "sender")) {
        p->sender = line;
    } else if (talk_is(name, "client_address")) {
        p->client = line;
    } else if (talk_is(name, "request") && !talk_is(line, "smtpd_access_policy")) {
        p->broken = true;
    }
}

static struct policy read_request(struct unseen_bytes text)
{
    struct policy p = {.broken = text.len == 0};
    while (text.len > 0) {
        read_line(&p, talk_word(&text, '\n'));
    }
    return p;
}

/* The sender of a bounce is empty: there is nothing to look up. */
static enum lookup_answer ask(struct talk *t, const struct policy *p)
{
    const enum lookup_answer answer = lookup(t->lookup, LOOKUP_SENDER, p->sender);
    return answer == LOOKUP_ABSENT ? lookup(t->lookup, LOOKUP_CLIENT, p->client) : answer;
}

static void answer_request(struct talk *t, struct unseen_bytes text)
{
    const struct policy p = read_request(text);
    if (p.broken) {
        put_broken(t, "broken policy request");
        return;
    }
    switch (ask(t, &p)) {
    case LOOKUP_LISTED:
        put_action(t, t->reply ? t->reply : "REJECT listed");
        break;
    case LOOKUP_ABSENT:
        put_action(t, "DUNNO");
        break;
    case LOOKUP_TROUBLE:
        put_broken(t, "the list cannot be read");
    }
}

/* The end of the first request: what stands behind its empty line; NULL if that has not come. */
static const char *find_end(struct talk *t, const char *data, size_t len)
{
    if (data[0] == '\n') {
        return data + 1;
    }
    const char *at = data + t->known;
    const char *newline;
    while ((newline = memchr(at, '\n', len - (size_t)(at - data)))) {
        at = newline + 1;
        if (at < data + len && *at == '\n') {
            return at + 1;
        }
    }
    t->known = len - 1; /* its last byte may be the first of the two newlines */
    return NULL;
}

/* A request that the end of the input cuts short is none. */
static size_t take(struct talk *t, const char *data, size_t len, bool at_end)
{
    const char *end = find_end(t, data, len);
    const size_t used = end ? (size_t)(end - data) : len;
    (void)at_end;
    if (used > TALK_LINE) {
        put_broken(t, "policy request too long");
        t->over = true; /* where the next one starts is not known */
        return used;
    }
    if (!end) {
        return 0;
    }
    answer_request(t, (struct unseen_bytes){data, used - 1});
    return used;
}

const struct dialect policy_dialect = {.name = "postfix-policy",
                                       .take = take,
                                       .asks = 1u << LOOKUP_SENDER | 1u << LOOKUP_CLIENT,
                                       .has_reply = true};
