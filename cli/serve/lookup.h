/* SPDX-License-Identifier: MIT
 *
 * Who knows whether something is listed, as the protocols see it: one question. Behind it stands
 * whatever can answer, and a fuzzer puts a fake there. */
#ifndef UNSEEN_CLI_LOOKUP_H
#define UNSEEN_CLI_LOOKUP_H

#include <stddef.h>

#include <unseen.h>

enum lookup_answer {
    LOOKUP_ABSENT,
    LOOKUP_LISTED,
    LOOKUP_TROUBLE /* it could not be found out; reported */
};

/* What is asked for. The server that asks knows, the list may be of something else: then it is
 * absent. */
enum lookup_kind {
    LOOKUP_URL,    /* a URL, in any form */
    LOOKUP_HOST,   /* in place of a URL: host:port, or an IP address */
    LOOKUP_SENDER, /* an e-mail address */
    LOOKUP_CLIENT, /* an IP address, or whatever a server has in its place */
    LOOKUP_KEY     /* anything: what it is, is told by the list, or by its shape */
};

struct lookup {
    /* Whether the text, which is not empty, or anything that covers it is listed. */
    enum lookup_answer (*ask)(void *context, enum lookup_kind kind, struct unseen_bytes text);
    void *context;
};

/* Nothing is not listed. */
static inline enum lookup_answer lookup(const struct lookup *l, enum lookup_kind kind,
                                        struct unseen_bytes text)
{
    return text.len > 0 ? l->ask(l->context, kind, text) : LOOKUP_ABSENT;
}

#endif
