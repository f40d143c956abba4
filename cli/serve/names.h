/* SPDX-License-Identifier: MIT
 *
 * What to look up in a store for a name: the lines that would cover it, as the kinds of unseen.h
 * make them. The servers that ask send a name as it is and leave the rest to us.
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

enum {
    NAMES_LONGEST = 1024, /* the longest name that can be looked up */
    NAMES_TEXTS = UNSEEN_KIND_TEXTS_MAX,
    NAMES_ROOM = 8 * 1024 /* enough for any kind and such a name */
};

struct names {
    bool is_url;
    struct unseen_bytes texts[NAMES_TEXTS]; /* most of them point into room */
    size_t n;
    char room[NAMES_ROOM];
};

/* Each fills names; false if the name is empty or too long to be one. */
bool names_of_address(struct names *names, struct unseen_bytes address);
bool names_of_client(struct names *names, struct unseen_bytes client);

/* What the text is, is told by its shape: a URL (has "://"; looked up as it is), an e-mail address,
 * an IP address, or else a domain. */
bool names_of_key(struct names *names, struct unseen_bytes key);

#endif
