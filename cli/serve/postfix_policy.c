/* SPDX-License-Identifier: MIT
 *
 * Postfix's policy delegation, as check_policy_service speaks it: lines name=value up to an empty
 * one, answered by action=... and an empty line. docs/postfix.md has the configuration.
 *
 * The sender, its domain and the domains above, the client's address and its networks are looked
 * up. If any of them is listed, the answer is the text of --reply; if none is, DUNNO, which leaves
 * the decision to what Postfix asks next. A request that cannot be answered is deferred: the mail
 * comes again. */
#include "serve/connection.h"

#include <string.h>

struct policy {
    struct unseen_bytes sender;
    struct unseen_bytes client;
    bool broken;
};

static void put_action(struct connection *c, const char *word, const char *text)
{
    connection_puts(c, "action=");
    connection_puts(c, word);
    connection_puts(c, text);
    connection_puts(c, "\n\n");
}

static void read_policy_line(struct policy *p, struct unseen_bytes line)
{
    if (line.len == 0 || !memchr(line.data, '=', line.len)) {
        p->broken = true;
        return;
    }
    const struct unseen_bytes name = cut_word(&line, '=');
    if (is_word(name, "sender")) {
        p->sender = line;
    } else if (is_word(name, "client_address")) {
        p->client = line;
    } else if (is_word(name, "request") && !is_word(line, "smtpd_access_policy")) {
        p->broken = true;
    }
}

bool postfix_policy_take(struct connection *c)
{
    static const char defer[] = "DEFER_IF_PERMIT ";
    struct unseen_bytes lines;
    const enum reading reading = line_reader_paragraph(&c->in, false, &lines);
    if (reading == READING_NONE) {
        return false;
    }
    if (reading == READING_LONG) {
        put_action(c, defer, "policy request too long");
        c->over = true; /* where the next request starts is not known */
        return true;
    }
    struct policy p = {.broken = lines.len == 1};
    for (lines.len--; lines.len > 0;) { /* without the empty line */
        read_policy_line(&p, cut_word(&lines, '\n'));
    }
    if (p.broken) {
        put_action(c, defer, "broken policy request");
        return true;
    }
    /* The sender of a bounce is empty, which is never listed. */
    enum find_answer answer = connection_find(c, FIND_SENDER, p.sender);
    if (answer == FIND_ABSENT) {
        answer = connection_find(c, FIND_CLIENT, p.client);
    }
    if (answer == FIND_TROUBLE) {
        put_action(c, defer, "the list cannot be read");
    } else {
        put_action(c, "", answer == FIND_LISTED ? c->service->reply : "DUNNO");
    }
    return true;
}
