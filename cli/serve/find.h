/* SPDX-License-Identifier: MIT
 *
 * The one question that other programs' protocols ask: is this text listed? A protocol calls find();
 * the list service answers (list_service.h), and in a fuzzer a fake does. */
#ifndef UNSEEN_CLI_FIND_H
#define UNSEEN_CLI_FIND_H

#include <unseen.h>

enum find_answer {
    FIND_ABSENT,
    FIND_LISTED,
    FIND_TROUBLE /* the list cannot be read; reported */
};

/* What the text is. The program that asks knows it. A list whose entries are of another kind does
 * not have the text. */
enum find_type {
    FIND_URL,    /* a URL, in any form */
    FIND_HOST,   /* in place of a URL: host:port, or an IP address */
    FIND_SENDER, /* an e-mail address */
    FIND_CLIENT, /* an IP address, or what a server has in its place */
    FIND_KEY     /* anything: the kind of the list, or the shape of the text, says what it is */
};

struct finder {
    /* Whether the text, which is not empty, is listed, or an entry that covers it. */
    enum find_answer (*find)(void *context, enum find_type type, struct unseen_bytes text);
    void *context;
};

/* An empty text is never listed. */
static inline enum find_answer find(const struct finder *f, enum find_type type,
                                    struct unseen_bytes text)
{
    return text.len > 0 ? f->find(f->context, type, text) : FIND_ABSENT;
}

#endif
