/* SPDX-License-Identifier: MIT
 *
 * What to look up in a store for a name: the lines that would cover it, as the kinds of
 * unseen_list.h make them. The servers that ask send a name as it is and leave the rest to us.
 *
 *     Jo@Mail.Evil.example   jo@mail.evil.example, mail.evil.example, evil.example
 *     www.evil.example       www.evil.example, evil.example
 *     192.0.2.7              192.0.2.7, 192.0.2.6/31, ..., 192.0.2.0/24, ..., 0.0.0.0/0
 *     2001:DB8::7            2001:db8::7, 2001:db8::6/127, ..., ::/0
 *
 * A store does not know what its lines are, so the question decides, and nobody has refused the
 * line "org": a domain of one label is looked up only when it is the whole name. */
#ifndef UNSEEN_CLI_NAMES_H
#define UNSEEN_CLI_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include <unseen_list.h>

#include "serve/protocol.h"

enum {
    NAMES_LONGEST = 1024, /* the longest name that can be looked up */
    NAMES_TEXTS = UNSEEN_KIND_TEXTS_MAX,
    NAMES_ROOM = 8 * 1024 /* enough for any kind and such a name */
};

struct names {
    bool is_url;                            /* then texts[0] is the text as it is */
    struct unseen_bytes texts[NAMES_TEXTS]; /* most of them point into room */
    size_t n;
    char room[NAMES_ROOM];
};

/* Fills names for a text of this type. The shape of a KEY says what it is: a URL (it has "://"), an
 * e-mail address, an IP address, or else a domain. Returns false if the text is empty or too long
 * for a name. */
bool names_of(struct names *names, enum find_type type, struct unseen_bytes text);

#endif
